"""Compares the stored roots with the log: each log's documents, and the signed days over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ledger.models import Book, BookRoot, DayRoot, LogEntry
from ledger.proof import merkle, seals
from ledger.proof.chain import Fault
from ledger.proof.spelling import canonical, timestamp
from tables.audit import roots
from tables.log.catalog import read_as
from tables.log.entries.days import DaySealed
from tables.reports import gaming_hours


def wrong_book_root(book: Book, since: int) -> Fault | None:
    """The first root of a log after an entry that differs from the one computed from the log; None if all agree."""
    rows = list(BookRoot.objects.filter(book=book, last_seq__gt=since).order_by("day"))
    day_before = BookRoot.objects.filter(book=book, day__lt=rows[0].day).order_by("-day").first() if rows else None
    for before, row in zip([day_before, *rows], rows, strict=False):
        if what := _book_fault(book, row, before):
            return Fault(book.name, row.last_seq, f"the root of {row.day} {what}")
    return None


def _book_fault(book: Book, root: BookRoot, before: BookRoot | None) -> str | None:
    document = roots.read_document(root.body)
    if (root.first_seq, root.last_seq) != (document["first"], document["last"]):
        return "is of other entries than its document says"
    if root.first_seq != (before.last_seq + 1 if before else 1):
        return "does not begin after the day before"
    opening = roots.read_document(before.body) if before else None
    due = roots.document_of(book, root.day, root.first_seq, root.last_seq, opening)
    # The document is computed again from the entries: a signature alone proves only who signed it.
    if canonical(document) != bytes(root.body) or any(
        document.get(name) != due.get(name) for name in ("book", "day", "head", "root", "slips", "mended")
    ):
        return "is another than its entries make"
    if _balances(document) != _balances(due):
        return "says that other chips lie in its places than its transfers left there"
    return None


def _balances(document: Mapping[str, Any]) -> dict[int, int]:
    return {account: cents for account, _, _, cents in document["accounts"] if cents}


def wrong_day(book: Book, since: int) -> Fault | None:
    """The first entry after another one whose sealed day is not stored as it was signed: in order, by the key that it
    names, over the stored documents. None if all agree."""
    entries = LogEntry.objects.filter(book=book, subject="day", kind="sealed").order_by("seq")
    newest = 0
    for seq, body in entries.filter(seq__gt=since).values_list("seq", "body").iterator():
        event = read_as(DaySealed, body)
        newest = event.document.number
        if what := _day_fault(event, DayRoot.objects.filter(number__in=(newest - 1, newest)).order_by("number")):
            return Fault(book.name, seq, what)
    if newest and DayRoot.objects.filter(number__gt=newest).exists():
        return Fault(book.name, book.head_seq, f"a day after the {newest} that the log has is kept as sealed")
    return None


def _day_fault(event: DaySealed, days: Iterable[DayRoot]) -> str | None:
    document, rows = msgspec.to_builtins(event.document), {row.number: row for row in days}
    row, before = rows.get(document["number"]), rows.get(document["number"] - 1)
    if row is None or canonical(document) != bytes(row.body) or event.signature != bytes(row.signature).hex():
        return f"the day that it sealed, {document['day']}, is not the one that is kept"
    begins, ends = gaming_hours.span(row.day)
    if (document["begins"], document["ends"]) != (timestamp(begins), timestamp(ends)):
        return f"the gaming day {row.day} was sealed with other hours than it had"
    if document["previous"] != (bytes(before.hash).hex() if before else None):
        return f"the root of {row.day} is not chained to the day before it"
    if not seals.is_signed(document["key"], bytes(row.signature), document):
        return f"the root of {row.day} is not signed by its key"
    if document["root"] != merkle.root(roots.leaves_of(row.day)).hex():
        return f"the root of {row.day} is not the one of its books' roots"
    return None
