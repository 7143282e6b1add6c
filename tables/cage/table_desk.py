"""Slips at a table: the table's log as a desk, and the opening and closing of a table by its counts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from ledger import cage
from ledger.models import Account, LogEntry
from ledger.proof.chain import Entry
from ledger.proof.chips import RACK
from ledger.proof.moves import Chart
from tables.cage import slip_signatures
from tables.floor import permissions, table_opening
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import enters, reproduces
from tables.floor.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log.catalog import read_as
from tables.log.entries.slips import SlipSigned
from tables.log.game_kinds import kind_of
from tables.log.slip_types import SLIPS, VOID_ASKED, VOIDED, Stage
from tables.log.slip_workflow import Slip
from tables.models import Staff
from tables.refusals import Refused

_ABOUT_BOXES: Final = [kind for series in SLIPS.values() if series.is_boxed for kind, _, _ in series.kinds()]


@dataclass(frozen=True, slots=True)
class TableDesk(slip_signatures.Desk):
    """A table's log as a desk, with the state in its command context."""

    scene: CommandContext

    in_house: ClassVar[bool] = False
    of: ClassVar[str] = "a table"
    most_of_one: ClassVar[int] = 100_000
    no_such_chip: ClassVar[str] = "There is nothing worth {} to be counted here."

    @property
    def by(self) -> Staff:
        assert isinstance(self.scene.by, Staff)  # noqa: S101 -- record() lets nobody else sign
        return self.scene.by

    @property
    def is_by_count(self) -> bool:
        return kind_of(self.scene.game).is_by_count

    @property
    def where(self) -> str:
        return self.scene.table.name

    @property
    def book_id(self) -> int:
        return self.scene.table.book_id

    @property
    def next_seq(self) -> int:
        return self.scene.next_seq

    @property
    def chart(self) -> Chart:
        return self.scene.chart

    @property
    def in_progress(self) -> tuple[Slip, ...]:
        return self.scene.standing.slips

    @property
    def dealer(self) -> str | None:
        dealer = self.scene.standing.dealer
        return dealer.username if dealer else None

    def chips(self) -> Collection[int]:
        return tuple(self.scene.table.denominations.values_list("value_cents", flat=True))

    def expected_cents(self, place: str) -> int:
        return cage.balance(Account.objects.get(book_id=self.book_id, place=place))

    def permit(self, slip: Slip) -> None:
        table_opening.may_count(self.scene, slip)
        # A locked table gives and takes no chips, but its rack may be counted: that is how a locked table is closed.
        if self.scene.standing.lock is not None and _opens_the_rack(slip):
            permissions.not_locked(self.scene)
        if slip.series.gives_out and self.scene.table.retired_at and not slip.is_to_be_void:
            raise Refused("table_retired", f"{self.where} is retired: it gets no chips any more.", 409)

    def through(self, stage: Stage) -> None:
        return None

    @property
    def has_signer_of_the_shift(self) -> bool:
        """Whether the signer wrote an entry at this table since it was opened. A shift ends with a closing inventory.

        Signatures on drop boxes do not count as work at the table.
        """
        entries = LogEntry.objects.filter(book_id=self.book_id)
        doors_opened = entries.filter(subject="table", kind="opened").order_by("-seq")
        opened = doors_opened.values_list("seq", flat=True).first() or 0
        theirs = entries.filter(seq__gt=opened, by=self.by.signature)
        return theirs.exclude(subject="slip", kind__in=_ABOUT_BOXES).exists()

    def follows(self, slip: Slip) -> list[PendingEntry]:
        return table_opening.follows(self.scene, slip)


def _opens_the_rack(slip: Slip) -> bool:
    """Whether the latest step, or the steps due after it, bring chips into the rack or out of it.

    Counts of the rack do not, because a locked table is closed by them. A void requested earlier may be completed.
    """
    series, latest = slip.series, slip.stages[-1]
    if len(slip.signed) == 1:
        return series.opens_rack
    if series.counts(RACK) or latest == VOIDED:
        return False
    steps = slip.stages if latest == VOID_ASKED else (latest,)
    flows = [stage.moves for stage in series.stages if stage.moves and stage.name in steps]
    return any(RACK in (flow.source, flow.target) for flow in flows)


@enters(BeginSlip, SignSlip, VoidSlip, permit=permissions.anybody_here)
def enter(scene: CommandContext, entered: BeginSlip | SignSlip | VoidSlip) -> Decision:
    """A signature on a slip of a table. Raises Refused."""
    return slip_signatures.ENTERED[type(entered)](TableDesk(scene), entered)


@reproduces(SlipSigned)
def enact_signature(scene: CommandContext, event: SlipSigned, entry: Entry) -> PendingEntry:
    """Replays a signature of the person named in its entry. Raises Refused as the desk does when signing."""
    author = Staff(username=event.username, name=event.name, badge=event.badge, role=event.role)
    return slip_signatures.entry(TableDesk(replace(scene, by=author)), event.signature)[0]


def name_at(book_id: int, seq: int) -> str:
    """The name of the slip that an entry signs."""
    body = LogEntry.objects.values_list("body", flat=True).get(book_id=book_id, seq=seq)
    return read_as(SlipSigned, body).slip
