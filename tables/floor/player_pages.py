"""Player pages: at a table with an electronic shoe, the hand and the choices of one seat, at an address of its own.

The address holds a random token; the database keeps only its digest. It is issued to a dealer or a pit boss, who hands
it over, and is shown once. Issuing another one, cashing out and closing the table revoke it.
"""

from __future__ import annotations

import secrets
from hashlib import sha256

from ledger import site_log
from ledger.proof.chain import Entry
from tables.floor import permissions
from tables.floor.command_context import AtSeat, CommandContext, Decision, PendingEntry
from tables.floor.handlers import enters, reproduces
from tables.floor.inputs import Input, IssueSeatPage
from tables.games.catalog import GAMES
from tables.games.protocol import Choose
from tables.log.entries.seats import SeatPageIssued, SeatPageRevoked
from tables.models import SeatPage, ShoeSource, Table
from tables.refusals import Refused


def new_token() -> str:
    """A random token of 256 bits, which makes an address unguessable."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """SHA-256 of a token in hexadecimal, the form in which the database keeps it."""
    return sha256(token.encode()).hexdigest()


def find(token: str) -> SeatPage | None:
    """The page with this token; None where it was revoked or never issued."""
    return SeatPage.objects.select_related("table__book").filter(token_digest=digest_of(token)).first()


def possible(table: Table) -> bool:
    """Whether the seats of a table have pages: its electronic shoe deals cards that only one seat may see."""
    game = GAMES[table.game]
    return table.source == ShoeSource.HOUSE and (game.hides or game.looks)


# --- As inputs -------------------------------------------------------------------------------------------------


@enters(IssueSeatPage, permit=permissions.the_dealer_or_the_floor)
def issue(context: CommandContext, entered: IssueSeatPage) -> Decision:
    """Issue a page to a seat and revoke its earlier one. During a game an alert reports it. Raises Refused."""
    table, seat = context.table, entered.seat
    if not possible(table):
        message = f"Seats have pages of their own where a house shoe deals them facedown cards: {table.name} has none."
        raise Refused("no_seat_pages", message, 422)
    if not 1 <= seat <= table.seats:
        raise Refused("unknown_seat", f"There is no seat {seat}: {table.name} has {table.seats}.", 422)
    # Replaced and not added: with two valid addresses, two persons could play one hand.
    before, _ = SeatPage.objects.filter(table=table, seat=seat).delete()
    SeatPage.objects.create(table=table, seat=seat, token_digest=entered.digest)
    # The log gets a digest of the digest: from an export of the log no stored token can be recognised.
    step = PendingEntry(SeatPageIssued(seat=seat, again=bool(before), page=site_log.digest_of(entered.digest)))
    if not context.standing.round_open:
        return Decision([step])
    # The author could have looked at the hand. The player notices, as their own page ends, and the pit gets an alert.
    message = (
        f"{table.name}, round {context.standing.next_number}: {context.by.name} made a page for seat {seat} in mid-game"
    )
    return Decision([step], alert=message, evidence={"seat": seat, "seq": context.next_seq})


@reproduces(SeatPageIssued)
def enact_issue(context: CommandContext, event: SeatPageIssued, entry: Entry) -> PendingEntry:
    """The page as issued.

    The flag for an earlier page is taken from the entry: closing revokes pages without a trace here.
    """
    return PendingEntry(event, entry.round)


def revoke(context: CommandContext, seat: int | None = None) -> list[PendingEntry]:
    """Revoke the page of a seat, or of all seats by default; returns the entries about it."""
    pages = SeatPage.objects.filter(table=context.table, **({} if seat is None else {"seat": seat}))
    seats = sorted(pages.values_list("seat", flat=True))
    # Deleted and not marked: the digest of an address has no further use, and a row could be restored to life.
    pages.delete()
    return [PendingEntry(SeatPageRevoked(seat=number)) for number in seats]


def permit(context: CommandContext, by: AtSeat, entered: Input) -> None:
    """Raises Refused unless the input is a choice for the page's own seat, and a choice of that seat is due."""
    # Read under the lock: a page revoked while its request was waiting makes no choice.
    if not SeatPage.objects.filter(pk=by.page, table=context.table, seat=by.seat).exists():
        raise Refused("page_revoked", "This page is no longer in use: ask the dealer for its new address.", 404)
    if not isinstance(entered, Choose) or entered.seat != by.seat:
        raise Refused("not_permitted", f"This is the page of seat {by.seat}: it chooses for that seat alone.", 403)
    permissions.not_locked(context)
    current = context.standing.round
    if current is None or not (context.standing.round_open and current.has_choosers and by.seat in current.asked):
        raise Refused("not_asked", f"Seat {by.seat} has nothing to choose now.", 409)
