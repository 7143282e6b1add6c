"""The reference: a seat's round of Rocket in rational numbers, written to be read, not to be fast.

It follows the rules card by card, with sets and fractions. The fast solver has to agree with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import lcm

from tables.games.cards import RANKS
from tables.games.rocket import DEATH_CARD
from tables.maths.situation import Situation, Strategy

Cards = frozenset[int]
Outcome = tuple[str, int]
"""A seat's outcome by the engine's name, and the rank that it paid or was paid."""
NOBODY: Cards = frozenset()


class Exact:
    """One seat's round from a situation, played by a strategy. Amounts are in tenths of the bet."""

    def __init__(self, situation: Situation, strategy: Strategy) -> None:
        self.situation, self.strategy = situation, strategy
        self.hit = cache(self._hit)
        self._dealer_hits = cache(self._dealer_hits_)

    def value(self) -> Fraction:
        """Expectation of a seat for a round."""
        return self.hit(NOBODY, NOBODY)

    def folds(self, player: Cards, dealer: Cards) -> bool:
        """Whether the seat folds here; where both come to the same it hits. The first cards are no choice."""
        if not player:
            return False
        if self.strategy.limit is not None:
            return min(player | dealer) <= self.strategy.limit
        return self.hit(player, dealer) < -min(player | dealer)

    def decision(self, player: Cards, dealer: Cards) -> Fraction:
        """Expectation of a seat that has to decide."""
        return Fraction(-min(player | dealer)) if self.folds(player, dealer) else self.hit(player, dealer)

    def draws(self, player: Cards, dealer: Cards) -> tuple[list[tuple[int, int]], int]:
        """Each rank that may come next with the number of its cards, and of how many all."""
        out = len(player) + len(dealer)
        base = self.situation.base(out)
        cards = [(rank, base[rank - 1] - (rank in player) - (rank in dealer)) for rank in RANKS]
        return [(rank, count) for rank, count in cards if count], sum(base) - out

    def _hit(self, player: Cards, dealer: Cards) -> Fraction:
        cards, total = self.draws(player, dealer)
        return _average(
            total,
            ((count, -rank if rank in player else self._dealer_hits(player | {rank}, dealer)) for rank, count in cards),
        )

    def _dealer_hits_(self, player: Cards, dealer: Cards) -> Fraction:
        cards, total = self.draws(player, dealer)
        return _average(
            total,
            (
                (count, rank if rank in dealer or rank == DEATH_CARD else self.decision(player, dealer | {rank}))
                for rank, count in cards
            ),
        )

    def outcomes(self) -> dict[Outcome, Fraction]:
        """The probability of everything that may become of the seat."""
        chances: dict[Outcome, Fraction] = defaultdict(Fraction)
        decisions = {(NOBODY, NOBODY): Fraction(1)}
        while decisions:
            hits: dict[tuple[Cards, Cards], Fraction] = defaultdict(Fraction)
            for (player, dealer), chance in decisions.items():
                if self.folds(player, dealer):
                    chances["fold", min(player | dealer)] += chance
                    continue
                cards, total = self.draws(player, dealer)
                for rank, count in cards:
                    if rank in player:
                        chances["pair", rank] += chance * count / total
                    else:
                        hits[player | {rank}, dealer] += chance * count / total
            decisions = defaultdict(Fraction)
            for (player, dealer), chance in hits.items():
                cards, total = self.draws(player, dealer)
                for rank, count in cards:
                    if rank == DEATH_CARD:
                        chances["death_card", rank] += chance * count / total
                    elif rank in dealer:
                        chances["dealer_pair", rank] += chance * count / total
                    else:
                        decisions[player, dealer | {rank}] += chance * count / total
        return dict(chances)


def _average(total: int, parts: Iterable[tuple[int, Fraction | int]]) -> Fraction:
    """The mean over ``total`` cards, given how many cards each part has and what such a card is worth.

    Added up over one denominator, for that is where the time goes.
    """
    terms = list(parts)
    denominator = lcm(*(value.denominator for _, value in terms))
    numerator = sum(count * value.numerator * (denominator // value.denominator) for count, value in terms)
    return Fraction(numerator, denominator * total)
