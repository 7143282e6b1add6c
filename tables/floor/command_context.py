"""What a handler of an input is given, and what it gives back: entries to write, nothing written yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from django.utils import timezone
from msgspec import structs

from ledger import cage
from ledger.models import Account
from ledger.proof.chips import RACK
from ledger.proof.moves import Chart, Move
from ledger.slips import Signing
from tables.games.game import Game, Wager
from tables.games.protocol import Limits
from tables.log import slip_workflow
from tables.log.event import Event
from tables.log.game_kinds import kind_of
from tables.log.state import TableState
from tables.models import ServiceAccount, Staff, Table
from tables.refusals import Refused


@lru_cache(maxsize=1_000)
def accounts(book_id: int, seats: int, game: str, wagers: tuple[Wager, ...]) -> Chart:
    """The accounts of a table, cached by all that decides which accounts it has. Accounts never change; a table that
    begins to spread another wager gets more of them."""
    # Without the cache, each card would query the accounts under the table's lock.
    return cage.chart(book_id)


_AT_SEAT: Final = re.compile(r"seat (\d+)")
"""How the log names a player, whom the house knows by the page of a seat alone."""


def seat_of(signature: str) -> int | None:
    """The seat that an entry is by; None for one by somebody of the staff."""
    player = _AT_SEAT.fullmatch(signature)
    return int(player[1]) if player else None


_PROGRAM: Final = re.compile(r"program (.+)")
"""How the log names a program."""


def program_of(signature: str) -> str | None:
    """The program that an entry is by; None for one by anybody else."""
    program = _PROGRAM.fullmatch(signature)
    return program[1] if program else None


@dataclass(frozen=True, slots=True)
class AtSeat:
    """A player, whom the house knows by the page of a seat alone. May do nothing but choose there."""

    seat: int
    page: int
    """The row of the page that was opened; it may be revoked by now."""

    @property
    def signature(self) -> str:
        """As the log names who chose. No member of staff can be called so: their names begin with a badge, or with a
        user name that is not this word."""
        return f"seat {self.seat}"

    username = name = signature

    def has_perm(self, perm: str) -> bool:
        """No permission of the staff's."""
        return False


@dataclass(frozen=True, slots=True)
class CommandContext:
    """A table under its lock, and who enters something there."""

    table: Table
    game: Game[Any, Any]
    rules: Any
    """The table's options as they are set now; a round pins those that it was opened with."""
    limits: Limits
    standing: TableState
    by: Staff | AtSeat | ServiceAccount
    clock: datetime | None = None
    """The moment that its entries are dated; none where nothing is entered."""

    @property
    def moment(self) -> datetime:
        """When something is entered: what the entry will say, so that a proof comes to the same."""
        # Not the clock of this process: a decision that depends on the time has to come out alike in a proof.
        return self.clock or timezone.now()

    @property
    def chart(self) -> Chart:
        """The places that chips can be at this table."""
        wagers = kind_of(self.game).wagers(self.rules)
        return accounts(self.table.book_id, self.table.seats, self.game.name, wagers)

    @property
    def for_coins(self) -> bool:
        """Whether the table's game is played for coins that lie at its seats."""
        return kind_of(self.game).for_coins

    @property
    def at_cut(self) -> int:
        """With how many cards left the cut card comes out; 0 where the table's game has none."""
        return kind_of(self.game).at_cut(self.rules)

    @property
    def signature(self) -> str:
        """How whoever enters it is named in the log: a dealer as they signed in, whatever was changed since."""
        # A badge that is renewed during a shift must not split the dealer's entries between two names.
        dealer = self.standing.dealer
        return dealer.signature if dealer and dealer.username == self.by.username else self.by.signature

    @property
    def author(self) -> dict[str, Any]:
        """Who enters it, as an entry under somebody's own name says it."""
        return author_of(self.by)

    @property
    def rack_cents(self) -> int:
        """The balance of the rack by the transfers, in cents."""
        return cage.balance(Account.objects.get(book_id=self.table.book_id, place=RACK))

    @property
    def available_cents(self) -> int:
        """The balance of the rack less the amounts that slips in progress have set aside there, in cents."""
        # A credit that is signed in part has not moved its chips yet: counted as available, they could leave twice.
        return self.rack_cents - sum(slip_workflow.set_aside(self.standing.slips, RACK).values())

    @property
    def next_seq(self) -> int:
        """The sequence number of the first entry that will be written."""
        return self.standing.seq + 1


def author_of(by: Staff | AtSeat | ServiceAccount) -> dict[str, Any]:
    """Somebody of the staff, as an entry under their own name says it."""
    assert isinstance(by, Staff)  # noqa: S101 -- no player is let near what is signed by name
    return structs.asdict(by.signatory)


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """One entry to write, and the chips that it moves."""

    event: Event
    round: int | None = None
    moves: Sequence[Move] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What an input comes to. With a refusal, its steps are the report of it: they are written all the same."""

    steps: Sequence[PendingEntry]
    refusal: Refused | None = None
    alert: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    signing: Signing | None = None
    """The signature that the first step holds, with what a count found."""
