"""Sums of open runs, cached in the process: each call reads only the entries since the previous call.

The movements up to a log entry never change, and the hash of that entry identifies them all. Each sum is cached with
the hash and is valid only while the log contains that entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledger.proof.chain import Head
from ledger.raw_rows import fetch_rows
from tables.reports import figure_records
from tables.reports.figure_records import MONEY_NAMES, Run, Runs, Sums

_HOLDS: Final = """
    SELECT k.book FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) AS k (book, seq, hash)
    JOIN ledger_logentry AS e ON e.book_id = k.book AND e.seq = k.seq AND e.hash = k.hash
"""


@dataclass(frozen=True, slots=True)
class Base:
    """The sums of a run's entries after the first number, through the head."""

    first: int
    head: Head
    sums: Sums


_bases_by_book: dict[int, Base] = {}
"""The newest of each book."""


def sums_of(runs: Runs, heads: Mapping[int, Head]) -> list[Sums]:
    """What the wins of runs are made of, each with its book. ``heads``: through which entry each book is read."""
    bases = _bases(runs)
    news = figure_records.sums_of(
        [(book, base.head.seq if base else run.first, run.last) for (book, run), base in zip(runs, bases, strict=True)],
        MONEY_NAMES,
    )
    sums = [_joined(base.sums, later) if base else later for base, later in zip(bases, news, strict=True)]
    for (book, run), total in zip(runs, sums, strict=True):
        if run.last == heads[book].seq:
            _bases_by_book[book] = Base(run.first, heads[book], total)
    return sums


def _bases(runs: Runs) -> list[Base | None]:
    """What is kept of each run, where its book still has the entry that it was kept at."""
    bases = [_kept_of(book, run) for book, run in runs]
    heads = [base.head for base in bases if base]
    rows = fetch_rows(
        _HOLDS, [[head.book_id for head in heads], [head.seq for head in heads], [head.hash for head in heads]]
    )
    holding = {book for (book,) in rows}
    return [base if base and base.head.book_id in holding else None for base in bases]


def _kept_of(book: int, run: Run) -> Base | None:
    base = _bases_by_book.get(book)
    return base if base and base.first == run.first and base.head.seq <= run.last else None


def _joined(before: Sums, after: Sums) -> Sums:
    return {name: before[name] + after[name] for name in MONEY_NAMES}
