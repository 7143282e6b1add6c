"""The content of a log entry: base class of all kinds.

Every kind of entry is one frozen struct in `entries/`. Next to its fields, it defines the new state of the table, the
chips that it moves and its description. The fields are the entry's content, by name; a field that has its default value
is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

import msgspec

from ledger.proof.moves import Chart, Move, Posted
from tables.log.attestation import Attestation
from tables.log.kind_record import ByStage, KindRecord
from tables.log.message import Description
from tables.log.signatory import Signatory, author_fault, pair_fault, with_badge_from
from tables.log.state import Dealer, TableState


class Unreadable(ValueError):
    """The entry cannot have been written by this software: its kind is unknown, or its content does not fit its
    kind."""


class AuditFailure(Exception):
    """A verification failure: this software would not have written the entry."""


class RefusedInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The refusal of an input, stored in the entry that reports it."""

    code: str
    sentence: str
    status: int
    facts: dict[str, Any]


class Opened(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The card order of an electronic shoe, opened once no more cards are dealt from it."""

    commitment: str
    order: tuple[int, ...]
    nonce: str
    """The nonce of the commitment, in hex."""


@dataclass(frozen=True, slots=True)
class Context:
    """The context in which an entry is verified: its place in the log, the state of the table before and after it, and
    the chips around it."""

    seq: int
    round: int | None
    before: TableState
    after: TableState
    chart: Chart
    recorded: Sequence[Move]
    """The chip moves that the entry recorded."""
    posted: Mapping[int, Sequence[Posted]]
    """The transfers of the latest round's entries, and of chip sales since it began, by sequence number."""
    held: Mapping[str, int] | None
    """The amount in each place of the table other than seats, in cents; None if unknown."""
    moment: datetime | None = None
    """The time in the entry's heading."""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The content of one log entry."""

    subject: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    """The kind; or all kinds of the struct, if its fields determine the kind."""
    of_the_house: ClassVar[bool] = False
    """Whether the kind belongs to the log of the site, and not to the log of a table."""
    record: ClassVar[KindRecord]
    """The writer, the permitted moves, and where entries are reported, published and alerted. Each kind has its own
    record."""

    request: str | None = None
    """The fingerprint of the input that caused it. A repeated idempotency key with another input is refused."""
    refused: RefusedInput | None = None
    """The refusal of the input, if the entry only reports one."""
    happened_at: str | None = None
    """The time of the event, if it was entered later from paper."""
    attested: Attestation | None = None
    """The signatures of the terminal and of the signer's passkey, in addition to badge and PIN."""

    @property
    def kind(self) -> str:
        return self.kinds[0]

    @property
    def commits(self) -> str | None:
        """The commitment to a card order that the entry makes, if any."""
        return None

    @property
    def opens(self) -> Opened | None:
        """The card order that the entry opens, if any."""
        return None

    def content(self) -> dict[str, Any]:
        """The content as JSON data: ``content`` in the body of the entry."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        return content

    @classmethod
    def moves_of_kinds(cls) -> Mapping[str, frozenset[str]]:
        """The kinds of transfer that entries may make, by kind of entry."""
        moves = cls.record.moves
        if isinstance(moves, ByStage):
            raise NotImplementedError(f"{cls.__name__} has its moves by stage and has to say them itself")
        return dict.fromkeys(cls.kinds, moves)

    def may_make(self) -> frozenset[str]:
        """The kinds of transfer that this entry may make."""
        return self.moves_of_kinds()[self.kind]

    def signers(self, by: str) -> tuple[Signatory, ...]:
        """The signers that the content names, the author first; empty if it names no author. ``by``: the author as in
        the heading of the entry."""
        return ()

    def signed_terms(self) -> Mapping[str, Any] | None:
        """The terms signed by badge and PIN, for the terminal to sign too; None if the entry needs no signature."""
        return None

    def formerly_signed_terms(self) -> Mapping[str, Any] | None:
        """The terms in the form that terminals signed under an earlier release; None if there was no other form."""
        return None

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        """The state of the table after it. Raises ValueError if the entry cannot follow this state."""
        return standing

    def moved(self, context: Context) -> Sequence[Move] | None:
        """The moves that the entry must have made; None if the log alone cannot determine them. Raises AuditFailure."""
        return None

    def bear_out(self, context: Context) -> None:
        """Verify the remaining claims of the entry, after its moves are verified. Raises AuditFailure."""

    def description(self) -> Description:
        """A description for people, as one clause."""
        raise NotImplementedError


class Author(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The content of an entry that names its author, with the author's role at the time."""

    username: str
    name: str
    badge: str | None
    role: str

    @property
    def signatory(self) -> Signatory:
        """The author as a signatory."""
        return Signatory(self.username, self.name, self.badge, self.role)

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return (self.signatory,)


class UnbadgedAuthor:
    """Mixin for entries that name their author without a badge number."""

    __slots__ = ()
    username: str
    name: str
    role: str

    def signers(self, by: str) -> tuple[Signatory, ...]:
        """The author, with the badge number from the heading."""
        return (with_badge_from(by, self.username, self.name, self.role),)


def refuse_signers(event: Event, by: str, dealer: Dealer | None) -> None:
    """Verify the signers that an entry names: its author wrote it, and no person signed twice. ``dealer``: the dealer
    at the table before the entry. Raises AuditFailure."""
    signers = event.signers(by)
    if signers:
        refuse_other_author(signers[0], by, dealer)
    if fault := pair_fault(signers):
        raise AuditFailure(fault)


def refuse_other_author(signer: Signatory, by: str, dealer: Dealer | None = None) -> None:
    """Verify that the author of an entry is the person that its content names. Raises AuditFailure."""
    is_dealer = dealer is not None and dealer.username == signer.username
    if fault := author_fault(signer, by, at_the_table=dealer.signature if dealer and is_dealer else None):
        raise AuditFailure(fault)
