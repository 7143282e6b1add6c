"""Verifies electronic shoes from the log: each order was committed to before its first card, and each card came from
it.

One pass over a table's log. An opened order is compared with its commitment, the cards of the shoe, and the cards
dealt; a sealed one likewise, without revealing it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ledger.inspection import OUTAGE, unexpected_fault
from ledger.log import entries, read_head
from ledger.models import Book
from ledger.proof.chain import Broken, Fault, Head, walk
from tables.games.protocol import Illegal
from tables.log.catalog import event_of, fold
from tables.log.shoe_orders import Order, Seals, Unproven, check, commitment_of
from tables.log.state import TableState
from tables.models import HouseShoe, Table


def prove(table: Table) -> Iterator[Order]:
    """Yield each verified order of a table's electronic shoes, opened or still sealed. Raises Unproven at the first
    fault.

    Raises ledger.proof.chain.Broken if the log itself fails verification.
    """
    state, seals = TableState(), Seals()
    head = read_head(table.book_id)
    for entry in walk(entries(table.book_id, through=head.seq), head):
        try:
            event = event_of(entry)
            state = fold(state, event, seq=entry.seq, round=entry.round)
            opened = seals.follow(state, entry.seq, event)
        except (Illegal, KeyError, TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
            raise Unproven(entry.seq, f"it is no entry that a table can write: {error}") from None
        if opened is not None:
            yield opened
    live = seals.live
    # A sealed order is checked here without being revealed: only this host has its nonce.
    if live is not None:
        shoe = HouseShoe.objects.filter(commitment=live.commitment).first()
        if shoe is None:
            raise Unproven(live.committed_seq, "the order that it commits to was not kept")
        check(live, bytes(shoe.order), bytes(shoe.nonce), head.seq)
        yield live


def stored_order_fault(book: Book, committed: Mapping[str, int], seals: Seals | None, through: Head) -> Fault | None:
    """The first stored order that differs from its commitment in the log or from the cards dealt, or is missing; None
    if all agree.

    ``committed``: each commitment up to ``through``, with its entry; ``seals``: the cards dealt since the last
    commitment.
    """
    missing, live = dict(committed), seals.live if seals else None
    for row in HouseShoe.objects.filter(table__book=book).order_by("pk").iterator():
        seq = missing.pop(row.commitment, None)
        # An order without a commitment could have been chosen after the bets.
        if seq is None and row.commitment not in _committed_since(book, through):
            return Fault(book.name, through.seq, f"an order of a house shoe is kept that no entry commits to, {row.pk}")
        if seq is None:
            continue
        order, nonce = bytes(row.order), bytes(row.nonce)
        # The nonce keeps the order secret until it is opened, although its digest is in the log.
        if commitment_of(nonce, order) != row.commitment:
            return Fault(book.name, seq, "the order that is kept is not the one that it commits to")
        if live is not None and live.commitment == row.commitment:
            check(live, order, nonce, through.seq)
    if missing:
        return Fault(book.name, min(missing.values()), "the order that it commits to was not kept")
    return None


def _committed_since(book: Book, through: Head) -> set[str | None]:
    """The commitments made by entries after ``through``, which were written while the earlier ones were verified."""
    return {event_of(entry).commits for entry in entries(book.pk, through.seq)}


def fault(table: Table) -> Fault | None:
    """The first fault of a table's electronic shoes; None if all are verified. An unexpected error becomes a fault too,
    so that other logs are still verified."""
    try:
        for _ in prove(table):
            pass
    except Broken as broken:
        return broken.fault
    except Unproven as unproven:
        return fault_of(table, unproven)
    except OUTAGE:
        raise
    except Exception as error:
        return unexpected_fault(table.name, 0, error)
    return None


def fault_of(table: Table, unproven: Unproven) -> Fault:
    """The fault in the form of other verifications."""
    return Fault(table.name, unproven.seq, unproven.what)
