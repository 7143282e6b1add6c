"""Simulation of Rocket: whole shoes with several seats, dealt as the engine does, compiled, reproducible by seed.

Simulated rounds prove nothing, but they would reveal an error of the exact value, and they measure what it ignores:
shoes that run out because of other seats, and the correlation of the seats of one table. The burned cards are never
picked: unseen cards are exchangeable, so the shoe is out when as many cards are left as were burned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from tables.games.cards import DECK_SIZE, RANKS
from tables.games.rocket import DEATH_CARD, Rocket, Rules
from tables.maths.compiled import jit
from tables.maths.random_cards import Bytes, dice_of, draw
from tables.maths.rocket_value import Solution, places, solve
from tables.maths.situation import Unknowable, fresh, strategy

Counts = NDArray[np.int64]
Whole = NDArray[np.int64]

OUTCOMES: Final = Rocket.outcomes
CHUNK: Final = 1_000_000
"""Rounds dealt from one seed; a longer run is a set of chunks in any order."""
_FOLD, _PAIR, _DEALER_PAIR, _DEATH_CARD, _PUSH = range(5)
_SETS: Final = 1 << len(RANKS)
_DEATH: Final = DEATH_CARD - 1


@dataclass(frozen=True)
class Table:
    """A simulated table: the rules, the number of seats, and their common strategy."""

    rules: Rules
    seats: int
    solution: Solution
    fresh: bool = False
    """Whether the shoe is shuffled before every round, instead of at the cut card."""

    def __post_init__(self) -> None:
        if self.seats not in Rocket.seat_counts:
            raise Unknowable(f"Rocket is not dealt to {self.seats} seats: it has 1 to {Rocket.seat_counts[-1]}")


@dataclass(frozen=True, eq=False)
class RocketTally:
    """Results of simulated rounds: by seat, outcome and rank; and by the total win of all seats in tenths."""

    ends: Counts
    totals: Counts
    refills: int = 0

    @property
    def rounds(self) -> int:
        """Number of rounds dealt: each adds one to the totals."""
        return int(self.totals.sum())

    def counts(self) -> dict[str, Any]:
        """The tally in the form in which a run is stored: integers, so that sums are exact."""
        return {"ends": self.ends.tolist(), "totals": self.totals.tolist(), "refills": self.refills}

    def with_counts(self, counts: Mapping[str, Any]) -> RocketTally:
        """The sum with a stored tally. Raises ValueError, KeyError or TypeError for malformed data."""
        return RocketTally(
            self.ends + counts["ends"], self.totals + counts["totals"], self.refills + int(counts["refills"])
        )

    def __add__(self, other: RocketTally) -> RocketTally:
        return RocketTally(self.ends + other.ends, self.totals + other.totals, self.refills + other.refills)

    def seat(self, seat: int) -> tuple[float, float]:
        """The mean and the variance of what a seat wins, as parts of its bet."""
        return _moments(self.ends[seat - 1].ravel(), _NET.ravel())

    def table(self) -> tuple[float, float]:
        """The mean and the variance of what all seats win together, as parts of one bet."""
        most = len(self.totals) // 2
        return _moments(self.totals, np.arange(-most, most + 1))

    def chances(self, seat: int) -> dict[tuple[str, int], float]:
        """Share of the rounds by a seat's outcome and rank."""
        return {
            (OUTCOMES[kind], int(rank)): float(self.ends[seat - 1, kind, rank] / self.rounds)
            for kind, rank in zip(*np.nonzero(self.ends[seat - 1]), strict=True)
        }

    def errors(self, seat: int, exact: Solution) -> Iterator[float]:
        """Deviations of the seat's outcomes from their exact probabilities, each in standard errors."""
        chances = self.chances(seat)
        for end, chance in exact.outcomes.items():
            yield (chances.get(end, 0.0) - chance) / sqrt(chance * (1 - chance) / self.rounds)


_NET: Final = np.outer([-1, -1, 1, 1, 0], np.arange(len(RANKS) + 1))


def _moments(counts: Counts, tenths: NDArray[Any]) -> tuple[float, float]:
    shares = counts / counts.sum()
    mean = float((shares * tenths).sum())
    return mean / 10, float((shares * (tenths - mean) ** 2).sum()) / 100


def nothing(seats: int) -> RocketTally:
    """An empty tally of a table with this number of seats."""
    return RocketTally(np.zeros((seats, 5, len(RANKS) + 1), np.int64), np.zeros(20 * seats + 1, np.int64))


def chart(solution: Solution) -> Bytes:
    """Whether a seat folds, by the two sets of ranks, each a number of ten bits."""
    folds = np.zeros((_SETS, _SETS), np.uint8)
    for player, dealer, flags in places(solution):
        folds[np.ix_(player, dealer)] = flags
    return folds


def deal(
    table: Table, seed: int, rounds: int = CHUNK, folds: Bytes | None = None, before: Counts | None = None
) -> RocketTally:
    """Simulate rounds; a seed deals equal rounds on every machine. Releases the GIL.

    `before`, zeros with a row for each round, receives the unseen cards of each rank before it and, in an eleventh
    column, how often a shoe has run out by then.
    """
    tally, rules = nothing(table.seats), table.rules
    cut = DECK_SIZE * rules.decks if table.fresh else Rocket().at_cut(rules)
    refills = _deal(
        seed=np.uint64(seed % 2**64),
        rounds=rounds,
        decks=rules.decks,
        burn=rules.burn,
        cut=cut,
        low_card=rules.start == "low_card",
        folds=chart(table.solution) if folds is None else folds,
        ends=tally.ends,
        totals=tally.totals,
        before=np.zeros((0, len(RANKS) + 1), np.int64) if before is None else before,
    )
    return RocketTally(tally.ends, tally.totals, int(refills))


