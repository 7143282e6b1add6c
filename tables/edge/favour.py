"""Wagers that favour the player under a table's options, and tables whose options were not approved.

All wagers that the table spreads are valued, side bets among them: an operator's pay table may favour the player.
Blackjack is valued at the best play, which takes a few seconds unless a worker has valued the options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import connection

from tables.edge import cached_sheets
from tables.maths import providers
from tables.models import Table

DO: Final = "Let two people approve the options, or choose others, on the page of each table."


def player_edges(game: str, rules: Any) -> dict[str, str]:
    """By wager, the player's mean win in per cent of it; without wagers that favour the casino."""
    [worths] = cached_sheets.of([(game, rules)])
    edges = worths.edges
    if not edges and game in providers.SLOW:
        _stay_connected()
        sheet = providers.full_shoe(game, cached_sheets.that_matter(rules))
        edges = {wager: worth.house_edge for wager, worth in sheet.wagers.items()} if sheet else {}
    return _in_favour(edges)


def _stay_connected() -> None:
    """Let the transaction be idle while a game is valued. On a machine's first use that takes longer than the database
    lets the transaction of a page be idle."""
    if connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{_LONGEST_S}s'")


_LONGEST_S: Final = 120


def _in_favour(edges: Mapping[str, float]) -> dict[str, str]:
    return {wager: f"{-100 * edge:.4f} %" for wager, edge in edges.items() if edge < 0}


def unapproved(tables: Sequence[Table]) -> dict[Table, dict[str, str]]:
    """The tables at which a wager favours the player without an approval, as far as they are valued."""
    worths = cached_sheets.of_tables(tables)
    edges = {table: _in_favour(worth.edges) for table, worth in zip(tables, worths, strict=True)}
    return {table: favoured for table, favoured in edges.items() if favoured and not table.player_edges}


def sentence(favoured: Mapping[Table, Mapping[str, str]]) -> str:
    """The wagers and their tables, in a sentence; empty for none."""
    wagers = [f"{wager} at {table} by {edge}" for table, edges in favoured.items() for wager, edge in edges.items()]
    return f"Wagers favour the player, and no two people approved that: {', '.join(wagers)}." if wagers else ""
