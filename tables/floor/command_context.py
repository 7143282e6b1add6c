"""The context that the handler of an input gets, and its decision, which is the entries to write.

A handler writes nothing itself.
"""

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
    """The accounts of a table, cached by all that decides which accounts it has.

    Accounts never change; a table that begins to spread another wager gets more of them.
    """
    # Without the cache, each card would query the accounts under the table's lock.
    return cage.chart(book_id)


_AT_SEAT: Final = re.compile(r"seat (\d+)")
"""How the log names a player, who is identified only by the page of a seat."""


def seat_of(signature: str) -> int | None:
    """The seat that signed an entry; None for any other author."""
    player = _AT_SEAT.fullmatch(signature)
    return int(player[1]) if player else None


_PROGRAM: Final = re.compile(r"program (.+)")
"""How the log names an API client or a card reader."""


def program_of(signature: str) -> str | None:
    """The name of the service account that signed an entry; None for any other author."""
    program = _PROGRAM.fullmatch(signature)
    return program[1] if program else None


@dataclass(frozen=True, slots=True)
class AtSeat:
    """A player, identified only by the page of a seat. Players may make the choices of their seat and nothing else."""

    seat: int
    page: int
    """Primary key of the page that was opened. It may be revoked by now."""

    @property
    def signature(self) -> str:
        """The player's name in the log.

        No staff member can have it: a staff signature begins with a badge, or with a user name other than this word.
        """
        return f"seat {self.seat}"

    username = name = signature

    def has_perm(self, perm: str) -> bool:
        """False: players have no permissions of staff."""
        return False


@dataclass(frozen=True, slots=True)
class CommandContext:
    """A table under its lock, with its state, and the author of the input."""

    table: Table
    game: Game[Any, Any]
    rules: Any
    """The options of the game as set now. A round keeps the options that it was opened with."""
    limits: Limits
    standing: TableState
    by: Staff | AtSeat | ServiceAccount
    clock: datetime | None = None
    """Timestamp of the entries to write; None where only a preview is computed."""

    @property
    def moment(self) -> datetime:
        """The time of the input: the timestamp that its entries get. A proof decides by it too."""
        # Not the clock of this process: a decision that depends on the time has to come out alike in a proof.
        return self.clock or timezone.now()

    @property
    def chart(self) -> Chart:
        """The places that chips can be at this table."""
        wagers = kind_of(self.game).wagers(self.rules)
        return accounts(self.table.book_id, self.table.seats, self.game.name, wagers)

    @property
    def for_coins(self) -> bool:
        """Whether the table's game is played for coins at its seats."""
        return kind_of(self.game).for_coins

    @property
    def at_cut(self) -> int:
        """The number of cards left when the cut card comes out; 0 where the table's game has none."""
        return kind_of(self.game).at_cut(self.rules)

    @property
    def signature(self) -> str:
        """The author's name in the log: a dealer as signed in at the table, even after a change of name or badge."""
        # A badge that is renewed during a shift must not split the dealer's entries between two names.
        dealer = self.standing.dealer
        return dealer.signature if dealer and dealer.username == self.by.username else self.by.signature

    @property
    def author(self) -> dict[str, Any]:
        """The author as the fields of an entry that records names, badges and roles."""
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
    """A staff member as the fields of an entry that records names, badges and roles."""
    assert isinstance(by, Staff)  # noqa: S101 -- no player is let near what is signed by name
    return structs.asdict(by.signatory)


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """One entry to write, with its round and the chip movements that it causes."""

    event: Event
    round: int | None = None
    moves: Sequence[Move] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of an input. With a refusal, its steps report the refused input, and are written as well."""

    steps: Sequence[PendingEntry]
    refusal: Refused | None = None
    alert: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    signing: Signing | None = None
    """The signature of the first step, with the result of a count."""
