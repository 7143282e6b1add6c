"""Tables: opened and closed, who deals there, racks under lock, what went wrong, what they are set to."""

from __future__ import annotations

from typing import Any, ClassVar

from tables.log.published.form import FeedEvent


class TableOpened(FeedEvent, frozen=True, kw_only=True):
    """A table opened with what two people counted in its rack."""

    type: ClassVar[str] = "table.opened"

    slip: str
    rack_cents: int


class TableClosed(FeedEvent, frozen=True, kw_only=True):
    """A table closed with what two people counted in its rack."""

    type: ClassVar[str] = "table.closed"

    slip: str
    rack_cents: int


class TableAdded(FeedEvent, frozen=True, kw_only=True):
    """There is another table."""

    type: ClassVar[str] = "table.added"

    name: str

    @property
    def about(self) -> str:
        return self.name


class TableSet(FeedEvent, frozen=True, kw_only=True):
    """A table's limits or options are others from its next round on: of what changed, before and after."""

    type: ClassVar[str] = "table.set"

    before: dict[str, Any]
    after: dict[str, Any]
    proposal: int | None
    """The proposal that two people stand for, where it took two."""


class TableRetired(FeedEvent, frozen=True, kw_only=True):
    """A table is used no more."""

    type: ClassVar[str] = "table.retired"


class DealerSignedIn(FeedEvent, frozen=True, kw_only=True):
    """A dealer took the table, or relieved the one who stood there."""

    type: ClassVar[str] = "dealer.signed_in"

    username: str
    name: str
    relieves: str | None
    """The user name of the dealer who was relieved; null if the table had none."""


class DealerSignedOut(FeedEvent, frozen=True, kw_only=True):
    """The dealer tapped out."""

    type: ClassVar[str] = "dealer.signed_out"

    username: str
    name: str


class RackLocked(FeedEvent, frozen=True, kw_only=True):
    """The rack is locked: no chips move into or out of it, and no cards are dealt."""

    type: ClassVar[str] = "rack.locked"

    abandoned: bool
    """Whether everybody left the table at once."""


class RackUnlocked(FeedEvent, frozen=True, kw_only=True):
    """The rack is in use again."""

    type: ClassVar[str] = "rack.unlocked"


class MishapEntered(FeedEvent, frozen=True, kw_only=True):
    """Something went wrong at the table; what was done about it has events of its own."""

    type: ClassVar[str] = "mishap.entered"

    which: str


class TableAbandoned(FeedEvent, frozen=True, kw_only=True):
    """Everybody left the table at once."""

    type: ClassVar[str] = "table.abandoned"

    reason: str
