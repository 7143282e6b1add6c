"""The pit's pictures as numbers: what goes where in an SVG. The templates draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import Final

from ledger.chips import money
from tables.history import RoundLine

WIDTH: Final = 960
HEIGHT: Final = 96
"""Of each of the chart's two panels."""
LEFT: Final = 72
"""Room for the amounts at the left edge."""
WIDEST: Final = 28


@dataclass(frozen=True, slots=True)
class Bar:
    """One round's bar: up for what the house won, down for what it lost."""

    x: float
    y: float
    width: float
    height: float
    number: int
    net_cents: int


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole on a bar a thousand wide."""

    label: str
    cents: int
    x: float
    width: float


def shares(parts: Sequence[tuple[str, int]]) -> list[Share]:
    """Parts of a whole beside each other; what is below zero has no width."""
    whole = sum(max(0, cents) for _, cents in parts) or 1
    found, x = [], 0.0
    for label, cents in parts:
        width = max(0, cents) * 1_000 / whole
        found.append(Share(label, cents, round(x, 2), round(width, 2)))
        x += width
    return found


FIGURE_LEFT: Final = 130
FIGURE_WIDTH: Final = 540
FIGURE_ROW: Final = 44


@dataclass(frozen=True, slots=True)
class FigureBar:
    """One table: its win from zero to the right or left, its drop below."""

    name: str
    win_cents: int
    win_x: float
    win_width: float
    win_y: float
    drop_width: float
    drop_y: float
    text_y: float
    value_x: float


@dataclass(frozen=True, slots=True)
class FigureBars:
    """Win and drop of several tables."""

    bars: tuple[FigureBar, ...]
    zero: float
    height: int


def figure_bars(lines: Sequence[tuple[str, int, int]]) -> FigureBars:
    """(name, win, drop) in cents as horizontal bars around a common zero."""
    most = max([1, *(max(win, drop) for _, win, drop in lines)])
    least = min([0, *(win for _, win, _ in lines)])
    scale = FIGURE_WIDTH / (most - least)
    zero = FIGURE_LEFT - least * scale
    bars = []
    for at, (name, win, drop) in enumerate(lines):
        top, width = at * FIGURE_ROW, abs(win) * scale
        x = zero if win >= 0 else zero - width
        right = zero + max(win, drop, 0) * scale
        bars.append(
            FigureBar(
                name, win, round(x, 1), round(width, 1), top + 8, round(max(0, drop) * scale, 1), top + 24,
                top + 24, round(right + 8, 1),
            )
        )  # fmt: skip
    return FigureBars(tuple(bars), round(zero, 1), max(1, len(lines)) * FIGURE_ROW)


@dataclass(frozen=True, slots=True)
class Whisker:
    """An interval on a line of 240, and where the value lies."""

    low: float
    width: float
    value: float
    outside: bool


def whisker(low: float, high: float, value: float) -> Whisker:
    """Where a value lies to the interval that it was to be expected in."""
    left, right = min(low, value), max(high, value)
    scale = 220 / ((right - left) or 1)
    return Whisker(
        round(10 + (low - left) * scale, 1),
        round(max(2.0, (high - low) * scale), 1),
        round(10 + (value - left) * scale, 1),
        not low <= value <= high,
    )


DAYS_LEFT: Final = 90
"""Room for the amounts at the left edge of the days."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across a panel, and the amount that it stands for."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class DayBar:
    """One day's win."""

    day: date
    win_cents: int
    x: float
    middle: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class DayBars:
    """The win of days beside each other."""

    bars: tuple[DayBar, ...]
    marks: tuple[Mark, ...]
    """The best day, zero, and the worst one."""
    left: int = DAYS_LEFT


def day_bars(lines: Sequence[tuple[date, int, int]]) -> DayBars:
    """(day, win, drop) as bars up and down from zero."""
    most, least = max([1, *(win for _, win, _ in lines)]), min([0, *(win for _, win, _ in lines)])
    scale = 180 / (most - least)
    zero, step = 10 + most * scale, (760 - DAYS_LEFT) / max(1, len(lines))
    bars = []
    for at, (day, win, _) in enumerate(lines):
        height = abs(win) * scale
        y = zero - height if win >= 0 else zero
        x = DAYS_LEFT + at * step
        size = round(y, 1), round(step - 12, 1), round(height, 1)
        bars.append(DayBar(day, win, round(x + 6, 1), round(x + step / 2, 1), *size))
    ends = [cents for cents in (most, least) if any(win == cents != 0 for _, win, _ in lines)]
    marks = [Mark(round(zero - cents * scale, 1), money(cents)) for cents in sorted({*ends, 0})]
    return DayBars(tuple(bars), tuple(marks))


