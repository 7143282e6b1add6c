"""The vocabulary of the games: what prompts admit, and the sentences with which they refuse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables.games.cards import NOTHING, count
from tables.games.protocol import AskBet, AskCard, AskChoice, Bet, Card, Choice, Choose, Illegal, put


@given(st.integers(1, 300), st.integers(-50, 500), st.integers(1, 40), st.integers(-100, 700))
def test_the_nearest_bets_are_legal_and_none_is_nearer(low: int, high: int, step: int, amount: int) -> None:
    """Harm: a player is told to bet an amount that is refused again, or is sent further away than needed."""
    ask = AskBet(1, low, high, step)
    nearest = ask.nearest(amount)
    legal = [cents for cents in range(low, high + 1) if cents % step == 0]
    assert set(nearest) <= set(legal)
    for side in ([cents for cents in legal if cents <= amount][-1:], [cents for cents in legal if cents >= amount][:1]):
        assert set(side) <= set(nearest)
    assert bool(nearest) == bool(legal)
    for cents in nearest:
        assert ask.admits(Bet(1, cents))


USUAL = AskBet(3, 20, 500, 10)
UNEVEN = AskBet(3, 25, 95, 10)
"""Limits that are no legal bets themselves."""
CAPPED = AskBet(3, 20, 40, 10, capped=True)
FULL = AskBet(3, 20, -10, 10, capped=True)
"""More than the cap lies on the layout already, since the cap was lowered."""


@pytest.mark.parametrize(
    ("ask", "amount", "wrong", "right"),
    [
        (USUAL, 5, "is under the minimum of $20", "the nearest legal bet is $20"),
        (USUAL, 0, "is under the minimum of $20", "the nearest legal bet is $20"),
        (USUAL, -10, "is under the minimum of $20", "the nearest legal bet is $20"),
        (USUAL, 501, "is over the maximum of $500", "the nearest legal bet is $500"),
        (USUAL, 25, "is no multiple of $10, ten chip units", "the nearest legal bet is $20 or $30"),
        (UNEVEN, 25, "is no multiple of $10, ten chip units", "the nearest legal bet is $30"),
        (UNEVEN, 95, "is no multiple of $10, ten chip units", "the nearest legal bet is $90"),
        (CAPPED, 50, "would take the table over its exposure cap: $40 still fits", "the nearest legal bet is $40"),
        (FULL, 30, "would take the table over its exposure cap: $0 still fits", "no bet fits here"),
    ],
)
def test_a_refused_bet_says_why_and_what_would_be_right(ask: AskBet, amount: int, wrong: str, right: str) -> None:
    """Harm: a dealer at the table is left guessing; and amounts are said in the house's own way, not in cents."""
    with pytest.raises(Illegal) as refusal:
        ask.admits(Bet(3, amount))
    assert refusal.value.code == "bad_bet"
    sentence = f"seat 3: ${amount} {wrong}; {right}"
    assert refusal.value.say(lambda cents: f"${cents}") == sentence
    assert refusal.value.sentence == sentence.replace("$", "")


def test_a_bet_is_taken_off_only_where_one_lies() -> None:
    """Harm: a bet of nothing counts as a bet."""
    assert AskBet(1, 10, 100, 10, placed_cents=50).admits(Bet(1, 0))
    with pytest.raises(Illegal):
        AskBet(1, 10, 100, 10).admits(Bet(1, 0))
    assert not AskBet(1, 10, 100, 10).admits(Bet(2, 50))


def test_a_card_must_be_one_that_the_shoe_can_hold() -> None:
    """Harm: a wrong key or a foreign card goes unnoticed."""
    ask = AskCard(2, count([1, 2, 2]), decks=1)
    assert ask.admits(Card(3, 2))
    assert not ask.admits(Card(3, 1)), "for another place: not this prompt's business"
    for rank, code in [(0, "no_such_card"), (11, "no_such_card"), (1, "impossible_card"), (2, "impossible_card")]:
        with pytest.raises(Illegal) as refusal:
            ask.admits(Card(rank, 2))
        assert refusal.value.code == code
    assert AskCard(2, NOTHING, decks=1).admits(Card(1, 2))
    with pytest.raises(Illegal) as refusal:
        AskCard(2, count([2] * 4), decks=2).admits(Card(2, 2))
    assert refusal.value.sentence == "no 2 can be left in this shoe: all 4 are out already"


def test_a_choice_must_be_one_of_those_offered() -> None:
    """Harm: a decision that the rules do not know changes the round."""
    ask = AskChoice(4, (Choice("hit", draws=True), Choice("fold", 8)))
    assert ask.admits(Choose(4, "fold"))
    assert not ask.admits(Choose(1, "fold"))
    with pytest.raises(Illegal) as refusal:
        ask.admits(Choose(4, "{stand}"))
    assert refusal.value.sentence == "seat 4 may hit or fold, not '{stand}'"


@given(st.lists(st.integers(), min_size=1).map(tuple), st.data())
def test_put_changes_one_place_of_a_copy(items: tuple[int, ...], data: st.DataObject) -> None:
    """Harm: a seat's cards land in another seat's stack, or change a state that is already in the log."""
    place = data.draw(st.integers(0, len(items) - 1))
    changed = put(items, place, -1)
    assert changed == (*items[:place], -1, *items[place + 1 :])
