"""The roles and what each may do: the only place where permissions are given."""

from __future__ import annotations

from typing import Final

from django.db import models


class Role(models.TextChoices):
    """What somebody is employed as."""

    DEALER = "dealer", "Dealer"
    PIT_BOSS = "pit_boss", "Pit boss"
    OPERATOR = "operator", "Operator"
    AUDITOR = "auditor", "Auditor"
    CASHIER = "cashier", "Cashier"
    SECURITY = "security", "Security"
    COUNTER = "counter", "Counter"
    CAGE_MANAGER = "cage_manager", "Cage manager"


_SETUP: Final = ("table", "denomination", "staff", "terminal")
_RECORDS: Final = (
    "logentry", "transfer", "recount", "alert", "acknowledgement", "book", "account",
    "slip", "slipsignature", "discrepancy", "finding", "run",
)  # fmt: skip

_VIEW_ALL: Final = frozenset(
    [f"tables.view_{name}" for name in (*_SETUP, "househours", "houseterms", "paytable", "housekey", "dropschedule")]
    + [f"ledger.view_{name}" for name in _RECORDS]
    + ["tables.watch_floor"]
)

PERMISSIONS: Final[dict[str, frozenset[str]]] = {
    Role.DEALER: frozenset({"tables.deal"}),
    Role.PIT_BOSS: frozenset(
        {"tables.watch_floor", "tables.run_floor", "tables.watch_worth", "ledger.acknowledge_alert"}
    ),
    Role.OPERATOR: _VIEW_ALL
    | frozenset(f"tables.{verb}_{name}" for name in _SETUP for verb in ("add", "change"))
    | {
        "tables.enrol_terminal",
        "tables.add_househours",
        "tables.add_houseterms",
        "tables.add_paytable",
        "tables.add_housekey",
        "tables.add_dropschedule",
        "tables.close_day",
        "ledger.acknowledge_alert",
    },
    Role.AUDITOR: _VIEW_ALL
    | {
        "tables.watch_cage",
        "tables.watch_chips",
        "tables.watch_count",
        "tables.watch_shoes",
        "tables.watch_worth",
    },
    Role.CASHIER: frozenset({"tables.watch_cage", "tables.run_cage"}),
    Role.SECURITY: frozenset({"tables.carry"}),
    Role.COUNTER: frozenset({"tables.watch_count", "tables.count_boxes"}),
    Role.CAGE_MANAGER: frozenset({"tables.watch_cage", "tables.run_cage", "tables.watch_chips"}),
}
"""``deal``: deal at the table that one is signed in to. ``watch_floor``: see tables, rounds and the log.
``run_floor``: open and close tables, load and retire shoes, take back on a dealer's behalf. ``run_cage``: what the
cage holds, gives out and takes in. ``watch_chips``: the chips' series, kinds and registers. ``carry``: chips and boxes
between the cage, the tables and the count. ``count_boxes``: the soft count. ``watch_shoes``: what finished shoes were
worth, and who bet by it. ``watch_worth``: what each ruling on a round is worth. Who may sign which step of a slip
stands in ``tables/log/series.py``. Nobody may delete."""


def may(role: Role, permission: str) -> bool:
    """Whether a role holds a permission such as ``tables.deal``."""
    return permission in PERMISSIONS[role]
