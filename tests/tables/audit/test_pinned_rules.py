"""A round pins the rules it was dealt under, and how it ended: a later engine that tells it otherwise is found."""

import pytest

from ledger.models import LogEntry
from tables.audit import proofs
from tables.games.catalog import GAMES
from tables.log.catalog import read_as
from tables.log.digest import end_of, rules_version
from tables.log.entries.rounds import Played
from tests.floor import Hand, dealt

ROCKET = type(GAMES["rocket"])


@pytest.fixture
def over() -> Hand:
    """A round is over: seat 1 pairs, seat 2 folds before."""
    hand, _ = dealt(options={"decks": 6})
    hand.bets(seat1=1_000, seat2=2_000)
    hand.cards(8, 4, 10, 8, 5, 10)
    assert hand.now.round is not None
    assert hand.now.round.over
    return hand


def plays(hand: Hand) -> list[tuple[int, Played]]:
    rows = LogEntry.objects.filter(book_id=hand.table.book_id, subject="round", kind="play").order_by("seq")
    return [(seq, read_as(Played, body)) for seq, body in rows.values_list("seq", "body")]


def fault(hand: Hand) -> tuple[int, str] | None:
    fault = proofs.verify(hand.table.book).fault
    return None if fault is None else (fault.seq, fault.what)


@pytest.mark.django_db
def test_the_first_entry_names_the_rules_and_the_last_one_the_end(over: Hand) -> None:
    """Harm: nothing says by which rules a round was dealt, years later."""
    (_, first_play), *between, (_, last_play) = plays(over)
    assert first_play.opening is not None
    assert first_play.opening.version == rules_version(GAMES["rocket"])
    assert {event.end for _, event in between} == {None}
    current = over.now.round
    assert current is not None
    assert last_play.end == end_of(current.game, current.state, current.opening.seats)
    assert fault(over) is None


@pytest.mark.django_db
def test_rules_of_another_version_are_named(over: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: an engine with new rules proves old rounds by them, or calls their dealers forgers."""
    (seq, _), *_ = plays(over)
    monkeypatch.setattr(ROCKET, "version", ROCKET.version + 1)
    breach = fault(over)
    assert breach is not None
    assert breach[0] == seq
    assert "version" in breach[1]


@pytest.mark.django_db
def test_a_rule_that_was_changed_without_a_word_is_found(over: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a change of engine tells an old round otherwise in something that no payout shows, and nobody notices."""
    cards_left = ROCKET.cards_left
    monkeypatch.setattr(ROCKET, "cards_left", lambda self, state: cards_left(self, state) - 1)
    breach = fault(over)
    assert breach is not None
    assert breach[0] == plays(over)[-1][0]
    assert "ended with the state" in breach[1]
