"""What an operator sets: a table, a pay table, and the house's hours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import msgspec

from ledger.proof.chips import money
from tables.log.event import Event
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.published import tables as forms
from tables.log.published.form import SETUP
from tables.log.writers import TABLE_RETIRER, TABLE_SETTER, staff_with

PAYS: Final = "pays"
"""The option that has a pay table of an operator's making."""


class ByPlans(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """By which limit plans a table was set, so that a proof comes to the same."""

    moment: str
    """When they were reckoned; ISO 8601 in UTC."""
    house_seq: int
    """The plans and pits are those through this entry of the house's book."""
    layers: dict[str, str]
    """For each limit that was set, the plan and its version; empty where the table itself sets it again."""
    notice_minutes: int = 0
    """The house's notice for a minimum that is raised while players are seated."""


class TableSet(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A table was set up, or set otherwise: of what changed, the value before and after."""

    subject: ClassVar[str] = "table"
    kinds: ClassVar[tuple[str, ...]] = ("settings_changed",)
    record = KindRecord(
        writer=TABLE_SETTER,
        moves=NOTHING,
        exception=SETTINGS,
        feed=(forms.TableSet,),
        alert=("settings_changed",),
    )

    before: dict[str, Any]
    after: dict[str, Any]
    proposal: int | None = None
    """The proposal that two people stand for, where it took two."""
    plans: ByPlans | None = None
    """The limit plans by which the watch set it; None where somebody did."""
    notice_minutes: int | None = None
    """The house's notice for a minimum that is raised over players, where somebody set it. None in entries of before it
    was proved, and in those that name plans."""
    effective_maxima: bool = False
    """Whether two people were asked by the maxima that take effect, wager by wager. False in entries of releases up to
    0.9.0, and in those that name plans."""

    @property
    def tells_notice(self) -> bool:
        """Whether it says what the notice was: whoever sets this table by hand after it does so, too. What plans set
        says nothing of it: the same houses had entries by hand that did not."""
        return self.notice_minutes is not None

    def words(self) -> str:
        changes: list[str] = []
        for name, value in self.after.items():
            if name in ("own_limits", "kept_minimums"):
                continue
            if name == "wager_limits":
                changes += [f"{wager} {money(low)} to {money(high)}" for wager, (low, high) in value.items()]
            elif name == "player_edges":
                changes += [f"{wager} favours the player by {edge}" for wager, edge in value.items()]
            elif isinstance(value, Mapping):
                changes += _options(self.before.get(name) or {}, value)
            else:
                changes.append(change(name, self.before.get(name), value))
        plans = sorted({layer for layer in self.plans.layers.values() if layer}) if self.plans else []
        by = f" by plan {', '.join(plans)}" if plans else " as a plan ended" if self.plans else ""
        return f"{'Changed' if self.before else 'Set up'}{by}: {', '.join(changes)}"


class TableRetired(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A closed table with an empty rack is used no more. Its book stays."""

    subject: ClassVar[str] = "table"
    kinds: ClassVar[tuple[str, ...]] = ("retired",)
    record = KindRecord(
        writer=TABLE_RETIRER, moves=NOTHING, exception=SETTINGS, feed=(forms.TableRetired,), alert=NO_ALERT
    )

    why: str

    def words(self) -> str:
        return f"The table is retired: {self.why}"


def _options(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """A game's options: at first all, later those that changed; a pay table that was taken off is none."""
    changed = {name: value for name, value in after.items() if before.get(name) != value or not before}
    changed |= {name: None for name in before if name not in after and name == PAYS}
    return [change(name, before.get(name), value) for name, value in changed.items()]


def change(name: str, before: Any, after: Any) -> str:
    """One setting in words: "max 50.00 → 100.00"."""
    words = name.removesuffix("_cents").removesuffix("_permille").replace("_", " ")
    earlier = f"{_value(name, before)} → " if before is not None else ""
    return f"{words} {earlier}{_value(name, after)}"


def _value(name: str, value: Any) -> str:
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        return ", ".join(" ".join(map(str, item.values())) for item in value)
    if isinstance(value, list | tuple):
        return " ".join(_value(name, item) for item in value)
    if value is None:
        return "none"
    if name == PAYS:
        return f"{value['name']} version {value['version']}"
    if name.endswith("_permille"):
        return f"{value / 10:g} %"
    return money(value) if name.endswith("_cents") or name == "denominations" else str(value).replace("_", " ")


class SetHours(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The house's hours as an entry spells them."""

    from_day: str
    time_zone: str
    day_starts: str
    shifts: tuple[tuple[str, str], ...]


class HoursSet(Event, frozen=True, kw_only=True, omit_defaults=True):
    """From a gaming day to come, the house's day and its shifts begin at other times."""

    subject: ClassVar[str] = "hours"
    kinds: ClassVar[tuple[str, ...]] = ("changed",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_househours"),
        moves=NOTHING,
        exception=SETTINGS,
        feed=SETUP,
        alert=("settings_changed",),
    )

    from_day: str
    time_zone: str
    day_starts: str
    shifts: tuple[tuple[str, str], ...]
    before: SetHours

    def words(self) -> str:
        shifts = ", ".join(f"{name} {starts}" for name, starts in self.shifts)
        return f"From {self.from_day} the day starts at {self.day_starts} in {self.time_zone}: {shifts}"


class PayTableMade(Event, frozen=True, kw_only=True, omit_defaults=True):
    """There is another pay table, or another version of one; a table pays by it once it is set so."""

    subject: ClassVar[str] = "pay_table"
    kinds: ClassVar[tuple[str, ...]] = ("made",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_paytable"),
        moves=NOTHING,
        exception=SETTINGS,
        feed=SETUP,
        alert=("settings_changed",),
    )

    game: str
    name: str
    version: int
    wagers: dict[str, dict[str, str]]
    """By wager, the odds of each of its lines."""
    sha256: str
    proposal: int | None = None

    def words(self) -> str:
        pays = "; ".join(_pays(wager, lines) for wager, lines in self.wagers.items()).replace("_", " ")
        return f"Pay table {self.name} version {self.version} of {self.game.replace('_', ' ')}: {pays}"


def _pays(wager: str, lines: Mapping[str, str]) -> str:
    """A wager of one line needs no name for it."""
    if len(lines) == 1:
        return f"{wager} {next(iter(lines.values()))}"
    return f"{wager} {', '.join(f'{line} {odds}' for line, odds in lines.items())}"
