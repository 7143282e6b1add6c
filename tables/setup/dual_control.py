"""Settings under dual control: a change by one person is refused, and becomes a proposal instead.

Each package registers the state of its own settings that a proposal would change, and the function that changes them,
which validates again. ``proposals`` calls nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tables.log import dual_control
from tables.log.policies import Values
from tables.refusals import Refused


@dataclass(frozen=True, slots=True)
class ProposalDraft:
    """A change to be proposed, with the fields of its entry."""

    matter: str
    about: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    effective: Any = None
    """When it takes effect; None for on approval."""
    set_to: Mapping[str, Any] = field(default_factory=dict)
    """All settings of the table after the change. Not part of the proposal itself."""


class ApprovedProposal(Protocol):
    """An approved proposal, as the package that carries it out gets it."""

    number: int
    matter: str
    about: str
    before: Any
    after: Any
    effective: Any

    @property
    def waits_for_shoe(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class ApprovalHandler:
    """How a package handles proposals of its settings."""

    present_values: Callable[[Sequence[Any]], list[Mapping[str, Any]]]
    """The current values that correspond to the ``before`` of each proposal; one query for all proposals."""
    apply: Callable[[Any, Any], object]
    """Carry out a proposal in the name of the approver. Raises Refused."""
    permission: str
    """The permission to approve."""
    may_propose: tuple[str, ...] = ()
    """Further permissions of which one is enough to propose."""
    dates_itself: bool = False
    """Whether the change carries its own time of effect, so that nothing remains to be done then."""
    takes_two: Callable[[Any, Values], bool] | None = None
    """Whether a proposal needs two persons under these policies; None where each one does."""
    of_tables: Callable[[Any], Iterable[str]] = lambda _: ()
    """Names of the tables concerned. A pit boss has to be assigned to their pits."""
    hindrances: Callable[[Sequence[Any]], list[str]] | None = None
    """Why each cannot be carried out now, as far as visible in advance; empty if nothing prevents it."""


HANDLERS: Final[dict[str, ApprovalHandler]] = {}

BY_THE_CLOCK: Final = "the watch"
"""The author of entries for approved changes whose time has come."""


def handles(*names: str, matter: ApprovalHandler) -> None:
    """Proposals of these matters are handled so."""
    HANDLERS.update(dict.fromkeys(names, matter))


def refuse_alone(matter: str | None, terms: Values, proposal: int | None) -> None:
    """Raises Refused where a change under dual control has no approved proposal."""
    # The function that makes the change refuses, and not the page before it: an API call or a command passes here too.
    if matter is not None and proposal is None and dual_control.needed(matter, terms):
        title = dual_control.title_of(matter)
        sentence = f"{title}: that takes two people. Propose it, and somebody else approves."
        raise Refused("second_person", sentence, 409, matter=matter)
