"""The rotation of dealers over the API: the line-ups in force, and the push of a string."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from tables.api import repeats
from tables.api.operations import Call, Write, operation
from tables.api.views import FloorViewSet
from tables.log.moments import Moment
from tables.rotation import line_ups
from tables.rotation.line_ups import LONGEST_NAME, RUNS, Basis, StringLineUp


class LineUpForm(msgspec.Struct, frozen=True):
    """The line-up of a string of tables, after the reliefs that have tapped in."""

    string: str
    tables: list[str]
    """In the order in which a dealer deals them."""
    dealers: list[str]
    """User names by position: one for each table, then one for each break; "" for a position without a dealer."""
    turn_minutes: int
    push_at: datetime
    """The moment at which the next push is due."""
    ends_at: datetime
    entry: int
    """The entry of the site's log that set it."""


class LineUpsForm(msgspec.Struct, frozen=True):
    """The line-ups in force, by string."""

    line_ups: list[LineUpForm]


class Push(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The string to push, and the line-up that the client saw."""

    string: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
    entry: Annotated[int, Meta(ge=1)]
    push_at: Moment


class LineUps(FloorViewSet):
    """The line-ups of strings of tables."""

    @operation(
        "list_line_ups", "The rotation of dealers.", tag="Rotation", answers=LineUpsForm, may=("tables.watch_floor",)
    )
    def list(self, call: Call[Any, Any]) -> LineUpsForm:
        """Each string of the shift with its dealers by position, and the time of its next push."""
        return LineUpsForm([_form(line_up) for line_up in line_ups.in_force()])

    @operation("push_string", "Push a string.", tag="Rotation", body=Push, answers=LineUpForm, may=(RUNS,))
    def push(self, call: Call[Any, Push]) -> LineUpForm:
        """Each dealer moves to the next position. Refused as `moved_on` if the line-up has moved on since, by a push
        or by a relief that tapped in."""
        asked = call.body

        def act() -> LineUpForm:
            line_ups.push(asked.string, by=call.by, basis=Basis(asked.entry, asked.push_at))
            return _form(line_ups.of_string(asked.string))

        return repeats.once(call, act, LineUpForm)


def _form(current: StringLineUp) -> LineUpForm:
    line_up = current.line_up
    return LineUpForm(
        string=line_up.string,
        tables=list(line_up.tables),
        dealers=list(line_up.dealers),
        turn_minutes=current.row.turn_minutes,
        push_at=line_up.push_at,
        ends_at=line_up.ends,
        entry=current.row.seq,
    )
