"""Road maps of a baccarat shoe, as a table's display shows them: the cells on each grid.

Each road is a grid of six rows that grows to the right. Cells never move: a further hand adds cells, or ties to the
last one. Dragon Tiger has these roads too, with dragon and tiger in place of player and banker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Literal

ROWS: Final = 6

Winner = Literal["player", "banker", "dragon", "tiger", "tie"]
Mark = Literal["regular", "choppy"]
"""Mark of a hand on a derived road: regular is drawn red, choppy blue. Neither indicates the winner."""
Places = Iterator[tuple[int, int]]
"""Row and column, each from 0."""


@dataclass(frozen=True, slots=True)
class Hand:
    """Result of one hand of a shoe."""

    winner: Winner
    player_pair: bool = False
    banker_pair: bool = False
    natural: int | None = None
    """The winner's 8 or 9, if it took two cards to make."""


@dataclass(frozen=True, slots=True)
class RoadCell:
    """One cell of a road."""

    row: int
    column: int
    kind: Winner | Mark
    hand: int
    """Number of its hand in the shoe, from 1."""
    ties: int = 0
    """On the big road: number of ties between that hand and the next one won by a side."""
    player_pair: bool = False
    banker_pair: bool = False
    natural: int | None = None


Road = tuple[RoadCell, ...]
"""Cells in the order in which they came."""


@dataclass(frozen=True, slots=True)
class Roads:
    """All roads of one shoe."""

    bead_plate: Road
    big_road: Road
    big_eye_boy: Road
    small_road: Road
    cockroach_pig: Road


def roads(hands: Sequence[Hand]) -> Roads:
    """The roads of a shoe, from its hands in the order in which they were dealt."""
    columns = runs(hands)
    return Roads(
        bead_plate=bead_plate(hands),
        big_road=big_road(hands),
        big_eye_boy=derived_road(columns, back=1),
        small_road=derived_road(columns, back=2),
        cockroach_pig=derived_road(columns, back=3),
    )


def bead_plate(hands: Sequence[Hand]) -> Road:
    """Every hand, ties too: down the first column, then down the next."""
    return tuple(_cell(number, hand, number % ROWS, number // ROWS) for number, hand in enumerate(hands))


def _cell(number: int, hand: Hand, row: int, column: int) -> RoadCell:
    pairs = {"player_pair": hand.player_pair, "banker_pair": hand.banker_pair}
    return RoadCell(row, column, hand.winner, number + 1, natural=hand.natural, **pairs)


# --- The big road ------------------------------------------------------------------------------------------------


def runs(hands: Sequence[Hand]) -> list[list[int]]:
    """The hands that one side won in a row, as their places in the shoe. A tie is in no run, and ends none."""
    decided = [number for number, hand in enumerate(hands) if hand.winner != "tie"]
    return [list(run) for _, run in groupby(decided, key=lambda number: hands[number].winner)]


def big_road(hands: Sequence[Hand]) -> Road:
    """A column for each run of one side's wins, with ties counted on the cell of the hand before them.

    Ties that open a shoe wait in the first cell, which then belongs to the first hand won by a side.
    """
    columns = runs(hands)
    decided = [number for run in columns for number in run]
    if not decided:
        return (RoadCell(0, 0, "tie", hand=1, ties=len(hands)),) if hands else ()
    ties = _ties_after(hands, decided)
    return tuple(
        replace(_cell(number, hands[number], row, column), ties=ties[number])
        for number, (row, column) in zip(decided, places(map(len, columns)), strict=True)
    )


def _ties_after(hands: Sequence[Hand], decided: Sequence[int]) -> dict[int, int]:
    """How many ties followed each decided hand; those before the first count with it."""
    ends = [*decided[1:], len(hands)]
    ties = {number: end - number - 1 for number, end in zip(decided, ends, strict=True)}
    ties[decided[0]] += decided[0]
    return ties


def places(lengths: Iterable[int]) -> Places:
    """Cells of the entries of runs of these lengths, run by run.

    A run goes down its column as far as that is free, and from there along the row: the dragon's tail. The next run
    takes the first column whose top is free, so it may be above a tail, and turn off earlier for it.
    """
    taken: set[tuple[int, int]] = set()
    column = -1
    for length in lengths:
        column = _next_top(column, taken)
        depth = next((row for row in range(ROWS) if (row, column) in taken), ROWS)
        path = [(min(step, depth - 1), column + max(0, step - depth + 1)) for step in range(length)]
        taken.update(path)
        yield from path


def _next_top(column: int, taken: set[tuple[int, int]]) -> int:
    """The first column with a free top to the right of a column; a tail occupies the top row if the row below it is
    taken."""
    column += 1
    while (0, column) in taken:
        column += 1
    return column


# --- The derived roads -------------------------------------------------------------------------------------------


def derived_road(columns: Sequence[Sequence[int]], back: int) -> Road:
    """The big road compared with itself `back` columns earlier: 1 for big eye boy, 2 for small road, 3 for cockroach
    pig.

    Equal marks in a row make a column, as wins do on the big road.
    """
    marks = list(derived_marks(columns, back))
    lengths = [len(list(alike)) for _, alike in groupby(kind for _, kind in marks)]
    return tuple(
        RoadCell(row, column, kind, number + 1)
        for (number, kind), (row, column) in zip(marks, places(lengths), strict=True)
    )


def derived_marks(columns: Sequence[Sequence[int]], back: int) -> Iterator[tuple[int, Mark]]:
    """Each hand that a derived road marks, with its mark.

    A derived road shows whether the shoe repeats itself at a distance. Columns are compared by length, with their tails
    uncoiled.

    - A hand that lengthens a column is compared with the column `back` columns before. It is choppy if that column
      ended in the row just above, where the run was over. Otherwise it is regular: that column continues in this row
      too, or ended higher up and was outgrown before.
    - A hand that opens a column completes the column before. It is regular if that one is as long as the column `back`
      columns before it, and choppy if not.

    The first marked hand is the second one of column `back`, counted from 0; if that column has one hand, the first of
    the next column, when two complete columns are that far apart.
    """
    lengths = [len(column) for column in columns]
    for place in range(back, len(columns)):
        for row, number in enumerate(columns[place]):
            if row:
                yield number, "choppy" if lengths[place - back] == row else "regular"
            elif place > back:
                yield number, "regular" if lengths[place - 1] == lengths[place - 1 - back] else "choppy"
