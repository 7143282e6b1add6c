"""Corrections: each entry carries the correction whole, and all that wait for a second signature at the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import msgspec

from ledger.proof.moves import Move
from ledger.proof.slip_name import SlipName
from tables.log import attestation, slip_workflow
from tables.log.event import AuditFailure, Author, Context
from tables.log.exception_categories import CORRECTIONS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, Money, from_fields
from tables.log.published import disputes as forms
from tables.log.settlement import correction_moves
from tables.log.signatory import Signatory, with_badge_from
from tables.log.slip_types import CORRECTION
from tables.log.slip_workflow import GivenSignature, Slip, Wrong
from tables.log.writers import CORRECTION_PROPOSER, SECOND_SUPERVISOR


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mispay of a seat that is put right by a slip of two signatures.

    Amounts are what the player won, or lost below zero, in cents.
    """

    slip: str
    """Its series, year and number."""
    round: int
    seat: int
    recorded_cents: int
    """What the player won by the log: what the engine decided."""
    due_cents: int
    """What the player should have got; another amount than recorded only by a ruling."""
    handed_cents: int
    """What the player has got by now, all in all."""
    believed_cents: int
    """What the ledger took for handed over: what was recorded, or what an earlier correction made of it."""
    reason: str
    dispute: int | None
    earlier: str | None
    """The correction of the same round and seat that came before."""
    proposed_by: str
    """The user name of who proposed it: somebody else signs."""
    proposed_as: str
    """How the log names them."""

    @property
    def proposer(self) -> Signatory:
        """The person who proposed it."""
        name = self.proposed_as.partition(" ")[2]
        return with_badge_from(self.proposed_as, self.proposed_by, name)

    @property
    def as_slip(self) -> Slip:
        """The slip with the signature of the proposer, who was a pit boss: its entry does not repeat the role."""
        name, [first, _] = SlipName.parse(self.slip), CORRECTION.stages
        by = GivenSignature(first.name, self.proposed_by, self.proposer.name, "pit_boss", 0)
        return Slip(CORRECTION, name.year, name.number, signed=(by,))

    @property
    def difference_cents(self) -> int:
        """What changes hands now: above zero the house pays, below it takes."""
        return self.due_cents - self.handed_cents

    @property
    def off_cents(self) -> int:
        """What the mispay left in the rack beyond what the ledger said; below zero what was missing."""
        return self.believed_cents - self.handed_cents


class AboutCorrection(Author, frozen=True, kw_only=True, omit_defaults=True):
    """A signature on a correction, or that it was not given."""

    subject: ClassVar[str] = "correction"

    correction: Correction
    open: tuple[Correction, ...]

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return self.signatory, self.correction.proposer

    def moved(self, context: Context) -> Sequence[Move]:
        return ()

    def bear_out(self, context: Context) -> None:
        """The signer has the role of the step, and signed no earlier step, as on each slip."""
        slip = self.correction.as_slip
        if isinstance(self, CorrectionProposed):
            slip = replace(slip, signed=())
        step = CORRECTION.stages[len(slip.signed)]
        try:
            slip_workflow.refuse_signer(slip, step, self.signatory)
        except Wrong as wrong:
            raise AuditFailure(f"it could not be signed then: {wrong.sentence}") from None

    def terms(self, reason: str = "") -> Mapping[str, Any]:
        """What somebody signs or declines: the chips that change hands, for which seat of which round."""
        correction = self.correction
        return {
            "format": attestation.CORRECTION,
            "slip": correction.slip,
            "stage": self.kind,
            "round": correction.round,
            "seat": correction.seat,
            "cents": correction.difference_cents,
            "reason": reason,
        }

    @property
    def exchange(self) -> Message:
        """The chips that change hands."""
        seat, cents = self.correction.seat, self.correction.difference_cents
        if cents > 0:
            return Message("pay seat {seat} {amount}", seat=seat, amount=Money(cents))
        return Message("take {amount} from seat {seat}", seat=seat, amount=Money(-cents))


class CorrectionProposed(AboutCorrection, frozen=True, kw_only=True, omit_defaults=True):
    """A pit boss said what was handed over, and what is to change hands."""

    kinds: ClassVar[tuple[str, ...]] = ("proposed",)
    record = KindRecord(
        writer=CORRECTION_PROPOSER, moves=NOTHING, exception=CORRECTIONS, feed=(forms.CorrectionMoved,), alert=NO_ALERT
    )

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return (self.signatory,)

    description = from_fields(
        "{correction.slip}: {exchange} for round {correction.round}, proposed: {correction.reason}"
    )


class CorrectionSigned(AboutCorrection, frozen=True, kw_only=True, omit_defaults=True):
    """The second signature: the chips changed hands."""

    kinds: ClassVar[tuple[str, ...]] = ("signed",)
    record = KindRecord(
        writer=SECOND_SUPERVISOR,
        moves=frozenset({"correct_pay", "correct_take", "over", "short"}),
        exception=CORRECTIONS,
        feed=(forms.CorrectionMoved,),
        alert=("corrections_streak",),
    )

    counted: bool
    """Whether the rack was counted since the mispay: the count has then taken over what it left there."""
    off_cents: int
    difference_cents: int

    def signed_terms(self) -> Mapping[str, Any]:
        return self.terms()

    def moved(self, context: Context) -> Sequence[Move]:
        off = 0 if self.counted else self.correction.off_cents
        return correction_moves(context.chart, self.correction.difference_cents, off)

    description = from_fields("{correction.slip}: {exchange} for round {correction.round}, signed by {name}")


class CorrectionDeclined(AboutCorrection, frozen=True, kw_only=True, omit_defaults=True):
    """It was not signed; its number stays, and no chips moved."""

    kinds: ClassVar[tuple[str, ...]] = ("declined",)
    record = KindRecord(
        writer=SECOND_SUPERVISOR, moves=NOTHING, exception=CORRECTIONS, feed=(forms.CorrectionMoved,), alert=NO_ALERT
    )

    text: str

    def signed_terms(self) -> Mapping[str, Any]:
        return self.terms(self.text)

    description = from_fields("{correction.slip}: {exchange} for round {correction.round}, declined: {text}")
