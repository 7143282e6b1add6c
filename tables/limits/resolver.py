"""The limits of tables as their plans resolve: what may be bet there at a moment, which layer sets it, and why.

All screens, files and the API get limits from here. ``tables/log/limit_plans.py`` has the rules, without a database.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from ledger.models import LogEntry
from tables.games.catalog import GAMES
from tables.log import limit_notice
from tables.log.catalog import read_as
from tables.log.entries.settings import TableSet
from tables.log.limit_plans import (
    LIMIT_SETTINGS,
    WAGER,
    EffectiveLimits,
    Facts,
    Layer,
    Plan,
    Value,
    Values,
    by_name,
    called,
    changed_names,
    in_force,
    is_emergency,
    limits_in,
    own_limits,
    plain,
    resolve,
)
from tables.log.message import Message, text_of
from tables.log.state import TableState
from tables.log.terms import Settings
from tables.models import LimitPlan, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.setup import pits
from tables.setup.pits import NOWHERE, TablePlace

# --- The limits of tables ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableLimits:
    """The limits of a table: by its plans, and as it is set."""

    facts: Facts
    outcome: EffectiveLimits
    set_to: Values
    """The limits of the next round."""

    @property
    def differs(self) -> tuple[str, ...]:
        """The limits that are not in force yet as the plans require: they wait for the end of a notice, or a shoe."""
        return tuple(changed_names(self.outcome.values, self.set_to))


def at_tables(tables: Iterable[Table], moment: datetime) -> dict[str, TableLimits]:
    """The limits of tables at a moment, by their names, with two queries for all of them."""
    every, places = plans(moment), pits.places()
    limits: dict[str, TableLimits] = {}
    for table in tables:
        facts = facts_at(table, places)
        limits[table.name] = TableLimits(facts, resolve(every, facts, moment), limits_in(table))
    return limits


def plans(moment: datetime, through_seq: int | None = None) -> list[Plan]:
    """The versions that matter from a moment on, as of an entry of the site's log."""
    rows = LimitPlan.objects.through(through_seq).relevant(moment).lasting(moment)
    return [plan_of(row) for row in rows]


def plan_of(row: LimitPlan) -> Plan:
    """A version of a plan, from its row."""
    return LIMIT_PLANS.event_of(row).plan(row.seq)


_RELEVANT_SETTINGS: Final = (
    "game", "options", "seats", "source", "unit_cents", "bet_step_cents", *LIMIT_SETTINGS, "own_limits",
    "kept_minimums",
)  # fmt: skip


def settings_of_row(table: Table) -> Settings:
    """The settings of a table that limits depend on, without a query."""
    return Settings(denominations=(), **{name: getattr(table, name) for name in _RELEVANT_SETTINGS})


def facts_at(table: Table, places: Mapping[str, TablePlace]) -> Facts:
    """The facts about a table as it is set, and the pit that it is in."""
    return facts_of(settings_of_row(table), table.name, places.get(table.name, NOWHERE).pit)


def facts_of(settings: Settings, table: str, pit: str) -> Facts:
    """The facts by which the layers of a table are selected."""
    wagers = frozenset(GAMES[settings.game].limited_wagers(settings.options))
    return Facts(table=table, game=settings.game, pit=pit, wagers=wagers, own=own_limits(settings))


# --- Why ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LimitOrigin:
    """Who set a value, and when."""

    by: str = ""
    """Empty if no entry of this site's logs says so."""
    at: datetime | None = None
    proposal: int | None = None
    """The approved proposal, under dual control."""


@dataclass(frozen=True, slots=True)
class LayerReason:
    """One layer of a limit: whether it applies, who set it, and why it does not apply."""

    layer: Layer
    state: Literal["applies", "covered", "not now", "excluded"]
    reason: str
    """Why it does not apply; empty if it applies."""
    origin: LimitOrigin
    is_emergency: bool = False


