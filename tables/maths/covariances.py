"""Covariances of the results of wagers: those of one seat, and those of two seats in one round.

Two seats play against one dealer's hand, and in some games all cards are shared. So the variance of a table's win needs
the covariance of each two wagers as well as the variance of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

Pair = tuple[str, str]
"""Two wagers, or one of them twice."""
Means = Mapping[Pair, Fraction]
Nets = Mapping[str, Fraction | int]
"""Net win of each wager of a round, per unit of it."""


@dataclass(frozen=True, slots=True)
class Together:
    """The covariances of two wagers, per unit of each; with standard errors if they are simulated.

    Later additions count with the wager that led to them. A wager offered in mid-round counts in the rounds in which it
    is offered.
    """

    seat: float
    """Both wagers of one seat; for a single wager, its variance."""
    seats: float
    """Wagers of two different seats."""
    seat_error: float = 0.0
    seats_error: float = 0.0


Covariances = Mapping[Pair, Together]
"""For each two wagers, in either order, and each with itself."""


def pairs_of(wagers: Iterable[str]) -> list[Pair]:
    """Each two wagers once, and each with itself."""
    return list(combinations_with_replacement(wagers, 2))


def either_order(halves: Mapping[Pair, Together]) -> Covariances:
    """The covariances with both orders of each pair as keys."""
    return {**{(second, first): together for (first, second), together in halves.items()}, **halves}


def exact(means: Nets, of_seat: Means, of_seats: Means) -> Covariances:
    """Covariances from the mean of each wager, and of the products of two: of one seat, and of two different ones."""
    halves = {}
    for pair in pairs_of(means):
        apart = Fraction(means[pair[0]]) * Fraction(means[pair[1]])
        halves[pair] = Together(float(of_seat[pair] - apart), float(of_seats[pair] - apart))
    return either_order(halves)


def all_in_common(ends: Sequence[tuple[Nets, int]]) -> Covariances:
    """Covariances of a game whose seats share all cards, from the net win of each wager at each end and the number of
    ways."""
    total = sum(ways for _, ways in ends)
    wagers = list(ends[0][0])
    means = {wager: _mean((Fraction(nets[wager]), ways) for nets, ways in ends) / total for wager in wagers}
    products = {
        (first, second): _mean((Fraction(nets[first]) * nets[second], ways) for nets, ways in ends) / total
        for first, second in pairs_of(wagers)
    }
    return exact(means, products, products)


def _mean(parts: Iterable[tuple[Fraction, int]]) -> Fraction:
    """Not divided yet."""
    return sum((value * ways for value, ways in parts), Fraction(0))


@dataclass(frozen=True, slots=True)
class Staked:
    """Sums of products of the stakes on two wagers over some rounds, in cents squared."""

    seat: int = 0
    """Both stakes of one seat."""
    seats: int = 0
    """Stakes of two different seats: each two seats in both orders."""


def variance(covariances: Covariances, stakes: Mapping[Pair, Staked]) -> float:
    """Variance of the total win over these rounds. Each pair of wagers is listed once."""
    parts = (
        (1 if pair[0] == pair[1] else 2) * (covariances[pair].seat * bets.seat + covariances[pair].seats * bets.seats)
        for pair, bets in stakes.items()
        if pair in covariances
    )
    return sum(parts, 0.0)


def rows(covariances: Covariances) -> list[dict[str, Any]]:
    """The covariances in the form in which they are stored."""
    return [{"wagers": list(pair), **asdict(together)} for pair, together in covariances.items()]


def read(rows: Iterable[Mapping[str, Any]]) -> Covariances:
    """The covariances from stored rows."""
    return {
        (first, second): Together(**numbers)
        for (first, second), numbers in ((row["wagers"], {k: row[k] for k in row if k != "wagers"}) for row in rows)
    }
