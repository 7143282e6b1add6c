"""The settings of a table by kind of game: its seats, the steps of its limits, an aggregate limit, a pot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final

from ledger.proof.chips import money
from tables.games.game import Game, Kind
from tables.games.protocol import MOST_CENTS, TEN_UNITS

MOST_SEATS: Final = 8
MOST_UNITS_A_BET: Final = 10
"""Bets of no game have to be multiples of more chip units."""


class Setting(ABC):
    """The permitted settings for a kind of game."""

    has_pot: bool
    """Whether the table has accounts for a pot and for the chips at its seats. A remainder in the pot carries over."""
    has_bet_step: bool = False
    """Whether bets against the house are placed round by round."""

    @abstractmethod
    def units(self, game: Game[Any, Any]) -> tuple[int, str]:
        """The number of chip units that limits are a multiple of, and its description."""

    @abstractmethod
    def seats(self, game: Game[Any, Any]) -> range:
        """The permitted numbers of seats of a table."""

    @abstractmethod
    def cap_fault(self, game: Game[Any, Any], cap_cents: int, min_cents: int) -> str:
        """The fault of a table aggregate limit; empty if it is valid."""


class HouseSetting(Setting):
    """Games against the house: any seat may be empty."""

    has_pot = False
    has_bet_step = True

    def units(self, game: Game[Any, Any]) -> tuple[int, str]:
        return game.step_units, "the chip unit" if game.step_units == 1 else TEN_UNITS

    def seats(self, game: Game[Any, Any]) -> range:
        return range(1, game.seat_counts[-1] + 1)

    def cap_fault(self, game: Game[Any, Any], cap_cents: int, min_cents: int) -> str:
        if min_cents <= cap_cents <= MOST_CENTS:
            return ""
        least, most = money(min_cents), money(MOST_CENTS)
        return f"The cap is at least the minimum of {least} and at most {most}; or there is none."


class PotSetting(Setting):
    """Games for a pot: a game needs a range of players, out of more seats perhaps."""

    has_pot = True

    def units(self, game: Game[Any, Any]) -> tuple[int, str]:
        return 1, "the table's coin"

    def seats(self, game: Game[Any, Any]) -> range:
        return range(game.seat_counts[0], MOST_SEATS + 1)

    def cap_fault(self, game: Game[Any, Any], cap_cents: int, min_cents: int) -> str:
        return f"The house has nothing at stake in {game.title}: leave the cap empty."


class CountedSetting(HouseSetting):
    """Non-tracked tables: their limits are those on their sign."""

    has_bet_step = False

    def cap_fault(self, game: Game[Any, Any], cap_cents: int, min_cents: int) -> str:
        return "No rounds are entered at this table, so nobody could hold it to a cap: leave the cap empty."


_SETTINGS: Final[dict[Kind, Setting]] = {"banked": HouseSetting(), "pot": PotSetting(), "counted": CountedSetting()}


def setting_of(game: Game[Any, Any]) -> Setting:
    """The permitted settings for a game."""
    return _SETTINGS[game.kind]
