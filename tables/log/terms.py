"""The terms that a table deals under: its settings, and what its game makes of them. Pure; nothing is read here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

import msgspec

from tables.games.cards import NOTHING
from tables.games.catalog import GAMES
from tables.games.felt import Limits, Opening, Rake
from tables.games.game import BankedGame, Game, PotGame
from tables.log.fold import KEYED, Standing


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


def settings_after(before: Settings | None, after: Mapping[str, Any]) -> Settings:
    """The settings after a change. Raises ValueError for a setting that there is not, or that is not of its form."""
    if unknown := after.keys() - {field.name for field in fields(Settings)}:
        raise ValueError(f"a table has no {min(unknown)} to set")
    settings = msgspec.to_builtins(before) if before else {}
    try:
        return msgspec.convert(settings | dict(after), Settings)
    except msgspec.ValidationError as wrong:
        raise ValueError(str(wrong)) from None


class Set(Protocol):
    """Whatever says how a table is set."""

    @property
    def game(self) -> str: ...
    @property
    def options(self) -> Any: ...
    @property
    def seats(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def unit_cents(self) -> int: ...
    @property
    def min_cents(self) -> int: ...
    @property
    def max_cents(self) -> int: ...
    @property
    def cap_cents(self) -> int | None: ...
    @property
    def rake_permille(self) -> int: ...
    @property
    def rake_cap_cents(self) -> int | None: ...


def rules_of(table: Set) -> Any:
    """The options of a table's game; its unit is the table's chip unit."""
    return made_rules(GAMES[table.game], table.options, table.unit_cents)


def limits_of(table: Set) -> Limits:
    """The table's limits, in minor units."""
    return Limits(table.min_cents, table.max_cents, table.cap_cents)


def made_rules(game: Game[Any, Any], options: Mapping[str, Any], unit_cents: int) -> Any:
    """A game's rules. In a game against the house, its unit is the table's chip unit."""
    return msgspec.convert({**options, "unit": unit_cents} if game.banked else dict(options), game.rules_type)


# --- what a round is opened with -------------------------------------------------------------------------------


def banked_opening(table: Set, rules: Any, standing: Standing) -> tuple[Any, Opening]:
    """The rules and the opening of the next round against the house: the options and limits of now, the shoe as it
    lies. The burn was made when this shoe was shuffled, whatever the option says since."""
    game, shoe = GAMES[table.game], standing.shoe
    pinned = game.burning(rules, shoe.burn) if shoe and isinstance(game, BankedGame) else rules
    return pinned, Opening(tuple(range(1, table.seats + 1)), limits_of(table), standing.gone, standing.button)


def pot_opening(table: Set, standing: Standing, seats: tuple[int, ...]) -> Opening:
    """The opening of the next game for a pot among these seats; who starts is not in it where chance chooses that."""
    game, coin, stacks = GAMES[table.game], table.unit_cents, standing.stacks
    carries = game.carries
    return Opening(
        seats,
        dealt=standing.gone if "dealt" in carries else NOTHING,
        button=standing.button if "button" in carries else None,
        pot=standing.pot_cents // coin if "pot" in carries else 0,
        stacks=tuple(stacks.get(seat, 0) // coin for seat in seats) if isinstance(game, PotGame) and game.coins else (),
        rake=_rake(table),
        blind=table.source == KEYED,
    )


def _rake(table: Set) -> Rake | None:
    if not table.rake_permille:
        return None
    return Rake(table.rake_permille, None if table.rake_cap_cents is None else table.rake_cap_cents // table.unit_cents)
