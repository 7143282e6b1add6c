"""The types of alert, one record each: title, severity, usual notes, and for those with a rule its measure and default.

Alerts that an entry raises at once have the name of the kind of entry (``tables/log/kind_record.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from ledger.proof.chips import money

LEVELS: Final = ("info", "supervisor", "surveillance", "regulator")
"""Levels of an alert, in rising order. Variances have these levels too."""
SUPERVISOR, SURVEILLANCE, REGULATOR = 1, 2, 3
CENTS, MINUTES, SECONDS, PERCENT, COUNT, LEVEL = "amount", "minutes", "seconds", "per cent", "times", "level"


class Severity(IntEnum):
    """How urgent an alert is. Each severity has its own shape and word on screens."""

    NOTICE = 0
    """For information: no action is required."""
    ATTENTION = 1
    """To be looked into within the shift."""
    URGENT = 2
    """To be acted on at once: the records, the cash or the access to them may be at risk."""

    @property
    def word(self) -> str:
        return self.name.capitalize()


@dataclass(frozen=True, slots=True)
class Rule:
    """When an alert of a kind is raised, and which roles receive it."""

    about: str
    is_on: bool
    threshold: int | None
    level: int
    tables: tuple[str, ...] = ()
    """Table names; empty for all tables."""
    games: tuple[str, ...] = ()
    roles: tuple[str, ...] = ("pit_boss",)
    escalate_minutes: int = 10
    """Minutes after which an unacknowledged alert is escalated; 0 for never."""
    escalate_to: tuple[str, ...] = ("surveillance",)

    @property
    def kind(self) -> AlertType:
        return KINDS[self.about]

    def is_for(self, table: str, game: str) -> bool:
        """Whether the rule applies to a table. Alerts about no table are always included."""
        if not table or not (self.tables or self.games):
            return True
        return table in self.tables or game in self.games


@dataclass(frozen=True, slots=True)
class AlertType:
    """The fixed properties of a type of alert."""

    title: str
    severity: Severity
    notes: tuple[str, ...] = ()
    """Usual results of such alerts, offered as notes for the acknowledgement."""
    is_apart: bool = False
    """Whether each such alert is listed by itself and never grouped with similar ones."""
    rule: Rule | None = None
    """Its rule until a site sets another. None: its alerts are raised without a rule of their own."""
    says: str = ""
    """Subject of the rule, for the rule's page."""
    measure: str = ""
    """Unit of the threshold; empty if the rule has none."""
    bounds: tuple[int, int] = (1, 10**12)
    is_below: bool = False
    """Whether values below the threshold raise the alert, instead of values from it upwards."""
    of_tables: bool = True
    """Whether the rule may be limited to some tables or games."""
    always_on: bool = False

    def spelled(self, threshold: int | None) -> str:
        """A threshold as text with its unit."""
        if threshold is None:
            return ""
        if self.measure == CENTS:
            return money(threshold)
        if self.measure == LEVEL:
            return LEVELS[threshold]
        return f"{threshold} {self.measure}"


_NOTICE, _ATTENTION, _URGENT = Severity.NOTICE, Severity.ATTENTION, Severity.URGENT
_PLAY: Final = ("Looked at the camera: in order", "Spoke with the dealer: in order")
_GUEST: Final = ("A guest whom we know", "Looked at the camera: in order")
_PERSON: Final = ("Spoke with them: it was they", "Asked for by the pit")
_MACHINE: Final = ("The operator looks into it", "It runs again")
_BOOKS: Final = ("The operator is called: nothing is moved until it is settled",)
_CHIPS: Final = ("The cage is told", "The chips are on their way")

