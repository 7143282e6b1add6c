"""The limits in force at a table, each with its layer, author, next change and the page that changes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.urls import reverse
from django.utils import timezone

from tables.limits import resolver
from tables.limits.resolver import LayerReason, LimitReason
from tables.log.limit_plans import AMOUNTS, NextChange, Value, amount_of, called, limits_of
from tables.log.message import text_of
from tables.log.state import TableState
from tables.models import LimitPlan, Staff, Table

WAITS: Final = {
    "notice": "when its notice is over",
    "shoe": "with the next shoe",
    "worker": "within a minute",
}


@dataclass(frozen=True, slots=True)
class LimitInForce:
    """One limit of a table, as a page explains it."""

    title: str
    value: str
    layer: str
    """The kind of the layer that sets it, with the approved proposal."""
    reason: LayerReason | None
    """The layer; None if no layer sets the value, or if the value of another one waits."""
    next: str
    address: str
    """The page on which the user changes it; empty if the user may not."""
    others: list[tuple[str, LayerReason]]
    """The value of each layer that does not apply, and why."""


@dataclass(frozen=True, slots=True)
class LimitsInForce:
    """The limits of a table, with their next change by plans and the announced minimum."""

    limits: list[LimitInForce]
    unlimited: list[str]
    """The titles of limits that the table does not have."""
    next: str
    announced: str


def in_order(names: Iterable[str]) -> list[str]:
    """Limits in the order of pages: amounts first, then wagers by name."""
    order = list(AMOUNTS)
    return sorted(names, key=lambda name: (order.index(name) if name in AMOUNTS else len(order), name))


def limits_in_force(table: Table, viewer: Staff, state: TableState) -> LimitsInForce:
    """The limits of a table now, for a user. ``state``: the state of the table."""
    moment = timezone.now()
    limits = resolver.at_tables([table], moment)[table.name]
    reasons = {reason.name: reason for reason in resolver.why(table, limits, state, moment)}
    addresses = _addresses(table, viewer, list(reasons.values()))
    announced = state.announced
    return LimitsInForce(
        [_in_force(reasons[name], limits.outcome.next, addresses) for name in in_order(reasons)],
        [called(name) for name in AMOUNTS if name not in reasons],
        _next(limits.outcome.next),
        f"{_clock(announced.effective)}: {text_of(limits_of(announced.least))} ({announced.why})" if announced else "",
    )


def _next(change: NextChange | None) -> str:
    """The next change of all limits as text; empty if plans change nothing."""
    if change is None:
        return ""
    coming = [
        f"{called(name)} {_coming(change, name)}" if name in change.layers else f"no {called(name)}"
        for name in change.changed
    ]
    return f"{_clock(change.moment)}: {'; '.join(coming)}"


def _coming(change: NextChange, name: str) -> str:
    layer = change.layers.get(name)
    return f"{_amount(layer.value)}, {layer.why}" if layer else "no limit"


def _in_force(reason: LimitReason, change: NextChange | None, addresses: Mapping[int, str]) -> LimitInForce:
    applied = reason.applied
    waits = f"{_amount(reason.due)} {WAITS[reason.waits_for]}" if reason.waits_for else ""
    coming = ""
    if change and reason.name in change.changed:
        coming = f"{_clock(change.moment)}: {_coming(change, reason.name)}"
    return LimitInForce(
        title=reason.title,
        value=_amount(reason.value),
        layer="Previous setting" if waits else _layer(applied),
        reason=None if waits else applied,
        next="; ".join(filter(None, (waits, coming))),
        address=addresses.get(applied.layer.plan.seq if applied and applied.layer.plan else 0, ""),
        others=[(_amount(layer.layer.value), layer) for layer in reason.layers if layer is not applied],
    )


def _layer(applied: LayerReason | None) -> str:
    if applied is None:
        return "Not set by any layer now"
    kind = "Emergency limit" if applied.is_emergency else "Limit plan" if applied.layer.plan else "Table settings"
    return f"{kind}, approved proposal {applied.origin.proposal}" if applied.origin.proposal else kind


def _addresses(table: Table, viewer: Staff, reasons: list[LimitReason]) -> dict[int, str]:
    """The page that changes each plan, by the plan's entry, and the page of the table's own settings, by 0."""
    addresses = {}
    if viewer.has_perm("tables.change_table"):
        addresses[0] = f"{reverse('limit-grid')}#table-{table.pk}"
    elif viewer.has_perm("tables.propose_limits"):
        addresses[0] = f"{reverse('pit:limits', args=[table.pk])}#propose-title"
    if viewer.has_perm("tables.add_limitplan"):
        seqs = [layer.layer.plan.seq for reason in reasons for layer in reason.layers if layer.layer.plan]
        for seq, key in LimitPlan.objects.filter(seq__in=seqs).values_list("seq", "pk"):
            addresses[seq] = reverse("admin:tables_limitplan_change", args=[key])
    return addresses


def _amount(value: Value | None) -> str:
    return "none" if value is None else text_of(amount_of(value))


def _clock(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%a %Y-%m-%d %H:%M}"
