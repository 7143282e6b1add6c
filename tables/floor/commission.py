"""Commission that is marked at its seat and collected later: at the end of the shoe, or when the player leaves.

The amount that a seat owes follows from the rounds: each round records the marks at its start. So a mark is never
keyed, and none can be forgotten.
"""

from __future__ import annotations

from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables.floor import permissions
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import enters, reproduces
from tables.floor.inputs import CollectCommission, ForgiveCommission
from tables.log.entries.commission import CommissionCollected, CommissionForgiven
from tables.log.settlement import collectable_cents
from tables.log.state import Stacks
from tables.refusals import Refused

MOST_REASON = 200
"""Maximum length of a reason, in characters."""


@enters(CollectCommission, permit=permissions.the_dealer)
def collect(context: CommandContext, entered: CollectCommission) -> Decision:
    """A seat pays its marked commission, rounded down to whole chips. Raises Refused."""
    owed, after = _without(context, entered.seat)
    # Less than the smallest chip cannot be paid in chips, so the fraction is not collected.
    amount = collectable_cents(owed, context.table.unit_cents)
    event = CommissionCollected(seat=entered.seat, amount_cents=amount, marks=after)
    return Decision([PendingEntry(event, moves=event.moves(context.chart))])


@reproduces(CommissionCollected)
def enact_collection(context: CommandContext, event: CommissionCollected, entry: Entry) -> PendingEntry:
    return collect(context, CollectCommission(event.seat)).steps[0]


@enters(ForgiveCommission, permit=permissions.the_floor_though_locked)
def forgive(context: CommandContext, entered: ForgiveCommission) -> Decision:
    """The pit boss forgives the commission of a seat, with a reason; auditors are alerted. Raises Refused."""
    amount, after = _without(context, entered.seat)
    reason = entered.reason.strip()
    if not reason or len(reason) > MOST_REASON:
        raise Refused("no_reason", f"Say why it is forgiven, in at most {MOST_REASON} characters.", 422)
    step = PendingEntry(CommissionForgiven(seat=entered.seat, amount_cents=amount, marks=after, reason=reason))
    # Commission waived leaves no trace in the rack: the alert is the control over it.
    alert = f"{context.table.name}: {context.by.name} forgave commission of {money(amount)} at seat {entered.seat}"
    return Decision([step], alert=alert, evidence={"seat": entered.seat, "cents": amount, "seq": context.next_seq})


@reproduces(CommissionForgiven)
def enact_forgiveness(context: CommandContext, event: CommissionForgiven, entry: Entry) -> PendingEntry:
    return forgive(context, ForgiveCommission(event.seat, event.reason)).steps[0]


def refuse_owed(context: CommandContext, before: str) -> None:
    """Raises Refused where a seat owes commission. `before` is the action that has to wait, for the message."""
    # A mark belongs to the shoe: with the next one the player may be gone, and the amount with them.
    marks = context.standing.marks
    if marks:
        seat = min(marks)
        message = f"Seat {seat} owes commission of {money(marks[seat])}: collect it before {before}."
        raise Refused("commission_owed", message, 409)


def _without(context: CommandContext, seat: int) -> tuple[int, Stacks]:
    """The cents that a seat owes, and the marks of the other seats.

    Raises Refused during a round, or if nothing is owed.
    """
    # During a round its marks are not final: the settlement may add to them.
    if context.standing.round_open:
        raise Refused("round_open", "Finish the round first: commission is collected between rounds.", 409)
    marks = context.standing.marks
    amount = marks.pop(seat, 0)
    if not amount:
        raise Refused("no_commission", f"No commission is marked at seat {seat}.", 422)
    return amount, tuple(sorted(marks.items()))
