"""Bookmarks: moments that surveillance marks for later review, visible to surveillance and auditors only.

The log entry is queued if the site log is locked, so that a bookmark never delays a dealer. It has only a digest of the
bookmark, since operators can read the site log.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from ledger import clock, findings
from ledger.models import Bookmark, LogEntry
from tables.models import Staff, Table
from tables.refusals import Refused

MOST_NOTE: Final = 500
MOST_CAMERA: Final = 80


def mark(
    table: Table, moment: datetime, note: str, *, by: Staff, round: int | None = None, camera: str = ""
) -> Bookmark:
    """Mark a moment at a table. Raises Refused."""
    if not by.has_perm("tables.bookmark"):
        raise Refused("not_permitted", "Only the surveillance makes bookmarks.", 403)
    note, camera = note.strip(), camera.strip()
    reading = clock.read()
    _refuse(note, camera, ahead=moment > reading.database)
    with transaction.atomic():
        row: Bookmark = Bookmark.objects.create(
            book_id=table.book_id, round=round, moment=moment, note=note, camera=camera,
            salt=secrets.token_hex(16), by=by.signature, at=reading.database,
        )  # fmt: skip
        findings.record(findings.BOOKMARKS, row.pk, row.at, by.signature)
    return row


def _refuse(note: str, camera: str, *, ahead: bool) -> None:
    if not note or len(note) > MOST_NOTE or not note.replace("\n", " ").replace("\r", " ").isprintable():
        raise Refused("bad_bookmark", f"Say in 1 to {MOST_NOTE} plain characters what is to be seen there.", 422)
    if len(camera) > MOST_CAMERA or not (camera or "-").isprintable():
        raise Refused("bad_bookmark", f"A camera is named in at most {MOST_CAMERA} plain characters: C-12.", 422)
    if ahead:
        raise Refused("bad_bookmark", "That moment is still to come: mark one that was.", 422)


def listed(viewer: Staff, before: int | None = None) -> QuerySet[Bookmark]:
    """Bookmarks that a staff member may see, newest first. Raises Refused."""
    if not viewer.has_perm("tables.watch_bookmarks"):
        raise Refused("not_permitted", "Bookmarks are for the surveillance and auditors.", 403)
    rows: QuerySet[Bookmark] = Bookmark.objects.select_related("book").order_by("-pk")
    return rows.filter(pk__lt=before) if before else rows


# --- Finding a moment ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NearestEntry:
    """The log entry nearest to a moment."""

    seq: int
    round: int | None
    at: datetime


def nearest(book_id: int, moment: datetime) -> NearestEntry | None:
    """The entry of a log nearest to a moment; the earlier of two at equal distance. None for an empty log."""
    of_book = LogEntry.objects.filter(book_id=book_id).values_list("seq", "round", "at")
    earlier = of_book.filter(at__lte=moment).order_by("-at", "-seq").first()
    later = of_book.filter(at__gt=moment).order_by("at", "seq").first()
    neighbours = [NearestEntry(*row) for row in (earlier, later) if row is not None]
    return min(neighbours, key=lambda entry: abs(entry.at - moment), default=None)
