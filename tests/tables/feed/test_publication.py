"""What is told of entries: each kind is told or named as silent, and nothing is told before everybody may know it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest

from ledger import log
from ledger.models import Book, LogEntry
from ledger.proof.chain import Entry
from tables.board import secrecy
from tables.feed import feed_records
from tables.feed.feed_records import Envelope, EventFilter
from tables.log import catalog
from tables.log.catalog import EVENTS
from tables.log.entries.slips import SlipSigned
from tables.log.publication import FORMS
from tables.log.published.form import NotPublished
from tables.log.slip_types import total
from tests.tables.chance import by_seed
from tests.tables.floor.test_abandoned import Walk
from tests.tables.test_days_with_everything import House
from tests.tiers import sampled

NEVER = frozenset(
    {"rank", "card", "cards", "choice", "order", "nonce", "salt", "counts", "expected_cents", "commitment"}
)
"""No field of an event is called so."""


def test_each_kind_of_entry_has_an_event_or_is_named_as_having_none() -> None:
    """Harm: a new kind of entry that programs never hear of, and nobody decided that."""
    answers = {event.__name__: event.record.feed for event in EVENTS}
    undecided = [name for name, answer in answers.items() if not (isinstance(answer, NotPublished) or answer)]
    assert undecided == [], "give these a form in tables/log/published, or say in their records why they have none"


def test_each_event_says_what_it_is() -> None:
    """Harm: a type that a receiver cannot sort, or a field that tells what is hidden."""
    for type_, form in FORMS.items():
        assert re.fullmatch(r"[a-z_]+\.[a-z_]+", type_), type_
        assert form.version >= 1
        assert not NEVER & set(form.__struct_fields__), type_
        assert form.__doc__


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


class Reader:
    """A program that reads the feed after every step of the house, and keeps what it was told."""

    def __init__(self) -> None:
        self.place = feed_records.order.end()
        self.begun = self.place
        self.events: list[Envelope] = []
        self.secrets = self.blind = 0

    def catches_up(self) -> None:
        """And looks whether anything is told of what is hidden just now."""
        page = feed_records.read(self.place, limit=500)
        self.place = feed_records.place_of(page.cursor)
        assert not page.more
        for event in page.events:
            self._holds_nothing_hidden(event)
        self.events += page.events

    def _holds_nothing_hidden(self, event: Envelope) -> None:
        book = Book.objects.get(name=event.entry.book)
        [entry] = log.entries(book.pk, event.entry.seq - 1, event.entry.seq)
        if entry.subject == "slip":
            self._is_blind(event, entry)
        [veiled] = secrecy.veiled(book.pk, [entry])
        if entry.subject == "round" and veiled.body != entry.body:
            self.secrets += 1
            assert event.type == "round.opened", "a game whose cards are hidden has no result to tell"

    def _is_blind(self, event: Envelope, entry: Entry) -> None:
        slip = catalog.event_of(entry)
        assert isinstance(slip, SlipSigned)
        if slip.after not in slip.waiting or not slip.after.counts:
            return
        self.blind += 1
        amounts = {total(count) for count in slip.after.counts} - {0}
        assert event.data["amount_cents"] is None
        assert not amounts & set(_numbers(event.data))


@pytest.mark.django_db
@pytest.mark.parametrize("seed", sampled(range(3), "walks a table by chance for hundreds of inputs"))
def test_what_is_told_at_once_is_what_is_told_later_and_nothing_hidden(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a program learns a facedown card or a count while somebody may still use it; or what it was told at once
    is not what it is told when it asks again."""
    by_seed(monkeypatch, seed)
    house, reader = House(seed), Reader()
    for _ in range(150):
        house.step()
        reader.catches_up()
    house.ends()
    reader.catches_up()
    assert again(reader.begun) == reader.events
    types = {event.type for event in reader.events}
    assert {"slip.signed", "table.closed"} <= types
    assert reader.blind, "no slip was half counted: the day shows nothing"


@pytest.mark.django_db
@pytest.mark.parametrize("game", sampled(["blackstone", "monster"], "walks a table by chance for hundreds of inputs"))
def test_of_facedown_cards_nothing_is_told_while_they_lie(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: what players hold is read from the feed, while they play."""
    by_seed(monkeypatch, game)
    walk, reader = Walk(game, "house"), Reader()
    for _ in range(200):
        walk.step()
        reader.catches_up()
    assert again(reader.begun) == reader.events
    assert reader.secrets, "no entry of an open game was veiled: the walk shows nothing"
    bodies = LogEntry.objects.filter(book=walk.dealer.table.book_id, subject="round", kind="play").values_list("body")
    ends = sum(b'"result":' in bytes(body) for (body,) in bodies)
    assert ends == sum(event.type == "round.settled" for event in reader.events) > 0


def again(place: int) -> list[Envelope]:
    """The same once more, in pages of a few."""
    events: list[Envelope] = []
    while True:
        page = feed_records.page(place, limit=7, filters=EventFilter(), looked_at=Random(place).randint(8, 40))
        events += page.events
        place = feed_records.place_of(page.cursor)
        if not page.more:
            return events


def test_forms_are_schemas() -> None:
    """Harm: a form that no schema describes breaks the description of the API."""
    for form in FORMS.values():
        msgspec.json.schema(form)
