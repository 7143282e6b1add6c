"""Registries: the handler of each input, and the replay rule and the row check of each kind of entry.

An input is handled by the function that `enters` it, after its permit passed. A proof reads an entry back and compares
it with the result of the function that `reproduces` it. Rows derived from the entry are compared by the functions that
`checks` registers for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from ledger.proof.chain import Entry
from tables.approvals import signing
from tables.floor.command_context import CommandContext, Decision, PendingEntry, program_of, seat_of
from tables.floor.permissions import PERMITS, Permit
from tables.log.event import AuditFailure, Author, Event
from tables.models import Staff

SLIPS_AND_WORDS: Final = ("slip", "dispute", "correction", "clock", "limits")
"""The subjects of entries that change neither the cards nor the bets nor the dealer."""

Enter = Callable[[CommandContext, Any], Decision]
Enact = Callable[[CommandContext, Any, Entry], PendingEntry]
Check = Callable[[Any, Entry], None]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Handling:
    """The handler of an input, and the permit that its author has to pass."""

    enter: Enter
    permit: Permit


@dataclass(frozen=True, slots=True)
class ReplayRule:
    """The function that computes the entry a handler would have written, and the permit of its author."""

    enact: Enact
    permit: Permit | None
    """The permit by the kind record of the entry. None: the function itself checks the author."""


HANDLINGS: Final[dict[type, Handling]] = {}
ENACTMENTS: Final[dict[type[Event], ReplayRule]] = {}
CHECKS: Final[dict[type[Event], Check]] = {}


def enters(*inputs: type, permit: Permit) -> Callable[[F], F]:
    """Register the decorated function as handler of these inputs. It raises Refused and writes nothing."""

    def put(function: F) -> F:
        for entered in inputs:
            HANDLINGS[entered] = Handling(function, permit)
        return function

    return put


def reproduces(*events: type[Event]) -> Callable[[F], F]:
    """Register the decorated function as replay rule of these entries. It raises Refused or AuditFailure.

    The permitted author is that of the kind record.
    """

    def put(function: F) -> F:
        for event in events:
            ENACTMENTS[event] = ReplayRule(function, _permit_of(event))
        return function

    return put


def _permit_of(event: type[Event]) -> Permit | None:
    """The permit of the writer that a kind record names; None where the replay rule decides."""
    # At import and not in the first proof: a kind without a check of its author would pass with any author.
    writer = event.record.writer
    if not writer.depends and writer not in PERMITS:
        raise TypeError(
            f"{event.__name__} is reproduced, and is written by {writer.says}: name a writer that has a permit in"
            " tables/floor/permissions.py, or one of which depends() says that the reproducing function decides."
        )
    return PERMITS.get(writer)


def checks(*events: type[Event]) -> Callable[[F], F]:
    """Register a check of these entries against rows, or against earlier entries of the site's log.

    The decorated function raises AuditFailure on a difference. A kind of entry may have several checks; all of them
    run.
    """

    def put(function: F) -> F:
        for event in events:
            earlier = CHECKS.get(event)
            CHECKS[event] = _one_after_the_other(earlier, function) if earlier else function
        return function

    return put


def _one_after_the_other(first: Check, second: Check) -> Check:
    def check(event: Any, entry: Entry) -> None:
        first(event, entry)
        second(event, entry)

    return check


def as_written(context: CommandContext, event: Author, entry: Entry, permit: Permit) -> CommandContext:
    """The context with the recorded author of an entry as the acting person. Raises Refused by the permit.

    That the author is the signature of the entry is compared by `refuse_signers`.
    """
    author = signing.author_of(event, entry)
    acting = replace(context, by=author)
    permit(acting, author)
    return acting


def staff_of(context: CommandContext, entry: Entry) -> Staff:
    """The staff member who wrote an entry.

    Raises AuditFailure for a program or a seat, which may not write this kind.
    """
    if program_of(entry.by) is not None:
        raise AuditFailure(f"it is by {entry.by}, which may name the cards of its table's shoe, and nothing else")
    if seat_of(entry.by) is not None or not isinstance(context.by, Staff):
        raise AuditFailure(f"it is by {entry.by}, which may choose for itself at a house shoe, and nothing else")
    return context.by