RULED: Final[Mapping[str, AlertType]] = {
    "large_bet": AlertType(
        "Large bet",
        _ATTENTION,
        _GUEST,
        rule=Rule("large_bet", True, 100_000, SUPERVISOR),
        says="A seat's bet, or all that it staked in a round; in a game for a pot, all that it paid.",
        measure=CENTS,
    ),
    "large_win": AlertType(
        "Large win in a round",
        _ATTENTION,
        _GUEST,
        rule=Rule("large_win", True, 500_000, SUPERVISOR),
        says="What a seat won in one round: from the house, or in a game for a pot from the others.",
        measure=CENTS,
    ),
    "large_win_shift": AlertType(
        "Large win over a shift",
        _ATTENTION,
        _GUEST,
        rule=Rule("large_win_shift", True, 1_000_000, SURVEILLANCE, roles=("pit_boss", "surveillance")),
        says="What a seat won since the shift began, from the house or from the others.",
        measure=CENTS,
    ),
    "rack_low": AlertType(
        "Rack below an amount",
        _ATTENTION,
        _CHIPS,
        rule=Rule("rack_low", False, 100_000, SUPERVISOR),
        says="A fill is due: the rack holds less than this.",
        measure=CENTS,
        is_below=True,
    ),
    "rack_low_share": AlertType(
        "Rack below a share of the opener",
        _ATTENTION,
        _CHIPS,
        rule=Rule("rack_low_share", True, 40, SUPERVISOR),
        says="A fill is due: the rack holds less than this part of what it opened with.",
        measure=PERCENT,
        bounds=(1, 99),
        is_below=True,
    ),
    "table_idle": AlertType(
        "Table idle",
        _NOTICE,
        ("No guests", "The dealer cleans the layout"),
        rule=Rule("table_idle", True, 15, 0, escalate_minutes=0),
        says="The table is open and has a dealer, and nothing was entered for so long.",
        measure=MINUTES,
        bounds=(1, 1_440),
    ),
    "relief_due": AlertType(
        "Relief due",
        _NOTICE,
        ("The relief is on their way", "The dealer stays by agreement"),
        rule=Rule("relief_due", True, 60, 0, escalate_minutes=15, escalate_to=("pit_boss",)),
        says="A dealer has dealt at the table for so long.",
        measure=MINUTES,
        bounds=(5, 720),
    ),
    "push_overdue": AlertType(
        "Push overdue",
        _NOTICE,
        ("The push is called", "The dealers stay by agreement"),
        rule=Rule("push_overdue", True, 5, 0, escalate_minutes=15, escalate_to=("pit_boss",)),
        says="The push of a string of tables is late by this.",
        measure=MINUTES,
        bounds=(1, 240),
        of_tables=False,
    ),
    "break_overdue": AlertType(
        "Break overdue",
        _ATTENTION,
        ("The relief is on their way", "The dealer stays by agreement"),
        rule=Rule("break_overdue", True, None, SUPERVISOR, escalate_minutes=15, escalate_to=("pit_boss",)),
        says="A dealer has dealt without a break for longer than the policies permit.",
        of_tables=False,
    ),
    "corrections_streak": AlertType(
        "Dealer's streak of corrections",
        _ATTENTION,
        ("Spoke with the dealer", "The dealer is relieved"),
        rule=Rule("corrections_streak", True, 4, SUPERVISOR),
        says="So many take-backs and corrections of one dealer within an hour.",
        measure=COUNT,
        bounds=(2, 100),
    ),
    "discrepancy": AlertType(
        "Discrepancy",
        _URGENT,
        ("Counted again: in order",),
        is_apart=True,
        rule=Rule("discrepancy", True, SUPERVISOR, SUPERVISOR),
        says="Counted and expected were not the same, at this level or above.",
        measure=LEVEL,
        bounds=(0, REGULATOR),
    ),
    "pin_reset": AlertType(
        "PIN reset",
        _ATTENTION,
        _PERSON,
        rule=Rule("pin_reset", False, None, SUPERVISOR, roles=("pit_boss", "surveillance")),
        says="Somebody's PIN was reset. That raises an alert in any case: here further people hear of it.",
        of_tables=False,
    ),
    "lock_out": AlertType(
        "Lock-out",
        _ATTENTION,
        _PERSON,
        rule=Rule("lock_out", True, None, SUPERVISOR, roles=("pit_boss", "operator", "surveillance")),
        says="Too many wrong secrets were tried: for a person, or at a terminal.",
        of_tables=False,
    ),
    "settings_changed": AlertType(
        "Settings changed",
        _NOTICE,
        ("Agreed with the operator",),
        rule=Rule("settings_changed", True, None, 0, roles=("pit_boss", "surveillance"), escalate_minutes=0),
        says="A table, a pay table, chips, hours, a role, a rule or a channel is set otherwise.",
    ),
    "clock_drift": AlertType(
        "Clock drift",
        _ATTENTION,
        _MACHINE,
        rule=Rule(
            "clock_drift",
            True,
            30,
            SUPERVISOR,
            roles=("pit_boss", "operator"),
            escalate_minutes=60,
            escalate_to=("operator", "surveillance"),
        ),
        says="The clock of a browser or of a server differs from the database's by more than this.",
        measure=SECONDS,
        bounds=(2, 3_600),
        of_tables=False,
    ),
}
"""The types whose alerts are raised by a rule that a site may set."""

