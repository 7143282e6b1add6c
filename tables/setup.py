"""Setting up tables: what an operator may set, and what the games make of it."""

from __future__ import annotations

from typing import Any

import msgspec

from tables.games.catalog import GAMES
from tables.games.felt import Limits
from tables.models import Table


def rules_of(table: Table) -> Any:
    """The options of a table's game; its unit is the table's chip unit."""
    return msgspec.convert({**table.options, "unit": table.unit_cents}, GAMES[table.game].rules_type)


def limits_of(table: Table) -> Limits:
    """The table's limits, in minor units."""
    return Limits(table.min_cents, table.max_cents, table.cap_cents)
