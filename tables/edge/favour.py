"""Wagers that favour the player by the options of a table: which they are, and the tables that nobody approved so.

Side bets and insurance are left out: what is judged is a wager that a seat can play round after round by itself. Of
blackjack it is valued at the best play, in a few seconds where no worker has valued the options yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tables.edge import kept_sheets
from tables.log.terms import rules_of
from tables.maths import providers
from tables.models import Table

DO: Final = "Let two people approve the options, or choose others, on the page of each table."
_GOES_WITH_ANOTHER: Final = frozenset({"insurance"})


def player_edges(game: str, rules: Any) -> dict[str, str]:
    """By wager, what the player wins of it on average, in per cent of it; without those that favour the casino."""
    [worths] = kept_sheets.of([(game, rules)])
    edges = worths.edges
    if not edges and game in providers.SLOW:
        sheet = providers.full_shoe(game, kept_sheets.that_matter(rules))
        edges = {wager: worth.house_edge for wager, worth in sheet.wagers.items()} if sheet else {}
    return _in_favour(edges, rules)


def _in_favour(edges: Mapping[str, float], rules: Any) -> dict[str, str]:
    beside = {*getattr(rules, "spread", ()), *_GOES_WITH_ANOTHER}
    return {wager: f"{-100 * edge:.4f} %" for wager, edge in edges.items() if edge < 0 and wager not in beside}


def unapproved(tables: Sequence[Table]) -> dict[Table, dict[str, str]]:
    """The tables of which a wager favours the player and no two people approved that, as far as they are valued."""
    worths = kept_sheets.of_tables(tables)
    edges = {table: _in_favour(worth.edges, rules_of(table)) for table, worth in zip(tables, worths, strict=True)}
    return {table: favoured for table, favoured in edges.items() if favoured and not table.player_edges}


def sentence(favoured: Mapping[Table, Mapping[str, str]]) -> str:
    """Which wagers of which tables; empty for none."""
    wagers = [f"{wager} at {table} by {edge}" for table, edges in favoured.items() for wager, edge in edges.items()]
    return f"Wagers favour the player, and no two people approved that: {', '.join(wagers)}." if wagers else ""
