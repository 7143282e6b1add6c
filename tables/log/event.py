"""What an entry says: the base of the log's vocabulary.

Every kind of entry is one frozen struct in `entries/`. Beside its fields stands what it makes of the standing, which
chips it moves, and its words for people. Its fields are the entry's content, name by name; a field with a default is
left out of the content while it has that value.
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
    """An entry that no house can have written: of no kind that is known, or not of its kind's form."""


class AuditFailure(Exception):
    """The house would not have written this entry."""


class RefusedInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was answered to an input whose entry is only the report of it."""

    code: str
    sentence: str
    status: int
    facts: dict[str, Any]


class Opened(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The order of a house shoe, opened once nothing is dealt from it any more."""

    commitment: str
    order: tuple[int, ...]
    nonce: str
    """In hex."""


@dataclass(frozen=True, slots=True)
class Context:
    """What an entry is read in: its place, where the table stands before and after it, and the chips around it."""

    seq: int
    round: int | None
    before: TableState
    after: TableState
    chart: Chart
    recorded: Sequence[Move]
    """What the entry says that it moved."""
    posted: Mapping[int, Sequence[Posted]]
    """The transfers of the latest round's entries, and of sales of chips since it began."""
    held: Mapping[str, int] | None
    """What lies in each place of the table that has no seat, where that is known; in cents."""
    moment: datetime | None = None
    """When it was written, by its heading."""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one entry says."""

    subject: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    """The kind; or all that one struct stands for, where the fields tell which."""
    of_the_house: ClassVar[bool] = False
    """Whether it is written in the house's book, and not in a table's."""
    record: ClassVar[KindRecord]
    """Who may write it, what it moves, and where it is reported, published and alerted. Each kind has its own."""

    request: str | None = None
    """The fingerprint of the input behind it: the same key with another input is refused."""
    refused: RefusedInput | None = None
    """How the input was refused, where the entry is only the report of it."""
    happened_at: str | None = None
    """When it happened, where the book was held by somebody else then."""
    attested: Attestation | None = None
    """The signature of the terminal on which somebody signed it by badge and PIN, and that of their passkey."""

    @property
    def kind(self) -> str:
        return self.kinds[0]

    @property
    def commits(self) -> str | None:
        """The commitment to an order of cards that it makes."""
        return None

    @property
    def opens(self) -> Opened | None:
        """The order of cards that it opens."""
        return None

    def content(self) -> dict[str, Any]:
        """What it says as JSON data: the ``content`` of its entry's body."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        return content

    @classmethod
    def moves_of_kinds(cls) -> Mapping[str, frozenset[str]]:
        """The kinds of transfer that its entries may make, by their kind."""
        moves = cls.record.moves
        if isinstance(moves, ByStage):
            raise NotImplementedError(f"{cls.__name__} has its moves by stage and has to say them itself")
        return dict.fromkeys(cls.kinds, moves)

    def may_make(self) -> frozenset[str]:
        """The kinds of transfer that this very entry may make."""
        return self.moves_of_kinds()[self.kind]

    def signers(self, by: str) -> tuple[Signatory, ...]:
        """The people whom it names as its signers, the author first; empty where it does not name its author. ``by``:
        the author, as the heading of the entry names them."""
        return ()

    def signed_terms(self) -> Mapping[str, Any] | None:
        """What whoever wrote it signed by badge and PIN, for the terminal to sign too; None where nobody signs."""
        return None

    def formerly_signed_terms(self) -> Mapping[str, Any] | None:
        """The same as an earlier release had terminals sign it; None where it was never otherwise."""
        return None

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        """The standing after it. Raises ValueError where it cannot follow."""
        return standing

    def moved(self, context: Context) -> Sequence[Move] | None:
        """What it has to have moved; None where the log alone cannot tell. Raises Misconduct."""
        return None

    def bear_out(self, context: Context) -> None:
        """What else it says has to hold, once the chips that it moved do. Raises Misconduct."""

    def description(self) -> Description:
        """What it says for people, as one clause."""
        raise NotImplementedError


class Author(Event, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody wrote under their own name, with the role that they had."""

    username: str
    name: str
    badge: str | None
    role: str

    @property
    def signatory(self) -> Signatory:
        """The author, as a person who signs."""
        return Signatory(self.username, self.name, self.badge, self.role)

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return (self.signatory,)


class UnbadgedAuthor:
    """Mixin of entries that name their author without a badge number."""

    __slots__ = ()
    username: str
    name: str
    role: str

    def signers(self, by: str) -> tuple[Signatory, ...]:
        """Its signers, the author first, with the badge number of the heading."""
        return (with_badge_from(by, self.username, self.name, self.role),)


def refuse_signers(event: Event, by: str, dealer: Dealer | None) -> None:
    """Compare an entry with the people whom it names as its signers: its author wrote it, and no person signed twice.
    ``dealer``: the dealer at the table before it. Raises AuditFailure."""
    signers = event.signers(by)
    if signers:
        refuse_other_author(signers[0], by, dealer)
    if fault := pair_fault(signers):
        raise AuditFailure(fault)


def refuse_other_author(signer: Signatory, by: str, dealer: Dealer | None = None) -> None:
    """Raises AuditFailure where the author of an entry is not the person that it names."""
    is_dealer = dealer is not None and dealer.username == signer.username
    if fault := author_fault(signer, by, at_the_table=dealer.signature if dealer and is_dealer else None):
        raise AuditFailure(fault)
