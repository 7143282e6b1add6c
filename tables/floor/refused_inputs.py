"""Inputs that were refused, as far as somebody should read of them: who tried what they may not, bets over the limit,
wrong PINs, terminals that are for another table.

A note of one is left at the door of the house's book, in a transaction of its own, once the refused input's is over: it
holds no lock that a dealer waits for. A key that is stuck writes one a minute, and a process no more than ``MOST`` a
minute, whatever is tried there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
from django.db import DatabaseError, connection
from django.db import transaction as transactions

from ledger import clock, site_log
from ledger.clock import WrongClock
from ledger.proof.chain import Entry
from tables.floor.handlers import checks
from tables.floor.inputs import AbandonTable, AcceptBet, LockRack, PlaceBets, UnlockRack, VoidRound, VoidSlip
from tables.games.protocol import Bet
from tables.log.entries.refusals import InputRefused
from tables.log.event import AuditFailure
from tables.refusals import Refused

APART: Final = 60.0
"""Seconds for which the same, by the same person or at the same terminal, is noted once."""
MOST: Final = 30
"""So many a minute are noted by one process."""
LONGEST: Final = 300
"""Characters."""

PERSONAL: Final = frozenset(
    {
        "barred", "not_attested", "not_permitted", "not_the_dealer", "not_theirs", "not_your_pit", "not_your_table",
        "other_terminal", "own_round", "own_shift", "rack_locked", "second_signature", "signed_already",
        "unknown_reason", "wrong_credentials", "wrong_role",
    }
)  # fmt: skip
"""Refusals of somebody who may not, or of a table at which nobody may."""
WEIGHTY: Final = (VoidRound, AbandonTable, UnlockRack, LockRack, VoidSlip, AcceptBet)
"""Of these any refusal matters but that of a form: of what was incomplete, or entered on an old state."""
_CONFLICTS: Final = (403, 409)


def matters(entered: object, refused: Refused) -> bool:
    """Whether somebody should read of a refused input."""
    if refused.code in PERSONAL or _is_over_the_limit(entered, refused):
        return True
    return isinstance(entered, WEIGHTY) and refused.status in _CONFLICTS and refused.code != "stale_sequence"


def _is_over_the_limit(entered: object, refused: Refused) -> bool:
    nearest: Sequence[int] = refused.facts.get("nearest_cents", ())
    bets = entered.bets if isinstance(entered, PlaceBets) else (entered,)
    own = [bet.amount_cents for bet in bets if isinstance(bet, Bet) and bet.seat == refused.facts.get("seat")]
    return refused.code == "bad_bet" and bool(nearest) and any(cents > max(nearest) for cents in own)


# --- No more than so many --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Bound:
    """How often what was noted lately, in this process."""

    latest: dict[tuple[str, ...], float] = field(default_factory=dict)
    left_out: dict[tuple[str, ...], int] = field(default_factory=dict)

    def admits(self, what: tuple[str, ...], moment: float) -> bool:
        """Whether one more of these is noted; else it is counted."""
        self.latest = {earlier: at for earlier, at in self.latest.items() if moment - at < APART}
        if what in self.latest or len(self.latest) >= MOST:
            if len(self.left_out) < 10 * MOST:
                self.left_out[what] = self.left_out.get(what, 0) + 1
            return False
        self.latest[what] = moment
        return True


bound: Final = Bound()


def note(entered: object, refused: Refused, by: str, *, table: str = "", terminal: str = "") -> None:
    """Leave a note of a refused input, if it matters and the same was not noted just now.

    Never inside a transaction of somebody else: theirs is undone with the input, or rehearses it.
    """
    if not matters(entered, refused) or connection.in_atomic_block:
        return
    name = entered if isinstance(entered, str) else _tag_of(entered)
    what = (by, name, refused.code, table, terminal)
    if not bound.admits(what, time.monotonic()):
        return
    more = bound.left_out.pop(what, 0)
    says = refused.sentence[:LONGEST]
    event = InputRefused(entered=name, code=refused.code, says=says, table=table, terminal=terminal, more=more)
    try:
        with transactions.atomic():
            site_log.enqueue_at(event.subject, event.kind, by, event.content(), clock.agreed())
    except (DatabaseError, WrongClock):
        # The answer to whoever entered it does not change for it.
        logging.getLogger(__name__).exception("A refused input could not be noted")


def _tag_of(entered: object) -> str:
    return str(type(entered).__struct_config__.tag) if isinstance(entered, msgspec.Struct) else type(entered).__name__


@checks(InputRefused)
def check_note(event: InputRefused, entry: Entry) -> None:
    """It was left at the door of the house's book, where the note of it lies still and is held against the entry."""
    if event.happened_at is None:
        raise AuditFailure("it notes a refused input, and was not left at the book's door")
    if len(event.says) > LONGEST or event.more < 0:
        raise AuditFailure("it notes a refused input in a way that nobody can have left it")
