"""A worker follows every book by its numbers, from where it was left, and holds each new entry against the rules.

How far a book was followed is kept in the transaction that raises its alerts: after a restart nothing is missed, and
nothing is raised twice. A dealer's input waits for none of it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from django.db import connection, transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from ledger import log as book_log
from ledger.inspection import OUTAGE
from ledger.models import HOUSE, Book
from ledger.proof.chain import Entry
from tables.alerting import delivery, facts, rule_book, subscriptions
from tables.alerting.facts import Noticed
from tables.alerting.raising import notice
from tables.alerting.rows import BookPosition
from tables.alerting.rules import Fact, Rule
from tables.log.catalog import event_of
from tables.log.event import Unreadable
from tables.models import Table

log = logging.getLogger(__name__)

AT_ONCE: Final = 500
"""So many entries of a book are looked at in one transaction."""


def follow() -> int:
    """Look at every entry that came since the last time, in all books; how many that were."""
    rules, looked_at = rule_book.in_force(), 0
    for book in _moved():
        while looked := _follow(book, rules):
            looked_at += looked
            if looked < AT_ONCE:
                break
    delivery.put_out(rules)
    subscriptions.ask_due()
    return looked_at


def _moved() -> list[Book]:
    """The books that have entries nobody looked at."""
    position = BookPosition.objects.filter(book=OuterRef("pk")).values("seq")
    behind = Book.objects.annotate(looked=Coalesce(Subquery(position), 0)).filter(head_seq__gt=F("looked"))
    return list(behind.order_by("pk"))


def _follow(book: Book, rules: Mapping[str, Rule]) -> int:
    """The next entries of a book; none where another worker is at it."""
    BookPosition.objects.get_or_create(book=book)
    with transaction.atomic():
        position = BookPosition.objects.select_for_update(skip_locked=True).filter(book=book).first()
        if position is None:
            return 0
        entries = list(book_log.entries(book.pk, position.seq, position.seq + AT_ONCE))
        table = None if book.name == HOUSE else Table.objects.filter(book=book).select_related("book").first()
        for entry in entries:
            _look_at(book, table, entry, rules)
        if table is not None and any(entry.legs for entry in entries):
            last = entries[-1]
            _tell(book, last, facts.of_rack(table, last), rules)
        if entries:
            BookPosition.objects.filter(pk=position.pk).update(seq=entries[-1].seq)
    return len(entries)


def _look_at(book: Book, table: Table | None, entry: Entry, rules: Mapping[str, Rule]) -> None:
    try:
        event = event_of(entry)
    except Unreadable:
        return  # the proof names it
    if book.name == HOUSE:
        _tell(book, entry, facts.in_house(entry, event), rules)
    elif table is not None:
        _tell(book, entry, facts.at_table(table, entry, event), rules)


def _tell(book: Book, entry: Entry, news: Iterator[Fact], rules: Mapping[str, Rule]) -> None:
    """What cannot be judged of one entry must not keep the rules from all the rest."""
    heard: list[Fact] = []
    with _named(book, entry), transaction.atomic():
        for fact in news:
            heard.append(fact)  # those before one that cannot be told count
    for fact in heard:
        with _named(book, entry), transaction.atomic():
            notice(Noticed(fact, entry), rules, _book_of(book, fact))


@contextmanager
def _named(book: Book, entry: Entry) -> Iterator[None]:
    """What goes wrong with an entry is said in the log of the worker, and stops nothing."""
    try:
        yield
    except OUTAGE:
        raise
    except Exception:
        log.exception("entry %s of %s could not be held against the rules of alerts", entry.seq, book.name)


def _book_of(book: Book, fact: Fact) -> Book | None:
    """A table's alerts stand at its card; what the house's book tells of no table is the house's."""
    if book.name != HOUSE:
        return book
    return Book.objects.filter(name=fact.table).first() if fact.table else None


def behind() -> int:
    """How many entries nobody has looked at yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(b.head_seq - coalesce(p.seq, 0)), 0) FROM ledger_book AS b"
            " LEFT JOIN tables_bookposition AS p ON p.book_id = b.id"
        )
        return int(cursor.fetchone()[0])
