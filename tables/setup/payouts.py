"""Tables that may pay less than the odds that they post, because they round winnings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tables.log.terms import rounding_words, rules_of
from tables.models import Table

DO: Final = "Set the option “rounding” of each to exact, and a smallest chip that pays its odds (docs/setting-up.md)."
_IN_PLAYERS_FAVOUR: Final = "up"


def underpaying(tables: Iterable[Table]) -> list[Table]:
    """The tables that round winnings down or to the nearest chip. Releases up to 0.9.0 rounded down by default."""
    return [table for table in tables if rounding_words(table) and rules_of(table).rounding != _IN_PLAYERS_FAVOUR]


def sentence(tables: list[Table]) -> str:
    """The tables that round, in a sentence; empty for none."""
    names = ", ".join(table.name for table in tables)
    return f"Some bets win less than the posted odds, because winnings are rounded: {names}." if tables else ""
