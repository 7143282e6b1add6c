"""Measured effects of cut cards, on the casino's win and for card counters: by decks, seats and depth.

A measurement (`counting.py`) takes minutes and depends on the game only. So its results are files next to this module,
equal for all casinos, written by `manage.py penetration --write` and checked by a test. A game is measured with its
usual options, apart from a side bet that requires others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from tables.games.cards import DECK_SIZE, RANKS
from tables.games.rocket import Rocket
from tables.maths.situation import DECKS, Unknowable

RESULTS: Final = Path(__file__).with_name("penetration.json")
SEATS: Final = Rocket.seat_counts
CUTS: Final = tuple(percent / 100 for percent in range(10, 55, 5))
"""Fractions of the shoe behind the cut card, as far as the rules of the game permit."""
SPREADS: Final = range(1, 1001)
LONGEST: Final = 3600


@dataclass(frozen=True)
class Subject:
    """What was measured: a wager of a game, with decks, seats and cuts."""

    game: str
    wager: str
    title: str
    says: str
    """The wager as text; "" for a game's only one."""
    decks: tuple[int, ...]
    seats: tuple[int, ...]
    cuts: tuple[float, ...]
    usual: float
    """The game's default cut."""
    signs: tuple[str, ...]
    """The kinds of cards that a count distinguishes."""
    typical: int = 6
    """Decks of the shoe that the tags are found for."""
    deck_size: int = 52
    burn: int = 0
    lowest: int = 1
    """Whether a seat has to bet in each round: 1, or 0."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that differ from the usual ones."""
    best_play: str = "plays best for the cards left"
    count_play: str = "The chart of a full shoe is played."

    @property
    def file(self) -> Path:
        """Path of its results file."""
        name = "penetration" if self.game == "rocket" else f"penetration_{self.game}_{self.wager}"
        return RESULTS.with_name(f"{name}.json")

    def check(self, decks: int, seats: int, cut: float) -> None:
        """Raises Unknowable for what was not measured."""
        if decks not in self.decks:
            raise Unknowable(f"a shoe of {decks} decks {_not_there(self.decks)}")
        if seats not in self.seats:
            raise Unknowable(f"{self.title} {_with_seats(seats, self.seats)}")
        if not any(abs(cut - depth) < 1e-9 for depth in self.cuts):
            depths = ", ".join(f"{depth:g}" for depth in self.cuts)
            raise Unknowable(f"a cut card at {cut:g} of the shoe was not measured: these were: {depths}")


def _not_there(decks: tuple[int, ...]) -> str:
    if _join(decks):
        return f"is not dealt: it has {decks[0]} to {decks[-1]}"
    return f"was not measured: these were: {', '.join(map(str, decks))}"


def _with_seats(count: int, seats: tuple[int, ...]) -> str:
    if _join(seats):
        return f"is not dealt to {count} seats: it has {seats[0]} to {seats[-1]}"
    return f"was not measured with {count} seats: these were: {', '.join(map(str, seats))}"


def _join(numbers: tuple[int, ...]) -> bool:
    return len(numbers) > 1 and numbers == tuple(range(numbers[0], numbers[-1] + 1))


_BY_RANK: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K")
_BY_VALUE: Final = (*_BY_RANK[:9], "T-K")
_STANDARD_CUTS: Final = CUTS[2:]


