"""The pit's pictures as numbers: what goes where in an SVG. The templates draw them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from math import ceil, floor, log10
from typing import Any, Final, TypeVar

from ledger.proof.chips import money
from tables.audit.round_list import RoundLine

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
    slices, x = [], 0.0
    for label, cents in parts:
        width = max(0, cents) * 1_000 / whole
        slices.append(Share(label, cents, round(x, 2), round(width, 2)))
        x += width
    return slices


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
    for place, (name, win, drop) in enumerate(lines):
        top, width = place * FIGURE_ROW, abs(win) * scale
        x = zero if win >= 0 else zero - width
        right = zero + max(win, drop, 0) * scale
        bars.append(
            FigureBar(
                name=name,
                win_cents=win,
                win_x=round(x, 1),
                win_width=round(width, 1),
                win_y=top + 8,
                drop_width=round(max(0, drop) * scale, 1),
                drop_y=top + 24,
                text_y=top + 24,
                value_x=round(right + 8, 1),
            )
        )
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
    for place, (day, win, _) in enumerate(lines):
        height = abs(win) * scale
        y = zero - height if win >= 0 else zero
        x = DAYS_LEFT + place * step
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
    middles = [round(LEFT + step * (place + 0.5), 1) for place in range(len(over))]
    bars, line = _Scale.over(nets), _Scale.over(sums)
    points = [f"{x},{line.y(cents)}" for x, cents in zip(middles, sums, strict=True)]
    return NetChart(
        bars=tuple(
            _bar(round_.number, net, x - width / 2, width, bars)
            for round_, net, x in zip(over, nets, middles, strict=True)
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
    height = max(round(bottom - top, 1), 1.0)
    return Bar(round(x, 1), top, round(width, 1), height, number=number, net_cents=net)


# --- Lines beside each other -------------------------------------------------------------------------------------

Of = TypeVar("Of")
Value = Callable[[Of], float]
LINES_HIGH: Final = 300
LINES_LEFT: Final = 64
LINES_WIDE: Final = 440
"""Of the lines; their names stand at the right."""
_NAMES_APART: Final = 18


@dataclass(frozen=True, slots=True)
class Drawn:
    """One of several lines: where it runs, and where its name stands."""

    name: str
    points: str
    ends: float
    name_y: float
    chosen: bool


@dataclass(frozen=True, slots=True)
class LineChart:
    """Several series over the same steps, one of them the chosen one."""

    lines: tuple[Drawn, ...]
    marks: tuple[Mark, ...]
    zero: float | None
    ticks: tuple[tuple[float, str], ...]
    dots: tuple[tuple[float, float], ...]
    """Of the chosen one."""


def line_chart(
    series: Sequence[tuple[str, Sequence[float]]], steps: Sequence[str], chosen: str, written: str
) -> LineChart:
    """The names are kept apart, in the order in which the lines end."""
    values = [value for _, line in series for value in line]
    apart = _apart(min(values), max(values))
    low = floor(min(values) / apart) * apart
    high = max(low + apart, ceil(max(values) / apart) * apart)
    xs = [round(LINES_LEFT + LINES_WIDE * step / (len(steps) - 1), 1) for step in range(len(steps))]

    def y(value: float) -> float:
        return round(LINES_HIGH * (high - value) / (high - low), 1)

    drawn = []
    ordered = sorted(series, key=lambda named_line: -named_line[1][-1])
    for (name, line), height in zip(ordered, _kept_apart([y(line[-1]) for _, line in ordered]), strict=True):
        points = " ".join(f"{x},{y(value)}" for x, value in zip(xs, line, strict=True))
        drawn.append(Drawn(name, points, y(line[-1]), round(height + 5, 1), name == chosen))
    return LineChart(
        lines=tuple(sorted(drawn, key=lambda line: line.chosen)),
        marks=tuple(
            Mark(y(mark * apart), written.format(mark * apart).replace("-", "−").replace("+0", "0"))
            for mark in range(round(low / apart), round(high / apart) + 1)
        ),
        zero=y(0) if low < 0 < high else None,
        ticks=tuple(zip(xs, steps, strict=True)),
        dots=tuple((x, y(value)) for name, line in series if name == chosen for x, value in zip(xs, line, strict=True)),
    )


def _kept_apart(heights: Sequence[float]) -> list[float]:
    """Heights from the top down, moved until each has room; none below the panel."""
    lowered = list(accumulate(heights, lambda above, own: max(own, above + _NAMES_APART)))
    lowered[-1] = min(lowered[-1], LINES_HIGH)
    return list(accumulate(reversed(lowered), lambda below, own: min(own, below - _NAMES_APART)))[::-1]


def _apart(low: float, high: float) -> float:
    """1, 2 or 5 times a power of ten, so that four to nine marks hold all values."""
    least = ((high - low) or 1) / 8
    power = 10.0 ** floor(log10(least))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= least)


# --- The edge of a shoe against the bets made at it -------------------------------------------------------------

EDGE_HEIGHT: Final = 140
SEAT_HEIGHT: Final = 56
PER_CENT: Final = 10**13
"""The edge of a shoe's audit is a whole number of 10^-15; so many are one per cent."""


