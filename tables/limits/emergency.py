"""Limits that a pit boss tightens alone and at once: a plan for one table, for a few hours, with an alert.

Such a plan only reduces what the casino may lose: it raises no maximum, and sets none that needs dual control. It ends
by itself, unless an operator sets another version of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from django.db import transaction

from ledger import alerts, site_log
from ledger.proof.chips import money
from tables.games.catalog import GAMES
from tables.limits import enforcement, plans
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import (
    AMOUNTS,
    MINIMA,
    WAGER,
    Occasion,
    Value,
    Values,
    called,
    emergency_name,
    limits_in,
    limits_of,
)
from tables.log.message import text_of
from tables.models import LimitPlan, Staff, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Refused, refuse_faults
from tables.setup import pit_assignments, policies

LASTS: Final = timedelta(hours=4)
PERMISSION: Final = "tables.propose_limits"


def tighten(table: Table, values: Mapping[str, Value], reason: str, *, by: Staff) -> LimitPlan:
    """Set tighter limits at a table at once, for four hours. Raises Refused."""
    if not (by.has_perm(PERMISSION) and by.has_perm("tables.run_floor")):
        raise Refused("not_permitted", "A pit boss changes limits in an emergency.", 403)
    pit_assignments.refuse(by, table.name)
    if not reason.strip():
        raise Refused("no_reason", "Say why in a few words: the operators hear of it at once.", 422)
    refuse_faults("bad_plan", _looser(table, values))
    with transaction.atomic():
        moment = site_log.lock().moment
        name, newest = _own_plan(table, moment)
        starts, tightened = _running(newest, moment)
        event = LimitPlanSet(
            name=name,
            version=0,
            scope="table",
            of=table.name,
            schedule=Occasion(starts=starts, ends=policies.spelled(moment + LASTS)),
            values={**_no_looser(table, tightened), **values},
            note=" ".join(reason.split()),
            effective="",
        )
        row = plans.write(event, expected_version=newest.version if newest else 0, by=by)
        amounts = text_of(limits_of(values))
        message = (
            f"{table.name}: {by.name} set {amounts} in an emergency, for {LASTS.seconds // 3_600} hours: {event.note}"
        )
        alerts.raise_alert(table.book, "limits_emergency", message, {"plan": row.name, "version": row.version})
        enforcement.bring_to(table.pk, at_once=row)
    return row


def _own_plan(table: Table, moment: datetime) -> tuple[str, LimitPlan | None]:
    """The name of the plan of an emergency, and its newest version. A plan that an operator extended stays in force
    below it, and so does one of another table: they keep their names."""
    names = (emergency_name(table.name, number) for number in count(1))
    plans_by_name = ((name, LimitPlan.objects.versions(name).first()) for name in names)
    return next((name, row) for name, row in plans_by_name if row is None or _may_follow(row, table, moment))


def _may_follow(row: LimitPlan, table: Table, moment: datetime) -> bool:
    """Whether a version is of this table, and ends no later than an emergency that starts now."""
    event = LIMIT_PLANS.event_of(row)
    ends_first = isinstance(event.schedule, Occasion) and max(event.schedule.edges(moment)) <= moment + LASTS
    return event.of == table.name and (row.retired or ends_first)


def _running(row: LimitPlan | None, moment: datetime) -> tuple[str, Values]:
    """The start of an emergency that lasts at a moment, and its limits so far, which the next version keeps."""
    event = LIMIT_PLANS.event_of(row) if row and not row.retired else None
    if event and isinstance(event.schedule, Occasion) and event.schedule.holds(moment):
        return event.schedule.starts, event.values
    return policies.spelled(moment), {}


def _no_looser(table: Table, values: Mapping[str, Value]) -> Values:
    """The limits of an emergency that lasts, as its next version keeps them. That version lies above every other plan
    of the table: a limit that an operator tightened further meanwhile stays as it is."""
    present = limits_in(table)
    return {**values, **{name: present[name] for name in _looser(table, values) if name in present}}


def _looser(table: Table, values: Mapping[str, Value]) -> dict[str, str]:
    """The faults of limits that are not tightened, by limit."""
    present = limits_in(table)
    if not values:
        return {"values": "Fill in one limit at least."}
    sentences: dict[str, str] = {}
    for name, value in values.items():
        limit = present.get(name)
        if isinstance(value, tuple) and name in _wagers(table):
            most = limit[1] if isinstance(limit, tuple) else table.max_cents
            if value[1] > most:
                sentences[name] = (
                    f"The most on {called(name)} is {money(most)}: in an emergency it is lowered, and raised by a plan."
                )
        elif name not in AMOUNTS or not isinstance(value, int):
            changed = ", ".join([*AMOUNTS.values(), *map(called, _wagers(table))])
            sentences[name] = f"In an emergency these are changed: {changed}."
        elif name not in MINIMA and isinstance(limit, int) and value > limit:
            sentences[name] = (
                f"The {called(name)} is {money(limit)}: in an emergency it is lowered, and raised by a plan."
            )
    return sentences


def _wagers(table: Table) -> list[str]:
    """The limits of single wagers that the table may have."""
    return [f"{WAGER}{wager}" for wager in GAMES[table.game].limited_wagers(table.options)]
