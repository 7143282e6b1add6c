"""Checks limits that plans set against the plans in the site log at that time, and against the notice that was
given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from django.db.models import QuerySet

from ledger.models import LogEntry
from ledger.proof.chain import Entry
from tables.floor.handlers import checks
from tables.limits import enforcement, resolver
from tables.log import limit_notice, non_tracked
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.limits import LimitsAnnounced
from tables.log.entries.pits import PitSectionSet
from tables.log.entries.settings import ByPlans, TableSet
from tables.log.event import AuditFailure
from tables.log.limit_notice import MINIMUM
from tables.log.limit_plans import WAGER, Facts, Layers, Plan, changed_names, layers_at, limits_in, own_beneath
from tables.log.state import TableState
from tables.log.terms import Settings
from tables.models import LimitPlan
from tables.setup import pits, policies
from tables.setup.dual_control import BY_THE_CLOCK
from tables.setup.pits import NOWHERE

LATE: Final = timedelta(minutes=2)
"""The maximum delay between the time for which plans were evaluated and the entry."""


def check(
    before: Settings, after: Settings, state: TableState, event: TableSet, entry: Entry, *, tells_notice: bool
) -> None:
    """Check a change of a table's limits: by its plans, or by a user who gave the notice. Raises AuditFailure.

    ``tells_notice``: an earlier entry of this log states the notice, so each further one must.
    """
    plans = event.plans
    if plans is None:
        _refuse_what_plans_set(before, after, event)
        _refuse_unannounced(before, after, state, event, entry, tells_notice=tells_notice)
        return
    if strange := event.after.keys() - set(enforcement.PLANNED_SETTINGS):
        raise AuditFailure(f"no limit plan sets the {min(strange)} of a table")
    moment = _moment(plans, entry)
    _refuse_stale(plans, moment)
    facts = resolver.facts_of(before, entry.book, pits.places(plans.house_seq).get(entry.book, NOWHERE).pit)
    layers = layers_at(resolver.plans(moment, plans.house_seq), facts, moment)
    _refuse_other(before, after, layers, plans)
    _refuse_other_author(entry, [layers[name].plan if name in layers else None for name in plans.layers])
    layered = [layers[name] for name in plans.layers if name in layers]
    if not limit_notice.between_shoes(state) and any(limit_notice.takes(layer) == "shoe" for layer in layered):
        raise AuditFailure("it sets in the middle of a shoe what holds with the next one")
    _refuse_unkept(before, after, state, layers, facts)
    _refuse_other_notice(plans.notice_minutes, entry)
    _refuse_without_notice(before, after, state, moment, plans.notice_minutes)


def _refuse_other_author(entry: Entry, plans: Sequence[Plan | None]) -> None:
    """Raise AuditFailure unless plans were applied by the scheduled task or, for a single version, by its author at the
    moment it was set. Entries of releases up to 0.9.0 name the scheduled task in both cases."""
    seqs = {plan.seq if plan else 0 for plan in plans}
    if entry.by != BY_THE_CLOCK and not (len(seqs) == 1 and _set_just_now(entry).filter(seq__in=seqs).exists()):
        raise AuditFailure(f"the watch brings limit plans into force, and {entry.by} wrote it")


def _set_just_now(entry: Entry) -> QuerySet[LimitPlan]:
    """The versions that the author of an entry set within LATE before it."""
    if entry.at is None:
        return LimitPlan.objects.none()
    return LimitPlan.objects.filter(by=entry.by, at__range=(entry.at - LATE, entry.at))


def _refuse_what_plans_set(before: Settings, after: Settings, event: TableSet) -> None:
    earlier, later = limits_in(before), limits_in(after)
    # Only plans change these fields; set by hand, they would hide what a plan did.
    if {"own_limits", "kept_minimums"} & event.after.keys():
        raise AuditFailure("it says what plans set, and names none")
    if any(earlier.get(name) != later.get(name) for name in before.own_limits):
        raise AuditFailure("it sets what a limit plan sets, and names none")


def _refuse_unannounced(
    before: Settings, after: Settings, state: TableState, event: TableSet, entry: Entry, *, tells_notice: bool
) -> None:
    """Raise AuditFailure if a user set limits without the notice, on a page, by a command or in a shell.

    Entries from before notices were recorded are exempt; none may follow one that records it.
    """
    earlier, later = limits_in(before), limits_in(after)
    if event.notice_minutes is None:
        if tells_notice and limit_notice.raised(earlier, later):
            raise AuditFailure(limit_notice.UNTOLD)
        return
    _refuse_other_notice(event.notice_minutes, entry)
    if entry.at is not None:
        _refuse_without_notice(before, after, state, entry.at, event.notice_minutes)


def _moment(plans: ByPlans, entry: Entry) -> datetime:
    moment = datetime.fromisoformat(plans.moment)
    # A limit evaluated for another time could be a plan's value that was never in force.
    if entry.at is None or not timedelta(0) <= entry.at - moment <= LATE:
        raise AuditFailure("its plans were reckoned for another time")
    return moment


def _refuse_stale(plans: ByPlans, moment: datetime) -> None:
    """Raise AuditFailure if the site log had newer plans or pits than those applied, by more than LATE."""
    # Two logs have no common order, so entries within LATE may be missing from the evaluation.
    house = LogEntry.objects.of_site().filter(seq__gt=plans.house_seq, at__lt=moment - LATE)
    if house.filter(subject__in=(LimitPlanSet.subject, PitSectionSet.subject)).exists():
        raise AuditFailure("plans or pits were set meanwhile that it does not go by")


def _refuse_other(before: Settings, after: Settings, layers: Layers, plans: ByPlans) -> None:
    earlier, later = limits_in(before), limits_in(after)
    changed = changed_names(earlier, later)
    if set(changed) != plans.layers.keys():
        raise AuditFailure("it does not name the plan of each limit that it sets")
    for name in changed:
        due = layers[name].value if name in layers else None
        if later.get(name) != due:
            raise AuditFailure(f"no plan said so: the {name} would be {due}")
        if plans.layers[name] != enforcement.layer_name(layers, name):
            raise AuditFailure(
                f"another layer sets the {name}: {enforcement.layer_name(layers, name) or 'the table itself'}"
            )


def _refuse_unkept(before: Settings, after: Settings, state: TableState, layers: Layers, facts: Facts) -> None:
    """Check the limits beneath the plans, and the seats that keep the old minimum, both computed from the state
    before."""
    if msgspec.to_builtins(own_beneath(limits_in(after), facts.own)) != msgspec.to_builtins(after.own_limits):
        raise AuditFailure("the table itself was set to other limits than it says")
    due = enforcement.kept_minimums(before, limits_in(after), layers, state)
    if msgspec.to_builtins(due) != msgspec.to_builtins(after.kept_minimums):
        raise AuditFailure("other seats keep the old minimum than it says")


def _refuse_without_notice(
    before: Settings, after: Settings, state: TableState, moment: datetime, minutes: int
) -> None:
    """Raise AuditFailure if a minimum rises over players without this notice."""
    earlier, later, by_count = limits_in(before), limits_in(after), non_tracked.is_so(before)
    if fault := limit_notice.fault(state, earlier, later, moment=moment, minutes=minutes, by_count=by_count):
        raise AuditFailure(fault)


def _refuse_other_notice(minutes: int, entry: Entry) -> None:
    if not policies.went_by("limits_notice_minutes", entry, lambda value: bool(value == minutes)):
        raise AuditFailure("the house's notice was another then")


@checks(LimitsAnnounced)
def check_notice(event: LimitsAnnounced, entry: Entry) -> None:
    """Check an announcement: by the scheduled task or the author of a plan that was just set, and with the lead time of
    the policies."""
    if entry.by != BY_THE_CLOCK and not _set_just_now(entry).exists():
        raise AuditFailure(f"the watch announces limits, and {entry.by} wrote it")
    _refuse_other_notice(event.notice_minutes, entry)
    if any(name != MINIMUM and not name.startswith(WAGER) for name in event.least):
        raise AuditFailure("it announces what takes no notice")
    earliest = entry.at + timedelta(minutes=event.notice_minutes) if entry.at else None
    if event.least and (earliest is None or datetime.fromisoformat(event.effective) < earliest - LATE):
        raise AuditFailure(f"it announces for an earlier moment than in {event.notice_minutes} minutes")
