"""Reading what the log says of rows: the entries of few subjects, and what waits at the house's door."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db.models import Q

from ledger.models import HOUSE, LogEntry, Notice

Columns = Mapping[str, Any]
"""What a row says, column by column."""
Rows = Mapping[str, Columns]
"""Rows by their names."""

TAKEN_OVER: Final = "taken_over"
"""The kind of the entry that has what a house from before these rows were entries had of them when it was upgraded."""


@dataclass(frozen=True, slots=True)
class Told:
    """An entry, as far as rows go by it."""

    book: str
    subject: str
    kind: str
    by: str
    content: Mapping[str, Any]


def of_the_house(rows: str, /, **kinds: Collection[str]) -> Iterator[Told]:
    """The house's entries of some kinds, by subject, in order; and after them what is left at its door.

    Among them is the one by which rows from before were taken over, if there is one: what was told of them earlier
    counts no more. The first counts: a further one would make of anything what was always so.
    """
    asked = reduce(or_, [Q(subject=subject, kind__in=among) for subject, among in kinds.items()])
    asked |= Q(subject="rows", kind=TAKEN_OVER)
    taken = False
    for entry in _entries(LogEntry.objects.filter(asked, book__name=HOUSE)):
        if entry.kind != TAKEN_OVER:
            yield entry
        elif entry.content["rows"] == rows and not taken:
            taken = True
            yield entry
    waiting = Notice.objects.filter(asked, seq=None).order_by("pk")
    for notice in waiting:
        yield Told(HOUSE, notice.subject, notice.kind, notice.by, notice.content)


def of_the_tables(subject: str, kinds: Collection[str]) -> Iterator[Told]:
    """Every table's entries of some kinds, in the order of each."""
    yield from _entries(LogEntry.objects.filter(subject=subject, kind__in=kinds).exclude(book__name=HOUSE))


def taken_over(rows: str) -> Mapping[str, Any]:
    """What that entry says of these rows."""
    return next((entry.content for entry in of_the_house(rows, rows=[])), {"kept": {}, "through": 0})


def _entries(asked: Any) -> Iterator[Told]:
    rows = asked.order_by("book_id", "seq").values_list("book__name", "subject", "kind", "by", "body")
    for book, subject, kind, by, body in rows.iterator():
        yield Told(book, subject, kind, by, json.loads(bytes(body))["content"])
