"""Opening and closing of a table, and its dealers: tap in, relief and tap out."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from msgspec import structs

from ledger.log import CONTENT
from ledger.proof.chain import Entry
from ledger.proof.chips import RACK
from ledger.raw_rows import fetch_row
from tables.floor import commission, permissions, player_pages, shoes
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import enters, reproduces
from tables.floor.inputs import SignIn, SignOut
from tables.log.entries.tables import DOORS, DealerSignedIn, DealerSignedOut, TableClosed, TableOpened
from tables.log.event import AuditFailure
from tables.log.slip_workflow import Slip
from tables.models import Staff, Table, Terminal
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies
from tables.training import certificates


def follows(context: CommandContext, slip: Slip) -> list[PendingEntry]:
    """The entries that follow the last signature on an opener or closer; none for other slips.

    The table opens with the counted rack; or it closes, its player pages are revoked and its dealer is tapped out.
    """
    door = DOORS.get(slip.series.table_effect)
    if door is None or slip.agreed is None:
        return []
    if door is TableOpened:
        return [PendingEntry(door.after(slip))]
    # Both in the transaction of the closing: a page or a dealer left behind could act at a closed table.
    dealer = context.standing.dealer
    tapped = [tap_out(dealer.username, dealer.name)] if dealer else []
    return [PendingEntry(door.after(slip)), *player_pages.revoke(context), *tapped]


@reproduces(TableOpened, TableClosed)
def enact_door(context: CommandContext, event: TableOpened | TableClosed, entry: Entry) -> PendingEntry:
    """The opening or closing, with the counts of the opener or closer before it. Raises AuditFailure."""
    slip = context.standing.counted
    if slip is None:
        raise event.uncounted()
    return PendingEntry(DOORS[slip.series.table_effect].after(slip))


@enters(SignIn, permit=permissions.a_dealer)
def sign_in(context: CommandContext, entered: SignIn) -> Decision:
    """A dealer taps in at the table. The dealer there is relieved, with their consent or a pit boss's. Raises Refused.

    A dealer can be signed in at one table only.
    """
    may_take(context)
    assert isinstance(context.by, Staff)  # noqa: S101 -- the permit admits dealers only
    bound = Terminal.objects.filter(name=entered.terminal, table__isnull=False).select_related("table").first()
    if bound is not None and bound.table != context.table:
        raise Refused(
            "other_terminal", f"This terminal is for {bound.table}: take {context.table.name} at another.", 409
        )
    _refuse_unconfirmed(context, entered)
    # Two sign-ins of one person at two tables lock two different logs. The row of the person makes the second one
    # wait, and it then sees the first.
    person = Staff.objects.select_for_update(no_key=True).get(pk=context.by.pk)
    person.require("tables.deal", f"{person.name} does not deal here any more.")
    certificates.refuse_uncertified(person, context.table.game)
    elsewhere = table_of(context.by)
    if elsewhere is not None:
        raise Refused("signed_in_elsewhere", f"You are signed in at {elsewhere.name}: tap out there first.", 409)
    burns = shoes.is_dealt_on(context) and bool(policies.in_force("burn_at_relief"))
    return Decision([_taken(context, context.by, entered.terminal, entered.confirmed_by, burns=burns)])


@reproduces(DealerSignedIn)
def enact_sign_in(context: CommandContext, event: DealerSignedIn, entry: Entry) -> PendingEntry:
    """The tap-in by the dealer that the entry names; the dealer relieved follows from the log.

    Raises AuditFailure or Refused.
    """
    dealer = Staff(username=event.username, name=event.name, badge=event.badge, role=Role.DEALER)
    taking = replace(context, by=dealer)
    permissions.a_dealer(taking, dealer)
    may_take(taking)
    if event.burns and not shoes.is_dealt_on(taking):
        raise AuditFailure("a card is to be burned for it, and no shoe lies here that is dealt on")
    if shoes.is_dealt_on(taking) and not policies.went_by("burn_at_relief", entry, event.burns.__eq__):
        raise AuditFailure("whether a card is burned at a relief, the house's terms said otherwise then")
    taken = _taken(taking, dealer, event.terminal, event.confirmed_by, burns=event.burns)
    return replace(taken, event=structs.replace(taken.event, **_names_as_written(context, event)))


def _names_as_written(context: CommandContext, event: DealerSignedIn) -> dict[str, str | None]:
    """The names in the entry: of the relieved dealer by the log, of the person who agreed by the entry itself.

    Entries written before names were recorded have none.
    """
    relieved = context.standing.dealer
    is_named = event.relieved is not None and relieved is not None
    return {"relieved": relieved.name if is_named and relieved else None, "agreed": event.agreed}


def _refuse_unconfirmed(context: CommandContext, entered: SignIn) -> None:
    """Raises Refused where a dealer takes over without the consent of the dealer there or of a pit boss."""
    dealer = context.standing.dealer
    # The screen may show an earlier dealer: the consent has to be that of the dealer who is there.
    if entered.relieves != (dealer.username if dealer else None):
        who = f"{dealer.name} deals" if dealer else "Nobody deals"
        raise Refused("other_dealer", f"{who} at {context.table.name} now: look again, then take it.", 409)
    if dealer is None or entered.confirmed_by == dealer.username:
        return
    boss = Staff.objects.filter(username=entered.confirmed_by).first()
    if boss is None or not boss.has_perm("tables.run_floor"):
        message = f"{dealer.name}, or a pit boss, has to agree to the relief by badge and PIN."
        raise Refused("not_theirs", message, 403)
    permissions.in_their_pit(context, boss)


@enters(SignOut, permit=permissions.the_dealer_who_leaves)
def sign_out(context: CommandContext, entered: SignOut) -> Decision:
    """The dealer taps out between rounds. During a round a relief has to take over first. Raises Refused."""
    may_leave(context)
    return Decision([tap_out(context.by.username, context.by.name)])


@reproduces(DealerSignedOut)
def enact_sign_out(context: CommandContext, event: DealerSignedOut, entry: Entry) -> PendingEntry:
    """The tap-out of the dealer, under the name they had then."""
    dealer = context.standing.dealer
    if dealer is None:
        raise AuditFailure("it signs somebody out where nobody deals")
    may_leave(context)
    return tap_out(dealer.username, event.name)


def _taken(
    context: CommandContext, by: Staff, terminal: str | None, confirmed_by: str | None, *, burns: bool
) -> PendingEntry:
    """The entry that names the new dealer, the dealer relieved and the person who agreed."""
    relieved = context.standing.dealer
    taken = DealerSignedIn(
        username=by.username,
        name=by.name,
        badge=by.badge,
        terminal=terminal,
        relieves=relieved.username if relieved else None,
        confirmed_by=confirmed_by,
        burns=burns,
        relieved=relieved.name if relieved else None,
        agreed=_name_of(context, confirmed_by),
    )
    return PendingEntry(taken)


def _name_of(context: CommandContext, username: str | None) -> str | None:
    """The name of the person who agreed: of the dealer there by the log, of a pit boss by the staff list."""
    dealer = context.standing.dealer
    if dealer is not None and dealer.username == username:
        return dealer.name
    return Staff.objects.filter(username=username).values_list("name", flat=True).first() if username else None


def tap_out(username: str, name: str) -> PendingEntry:
    """The entry of a dealer's tap-out."""
    return PendingEntry(DealerSignedOut(username=username, name=name))


