"""What a cut card costs and what it gives away: shoes of Rocket by decks, seats and depth, as they were measured.

The measuring (``counting.py``) takes minutes and depends on nothing but the game, so its results are a file beside
this one: the same for every house, written by ``manage.py penetration --write`` and held by a test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from tables.games.cards import DECK_SIZE
from tables.games.rocket import Rocket
from tables.maths.situation import DECKS, Unknowable

RESULTS: Final = Path(__file__).with_name("penetration.json")
SEATS: Final = Rocket.seat_counts
CUTS: Final = tuple(percent / 100 for percent in range(10, 55, 5))
"""Which part of the shoe lies behind the cut card, as far as the rules of the game go."""
SPREADS: Final = range(1, 1001)
LONGEST: Final = 3600


@dataclass(frozen=True)
class Count:
    """A count of one number: each card seen adds its tag; the seat bets more when the count per deck left is high."""

    tags: tuple[int, ...]
    """By rank. They add up to 0 over a deck, so that the count starts at 0."""
    thresholds: tuple[int, ...]
    """By decks: with more than this per deck (of 55 cards) left unseen, the seat has the edge."""

    def threshold(self, decks: int) -> int:
        """The count per deck above which the seat bets more, in a shoe of so many decks."""
        return self.thresholds[DECKS.index(decks)]


@dataclass(frozen=True)
class Tags:
    """The best tags up to a size, and how their count goes with the exact edge of six decks (1: they are one)."""

    tags: tuple[int, ...]
    correlation: float


@dataclass(frozen=True)
class Pace:
    """How long things take, in seconds: a round with all its payments, and a shuffle with its cut and burn."""

    round_seconds: float = 45.0
    shuffle_seconds: float = 150.0

    def __post_init__(self) -> None:
        for event, seconds in (("round", self.round_seconds), ("shuffle", self.shuffle_seconds)):
            if not 0 < seconds <= LONGEST:
                raise Unknowable(f"a {event} of {seconds:g} seconds cannot be: it takes above 0 and at most {LONGEST}")


@dataclass(frozen=True)
class Cell:
    """One way to deal. Values are the seat's, a round, as parts of its lowest bet; errors are standard errors."""

    decks: int
    seats: int
    cut: float
    rounds: float
    """In a shoe, from a shuffle to the next."""
    refills: float
    """Times in a shoe that it runs out in mid-round and is filled from the discards."""
    positive: float
    """Which part of the rounds begins with an edge for the seat."""
    positive_error: float
    best: float
    """What a round is worth to a seat that always bets one and plays best for the cards left."""
    best_error: float
    gain: float
    """What each further unit is worth that it bets when it has the edge, and only then, averaged over all rounds."""
    gain_error: float
    chart: float
    """What a round is worth to a seat that always bets one and plays the chart of a full shoe."""
    chart_error: float
    high: float
    """Which part of the rounds the practical count calls good."""
    count_gain: float
    """What each further unit is worth that a seat with this count and chart bets then, averaged over all rounds."""
    count_gain_error: float
    correlation: float
    """Of the practical count with the exact edge."""

    def wins(self, spread: int) -> tuple[float, float]:
        """What a perfect counter wins in 100 rounds, in lowest bets, and at most how far that is off (one error)."""
        return _per_hundred((self.best, self.best_error), (self.gain, self.gain_error), spread)

    def count_wins(self, spread: int) -> tuple[float, float]:
        """What a seat with the practical count wins in 100 rounds, and how far that is off, as for ``wins``."""
        return _per_hundred((self.chart, self.chart_error), (self.count_gain, self.count_gain_error), spread)

    @property
    def even(self) -> float | None:
        """From which spread on the perfect counter wins; ``None``: from none."""
        return _even_spread(self.best, self.gain)

    @property
    def count_even(self) -> float | None:
        """From which spread on the practical count wins; ``None``: from none."""
        return _even_spread(self.chart, self.count_gain)

    def shuffling(self, pace: Pace) -> float:
        """Which part of the time goes to shuffles; one for each time that the shoe runs out, too."""
        shuffles = (1 + self.refills) * pace.shuffle_seconds
        return shuffles / (shuffles + self.rounds * pace.round_seconds)

    def an_hour(self, pace: Pace) -> float:
        """Rounds in an hour of dealing and shuffling."""
        return 3600 * (1 - self.shuffling(pace)) / pace.round_seconds

    def facts(self, spread: int, pace: Pace) -> dict[str, Any]:
        """The cell for programs, with all errors and what follows from it at this spread and pace."""
        wins, error = self.wins(spread)
        count_wins, count_error = self.count_wins(spread)
        return asdict(self) | {
            "cards_behind": cards_behind(self.decks, self.cut),
            "spread": spread,
            "shuffling": self.shuffling(pace),
            "rounds_an_hour": self.an_hour(pace),
            "wins_per_100": wins,
            "wins_per_100_error": error,
            "even_spread": self.even,
            "count_wins_per_100": count_wins,
            "count_wins_per_100_error": count_error,
            "count_even_spread": self.count_even,
        }


COLUMNS: Final = tuple(field.name for field in fields(Cell))


