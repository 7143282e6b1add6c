"""One order over all books: nothing is left out of the feed, nothing is in it twice, whoever commits late."""

from __future__ import annotations

import threading
from random import Random

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from ledger import log
from ledger.log import Draft
from ledger.models import Book, LogEntry
from tables.feed import feed_records, order
from tables.feed.feed_records import EventFilter
from tables.feed.models import FeedBook, FeedSheet
from tests.floor import Hand
from tests.tables.at_once import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def _book(name: str) -> int:
    return int(Book.objects.create(name=name).pk)


def _write(book: int) -> None:
    head = log.lock(book)
    log.append(head, Draft("refusal", "refused", "somebody", {}))


def _spots() -> list[tuple[int, int]]:
    return [(spot.book_id, spot.seq) for spot in order.spots(0, 100_000)]


def _is_whole() -> None:
    """Every entry stands in the feed once, those of each book in their order."""
    spots = _spots()
    assert sorted(spots) == sorted(LogEntry.objects.values_list("book_id", "seq"))
    for book in Book.objects.values_list("pk", flat=True):
        seqs = [seq for of_book, seq in spots if of_book == book]
        assert seqs == sorted(seqs)
    assert [spot.through for spot in order.spots(0, 100_000)] == list(range(1, len(spots) + 1))


@pytest.mark.django_db(transaction=True)
def test_what_commits_late_comes_later_and_is_not_left_out() -> None:
    """Harm: a cursor that went past the newest entry never sees one that was begun before and committed after it."""
    late, early = _book("Late"), _book("Early")
    begun, may_commit = threading.Event(), threading.Event()

    def slow() -> None:
        with transaction.atomic():
            _write(late)
            begun.set()
            assert may_commit.wait(20)
        connection.close()

    thread = threading.Thread(target=slow)
    thread.start()
    assert begun.wait(20)
    with transaction.atomic():
        _write(early)
    order.extend()
    before = _spots()
    assert (early, 1) in before
    assert (late, 1) not in before
    may_commit.set()
    thread.join(20)
    order.extend()
    assert _spots() == [*before, (late, 1)]
    _is_whole()


@pytest.mark.django_db(transaction=True)
def test_writers_and_readers_at_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: under load an event is skipped, comes twice, or two readers are told two orders."""
    monkeypatch.setattr(order, "AT_ONCE", 7)
    books = [_book(f"Book {number}") for number in range(4)]
    over = threading.Event()

    def writes(seed: int) -> None:
        chance = Random(seed)
        for _ in range(60):
            with transaction.atomic():
                _write(chance.choice(books))

    def all_write() -> None:
        at_once(*[lambda seed=seed: writes(seed) for seed in range(4)])
        over.set()

    def reads() -> list[tuple[int, int]]:
        place, read = 0, []
        while True:
            was_over = over.is_set()
            order.extend()
            is_fed = not order.unfed()  # before the look: another reader may feed the last entry just after it
            spots = order.spots(place, 5)
            read += [(spot.book_id, spot.seq) for spot in spots]
            place = spots[-1].through if spots else place
            if was_over and is_fed and not spots:
                return read

    _, *readings = at_once(all_write, reads, reads, reads)
    assert all(isinstance(read, list) for read in readings), readings
    _is_whole()
    assert readings == [_spots()] * 3


@pytest.mark.django_db(transaction=True)
def test_a_sheet_that_is_lost_halfway_is_put_anew(dealer: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a worker that is killed between the sheet and the books' places leaves entries out, or in twice."""
    monkeypatch.setattr(order, "_FED", "SELECT 1/0 FROM unnest(%s::int[], %s::int[])")
    with pytest.raises(Exception, match="division"):
        order.extend()
    assert not FeedSheet.objects.exists()
    monkeypatch.undo()
    order.extend()
    _is_whole()


def test_a_page_costs_the_same_whatever_came_before(dealer: Hand) -> None:
    """Harm: the feed asks more of the database with every round that was ever dealt."""
    order.extend()
    costs = []
    for _ in range(2):
        place = order.end()
        dealer.bets(seat1=1_000)
        dealer.cards(8, 3)
        dealer.pay()
        with CaptureQueriesContext(connection) as queries:
            page = feed_records.read(place, limit=100)
        assert [event.type for event in page.events].count("round.settled") == 1
        costs.append(len(queries))
    assert costs[0] == costs[1] < 20


def test_an_old_house_begins_with_the_next_entry(dealer: Hand) -> None:
    """Harm: after an upgrade a receiver waits until ten million old entries were put in order."""
    for book in Book.objects.filter(head_seq__gt=0):
        FeedBook.objects.create(book=book, seq=book.head_seq)
    assert order.extend() == 0
    dealer("bet", seat=1, amount_cents=1_000)
    assert [event.type for event in feed_records.read(0).events] == ["round.opened"]


def test_filters_leave_out_and_never_reorder(dealer: Hand) -> None:
    """Harm: a program that asks for one table's rounds is told of another's, or stops where nothing was for it."""
    dealer.bets(seat1=1_000)
    everything = feed_records.read(0, limit=500)
    rounds = feed_records.read(0, limit=500, filters=EventFilter(types=frozenset({"round.opened"})))
    assert rounds.cursor == everything.cursor
    assert list(rounds.events) == [event for event in everything.events if event.type == "round.opened"]
    table = feed_records.read(0, limit=500, filters=EventFilter(tables=frozenset({dealer.table.pk})))
    assert {event.table.id for event in table.events if event.table} == {dealer.table.pk}
    assert not feed_records.read(0, limit=500, filters=EventFilter(tables=frozenset({dealer.table.pk + 99}))).events
