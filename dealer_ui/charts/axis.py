"""The axes of charts: the ticks of a scale, labelled in its unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dealer_ui.charts.scale import Scale
from ledger.proof.chips import money


@dataclass(frozen=True, slots=True)
class Unit:
    """What numbers are of."""

    say: Callable[[Fraction], str]
    least: Fraction = Fraction(0)
    """No tick is closer to the next."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A line across a panel, and the number that it stands for."""

    place: float
    label: str
    is_zero: bool = False
    anchor: str = "middle"
    """Of the label of an axis that lies: the first and the last stay inside."""


def amount(cents: Fraction | int) -> str:
    """An amount on an axis: 1,000, −16, 0."""
    return money(int(cents)).replace("-", "−")


def signed_amount(cents: int) -> str:
    """What a mark says of a difference: +16, −34, ±0."""
    return f"{'+' if cents > 0 else '−' if cents < 0 else '±'}{money(abs(cents))}"


def _number(value: Fraction) -> str:
    return f"{float(value):,.10g}".replace("-", "−")


MONEY: Final = Unit(amount, least=Fraction(1))
COUNT: Final = Unit(_number, least=Fraction(1))
NUMBER: Final = Unit(lambda value: f"{'+' if value > 0 else ''}{_number(value)}")
PER_CENT: Final = Unit(lambda value: f"{_number(value)} %")


def standing(scale: Scale, unit: Unit, top: float, height: float) -> tuple[Tick, ...]:
    """An axis that stands: places in pixels from the top down."""
    return tuple(Tick(level(scale, tick, top, height), unit.say(tick), not tick) for tick in scale.ticks)


def level(scale: Scale, value: int | float | Fraction, top: float, height: float) -> float:
    """How far down a value lies in a panel."""
    return round(top + height * (1 - scale.part(value)), 1)


def lying(scale: Scale, unit: Unit) -> tuple[Tick, ...]:
    """An axis that lies: places in per cent from the left."""
    last = len(scale.ticks) - 1
    anchors = {0: "start", last: "end"}
    return tuple(
        Tick(round(100 * scale.part(tick), 2), unit.say(tick), not tick, anchors.get(place, "middle"))
        for place, tick in enumerate(scale.ticks)
    )
