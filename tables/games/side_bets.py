"""Side bets of blackjack: they depend only on a seat's first two cards and the upcard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from tables.games.cards import RANK_OF, SUIT_OF
from tables.games.game import Wording
from tables.games.house_layout import HouseLayout
from tables.games.odds import Odds, paying
from tables.games.pays import UNPAID, PaidWager, PayForm, PayLine
from tables.games.protocol import because
from tables.games.three_cards import FLUSH, NAMES, value_of

_REDS: Final = (1, 2)


class SideBet(NamedTuple):
    """A side bet: the line of its pay table that some cards match; "" for a loss."""

    paid: PaidWager
    line_of: Callable[[tuple[int, ...], int], str]


def _pair(cards: tuple[int, ...], upcard: int) -> str:
    first, second = cards
    if RANK_OF[first] != RANK_OF[second]:
        return ""
    if first == second:
        return "perfect"
    same_colour = (SUIT_OF[first] in _REDS) == (SUIT_OF[second] in _REDS)
    return "coloured" if same_colour else "mixed"


def _three(cards: tuple[int, ...], upcard: int) -> str:
    three = (*cards, upcard)
    if len(set(three)) == 1:
        return "same_card_thrice"
    kind = value_of(three)[0]
    return NAMES[kind].replace(" ", "_") if kind >= FLUSH else ""


def _paid(name: str, title: str, *lines: tuple[str, str, int, tuple[int, int]]) -> PaidWager:
    """A side bet by its lines, each with its label, its standard odds and the permitted odds; a line may also be
    unpaid."""
    bounded = tuple(PayLine(line, label, Odds(low), Odds(high), True) for line, label, _, (low, high) in lines)
    return PaidWager(name, title, bounded, {"": tuple(Odds(pays) for _, _, pays, _ in lines)})


SIDE_BETS: Final[Mapping[str, SideBet]] = {
    side_bet.paid.name: side_bet
    for side_bet in (
        SideBet(
            _paid(
                "perfect_pairs",
                "Perfect pairs",
                ("perfect", "perfect pair", 25, (10, 60)),
                ("coloured", "coloured pair", 12, (5, 30)),
                ("mixed", "mixed pair", 6, (2, 15)),
            ),
            _pair,
        ),
        SideBet(
            _paid(
                "twenty_one_plus_three",
                "21+3",
                ("same_card_thrice", "the same card thrice", 100, (30, 300)),
                ("straight_flush", "straight flush", 40, (10, 100)),
                ("three_of_a_kind", "three of a kind", 30, (10, 60)),
                ("straight", "straight", 10, (2, 20)),
                ("flush", "flush", 5, (1, 10)),
            ),
            _three,
        ),
    )
}
PAY_FORM: Final = PayForm("blackjack", tuple(side_bet.paid for side_bet in SIDE_BETS.values()))
_LABELS: Final = {(bet, line.name): line.label for bet, (paid, _) in SIDE_BETS.items() for line in paid.lines}
REASONS: Final[Mapping[str, Wording]] = {"line": lambda bet, line: _LABELS[bet, line], "nothing": "nothing"}


def settle_side_bets(layout: HouseLayout) -> None:
    """All of them, once the first cards lie there."""
    for name, side_bet in SIDE_BETS.items():
        for spot, stake in layout.stakes(name):
            line = side_bet.line_of(tuple(spot.hand.cards), layout.dealer.cards[0])
            odds = layout.odds(name, line) if line else UNPAID
            if odds.pays:
                layout.pay(stake, odds, because("line", bet=name, line=line), paying(odds))
            else:
                layout.lose(stake, because("nothing"))
