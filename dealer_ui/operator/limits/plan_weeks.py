"""The limits of a table in the week to come, as the page of plans draws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from django.utils import timezone

from dealer_ui.pit.tables.limits_in_force import in_order
from tables.limits.resolver import TableLimits
from tables.log.limit_plans import Layer, Plan, amount_of, called, resolve
from tables.log.message import text_of

DAYS: Final = 7
HOURS_OF_A_DAY: Final = 24
MOST_STRETCHES: Final = 200


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a day under one layer; its start and end are minutes of the day."""

    start: int
    end: int
    text: str
    title: str
    rank: int
    """The number of its plan in the order of the week; 0 is the table itself."""


@dataclass(frozen=True, slots=True)
class WeekDay:
    """One day of the week strip."""

    name: str
    bars: Sequence[Bar]


def weeks(limits: TableLimits, plans: Sequence[Plan], moment: datetime) -> list[tuple[str, list[WeekDay]]]:
    """The week of each limit that more than one layer sets; that of the minimum if no limit has several layers."""
    stack = limits.outcome.stack
    names = [name for name in in_order(stack) if len(stack[name]) > 1] or ["min_cents"]
    return [(called(name), _week(limits, plans, name, moment)) for name in names]


def _week(limits: TableLimits, plans: Sequence[Plan], name: str, moment: datetime) -> list[WeekDay]:
    """One limit of a table in the days to come, by the site's clock."""
    today = timezone.localtime(moment).replace(hour=0, minute=0, second=0, microsecond=0)
    midnights = [(today + timedelta(days=day)).replace(tzinfo=None) for day in range(DAYS + 1)]
    edges = [timezone.make_aware(midnight) for midnight in midnights]
    stretches = list(_stretches(limits, plans, name, moment, edges[-1]))
    ranks: dict[str, int] = {"": 0}
    for *_, layer in stretches:
        if layer is not None:
            ranks.setdefault(layer.name, len(ranks))
    return [
        WeekDay(
            f"{start:%a %d %b}",
            [_bar(stretch, start, end, ranks) for stretch in stretches if stretch[0] < end and stretch[1] > start],
        )
        for start, end in pairwise(edges)
    ]


Stretch = tuple[datetime, datetime, Layer | None]


def _stretches(
    limits: TableLimits, plans: Sequence[Plan], name: str, start: datetime, end: datetime
) -> Iterator[Stretch]:
    for _ in range(MOST_STRETCHES):
        outcome = resolve(plans, limits.facts, start)
        change = outcome.next.moment if outcome.next else end
        yield start, min(change, end), outcome.layers.get(name)
        if change >= end:
            return
        start = change


def _bar(stretch: Stretch, start: datetime, end: datetime, ranks: Mapping[str, int]) -> Bar:
    begins, ends, layer = stretch
    from_, to = (timezone.localtime(min(max(edge, start), end)) for edge in (begins, ends))
    minutes = [0 if edge.date() > start.date() else edge.hour * 60 + edge.minute for edge in (from_, to)]
    end_minute = minutes[1] or HOURS_OF_A_DAY * 60
    value, plan = (text_of(amount_of(layer.value)), layer.name) if layer else ("none", "")
    title = f"{from_:%H:%M} to {to:%H:%M}: {value}, {layer.why if layer else 'nobody sets it'}"
    return Bar(minutes[0], end_minute, f"{value} {plan}".strip(), title, ranks.get(plan, 0) % 6)
