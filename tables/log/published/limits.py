"""Limit plans as they are set. The resulting limits of a table are published when the table is set to them."""

from __future__ import annotations

from typing import Any, ClassVar

from ledger.proof.chain import Entry
from tables.log.published.form import FeedEvent, RoundHistory


class LimitPlanMade(FeedEvent, frozen=True, kw_only=True):
    """A version of a limit plan was set, or retired."""

    type: ClassVar[str] = "limit_plan.set"

    name: str
    plan_version: int
    scope: str
    """house, game, pit or table."""
    of_what: str
    """The game, pit or table; several tables with commas between them; empty for the whole site."""
    effective: str
    """From when it holds."""
    values: dict[str, Any]
    """Limits by their names, in cents; a wager has its least and its most."""
    retired: bool
    proposal: int | None

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> LimitPlanMade:
        return cls(
            name=event.name,
            plan_version=event.version,
            scope=event.scope,
            of_what=event.of or ", ".join(event.tables),
            effective=event.effective,
            values=dict(event.values),
            retired=event.retired,
            proposal=event.proposal,
        )


class LimitsAnnouncedToPlayers(FeedEvent, frozen=True, kw_only=True):
    """The players of a table are told what will be raised, and from when; with nothing to be raised, that no notice
    stands any more."""

    type: ClassVar[str] = "limits.announced"

    least: dict[str, int]
    """Limits by their names, and the least that they come to, in cents."""
    effective: str
    """The first moment at which they may be raised."""
    why: str
    keeps_seated: bool
    """Whether seats that play keep the old minimum."""
