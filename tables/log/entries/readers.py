"""Card readers: a device names the cards of a table's shoe in place of the dealer's keys, until the dealer takes over.

Each entry says all of how the reader stands after it, so that the latest one is enough to know it. The numbers of its
messages stand in the entries that they led to."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from tables.log.event import Event
from tables.log.exception_categories import MISHAPS, ORDINARY
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import Message, code, from_fields
from tables.log.published import readers as forms
from tables.log.published.form import READER_SIGNALS
from tables.log.state import CardReader, Stop, TableState
from tables.log.writers import READER, READER_GIVER, READER_OR_DEALER, READER_SETTLER, READER_TAKER


class AboutReader(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Something about the card reader of a table."""

    subject: ClassVar[str] = "reader"

    name: str
    session: str
    """Of the reader, since its last start."""

    def reader(self) -> CardReader:
        """How it stands afterwards."""
        return CardReader(self.name, self.session)

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, reader=self.reader())


class ReaderStarted(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """A reader began to count its messages anew. Whether the dealer had taken over stays as it was."""

    kinds: ClassVar[tuple[str, ...]] = ("started",)
    record = KindRecord(writer=READER, moves=NOTHING, exception=ORDINARY, feed=READER_SIGNALS, alert=NO_ALERT)

    taken_over: bool = False

    def reader(self) -> CardReader:
        return CardReader(self.name, self.session, is_live=not self.taken_over)

    description = from_fields("The card reader {name} starts")


class ReaderStopped(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """Reader and dealer disagree, or a card was read that cannot be: nothing goes on until it is settled."""

    kinds: ClassVar[tuple[str, ...]] = ("stopped",)
    record = KindRecord(
        writer=READER_OR_DEALER, moves=NOTHING, exception=MISHAPS, feed=(forms.ReaderStopped,), alert=("stopped",)
    )

    number: int = 0
    """The reader's message that led to it; 0 where the dealer did."""
    read: str
    keyed: str = ""
    says: str

    def reader(self) -> CardReader:
        return CardReader(self.name, self.session, stop=Stop(self.read, self.keyed, self.says))

    def description(self) -> Message:
        read = self.read or Message("nothing")
        if not self.keyed:
            return Message("The card reader read {read}: {says}", read=read, says=self.says)
        return Message(
            "The card reader read {read}, the dealer keyed {keyed}: {says}", read=read, keyed=self.keyed, says=self.says
        )


class ReaderSettled(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """Who is right: then the reader goes on, or the dealer keys the cards."""

    kinds: ClassVar[tuple[str, ...]] = ("settled",)
    record = KindRecord(writer=READER_SETTLER, moves=NOTHING, exception=MISHAPS, feed=READER_SIGNALS, alert=NO_ALERT)

    right: Literal["reader", "dealer"]
    role: str = ""
    """The role that decided, if the policy `reader_settled_by` requires a pit boss; empty if the dealer may decide."""

    def reader(self) -> CardReader:
        return CardReader(self.name, self.session, is_live=self.right == "reader")

    def description(self) -> Message:
        if self.right == "reader":
            verdict = Message("The reader is right")
        else:
            verdict = Message("The dealer is right, and keys the cards")
        return Message("{verdict}: the {role} looked", verdict=verdict, role=code(self.role)) if self.role else verdict


class ReaderTakenOver(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """The dealer keys the cards from here on."""

    kinds: ClassVar[tuple[str, ...]] = ("taken_over",)
    record = KindRecord(
        writer=READER_TAKER, moves=NOTHING, exception=MISHAPS, feed=(forms.ReaderTakenOver,), alert=NO_ALERT
    )

    unheard: bool = False
    """Whether the reader was not heard of any more."""

    def reader(self) -> CardReader:
        return CardReader(self.name, self.session, is_live=False)

    def description(self) -> Message:
        if self.unheard:
            return Message("The dealer keys the cards: the reader is not heard")
        return Message("The dealer keys the cards")


class ReaderGivenBack(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """The reader names the cards again."""

    kinds: ClassVar[tuple[str, ...]] = ("given_back",)
    record = KindRecord(
        writer=READER_GIVER, moves=NOTHING, exception=ORDINARY, feed=(forms.ReaderGivenBack,), alert=NO_ALERT
    )

    description = from_fields("The reader names the cards again")
