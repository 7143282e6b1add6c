"""Tables: opened and closed, who deals there, racks under lock, what went wrong, what they are set to."""

from __future__ import annotations

from typing import Any, ClassVar

from tables.feed.publication import Told, tells
from tables.log.entries import carried_rows, irregularities, settings, tables


@tells(tables.TableOpened)
class TableOpened(Told, frozen=True, kw_only=True):
    """A table opened with what two people counted in its rack."""

    type: ClassVar[str] = "table.opened"

    slip: str
    rack_cents: int


@tells(tables.TableClosed)
class TableClosed(Told, frozen=True, kw_only=True):
    """A table closed with what two people counted in its rack."""

    type: ClassVar[str] = "table.closed"

    slip: str
    rack_cents: int


@tells(carried_rows.TableAdded)
class TableAdded(Told, frozen=True, kw_only=True):
    """There is another table."""

    type: ClassVar[str] = "table.added"

    name: str

    @property
    def about(self) -> str:
        return self.name


@tells(settings.TableSet)
class TableSet(Told, frozen=True, kw_only=True):
    """A table's limits or options are others from its next round on: of what changed, before and after."""

    type: ClassVar[str] = "table.set"

    before: dict[str, Any]
    after: dict[str, Any]
    proposal: int | None
    """The proposal that two people stand for, where it took two."""


@tells(settings.TableRetired)
class TableRetired(Told, frozen=True, kw_only=True):
    """A table is used no more."""

    type: ClassVar[str] = "table.retired"


@tells(tables.DealerSignedIn)
class DealerSignedIn(Told, frozen=True, kw_only=True):
    """A dealer took the table, or relieved the one who stood there."""

    type: ClassVar[str] = "dealer.signed_in"

    username: str
    name: str
    relieves: str | None
    """The user name of whoever stood there."""


@tells(tables.DealerSignedOut)
class DealerSignedOut(Told, frozen=True, kw_only=True):
    """The dealer tapped out."""

    type: ClassVar[str] = "dealer.signed_out"

    username: str
    name: str


@tells(irregularities.RackLocked)
class RackLocked(Told, frozen=True, kw_only=True):
    """Nothing goes into the rack or out of it, and nobody deals."""

    type: ClassVar[str] = "rack.locked"

    abandoned: bool
    """Whether everybody left the table at once."""


@tells(irregularities.RackUnlocked)
class RackUnlocked(Told, frozen=True, kw_only=True):
    """The rack is in use again."""

    type: ClassVar[str] = "rack.unlocked"


@tells(irregularities.MishapEntered)
class MishapEntered(Told, frozen=True, kw_only=True):
    """Something went wrong at the table; what was done about it has events of its own."""

    type: ClassVar[str] = "mishap.entered"

    which: str


@tells(irregularities.TableAbandoned)
class TableAbandoned(Told, frozen=True, kw_only=True):
    """Everybody left the table at once."""

    type: ClassVar[str] = "table.abandoned"

    reason: str
