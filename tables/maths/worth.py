"""Worth of a wager to the casino: the result of every game's mathematics.

A game states in how many equally likely ways a wager has each result or, if simulated, in how many rounds it did.
These are integers and the results are fractions, so nothing is rounded before display.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Any, Final, Literal, NamedTuple

Method = Literal["exact", "simulated"]
Results = Mapping[Fraction, int]
"""Number of ways, or of simulated rounds, by a seat's win in units of its first wager."""
Tally = Mapping[str, Mapping[str, int]]
"""Number of ways, or of simulated rounds, by wager or part of a round and its end: {"tie": {"win": 1, "lose": 9}}."""


def results(ends: Iterable[tuple[Fraction | int, int]]) -> Results:
    """The results of a wager, from what its ends pay and how often they come; ends may pay the same."""
    often: dict[Fraction, int] = {}
    for net, ways in ends:
        result = Fraction(net)
        often[result] = often.get(result, 0) + ways
    return often


class Edge(NamedTuple):
    """Mean win of the casino on a wager, as a fraction of it, and the variance of that."""

    house: float
    variance: float


class Cost(NamedTuple):
    """Gain of the casino by rounding a wager, as a fraction of the bet; below zero if the player gains."""

    least_cents: int
    """The least bet."""
    at_least: float
    """At the least bet."""
    over_all: float
    """Over all bets between the limits, each equally likely."""


@dataclass(frozen=True)
class Worth:
    """A wager with the further wagers that it leads to, per unit of the first one; a push counts as a round."""

    house_edge: float
    standard_deviation: float
    hit_frequency: float
    """Probability of a net win of the seat."""
    method: Method = "exact"
    standard_error: float | None = None
    """Of the house edge, if it is simulated."""
    beside: Mapping[str, Worth] = field(default_factory=dict)
    """The wager under other strategies, by their names on a sheet."""
    standard_errors: Mapping[str, float] = field(default_factory=dict)
    """Standard errors of simulated numbers that accompany an exact house edge, by name."""
    chances: Mapping[str, float] = field(default_factory=dict)
    """The probabilities of results that are not whole units, by what the seat wins of a unit: 3/2, 19/20, -1/2."""

    @property
    def edge(self) -> Edge:
        """The edge with its variance."""
        return Edge(self.house_edge, self.standard_deviation**2)

    def facts(self) -> dict[str, Any]:
        """For programs, at full precision."""
        facts: dict[str, Any] = {
            "house_edge": self.house_edge,
            "standard_deviation": self.standard_deviation,
            "hit_frequency": self.hit_frequency,
            "method": self.method,
        }
        if self.standard_error is not None:
            facts["standard_error"] = self.standard_error
        if self.standard_errors:
            facts["standard_errors"] = dict(self.standard_errors)
        if self.chances:
            facts["chances"] = dict(self.chances)
        return facts | {name: worth.facts() for name, worth in self.beside.items()}


def exact(often: Results, beside: Mapping[str, Results] | None = None) -> Worth:
    """The worth of a wager from the number of ways to each result."""
    side_worths = {name: exact(ways) for name, ways in (beside or {}).items()}
    return Worth(*_moments(often), beside=side_worths, chances=_chances(often))


def simulated(often: Results, beside: Mapping[str, Results] | None = None) -> Worth:
    """The worth of a wager from the number of simulated rounds with each result."""
    edge, deviation, hits = _moments(often)
    side_worths = {name: simulated(rounds) for name, rounds in (beside or {}).items()}
    return Worth(edge, deviation, hits, "simulated", deviation / sqrt(sum(often.values())), side_worths)


def _chances(often: Results) -> dict[str, float]:
    total = sum(often.values())
    return {str(net): ways / total for net, ways in often.items() if net.denominator > 1 and ways}


Valued = Callable[..., Worth]
"""``exact`` or ``simulated``."""


def _moments(often: Results) -> tuple[float, float, float]:
    """Edge, deviation and hit frequency; rounded once each."""
    total = sum(often.values())
    mean = sum((net * ways for net, ways in often.items()), Fraction(0)) / total
    square = sum((net * net * ways for net, ways in often.items()), Fraction(0)) / total
    hits = Fraction(sum(ways for net, ways in often.items() if net > 0), total)
    return float(-mean), sqrt(square - mean * mean), float(hits)


SIMULATED: Final = "simulated"


@dataclass(frozen=True)
class Sheet:
    """Worth of each wager of a game that can be placed under the options."""

    game: str
    options: Mapping[str, Any]
    """All of them, as a round record writes them."""
    wagers: Mapping[str, Worth]
    composition: Mapping[str, int]
    """The cards that it is valued from, with their counts."""
    chart: Mapping[str, Any] | None = None
    """The assumed strategy, if the game has decisions."""

    @property
    def method(self) -> Method:
        """Exact only if every wager is."""
        return SIMULATED if any(worth.method == SIMULATED for worth in self.wagers.values()) else "exact"

    @property
    def edges(self) -> dict[str, Edge]:
        """The edge of each wager, with its variance."""
        return {name: worth.edge for name, worth in self.wagers.items()}

    def facts(self) -> dict[str, Any]:
        """The sheet for programs."""
        return {
            "game": self.game,
            "options": dict(self.options),
            "composition": dict(self.composition),
            "wagers": {name: worth.facts() for name, worth in self.wagers.items()},
            "chart": self.chart,
            "method": self.method,
        }
