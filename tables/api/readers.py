"""Card readers: a device names the cards of its table's shoe, message by message."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import msgspec
from django.shortcuts import get_object_or_404
from msgspec import Meta

from tables.api import acknowledgement
from tables.api.operations import Call, operation
from tables.api.views import FloorViewSet
from tables.floor import card_readers, recorder
from tables.floor.inputs import Input, ReadCard, StartReader
from tables.log.reader_messages import key_of
from tables.models import ServiceAccount, Table
from tables.refusals import Refused
from tables.state import table_state


class ReaderMessage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a reader says: number 0 begins a session; each further number names one card."""

    session: UUID
    """A new UUID at each start of the device."""
    number: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    card: Annotated[int, Meta(ge=1, le=10)] | Annotated[str, Meta(min_length=1, max_length=2)] | None = None
    """As a round record writes it: 8, or "T", or "Th" where suits are looked at."""

    @property
    def key(self) -> UUID:
        """Session and number: the same message counts once."""
        return key_of("message", str(self.session), self.number)


class ReaderState(msgspec.Struct, frozen=True):
    """How the table stands for its reader."""

    due: int
    """The number that is due; 0: begin a session."""
    state: str
    """``live``, ``taken_over`` by the dealer, ``stopped`` until the dealer says who is right, or ``none``."""
    card_due: bool
    """True if the table waits for the reader's next card."""
    may_draw: bool = False
    """True if a seat has a decision, so that a card that leaves the shoe means a hit."""
    shuffle: int = 0
    """Changes with each shuffle: from then on the reader is before whole decks again."""
    decks: int = 0
    pack: str = ""
    """What the cards of the shoe are."""
    burned: int = 0
    """Cards that leave the shoe first and belong to no seat."""
    again: bool = False
    """True if this message had been recorded before."""


class Reader(FloorViewSet):
    """Messages of a table's card reader, and its state."""

    @operation(
        "read_reader",
        "How a table stands for its card reader.",
        tag="Readers",
        answers=ReaderState,
        scope="enter:cards",
        for_people=False,
    )
    def retrieve(self, call: Call[Any, Any], pk: int) -> ReaderState:
        """Asked every few seconds, it says too that the reader is there."""
        account, table = _own(call, pk)
        card_readers.hear(account)
        acknowledgement.heed(call, table)
        return _state(call, table, account)

    @operation(
        "name_card",
        "A card reader says something.",
        tag="Readers",
        body=ReaderMessage,
        answers=ReaderState,
        scope="enter:cards",
        for_people=False,
        refuses=(404, 409),
    )
    def name_card(self, call: Call[Any, ReaderMessage], pk: int) -> ReaderState:
        """Number 0 begins a session, each further one names a card, for the dealer who is signed in. The same message
        again is answered as before. A number that is left out is refused (`reader_gap`) with the one that is due. A
        card that cannot be stops the round (`reader_stopped`). After `taken_over` the card is left out."""
        account, table = _own(call, pk)
        card_readers.hear(account)
        message, session = call.body, str(call.body.session)
        entered: Input = StartReader(session)
        if message.number:
            if message.card is None:
                raise Refused("bad_input", "Card: a message names one, but for number 0.", 400)
            entered = ReadCard(session, message.number, message.card)
        key = key_of(account.name, session, message.number)
        receipt = acknowledgement.receipt_of(call, table)
        answer = recorder.record(table, entered, by=account, key=key, expected_seq=None, receipt=receipt)
        return msgspec.structs.replace(_state(call, table, account), again=answer.again)


def _own(call: Call[Any, Any], pk: int) -> tuple[ServiceAccount, Table]:
    """The reader, and the one table that it is for. Raises Refused."""
    assert isinstance(call.caller, ServiceAccount)  # noqa: S101 -- these operations accept tokens only
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    if not call.caller.reaches(table):
        raise Refused("not_your_table", f"{call.caller} reads at {', '.join(call.caller.tables)}.", 403)
    return call.caller, table


def _state(call: Call[Any, Any], table: Table, account: ServiceAccount) -> ReaderState:
    state = table_state.of(table)
    acknowledgement.keep(call, table, state)
    reader = state.reader
    if reader is None or reader.name != account.name:
        return ReaderState(0, "none", card_due=False)
    word = "stopped" if reader.stop else "live" if reader.is_live else "taken_over"
    shoe, is_live = state.shoe, word == "live"
    return ReaderState(
        card_readers.latest_number(table.book_id, reader) + 1,
        word,
        card_due=is_live and card_readers.awaits_card(state),
        may_draw=is_live and card_readers.may_draw(state),
        shuffle=shoe.ready_seq if shoe else 0,
        decks=shoe.decks if shoe else 0,
        pack=shoe.pack.name if shoe else "",
        burned=shoe.burn if shoe else 0,
    )