@dataclass(frozen=True, slots=True)
class NetChart:
    """What the house won, round by round and added up, over the rounds shown: oldest at the left."""

    bars: tuple[Bar, ...]
    bar_marks: tuple[Mark, ...]
    line: str
    """The points of the added-up line."""
    area: str
    """The same, closed along zero."""
    line_marks: tuple[Mark, ...]
    last: tuple[float, float]
    """Where the line ends."""
    total_cents: int
    best_cents: int
    worst_cents: int
    first_number: int
    last_number: int


@dataclass(frozen=True, slots=True)
class _Scale:
    """Amounts to heights within one panel."""

    low: int
    high: int

    @classmethod
    def over(cls, values: Sequence[int]) -> _Scale:
        low, high = min(0, *values), max(0, *values)
        return cls(low, high if high > low else low + 1)

    def y(self, cents: int) -> float:
        return round(HEIGHT - (cents - self.low) * HEIGHT / (self.high - self.low), 1)

    def marks(self) -> tuple[Mark, ...]:
        values = sorted({self.low, 0, self.high})
        crowded = (self.high - self.low) // 7
        shown = [cents for cents in values if cents == 0 or abs(cents) > crowded]
        return tuple(Mark(self.y(cents), money(cents)) for cents in shown)


def net_chart(lines: Sequence[RoundLine]) -> NetChart | None:
    """The chart of some rounds, newest first as a page has them; None when none of them is over."""
    over = [line for line in reversed(lines) if line.house_net_cents is not None]
    if not over:
        return None
    nets = [line.house_net_cents or 0 for line in over]
    sums = list(accumulate(nets))
    step = (WIDTH - LEFT) / len(over)
    width = min(step * 0.7, WIDEST)
    middles = [round(LEFT + step * (at + 0.5), 1) for at in range(len(over))]
    bars, line = _Scale.over(nets), _Scale.over(sums)
    points = [f"{x},{line.y(cents)}" for x, cents in zip(middles, sums, strict=True)]
    return NetChart(
        bars=tuple(
            _bar(one.number, net, x - width / 2, width, bars) for one, net, x in zip(over, nets, middles, strict=True)
        ),
        bar_marks=bars.marks(),
        line=" ".join(points),
        area=" ".join([f"{middles[0]},{line.y(0)}", *points, f"{middles[-1]},{line.y(0)}"]),
        line_marks=line.marks(),
        last=(middles[-1], line.y(sums[-1])),
        total_cents=sums[-1],
        best_cents=max(nets),
        worst_cents=min(nets),
        first_number=over[0].number,
        last_number=over[-1].number,
    )


def _bar(number: int, net: int, x: float, width: float, scale: _Scale) -> Bar:
    top, bottom = sorted((scale.y(net), scale.y(0)))
    return Bar(round(x, 1), top, round(width, 1), max(round(bottom - top, 1), 1.0), number, net)


# --- Small ones ------------------------------------------------------------------------------------------------

RACK: Final = 100
"""Half the width of a rack's bar."""


@dataclass(frozen=True, slots=True)
class RackBar:
    """What a rack holds more or less than when the table opened, from the middle to one side."""

    x: float
    width: float


def rack_bar(opening_cents: int, now_cents: int) -> RackBar:
    """The full side stands for a fifth of the opening rack, or for the difference when that is more."""
    change = now_cents - opening_cents
    full = max(opening_cents // 5, abs(change), 1)
    width = round(abs(change) * RACK / full, 1)
    return RackBar(RACK - width if change < 0 else RACK, width)


SHOE: Final = 200


@dataclass(frozen=True, slots=True)
class ShoeBar:
    """How deep a shoe is dealt: what is gone at the left, the cut card where it lies."""

    gone: float
    cut_x: float


def shoe_bar(size: int, cards_left: int, cut_at: int) -> ShoeBar:
    """A shoe as a bar SHOE wide."""
    size = max(size, 1)
    return ShoeBar(round((size - cards_left) * SHOE / size, 1), round((size - cut_at) * SHOE / size, 1))
