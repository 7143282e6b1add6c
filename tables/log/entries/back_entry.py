"""Back-entry in a book: begun and ended by two people, what was entered from paper, and who compared it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from tables.log import back_entry
from tables.log.back_entry import ROUNDS, Mode
from tables.log.event import AuditFailure, Author, Context
from tables.log.exception_categories import FROM_PAPER
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Label, from_fields, timestamp
from tables.log.published.form import BACK_ENTRY
from tables.log.signatory import Signatory
from tables.log.slip_workflow import Wrong
from tables.log.state import HOUSE_SHOE, TableState
from tables.log.writers import FOLLOWS, PAPER_READERS, THE_DEALER, TWO_ROLES

SUBJECT = "outage"


class AboutBackEntry(Author, frozen=True, kw_only=True, omit_defaults=True):
    """An entry about back-entry; it has the whole of it as it stands afterwards."""

    subject: ClassVar[str] = SUBJECT
    kinds: ClassVar[tuple[str, ...]] = ()

    mode: Mode | None = None
    """None once it has ended."""

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, back_entry=self.mode)

    def bear_out(self, context: Context) -> None:
        """What it leads to is what the book was before, with this."""
        try:
            due = self.due(context)
        except Wrong as wrong:
            raise AuditFailure(f"it could not be entered then: {wrong.sentence}") from None
        if due != self.mode:
            raise AuditFailure("back-entry stands otherwise after it than it says")

    def due(self, context: Context) -> Mode | None:
        """The mode that it has to lead to. Raises Wrong."""
        raise NotImplementedError


class BackEntryBegun(AboutBackEntry, frozen=True, kw_only=True, omit_defaults=True):
    """Two people let what happened during an outage be entered from paper."""

    kinds: ClassVar[tuple[str, ...]] = ("back_entry_begun",)
    record = KindRecord(
        writer=TWO_ROLES, moves=NOTHING, exception=FROM_PAPER, feed=BACK_ENTRY, alert=("back_entry_begun",)
    )

    reason: str
    """Of `back_entry.REASONS`."""
    since: str
    until: str
    note: str
    second: Signatory

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return self.signatory, self.second

    def due(self, context: Context) -> Mode:
        back_entry.refuse_pair(self.signatory, self.second)
        span = self.since, self.until
        return back_entry.begun(context.before.back_entry, context.seq, span, self.reason, context.moment)

    description = from_fields(
        "back-entry begins ({reason}, {since} UTC to {until} UTC): {note}; with {second.name}",
        reason=lambda reason: Label(back_entry.REASONS.get(reason, reason), is_lower=True),
        since=timestamp,
        until=timestamp,
    )


class BackEntryEnded(AboutBackEntry, frozen=True, kw_only=True, omit_defaults=True):
    """Two people stand for it that all of the papers were entered."""

    kinds: ClassVar[tuple[str, ...]] = ("back_entry_ended",)
    record = KindRecord(
        writer=TWO_ROLES, moves=NOTHING, exception=FROM_PAPER, feed=BACK_ENTRY, alert=("back_entry_ended",)
    )

    second: Signatory

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return self.signatory, self.second

    def due(self, context: Context) -> None:
        back_entry.refuse_pair(self.signatory, self.second)
        back_entry.refuse_end(context.before.back_entry)

    description = from_fields("back-entry ends; with {second.name}")


class EnteredFromPaper(AboutBackEntry, frozen=True, kw_only=True, omit_defaults=True):
    """The entry that it names was entered from paper."""

    kinds: ClassVar[tuple[str, ...]] = ("entered_from_paper",)
    record = KindRecord(writer=FOLLOWS, moves=NOTHING, exception=FROM_PAPER, feed=BACK_ENTRY, alert=NO_ALERT)

    of: int
    """The sequence number of an entry of the same input."""
    number: str
    about: str
    happened: str

    def due(self, context: Context) -> Mode:
        before = context.before
        after = back_entry.entered(before.back_entry, self.number, self.about, self.happened, self.username)
        if not after.begun < self.of < context.seq or self.about == ROUNDS:
            raise Wrong("unknown_entry", f"entry {self.of} was not entered with it")
        return after

    description = from_fields("entry {of} ({about}) is from paper no. {number}, of {happened} UTC", happened=timestamp)


class RoundFromPaper(AboutBackEntry, frozen=True, kw_only=True, omit_defaults=True):
    """The round that is dealt next was played by hand; or the one that was open at the outage was finished so."""

    kinds: ClassVar[tuple[str, ...]] = ("round_from_paper",)
    record = KindRecord(writer=THE_DEALER, moves=NOTHING, exception=FROM_PAPER, feed=BACK_ENTRY, alert=NO_ALERT)

    dealt_as: int
    """The round. The heading does not name it: it may never be dealt."""
    number: str
    happened: str

    def due(self, context: Context) -> Mode:
        standing = context.before
        refuse_round(standing)
        if not standing.is_dealt_by(self.username):
            raise Wrong("not_your_table", "The dealer who is signed in here announces a round.")
        if self.dealt_as != standing.next_number:
            raise Wrong("other_round", f"Round {standing.next_number} is the next one here.")
        return round_after(standing, self.number, self.happened, self.username)

    description = from_fields("round {dealt_as} is from paper no. {number}, of {happened} UTC", happened=timestamp)


class PaperCompared(AboutBackEntry, frozen=True, kw_only=True, omit_defaults=True):
    """A second person compared what was entered with its paper."""

    kinds: ClassVar[tuple[str, ...]] = ("paper_compared",)
    record = KindRecord(writer=PAPER_READERS, moves=NOTHING, exception=FROM_PAPER, feed=BACK_ENTRY, alert=NO_ALERT)

    number: str

    def due(self, context: Context) -> Mode:
        standing = context.before
        return compared_after(standing, self.number, self.signatory)

    description = from_fields("what was entered from paper no. {number} is compared with it")


def refuse_round(standing: TableState) -> None:
    """Raises Wrong where no round can be announced from paper."""
    if not standing.is_open:
        raise Wrong("table_closed", "The table is closed: what was dealt by hand is in the count that closed it.")
    if standing.round_open and standing.round is not None and standing.round.over:
        raise Wrong("pay_first", "The seats of the round before are paid first.")
    if standing.shoe is not None and standing.shoe.source == HOUSE_SHOE:
        sentence = (
            "This table has a house shoe: cards that it would draw now are not those that were dealt by hand. Count the"
            " rack instead; what it is over or short is a discrepancy, and the papers belong to its file."
        )
        raise Wrong("house_shoe", sentence)


def round_after(standing: TableState, number: str, happened: str, by: str) -> Mode:
    """The mode once the next round was announced. Raises Wrong."""
    return back_entry.announced(standing.back_entry, number, standing.next_number, happened, by)


def compared_after(standing: TableState, number: str, by: Signatory) -> Mode:
    """The mode once a paper was compared. Raises Wrong."""
    return back_entry.compared(standing.back_entry, number, by, standing.round_open, standing.next_number)


class HouseBackEntryBegun(BackEntryBegun, frozen=True, kw_only=True, omit_defaults=True):
    """Back-entry of the cage and vault began."""

    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=TWO_ROLES, moves=NOTHING, exception=FROM_PAPER, feed=BACK_ENTRY, alert=("back_entry_begun",)
    )


class HouseBackEntryEnded(BackEntryEnded, frozen=True, kw_only=True, omit_defaults=True):
    """Back-entry of the cage and vault ended."""

    of_the_house: ClassVar[bool] = True
    record = KindRecord(
        writer=TWO_ROLES, moves=NOTHING, exception=FROM_PAPER, feed=BACK_ENTRY, alert=("back_entry_ended",)
    )


class HouseEnteredFromPaper(EnteredFromPaper, frozen=True, kw_only=True, omit_defaults=True):
    """An entry from paper, of the cage and vault."""

    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=FOLLOWS, moves=NOTHING, exception=FROM_PAPER, feed=BACK_ENTRY, alert=NO_ALERT)


class HousePaperCompared(PaperCompared, frozen=True, kw_only=True, omit_defaults=True):
    """A comparison with paper, of the cage and vault."""

    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=PAPER_READERS, moves=NOTHING, exception=FROM_PAPER, feed=BACK_ENTRY, alert=NO_ALERT)
