"""Disputes: each entry carries the dispute whole, and all that are open at the table."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, Final

import msgspec
from msgspec import UNSET, UnsetType

from tables.log.event import Author
from tables.log.exception_categories import DISPUTES, ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, Timestamp, from_fields, joined, text_of
from tables.log.published import disputes as forms
from tables.log.writers import DISPUTE_HEARER, DISPUTE_RULER

OPENED, RULED, CLOSED = "opened", "ruled", "closed"
"""Where a dispute stands."""

RULINGS: Final[Mapping[str, str]] = {
    "stands": "The result stands",
    "player": "For the player",
    "house": "For the house",
    "void": "The round is void: every bet goes back",
}
"""What may be ruled, and how it is called."""


class Dispute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dispute, as its newest entry says it."""

    number: int
    round: int
    seat: int
    """The seat it is about; 0 for the whole round."""
    claim: str
    claimant: str
    """Whose claim it is: the player at the seat, as they were called."""
    claim_cents: int
    """How much is at stake."""
    reportable_from_cents: int
    """From how much on the house reported a dispute when it was opened."""
    opened_by: str
    first_seq: int
    last_seq: int
    """The entries of the round when the dispute was opened."""
    last_hash: str
    """The hash of the last of them, which names everything before it."""
    record_hash: str | None
    """The SHA-256 of the round's record then; None while facedown cards had to be kept."""
    state: str = OPENED
    notes: int = 0
    ruling: str | None = None
    reason: str | None = None
    ruled_by: str | None = None
    happened: str | UnsetType = UNSET
    """When it was, at a table without rounds; a dispute about a round has none."""

    @property
    def reportable(self) -> bool:
        """Whether the regulator is to hear of it."""
        return self.claim_cents >= self.reportable_from_cents

    @property
    def moment(self) -> datetime | None:
        """When it was, at a table without rounds."""
        return datetime.fromisoformat(self.happened) if self.happened else None

    @property
    def place(self) -> Message:
        """The round, or the moment, and the seat."""
        if self.moment:
            place = Message("what happened at {moment}", moment=Timestamp(self.moment, "%H:%M on %-d %b %Y"))
        else:
            place = Message("round {round}", round=self.round)
        return Message("{place}, seat {seat}", place=place, seat=self.seat) if self.seat else place

    @property
    def about(self) -> str:
        """The text of its place."""
        return text_of(self.place)

    @property
    def ruled(self) -> str:
        """The ruling, in words."""
        return RULINGS.get(self.ruling or "", "")


class AboutDispute(Author, frozen=True, kw_only=True, omit_defaults=True):
    """An entry about a dispute, by a floor supervisor."""

    subject: ClassVar[str] = "dispute"

    dispute: Dispute
    open: tuple[Dispute, ...]
    """All that are open at the table after it, by their numbers."""
    last: int
    """The number of the table's last dispute."""


class DisputeOpened(AboutDispute, frozen=True, kw_only=True, omit_defaults=True):
    """A player disputes a round."""

    kinds: ClassVar[tuple[str, ...]] = (OPENED,)
    record = KindRecord(
        writer=DISPUTE_HEARER, moves=NOTHING, exception=DISPUTES, feed=(forms.DisputeMoved,), alert=("opened",)
    )

    description = from_fields(
        "Dispute {dispute.number} about {dispute.place} is opened: {dispute.claimant} claims: {dispute.claim}"
    )


class DisputeNoted(AboutDispute, frozen=True, kw_only=True, omit_defaults=True):
    """A statement or a review of evidence in a dispute."""

    kinds: ClassVar[tuple[str, ...]] = ("noted",)
    record = KindRecord(
        writer=DISPUTE_HEARER, moves=NOTHING, exception=ORDINARY, feed=(forms.DisputeMoved,), alert=NO_ALERT
    )

    heard: str
    text: str

    description = from_fields("Dispute {dispute.number}, {heard}: {text}")


class DisputeRuled(AboutDispute, frozen=True, kw_only=True, omit_defaults=True):
    """A dispute was decided."""

    kinds: ClassVar[tuple[str, ...]] = (RULED,)
    record = KindRecord(
        writer=DISPUTE_RULER, moves=NOTHING, exception=DISPUTES, feed=(forms.DisputeMoved,), alert=NO_ALERT
    )

    def description(self) -> Message:
        rulings = {
            "stands": Message("the result stands"),
            "player": Message("for the player"),
            "house": Message("for the house"),
        }
        return Message(
            "Dispute {number} is ruled: {ruling}. {reason}",
            number=self.dispute.number,
            ruling=rulings.get(self.dispute.ruling or "", Message("the round is void")),
            reason=str(self.dispute.reason),
        )


class DisputeClosed(AboutDispute, frozen=True, kw_only=True, omit_defaults=True):
    """What was ruled is done."""

    kinds: ClassVar[tuple[str, ...]] = (CLOSED,)
    record = KindRecord(
        writer=DISPUTE_RULER, moves=NOTHING, exception=ORDINARY, feed=(forms.DisputeMoved,), alert=NO_ALERT
    )

    text: str
    corrections: tuple[str, ...]
    """The slips of the corrections that were signed for it."""

    def description(self) -> Message:
        number, settled = self.dispute.number, [*self.corrections, *([self.text] if self.text else [])]
        if not settled:
            return Message("Dispute {number} is closed", number=number)
        return Message("Dispute {number} is closed: {settled}", number=number, settled=joined(settled, "; "))