def described(table: Table, seed: int) -> dict[str, Any]:
    """A run, so that any other process can deal it."""
    return {
        "rules": msgspec.to_builtins(table.rules),
        "seats": table.seats,
        "strategy": table.solution.strategy.name,
        "fresh": table.fresh,
        "seed": seed,
    }


def table_of(run: Mapping[str, Any]) -> Table:
    """The table of a described run."""
    rules = msgspec.convert(run["rules"], Rules)
    return Table(rules, run["seats"], solve(fresh(rules.decks, rules.burn), strategy(run["strategy"])), run["fresh"])


def seed_of(run: int, chunk: int) -> int:
    """The seed of one chunk of a run; runs share no seed up to 2^32 chunks."""
    return run << 32 | chunk


# --- the loop, in machine code: whole numbers only ---------------------------------------------------------------


@jit
def _in_play(stacks: Whole, dealer: int) -> int:
    """How many cards the seats and the dealer hold: each step of a loop takes a set's lowest bit away."""
    count = 0
    for ranks in stacks:
        stack = ranks
        while stack:
            stack &= stack - 1
            count += 1
    while dealer:
        dealer &= dealer - 1
        count += 1
    return count


@jit
def refill(cards: Bytes, decks: int, stacks: Whole, dealer: int) -> int:
    """Make all cards but those in play unseen again, with the latter behind them; returns the number of unseen
    cards."""
    front, back = 0, len(cards)
    for rank in range(10):
        out = dealer >> rank & 1
        for stack in stacks:
            out += stack >> rank & 1
        for _ in range(out):
            back -= 1
            cards[back] = rank
        for _ in range((rank + 1) * decks - out):
            cards[front] = rank
            front += 1
    return front


@jit
def _starter(stacks: Whole, button: int) -> int:
    """The place of the lowest card; of a tie, the first to the left of the button."""
    low = stacks.min()
    for step in range(len(stacks)):
        seat = (button + step) % len(stacks)
        if stacks[seat] == low:
            return seat
    return 0


@jit
def _deal(
    seed: np.uint64,
    rounds: int,
    decks: int,
    burn: int,
    cut: int,
    low_card: bool,
    folds: Bytes,
    ends: Counts,
    totals: Counts,
    before: Counts,
) -> int:
    """Rounds as the engine plays them. A stack is a number with a bit for each rank; 0 when the seat is out."""
    seats, most = len(ends), len(totals) // 2
    dice = dice_of(seed)
    cards, stacks = np.empty(DECK_SIZE * decks, np.uint8), np.zeros(seats, np.int64)
    unseen, button, refills = refill(cards, decks, stacks, 0), 0, 0
    for number in range(rounds):
        if unseen - burn <= cut:
            unseen = len(cards)
        if number < len(before):
            before[number, 10] = refills
            for index in range(unseen):
                before[number, cards[index]] += 1
        stacks[:] = 0
        dealer, alive, total = 0, seats, 0
        for seat in range(seats):
            if unseen == burn:
                unseen = refill(cards, decks, stacks, dealer)
                refills += 1
            stacks[seat] = 1 << draw(cards, unseen, dice)
            unseen -= 1
        first = 0
        if low_card:
            first = _starter(stacks, button)
            button = first + 1
        while alive:
            if unseen == burn:
                if len(cards) - _in_play(stacks, dealer) <= burn:
                    for seat in range(seats):
                        ends[seat, _PUSH, 0] += stacks[seat] != 0
                    break
                unseen = refill(cards, decks, stacks, dealer)
                refills += 1
            rank = draw(cards, unseen, dice)
            unseen -= 1
            if rank == _DEATH or dealer >> rank & 1:
                kind = _DEATH_CARD if rank == _DEATH else _DEALER_PAIR
                for seat in range(seats):
                    ends[seat, kind, rank + 1] += stacks[seat] != 0
                total += alive * (rank + 1)
                break
            dealer |= 1 << rank
            for step in range(seats):
                seat = first + step
                if seat >= seats:
                    seat -= seats
                stack = stacks[seat]
                if not stack:
                    continue
                stuck = unseen == burn and len(cards) - _in_play(stacks, dealer) <= burn
                if stuck or folds[stack, dealer]:
                    low = 1
                    while not (stack | dealer) >> (low - 1) & 1:
                        low += 1
                    ends[seat, _FOLD, low] += 1
                    total -= low
                    stacks[seat] = 0
                    alive -= 1
                    continue
                if unseen == burn:
                    unseen = refill(cards, decks, stacks, dealer)
                    refills += 1
                rank = draw(cards, unseen, dice)
                unseen -= 1
                if stack >> rank & 1:
                    ends[seat, _PAIR, rank + 1] += 1
                    total -= rank + 1
                    stacks[seat] = 0
                    alive -= 1
                else:
                    stacks[seat] = stack | 1 << rank
        totals[most + total] += 1
    return refills
