"""The messages of card readers as a table's log has them: numbered from 1 in each session, without a gap and without a
repeat, and each under a key of its own. Pure: the floor, the house's proof and the verifier for outsiders ask it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid5

from ledger.proof.chain import Entry
from tables.log.entries.readers import (
    AboutReader,
    ReaderGivenBack,
    ReaderSettled,
    ReaderStarted,
    ReaderStopped,
)
from tables.log.entries.rounds import Played
from tables.log.event import AuditFailure, Event
from tables.log.state import CardReader, Play, TableState

_KEYS: Final = UUID("6f0a6a0e-2f5c-5a51-9d2a-3f9d0a6b7c11")


def key_of(account: str, session: str, number: int) -> UUID:
    """The key of a reader's message: a table's book takes it once, so a message counts once however often it comes."""
    return uuid5(_KEYS, f"{account}/{session}/{number}")


def number_of(event: Event) -> int | None:
    """The number of the message that an entry was written for; None where it was for none."""
    match event:
        case ReaderStarted():
            return 0
        case ReaderStopped(number=number):
            return number or None
        case Played(read=number):
            return number
    return None


@dataclass(slots=True)
class Messages:
    """Follows the messages of a table's readers, entry by entry."""

    number: int | None = 0
    """The last one of the session; None where it stands in an entry of before, which is not there."""

    def resume(self, event: Event) -> None:
        """An entry of before: there are not all of them, so a session that began there may have gone on."""
        number = number_of(event)
        if number is not None or isinstance(event, AboutReader):
            self.number = None if isinstance(event, ReaderStarted) else number or self.number or None

    def follow(self, before: TableState, event: Event, entry: Entry) -> None:
        """Verify one more entry. ``before``: the state of the table before it. Raises AuditFailure."""
        number = number_of(event)
        if isinstance(event, AboutReader):
            _refuse_turn(before, event, entry)
        elif isinstance(event, Played):
            _refuse_card(before, event)
        if number is None:
            return
        reader = _sender(before, event, entry)
        if number and self.number is not None and number != self.number + 1:
            raise AuditFailure(f"it is message {number} of a card reader, and {self.number + 1} was due")
        if entry.key != key_of(reader.name, reader.session, number):
            raise AuditFailure(f"it is message {number} of a card reader, under the key of another")
        self.number = number


def _sender(before: TableState, event: Event, entry: Entry) -> CardReader:
    """The reader whose message it is, which wrote it."""
    reader = event.reader() if isinstance(event, ReaderStarted) else before.reader
    if reader is None or entry.by != f"program {reader.name}":
        raise AuditFailure(f"it is of a card reader, and {entry.by} names no cards here")
    return reader


def _refuse_turn(before: TableState, event: AboutReader, entry: Entry) -> None:
    """Verify an entry about a reader: its claims fit the state of the table, and its author may write it. Raises
    AuditFailure."""
    reader = before.reader
    if isinstance(event, ReaderStarted):
        if reader is not None and reader.stop is not None:
            raise AuditFailure("a card reader starts while it is open who is right")
        return
    if reader is None or (reader.name, reader.session) != (event.name, event.session):
        raise AuditFailure("it is about another card reader than the one that names the cards here")
    if (reader.stop is not None) is not isinstance(event, ReaderSettled):
        raise AuditFailure("it is settled who is right where nobody asked, or it is still open")
    if reader.stop is None and reader.is_live is isinstance(event, ReaderGivenBack):
        raise AuditFailure("the cards are named by whom it says already")
    if isinstance(event, ReaderSettled):
        dealer = before.dealer
        is_the_dealer = dealer is not None and entry.by == dealer.signature
        if is_the_dealer is bool(event.role):
            raise AuditFailure(f"it is settled by the {event.role or 'dealer'}, and {entry.by} wrote it")


def _refuse_card(before: TableState, event: Played) -> None:
    """Verify a card: no stop of the reader is open, and a card named by the reader may come from it. Raises
    AuditFailure."""
    reader = before.reader
    has_card = Play(0, event.actions, ()).has_card
    if reader is not None and reader.stop is not None and has_card:
        raise AuditFailure("a card is dealt while it is open whether the reader or the dealer is right")
    if event.read is not None and not (has_card and reader is not None and reader.is_live):
        raise AuditFailure("a card reader names a card where none names them")