@dataclass(frozen=True, slots=True)
class BetBar:
    """One seat's bet in one round."""

    x: float
    y: float
    width: float
    height: float
    number: int
    cents: int
    favoured: bool
    """Whether the edge was the player's."""


@dataclass(frozen=True, slots=True)
class BetPanel:
    """One seat's bets over a shoe."""

    seat: int
    y: float
    most_cents: int
    bars: tuple[BetBar, ...]


@dataclass(frozen=True, slots=True)
class EdgeChart:
    """The player's edge before each round, up where it is theirs, and below it a panel of bets for each seat."""

    line: str
    zero: float
    marks: tuple[Mark, ...]
    panels: tuple[BetPanel, ...]
    height: float
    first: int
    last: int


def edge_chart(rounds: Sequence[dict[str, Any]]) -> EdgeChart | None:
    """The chart of a shoe's audited rounds; None without any."""
    if not rounds:
        return None
    edges = [-row["edge"] for row in rounds]
    low, high = min(0, *edges), max(PER_CENT // 2, *edges)
    step = (WIDTH - LEFT) / len(rounds)
    lefts = [LEFT + step * place for place in range(len(rounds))]

    def y(edge: int) -> float:
        return round(8 + (high - edge) * (EDGE_HEIGHT - 16) / (high - low), 1)

    steps = [f"{round(x, 1)},{y(edge)} {round(x + step, 1)},{y(edge)}" for x, edge in zip(lefts, edges, strict=True)]
    crowded = (high - low) // 7
    shown = [edge for edge in sorted({low, 0, max(edges)}) if edge == 0 or abs(edge) > crowded]
    seats = sorted({seat for row in rounds for seat, _, _ in row["bets"]})
    panels = [_bet_panel(seat, place, rounds, lefts, step) for place, seat in enumerate(seats)]
    return EdgeChart(
        line=" ".join(steps),
        zero=y(0),
        marks=tuple(Mark(y(edge), f"{edge / PER_CENT:+.1f} %" if edge else "0") for edge in shown),
        panels=tuple(panels),
        height=EDGE_HEIGHT + len(panels) * SEAT_HEIGHT + 24,
        first=rounds[0]["round"],
        last=rounds[-1]["round"],
    )


def _bet_panel(
    seat: int, place: int, rounds: Sequence[dict[str, Any]], lefts: Sequence[float], step: float
) -> BetPanel:
    bets = [next((bet for other, bet, _ in row["bets"] if other == seat), 0) for row in rounds]
    most, floor = max(bets), EDGE_HEIGHT + (place + 1) * SEAT_HEIGHT
    bars = []
    for row, bet, x in zip(rounds, bets, lefts, strict=True):
        height = round(bet * (SEAT_HEIGHT - 14) / most, 1)
        if bet:
            bars.append(
                BetBar(
                    x=round(x + step * 0.15, 1),
                    y=round(floor - height, 1),
                    width=round(step * 0.7, 1),
                    height=height,
                    number=row["round"],
                    cents=bet,
                    favoured=row["edge"] < 0,
                )
            )
    return BetPanel(seat, floor, most, tuple(bars))


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
