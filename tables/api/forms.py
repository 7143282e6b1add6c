"""What the API reads and what it answers: the forms of JSON, and nothing about who may see them."""

from __future__ import annotations

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from django.http import HttpRequest
from msgspec import Meta

from tables import inputs
from tables.audit.history import Story
from tables.board.picture import Board
from tables.games.felt import AskCard, Prompt
from tables.inputs import Input
from tables.log.fold import Standing
from tables.models import Table
from tables.refusals import Refused, sentence

LONGEST: Final = 8_192
"""Bytes that a body may have: the longest input is a fraction of that."""


class Entered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An input, the key that makes it one input however often it is sent, and the state it was entered on."""

    key: UUID
    expected_seq: Annotated[int, Meta(ge=0, description="The table's sequence number that the input was made on.")]
    input: msgspec.Raw


class Acknowledged(msgspec.Struct, frozen=True):
    """What was recorded: it is durable."""

    entry: int
    seq: int
    again: bool


class Problem(msgspec.Struct, frozen=True):
    """Why nothing was done. Some codes come with further facts, such as the current ``seq``."""

    code: str
    detail: str


class TableLine(msgspec.Struct, frozen=True):
    """One table in a list."""

    id: int
    name: str
    game: str
    seats: int
    source: str
    seq: int
    is_open: bool
    dealer: str | None
    round: int
    round_open: bool


class EntryLine(msgspec.Struct, frozen=True):
    """One entry of the log, without what it says."""

    seq: int
    at: str
    subject: str
    kind: str
    by: str
    prev_hash: str | None
    hash: str


class RoundForm(msgspec.Struct, frozen=True):
    """A round as a ``round-record/1`` document, and the stretch of the table's log that proves it."""

    table: str
    round: int
    complete: bool
    record: dict[str, Any]
    entries: tuple[EntryLine, ...]


# --- Reading ---------------------------------------------------------------------------------------------------


def read(request: HttpRequest) -> tuple[Entered, Input]:
    """The body of a request as an input. Raises Refused that says what is wrong and where."""
    if request.content_type != "application/json":
        raise Refused("unsupported_media_type", "Send application/json.", 415)
    body = request.read(LONGEST + 1)
    if len(body) > LONGEST:
        raise Refused("too_large", f"A body has at most {LONGEST} bytes.", 413)
    try:
        entered = msgspec.json.decode(body, type=Entered)
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$.")
        place = path.rstrip("`") or "body"
        raise Refused("bad_input", sentence(f"{place}: {text[:1].lower()}{text[1:]}"), 400) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Refused("bad_input", "The body is not JSON.", 400) from None
    return entered, inputs.read(bytes(entered.input))


# --- Answering -------------------------------------------------------------------------------------------------


def table_line(table: Table, now: Standing) -> TableLine:
    """A table as it stands."""
    dealer = now.dealer.name if now.dealer else None
    number = now.next_number if now.round is None or not now.round_open else now.round.number
    return TableLine(
        table.pk,
        table.name,
        table.game,
        table.seats,
        table.source,
        now.seq,
        now.is_open,
        dealer,
        number,
        now.round_open,
    )


def board_form(board: Board) -> dict[str, Any]:
    """A board as JSON data."""
    form: dict[str, Any] = msgspec.to_builtins(board, enc_hook=_spell_table)
    form["prompts"] = [prompt_form(prompt) for prompt in board.prompts]
    return form


def prompt_form(prompt: Prompt) -> dict[str, Any]:
    """A prompt as JSON data: without the cards that are gone, for nobody counts a shoe through the system."""
    form: dict[str, Any] = msgspec.to_builtins(prompt)
    if isinstance(prompt, AskCard):
        del form["gone"], form["decks"]
    return form


def round_form(table: Table, told: Story) -> RoundForm:
    """A round as JSON data. Raises Refused for one that cannot be read back: its log was tampered with."""
    if told.sealed:
        says = "Players hold facedown cards: the record of this game opens when it is over."
        raise Refused("round_sealed", says, 409)
    if told.record is None:
        raise Refused("round_broken", f"Round {told.line.number} cannot be played again: {told.line.fault}.", 409)
    lines = tuple(
        EntryLine(
            one.seq,
            one.document["at"],
            one.subject,
            one.kind,
            one.by,
            bytes(one.prev_hash).hex() if one.prev_hash else None,
            bytes(one.hash).hex(),
        )
        for one in (step.entry for step in told.steps)
    )
    return RoundForm(table.name, told.line.number, told.line.over, told.record, lines)


def _spell_table(one: Any) -> dict[str, Any]:
    if isinstance(one, Table):
        return {"id": one.pk, "name": one.name, "game": one.game, "seats": one.seats, "source": one.source}
    raise NotImplementedError(type(one))
