"""Bars that lie, each in the row of a list that has its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dealer_ui.charts.axis import MONEY, Tick, lying
from dealer_ui.charts.scale import Scale


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One table: its win from zero to the right or left, its drop below. Places are in per cent."""

    name: str
    win_cents: int
    drop_cents: int
    win_x: float
    win_width: float
    drop_x: float
    drop_width: float


@dataclass(frozen=True, slots=True)
class Rows:
    """Win and drop of several tables on one axis."""

    rows: tuple[ChartRow, ...]
    ticks: tuple[Tick, ...]
    zero: float
    idle: tuple[str, ...] = ()
    """The tables of which there is nothing to draw."""


def win_and_drop(lines: Sequence[tuple[str, int, int]]) -> Rows:
    """(name, win, drop) in cents as bars around a common zero."""
    busy = [line for line in lines if any(line[1:])]
    scale = Scale.over((cents for _, *pair in busy for cents in pair), most=3, least=MONEY.least)
    rows = tuple(_row(scale, *line) for line in busy)
    return Rows(
        rows, lying(scale, MONEY), _across(scale, 0), tuple(name for name, win, drop in lines if not (win or drop))
    )


def _row(scale: Scale, name: str, win_cents: int, drop_cents: int) -> ChartRow:
    return ChartRow(
        name=name,
        win_cents=win_cents,
        drop_cents=drop_cents,
        win_x=_across(scale, min(win_cents, 0)),
        win_width=round(100 * scale.share(abs(win_cents)), 2),
        drop_x=_across(scale, min(drop_cents, 0)),
        drop_width=round(100 * scale.share(abs(drop_cents)), 2),
    )


def _across(scale: Scale, cents: int) -> float:
    return round(100 * scale.part(cents), 2)


# --- An interval, and where a value lies to it -------------------------------------------------------------------

LOW: Final = 25.0
HIGH: Final = 75.0
"""Between these the interval is drawn, however wide it is: what counts is whether the value lies in it."""
EDGE: Final = 3.0


@dataclass(frozen=True, slots=True)
class Span:
    """An interval with its ends in words, and the place of the value in per cent."""

    low: str
    high: str
    value: str
    place: float
    is_outside: bool


def span(low: float, high: float, value: float, ends: tuple[str, str, str]) -> Span:
    """``ends``: low, high and value in words. What lies far outside is drawn at the edge."""
    part = (value - low) / (high - low) if high > low else 0.5 + (value > high) - (value < low)
    place = min(max(LOW + part * (HIGH - LOW), EDGE), 100 - EDGE)
    return Span(*ends, place=round(place, 1), is_outside=not low <= value <= high)


# --- Parts of a whole ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, in per cent of it."""

    label: str
    cents: int
    x: float
    width: float


def shares(parts: Sequence[tuple[str, int]]) -> list[Share]:
    """Parts of a whole in a row. A negative part has no width."""
    whole = sum(max(0, cents) for _, cents in parts) or 1
    slices, x = [], 0.0
    for label, cents in parts:
        width = max(0, cents) * 100 / whole
        slices.append(Share(label, cents, round(x, 2), round(width, 2)))
        x += width
    return slices
