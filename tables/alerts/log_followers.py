"""Followers of the logs: a worker compares each new entry with the rules, from the last position on.

The position in a log is stored in the transaction that raises its alerts: a restart neither misses an entry nor raises
an alert twice. A dealer's input never waits for this.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from django.db import connection, transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from ledger import log as book_log
from ledger.inspection import OUTAGE
from ledger.models import HOUSE, Book
from ledger.proof.chain import Entry
from tables.alerts import delivery, facts, rules_in_force, streams
from tables.alerts.alert_raising import notice
from tables.alerts.alert_types import Rule
from tables.alerts.facts import Noticed
from tables.alerts.models import BookPosition
from tables.alerts.rules import Fact
from tables.log.catalog import event_of
from tables.log.event import Unreadable
from tables.models import Table

log = logging.getLogger(__name__)

AT_ONCE: Final = 500
"""Entries of a log handled in one transaction."""
TOGETHER: Final = 50
"""Logs handled in one transaction: a thousand tables write three hundred entries a second, and each transaction
costs."""


def follow() -> int:
    """Handle all new entries of all logs; returns how many there were."""
    rules, looked_at = rules_in_force.in_force(), 0
    behind = _moved()
    while behind:
        batch, behind = behind[:TOGETHER], behind[TOGETHER:]
        counts = _follow(batch, rules)
        looked_at += sum(counts.values())
        behind += [book for book in batch if counts.get(book.pk) == AT_ONCE]
    delivery.put_out(rules)
    streams.queue_due()
    return looked_at


def _moved() -> list[Book]:
    """Logs with unhandled entries. Adds the missing positions."""
    position = BookPosition.objects.filter(book=OuterRef("pk")).values("seq")
    behind = Book.objects.annotate(looked=Subquery(position)).filter(head_seq__gt=Coalesce(F("looked"), 0))
    books: list[Book] = list(behind.order_by("pk"))
    new = [BookPosition(book=book) for book in books if getattr(book, "looked") is None]  # noqa: B009 -- annotated
    BookPosition.objects.bulk_create(new, ignore_conflicts=True)
    return books


def _follow(books: Sequence[Book], rules: Mapping[str, Rule]) -> dict[int, int]:
    """Handle the next entries of some logs in one transaction.

    Returns the number of entries by log, without logs that another worker has locked.
    """
    numbers = [book.pk for book in books]
    with transaction.atomic():
        positions = BookPosition.objects.select_for_update(skip_locked=True).filter(book__in=numbers)
        news = book_log.following(dict(positions.values_list("book_id", "seq")), AT_ONCE)
        tables = {table.book_id: table for table in Table.objects.filter(book__in=news).select_related("book")}
        news_of_books = [(book, tables.get(book.pk), news[book.pk]) for book in books if book.pk in news]
        _look(news_of_books, rules)
        with connection.cursor() as cursor:
            cursor.execute(_LOOKED, [list(news), [entries[-1].seq for entries in news.values()]])
    return {number: len(entries) for number, entries in news.items()}


_LOOKED: Final = """UPDATE tables_bookposition SET seq = looked.seq
    FROM unnest(%s::bigint[], %s::bigint[]) AS looked (book, seq) WHERE book_id = looked.book"""

News = Sequence[tuple[Book, Table | None, list[Entry]]]
"""Logs with their table, if any, and their new entries."""


def _look(news: News, rules: Mapping[str, Rule]) -> None:
    """Handle all entries in one step. If one fails, repeat them singly, each in a savepoint of its own."""
    try:
        with transaction.atomic():
            for book, table, entries in news:
                _look_in(book, table, entries, rules, _notice)
    except OUTAGE:
        raise
    except Exception:
        for book, table, entries in news:
            _look_in(book, table, entries, rules, _tell)


Telling = Callable[[Book, Entry, Iterator[Fact], Mapping[str, Rule]], None]
"""A function that handles the facts of an entry."""


def _look_in(
    book: Book, table: Table | None, entries: Sequence[Entry], rules: Mapping[str, Rule], tell: Telling
) -> None:
    for entry in entries:
        _look_at(book, table, entry, rules, tell)
    if table is not None and any(entry.legs for entry in entries):
        tell(book, entries[-1], facts.of_rack(table, entries[-1]), rules)


def _look_at(book: Book, table: Table | None, entry: Entry, rules: Mapping[str, Rule], tell: Telling) -> None:
    try:
        event = event_of(entry)
    except Unreadable:
        return  # verification reports it
    if book.name == HOUSE or table is not None:
        tell(book, entry, facts.of_entry(entry, event, table), rules)


def _notice(book: Book, entry: Entry, news: Iterator[Fact], rules: Mapping[str, Rule]) -> None:
    for fact in list(news):
        notice(Noticed(fact, entry), rules, _book_of(book, fact))


def _tell(book: Book, entry: Entry, news: Iterator[Fact], rules: Mapping[str, Rule]) -> None:
    """Handle the facts of one entry in savepoints, so that a failure does not affect other entries or facts."""
    heard: list[Fact] = []
    with _named(book, entry), transaction.atomic():
        for fact in news:
            heard.append(fact)  # facts before a failing one still count
    for fact in heard:
        with _named(book, entry), transaction.atomic():
            notice(Noticed(fact, entry), rules, _book_of(book, fact))


@contextmanager
def _named(book: Book, entry: Entry) -> Iterator[None]:
    """Record a failure with an entry in the worker's log and continue. Database outages are raised."""
    try:
        yield
    except OUTAGE:
        raise
    except Exception:
        log.exception("entry %s of %s could not be held against the rules of alerts", entry.seq, book.name)


def _book_of(book: Book, fact: Fact) -> Book | None:
    """The log whose table shows the alert; None for an alert about the site."""
    if book.name != HOUSE:
        return book
    return Book.objects.filter(name=fact.table).first() if fact.table else None


def behind() -> int:
    """Number of unhandled entries in all logs."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(b.head_seq - coalesce(p.seq, 0)), 0) FROM ledger_book AS b"
            " LEFT JOIN tables_bookposition AS p ON p.book_id = b.id"
        )
        return int(cursor.fetchone()[0])
