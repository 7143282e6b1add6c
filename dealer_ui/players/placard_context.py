"""The content of a table's placard: limits, their next change, rules and pays.

Nothing about rounds, seats, people or racks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import msgspec
from django.utils import timezone

from ledger.proof.chips import money
from tables.approvals import proposals
from tables.board import pays
from tables.board.pays import PaidLines
from tables.edge import cached_sheets
from tables.games.catalog import GAMES
from tables.games.counted import CountedRules
from tables.games.in_words import HOW_IT_GOES, OF_THE_PAYS, OF_THE_SHOE
from tables.limits import resolver
from tables.log.game_kinds import kind_of
from tables.log.limit_plans import WAGER, Values, values_of
from tables.log.terms import (
    game_title,
    least_step,
    payable_cents,
    rounding_words,
    rules_of,
    settings_after,
)
from tables.models import Table
from tables.setup import policies, table_settings
from tables.state import table_state


@dataclass(frozen=True, slots=True)
class BetLimits:
    """The minimum and the maximum of a bet, as text with the currency."""

    title: str
    least: str
    most: str


@dataclass(frozen=True, slots=True)
class LimitChange:
    """A change of limits, and its time."""

    moment: datetime
    limits: Sequence[BetLimits]


@dataclass(frozen=True, slots=True)
class Rule:
    """One of the rules that this table plays by."""

    title: str
    value: str


@dataclass(frozen=True, slots=True)
class Edge:
    """The house edge of a wager, in per cent."""

    title: str
    percent: Decimal


@dataclass(frozen=True, slots=True)
class Placard:
    """The content of a table's placard."""

    table: str
    game: str
    is_open: bool
    limits: Sequence[BetLimits]
    """That of a bet first, then the wagers that have their own."""
    bets: Sequence[str]
    """The bet step, and how winnings are rounded."""
    changes: Sequence[LimitChange]
    how: str
    rules: Sequence[Rule]
    pays: Sequence[PaidLines]
    edges: Sequence[Edge]

    @property
    def main(self) -> BetLimits:
        return self.limits[0]

    @property
    def own(self) -> Sequence[BetLimits]:
        return self.limits[1:]


def placard_of(table: Table) -> Placard:
    """The current placard of a table."""
    return placards_of([table])[0]


def placards_of(tables: Sequence[Table]) -> list[Placard]:
    """Of several, in the same queries."""
    standings = table_state.at_all([table_state.head_of(table) for table in tables])
    coming = _coming(tables)
    worths: Sequence[Any] = [None] * len(tables)
    if policies.in_force("placard_odds"):
        worths = cached_sheets.of_tables(tables)
    return [
        Placard(
            table=table.name,
            game=game_title(table),
            is_open=standings[table.book_id].is_open,
            limits=_limits(table, table.min_cents, table.max_cents, table.wager_limits),
            bets=list(_bets(table)),
            changes=coming.get(table.name, []),
            how=HOW_IT_GOES.get(table.game, ""),
            rules=list(_rules(table)),
            pays=pays.pays_at(table).wagers,
            edges=_edges(table, worth.edges) if worth else [],
        )
        for table, worth in zip(tables, worths, strict=True)
    ]


def _limits(table: Table, least: int, most: int, own: Any) -> list[BetLimits]:
    titles = _titles(table)
    lines = [BetLimits("Limits", money(least), money(most))]
    return lines + [
        BetLimits(titles[wager], money(own[wager][0]), money(own[wager][1])) for wager in titles if wager in own
    ]


def _bets(table: Table) -> Iterator[str]:
    """The sentences about bets: their steps, and how winnings are rounded."""
    least = least_step(table)
    if table.bet_step_cents:
        yield f"Bets by {money(least)}"
    if words := rounding_words(table):
        yield words
    titles = _titles(table)
    for wager, step in payable_cents(table).items():
        if step != least:
            yield f"{titles[wager]} by {money(step)}"


def _titles(table: Table) -> dict[str, str]:
    """The wagers that the table spreads, in their order."""
    wagers = kind_of(GAMES[table.game]).wagers(rules_of(table))
    return {wager.name: wager.title for wager in wagers}


def _coming(tables: Sequence[Table]) -> dict[str, list[LimitChange]]:
    """By table the limits that a plan sets next, and those that two people approved for a moment to come."""
    by_name = {table.name: table for table in tables}
    changes: dict[str, list[LimitChange]] = {}
    for name, resolved in resolver.at_tables(tables, timezone.now()).items():
        coming = resolved.outcome.next
        if coming and any(limit in _SHOWN or limit.startswith(WAGER) for limit in coming.changed):
            changes[name] = [LimitChange(coming.moment, _planned(by_name[name], values_of(coming.layers)))]
    for proposal in proposals.to_come():
        table = by_name.get(proposal.about)
        if table is None or proposal.effective is None or proposal.effective <= timezone.now():
            continue
        if not {*_SHOWN, "wager_limits"} & proposal.after.keys():
            continue
        after = settings_after(table_settings.settings_of(table), table_settings.values_of(proposal))
        limits = _limits(table, after.min_cents, after.max_cents, after.wager_limits)
        changes.setdefault(table.name, []).append(LimitChange(proposal.effective, limits))
    return {name: sorted(of_one, key=lambda change: change.moment) for name, of_one in changes.items()}


_SHOWN: Final = ("min_cents", "max_cents")


def _planned(table: Table, values: Values) -> list[BetLimits]:
    own = {name.removeprefix(WAGER): value for name, value in values.items() if name.startswith(WAGER)}
    least, most = (int(str(values.get(name, getattr(table, name)))) for name in _SHOWN)
    return _limits(table, least, most, own)


def _rules(table: Table) -> Iterator[Rule]:
    """The options of the game as the table plays it, in the words of the game's own rules."""
    rules = rules_of(table)
    if kind_of(GAMES[table.game]).is_by_count:
        yield from _stated(rules)
        return
    described = msgspec.inspect.type_info(GAMES[table.game].rules_type)
    assert isinstance(described, msgspec.inspect.StructType)  # noqa: S101 -- rules are structs
    for option in described.fields:
        if option.name in OF_THE_SHOE | OF_THE_PAYS or not isinstance(option.type, msgspec.inspect.Metadata):
            continue
        title = (option.type.extra_json_schema or {}).get("description", "").rstrip(".")
        if title:
            yield Rule(title, _said(getattr(rules, option.name)))


def _stated(rules: CountedRules) -> Iterator[Rule]:
    """The operator's descriptions of the wagers of a non-tracked table, with the house edge where the site shows odds.

    The usual hold is internal and not shown.
    """
    shows_odds = policies.in_force("placard_odds")
    for wager in rules.wagers:
        words = [wager.pays] if wager.pays else []
        words += [f"the house's edge is {wager.edge}"] if wager.edge and shows_odds else []
        if words:
            yield Rule(wager.name, ", ".join(words))


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(_said(part) for part in value) or "none"
    return str(value).replace("_", " ")


def _edges(table: Table, edges: Mapping[str, float]) -> list[Edge]:
    """Of the wagers that the table spreads, exact to two places."""
    titles = dict.fromkeys(edges, "Bet") if len(edges) == 1 else _titles(table)
    return [
        Edge(titles[wager], Decimal(100 * edge).quantize(Decimal("0.01")))
        for wager, edge in edges.items()
        if wager in titles
    ]
