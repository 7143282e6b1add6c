"""A signature on a slip: of a table, or of the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from ledger.proof.chips import DROP_BOX, RACK, money
from ledger.proof.moves import Move
from tables.log import paper
from tables.log.event import Author, Context, Misconduct
from tables.log.fold import Standing
from tables.log.paper import Slip, Wrong


class SlipSigned(Author, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a slip was signed: the signature, the slip after it, and all slips that are in progress then."""

    subject: ClassVar[str] = "slip"
    kinds: ClassVar[tuple[str, ...]] = tuple(paper.kinds(house=False))

    slip: str
    """Its series, year and number."""
    stage: str
    chips: tuple[tuple[int, int], ...]
    expected_cents: int
    box: str
    reason: str
    salt: str
    """With a count: everyone may see the entry's hash, and there are few counts to try it with."""
    finished: Slip | None
    """The slip, where it was complete before a void was asked for."""
    now: Slip
    open: tuple[Slip, ...]
    through: dict[str, int] | None = None
    """With the second count of the cage: how far each table's book was read for it."""

    @property
    def kind(self) -> str:
        return f"{self.now.series}_{paper.kind_of(self.stage)}"

    @classmethod
    def moves_of_kinds(cls) -> Mapping[str, frozenset[str]]:
        return paper.kinds(house=cls.of_the_house)

    def folded(self, standing: Standing, seq: int, round: int | None) -> Standing:
        done = self.now if self.now.series in ("opener", "closer") and self.now.agreed is not None else None
        return replace(standing, slips=self.open, counted=done)

    def moved(self, context: Context) -> Sequence[Move] | None:
        """What the signature moves; the slip is what it was before with this signature on it, and the others stay."""
        before = context.before
        try:
            after = paper.sign(before.slips, self.said, context.seq, before.dealer.username if before.dealer else None)
        except Wrong as wrong:
            raise Misconduct(f"it could not be signed then: {wrong.sentence}") from None
        if (after, paper.in_progress(before.slips, after)) != (self.now, self.open):
            raise Misconduct("its slips are others than the signatures make them")
        self._refuse_expected(after, context)
        return None if self.stage == "voided" else paper.moves(context.chart, after)

    def _refuse_expected(self, after: Slip, context: Context) -> None:
        if context.held is None or not paper.expects(after.series, self.stage) or after.series in paper.IN_THE_HOUSE:
            return
        due = context.held.get(DROP_BOX if after.series == "drop" else RACK, 0)
        if due != after.expected_cents:
            raise Misconduct(f"it expects {after.expected_cents}, the transfers left {due}")

    @property
    def said(self) -> paper.Said:
        """The signature alone."""
        return paper.Said(
            slip=self.slip,
            stage=self.stage,
            username=self.username,
            name=self.name,
            badge=self.badge,
            role=self.role,
            chips=self.chips,
            expected_cents=self.expected_cents,
            box=self.box,
            reason=self.reason,
            salt=self.salt,
            finished=self.finished.spelled() if self.finished else None,
        )

    def words(self) -> str:
        """What was counted unseen is not told before two counts agree."""
        slip = self.now
        name = f"{slip.series.capitalize()} {slip.number}"
        says = {stage.name: stage.says for stage in (*paper.STAGES[slip.series], *paper.VOID)}
        clause = f"{name}: {says[paper.kind_of(self.stage)].lower()} {self.name}"
        amount = f", {money(slip.total_cents)}" if slip.total_cents else ""
        return f"{clause}{amount}{f' ({slip.reason})' if slip.reason else ''}"


class HouseSlipSigned(SlipSigned, frozen=True, kw_only=True, omit_defaults=True):
    """The same, of a slip between the vault and the cage, or of what the cage holds."""

    kinds: ClassVar[tuple[str, ...]] = tuple(paper.kinds(house=True))
    of_the_house: ClassVar[bool] = True
