"""Opening and closing a table, and who deals there."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from django.db import connection
from msgspec import structs

from ledger.log import CONTENT
from ledger.proof.chain import Entry
from ledger.proof.chips import RACK
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


def follows(scene: CommandContext, slip: Slip) -> list[PendingEntry]:
    """What the last signature on an opener or closer brings about: the table opens with what was counted in its rack,
    or closes, its seat pages are revoked and its dealer is tapped out."""
    door = DOORS.get(slip.series.door)
    if door is None or slip.agreed is None:
        return []
    if door is TableOpened:
        return [PendingEntry(door.after(slip))]
    dealer = scene.standing.dealer
    tapped = [tap_out(dealer.username, dealer.name)] if dealer else []
    return [PendingEntry(door.after(slip)), *player_pages.revoke(scene), *tapped]


@reproduces(TableOpened, TableClosed)
def enact_door(scene: CommandContext, event: TableOpened | TableClosed, entry: Entry) -> PendingEntry:
    """A table opens with its opener and closes with its closer, as they were counted just before."""
    slip = scene.standing.counted
    if slip is None:
        raise event.uncounted()
    return PendingEntry(DOORS[slip.series.door].after(slip))


@enters(SignIn, permit=permissions.a_dealer)
def sign_in(scene: CommandContext, entered: SignIn) -> Decision:
    """A dealer takes the table; whoever stood there is relieved, if they agree or a pit boss does. Nobody deals at two
    tables."""
    may_take(scene)
    assert isinstance(scene.by, Staff)  # noqa: S101 -- record() lets nobody else sign in
    bound = Terminal.objects.filter(name=entered.terminal, table__isnull=False).select_related("table").first()
    if bound is not None and bound.table != scene.table:
        raise Refused("other_terminal", f"This terminal is for {bound.table}: take {scene.table.name} at another.", 409)
    _refuse_unconfirmed(scene, entered)
    # Two sign-ins of one person at two tables hold two different books; here they meet.
    person = Staff.objects.select_for_update(no_key=True).get(pk=scene.by.pk)
    if not person.has_perm("tables.deal"):
        raise Refused("not_permitted", f"{person.name} does not deal here any more.", 403)
    certificates.refuse_uncertified(person, scene.table.game)
    elsewhere = table_of(scene.by)
    if elsewhere is not None:
        raise Refused("signed_in_elsewhere", f"You are signed in at {elsewhere.name}: tap out there first.", 409)
    burns = shoes.is_dealt_on(scene) and bool(policies.in_force("burn_at_relief"))
    return Decision([_taken(scene, scene.by, entered.terminal, entered.confirmed_by, burns=burns)])


@reproduces(DealerSignedIn)
def enact_sign_in(scene: CommandContext, event: DealerSignedIn, entry: Entry) -> PendingEntry:
    """By the dealer whom the entry names; who stood there, the log knows."""
    dealer = Staff(username=event.username, name=event.name, badge=event.badge, role=Role.DEALER)
    taking = replace(scene, by=dealer)
    permissions.a_dealer(taking, dealer)
    may_take(taking)
    if event.burns and not shoes.is_dealt_on(taking):
        raise AuditFailure("a card is to be burned for it, and no shoe lies here that is dealt on")
    if shoes.is_dealt_on(taking) and not policies.went_by("burn_at_relief", entry, event.burns.__eq__):
        raise AuditFailure("whether a card is burned at a relief, the house's terms said otherwise then")
    taken = _taken(taking, dealer, event.terminal, event.confirmed_by, burns=event.burns)
    return replace(taken, event=structs.replace(taken.event, **_names_as_written(scene, event)))


def _names_as_written(scene: CommandContext, event: DealerSignedIn) -> dict[str, str | None]:
    """Whoever left is called what the log called them, and entries of before names were written have none. What else
    somebody who agreed was called then, only the entry knows."""
    relieved = scene.standing.dealer
    is_named = event.relieved is not None and relieved is not None
    return {"relieved": relieved.name if is_named and relieved else None, "agreed": event.agreed}


def _refuse_unconfirmed(scene: CommandContext, entered: SignIn) -> None:
    """A table in use changes hands when its dealer gives it away, or a pit boss does."""
    dealer = scene.standing.dealer
    if entered.relieves != (dealer.username if dealer else None):
        who = f"{dealer.name} deals" if dealer else "Nobody deals"
        raise Refused("other_dealer", f"{who} at {scene.table.name} now: look again, then take it.", 409)
    if dealer is None or entered.confirmed_by == dealer.username:
        return
    boss = Staff.objects.filter(username=entered.confirmed_by).first()
    if boss is None or not boss.has_perm("tables.run_floor"):
        says = f"{dealer.name}, or a pit boss, has to agree to the relief by badge and PIN."
        raise Refused("not_theirs", says, 403)
    permissions.in_their_pit(scene, boss)


@enters(SignOut, permit=permissions.the_dealer_who_leaves)
def sign_out(scene: CommandContext, entered: SignOut) -> Decision:
    """The dealer taps out, between rounds; in mid-round a relief has to take over first."""
    may_leave(scene)
    return Decision([tap_out(scene.by.username, scene.by.name)])


@reproduces(DealerSignedOut)
def enact_sign_out(scene: CommandContext, event: DealerSignedOut, entry: Entry) -> PendingEntry:
    """Of whoever dealt, called as they were when they left."""
    dealer = scene.standing.dealer
    if dealer is None:
        raise AuditFailure("it signs somebody out where nobody deals")
    may_leave(scene)
    return tap_out(dealer.username, event.name)


def _taken(
    scene: CommandContext, by: Staff, terminal: str | None, confirmed_by: str | None, *, burns: bool
) -> PendingEntry:
    """The entry that says who deals here from now on, whom they relieve, and who agreed to it."""
    relieved = scene.standing.dealer
    taken = DealerSignedIn(
        username=by.username,
        name=by.name,
        badge=by.badge,
        terminal=terminal,
        relieves=relieved.username if relieved else None,
        confirmed_by=confirmed_by,
        burns=burns,
        relieved=relieved.name if relieved else None,
        agreed=_name_of(scene, confirmed_by),
    )
    return PendingEntry(taken)


def _name_of(scene: CommandContext, username: str | None) -> str | None:
    """What somebody is called who agrees: the dealer who leaves as the log calls them, a pit boss as the house does."""
    dealer = scene.standing.dealer
    if dealer is not None and dealer.username == username:
        return dealer.name
    return Staff.objects.filter(username=username).values_list("name", flat=True).first() if username else None


def tap_out(username: str, name: str) -> PendingEntry:
    """The entry that says that somebody deals here no longer."""
    return PendingEntry(DealerSignedOut(username=username, name=name))


# --- what the log alone can say of it: a proof asks the same ---------------------------------------------------


def may_count(scene: CommandContext, slip: Slip) -> None:
    """Raises Refused where a rack cannot be counted now, for the opener or the closer or in between."""
    if not slip.series.counts(RACK):
        return
    standing, table = scene.standing, scene.table.name
    if slip.series.opens and scene.table.retired_at:
        raise Refused("table_retired", f"{table} is retired: it is not opened any more.", 409)
    if slip.series.opens and standing.is_open:
        raise Refused("table_open", f"{table} is open already.", 409)
    if not slip.series.opens and not standing.is_open:
        raise Refused("table_closed", f"{table} is closed already.", 409)
    if standing.round_open:
        raise Refused("round_open", f"A round is open at {table}: count the rack when it is over.", 409)
    if any(paper.moves_on for paper in standing.slips):
        raise Refused("slip_open", f"Chips are on their way at {table}: receive them first.", 409)
    if slip.series.closes and standing.stacks:
        seats = ", ".join(map(str, sorted(standing.stacks)))
        raise Refused("chips_in_play", f"There are chips in play at seat {seats}: cash them out first.", 409)
    if slip.series.closes:
        commission.refuse_owed(scene, "the table closes")


def may_take(scene: CommandContext) -> None:
    """Raises Refused when the table is closed, or is theirs already."""
    standing = scene.standing
    if not standing.is_open:
        raise Refused("table_closed", f"{scene.table.name} is closed: a pit boss has to open it.", 409)
    permissions.not_locked(scene)
    if standing.dealer is not None and standing.dealer.username == scene.by.username:
        raise Refused("signed_in_already", f"You are signed in at {scene.table.name} already.", 409)


def may_leave(scene: CommandContext) -> None:
    """Raises Refused in mid-round."""
    if scene.standing.round_open:
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
    """The table at which a dealer is signed in."""
    with connection.cursor() as cursor:
        cursor.execute(_LATEST_DEALERS, [staff.username])
        row = cursor.fetchone()
    return Table.objects.get(pk=row[0]) if row else None