# --- what the log alone can say of it: a proof asks the same ---------------------------------------------------


def may_count(context: CommandContext, slip: Slip) -> None:
    """Raises Refused where the rack cannot be counted now for this slip: opener, closer or a count between them."""
    if not slip.series.counts(RACK):
        return
    state, table = context.standing, context.table.name
    if slip.series.opens and context.table.retired_at:
        raise Refused("table_retired", f"{table} is retired: it is not opened any more.", 409)
    if slip.series.opens and state.is_open:
        raise Refused("table_open", f"{table} is open already.", 409)
    if not slip.series.opens and not state.is_open:
        raise Refused("table_closed", f"{table} is closed already.", 409)
    if state.round_open:
        raise Refused("round_open", f"A round is open at {table}: count the rack when it is over.", 409)
    # Chips on their way are in neither the rack nor the cage: a count now would find a variance that is none.
    if any(paper.moves_on for paper in state.slips):
        raise Refused("slip_open", f"Chips are on their way at {table}: receive them first.", 409)
    # Chips in play belong to players, and nothing can return them after the closing.
    if slip.series.closes and state.stacks:
        seats = ", ".join(map(str, sorted(state.stacks)))
        raise Refused("chips_in_play", f"There are chips in play at seat {seats}: cash them out first.", 409)
    if slip.series.closes:
        commission.refuse_owed(context, "the table closes")


def may_take(context: CommandContext) -> None:
    """Raises Refused where the table is closed or locked, or the dealer is signed in there already."""
    state = context.standing
    if not state.is_open:
        raise Refused("table_closed", f"{context.table.name} is closed: a pit boss has to open it.", 409)
    permissions.not_locked(context)
    if state.is_dealt_by(context.by.username):
        raise Refused("signed_in_already", f"You are signed in at {context.table.name} already.", 409)


def may_leave(context: CommandContext) -> None:
    """Raises Refused during a round."""
    if context.standing.round_open:
        raise Refused("round_open", "Finish the round before you tap out, or let your relief sign in.", 409)


# --- who deals where -------------------------------------------------------------------------------------------

_LATEST_DEALERS: Final = f"""
    SELECT t.id FROM tables_table AS t
    CROSS JOIN LATERAL (
        SELECT kind, body FROM ledger_logentry AS e WHERE e.book_id = t.book_id AND e.subject = 'dealer'
        ORDER BY e.seq DESC LIMIT 1) AS latest
    WHERE latest.kind = 'signed_in'
        AND {CONTENT.format(body="latest.body")} ->> 'username' = %s
"""  # noqa: S608


def table_of(staff: Staff) -> Table | None:
    """The table at which a dealer is signed in; None if at none."""
    row = fetch_row(_LATEST_DEALERS, [staff.username])
    return Table.objects.get(pk=row[0]) if row else None
