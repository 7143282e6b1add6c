"""What an operator sets: a table, a pay table, and the house's hours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final

import msgspec

from tables.log.event import Event
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Joined, Message, Money, Parameter, code, from_fields, joined
from tables.log.published import tables as forms
from tables.log.published.form import SETUP
from tables.log.writers import TABLE_RETIRER, TABLE_SETTER, staff_with

PAYS: Final = "pays"
"""The option that has a pay table of an operator's making."""


class ByPlans(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The limit plans that set a table, so that verification can resolve them again."""

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
    """The limit plans that set the table automatically; None if a person set it."""
    notice_minutes: int | None = None
    """The site's notice for a minimum that is raised while players are seated, if a person changed the settings.
    None in entries from before the notice was verified, and in those that name plans."""
    effective_maxima: bool = False
    """Whether two people were asked by the maxima that take effect, wager by wager. False in entries of releases up to
    0.9.0, and in those that name plans."""

    @property
    def tells_notice(self) -> bool:
        """Whether the entry records the notice. If it does, every later manual change of this table must record it too.

        Changes by plans do not count: the sites that used plans also have manual entries without the notice.
        """
        return self.notice_minutes is not None

    def description(self) -> Message:
        changes = joined(self._changes())
        action = Message("Changed") if self.before else Message("Set up")
        if self.plans is None:
            return Message("{action}: {changes}", action=action, changes=changes)
        plans = sorted({layer for layer in self.plans.layers.values() if layer})
        if not plans:
            return Message("{action} as a plan ended: {changes}", action=action, changes=changes)
        return Message("{action} by plan {plans}: {changes}", action=action, plans=joined(plans), changes=changes)

    def _changes(self) -> Iterator[Message]:
        for name, value in self.after.items():
            if name in ("own_limits", "kept_minimums"):
                continue
            if name == "wager_limits":
                for wager, (low, high) in value.items():
                    yield Message("{wager} {low} to {high}", wager=wager, low=Money(low), high=Money(high))
            elif name == "player_edges":
                for wager, edge in value.items():
                    yield Message("{wager} favours the player by {edge}", wager=wager, edge=edge)
            elif isinstance(value, Mapping):
                yield from _options(self.before.get(name) or {}, value)
            else:
                yield change(name, self.before.get(name), value)


class TableRetired(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A closed table with an empty rack is used no more. Its book stays."""

    subject: ClassVar[str] = "table"
    kinds: ClassVar[tuple[str, ...]] = ("retired",)
    record = KindRecord(
        writer=TABLE_RETIRER, moves=NOTHING, exception=SETTINGS, feed=(forms.TableRetired,), alert=NO_ALERT
    )

    why: str

    description = from_fields("The table is retired: {why}")


def _options(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Message]:
    """A game's options: at first all, later those that changed; a pay table that was taken off is none."""
    changed = {name: value for name, value in after.items() if before.get(name) != value or not before}
    changed |= {name: None for name in before if name not in after and name == PAYS}
    return (change(name, before.get(name), value) for name, value in changed.items())


def change(name: str, before: Any, after: Any) -> Message:
    """One setting: "max 50.00 → 100.00"."""
    setting, value = code(name.removesuffix("_cents").removesuffix("_permille")), _value(name, after)
    if before is None:
        return Message("{setting} {value}", setting=setting, value=value)
    return Message("{setting} {before} → {value}", setting=setting, before=_value(name, before), value=value)


def _value(name: str, value: Any) -> Parameter:
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        return joined(joined(map(str, item.values()), " ") for item in value)
    if isinstance(value, list | tuple):
        return joined((_value(name, item) for item in value), " ")
    if value is None:
        return Message("none")
    if name == PAYS:
        return Message("{name} version {version}", name=value["name"], version=value["version"])
    if name.endswith("_permille"):
        return f"{value / 10:g} %"
    is_amount = name.endswith("_cents") or name == "denominations"
    return Money(value) if is_amount else str(value).replace("_", " ")


def _shifts(shifts: Iterable[tuple[str, str]]) -> Joined:
    return joined(Message("{shift} {starts}", shift=name, starts=starts) for name, starts in shifts)


def _pays(wagers: Mapping[str, Mapping[str, str]]) -> Joined:
    return joined((_odds(wager, lines) for wager, lines in wagers.items()), "; ")


def _odds(wager: str, lines: Mapping[str, str]) -> Message:
    """The odds of a wager; one line needs no name."""
    if len(lines) == 1:
        return Message("{wager} {odds}", wager=code(wager), odds=next(iter(lines.values())))
    odds = [Message("{line} {odds}", line=code(line), odds=odds) for line, odds in lines.items()]
    return Message("{wager} {odds}", wager=code(wager), odds=joined(odds))


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

    description = from_fields("From {from_day} the day starts at {day_starts} in {time_zone}: {shifts}", shifts=_shifts)


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

    description = from_fields("Pay table {name} version {version} of {game}: {wagers}", game=code, wagers=_pays)
