"""What a round that stands somewhere is worth, against the enumeration of every card that can come."""

from collections import Counter
from fractions import Fraction

import pytest

from tables.games.play import replay
from tables.games.protocol import Action, AskCard, AskChoice, AskShuffle, Bet, Card, Choose, CloseBets, Opening, Shuffle
from tables.games.rocket import Rocket, Rules, State
from tables.maths.advantage.rocket_midround import worth

GAME = Rocket()
GONE = (0, 1, 3, 0, 0, 3, 7, 8, 9, 10)
"""Of one deck: 1, 2, four 4s, five 5s and three 6s are unseen, so that the rounds below end before the shoe does."""
BETS = (Bet(1, 10), Bet(2, 20), CloseBets())


def round_after(*actions: Action, dealt: tuple[int, ...] = GONE) -> State:
    return replay(GAME, Rules(decks=1, burn=0), Opening((1, 2), dealt=dealt), (*BETS, *actions))


def by_hand(state: State, seat: int) -> Fraction:
    """What the seat can expect, in tenths, over every card that may come; the other one folds as soon as it can."""
    prompts = GAME.prompts(state)
    payout = next((settled for settled in GAME.settle(state) if settled.seat == seat), None)
    if payout is not None:
        return Fraction((payout.returned_cents - payout.staked_cents) * 10, payout.staked_cents)
    (ask,) = prompts
    if isinstance(ask, AskShuffle):
        return by_hand(GAME.apply(state, Shuffle()), seat)
    if isinstance(ask, AskChoice):
        ways = ("hit", "fold") if ask.seat == seat else ("fold",)
        return max(by_hand(GAME.apply(state, Choose(ask.seat, way)), seat) for way in ways)
    assert isinstance(ask, AskCard)
    cards = Counter(ask.may_come)
    chances = ((Fraction(copies, cards.total()), rank) for rank, copies in cards.items())
    return sum((chance * by_hand(GAME.apply(state, Card(rank, ask.to)), seat) for chance, rank in chances), Fraction())


MOMENTS: dict[str, tuple[Action, ...]] = {
    "the other has decided": (Card(1, 1), Card(2, 2), Card(4, 0), Choose(1, "fold")),
    "it has asked for a card": (Card(1, 1), Card(2, 2), Card(4, 0), Choose(1, "fold"), Choose(2, "hit")),
    "it waits for the dealer": (Card(1, 1), Card(2, 2), Card(4, 0), Choose(1, "fold"), Choose(2, "hit"), Card(5, 2)),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_seat_in_mid_round_is_worth_what_every_card_that_may_come_makes_of_it(moment: str) -> None:
    """Harm: a pit boss who is told a wrong number rules by it, and a player is paid by it."""
    state = round_after(*MOMENTS[moment])
    assert worth(state)[2] == pytest.approx(float(by_hand(state, 2)), abs=1e-9)
    assert worth(state)[1] == -1, "it has folded for the lowest card, 1"


def test_a_round_that_is_over_is_worth_what_it_came_to() -> None:
    """Harm: the ruling that the result stands with another amount than was decided."""
    assert dict(worth(round_after(Card(1, 1), Card(2, 2), Card(3, 0), dealt=(0,) * 10))) == {1: 3.0, 2: 3.0}


def test_before_any_card_every_seat_has_the_value_of_the_round() -> None:
    """Harm: a round that is dealt anew is worth another thing to one seat than to its neighbour."""
    values = worth(round_after(dealt=(0,) * 10))
    assert values[1] == values[2]
    assert values[2] == pytest.approx(worth(round_after(Card(1, 1), dealt=(0,) * 10))[2], abs=0.2), (
        "one seen card moves it little"
    )
