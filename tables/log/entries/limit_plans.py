"""Limit plans as operators set them: which limits hold for which tables, and when."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from ledger.proof.chips import money
from tables.log.event import Event
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NOTHING, KindRecord
from tables.log.limit_plans import AMOUNTS, WAGER, Plan, Schedule, Scope, Takes, Value
from tables.log.published import limits as forms
from tables.log.writers import staff_with


class LimitPlanSet(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A version of a limit plan; of those that hold from a moment or before, the latest stands."""

    subject: ClassVar[str] = "limit_plan"
    kinds: ClassVar[tuple[str, ...]] = ("set",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=staff_with("tables.add_limitplan", "tables.run_floor"),
        moves=NOTHING,
        exception=SETTINGS,
        feed=(forms.LimitPlanMade,),
        alert=("limits_emergency",),
    )

    name: str
    version: int
    scope: Scope
    of: str = ""
    """Which game, pit or table; empty for the house."""
    schedule: Schedule
    values: dict[str, Value]
    """Limits by their names (``limit_plans.Values``); a retired plan has none."""
    note: str = ""
    takes: Takes = "round"
    keeps_seated: bool = False
    retired: bool = False
    effective: str
    """From when it holds; ISO 8601 in UTC."""
    proposal: int | None = None
    """The proposal that two people stand for, where it took two."""
    effective_maxima: bool = False
    """Whether two people were asked by the maxima that take effect, wager by wager. False in entries of releases up to
    0.9.0."""

    def plan(self, seq: int) -> Plan:
        """The plan that an entry of this number sets."""
        return Plan(
            name=self.name,
            version=self.version,
            seq=seq,
            effective=datetime.fromisoformat(self.effective),
            scope=self.scope,
            of=self.of,
            schedule=self.schedule,
            values=self.values,
            note=self.note,
            takes=self.takes,
            keeps_seated=self.keeps_seated,
            retired=self.retired,
        )

    def words(self) -> str:
        plan, since = (
            f"Limit plan {self.name}, version {self.version}",
            f"from {self.effective[:16].replace('T', ' ')} UTC",
        )
        if self.retired:
            return f"{plan}: retired {since}"
        limits = ", ".join(f"{called(name)} {said(value)}" for name, value in self.values.items())
        place = "the whole house" if self.scope == "house" else f"{self.scope} {self.of}".replace("_", " ")
        return f"{plan}, {since}: {place}, {self.schedule.words()}: {limits}"


def called(name: str) -> str:
    """A limit in words."""
    return AMOUNTS.get(name) or name.removeprefix(WAGER).replace("_", " ")


def said(value: Value) -> str:
    """Its value in words."""
    return money(value) if isinstance(value, int) else " to ".join(map(money, value))
