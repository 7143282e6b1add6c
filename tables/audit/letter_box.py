"""The letter box of a house: sealed days in pieces, which a head office reads by PostgreSQL's logical replication.

It is a small server that holds nothing else, for a role that may replicate may copy all of the server that it reads.
What the box holds says how far it is: a box that is empty is filled from the first day on.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from hashlib import file_digest
from io import SEEK_END, BufferedIOBase
from tempfile import TemporaryFile
from typing import Final

import psycopg
from django.conf import settings

from ledger import alerts, runs
from ledger.models import DayRoot
from tables.audit import export
from tables.audit.export import NotYet
from tables.audit.handing_over import A_PIECE

log = logging.getLogger(__name__)

KEPT_DAYS: Final = 30
"""So many stay after they were fetched: a head office that was put back to an earlier state reads them again."""
MOST_DAYS: Final = 60
"""More are not put in: while nobody fetches them, days wait in the house's log, where they are anyway."""
A_TURN: Final = 30
SECONDS: Final = 3
"""For reaching the box: people who look how the house is wait for it, too."""


def fill() -> int:
    """Put in the sealed days that are due, unless another worker is at it; how many."""
    if not settings.LETTER_BOX_URL:
        return 0
    with runs.alone("the letter box") as is_alone:
        try:
            return _fill() if is_alone else 0
        except psycopg.Error as failure:
            log.warning("sealed days do not reach the letter box: %s", failure)
            _tell("Sealed days do not reach the letter box.")
        except NotYet as reason:
            log.info("the letter box waits for a sealed day: %s", reason)
    return 0


def _fill() -> int:
    count = 0
    with _box() as box:
        _take_away(box)
        while count < A_TURN and (root := _next(box)) is not None:
            with TemporaryFile() as file:
                export.export(root.day, root.day, file)
                put_in(box, root.number, file)
            count += 1
    return count


def _box() -> psycopg.Connection:
    return psycopg.connect(settings.LETTER_BOX_URL, autocommit=True, connect_timeout=SECONDS)


def _next(box: psycopg.Connection) -> DayRoot | None:
    """The day that comes next, if it is sealed and there is room."""
    last, days = _contents(box)
    root = DayRoot.objects.filter(number=last + 1).first()
    if root is not None and days >= MOST_DAYS:
        _tell(f"{days} sealed days wait in the letter box: no head office fetches them.")
        return None
    return root


def _contents(box: psycopg.Connection) -> tuple[int, int]:
    """The number of the last day that is in it, and how many are."""
    row = box.execute("SELECT coalesce(max(number), 0), count(DISTINCT number) FROM office_piece").fetchone()
    return row or (0, 0)


def _tell(says: str) -> None:
    alerts.raise_alert(None, "not_delivered", says, {"channel": "letter box"})


def put_in(box: psycopg.Connection, number: int, file: BufferedIOBase) -> None:
    """A day's bundle, all of it or nothing."""
    file.seek(0)
    digest = file_digest(file, "sha256").hexdigest()
    size = file.seek(0, SEEK_END)
    with box.transaction():
        for start in range(0, size, A_PIECE):
            file.seek(start)
            box.execute(
                "INSERT INTO office_piece (bundle, start, number, size, content) VALUES (%s, %s, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                (digest, start, number, size, file.read(A_PIECE)),
            )


def _take_away(box: psycopg.Connection) -> None:
    """Old days that every head office has fetched. Where none ever did, nothing is less than what it has."""
    box.execute(
        "DELETE FROM office_piece WHERE number <= (SELECT max(number) FROM office_piece) - %s AND written <"
        " (SELECT min(confirmed_flush_lsn) FROM pg_replication_slots WHERE database = current_database())",
        (KEPT_DAYS,),
    )


# --- How it stands ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is to do about the letter box; nothing where it says nothing."""

    says: str
    do: str = ""


def standing() -> Standing:
    """Whether days go in, and whether somebody fetches them."""
    try:
        with _box() as box:
            last, _ = _contents(box)
            slots = box.execute(
                "SELECT wal_status, active FROM pg_replication_slots WHERE database = current_database()"
                " AND NOT temporary"
            ).fetchall()
    except psycopg.Error:
        return Standing(
            "The letter box does not answer.",
            "Start its server (systemctl start letter-box), or put LETTER_BOX_URL right.",
        )
    return _of_days(last) or _of_slots(slots)


def _of_days(last: int) -> Standing | None:
    newest = DayRoot.objects.order_by("-number").values_list("number", flat=True).first() or 0
    if last > newest:
        do = "If this is an older database, tell the head office; else empty the box: it is filled anew."
        return Standing(f"The letter box has day {last}, this house {newest}.", do)
    if newest > last + 1:
        return Standing(f"{newest - last} sealed days are not in the letter box.", "The log of casino-events says why.")
    return None


def _of_slots(slots: list[tuple[str, bool]]) -> Standing:
    if any(status == "lost" for status, _ in slots):
        do = "The head office runs deploy/subscription.sql again: it copies what the box holds."
        return Standing("A head office was away for so long that its slot is lost.", do)
    if not any(is_active for _, is_active in slots):
        return Standing(
            "The letter box answers, and no head office reads it.", "Ask there: the line, or deploy/subscription.sql."
        )
    return Standing("")