ALERT_TYPES: Final[Mapping[str, AlertType]] = {
    **RULED,
    # Integrity of the logs, and the scheduled checks of it.
    "log_broken": AlertType("Broken log", _URGENT, _BOOKS, is_apart=True),
    "row_differs": AlertType("A row differs from the log", _URGENT, _BOOKS, is_apart=True),
    "unbalanced": AlertType("The chips do not add up", _URGENT, _BOOKS),
    "negative": AlertType("Less than nothing", _URGENT, _BOOKS),
    "limits_emergency": AlertType(
        "Limits changed in an emergency", _ATTENTION, ("Agreed with the pit boss", "The operator makes a plan of it")
    ),
    "limits_unfit": AlertType("Limit plans do not fit", _ATTENTION, ("The operator changes the plan",)),
    "watch_stopped": AlertType("The watch has stopped", _URGENT, _MACHINE),
    "drill_failed": AlertType("A backup that does not hold", _URGENT, _MACHINE),
    "drill_overdue": AlertType("No backup was restored this week", _ATTENTION, _MACHINE),
    "protections_off": AlertType(
        "Protections are off", _ATTENTION, ("The operator turns it on", "The site does without it")
    ),
    "run_missed": AlertType("The watch missed runs", _ATTENTION, _MACHINE),
    "witness_refuses": AlertType("A witness refuses the books", _URGENT, _BOOKS, is_apart=True),
    "witness_silent": AlertType("A witness is silent", _ATTENTION, _MACHINE),
    "not_witnessed": AlertType("No checkpoint can be made", _URGENT, _MACHINE),
    "not_sealed": AlertType("No day can be sealed", _URGENT, _MACHINE),
    "clocks_differ": AlertType("Wrong clock", _URGENT, _MACHINE),
    "book_ahead": AlertType("A book ahead of its time", _URGENT, _MACHINE),
    "day_goes_on": AlertType("Day that is not over", _ATTENTION, _MACHINE),
    "clock_leapt": AlertType("Clock leapt ahead", _URGENT, _MACHINE),
    "not_delivered": AlertType("Not delivered", _ATTENTION, _MACHINE),
    # Days sent to a head office.
    "day_refused": AlertType("A house's day does not hold", _URGENT, _BOOKS),
    "day_late": AlertType("A house is late", _ATTENTION, _MACHINE),
    # Access.
    "code_of_one": AlertType("Code of one person", _URGENT, _PERSON),
    "emergency_sign_in": AlertType("Emergency sign-in", _URGENT, _PERSON),
    "passkey_copied": AlertType("Copied passkey", _URGENT, _PERSON, is_apart=True),
    "terminal_root": AlertType("Another root key", _URGENT, _MACHINE),
    "terminal_locked": AlertType("Terminal locked out", _ATTENTION, _PERSON),
    "no_terminal": AlertType("No terminal of the house", _ATTENTION, _MACHINE),
    "tokens_tried": AlertType("Programs' tokens tried", _ATTENTION, _MACHINE),
    "token_late": AlertType("Ended token tried", _ATTENTION, ("It gets another token", "It is switched off")),
    "token_elsewhere": AlertType("Program calls from elsewhere", _URGENT, _MACHINE),
    "pins_tried": AlertType("PINs tried", _ATTENTION, _PERSON),
    "sign_in_locked": AlertType("Sign-in locked", _ATTENTION, _PERSON),
    "secret_reset": AlertType("Secret reset", _ATTENTION, _PERSON),
    "proposal_lapsed": AlertType("Proposal lapsed", _NOTICE, ("It is proposed anew", "No longer wanted")),
    # Chips, cash and keys.
    "key_out": AlertType("Key not returned", _ATTENTION, ("The key is back in the cabinet", "The holder is called")),
    "drop_late": AlertType("Drop overdue", _ATTENTION, ("The drop is under way",)),
    "cash_not_counted": AlertType("Cash not counted", _ATTENTION, ("The count is under way",)),
    "delivery_differs": AlertType("Delivery differs", _URGENT, ("The manufacturer is told",), is_apart=True),
    # At a table.
    "pit_called": AlertType("Pit called to the table", _URGENT, ("Went to the table",), is_apart=True),
    "card_refused": AlertType("Impossible card", _ATTENTION, ("Wrong key: keyed anew", *_PLAY)),
    "stopped": AlertType("Card reader and dealer disagree", _URGENT, ("Went to the table", *_PLAY)),
    "take_back": AlertType("Settled round taken back", _ATTENTION, ("Keyed wrongly: entered anew", *_PLAY)),
    "cut_card_out": AlertType("Cut card out early", _ATTENTION, ("It was placed there", *_PLAY)),
    "deck_check_failed": AlertType("Shoe not whole", _URGENT, ("Counted again: whole", "The decks are changed")),
    "voided": AlertType("Round made void", _ATTENTION, _PLAY),
    "abandoned": AlertType("Table abandoned", _URGENT, ("Everybody is safe; the rack is counted",)),
    "book_behind": AlertType("Records put back to an earlier moment", _URGENT, ("The table is confirmed", *_BOOKS)),
    "locked": AlertType("Rack locked", _ATTENTION, _PLAY),
    "unlocked": AlertType("Rack unlocked", _ATTENTION, _PLAY),
    "entered": AlertType("Mishap", _ATTENTION, _PLAY),
    "play": AlertType("Bet over the limit", _ATTENTION, _GUEST),
    "forgiven": AlertType("Commission forgiven", _ATTENTION, _PLAY),
    "opened": AlertType("Dispute", _ATTENTION, ("The pit hears it",), is_apart=True),
    "issued": AlertType("Seat page in mid-game", _ATTENTION, _PLAY),
    "back_entry_begun": AlertType("Back-entry begun", _NOTICE, ("Agreed: after an outage",)),
    "back_entry_ended": AlertType("Back-entry ended", _NOTICE, ("Agreed: after an outage",)),
    "back_entry_stands": AlertType("Back-entry still stands", _ATTENTION, ("The papers are being entered",)),
}  # fmt: skip
"""All named types. Slips that open with an alarm raise it under the name of their first step."""


