"""From numbers to places: round ticks with zero among them, and where a value lies between the first and the last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10

Number = int | float | Fraction


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis of numbers. Exact, so that no tick of money is a rounded one."""

    ticks: tuple[Fraction, ...]
    """Rising, evenly apart. Zero alone where there is nothing else to show."""

    @classmethod
    def over(cls, values: Iterable[Number], *, most: int = 5, least: Number = 0) -> Scale:
        """A scale that holds zero and all of these. ``most``: into how many steps the values may be cut; ``least``: no
        step is smaller, such as one cent."""
        exact = [Fraction(0), *(Fraction(value) for value in values)]
        low, high = min(exact), max(exact)
        if low == high:
            return cls((low,))
        step = _round_step(max((high - low) / most, Fraction(least)))
        return cls(tuple(place * step for place in range(floor(low / step), ceil(high / step) + 1)))

    def part(self, value: Number) -> float:
        """Where a value lies: 0 at the first tick, 1 at the last."""
        return float((Fraction(value) - self.ticks[0]) / self._span)

    def share(self, value: Number) -> float:
        """How much of the scale a length takes."""
        return float(Fraction(value) / self._span)

    @property
    def _span(self) -> Fraction:
        return self.ticks[-1] - self.ticks[0] or Fraction(1)


def _round_step(least: Fraction) -> Fraction:
    """1, 2 or 5 times a power of ten, and no less than asked for."""
    # Of numerator and denominator apart: a step that is too small for a float would have no logarithm.
    power = Fraction(10) ** floor(log10(least.numerator) - log10(least.denominator))
    return next(power * factor for factor in (1, 2, 5, 10, 20) if power * factor >= least)
