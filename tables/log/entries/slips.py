"""A signature on a slip: of a table, or of the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Final

import msgspec
from msgspec import structs

from ledger.proof.moves import Move
from tables.log import attestation, slip_workflow
from tables.log.event import AuditFailure, Author, Context
from tables.log.kind_record import BY_STAGE, KindRecord
from tables.log.message import Label, Message, Money, Parameter, joined
from tables.log.published import slips as forms
from tables.log.slip_types import SLIPS, Chips, SlipType, kinds
from tables.log.slip_workflow import APART, GivenSignature, QuestionedNote, Signature, Slip, Wrong
from tables.log.state import TableState
from tables.log.writers import SLIP_SIGNERS


class SpelledSlip(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A slip as entries spell it. What came later has a default, which is not spelled."""

    series: str
    year: int
    number: int
    chips: Chips
    signed: tuple[GivenSignature, ...]
    counts: tuple[Chips, ...]
    expected_cents: int
    box: str
    reason: str
    noted: Chips = ()
    facts: dict[str, str] = {}
    apart: tuple[QuestionedNote, ...] = ()
    tells_win: bool = False

    @classmethod
    def of(cls, slip: Slip) -> SpelledSlip:
        """As a slip is spelled."""
        return cls(
            series=slip.series.name,
            year=slip.year,
            number=slip.number,
            chips=slip.chips,
            signed=slip.signed,
            counts=slip.counts,
            expected_cents=slip.expected_cents,
            box=slip.box,
            reason=slip.reason,
            noted=slip.noted,
            facts=dict(slip.facts),
            apart=slip.apart,
            tells_win=slip.tells_win,
        )

    def read(self, records: Mapping[str, SlipType] = SLIPS) -> Slip:
        """The slip, with the record of its series. Raises KeyError for one that the house does not have."""
        fields = msgspec.structs.asdict(self)
        return Slip(**fields | {"series": records[self.series]})


_ADDED: Final = tuple(name for name in Signature.__struct_fields__ if name not in ("by", "finished"))
"""The fields of a signature that an entry stores as they are."""