@dataclass(frozen=True, slots=True)
class LimitReason:
    """One limit of a table: its value, and all layers that set it."""

    name: str
    value: Value | None
    """The value of the next round; None without a limit."""
    due: Value | None
    """The value by the plans, which may still wait."""
    waits_for: Literal["", "notice", "shoe", "worker"]
    layers: tuple[LayerReason, ...]
    """The topmost first; then those that exclude this table."""

    @property
    def title(self) -> str:
        return called(self.name)

    @property
    def applied(self) -> LayerReason | None:
        """The layer that sets it; None if no layer does now."""
        return next((layer for layer in self.layers if layer.state == "applies"), None)


def why(table: Table, limits: TableLimits, state: TableState, moment: datetime) -> list[LimitReason]:
    """Each limit of a table at a moment: the value, the layer that sets it, its author, and the other layers."""
    facts, present = limits.facts, in_force(by_name(plans(moment)), moment)
    excluded = [plan for plan in present if facts.are_of(plan) and not facts.concern(plan)]
    stack = {
        name: (*layers, *(Layer(plan.values[name], plan) for plan in excluded if name in plan.values))
        for name, layers in limits.outcome.stack.items()
    }
    origins = _origins(table, facts, {layer.plan.seq for layers in stack.values() for layer in layers if layer.plan})
    return [_reason(name, layers, limits, state, origins) for name, layers in stack.items()]


Origins = Mapping[int | str, LimitOrigin]
"""By the entry of a plan, or by the name of a limit that the table sets itself."""


def _reason(
    name: str, layers: Iterable[Layer], limits: TableLimits, state: TableState, origins: Origins
) -> LimitReason:
    applied = limits.outcome.layers.get(name)
    reasons = tuple(
        LayerReason(
            layer,
            *_state_of(layer, applied, limits.facts),
            origins.get(layer.plan.seq if layer.plan else name, LimitOrigin()),
            is_emergency=is_emergency(layer.name, limits.facts.table),
        )
        for layer in layers
    )
    due = applied.value if applied else None
    return LimitReason(name, limits.set_to.get(name), due, _waits_for(name, limits, applied, state), reasons)


def _state_of(
    layer: Layer, applied: Layer | None, facts: Facts
) -> tuple[Literal["applies", "covered", "not now", "excluded"], str]:
    if layer is applied:
        return "applies", ""
    if layer.plan and not facts.concern(layer.plan):
        return "excluded", text_of(Message("its limits do not fit this table, which it excludes"))
    if layer.plan and not layer.holds:
        return "not now", text_of(Message("it applies {schedule}", schedule=layer.plan.schedule.description()))
    above = applied.origin if applied else Message("no layer")
    return "covered", text_of(Message("above it: {layer}", layer=above))


def _waits_for(
    name: str, limits: TableLimits, applied: Layer | None, state: TableState
) -> Literal["", "notice", "shoe", "worker"]:
    if name not in limits.differs:
        return ""
    if applied and limit_notice.takes(applied) == "shoe" and not limit_notice.between_shoes(state):
        return "shoe"
    return "notice" if state.announced and name in state.announced.least else "worker"


def _origins(table: Table, facts: Facts, seqs: Iterable[int]) -> Origins:
    rows = LimitPlan.objects.filter(seq__in=seqs)
    return {row.seq: LimitOrigin(row.by, row.at, row.proposal) for row in rows} | dict(
        _own_origins(table, set(facts.own))
    )


def _own_origins(table: Table, names: set[str]) -> Iterator[tuple[str, LimitOrigin]]:
    """Who last set each of the table's own limits: the newest entry that changed it by hand."""
    rows = LogEntry.objects.filter(book_id=table.book_id, subject=TableSet.subject, kind=TableSet.kinds[0])
    for row in rows.order_by("-seq").iterator(chunk_size=100):
        event = read_as(TableSet, row.body)
        if event.plans is not None:
            continue
        for name in {name for name in names if _limit(event.before, name) != _limit(event.after, name)}:
            names.remove(name)
            yield name, LimitOrigin(row.by, row.at, event.proposal)
        if not names:
            return


def _limit(values: Mapping[str, Any], name: str) -> Any:
    if name.startswith(WAGER):
        return plain((values.get("wager_limits") or {}).get(name.removeprefix(WAGER)))
    return values.get(name)
