"""Proving house shoes from the log: each order was committed to before its first card, and every card came from it.

One pass over a table's log. An order that was opened is held against its commitment, the cards that the shoe has, and
the cards that were dealt; one that is still sealed, against the same, but only its holder learns it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ledger.inspection import OUTAGE, unforeseen
from ledger.log import entries, read_head
from ledger.proof.chain import Broken, Fault, walk
from tables.games.felt import Illegal
from tables.log.catalog import event_of, fold
from tables.log.fold import Standing
from tables.log.shoe_orders import Order, Seals, Unproven, check
from tables.models import HouseShoe, Table


def prove(table: Table) -> Iterator[Order]:
    """Every order of a table's house shoes that holds, opened or still sealed; raises Unproven at the first fault.

    Raises ledger.log.Broken when the log itself does not hold.
    """
    standing, seals = Standing(), Seals()
    head = read_head(table.book_id)
    for entry in walk(entries(table.book_id, through=head.seq), head):
        try:
            event = event_of(entry)
            standing = fold(standing, event, seq=entry.seq, round=entry.round)
            opened = seals.follow(standing, entry.seq, event)
        except (Illegal, KeyError, TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
            raise Unproven(entry.seq, f"it is no entry that a table can write: {error}") from None
        if opened is not None:
            yield opened
    live = seals.live
    if live is not None:
        shoe = HouseShoe.objects.filter(commitment=live.commitment).first()
        if shoe is None:
            raise Unproven(live.committed_seq, "the order that it commits to was not kept")
        check(live, bytes(shoe.order), bytes(shoe.nonce), head.seq)
        yield live


def fault(table: Table) -> Fault | None:
    """The first thing about a table's house shoes that does not hold. Whatever somebody wrote into one log, the proof
    of the others goes on."""
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
        return unforeseen(table.name, 0, error)
    return None


def fault_of(table: Table, unproven: Unproven) -> Fault:
    """The fault as other proofs name theirs."""
    return Fault(table.name, unproven.seq, unproven.what)
