"""The floor over the API: a table's rounds, who deals where, and what the house holds."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from rest_framework.response import Response

from ledger.proof.chips import BANK, CAGE, VAULT, VAULT_CASH
from tables.api.forms import form_of
from tables.api.operations import Call, operation
from tables.api.pagination import Page, PageQuery, SpanQuery
from tables.api.views import FloorViewSet, reach
from tables.audit import round_list
from tables.audit.round_list import RoundLine
from tables.cage import cage_desk
from tables.log.state import TableState
from tables.models import Table
from tables.reports import figure_records
from tables.state import table_state

MOST_ROUNDS: Final = 100
"""Maximum of rounds that a page replays."""


class RoundsQuery(SpanQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the list of rounds."""

    limit: Annotated[int, Meta(ge=1, le=MOST_ROUNDS, description="Lines of a page.")] = 25


class RoundSummary(msgspec.Struct, frozen=True):
    """One round in a list."""

    number: int
    first_seq: int
    last_seq: int
    began: datetime | None
    ended: datetime | None
    """Null while it goes on."""
    dealers: list[str]
    shoe: int
    seats: list[int]
    staked_cents: int
    house_net_cents: int | None
    """What the house won, or lost below zero; null while it goes on."""
    taken_back: int
    refused: int
    voided: str
    fault: str | None
    """Why it cannot be played again from the log."""


class OnDuty(msgspec.Struct, frozen=True):
    """A dealer at a table."""

    table: int
    table_name: str
    username: str
    name: str
    since: datetime | None


class HoldingsForm(msgspec.Struct, frozen=True):
    """What the house holds, in cents; null for a place that people like the caller may count."""

    vault: int | None
    cage: int | None
    bank: int | None
    vault_cash: int | None
    depositary: int | None
    tables: int | None
    outstanding: int | None
    on_the_way: int | None


class Rounds(FloorViewSet):
    """The rounds of a table."""

    @operation(
        "list_rounds",
        "The rounds of a table.",
        tag="Rounds",
        query=RoundsQuery,
        answers=Page[RoundSummary],
        scope="read:rounds",
    )
    def list(self, call: Call[RoundsQuery, Any], pk: int) -> Response:
        """The newest first. A dealer sees those of the table that they deal at."""
        table, state = reach(call.caller, pk)
        first, last = _rounds_within(table.book_id, call.query, state.round.number if state.round else 0)
        through = min(self.paginator.place or last, last)
        count = min(call.query.limit + 1, through - first + 1)
        lines = round_list.rounds(table.book_id, through=through, count=count).lines if count > 0 else ()
        rows = self.paginator.paginate(lines, lambda line: line.number - 1)
        return self.get_paginated_response([round_summary(line) for line in rows])


class StaffOnDuty(FloorViewSet):
    """Who deals where."""

    @operation(
        "list_staff_on_duty",
        "Who deals where.",
        tag="Staff",
        query=PageQuery,
        answers=Page[OnDuty],
        may=("tables.watch_floor",),
        scope="read:board",
    )
    def list(self, call: Call[PageQuery, Any]) -> Response:
        """In the order of the tables' numbers."""
        tables = list(Table.objects.select_related("book").order_by("pk"))
        states = table_state.at_all([table_state.head_of(table) for table in tables])
        after = self.paginator.place or 0
        staffed = [table for table in tables if table.pk > after and states[table.book_id].dealer]
        rows = self.paginator.paginate(staffed[: call.query.limit + 1], lambda table: table.pk)
        entries = [(table.book_id, _since(states[table.book_id])) for table in rows]
        moments = figure_records.moments(sorted(entries))
        return self.get_paginated_response(
            [
                _on_duty(table, states[table.book_id], moments.get(entry))
                for table, entry in zip(rows, entries, strict=True)
            ]
        )


class Holdings(FloorViewSet):
    """What lies where in the house."""

    @operation("read_holdings", "What the house holds.", tag="Cage", answers=HoldingsForm, may=("tables.watch_cage",))
    def retrieve(self, call: Call[Any, Any]) -> HoldingsForm:
        """Counts are blind: a role that may count a place gets neither what should lie there nor what reveals it."""
        held, unseen = cage_desk.holdings(), cage_desk.unseen_by(call.by)
        blind = bool({CAGE, VAULT} & unseen)
        return HoldingsForm(
            vault=None if VAULT in unseen else held.vault,
            cage=None if CAGE in unseen else held.cage,
            bank=None if BANK in unseen else held.bank,
            vault_cash=None if VAULT_CASH in unseen else held.vault_cash,
            depositary=None if unseen else held.depositary,
            tables=None if blind else held.tables,
            outstanding=None if blind else held.outstanding,
            on_the_way=None if blind else held.on_the_way,
        )


def round_summary(line: RoundLine) -> RoundSummary:
    """A round as a line of a list."""
    return form_of(RoundSummary, line, seats=[seat.seat for seat in line.seats])


def _rounds_within(book_id: int, query: SpanQuery, latest: int) -> tuple[int, int]:
    """The first and the last round that began in a span of time."""
    first, last = 1, latest
    if query.since:
        first = round_list.first_since({book_id: latest}, query.since)[book_id]
    if query.until:
        last = round_list.first_since({book_id: latest}, query.until)[book_id] - 1
    return first, last


def _since(state: TableState) -> int:
    return state.dealer.since_seq if state.dealer else 0


def _on_duty(table: Table, state: TableState, since: datetime | None) -> OnDuty:
    assert state.dealer is not None  # noqa: S101 -- chosen so
    return OnDuty(table.pk, table.name, state.dealer.username, state.dealer.name, since)
