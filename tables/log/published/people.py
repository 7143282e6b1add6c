"""Who signs in and out, and who runs which pit. Terminals and addresses are nobody's business outside."""

from __future__ import annotations

from typing import ClassVar

from tables.log.published.form import FeedEvent


class StaffSignedIn(FeedEvent, frozen=True, kw_only=True):
    """Somebody signed in."""

    type: ClassVar[str] = "staff.signed_in"

    username: str


class StaffSignedOut(FeedEvent, frozen=True, kw_only=True):
    """Somebody signed out, or was relieved."""

    type: ClassVar[str] = "staff.signed_out"

    username: str


class StaffLockedOut(FeedEvent, frozen=True, kw_only=True):
    """Too many wrong secrets were tried under somebody's name."""

    type: ClassVar[str] = "staff.locked_out"

    username: str


class PostSet(FeedEvent, frozen=True, kw_only=True):
    """Somebody runs these pits from a moment on."""

    type: ClassVar[str] = "post.set"

    username: str
    pits: tuple[str, ...]
    """None, and not the whole floor: they have no post any more."""
    whole_floor: bool
    effective: str


class PitCovered(FeedEvent, frozen=True, kw_only=True):
    """Somebody took over a pit until a moment, or gave it back."""

    type: ClassVar[str] = "pit.covered"

    username: str
    pit: str
    until: str