OTHER: Final = "other"
_ANYTHING_ELSE: Final = AlertType(
    "Anything else",
    _ATTENTION,
    (),
    rule=Rule("other", True, None, SUPERVISOR, roles=("pit_boss", "operator", "surveillance"), escalate_minutes=30),
    says="What the watch or the floor found and no other rule is about: a broken log, a wrong clock, a"
    " card that the shoe cannot hold.",
    of_tables=False,
    always_on=True,
)
"""The rule for all types without one of their own. It is not a type of alert itself."""
KINDS: Final[Mapping[str, AlertType]] = {**RULED, OTHER: _ANYTHING_ELSE}
"""Everything that has a rule, by name."""
DEFAULTS: Final[Mapping[str, Rule]] = {about: kind.rule for about, kind in KINDS.items() if kind.rule is not None}
"""The rules of a site that has changed none."""


def sort_of(kind: str) -> AlertType:
    """The type of a kind of alert; an unknown kind gets its own name as title and the severity ATTENTION."""
    return ALERT_TYPES.get(kind) or AlertType(kind.replace("_", " ").capitalize(), Severity.ATTENTION, _PLAY)


def of_severity(severity: Severity) -> frozenset[str]:
    """The named kinds of a severity."""
    return frozenset(kind for kind, sort in ALERT_TYPES.items() if sort.severity == severity)
