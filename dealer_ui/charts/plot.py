"""A plot: panels above each other that share their steps from left to right, with a mark for each step.

Across all is in per cent and down all in pixels. So a plot is as wide as its page, and its text as large as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from dealer_ui.charts.axis import Tick, Unit, level, standing
from dealer_ui.charts.scale import Number, Scale

TOP: Final = 30
"""Above the first panel: there a mark says its number."""
NAMED: Final = 30
"""Above a panel: its name."""
FOOT: Final = 42
"""Below the last: two lines of labels."""
FEW: Final = 7
"""Labels that fit below the narrowest plot."""
NAMES_APART: Final = 18
ALONG: Final = 1_000
"""How wide lines are drawn: they are stretched to the plot."""


@dataclass(frozen=True, slots=True)
class Bar:
    """From zero to a value."""

    x: float
    y: float
    width: float
    height: float
    kind: str


@dataclass(frozen=True, slots=True)
class PlotLine:
    """Values joined from step to step."""

    points: str
    kind: str = ""
    name: str = ""
    name_y: float = 0
    ends: float = 0
    dots: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One axis, and what is drawn on it."""

    name: str
    top: float
    height: float
    ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...] = ()
    lines: tuple[PlotLine, ...] = ()
    area: str = ""

    @property
    def name_y(self) -> float:
        """Above its highest tick."""
        return self.top - 10


@dataclass(frozen=True, slots=True)
class PlotStep:
    """What one place from left to right stands for."""

    says: str
    """Its numbers in words, shown on demand."""
    label: str = ""
    under: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A step with its place: what is pointed at, or reached by key."""

    step: PlotStep
    x: float
    width: float
    is_first: bool

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 3)


@dataclass(frozen=True, slots=True)
class Plot:
    """The whole picture."""

    panels: tuple[Panel, ...]
    marks: tuple[Mark, ...]

    @property
    def foot(self) -> float:
        """Where the labels of the steps begin."""
        return self.panels[-1].top + self.panels[-1].height

    @property
    def height(self) -> float:
        return self.foot + FOOT

    @property
    def names(self) -> list[PlotLine]:
        """The lines that bear a name at their right end."""
        return [line for panel in self.panels for line in panel.lines if line.name]


def plot(panels: Sequence[Panel], steps: Sequence[PlotStep]) -> Plot:
    """Panels over their steps."""
    width = 100 / max(1, len(steps))
    marks = (Mark(step, round(place * width, 3), round(width, 3), not place) for place, step in enumerate(steps))
    return Plot(tuple(panels), tuple(marks))


def below(panel: Panel) -> float:
    """Where the next panel begins."""
    return panel.top + panel.height + NAMED


def sparse(labels: Sequence[str], most: int = FEW) -> list[str]:
    """At most ``most`` of the labels, evenly spaced and always with the last one; the others are empty."""
    last, apart = len(labels) - 1, -(-len(labels) // most)
    return [label if (last - place) % apart == 0 else "" for place, label in enumerate(labels)]


def middles(count: int) -> list[float]:
    """The middle of each step, in per cent."""
    return [round(100 * (place + 0.5) / count, 3) for place in range(count)]


# --- Panels ----------------------------------------------------------------------------------------------------


def bars(name: str, values: Sequence[int], kinds: Sequence[str], *, unit: Unit, top: float, height: float) -> Panel:
    """A bar for each step. Nothing at all is a hair on the line of zero."""
    scale = Scale.over(values, least=unit.least, most=3 if height < 90 else 5)
    width, zero = 100 / max(1, len(values)), level(scale, 0, top, height)
    drawn = [
        _bar(place * width, width, sorted((zero, level(scale, value, top, height))), kind)
        for place, (value, kind) in enumerate(zip(values, kinds, strict=True))
    ]
    return Panel(name, top, height, standing(scale, unit, top, height), bars=tuple(bar for bar in drawn if bar.kind))


WIDEST: Final = 6.0
"""Per cent of the plot: a bar that stands alone fills no panel."""


def _bar(left: float, room: float, ends: Sequence[float], kind: str) -> Bar:
    width = min(room * 0.7, WIDEST)
    height = max(round(ends[1] - ends[0], 1), 1.0)
    return Bar(round(left + (room - width) / 2, 3), ends[0], round(width, 3), height, kind)


def running(name: str, values: Sequence[int], *, unit: Unit, top: float, height: float) -> Panel:
    """One line over its ground."""
    scale = Scale.over(values, least=unit.least, most=3 if height < 120 else 5)
    xs, zero = middles(len(values)), level(scale, 0, top, height)
    ys = [level(scale, value, top, height) for value in values]
    points = _points(xs, ys)
    area = f"{xs[0] * 10:g},{zero} {points} {xs[-1] * 10:g},{zero}"
    line = PlotLine(points, kind="running", dots=((xs[-1], ys[-1]),))
    return Panel(name, top, height, standing(scale, unit, top, height), lines=(line,), area=area)


def stairs(name: str, values: Sequence[int], *, unit: Unit, top: float, height: float) -> Panel:
    """One line that stays where it is for a whole step."""
    scale, room = Scale.over(values, least=unit.least), ALONG / len(values)
    corners = [
        f"{round(place * room + side, 1):g},{level(scale, value, top, height)}"
        for place, value in enumerate(values)
        for side in (0, room)
    ]
    return Panel(
        name, top, height, standing(scale, unit, top, height), lines=(PlotLine(" ".join(corners), kind="running"),)
    )


def lines(
    name: str, series: Sequence[tuple[str, Sequence[Number]]], chosen: str, *, unit: Unit, top: float, height: float
) -> Panel:
    """Several lines, one of them the chosen one. Their names are kept apart, in the order in which the lines end."""
    scale = Scale.over((value for _, line in series for value in line), most=8)
    ordered = sorted(series, key=lambda named_line: -named_line[1][-1])
    levels = [[level(scale, value, top, height) for value in line] for _, line in ordered]
    names = _kept_apart([line[-1] for line in levels], top + height)
    drawn = [
        _named_line(series_name, line, name_y, is_chosen=series_name == chosen)
        for (series_name, _), line, name_y in zip(ordered, levels, names, strict=True)
    ]
    ticks = standing(scale, unit, top, height)
    return Panel(name, top, height, ticks, lines=tuple(sorted(drawn, key=lambda line: line.kind == "chosen")))


def _named_line(name: str, levels: Sequence[float], name_y: float, *, is_chosen: bool) -> PlotLine:
    xs = middles(len(levels))
    dots = tuple(zip(xs, levels, strict=True)) if is_chosen else ()
    kind = "chosen" if is_chosen else "other"
    return PlotLine(_points(xs, levels), kind, name, round(name_y, 1), levels[-1], dots)


def _points(xs: Sequence[float], ys: Sequence[float]) -> str:
    return " ".join(f"{round(x * ALONG / 100, 1):g},{y}" for x, y in zip(xs, ys, strict=True))


def _kept_apart(heights: Sequence[float], floor: float) -> list[float]:
    """Heights from the top down, moved until each has room; none below the floor."""
    lowered = list(accumulate(heights, lambda above, own: max(own, above + NAMES_APART)))
    lowered[-1] = min(lowered[-1], floor)
    return list(accumulate(reversed(lowered), lambda below, own: min(own, below - NAMES_APART)))[::-1]
