"""The scopes of an API client, as data. Pure.

Each scope permits only what a staff member can do. None signs slips, approves, gives access or moves chips: those
require a person.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from tables.log.message import Joined, Label, joined


@dataclass(frozen=True, slots=True)
class Scope:
    """One thing that a program may do."""

    name: str
    title: str
    permission: str
    """The permission that a staff member needs for the equivalent action."""
    of_tables: bool = True
    """Whether it is about single tables, so that an account may have it for some of them."""
    enters: bool = False
    """Whether it enters something: then its tables are named, one by one."""


SCOPES: Final = {
    scope.name: scope
    for scope in (
        Scope("read:board", "See tables as their screens show them", "tables.watch_floor"),
        Scope("read:rounds", "Read rounds that were dealt", "tables.watch_floor"),
        Scope("read:limits", "Read limits and plans", "tables.watch_floor"),
        Scope("read:figures", "Read figures of tables, shifts and days", "tables.watch_floor"),
        Scope("read:slips", "Read slips and who signed them", "tables.watch_floor"),
        Scope("read:disputes", "Read disputes and corrections", "tables.watch_floor"),
        Scope("read:alerts", "Read alerts", "tables.watch_floor", of_tables=False),
        Scope("read:events", "Follow the feed of events", "ledger.view_logentry"),
        Scope("read:exports", "Take out lists and days' bundles as files", "tables.export_lists", of_tables=False),
        Scope("read:metrics", "Read measurements of the system", "tables.watch_floor", of_tables=False),
        Scope("enter:cards", "Name the cards of a table's shoe, as a card reader", "tables.deal", enters=True),
    )
}
"""A scope that was ever given keeps its name for good: the log has it."""

CARDS: Final = "enter:cards"
EXPORTS: Final = "read:exports"


def titles(names: Collection[str]) -> Joined:
    """The titles of scopes."""
    return joined((Label(SCOPES[name].title) if name in SCOPES else name for name in names), "; ")
