"""The terms that a table deals under: its settings, and what its game makes of them. Pure; nothing is read here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from tables.fold import KEYED
from tables.games.catalog import GAMES
from tables.games.felt import Game, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that an operator sets about a table but its name, which it keeps for good."""

    game: str = "rocket"
    options: Mapping[str, Any]
    seats: int = 6
    source: str = KEYED
    unit_cents: int
    min_cents: int
    max_cents: int
    cap_cents: int | None = None
    rake_permille: int = 0
    """What the house takes of each pot."""
    rake_cap_cents: int | None = None
    time_charge_cents: int = 0
    """What each seat of a table with a pot pays for half an hour."""
    denominations: tuple[int, ...]
    """What the chips of this table are worth."""


class Set(Protocol):
    """Whatever says how a table is set."""

    @property
    def game(self) -> str: ...
    @property
    def options(self) -> Any: ...
    @property
    def unit_cents(self) -> int: ...
    @property
    def min_cents(self) -> int: ...
    @property
    def max_cents(self) -> int: ...
    @property
    def cap_cents(self) -> int | None: ...


def rules_of(table: Set) -> Any:
    """The options of a table's game; its unit is the table's chip unit."""
    return made_rules(GAMES[table.game], table.options, table.unit_cents)


def limits_of(table: Set) -> Limits:
    """The table's limits, in minor units."""
    return Limits(table.min_cents, table.max_cents, table.cap_cents)


def made_rules(game: Game[Any, Any], options: Mapping[str, Any], unit_cents: int) -> Any:
    """A game's rules. In a game against the house, its unit is the table's chip unit."""
    return msgspec.convert({**options, "unit": unit_cents} if game.banked else dict(options), game.rules_type)
