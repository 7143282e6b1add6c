"""What waits for a second person, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tables.log.event import Event, UnbadgedAuthor
from tables.log.exception_categories import SETTINGS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import code, from_fields
from tables.log.published import proposals as forms
from tables.log.writers import DECIDER, PROPOSAL_AUTHOR, PROPOSAL_READER, PROPOSER, SITE


class AboutProposal(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Something about a proposal, by its number."""

    subject: ClassVar[str] = "proposal"
    of_the_house: ClassVar[bool] = True

    number: int


class Proposed(UnbadgedAuthor, AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal of a change under dual control."""

    kinds: ClassVar[tuple[str, ...]] = ("proposed",)
    record = KindRecord(writer=PROPOSER, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalMade,), alert=NO_ALERT)

    username: str
    name: str
    role: str
    matter: str
    about: str
    """Which table, game, chip or person; empty for the house itself."""
    before: dict[str, Any]
    after: dict[str, Any]
    comment: str
    expires: str
    effective: str | None = None
    """From when it is to hold; None for at once, when it is approved."""

    description = from_fields(
        "{name} proposes {number}: {matter} {about}",
        matter=code,
        otherwise=from_fields("{name} proposes {number}: {matter}", matter=code),
    )


class ProposalEnded(UnbadgedAuthor, AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal waits no longer."""

    username: str
    name: str
    role: str
    text: str = ""


class ProposalApproved(ProposalEnded, frozen=True, kw_only=True, omit_defaults=True):
    """A second person approved a proposal. The entries that name the proposal carry it out."""

    kinds: ClassVar[tuple[str, ...]] = ("approved",)
    record = KindRecord(writer=DECIDER, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalMoved,), alert=NO_ALERT)

    description = from_fields(
        "{name} approves proposal {number}: {text}", otherwise=from_fields("{name} approves proposal {number}")
    )


class ProposalDecided(ProposalEnded, frozen=True, kw_only=True, omit_defaults=True):
    """Who proposed it stands for it alone, as the house's terms let them; it waits for its moment or for a shoe."""

    kinds: ClassVar[tuple[str, ...]] = ("decided",)
    record = KindRecord(writer=DECIDER, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalMoved,), alert=NO_ALERT)

    description = from_fields("{name} decides proposal {number} alone")


class ProposalDeclined(ProposalEnded, frozen=True, kw_only=True, omit_defaults=True):
    """A second person declined a proposal."""

    kinds: ClassVar[tuple[str, ...]] = ("declined",)
    record = KindRecord(writer=DECIDER, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalMoved,), alert=NO_ALERT)

    description = from_fields(
        "{name} declines proposal {number}: {text}", otherwise=from_fields("{name} declines proposal {number}")
    )


class ProposalWithdrawn(ProposalEnded, frozen=True, kw_only=True, omit_defaults=True):
    """Who proposed it takes a proposal back."""

    kinds: ClassVar[tuple[str, ...]] = ("withdrawn",)
    record = KindRecord(
        writer=PROPOSAL_AUTHOR, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalMoved,), alert=NO_ALERT
    )

    description = from_fields(
        "{name} withdraws proposal {number}: {text}", otherwise=from_fields("{name} withdraws proposal {number}")
    )


class ProposalCommented(UnbadgedAuthor, AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """A comment on a pending proposal."""

    kinds: ClassVar[tuple[str, ...]] = ("commented",)
    record = KindRecord(
        writer=PROPOSAL_READER, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalCommented,), alert=NO_ALERT
    )

    username: str
    name: str
    role: str
    text: str

    description = from_fields("{name} comments on proposal {number}: {text}")


class ProposalExpired(AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal expired without approval or refusal."""

    kinds: ClassVar[tuple[str, ...]] = ("expired",)
    record = KindRecord(writer=SITE, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalMoved,), alert=NO_ALERT)

    description = from_fields("Proposal {number} has expired")


class ProposalInForce(AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """The moment of a proposal that was approved, or decided, has come; the entries that name it do what it says."""

    kinds: ClassVar[tuple[str, ...]] = ("came_into_force",)
    record = KindRecord(writer=SITE, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalMoved,), alert=NO_ALERT)

    description = from_fields("Proposal {number} comes into force")


class ProposalCalledOff(AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal that waits for its moment does not come into force: as many people as it took called it off before."""

    kinds: ClassVar[tuple[str, ...]] = ("called_off",)
    record = KindRecord(writer=DECIDER, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalMoved,), alert=NO_ALERT)

    proposal: int | None = None
    """The proposal that called it off; None where one person had decided it, and one calls it off."""
    text: str = ""
    """Why, where one person did."""

    description = from_fields(
        "Proposal {number} is called off, by proposal {proposal}",
        otherwise=from_fields("Proposal {number} is called off: {text}"),
    )


class ProposalLapsed(AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal that was approved, or decided, could not come into force when it was to."""

    kinds: ClassVar[tuple[str, ...]] = ("lapsed",)
    record = KindRecord(
        writer=SITE, moves=NOTHING, exception=SETTINGS, feed=(forms.ProposalMoved,), alert=("proposal_lapsed",)
    )

    text: str
    """Why, in words."""

    description = from_fields("Proposal {number} does not come into force: {text}")


def builtins(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as JSON has them, so that what is proposed compares with what an entry says."""
    return {name: _builtin(value) for name, value in values.items()}


def _builtin(value: Any) -> Any:
    if isinstance(value, Mapping):
        return builtins(value)
    return [_builtin(item) for item in value] if isinstance(value, tuple | list) else value
