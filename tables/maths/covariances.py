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
"""What each wager of a round wins, per unit of it."""


@dataclass(frozen=True, slots=True)
class Together:
    """The covariances of two wagers, per unit of each; with standard errors where they are simulated.

    What is put up in mid-round counts with the wager that led to it. A wager that is offered in mid-round counts in the
    rounds in which it is.
    """

    seat: float
    """Both of one seat; of one wager twice its variance."""
    seats: float
    """Of two different seats."""
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
    """From the mean of each wager, and of the products of two: of one seat, and of two different ones."""
    halves = {}
    for pair in pairs_of(means):
        apart = Fraction(means[pair[0]]) * Fraction(means[pair[1]])
        halves[pair] = Together(float(of_seat[pair] - apart), float(of_seats[pair] - apart))
    return either_order(halves)


def all_in_common(ends: Sequence[tuple[Nets, int]]) -> Covariances:
    """Of a game in which all seats bet on the same cards: what each wager wins at each end, and in how many ways."""
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
    """What lay on two wagers in some rounds, multiplied and added up, in cents squared."""

    seat: int = 0
    """Both of one seat."""
    seats: int = 0
    """Of two different seats: each two seats in both orders."""


def variance(covariances: Covariances, stakes: Mapping[Pair, Staked]) -> float:
    """Of what is won in all of those rounds. Each two wagers are named once."""
    parts = (
        (1 if pair[0] == pair[1] else 2) * (covariances[pair].seat * bets.seat + covariances[pair].seats * bets.seats)
        for pair, bets in stakes.items()
        if pair in covariances
    )
    return sum(parts, 0.0)


def rows(covariances: Covariances) -> list[dict[str, Any]]:
    """As they are kept."""
    return [{"wagers": list(pair), **asdict(together)} for pair, together in covariances.items()]


def read(rows: Iterable[Mapping[str, Any]]) -> Covariances:
    """From what was kept."""
    return {
        (first, second): Together(**numbers)
        for (first, second), numbers in ((row["wagers"], {k: row[k] for k in row if k != "wagers"}) for row in rows)
    }
