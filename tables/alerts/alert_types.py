"""What each kind of alert is called, how pressing it is, and what it usually comes to: said here once for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from tables.alerts.rules import KINDS, OTHER


class Severity(IntEnum):
    """How pressing an alert is. Screens draw each with a shape and a word of its own."""

    NOTICE = 0
    """Nobody has to do anything: it is to be known."""
    ATTENTION = 1
    """Somebody looks into it within the shift."""
    URGENT = 2
    """Somebody stops what they do: the books, the cash or the access to them may be at stake."""

    @property
    def word(self) -> str:
        return self.name.capitalize()


@dataclass(frozen=True, slots=True)
class AlertType:
    """All that is known of alerts of one kind."""

    title: str
    severity: Severity
    notes: tuple[str, ...] = ()
    """What such alerts usually come to, in words that may be signed at once."""
    is_apart: bool = False
    """Whether each is a matter of its own, and never stands in one line with others like it."""


_NOTICE, _ATTENTION, _URGENT = Severity.NOTICE, Severity.ATTENTION, Severity.URGENT
_PLAY: Final = ("Looked at the camera: in order", "Spoke with the dealer: in order")
_GUEST: Final = ("A guest whom we know", "Looked at the camera: in order")
_PERSON: Final = ("Spoke with them: it was they", "Asked for by the pit")
_MACHINE: Final = ("The operator looks into it", "It runs again")
_BOOKS: Final = ("The operator is called: nothing is moved until it is settled",)
_CHIPS: Final = ("The cage is told", "The chips are on their way")

_BY_RULE: Final[Mapping[str, tuple[Severity, tuple[str, ...]]]] = {
    "large_bet": (_ATTENTION, _GUEST),
    "large_win": (_ATTENTION, _GUEST),
    "large_win_shift": (_ATTENTION, _GUEST),
    "rack_low": (_ATTENTION, _CHIPS),
    "rack_low_share": (_ATTENTION, _CHIPS),
    "table_idle": (_NOTICE, ("No guests", "The dealer cleans the layout")),
    "relief_due": (_NOTICE, ("The relief is on their way", "The dealer stays by agreement")),
    "corrections_streak": (_ATTENTION, ("Spoke with the dealer", "The dealer is relieved")),
    "pin_reset": (_ATTENTION, _PERSON),
    "lock_out": (_ATTENTION, _PERSON),
    "settings_changed": (_NOTICE, ("Agreed with the operator",)),
    "clock_drift": (_ATTENTION, _MACHINE),
}
"""Of kinds that a rule raises; they have their titles there."""

ALERT_TYPES: Final[Mapping[str, AlertType]] = {
    **{kind: AlertType(KINDS[kind].title, severity, notes) for kind, (severity, notes) in _BY_RULE.items()},
    "discrepancy": AlertType(KINDS["discrepancy"].title, _URGENT, ("Counted again: in order",), is_apart=True),
    # The books, and what watches them.
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
    # At a head office, what its houses send.
    "day_refused": AlertType("A house's day does not hold", _URGENT, _BOOKS),
    "day_late": AlertType("A house is late", _ATTENTION, _MACHINE),
    # Who has access.
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
"""Every kind that has a name; slips that open with an alarm raise it by the name of their first step."""


def sort_of(kind: str) -> AlertType:
    """Of a kind that is named nowhere, its own name, and that somebody should look."""
    return ALERT_TYPES.get(kind) or AlertType(kind.replace("_", " ").capitalize(), Severity.ATTENTION, _PLAY)


def of_severity(severity: Severity) -> frozenset[str]:
    """The kinds that are so pressing; those that are named nowhere are not among them."""
    return frozenset(kind for kind, sort in ALERT_TYPES.items() if sort.severity == severity)


assert OTHER not in ALERT_TYPES  # noqa: S101 -- it is a rule for many kinds, and no kind
