"""Sign-ins, sign-outs and pit assignments. Terminals and addresses are not published."""

from __future__ import annotations

from typing import ClassVar

from tables.log.published.form import FeedEvent


class StaffSignedIn(FeedEvent, frozen=True, kw_only=True):
    """A staff member signed in."""

    type: ClassVar[str] = "staff.signed_in"

    username: str


class StaffSignedOut(FeedEvent, frozen=True, kw_only=True):
    """A staff member signed out, or was relieved."""

    type: ClassVar[str] = "staff.signed_out"

    username: str


class StaffLockedOut(FeedEvent, frozen=True, kw_only=True):
    """A staff member was locked out after too many wrong secrets."""

    type: ClassVar[str] = "staff.locked_out"

    username: str


class PostSet(FeedEvent, frozen=True, kw_only=True):
    """A person was assigned these pits from a moment on."""

    type: ClassVar[str] = "post.set"

    username: str
    pits: tuple[str, ...]
    """None, and not the whole floor: they have no post any more."""
    whole_floor: bool
    effective: str


class PitCovered(FeedEvent, frozen=True, kw_only=True):
    """A person took over a pit until a moment, or gave it back."""

    type: ClassVar[str] = "pit.covered"

    username: str
    pit: str
    until: str


class LineUpSet(FeedEvent, frozen=True, kw_only=True):
    """The line-up of a string of tables was set, pushed or ended."""

    type: ClassVar[str] = "rotation.set"

    string: str
    tables: tuple[str, ...]
    """In the order in which a dealer deals them. None: the string ended."""
    dealers: tuple[str, ...]
    """User names by position: one for each table, then one for each break; "" for a position without a dealer."""
    turn_minutes: int
    push_at: str
    """The moment at which the next push is due."""
    pushed: bool
    """Whether a push made it."""
