"""Tables: the house's book says which there are, and each table's own how it is set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from tables.games.catalog import GAMES
from tables.log.entries.carried_rows import RowsTakenOver, TableAdded
from tables.log.entries.settings import TableRetired, TableSet
from tables.log.limit_plans import LIMIT_SETTINGS
from tables.log.terms import made_rules
from tables.models import Table
from tables.projections.records import Rows, of_the_house, of_the_tables

_FACTS: Final = (
    "game", "seats", "source", "unit_cents", "rake_permille", "rake_cap_cents", "time_charge_cents", "marks_commission",
    "cameras", "own_limits", "kept_minimums", "bet_step_cents", "player_edges", *LIMIT_SETTINGS,
)  # fmt: skip


def in_log() -> Rows:
    """Every table that was set up, with its settings after the last change of them."""
    felts: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("tables", table=["added"]):
        names: Iterable[str] = ()
        match entry.event:
            case TableAdded(name=name):
                names = [name]
            case RowsTakenOver(kept=kept) if kept is not None:
                names = kept
        felts |= {name: {"book": name} for name in names}
    for entry in of_the_tables(TableSet.subject, (*TableSet.kinds, *TableRetired.kinds)):
        felt = felts.setdefault(entry.book, {"book": entry.book})
        match entry.event:
            case TableSet(after=after):
                felt.update(after)
            case TableRetired(why=why):
                felt.update({"retired": why, "retired_by": entry.by})
    return {name: _spelled(felt) for name, felt in felts.items()}


def in_database() -> Rows:
    """Every table that has a row."""
    rows = Table.objects.select_related("book").prefetch_related("denominations")
    return {
        table.name: _spelled(
            {name: getattr(table, name) for name in _FACTS}
            | ({"retired": table.retired_why, "retired_by": table.retired_by} if table.retired_at else {})
            | {
                "book": table.book.name,
                "options": table.options,
                "denominations": [chip.value_cents for chip in table.denominations.all()],
            }
        )
        for table in rows
    }


def _spelled(felt: Mapping[str, Any]) -> dict[str, Any]:
    """With every option, as the game takes it, so that one that was left to its default is what it is; and each chip
    once."""
    spelled = dict(felt)
    for name in (
        "marks_commission",
        "cameras",
        "own_limits",
        "kept_minimums",
        "bet_step_cents",
        "player_edges",
        *LIMIT_SETTINGS,
    ):
        if not felt.get(name):
            spelled.pop(name, None)  # entries of before there were any do not say that there are none
    if "denominations" in felt:
        spelled["denominations"] = sorted(felt["denominations"])
    try:
        rules = made_rules(GAMES[felt["game"]], felt["options"], felt["unit_cents"])
        spelled["options"] = msgspec.to_builtins(rules)
    except (KeyError, TypeError, msgspec.ValidationError):
        pass  # no game takes them: they are compared as they stand
    return spelled
