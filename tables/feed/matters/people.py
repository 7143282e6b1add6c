"""Who signs in and out. Terminals and addresses are nobody's business outside."""

from __future__ import annotations

from typing import ClassVar

from tables.feed.telling import Told, tells
from tables.log.entries import staff


@tells(staff.StaffSignedIn)
class StaffSignedIn(Told, frozen=True, kw_only=True):
    """Somebody signed in."""

    type: ClassVar[str] = "staff.signed_in"

    username: str


@tells(staff.StaffSignedOut)
class StaffSignedOut(Told, frozen=True, kw_only=True):
    """Somebody signed out, or was relieved."""

    type: ClassVar[str] = "staff.signed_out"

    username: str


@tells(staff.StaffLockedOut)
class StaffLockedOut(Told, frozen=True, kw_only=True):
    """Too many wrong secrets were tried under somebody's name."""

    type: ClassVar[str] = "staff.locked_out"

    username: str
