"""A round pins the rules that it was dealt under, and its result: an engine that gives it another one is found."""

import pytest

from ledger.models import LogEntry
from tables.audit import proofs
from tables.games.catalog import FORMER, GAMES
from tables.log.catalog import read_as
from tables.log.digest import result_of, rules_version
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
def test_the_first_entry_names_the_rules_and_the_last_entry_the_result(over: Hand) -> None:
    """Harm: nothing says by which rules a round was dealt, years later."""
    (_, first_play), *between, (_, last_play) = plays(over)
    assert first_play.opening is not None
    assert first_play.opening.version == rules_version(GAMES["rocket"])
    assert {event.result for _, event in between} == {None}
    current = over.now.round
    assert current is not None
    assert (last_play.end, last_play.result) == (None, result_of(current.game, current.state))
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
    assert "the rules give it" in breach[1]


THREE_CARD_POKER = "three_card_poker"


def a_round(hand: Hand, *cards: str) -> None:
    hand.ready_shoe()
    hand("bet", seat=1, amount_cents=1_000, wager="ante")
    hand("close_bets")
    hand("choose", seat=1, choice="play")
    hand.cards(*cards)
    hand.pay()


@pytest.mark.django_db
def test_a_round_is_proved_by_the_rules_that_it_was_dealt_under() -> None:
    """Harm: a rule is corrected, and every round from before is called a forgery; or a table
    returns to rules that a later version replaced."""
    hand, _ = dealt(name="Table 1", game=THREE_CARD_POKER, options={}, seats=3)
    own, dealers = ("Qs", "9h", "4d"), ("Jc", "8s", "3h")

    def deal_by_version_1() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(GAMES, THREE_CARD_POKER, FORMER[THREE_CARD_POKER, 1])
            a_round(hand, *own, *dealers)

    deal_by_version_1()
    a_round(hand, *dealers, *own)
    assert fault(hand) is None
    versions = [event.opening.version for _, event in plays(hand) if event.opening]
    assert [version and version.partition("-")[0] for version in versions] == ["1", "2"]
    deal_by_version_1()
    breach = fault(hand)
    assert breach is not None
    assert "version 1 of the rules follows version 2" in breach[1]
