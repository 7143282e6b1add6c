"""The rotation of dealers over the API: the line-ups in force, the push of a string, and its correction."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from tables.api import repeats
from tables.api.forms import form_of
from tables.api.operations import Call, Write, operation
from tables.api.views import FloorViewSet
from tables.log.moments import Moment
from tables.rotation import line_ups
from tables.rotation.line_ups import LONGEST_NAME, RUNS, Basis, StringLineUp

MOST_DEALERS: Final = 64
"""The largest number of dealers that a push names."""


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


class PushCorrection(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The string, and the line-up that the client saw."""

    string: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
    entry: Annotated[int, Meta(ge=1)]
    push_at: Moment

    @property
    def basis(self) -> Basis:
        """The state that the change rests on."""
        return Basis(self.entry, self.push_at)


class Push(PushCorrection, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The string to push, and the line-up that the client saw."""

    without: Annotated[list[str], Meta(max_length=MOST_DEALERS)] = []
    """User names of dealers who leave the line-up before the push if they may not deal at their next table."""


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
        or by a relief that tapped in; as `not_certified` if a dealer who is not in `without` may not deal at the next
        table."""
        body = call.body

        def act() -> LineUpForm:
            line_ups.push(body.string, by=call.by, basis=body.basis, without=body.without)
            return _form(line_ups.of_string(body.string))

        return repeats.once(call, act, LineUpForm)

    @operation(
        "take_back_push", "Take a push back.", tag="Rotation", body=PushCorrection, answers=LineUpForm, may=(RUNS,)
    )
    def take_back(self, call: Call[Any, PushCorrection]) -> LineUpForm:
        """Each dealer returns to the position before the newest push. Refused as `not_taken_back` if something has
        happened since, such as the tap of a dealer at the new table."""
        body = call.body

        def act() -> LineUpForm:
            line_ups.take_back(body.string, by=call.by, basis=body.basis)
            return _form(line_ups.of_string(body.string))

        return repeats.once(call, act, LineUpForm)


def _form(current: StringLineUp) -> LineUpForm:
    line_up, row = current.line_up, current.row
    return form_of(LineUpForm, line_up, turn_minutes=row.turn_minutes, ends_at=line_up.ends, entry=row.seq)