def _per_hundred(base: tuple[float, float], gain: tuple[float, float], spread: int) -> tuple[float, float]:
    """What 100 rounds are worth at a spread, and its error, from those of the lowest bet and of each further unit. The
    errors of both are added up, as if they went the same way."""
    if spread not in SPREADS:
        raise Unknowable(f"a spread of 1 to {spread} is not bet: it is 1 to {SPREADS[0]} up to 1 to {SPREADS[-1]}")
    units = spread - 1
    (value, error), (unit_value, unit_error) = base, gain
    return 100 * (value + units * unit_value), 100 * (error + units * unit_error)


def _even_spread(value: float, gain: float) -> float | None:
    if value >= 0:
        return 1.0
    return 1 - value / gain if gain > 0 else None


def cards_behind(decks: int, cut: float) -> int:
    """How many cards lie behind a cut card at this part of the shoe."""
    return round(decks * DECK_SIZE * cut)


@dataclass(frozen=True)
class Results:
    """All that was measured, and how much of it."""

    seed: int
    rounds: int
    """For each number of decks and seats."""
    solved: int
    """Of these so many exactly, to correct the rest."""
    burn: int
    count: Count
    best_tags: tuple[Tags, ...]
    cells: tuple[Cell, ...]

    def cell(self, decks: int, seats: int, cut: float) -> Cell:
        """What was measured of so many decks and seats, with the cut card there. Raises Unknowable."""
        check(decks, seats, cut)
        return next(
            cell for cell in self.cells if (cell.decks, cell.seats) == (decks, seats) and abs(cell.cut - cut) < 1e-9
        )

    def text(self) -> str:
        """The file of results, in JSON: a line for each cell, so that a change shows where it is."""
        head = {
            "seed": self.seed,
            "rounds": self.rounds,
            "solved": self.solved,
            "burn": self.burn,
            "count": asdict(self.count),
            "best_tags": [asdict(tags) for tags in self.best_tags],
            "columns": COLUMNS,
        }
        rows = ",\n".join(json.dumps([_six_digits(value) for value in asdict(cell).values()]) for cell in self.cells)
        return f'{json.dumps(head, indent=1)[:-2]},\n "cells": [\n{rows}\n]}}\n'


def _six_digits(value: float) -> float:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def check(decks: int, seats: int, cut: float) -> None:
    """Raises Unknowable for what was not measured."""
    if decks not in DECKS:
        raise Unknowable(f"a shoe of {decks} decks is not dealt: it has {DECKS[0]} to {DECKS[-1]}")
    if seats not in SEATS:
        raise Unknowable(f"Rocket is not dealt to {seats} seats: it has {SEATS[0]} to {SEATS[-1]}")
    if not any(abs(cut - depth) < 1e-9 for depth in CUTS):
        depths = ", ".join(f"{depth:g}" for depth in CUTS)
        raise Unknowable(f"a cut card at {cut:g} of the shoe was not measured: these were: {depths}")


@cache
def results() -> Results:
    """What was measured, from the file of results; a process reads it once."""
    document = json.loads(RESULTS.read_text())
    count = document["count"]
    return Results(
        seed=document["seed"],
        rounds=document["rounds"],
        solved=document["solved"],
        burn=document["burn"],
        count=Count(tuple(count["tags"]), tuple(count["thresholds"])),
        best_tags=tuple(Tags(tuple(tags["tags"]), tags["correlation"]) for tags in document["best_tags"]),
        cells=tuple(Cell(**dict(zip(document["columns"], row, strict=True))) for row in document["cells"]),
    )


# --- for readers ------------------------------------------------------------------------------------------------


def lines(cells: list[Cell], count: Count, spread: int, pace: Pace) -> Iterator[str]:
    """Cells as a list under its heading, and what the columns mean."""
    yield (
        f"{'decks':>5}{'seats':>6}{'behind':>8}{'rounds':>8}{'shuffling':>11}{'an hour':>9}{'edge > 0':>10}"
        f"{'perfect':>17}{'even at':>9}{'count':>17}{'even at':>9}"
    )
    for cell in cells:
        yield (
            f"{cell.decks:>5}{cell.seats:>6}{cell.cut:>8.0%}{cell.rounds:>8.1f}{cell.shuffling(pace):>11.1%}"
            f"{cell.an_hour(pace):>9.1f}{cell.positive:>10.2%}{_with_error(*cell.wins(spread)):>17}{even(cell.even):>9}"
            f"{_with_error(*cell.count_wins(spread)):>17}{even(cell.count_even):>9}"
        )
    yield ""
    yield f"perfect, count: lowest bets won in 100 rounds with bets of 1 to {spread}, ± one standard error."
    yield "even at: from this spread on the counter wins."
    yield f"The count: {told(count)}."


def _with_error(wins: float, error: float) -> str:
    return f"{wins:+.2f} ± {error:.2f}"


def even(spread: float | None) -> str:
    """The spread from which on a counter wins, as bets are written: 1:8.5. Larger ones than are bet are not told."""
    if spread is None or spread > SPREADS[-1]:
        return f"> 1:{SPREADS[-1]}"
    return f"1:{spread:.1f}"


def told(count: Count) -> str:
    """The tags as ``rank: tag``, without those of 0."""
    return ", ".join(f"{rank}: {tag:+d}" for rank, tag in enumerate(count.tags, 1) if tag)
