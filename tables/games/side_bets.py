"""Side bets of blackjack: they look at a seat's first two cards and the upcard alone, whatever becomes of the hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from tables.games.cards import RANK_OF, SUIT_OF
from tables.games.house_layout import HouseLayout
from tables.games.odds import Odds
from tables.games.three_cards import NAMES, value_of

_REDS: Final = (1, 2)


class SideBet(NamedTuple):
    """A side bet: what kind of a thing some cards are for it, and what each kind pays."""

    title: str
    kind_of: Callable[[tuple[int, ...], int], str]
    pays: Mapping[str, Odds]


def _pair(cards: tuple[int, ...], upcard: int) -> str:
    first, second = cards
    if RANK_OF[first] != RANK_OF[second]:
        return ""
    if first == second:
        return "perfect pair"
    same_colour = (SUIT_OF[first] in _REDS) == (SUIT_OF[second] in _REDS)
    return "coloured pair" if same_colour else "mixed pair"


def _three(cards: tuple[int, ...], upcard: int) -> str:
    three = (*cards, upcard)
    return "the same card thrice" if len(set(three)) == 1 else NAMES[value_of(three)[0]]


SIDE_BETS: Final[Mapping[str, SideBet]] = {
    "perfect_pairs": SideBet(
        "Perfect pairs", _pair, {"perfect pair": Odds(25), "coloured pair": Odds(12), "mixed pair": Odds(6)}
    ),
    "twenty_one_plus_three": SideBet(
        "21+3",
        _three,
        {
            "the same card thrice": Odds(100),
            "straight flush": Odds(40),
            "three of a kind": Odds(30),
            "straight": Odds(10),
            "flush": Odds(5),
        },
    ),
}


def settle_side_bets(layout: HouseLayout) -> None:
    """All of them, once the first cards lie there."""
    for name, side_bet in SIDE_BETS.items():
        for spot, stake in layout.stakes(name):
            kind = side_bet.kind_of(tuple(spot.hand.cards), layout.dealer.cards[0])
            if odds := side_bet.pays.get(kind):
                layout.pay(stake, odds, f"{kind}, pays {odds}")
            else:
                layout.lose(stake, "nothing")
