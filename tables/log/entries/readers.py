"""Card readers: a device names the cards of a table's shoe in place of the dealer's keys, until the dealer
takes over."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from tables.log.event import Event
from tables.log.fold import CardReader, Standing, Stop


class AboutReader(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Something about the card reader of a table."""

    subject: ClassVar[str] = "reader"


class ReaderStarted(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """A reader began to count its messages anew. Whether the dealer had taken over stays as it was."""

    kinds: ClassVar[tuple[str, ...]] = ("started",)

    name: str
    session: str

    def folded(self, standing: Standing, seq: int, round: int | None) -> Standing:
        before = standing.reader
        live, stop = (before.is_live, before.stop) if before else (True, None)
        return replace(standing, reader=CardReader(self.name, self.session, is_live=live, stop=stop))

    def words(self) -> str:
        return f"The card reader {self.name} starts"


class ReaderStopped(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """Reader and dealer disagree, or a card was read that cannot be: nothing goes on until it is settled."""

    kinds: ClassVar[tuple[str, ...]] = ("stopped",)

    number: int = 0
    """The reader's message that led to it; 0 where the dealer did."""
    read: str
    keyed: str = ""
    says: str

    def folded(self, standing: Standing, seq: int, round: int | None) -> Standing:
        reader = _live(standing, seq)
        number = _counted(reader, self.number, seq) if self.number else reader.number
        stop = Stop(self.read, self.keyed, self.says)
        return replace(standing, reader=replace(reader, number=number, stop=stop))

    def words(self) -> str:
        beside = f", the dealer keyed {self.keyed}" if self.keyed else ""
        return f"The card reader read {self.read or 'nothing'}{beside}: {self.says}"


class ReaderSettled(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """Who is right: then the reader goes on, or the dealer keys the cards."""

    kinds: ClassVar[tuple[str, ...]] = ("settled",)

    right: Literal["reader", "dealer"]

    def folded(self, standing: Standing, seq: int, round: int | None) -> Standing:
        reader = standing.reader
        if reader is None or reader.stop is None:
            raise ValueError(f"entry {seq} settles what a reader stopped for, and none did")
        return replace(standing, reader=replace(reader, is_live=self.right == "reader", stop=None))

    def words(self) -> str:
        return "The reader is right" if self.right == "reader" else "The dealer is right, and keys the cards"


class ReaderTakenOver(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """The dealer keys the cards from here on."""

    kinds: ClassVar[tuple[str, ...]] = ("taken_over",)

    unheard: bool = False
    """Whether the reader was not heard of any more."""

    def folded(self, standing: Standing, seq: int, round: int | None) -> Standing:
        return replace(standing, reader=replace(_live(standing, seq), is_live=False))

    def words(self) -> str:
        return "The dealer keys the cards" + (": the reader is not heard" if self.unheard else "")


class ReaderGivenBack(AboutReader, frozen=True, kw_only=True, omit_defaults=True):
    """The reader names the cards again."""

    kinds: ClassVar[tuple[str, ...]] = ("given_back",)

    def folded(self, standing: Standing, seq: int, round: int | None) -> Standing:
        reader = standing.reader
        if reader is None or reader.is_live or reader.stop:
            raise ValueError(f"entry {seq} gives the cards to a reader that has them, or to none")
        return replace(standing, reader=replace(reader, is_live=True, card=""))

    def words(self) -> str:
        return "The reader names the cards again"


def after_card(standing: Standing, number: int, card: str, seq: int, round: int | None) -> CardReader:
    """A reader once it named a card. Raises ValueError where it may not, or the number is another than was due."""
    reader = _live(standing, seq)
    return replace(reader, number=_counted(reader, number, seq), card=card, round=round or 0)


def _live(standing: Standing, seq: int) -> CardReader:
    reader = standing.reader
    if reader is None or not reader.is_live or reader.stop:
        raise ValueError(f"entry {seq} is of a card reader, and none names the cards then")
    return reader


def _counted(reader: CardReader, number: int, seq: int) -> int:
    if number != reader.number + 1:
        raise ValueError(f"entry {seq} is message {number} of a card reader, and {reader.number + 1} was due")
    return number
