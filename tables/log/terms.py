"""The terms that a table deals under: its settings, and what its game makes of them. Pure; nothing is read here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import lcm
from typing import Any, Protocol

import msgspec
from msgspec import UNSET

from ledger.proof.chips import money
from tables.games.catalog import GAMES
from tables.games.game import Game
from tables.games.house_script import HouseScript
from tables.games.odds import ROUNDED
from tables.games.protocol import Limits, WagerLimits
from tables.log.state import KEYED


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
    bet_step_cents: int | None = None
    """Every bet is a multiple of it. None: of the chip unit, or of the larger step that the game requires."""
    cap_cents: int | None = None
    rake_permille: int = 0
    """What the house takes of each pot."""
    rake_cap_cents: int | None = None
    time_charge_cents: int = 0
    """What each seat of a table with a pot pays for half an hour."""
    denominations: tuple[int, ...]
    """What the chips of this table are worth."""
    wager_limits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """(least, most) of the wagers that have limits of their own, in minor units."""
    marks_commission: bool = False
    """Whether commission is marked at its seat and collected later, and not taken at once."""
    cameras: str = ""
    """Which cameras look at the table, as the surveillance calls them."""
    seat_max_cents: int | None = None
    """The most that one seat may bet in a round, all of its wagers before the cards together."""
    player_edges: Mapping[str, str] = field(default_factory=dict)
    """By wager, the player's average win in per cent, as the approval under dual control showed it."""
    own_limits: Mapping[str, Any] = field(default_factory=dict)
    """What the table is set to itself of the limits that a plan sets now, by their names."""
    kept_minimums: Mapping[str, Any] = field(default_factory=dict)
    """``seats`` that keep an older minimum, and what that is; ``from_round``: the first round of the new one."""


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
    def bet_step_cents(self) -> int | None: ...
    @property
    def cap_cents(self) -> int | None: ...
    @property
    def seat_max_cents(self) -> int | None: ...
    @property
    def own_limits(self) -> Any: ...
    @property
    def kept_minimums(self) -> Any: ...
    @property
    def wager_limits(self) -> Any: ...
    @property
    def marks_commission(self) -> bool: ...
    @property
    def rake_permille(self) -> int: ...
    @property
    def rake_cap_cents(self) -> int | None: ...


def rules_of(table: Set) -> Any:
    """The options of a table's game; its unit is the table's chip unit."""
    return made_rules(GAMES[table.game], table.options, table.unit_cents)


def game_title(table: Set) -> str:
    """What the game of a table is called."""
    return GAMES[table.game].called(table.options)


def payable_cents(table: Set) -> dict[str, int]:
    """By wager, the step of its bets in minor units at a table that pays exactly. Empty at other tables, and for games
    that are not scripts against the house."""
    game = GAMES[table.game]
    if not isinstance(game, HouseScript):
        return {}
    units = game.bet_steps(rules_of(table), commission_is_marked=table.marks_commission)
    return {wager: lcm(count * table.unit_cents, least_step(table)) for wager, count in units.items()}


def least_step(table: Set) -> int:
    """The step of all bets of a table, in minor units: a wager may have a larger one."""
    return table.bet_step_cents or table.unit_cents


def rounding_words(table: Set) -> str:
    """How winnings are rounded, for placards and dealers' screens; empty if every win is paid exactly."""
    game, rules = GAMES[table.game], rules_of(table)
    if not isinstance(game, HouseScript) or rules.rounding == "exact":
        return ""
    payable = game.payable_wins(rules, commission_is_marked=table.marks_commission)
    if all(least_step(table) % (units * table.unit_cents) == 0 for units in payable.values()):
        return ""
    return f"Winnings are rounded {ROUNDED[rules.rounding]} chips of {money(table.unit_cents)}"


def usual_hold_of(table: Set) -> str:
    """Win by drop as the house states it of a table; empty where it states nothing."""
    return GAMES[table.game].usual_hold(table.options)


def limits_of(table: Set) -> Limits:
    """The table's limits, in minor units."""
    own = tuple(WagerLimits(wager, *bounds) for wager, bounds in sorted(table.wager_limits.items()))
    return Limits(
        table.min_cents,
        table.max_cents,
        table.cap_cents,
        own or UNSET,
        seat_max_cents=UNSET if table.seat_max_cents is None else table.seat_max_cents,
        step_cents=UNSET if table.bet_step_cents is None else table.bet_step_cents,
    )


def made_rules(game: Game[Any, Any], options: Mapping[str, Any], unit_cents: int) -> Any:
    """A game's rules. Where a unit is among them, it is the table's chip unit."""
    units = {"unit": unit_cents} if "unit" in game.rules_type.__struct_fields__ else {}
    return msgspec.convert({**options, **units}, game.rules_type)
