"""What a wager pays: exact fractions, and how a payment becomes chips."""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from tables.games.felt import Struct

Rounding = Literal["down", "up", "half_up"]
"""How winnings that are no whole chip units are rounded."""


class HouseRules(Struct, frozen=True):
    """The options of every house-banked game on standard cards."""

    unit: Annotated[int, Meta(ge=1, le=10**12)] = 1
    rounding: Annotated[Rounding, Meta(description="How winnings that are no whole chips are rounded.")] = "down"


class Odds(NamedTuple):
    """``pays`` for each ``to`` staked: 3 to 2, 19 to 20."""

    pays: int
    to: int = 1

    def of(self, stake_cents: int, unit_cents: int, rounding: Rounding) -> tuple[int, int]:
        """The winnings on a stake, in minor units, as a multiple of the unit.

        With them what the rounding kept of them (below zero: what it added), in minor units times ``to``.
        """
        due, whole = self.pays * stake_cents, self.to * unit_cents
        units, broken = divmod(due, whole)
        if broken and (rounding == "up" or (rounding == "half_up" and 2 * broken >= whole)):
            units, broken = units + 1, broken - whole
        return units * unit_cents, broken

    def __str__(self) -> str:
        return f"{self.pays} to {self.to}"


EVEN: Final = Odds(1)


def half(stake_cents: int, unit_cents: int) -> int:
    """The half of a stake that the house takes, rounded down to the unit whatever the table's rounding is."""
    return stake_cents // (2 * unit_cents) * unit_cents
