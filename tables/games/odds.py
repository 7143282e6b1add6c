"""Odds as exact fractions, their payment in chips, and the options for both."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import UNSET, Meta, UnsetType

from tables.games.protocol import Reason, Struct, because

Rounding = Literal["down", "up", "half_up", "exact"]
"""Treatment of winnings that are not whole chip units: they are rounded or, with "exact", such a bet is refused."""


ROUNDED: Final = {"down": "down to whole", "up": "up to whole", "half_up": "to the nearest whole"}
"""Each way of rounding as a sentence has it, before "chips of 5"."""


class PayTable(Struct, frozen=True):
    """An operator's pay table for some wagers; `pays.py` validates and reads it."""

    name: Annotated[str, Meta(min_length=1, max_length=40)]
    version: Annotated[int, Meta(ge=1, le=10**6)]
    wagers: dict[str, dict[str, str]]
    """By wager, the odds of each line, such as 9:1."""
    sha256: str
    """Digest of the game and the lines."""

    def __hash__(self) -> int:
        return hash((self.name, self.version, self.sha256))


class HouseRules(Struct, frozen=True):
    """The options of every house-banked game on standard cards."""

    unit: Annotated[int, Meta(ge=1, le=10**12)] = 1
    rounding: Annotated[
        Rounding,
        Meta(description="How winnings of parts of a chip are rounded; or exact: such a bet is refused."),
    ] = "down"
    pays: PayTable | UnsetType = UNSET
    """An operator's pay table; unset for the standard pay tables that other options choose."""


class Odds(NamedTuple):
    """``pays`` for each ``to`` staked: 3 to 2, 19 to 20."""

    pays: int
    to: int = 1

    def of(self, stake_cents: int, unit_cents: int, rounding: Rounding) -> tuple[int, int]:
        """The winnings on a stake, in minor units, as a multiple of the unit.

        Also returns the amount that the rounding withheld (below zero: added), in minor units times `to`.
        """
        due, whole = self.pays * stake_cents, self.to * unit_cents
        units, broken = divmod(due, whole)
        if broken and (rounding == "up" or (rounding == "half_up" and 2 * broken >= whole)):
            units, broken = units + 1, broken - whole
        return units * unit_cents, broken

    @property
    def fraction(self) -> Fraction:
        """The winnings per unit staked."""
        return Fraction(self.pays, self.to)

    @property
    def spelled(self) -> str:
        """The odds as records and pay tables write them, such as 9:1."""
        return f"{self.pays}:{self.to}"

    def __str__(self) -> str:
        return f"{self.pays} to {self.to}"


EVEN: Final = Odds(1)
HALF: Final = Odds(1, 2)
HALF_TAKEN: Final = Odds(-1, 2)
"""The casino takes half of the stake, rounded down to whole chips in the player's favour."""
COMMISSION: Final = Odds(19, 20)
"""A win less a commission of five per cent."""


def payable_multiple(results: Iterable[Odds]) -> int:
    """The number of chip units of which a bet has to be a multiple so that each of these results is whole units."""
    return lcm(*(odds.fraction.denominator for odds in results))


def paying(odds: Odds) -> Reason:
    """The additional reason of a win that is not paid at even money."""
    return because("pays", odds=odds.spelled)


def say_pays(odds: str) -> str:
    """``paying`` in words: "pays 3 to 2"."""
    return f"pays {odds.replace(':', ' to ')}"


def half(stake_cents: int, unit_cents: int) -> int:
    """Half of a stake, which the casino takes, rounded down to the unit whatever the table's rounding."""
    return stake_cents // (2 * unit_cents) * unit_cents
