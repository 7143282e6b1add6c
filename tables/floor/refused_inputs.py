"""Refused inputs that are recorded: attempts without permission, bets over the limit, wrong PINs, wrong terminals.

A note is enqueued for the site's log in a transaction of its own after the refused input's, so it holds no lock that a
dealer waits for. One process notes an identical refusal once in ``APART`` seconds, and at most ``MOST`` a minute.
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
"""Seconds for which an identical refusal, of one person or terminal, is noted only once."""
MOST: Final = 30
"""Maximum number of notes per minute and process."""
LONGEST: Final = 300
"""Maximum length of the sentence of a refusal in a note, in characters."""

PERSONAL: Final = frozenset(
    {
        "barred", "not_attested", "not_permitted", "not_the_dealer", "not_theirs", "not_your_pit", "not_your_table",
        "other_terminal", "own_round", "own_shift", "rack_locked", "second_signature", "signed_already",
        "unknown_reason", "wrong_credentials", "wrong_role",
    }
)  # fmt: skip
"""Codes of refusals that are always noted: missing permissions, and a table where the action is forbidden to all."""
WEIGHTY: Final = (VoidRound, AbandonTable, UnlockRack, LockRack, VoidSlip, AcceptBet)
"""Inputs of which every refusal is noted, except those for an incomplete form or an outdated screen."""
_CONFLICTS: Final = (403, 409)


def matters(entered: object, refused: Refused) -> bool:
    """Whether a refused input is to be noted."""
    if refused.code in PERSONAL or _is_over_the_limit(entered, refused):
        return True
    return isinstance(entered, WEIGHTY) and refused.status in _CONFLICTS and refused.code != "stale_sequence"


def _is_over_the_limit(entered: object, refused: Refused) -> bool:
    nearest: Sequence[int] = refused.facts.get("nearest_cents", ())
    bets = entered.bets if isinstance(entered, PlaceBets) else (entered,)
    own = [bet.amount_cents for bet in bets if isinstance(bet, Bet) and bet.seat == refused.facts.get("seat")]
    return refused.code == "bad_bet" and bool(nearest) and any(cents > max(nearest) for cents in own)


# --- The rate limit --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Bound:
    """Rate limit of the notes of this process."""

    latest: dict[tuple[str, ...], float] = field(default_factory=dict)
    left_out: dict[tuple[str, ...], int] = field(default_factory=dict)

    def admits(self, what: tuple[str, ...], moment: float) -> bool:
        """Whether another note of this key may be written now; if not, it is counted."""
        self.latest = {earlier: at for earlier, at in self.latest.items() if moment - at < APART}
        if what in self.latest or len(self.latest) >= MOST:
            # Bounded too: inputs under endless names must not fill the memory of the process.
            if len(self.left_out) < 10 * MOST:
                self.left_out[what] = self.left_out.get(what, 0) + 1
            return False
        self.latest[what] = moment
        return True


bound: Final = Bound()


def note(entered: object, refused: Refused, by: str, *, table: str = "", terminal: str = "") -> None:
    """Enqueue a note of a refused input, if it matters and is within the rate limit.

    Does nothing inside a transaction: that one is rolled back with the input, or is a rehearsal.
    """
    if not matters(entered, refused) or connection.in_atomic_block:
        return
    name = entered if isinstance(entered, str) else _tag_of(entered)
    what = (by, name, refused.code, table, terminal)
    if not bound.admits(what, time.monotonic()):
        return
    left_out = bound.left_out.pop(what, 0)
    # Cut to length here: the sentence may quote what was typed.
    message = refused.sentence[:LONGEST]
    event = InputRefused(entered=name, code=refused.code, says=message, table=table, terminal=terminal, more=left_out)
    try:
        with transactions.atomic():
            site_log.enqueue_at(event.subject, event.kind, by, event.content(), clock.agreed())
    except (DatabaseError, WrongClock):
        # The author gets the refusal of the input in any case.
        logging.getLogger(__name__).exception("A refused input could not be noted")


def _tag_of(entered: object) -> str:
    return str(type(entered).__struct_config__.tag) if isinstance(entered, msgspec.Struct) else type(entered).__name__


@checks(InputRefused)
def check_note(event: InputRefused, entry: Entry) -> None:
    """Raises AuditFailure unless the note came through the queue of the site's log and keeps the limits of a note."""
    if event.happened_at is None:
        raise AuditFailure("it notes a refused input, and was not left at the book's door")
    if len(event.says) > LONGEST or event.more < 0:
        raise AuditFailure("it notes a refused input in a way that nobody can have left it")
