"""Who handles each input, and who enacts each entry anew: every room puts its own functions on these lists.

An input is handled by the function that `enters` it, once its permit lets somebody do so. A proof reads an entry back
and asks the function that `enacts` it what the floor would have written there; what is kept beside an entry in rows of
the database is held against it by the function that `checks` it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from ledger.proof.chain import Entry
from tables.floor.command_context import CommandContext, Decision, PendingEntry, program_of, seat_of
from tables.floor.permissions import PERMITS, Permit
from tables.log.event import AuditFailure, Author, Event
from tables.models import Staff

SLIPS_AND_WORDS: Final = ("slip", "dispute", "correction", "clock", "limits")
"""The subjects of entries that leave the cards, the bets and who deals as they were."""

Enter = Callable[[CommandContext, Any], Decision]
Enact = Callable[[CommandContext, Any, Entry], PendingEntry]
Check = Callable[[Any, Entry], None]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Handling:
    """The function that takes an input, and who may enter it."""

    enter: Enter
    permit: Permit


@dataclass(frozen=True, slots=True)
class ReplayRule:
    """The function that says what the floor would have written for an entry, and who may have written it."""

    enact: Enact
    permit: Permit | None
    """The check of its author, by its kind record. None: the function checks that itself."""


HANDLINGS: Final[dict[type, Handling]] = {}
ENACTMENTS: Final[dict[type[Event], ReplayRule]] = {}
CHECKS: Final[dict[type[Event], Check]] = {}


def enters(*inputs: type, permit: Permit) -> Callable[[F], F]:
    """The decorated function handles these inputs. Raises Refused, with nothing done."""

    def put(function: F) -> F:
        for entered in inputs:
            HANDLINGS[entered] = Handling(function, permit)
        return function

    return put


def reproduces(*events: type[Event]) -> Callable[[F], F]:
    """The decorated function says what the floor would have written for these entries. Raises Refused or Misconduct.

    Who may have written one is the answer of its kind record."""

    def put(function: F) -> F:
        for event in events:
            ENACTMENTS[event] = ReplayRule(function, _permit_of(event))
        return function

    return put


def _permit_of(event: type[Event]) -> Permit | None:
    """The check of the writer that a kind record names; None where the reproducing function decides it."""
    writer = event.record.writer
    if not writer.depends and writer not in PERMITS:
        raise TypeError(
            f"{event.__name__} is reproduced, and is written by {writer.says}: name a writer that has a permit in"
            " tables/floor/permissions.py, or one of which depends() says that the reproducing function decides."
        )
    return PERMITS.get(writer)


def checks(*events: type[Event]) -> Callable[[F], F]:
    """The decorated function raises Misconduct where rows beside the log, or the house's entries before it, say
    something else than an entry. Several rooms may look at one kind of entry, each for its own matter."""

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


def as_written(scene: CommandContext, event: Author, entry: Entry, permit: Permit) -> CommandContext:
    """The command context with the person who an entry says wrote it (`refuse_signers` compares them). Raises Refused
    where that person may not."""
    author = Staff(username=event.username, name=event.name, badge=event.badge, role=event.role)
    author.as_of = entry.at
    acting = replace(scene, by=author)
    permit(acting, author)
    return acting


def staff_of(scene: CommandContext, entry: Entry) -> Staff:
    """Who wrote an entry at a scene. Raises Misconduct for a seat, which writes nothing but its own choices."""
    if program_of(entry.by) is not None:
        raise AuditFailure(f"it is by {entry.by}, which may name the cards of its table's shoe, and nothing else")
    if seat_of(entry.by) is not None or not isinstance(scene.by, Staff):
        raise AuditFailure(f"it is by {entry.by}, which may choose for itself at a house shoe, and nothing else")
    return scene.by
