"""Corrections: each entry carries the correction whole, and all that wait for a second signature at the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ledger.proof.moves import Move
from tables.log import slip_workflow
from tables.log.corrections import Correction
from tables.log.event import AuditFailure, Author, Context
from tables.log.exception_categories import CORRECTIONS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, Money, from_fields
from tables.log.published import disputes as forms
from tables.log.settlement import correction_moves
from tables.log.signatory import Signatory
from tables.log.slip_types import CORRECTION
from tables.log.slip_workflow import Wrong
from tables.log.state import TableState
from tables.log.writers import CORRECTION_PROPOSER, SECOND_SUPERVISOR


class AboutCorrection(Author, frozen=True, kw_only=True, omit_defaults=True):
    """A signature on a correction, or that it was not given."""

    subject: ClassVar[str] = "correction"

    correction: Correction
    open: tuple[Correction, ...]

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return self.signatory, self.correction.proposer

    def moved(self, context: Context) -> Sequence[Move]:
        return ()

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, corrections=self.open)

    def bear_out(self, context: Context) -> None:
        """The correction waited, or is proposed by its author; the signer has the role of the step, and signed no
        earlier step, as on each slip."""
        waiting, correction = context.before.corrections, self.correction
        others = tuple(other for other in waiting if other.slip != correction.slip)
        slip, is_first = correction.as_slip, isinstance(self, CorrectionProposed)
        if is_first:
            fits, after = (
                self.signatory.is_same_person(correction.proposer) and others == waiting,
                (*others, correction),
            )
            slip = replace(slip, signed=())
        else:
            fits, after = correction in waiting, others
        if not fits or self.open != after:
            raise AuditFailure(f"the correction {correction.slip} could not be {self.kind} then by {self.username}")
        try:
            slip_workflow.refuse_signer(slip, CORRECTION.stages[len(slip.signed)], self.signatory)
        except Wrong as wrong:
            raise AuditFailure(f"it could not be signed then: {wrong.sentence}") from None

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
        return self.correction.terms(self.kind)

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
        return self.correction.terms(self.kind, self.text)

    description = from_fields("{correction.slip}: {exchange} for round {correction.round}, declined: {text}")
