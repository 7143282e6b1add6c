"""Bringing limit plans into force: each table is set as its plans require, and a raised minimum is announced first.

A worker does so each minute, with one transaction for each table under the lock of its log. The entry follows from what
is read under that lock, and its key from the entry: whichever process dies, and however many workers try, it is written
once or not at all, and tried again. An open round keeps the limits that it pinned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec
from django.db import DatabaseError, transaction
from django.utils import timezone

from ledger import alerts, log
from ledger.clock import WrongClock
from ledger.log import Draft, read_head
from ledger.models import Book
from ledger.proof.chain import Head
from ledger.proof.spelling import canonical
from tables.approvals import proposals
from tables.limits import resolver
from tables.log import limit_notice, non_tracked, terms
from tables.log.entries.limits import LimitsAnnounced
from tables.log.entries.settings import ByPlans
from tables.log.limit_notice import MINIMUM
from tables.log.limit_plans import (
    LIMIT_SETTINGS,
    EffectiveLimits,
    Facts,
    Layer,
    Layers,
    NextChange,
    Plan,
    Value,
    Values,
    changed_names,
    in_settings,
    limits_in,
    own_beneath,
    resolve,
)
from tables.log.state import TableState
from tables.log.terms import Settings
from tables.models import LimitPlan, Proposal, Table
from tables.setup import pits, policies, table_settings
from tables.setup.dual_control import BY_THE_CLOCK
from tables.setup.pits import NOWHERE, TablePlace
from tables.state import table_state

_KEYS: Final = UUID("7f6d0f6e-7a3b-5d52-9a0e-3d0f1b7f1c15")
"""The namespace of the keys of entries by which plans come into force."""


@dataclass(frozen=True, slots=True)
class PlannedLimits:
    """The settings that plans require of one table at a moment, and the notice."""

    settings: Settings
    layers: Layers
    announced: tuple[dict[str, int], datetime] | None
    """The minimums to be announced, and when they take effect."""
    raising: Plan | None
    """The plan that raises the announced minimum; None where the table's own settings raise it."""
    minutes: int


def bring_into_force() -> int:
    """Set every table as its plans require. Returns the number of tables with a new setting or notice."""
    moment, tables = timezone.now(), list(Table.objects.in_use().select_related("book"))
    every, places, own = resolver.plans(moment), pits.places(), own_to_come()
    standings = table_state.at_all([table_state.head_of(table) for table in tables])
    waiting = [
        table
        for table in tables
        if _is_behind(table, standings[table.book_id], due(table, standings[table.book_id], every, places, own, moment))
    ]
    return sum(bring_to(table.pk) for table in waiting)


def bring_to(pk: int, at_once: LimitPlan | None = None) -> bool:
    """Set one table as its plans require, in one transaction. Returns whether an entry was written.

    ``at_once``: a version that its author brings into force in the transaction that sets it. Entries that follow from
    this version alone have the author's name.
    """
    # The site's log is read without its lock, so that rounds do not wait for it; the entry names how far it was read.
    with transaction.atomic():
        house_seq = read_head(Book.objects.site().pk).seq
        table = Table.objects.select_related("book").get(pk=pk)
        head = log.lock(table.book_id)
        table.refresh_from_db()
        state, moment = table_state.at(head), head.moment
        every, places = resolver.plans(moment, house_seq), pits.places(house_seq)
        target = due(table, state, every, places, own_to_come(), moment)
        if not _is_behind(table, state, target):
            return False
        if sentences := table_settings.limit_faults(target.settings):
            _alert(table, " ".join(sentences.values()))
            return False
        if _differs(table, target.settings):
            _set(table, head, target, house_seq, at_once)
        if _notice_differs(state, target):
            _announce(table, target, house_seq, at_once)
        return True


def with_the_shoe(pk: int) -> bool:
    """Set a table after the end of its shoe, if any plan takes effect with the next one. Returns whether an entry was
    written. A failure never prevents the end of the shoe: the worker tries again."""
    if not LimitPlan.objects.filter(takes="shoe").exists():
        return False
    with suppress(WrongClock, DatabaseError):
        return bring_to(pk)
    return False


Own = Mapping[str, Sequence[Proposal]]
"""By table, the approved changes of its own settings that have not taken effect."""


def own_to_come() -> Own:
    """The changes that proposals will make: a minimum that they raise is announced like that of a plan."""
    own: dict[str, list[Proposal]] = {}
    for proposal in proposals.to_come():
        if proposal.matter in table_settings.MATTERS:
            own.setdefault(proposal.about, []).append(proposal)
    return own


def due(
    table: Table, state: TableState, every: Iterable[Plan], places: dict[str, TablePlace], own: Own, moment: datetime
) -> PlannedLimits:
    """The settings that plans require of a table in a state, and the notices of these and of its own coming changes."""
    before = resolver.settings_of_row(table)
    facts = resolver.facts_of(before, table.name, places.get(table.name, NOWHERE).pit)
    outcome, minutes = resolve(every, facts, moment), policies.number("limits_notice_minutes", moment)
    set_to = limits_in(before)
    values, waiting = limit_notice.due_now(
        set_to, outcome.layers, state, moment=moment, minutes=minutes, by_count=non_tracked.is_so(before)
    )
    changes = [_own_change(before, proposal) for proposal in own.get(table.name, ())]
    changes += [outcome.next] if outcome.next else []
    announced = limit_notice.to_announce(state, values, waiting, changes, moment=moment, minutes=minutes)
    raising = _plan_of(outcome, announced[0] if announced else {})
    after = settings_after(before, facts, outcome.layers, values, state)
    return PlannedLimits(after, outcome.layers, announced, raising, minutes)


