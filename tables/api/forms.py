"""What the API reads and what it answers: the forms of JSON, and nothing about who may see them."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from ledger.proof.spelling import timestamp
from tables.api.operations import Write
from tables.audit.round_steps import Story
from tables.board.table_view import Board
from tables.games.protocol import AskCard, Prompt
from tables.log.state import TableState
from tables.models import Table
from tables.refusals import Refused

Form = TypeVar("Form", bound=msgspec.Struct)


class Entered(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An input, the key that makes it one input however often it is sent, and the state it was entered on."""

    expected_seq: Annotated[int, Meta(ge=0, description="The table's sequence number that the input was made on.")]
    input: msgspec.Raw


class Acknowledged(msgspec.Struct, frozen=True):
    """What was recorded: it is durable."""

    entry: int
    seq: int
    again: bool


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


# --- Answering -------------------------------------------------------------------------------------------------


def form_of(form: type[Form], source: object, **facts: Any) -> Form:
    """A form with ``facts``, and with the attributes of ``source`` that have the names of its other fields: what a
    ModelSerializer is in DRF."""
    attributes = {name: getattr(source, name) for name in form.__struct_fields__ if name not in facts}
    return form(**attributes, **facts)


def table_line(table: Table, state: TableState) -> TableLine:
    """A table and its present state as a line of a list."""
    return form_of(
        TableLine,
        table,
        seq=state.seq,
        is_open=state.is_open,
        dealer=state.dealer.name if state.dealer else None,
        round=state.next_number if state.round is None or not state.round_open else state.round.number,
        round_open=state.round_open,
    )


def board_form(board: Board) -> dict[str, Any]:
    """A board as JSON data."""
    form: dict[str, Any] = msgspec.to_builtins(board, enc_hook=_spell_table)
    form["prompts"] = [prompt_form(prompt) for prompt in board.prompts]
    return form


def prompt_form(prompt: Prompt) -> dict[str, Any]:
    """A prompt as JSON data. The cards that are gone are left out, so that no client can count a shoe."""
    form: dict[str, Any] = msgspec.to_builtins(prompt)
    if isinstance(prompt, AskCard):
        del form["gone"], form["decks"]
    return form


def round_form(table: Table, story: Story) -> RoundForm:
    """A round as JSON data. Raises Refused for one that cannot be read back: its log was tampered with."""
    if story.sealed:
        sentence = "Players hold facedown cards: the record of this game opens when it is over."
        raise Refused("round_sealed", sentence, 409)
    if story.record is None:
        raise Refused("round_broken", f"Round {story.line.number} cannot be played again: {story.line.fault}.", 409)
    lines = tuple(
        form_of(
            EntryLine,
            entry,
            at=timestamp(entry.heading.at),
            prev_hash=bytes(entry.prev_hash).hex() if entry.prev_hash else None,
            hash=bytes(entry.hash).hex(),
        )
        for entry in (step.entry for step in story.steps)
    )
    return RoundForm(table.name, story.line.number, story.line.over, story.record, lines)


def _spell_table(value: Any) -> dict[str, Any]:
    if isinstance(value, Table):
        return {"id": value.pk, "name": value.name, "game": value.game, "seats": value.seats, "source": value.source}
    raise NotImplementedError(type(value))
