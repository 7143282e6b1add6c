"""What waits for a second person, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tables.log.event import Event


class AboutProposal(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Something about a proposal, by its number."""

    subject: ClassVar[str] = "proposal"
    of_the_house: ClassVar[bool] = True

    number: int


class Proposed(AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody proposes a change that takes two people."""

    kinds: ClassVar[tuple[str, ...]] = ("proposed",)

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

    def words(self) -> str:
        return f"{self.name} proposes {self.number}: {self.matter.replace('_', ' ')} {self.about}".rstrip()


class ProposalEnded(AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal waits no longer."""

    username: str
    name: str
    role: str
    text: str = ""

    def words(self) -> str:
        return f"{self.name} {self.kind.removesuffix('d')}s proposal {self.number}" + (
            f": {self.text}" if self.text else ""
        )


class ProposalApproved(ProposalEnded, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody else approved a proposal, which is done by the entries that name it."""

    kinds: ClassVar[tuple[str, ...]] = ("approved",)


class ProposalDeclined(ProposalEnded, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody else declined a proposal."""

    kinds: ClassVar[tuple[str, ...]] = ("declined",)


class ProposalWithdrawn(ProposalEnded, frozen=True, kw_only=True, omit_defaults=True):
    """Who proposed it takes a proposal back."""

    kinds: ClassVar[tuple[str, ...]] = ("withdrawn",)

    def words(self) -> str:
        return f"{self.name} withdraws proposal {self.number}" + (f": {self.text}" if self.text else "")


class ProposalExpired(AboutProposal, frozen=True, kw_only=True, omit_defaults=True):
    """Nobody approved or declined a proposal in time."""

    kinds: ClassVar[tuple[str, ...]] = ("expired",)

    def words(self) -> str:
        return f"Proposal {self.number} has expired"


def builtins(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as JSON has them, so that what is proposed compares with what an entry says."""
    return {name: _builtin(value) for name, value in values.items()}


def _builtin(value: Any) -> Any:
    if isinstance(value, Mapping):
        return builtins(value)
    return [_builtin(item) for item in value] if isinstance(value, tuple | list) else value
