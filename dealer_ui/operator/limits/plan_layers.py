"""The layers of a table's limits, and how a limit changes in the week to come, as the page of plans draws them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from django.utils import timezone

from tables.limits.resolver import TableLimits
from tables.log.limit_plans import AMOUNTS, Layer, Plan, amount_of, called, layers_at, resolve
from tables.log.message import text_of

DAYS: Final = 7
HOURS_OF_A_DAY: Final = 24
MOST_STRETCHES: Final = 200


@dataclass(frozen=True, slots=True)
class Shelf:
    """One layer as the page draws it: its value, and whether it applies."""

    layer: Layer
    value: str
    state: str
    """``wins``, ``covered`` or ``rests``."""
    why: str


def shelves(limits: TableLimits) -> list[tuple[str, list[Shelf], str]]:
    """Each limit of a table, its layers from the top, and the limit of the next round where that differs."""
    drawn: list[tuple[str, list[Shelf], str]] = []
    for name in in_order(limits.outcome.stack):
        stack = limits.outcome.stack[name]
        winner = next((layer for layer in stack if layer.holds), None)
        shelf = [
            Shelf(
                layer,
                text_of(amount_of(layer.value)),
                _state(layer, winner),
                layer.why if layer.plan else "the table itself",
            )
            for layer in stack
        ]
        waits = text_of(amount_of(limits.set_to[name])) if name in limits.differs and name in limits.set_to else ""
        drawn.append((called(name), shelf, waits))
    return drawn


def in_order(names: Iterable[str]) -> list[str]:
    """Limits in the order of pages: amounts first, then wagers by name."""
    order = list(AMOUNTS)
    return sorted(names, key=lambda name: (order.index(name) if name in AMOUNTS else len(order), name))


def _state(layer: Layer, winner: Layer | None) -> str:
    if layer is winner:
        return "wins"
    return "covered" if layer.holds else "rests"


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


def week(limits: TableLimits, plans: Iterable[Plan], name: str, moment: datetime) -> list[WeekDay]:
    """One limit of a table in the days to come, by the site's clock."""
    every = list(plans)
    today = timezone.localtime(moment).replace(hour=0, minute=0, second=0, microsecond=0)
    midnights = [(today + timedelta(days=day)).replace(tzinfo=None) for day in range(DAYS + 1)]
    edges = [timezone.make_aware(midnight) for midnight in midnights]
    stretches = list(_stretches(limits, every, name, moment, edges[-1]))
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
        yield start, min(change, end), layers_at(plans, limits.facts, start).get(name)
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