class SlipSigned(Author, frozen=True, kw_only=True, omit_defaults=True, dict=True):
    """One step of a slip was signed: the signature, the slip after it, and all slips that are in progress then."""

    subject: ClassVar[str] = "slip"
    kinds: ClassVar[tuple[str, ...]] = tuple(kinds(house=False))
    record = KindRecord(
        writer=SLIP_SIGNERS, moves=BY_STAGE, exception=BY_STAGE, feed=(forms.SlipStepSigned,), alert=BY_STAGE
    )

    slip: str
    """Its series, year and number."""
    stage: str
    chips: Chips
    expected_cents: int
    box: str
    reason: str
    salt: str
    """With a count: everyone may see the entry's hash, and there are few counts to try it with."""
    finished: SpelledSlip | None
    """The slip, where it was complete before a void was asked for."""
    now: SpelledSlip
    open: tuple[SpelledSlip, ...]
    through: dict[str, int] | None = None
    """With a count of what all books share: how far each table's book was read for it."""
    noted: Chips = ()
    """What a count is held against by pieces."""
    facts: dict[str, str] = {}
    """What else the step says: a receipt's number, a reason, a key."""
    apart: tuple[QuestionedNote, ...] = ()
    """With a count of cash: the notes that it counts as worth nothing."""

    @property
    def kind(self) -> str:
        return slip_workflow.entry_kind(self.after)

    @cached_property
    def after(self) -> Slip:
        """The slip with this signature on it."""
        return self.now.read()

    @cached_property
    def waiting(self) -> tuple[Slip, ...]:
        """All slips of the book that are in progress then."""
        return tuple(slip.read() for slip in self.open)

    @property
    def signature(self) -> Signature:
        """The signature alone."""
        fields = {name: getattr(self, name) for name in _ADDED}
        finished = self.finished.read() if self.finished else None
        return Signature(**fields, by=self.signatory, finished=finished)

    def signed_terms(self) -> Mapping[str, Any]:
        """The slip by its name, or by its series alone if this signature begins it and the number is not assigned
        yet."""
        if not self._puts_apart:
            return self._terms()
        apart = [[note.kind, note.claimed_cents, note.envelope] for note in self.apart]
        return {**self._terms(), "format": attestation.CASH_COUNT, "apart": apart}

    def formerly_signed_terms(self) -> Mapping[str, Any] | None:
        """Counts of cash were signed without the notes that they put apart."""
        return self._terms() if self._puts_apart else None

    @property
    def _puts_apart(self) -> bool:
        stage = self.after.latest
        return stage is not None and stage.is_count and bool(self.after.series.cash)

    def _terms(self) -> dict[str, Any]:
        is_first = len(self.now.signed) == 1
        stage = self.after.latest
        beside = stage.typed(self.facts) if stage else None
        noted = {"noted": self.noted} if is_first and self.after.series.begins_with_note else {}
        return {
            "format": attestation.SLIP,
            "slip": self.now.series if is_first else self.slip,
            "stage": self.stage,
            "chips": self.chips,
            "box": self.box,
            "reason": self.reason,
            **noted,
            **({} if beside is None else {"facts": beside}),
        }

    @classmethod
    def moves_of_kinds(cls) -> Mapping[str, frozenset[str]]:
        return kinds(house=cls.of_the_house)

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        counted = self.after if self.after.series.table_effect and self.after.agreed is not None else None
        return replace(standing, slips=self.waiting, counted=counted)

    def moved(self, context: Context) -> Sequence[Move] | None:
        """What the signature moves; the slip is what it was before with this signature on it, and the others stay."""
        before = context.before
        try:
            after = slip_workflow.sign(
                before.slips,
                self.signature,
                context.seq,
                before.dealer.username if before.dealer else None,
                by_count=self.now.tells_win,
            )
        except Wrong as wrong:
            raise AuditFailure(f"it could not be signed then: {wrong.sentence}") from None
        if (after, slip_workflow.in_progress(before.slips, after)) != (self.after, self.waiting):
            raise AuditFailure("its slips are others than the signatures make them")
        self._refuse_expected(after, context)
        return None if after.is_void else slip_workflow.moves(context.chart, after)

    def _refuse_expected(self, after: Slip, context: Context) -> None:
        """A count is held against what lies there. What all books share, no book tells alone."""
        stage = after.latest
        if context.held is None or stage is None or not stage.expects or after.series.in_house:
            return
        due = context.held.get(stage.expects, 0)
        if due != after.expected_cents:
            raise AuditFailure(f"it expects {after.expected_cents}, the transfers left {due}")

    def description(self) -> Message:
        """A blind count is not shown before two counts agree."""
        slip, stage = self.after, self.after.series.stage(self.stage)
        signed: dict[str, Parameter] = {
            "slip": Message("{series} {number}", series=Label(slip.series.label), number=slip.number),
            "step": Label(stage.title, is_lower=True) if stage else self.stage,
            "name": self.name,
        }
        if slip.total_cents:
            signature = Message("{slip}: {step} {name}, {amount}", **signed, amount=Money(slip.total_cents))
        else:
            signature = Message("{slip}: {step} {name}", **signed)
        remarks: list[Parameter] = [slip.reason] if slip.reason else []
        remarks += self.facts.values()
        remarks += [] if slip.agreed is None else map(_put_apart, slip.apart_agreed)
        if not remarks:
            return signature
        return Message("{signature} ({remarks})", signature=signature, remarks=joined(remarks))


class HouseSlipSigned(SlipSigned, frozen=True, kw_only=True, omit_defaults=True, dict=True):
    """One step of a slip of the house was signed: of the vault, the cage, their cash, or a key."""

    kinds: ClassVar[tuple[str, ...]] = tuple(kinds(house=True))
    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=SLIP_SIGNERS, moves=BY_STAGE, exception=BY_STAGE, feed=(forms.SlipStepSigned,), alert=BY_STAGE
    )


def _put_apart(note: QuestionedNote) -> Message:
    return Message(
        "put apart: {amount} {reason}, envelope {envelope}",
        amount=Money(note.claimed_cents),
        reason=Label(APART[note.kind]),
        envelope=note.envelope,
    )


def signed(signature: Signature, after: Slip, slips: Sequence[Slip], through: Mapping[str, int] | None) -> SlipSigned:
    """What the entry of a signature says: the signature, the slip after it, and all slips that are in progress then."""
    event = HouseSlipSigned if after.series.in_house else SlipSigned
    fields = {name: getattr(signature, name) for name in _ADDED}
    return event(
        **structs.asdict(signature.by),
        **fields,
        finished=SpelledSlip.of(signature.finished) if signature.finished else None,
        now=SpelledSlip.of(after),
        open=tuple(SpelledSlip.of(slip) for slip in slip_workflow.in_progress(slips, after)),
        through=dict(through) if through is not None else None,
    )