def _own_change(before: Settings, proposal: Proposal) -> NextChange:
    """The own limits of a table after a proposal, and when it takes effect."""
    after = limits_in(terms.settings_after(before, table_settings.values_of(proposal)))
    layers = {name: Layer(value, None) for name, value in after.items()}
    return NextChange(proposals.due_since(proposal), layers, tuple(layers))


def settings_after(
    before: Settings, facts: Facts, layers: Layers, values: dict[str, Value], state: TableState
) -> Settings:
    """The settings with these limits, the table's own limits beneath plans, and the seats with the old minimum."""
    minimums = kept_minimums(before, values, layers, state)
    own = msgspec.to_builtins(own_beneath(values, facts.own))
    return replace(before, **in_settings(values), own_limits=own, kept_minimums=minimums)


def kept_minimums(before: Settings, values: Values, layers: Layers, state: TableState) -> Mapping[str, Any]:
    """The seats that keep the old minimum once the table is set to these limits."""
    set_to = limits_in(before)
    if values.get(MINIMUM) == set_to.get(MINIMUM):
        return before.kept_minimums
    plan = layers[MINIMUM].plan
    keeps = plan is not None and plan.keeps_seated and MINIMUM in limit_notice.raised(set_to, values)
    return limit_notice.kept_after(state, set_to, before.kept_minimums) if keeps else {}


def _plan_of(outcome: EffectiveLimits, least: dict[str, int]) -> Plan | None:
    """The plan that raises a minimum: the one that sets it now, or with the next change."""
    for name in least:
        for layers in (outcome.layers, outcome.next.layers if outcome.next else {}):
            layer = layers.get(name) or layers.get(MINIMUM)
            if layer is not None and layer.plan is not None and least[name] == _least(layer.value):
                return layer.plan
    return None


def _least(value: Value) -> int:
    return value if isinstance(value, int) else value[0]


def _is_behind(table: Table, state: TableState, target: PlannedLimits) -> bool:
    """Whether the settings or the notice of a table differ from those that plans require."""
    return _differs(table, target.settings) or _notice_differs(state, target)


def _differs(table: Table, settings: Settings) -> bool:
    return any(_stored(getattr(table, name)) != _stored(getattr(settings, name)) for name in PLANNED_SETTINGS)


def _stored(value: Any) -> Any:
    """A setting as its JSON column returns it: the two limits of a wager are a list there, and a tuple in a plan."""
    return msgspec.json.decode(msgspec.json.encode(value))


PLANNED_SETTINGS: Final = (*LIMIT_SETTINGS, "own_limits", "kept_minimums")
"""The settings that plans change."""


def _notice_differs(state: TableState, target: PlannedLimits) -> bool:
    present = state.announced
    announced = (dict(present.least), present.effective) if present else None
    return announced != target.announced


def _author(at_once: LimitPlan | None, plans: Iterable[Plan | None]) -> str:
    """The author of the version that its author brings into force, if only that version acts; else the watch."""
    if at_once is not None and {plan.seq if plan else None for plan in plans} == {at_once.seq}:
        return at_once.by
    return BY_THE_CLOCK


def _set(table: Table, head: Head, target: PlannedLimits, house_seq: int, at_once: LimitPlan | None) -> None:
    changed = changed_names(limits_in(table), limits_in(target.settings))
    plans = ByPlans(
        moment=policies.spelled(head.moment),
        house_seq=house_seq,
        layers={name: layer_name(target.layers, name) for name in changed},
        notice_minutes=target.minutes,
    )
    limits = {name: getattr(target.settings, name) for name in PLANNED_SETTINGS}
    key = _key(table, head, house_seq, msgspec.to_builtins(limits))
    by = _author(at_once, (target.layers[name].plan if name in target.layers else None for name in changed))
    table_settings.set_by_plans(table, head, limits, plans=plans, key=key, by=by)


def layer_name(layers: Layers, name: str) -> str:
    """The name of the layer that sets a limit, as entries have it; empty for the table itself."""
    plan = layers[name].plan if name in layers else None
    return str(plan) if plan else ""


def _announce(table: Table, target: PlannedLimits, house_seq: int, at_once: LimitPlan | None) -> None:
    head, plan = log.lock(table.book_id), target.raising
    least, effective = target.announced or ({}, head.moment)
    why = plan.note or plan.name if plan else "as the house sets it"
    event = LimitsAnnounced(
        least=least,
        effective=policies.spelled(effective),
        why=why if least else "it is in force, or was changed",
        notice_minutes=target.minutes,
        keeps_seated=plan is not None and plan.keeps_seated and bool(least),
    )
    by = _author(at_once, (plan,))
    log.append(head, Draft.of(event, by, key=_key(table, head, house_seq, event.content())))


def _key(table: Table, head: Head, house_seq: int, content: Any) -> UUID:
    """The key of an entry: one content follows from one reading of the plans once in a minute."""
    digest = canonical({"": content}).decode()
    return uuid5(_KEYS, f"{table.book_id} {house_seq} {head.moment:%Y-%m-%d %H:%M} {digest}")


def _alert(table: Table, sentence: str) -> None:
    message = f"{table.name}: its limit plans do not fit together, and it stays as it is set. {sentence}"
    alerts.raise_lasting(table.book, "limits_unfit", "plans", message, {"table": table.name})
