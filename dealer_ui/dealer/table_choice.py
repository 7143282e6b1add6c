"""The tables that a dealer may take, most urgent first, from a fixed number of queries for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection

from ledger.log import CONTENT
from tables.log.state import HOUSE_SHOE, TableState
from tables.models import Staff, Table, Terminal
from tables.refusals import Refused
from tables.setup.pits import natural
from tables.state import table_state as standings
from tables.training import certificates

LONGEST: Final = 3
"""Number of dealers, of those longest at a table, who are offered a relief."""


@dataclass(frozen=True, slots=True)
class DealerEntry:
    """The latest entry about who deals at a table."""

    kind: str
    moment: datetime
    username: str
    relieved: str | None
    """User name of the dealer relieved."""

    def was_left_by(self, username: str) -> bool:
        """Whether this entry records that the user left the table."""
        return username == (self.username if self.kind == "signed_out" else self.relieved)


@dataclass(frozen=True, slots=True)
class Offer:
    """A table as a dealer may take it."""

    table: Table
    standing: TableState
    turn: DealerEntry | None
    was_left: bool
    """Whether the dealer who chooses stood there last."""
    refusal: str
    """Why this dealer may not take it; empty where they may."""

    @property
    def is_free(self) -> bool:
        return self.standing.dealer is None

    @property
    def since(self) -> datetime | None:
        """When the dealer there tapped in; None at a table without one."""
        return self.turn.moment if self.turn and not self.is_free else None

    @property
    def is_house_shoe(self) -> bool:
        return self.table.source == HOUSE_SHOE


@dataclass(frozen=True, slots=True)
class TableChoice:
    """The tables that a dealer can choose from: those that need a dealer, other open ones, and closed ones."""

    needed: list[Offer]
    others: list[Offer]
    closed: list[Table]
    here: Table | None
    """The table where the dealer is signed in already."""


def choice(viewer: Staff, terminal: Terminal | None) -> TableChoice:
    """The tables that this dealer may take on this terminal."""
    rows = Table.objects.in_use().select_related("book")
    tables = sorted(rows, key=lambda table: natural(table.name))
    stands = standings.at_all([standings.head_of(table) for table in tables])
    of_table = {table.pk: stands[table.book_id] for table in tables}
    here = next((table for table in tables if of_table[table.pk].is_dealt_by(viewer.username)), None)
    tables = [table for table in tables if terminal is None or terminal.table_id in (None, table.pk)]
    opened = [table for table in tables if of_table[table.pk].is_open]
    turns, refusals = _turns(opened), _refusals(viewer, opened)
    offers = [
        Offer(
            table,
            of_table[table.pk],
            turns.get(table.pk),
            was_left=table.pk in turns and turns[table.pk].was_left_by(viewer.username),
            refusal=refusals[table.game],
        )
        for table in opened
        if table != here
    ]
    needed = _needed([offer for offer in offers if not offer.refusal])
    others = sorted((offer for offer in offers if offer not in needed), key=lambda offer: bool(offer.refusal))
    return TableChoice(needed, others, [table for table in tables if table not in opened], here)


def _needed(offers: list[Offer]) -> list[Offer]:
    """Tables without a dealer, then those that the viewer left last, then those with the longest-serving dealers."""
    free = [offer for offer in offers if offer.is_free]
    left = [offer for offer in offers if offer.was_left and not offer.is_free]
    tired = sorted((offer for offer in offers if offer.since and offer not in left), key=_begun)
    return [*free, *left, *tired[:LONGEST]]


def _begun(offer: Offer) -> datetime:
    assert offer.since is not None  # noqa: S101 -- the caller looked
    return offer.since


def _refusals(viewer: Staff, tables: Iterable[Table]) -> dict[str, str]:
    """By the game, why this dealer may not deal it; empty where they may."""
    return {game: _refusal(viewer, game) for game in {table.game for table in tables}}


def _refusal(viewer: Staff, game: str) -> str:
    try:
        certificates.refuse_uncertified(viewer, game)
    except Refused as refused:
        return refused.sentence
    return ""


_TURNS: Final = f"""
    SELECT books.id, latest.kind, latest.at, latest.content ->> 'username', latest.content ->> 'relieves'
    FROM unnest(%s::bigint[], %s::bigint[]) AS books (id, book) CROSS JOIN LATERAL (
        SELECT kind, at, {CONTENT.format(body="body")} AS content FROM ledger_logentry
        WHERE book_id = books.book AND subject = 'dealer' ORDER BY seq DESC LIMIT 1) AS latest
"""  # noqa: S608


def _turns(tables: list[Table]) -> dict[int, DealerEntry]:
    """The latest tap-in or tap-out of each table, by its primary key."""
    with connection.cursor() as cursor:
        cursor.execute(_TURNS, [[table.pk for table in tables], [table.book_id for table in tables]])
        return {pk: DealerEntry(*row) for pk, *row in cursor.fetchall()}