def _baccarat(wager: str, words: str, signs: tuple[str, ...] = _BY_VALUE) -> Subject:
    return Subject(
        game="baccarat",
        wager=wager,
        title="Baccarat",
        says=words,
        decks=(6, 8),
        seats=(1,),
        cuts=(0.034, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
        usual=0.034,
        signs=signs,
        typical=8,
        lowest=0,
        options={"commission": "ez", "spread": ["tie", "player_pair", "banker_pair", "dragon_7", "panda_8"]},
        best_play="bets where that pays",
        count_play="",
    )


SUBJECTS: Final = (
    Subject(
        game="rocket",
        wager="bet",
        title="Rocket",
        says="",
        decks=tuple(DECKS),
        seats=tuple(SEATS),
        cuts=CUTS,
        usual=CUTS[2],
        signs=tuple(map(str, RANKS)),
        deck_size=DECK_SIZE,
        burn=5,
    ),
    Subject(
        game="blackjack",
        wager="main",
        title="Blackjack",
        says="",
        decks=(2, 6, 8),
        seats=(1, 3, 6),
        cuts=_STANDARD_CUTS,
        usual=0.25,
        signs=_BY_VALUE,
        best_play="plays the best chart for the cards left, without insurance",
        count_play="The chart of a full shoe is played, without insurance.",
    ),
    _baccarat("dragon_7", "Dragon 7"),
    _baccarat("panda_8", "Panda 8"),
    _baccarat("tie", "Tie"),
    _baccarat("player_pair", "Player's or banker's pair", _BY_RANK),
)


def subject(game: str, wager: str | None = None) -> Subject:
    """The subject of a game's wager, by default its first one. Raises Unknowable."""
    measured = [subject for subject in SUBJECTS if subject.game == game]
    if not measured:
        games = ", ".join(dict.fromkeys(subject.game for subject in SUBJECTS))
        raise Unknowable(f"shoes of {game[:40]!r} were not measured: these were: {games}")
    for subject in measured:
        if wager in (None, subject.wager):
            return subject
    wagers = ", ".join(subject.wager for subject in measured)
    raise Unknowable(f"{str(wager)[:40]!r} of {measured[0].title} was not measured: these were: {wagers}")


@dataclass(frozen=True)
class CountSystem:
    """A count of one number: each card seen adds its tag; the seat bets more when the count per deck left is high."""

    tags: tuple[int, ...]
    """By rank. Their sum over a deck is 0, so that the count starts at 0."""
    thresholds: tuple[int, ...]
    """By decks: the seat has the edge above this count per unseen deck."""
    decks: tuple[int, ...] = tuple(DECKS)

    def threshold(self, decks: int) -> int:
        """The count per deck above which the seat raises its bet, by number of decks."""
        return self.thresholds[self.decks.index(decks)]


@dataclass(frozen=True)
class Tags:
    """The best tags up to a size, and how their count goes with the exact edge of six decks (1: they are one); of tags
    that were not looked for, nothing."""

    tags: tuple[int, ...]
    correlation: float | None = None


@dataclass(frozen=True)
class Pace:
    """Durations in seconds: of a round with all its payments, and of a shuffle with cut and burn."""

    round_seconds: float = 45.0
    shuffle_seconds: float = 150.0

    def __post_init__(self) -> None:
        for event, seconds in (("round", self.round_seconds), ("shuffle", self.shuffle_seconds)):
            if not 0 < seconds <= LONGEST:
                raise Unknowable(f"a {event} of {seconds:g} seconds cannot be: it takes above 0 and at most {LONGEST}")


@dataclass(frozen=True)
class PenetrationCell:
    """One way to deal. Values are the seat's, a round, as parts of its lowest bet; errors are standard errors."""

    decks: int
    seats: int
    cut: float
    rounds: float
    """In a shoe, from a shuffle to the next."""
    refills: float
    """Times in a shoe that it runs out in mid-round and is filled from the discards."""
    positive: float
    """Share of the rounds that begin with an edge for the seat."""
    positive_error: float
    best: float
    """Worth of a round to a seat that always bets one unit and plays best for the cards left."""
    best_error: float
    gain: float
    """Gain from each further unit bet only with the edge, averaged over all rounds."""
    gain_error: float
    chart: float
    """Worth of a round to a seat that always bets one unit and plays the chart of a full shoe."""
    chart_error: float
    high: float
    """Share of the rounds that the practical count rates as favourable."""
    count_gain: float
    """Gain from each further unit that a seat with this count and chart bets then, averaged over all rounds."""
    count_gain_error: float
    correlation: float
    """Correlation of the practical count with the exact edge."""
    lowest: int = 1
    """1 if a seat has to bet in each round; 0 if it may bet only when that pays."""

    def wins(self, spread: int) -> tuple[float, float]:
        """Win of a perfect counter in 100 rounds, in minimum bets, and an upper bound of one standard error."""
        return self._per_hundred((self.best, self.best_error), (self.gain, self.gain_error), spread)

    def count_wins(self, spread: int) -> tuple[float, float]:
        """Win of a seat with the practical count in 100 rounds, in minimum bets, and its error as for `wins`."""
        return self._per_hundred((self.chart, self.chart_error), (self.count_gain, self.count_gain_error), spread)

    @property
    def even(self) -> float | None:
        """The lowest spread with which the perfect counter wins; None if there is none."""
        return self._even_spread(self.best, self.gain)

    @property
    def count_even(self) -> float | None:
        """The lowest spread with which the practical count wins; None if there is none."""
        return self._even_spread(self.chart, self.count_gain)

    def _even_spread(self, value: float, gain: float) -> float | None:
        if self.lowest and value >= 0:
            return 1.0
        return 1 - self.lowest * value / gain if gain > 0 else None

    def _per_hundred(self, base: tuple[float, float], gain: tuple[float, float], spread: int) -> tuple[float, float]:
        """Worth of 100 rounds at a spread, with its error, from the values of the lowest bet and of each further unit.

        The errors are added as if they were fully correlated. Raises Unknowable.
        """
        if spread not in SPREADS:
            raise Unknowable(f"a spread of 1 to {spread} is not bet: it is 1 to {SPREADS[0]} up to 1 to {SPREADS[-1]}")
        units = spread - self.lowest
        (value, error), (unit_value, unit_error) = base, gain
        return 100 * (self.lowest * value + units * unit_value), 100 * (self.lowest * error + units * unit_error)

    def shuffling(self, pace: Pace) -> float:
        """Share of the time that shuffles take, including one for each time that the shoe runs out."""
        shuffles = (1 + self.refills) * pace.shuffle_seconds
        return shuffles / (shuffles + self.rounds * pace.round_seconds)

    def an_hour(self, pace: Pace) -> float:
        """Rounds in an hour of dealing and shuffling."""
        return 3600 * (1 - self.shuffling(pace)) / pace.round_seconds

    def facts(self, spread: int, pace: Pace, deck_size: int = DECK_SIZE) -> dict[str, Any]:
        """The cell for programs, with all errors and what follows from it at this spread and pace."""
        wins, error = self.wins(spread)
        count_wins, count_error = self.count_wins(spread)
        return asdict(self) | {
            "cards_behind": cards_behind(self.decks, self.cut, deck_size),
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


COLUMNS: Final = tuple(column.name for column in fields(PenetrationCell))


def cards_behind(decks: int, cut: float, deck_size: int = DECK_SIZE) -> int:
    """Number of cards behind a cut card at a fraction of the shoe."""
    return round(decks * deck_size * cut)


@dataclass(frozen=True)
class Results:
    """All measurements of a subject, and their extent."""

    subject: Subject
    seed: int
    rounds: int
    """For each number of decks and seats."""
    solved: int
    """Number of places that are solved exactly, to correct the others."""
    burn: int
    count: CountSystem
    best_tags: tuple[Tags, ...]
    cells: tuple[PenetrationCell, ...]

    def cell(self, decks: int, seats: int, cut: float) -> PenetrationCell:
        """The measured result for this number of decks and seats at a depth of the cut card. Raises Unknowable."""
        self.subject.check(decks, seats, cut)
        return next(
            cell for cell in self.cells if (cell.decks, cell.seats) == (decks, seats) and abs(cell.cut - cut) < 1e-9
        )

    def text(self) -> str:
        """The file of results, in JSON: a line for each cell, so that a change shows where it is."""
        head = {
            "game": self.subject.game,
            "wager": self.subject.wager,
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


@cache
def results(game: str = "rocket", wager: str | None = None) -> Results:
    """The measurements of a wager, from the results file, which a process reads once. Raises Unknowable."""
    measured = subject(game, wager)
    document = json.loads(measured.file.read_text())
    count = document["count"]
    return Results(
        subject=measured,
        seed=document["seed"],
        rounds=document["rounds"],
        solved=document["solved"],
        burn=document["burn"],
        count=CountSystem(tuple(count["tags"]), tuple(count["thresholds"]), measured.decks),
        best_tags=tuple(Tags(tuple(tags["tags"]), tags["correlation"]) for tags in document["best_tags"]),
        cells=tuple(PenetrationCell(**dict(zip(document["columns"], row, strict=True))) for row in document["cells"]),
    )


# --- for readers ------------------------------------------------------------------------------------------------


def lines(cells: list[PenetrationCell], results: Results, spread: int, pace: Pace) -> Iterator[str]:
    """Cells as a list under its heading, and what the columns mean."""
    yield (
        f"{'decks':>5}{'seats':>6}{'behind':>8}{'rounds':>8}{'shuffling':>11}{'an hour':>9}{'edge > 0':>10}"
        f"{'perfect':>17}{'even at':>9}{'count':>17}{'even at':>9}"
    )
    for cell in cells:
        yield (
            f"{cell.decks:>5}{cell.seats:>6}{cell.cut:>8.0%}{cell.rounds:>8.1f}{cell.shuffling(pace):>11.1%}"
            f"{cell.an_hour(pace):>9.1f}{cell.positive:>10.2%}"
            f"{_with_error(*cell.wins(spread)):>17}{even(cell.even, cell):>9}"
            f"{_with_error(*cell.count_wins(spread)):>17}{even(cell.count_even, cell):>9}"
        )
    yield ""
    if results.subject.lowest:
        yield f"perfect, count: lowest bets won in 100 rounds with bets of 1 to {spread}, ± one standard error."
    else:
        yield f"perfect, count: units won in 100 rounds with bets of {spread} where that pays, ± one standard error."
    yield "even at: from this spread on the counter wins."
    yield f"The count: {tags_in_words(results)}."


def _with_error(wins: float, error: float) -> str:
    return f"{wins:+.2f} ± {error:.2f}"


def even(spread: float | None, cell: PenetrationCell) -> str:
    """The spread from which a counter wins, such as 1:8.5, up to the largest one considered.

    A counter who need not bet in each round wins with any bet, or with none.
    """
    if not cell.lowest:
        return "any bet" if spread else "no bet"
    if spread is None or spread > SPREADS[-1]:
        return f"> 1:{SPREADS[-1]}"
    return f"1:{spread:.1f}"


def tags_in_words(results: Results) -> str:
    """The tags as ``rank: tag``, without those of 0."""
    tags = zip(results.subject.signs, results.count.tags, strict=True)
    return ", ".join(f"{sign}: {tag:+d}" for sign, tag in tags if tag) or "none of one number tells anything"
