"""Proposed changes and their outcomes. The new values are published only when they take effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ledger.proof.chain import Entry
from tables.log.published.form import FeedEvent, RoundHistory


class ProposalMade(FeedEvent, frozen=True, kw_only=True):
    """A change was proposed. A second person approves it, or its proposer decides it if it is not under dual
    control."""

    type: ClassVar[str] = "proposal.made"

    number: int
    matter: str
    about_what: str
    """Which table, game, chip or person; empty for the house itself."""
    username: str
    expires: str
    effective: str | None
    """From when it is to hold; null for at once."""
    waits_for: list[str]
    """The conditions before it takes effect, in this order: `decision` (it is approved or decided), `moment` (its
    effective time is reached), `shoe` (the table's next shoe)."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> ProposalMade:
        return cls(
            number=event.number,
            matter=event.matter,
            about_what=event.about,
            username=event.username,
            expires=event.expires,
            effective=event.effective,
            waits_for=["decision", *(["moment"] if event.effective else []), *_shoe(event.after)],
        )


def _shoe(after: Mapping[str, Any]) -> list[str]:
    return ["shoe"] if after.get("takes") == "shoe" else []


class ProposalMoved(FeedEvent, frozen=True, kw_only=True):
    """A proposal waits no longer, or comes into force."""

    type: ClassVar[str] = "proposal.moved"

    number: int
    state: str
    """approved, decided, declined, withdrawn, expired, came_into_force, called_off or lapsed."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> ProposalMoved:
        return cls(number=event.number, state=event.kind)


class ProposalCommented(FeedEvent, frozen=True, kw_only=True):
    """A comment on a pending proposal."""

    type: ClassVar[str] = "proposal.commented"

    number: int
    username: str
    name: str
    text: str
