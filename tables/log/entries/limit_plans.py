"""Limit plans as operators set them: which limits apply at which tables, and when."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import ClassVar

from tables.log.event import Event
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NOTHING, KindRecord
from tables.log.limit_plans import Plan, Schedule, Scope, Takes, Value, limits_of, place_of
from tables.log.message import Message, Parameter, joined, timestamp
from tables.log.published import limits as forms
from tables.log.writers import staff_with


class LimitPlanSet(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A version of a limit plan; of those that have taken effect, the latest is in force."""

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
    """The game, pit or table; empty for the whole site, and for several tables."""
    schedule: Schedule
    values: dict[str, Value]
    """Limits by their names (``limit_plans.Values``); a retired plan has none."""
    note: str = ""
    takes: Takes = "round"
    keeps_seated: bool = False
    retired: bool = False
    effective: str
    """The moment from which it applies; ISO 8601 in UTC."""
    proposal: int | None = None
    """The approved proposal of a version under dual control."""
    effective_maxima: bool = False
    """Whether dual control compared the maxima that take effect, wager by wager. False in entries of releases up to
    0.9.0."""
    tables: tuple[str, ...] = ()
    """The tables that it is for, if it is for several: the scope is then ``table``, and ``of`` is empty."""
    excluded: tuple[str, ...] = ()
    """The tables of its place at which it does not apply, as its author confirmed: its limits do not fit there."""

    def plan(self, seq: int) -> Plan:
        """The plan that an entry of this number sets."""
        shared = {field.name: getattr(self, field.name) for field in fields(Plan) if field.name != "seq"}
        return Plan(**shared | {"seq": seq, "effective": datetime.fromisoformat(self.effective)})

    def description(self) -> Message:
        plan: dict[str, Parameter] = {
            "name": self.name,
            "version": self.version,
            "effective": timestamp(self.effective),
        }
        if self.retired:
            return Message("Limit plan {name}, version {version}: retired from {effective} UTC", **plan)
        plan |= {
            "place": place_of(self.scope, self.of, self.tables),
            "schedule": self.schedule.description(),
            "limits": limits_of(self.values),
        }
        version = Message(
            "Limit plan {name}, version {version}, from {effective} UTC: {place}, {schedule}: {limits}", **plan
        )
        if not self.excluded:
            return version
        return Message("{version}; not at {excluded}", version=version, excluded=joined(self.excluded))
