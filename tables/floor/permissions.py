"""Permits: who may write which input at a table, checked at entry and again in a proof. Each raises Refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ledger.proof.chips import RACK
from tables.floor.command_context import CommandContext
from tables.log import slip_workflow, writers
from tables.log.writers import Writer
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import pit_assignments, policies

Permit = Callable[[CommandContext, Staff], None]


def anybody_here(context: CommandContext, by: Staff) -> None:
    """Any active staff member. Which role may sign a step is decided by the slip."""
    if not by.is_active:
        raise Refused("not_permitted", f"{by.name} is no longer active here.", 403)


def in_their_pit(context: CommandContext, by: Staff) -> None:
    """Raises Refused for a pit boss who is not assigned to the pit of this table.

    Stage `permission` calls it for every input of the staff after the input's own permit, so that no input can omit it.
    """
    # No pit limits a dealer, whose cards are most inputs: they need not look at assignments.
    if by.has_perm(pit_assignments.RUNS):
        pit_assignments.refuse(by, context.table.name, context.moment)


def a_dealer(context: CommandContext, by: Staff) -> None:
    """Any active dealer, who may take over a table."""
    anybody_here(context, by)
    if by.role != Role.DEALER:
        raise Refused("not_permitted", "Only a dealer takes a table.", 403)


def the_dealer(context: CommandContext, by: Staff) -> None:
    """The dealer signed in at the table, while it is open and its rack is neither locked nor being counted."""
    not_while_counted(context, by)
    _refuse_closed(context)
    not_locked(context)
    _refuse_others(context, by)


def the_dealer_or_the_floor(context: CommandContext, by: Staff) -> None:
    """The dealer signed in or the pit boss, while the table is open and its rack neither locked nor being counted."""
    not_while_counted(context, by)
    _refuse_closed(context)
    not_locked(context)
    if not by.has_perm("tables.run_floor"):
        _refuse_others(context, by)


def the_floor(context: CommandContext, by: Staff) -> None:
    """The pit boss, while the table is open and its rack is neither locked nor being counted."""
    the_floor_though_locked(context, by)
    not_locked(context)


def the_floor_though_locked(context: CommandContext, by: Staff) -> None:
    """The pit boss, while the table is open and its rack is not being counted. A locked rack can still be closed."""
    not_while_counted(context, by)
    the_floor_at_once(context, by)


def the_floor_at_once(context: CommandContext, by: Staff) -> None:
    """The pit boss, while the table is open, even during a count or with a locked rack."""
    at_once(context, by)
    by.require("tables.run_floor", "That takes a pit boss.")


def at_once(context: CommandContext, by: Staff) -> None:
    """Any active staff member, while the table is open, even during a count or with a locked rack."""
    anybody_here(context, by)
    _refuse_closed(context)


def uncounted(context: CommandContext, by: Staff) -> None:
    """Any active staff member, while the table is open and its rack is not being counted."""
    not_while_counted(context, by)
    _refuse_closed(context)


def who_voids(context: CommandContext, by: Staff) -> None:
    """The roles of the policy `void_roles`, while the table is open and its rack is not being counted."""
    uncounted(context, by)
    _refuse_roles(by, policies.words("void_roles"), "A round is made void")


def who_abandons(context: CommandContext, by: Staff) -> None:
    """The roles of the policy `abandon_roles`, while the table is open, even during a count."""
    at_once(context, by)
    _refuse_roles(by, policies.words("abandon_roles"), "A table is abandoned")


def the_dealer_or_the_floor_at_once(context: CommandContext, by: Staff) -> None:
    """The dealer signed in at the table or the pit boss, while it is open, even in a count or with a locked rack."""
    at_once(context, by)
    if not by.has_perm("tables.run_floor"):
        _refuse_others(context, by)


def the_dealer_or_else_the_floor(context: CommandContext, by: Staff) -> None:
    """The dealer signed in at the table. Where no dealer is signed in, the pit boss."""
    if context.standing.dealer is None and by.has_perm("tables.run_floor"):
        the_floor_though_locked(context, by)
    else:
        the_dealer(context, by)


def the_dealer_who_leaves(context: CommandContext, by: Staff) -> None:
    """The dealer signed in at the table, while it is open, even during a count or with a locked rack."""
    anybody_here(context, by)
    _refuse_closed(context)
    _refuse_others(context, by)


def for_the_shoe_to_go(context: CommandContext, by: Staff) -> None:
    """The dealer signed in at the table or the pit boss, to remove the shoe. The table may be closed."""
    anybody_here(context, by)
    if not by.has_perm("tables.run_floor"):
        _refuse_others(context, by)


PERMITS: Final[Mapping[Writer, Permit]] = {
    writers.THE_DEALER: the_dealer,
    writers.DEALER_OR_FLOOR: the_dealer_or_the_floor,
    writers.DEALER_ELSE_FLOOR: the_dealer_or_else_the_floor,
    writers.FLOOR: the_floor_though_locked,
    writers.SHOE_REMOVER: for_the_shoe_to_go,
}
"""The permit of each writer that a kind of entry names. The other writers depend on the content of the entry."""


def not_while_counted(context: CommandContext, by: Staff) -> None:
    """Any active staff member, unless the rack is being counted: a count is void if chips move during it."""
    anybody_here(context, by)
    # A count is an open slip until its last signature, so chips stay where they were counted until both persons agree.
    for slip in context.standing.slips:
        if slip.series.counts(RACK):
            message = f"The rack is being counted: sign {slip.series.name} {slip.number} first."
            raise Refused("count_open", message, 409)


def not_locked(context: CommandContext) -> None:
    """Raises Refused while the rack is locked: no card is dealt, and no chips enter or leave the rack."""
    if context.standing.lock is not None:
        message = (
            f"The rack of {context.table.name} is locked: it is unlocked first, by a pit boss on the floor's page."
        )
        raise Refused("rack_locked", message, 409)


def not_stopped(context: CommandContext) -> None:
    """Raises Refused while a card reader has stopped the round."""
    if context.standing.reader is not None and context.standing.reader.stop is not None:
        message = "The card reader and the dealer do not agree: say first which of them is right."
        raise Refused("reader_stopped", message, 409)


SETTLED_BY: Final = "reader_settled_by"


def settles_readers() -> str:
    """The role that settles a disagreement of card reader and dealer, by the policy `reader_settled_by`."""
    return str(policies.in_force(SETTLED_BY))


def who_settles_readers(context: CommandContext, by: Staff) -> None:
    """The pit boss or the dealer signed in at the table, by the policy `reader_settled_by`."""
    (the_floor if settles_readers() == Role.PIT_BOSS else the_dealer)(context, by)


def for_a_reader(context: CommandContext) -> None:
    """Raises Refused unless a dealer is signed in at an open table whose rack is neither locked nor being counted."""
    state, table = context.standing, context.table.name
    # A reader acts for the dealer: without one, no person would answer for its cards.
    if not state.is_open or state.dealer is None:
        raise Refused("nobody_deals", f"Nobody deals at {table} now: no card is read for anybody.", 409)
    not_locked(context)
    if any(slip.series.counts(RACK) for slip in state.slips):
        raise Refused("count_open", f"The rack of {table} is being counted.", 409)


def only_readers(context: CommandContext, by: Staff) -> None:
    """No staff member. Card readers have their own check, `card_readers.permit`."""
    raise Refused("not_permitted", "Only a card reader enters that.", 403)


def _refuse_roles(by: Staff, roles: Sequence[str], what: str) -> None:
    if by.role not in roles:
        raise Refused(
            "not_permitted", f"{what} by {slip_workflow.either(roles)} here, as the house's terms have it.", 403
        )


def _refuse_closed(context: CommandContext) -> None:
    if not context.standing.is_open:
        raise Refused("table_closed", f"{context.table.name} is closed: a pit boss has to open it.", 409)


def _refuse_others(context: CommandContext, by: Staff) -> None:
    # The dealer by the log and not by the session: a session outlives the relief of its dealer.
    dealer = context.standing.dealer
    if dealer is None or dealer.username != by.username or not by.has_perm("tables.deal"):
        raise Refused("not_your_table", f"You are not signed in at {context.table.name}.", 403)
