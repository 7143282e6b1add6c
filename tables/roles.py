"""The roles and what each may do: the only place where permissions are given."""

from __future__ import annotations

from typing import Final

from django.db import models


class Role(models.TextChoices):
    """The job of a staff member, which determines their permissions."""

    DEALER = "dealer", "Dealer"
    PIT_BOSS = "pit_boss", "Pit boss"
    OPERATOR = "operator", "Operator"
    AUDITOR = "auditor", "Auditor"
    CASHIER = "cashier", "Cashier"
    SECURITY = "security", "Security"
    COUNTER = "counter", "Counter"
    CAGE_MANAGER = "cage_manager", "Cage manager"
    SURVEILLANCE = "surveillance", "Surveillance"


_SETUP: Final = ("table", "denomination", "staff", "terminal")
_RECORDS: Final = (
    "logentry", "transfer", "recount", "alert", "acknowledgement", "book", "account",
    "slip", "slipsignature", "discrepancy", "finding", "run",
)  # fmt: skip

_VIEW_ALL: Final = frozenset(
    [f"tables.view_{name}" for name in (*_SETUP, "househours", "houseterms", "proposal", "paytable")]
    + [
        f"tables.view_{name}"
        for name in (
            "chipseries",
            "alertchannel",
            "housekey",
            "dropschedule",
            "pitsection",
            "post",
            "pitcover",
            "limitplan",
            "serviceaccount",
        )
    ]
    + [f"ledger.view_{name}" for name in _RECORDS]
    + ["tables.watch_floor"]
)

PERMISSIONS: Final[dict[str, frozenset[str]]] = {
    Role.DEALER: frozenset({"tables.deal"}),
    Role.PIT_BOSS: frozenset(
        {
            "tables.watch_floor",
            "tables.run_floor",
            "tables.propose_limits",
            "tables.export_lists",
            "tables.watch_worth",
            "tables.confirm_code",
            "tables.set_alertrules",
            "tables.resend_deadletters",
            "tables.acknowledge",
            "ledger.acknowledge_alert",
        }
    ),
    Role.OPERATOR: _VIEW_ALL
    | frozenset(f"tables.{verb}_{name}" for name in _SETUP for verb in ("add", "change"))
    | {
        "tables.enrol_terminal",
        "tables.add_househours",
        "tables.add_houseterms",
        "tables.add_paytable",
        "tables.add_chipseries",
        "tables.add_alertchannel",
        "tables.resend_deadletters",
        "tables.add_housekey",
        "tables.add_dropschedule",
        "tables.add_pitsection",
        "tables.add_post",
        "tables.add_limitplan",
        "tables.add_serviceaccount",
        "tables.change_serviceaccount",
        "tables.close_day",
        "tables.propose_limits",
        "tables.export_lists",
        "tables.confirm_code",
        "tables.acknowledge",
        "ledger.acknowledge_alert",
    },
    Role.AUDITOR: _VIEW_ALL
    | {
        "tables.watch_cage",
        "tables.watch_chips",
        "tables.watch_count",
        "tables.watch_shoes",
        "tables.watch_worth",
        "tables.watch_bookmarks",
        "tables.export_lists",
        "tables.review_access",
    },
    Role.CASHIER: frozenset({"tables.watch_cage", "tables.run_cage", "tables.export_lists"}),
    Role.SECURITY: frozenset({"tables.carry", "tables.export_lists"}),
    Role.COUNTER: frozenset({"tables.watch_count", "tables.count_boxes", "tables.export_lists"}),
    Role.CAGE_MANAGER: frozenset({"tables.watch_cage", "tables.run_cage", "tables.watch_chips", "tables.export_lists"}),
    Role.SURVEILLANCE: frozenset(
        {
            "tables.watch_floor",
            "tables.watch_cage",
            "tables.watch_count",
            "tables.acknowledge",
            "tables.watch_bookmarks",
            "tables.export_lists",
            "tables.bookmark",
        }
    ),
}
"""``deal``: deal at the table where the dealer is signed in. ``watch_floor``: see tables, rounds and the log.
``run_floor``: open and close tables, load and retire shoes, undo on a dealer's behalf. ``run_cage``: issue and receive
chips and cash at the cage. ``watch_chips``: see the series, kinds and registers of chips. ``carry``: move chips and
drop boxes between the cage, the tables and the count. ``count_boxes``: the soft count. ``acknowledge``: acknowledge an
alert by name; ``acknowledge_alert`` also investigates variances. ``set_alertrules``: set which alerts are raised and
who receives them. ``resend_deadletters``: send undelivered messages again. ``propose_limits``: propose table settings.
``export_lists``: export lists as files. ``bookmark``: bookmark moments for surveillance. ``watch_shoes``: see the
edge in finished shoes and the seats whose bets followed it. ``watch_worth``: see the value of each ruling on a round.
``confirm_code``: issue the second half of the code with which a user sets a PIN or a password. The signatories of each
slip step are in ``tables/log/slip_types.py``. No role has a permission to delete."""


WORDS: Final[dict[str, str]] = {
    "tables.deal": "deal at the table where they are signed in",
    "tables.watch_floor": "see tables, rounds and the log",
    "tables.run_floor": "run the floor: open and close tables, load shoes, take back, rule on disputes, sign slips",
    "tables.propose_limits": "propose what a table is set to",
    "tables.export_lists": "take lists out as files",
    "tables.watch_worth": "see what rulings on a round are worth",
    "tables.watch_shoes": "see what finished shoes were worth",
    "tables.watch_cage": "see the cage and the vault",
    "tables.run_cage": "give out and take in chips and cash at the cage",
    "tables.watch_chips": "see the series of chips, and what was found or counterfeit",
    "tables.carry": "carry chips and boxes",
    "tables.watch_count": "see the soft count",
    "tables.count_boxes": "count drop boxes",
    "tables.close_day": "close the gaming day",
    "tables.change_table": "set up tables and their limits",
    "tables.change_denomination": "set up chips",
    "tables.add_chipseries": "set up series of chips",
    "tables.add_paytable": "make pay tables",
    "tables.add_househours": "set the gaming day",
    "tables.add_houseterms": "set the house's terms",
    "tables.change_staff": "take people on, and say what they may do",
    "tables.confirm_code": "give the second half of codes for PINs and passwords",
    "tables.add_housekey": "set the register of keys",
    "tables.add_dropschedule": "set when drops are due",
    "tables.add_pitsection": "set which tables stand in a pit",
    "tables.add_post": "say who runs which pit",
    "tables.add_limitplan": "set limit plans",
    "tables.change_serviceaccount": "say what programs may do, and make their tokens",
    "tables.enrol_terminal": "enrol and revoke terminals",
    "tables.review_access": "review who may do what",
    "tables.acknowledge": "acknowledge alerts",
    "ledger.acknowledge_alert": "look into discrepancies",
    "tables.set_alertrules": "say which alerts are raised, and who hears of them",
    "tables.add_alertchannel": "set by which channels alerts leave the house",
    "tables.resend_deadletters": "send again what could not leave the house",
    "tables.bookmark": "bookmark moments for the surveillance",
    "tables.watch_bookmarks": "see the surveillance's bookmarks",
    "ledger.view_logentry": "read the whole log",
}
"""The description of each permission in the access review."""
