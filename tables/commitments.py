"""Proving house shoes from the log: each order was committed to before its first card, and every card came from it.

One pass over a table's log. An order that was opened is held against its commitment, the cards that the shoe has, and
the cards that were dealt; one that is still sealed, against the same, but only its holder learns it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ledger.surveillance import Entry, Fault, entries, read_head, walk
from tables import standing
from tables.games import cards
from tables.games.cards import RANKS, Composition
from tables.games.felt import Illegal
from tables.models import HouseShoe, ShoeSource, Table
from tables.shoes import commitment_of, pick_apart
from tables.standing import Standing


@dataclass(slots=True)
class Order:
    """One order that a house shoe was dealt from, between its commitment and its opening."""

    shoe: int
    commitment: str
    composition: Composition
    burn: int
    committed_seq: int
    opened_seq: int | None = None
    dealt: list[tuple[int, int]] = field(default_factory=list)
    """(entry, rank) of every card that came from it."""
    apart: list[tuple[int, int, list[int], str]] = field(default_factory=list)
    """(entry, rank, the cards it came from, moment) of every card that was shuffled apart, and picked by its nonce."""


class Unproven(Exception):
    """An entry that does not fit the order that was committed to."""

    def __init__(self, seq: int, what: str) -> None:
        super().__init__(what)
        self.seq = seq
        self.what = what


def prove(table: Table) -> Iterator[Order]:
    """Every order of a table's house shoes that holds, opened or still sealed; raises Unproven at the first fault.

    Raises ledger.surveillance.Broken when the log itself does not hold.
    """
    now, seals = Standing(), Seals()
    head = read_head(table.book_id)
    for entry in walk(entries(table.book_id, through=head.seq), head):
        try:
            now = standing.fold(
                now, seq=entry.seq, subject=entry.subject, kind=entry.kind, round=entry.round, content=entry.content
            )
            opened = seals.follow(now, entry)
        except (Illegal, KeyError, TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
            raise Unproven(entry.seq, f"it is no entry that a table can write: {error}") from None
        if opened is not None:
            yield opened
    live = seals.live
    if live is not None:
        kept = HouseShoe.objects.filter(commitment=live.commitment).first()
        if kept is None:
            raise Unproven(live.committed_seq, "the order that it commits to was not kept")
        _check(live, bytes(kept.order), bytes(kept.nonce), head.seq)
        yield live


@dataclass(slots=True)
class Seals:
    """Follows a table's log: which order its house shoe is dealt from, and what was dealt from it so far."""

    live: Order | None = None

    def follow(self, now: Standing, entry: Entry) -> Order | None:
        """The order that this entry opened, if it did and the order holds; ``now`` is where the table stands after it.

        Raises Unproven for an entry that does not fit what was committed to.
        """
        done = None
        if opened := entry.content.get("opened"):
            done, self.live = _opened(self.live, entry, opened), None
        self.live = _committed(now, entry, self.live) or self.live
        _dealt(now, entry, self.live)
        return done


def fault_of(table: Table, unproven: Unproven) -> Fault:
    """The fault as other proofs name theirs."""
    return Fault(table.name, unproven.seq, unproven.what)


# --- one entry after the other ---------------------------------------------------------------------------------


def _committed(now: Standing, entry: Entry, live: Order | None) -> Order | None:
    """The order that an entry commits to, if it does."""
    commitment = _commitment(entry)
    if commitment is None:
        if live is not None and entry.kind == "burned":
            live.burn = entry.content["shoe"]["burn"]
        return None
    if live is not None:
        raise Unproven(entry.seq, "it commits to an order before the one before it was opened")
    shoe = now.shoe
    if shoe is None:
        raise Unproven(entry.seq, "it commits to an order, and there is no shoe")
    whole = cards.shoe(shoe.decks)
    if entry.subject == "shoe":
        return Order(shoe.number, commitment, whole, 0, entry.seq)
    if now.round is None:
        raise Unproven(entry.seq, "it shuffles discards, and there is no round")
    in_play = now.round.game.gone(now.round.state)
    discards = tuple(one - kept for one, kept in zip(whole, in_play, strict=True))
    return Order(shoe.number, commitment, discards, now.round.game.burned(now.round.rules), entry.seq)


def _commitment(entry: Entry) -> str | None:
    found = None
    if (entry.subject, entry.kind) == ("shoe", "shuffled"):
        found = entry.content["shoe"]["commitment"]
    elif entry.subject == "round":
        found = entry.content.get("commitment")
    return None if found is None else str(found)


def _dealt(now: Standing, entry: Entry, live: Order | None) -> None:
    """Note the cards that an entry deals from a house shoe."""
    if entry.subject != "round" or now.shoe is None or now.shoe.source != ShoeSource.HOUSE:
        return
    apart = {at: (pool, moment) for at, pool, moment in entry.content.get("apart", ())}
    actions = [*enumerate(entry.content.get("actions", ()))]
    ranks = [action["rank"] for at, action in actions if action["do"] == "card" and at not in apart]
    if live is not None:
        live.apart += [(entry.seq, actions[at][1]["rank"], *apart[at]) for at in apart]
    if ranks and entry.kind == "take_back":
        raise Unproven(entry.seq, "it takes back a card that a house shoe dealt")
    if ranks and live is None:
        raise Unproven(entry.seq, "it deals a card before any order was committed to")
    if live is not None:
        live.dealt += [(entry.seq, rank) for rank in ranks]


# --- what was opened -------------------------------------------------------------------------------------------


def _opened(live: Order | None, entry: Entry, opened: Mapping[str, Any]) -> Order:
    if live is None or opened["commitment"] != live.commitment:
        raise Unproven(entry.seq, "it opens an order that the shoe was not dealt from")
    _check(live, bytes(opened["order"]), bytes.fromhex(opened["nonce"]), entry.seq)
    live.opened_seq = entry.seq
    return live


def _check(live: Order, order: bytes, nonce: bytes, seq: int) -> None:
    if commitment_of(nonce, order) != live.commitment:
        raise Unproven(seq, f"order and nonce are not those that entry {live.committed_seq} committed to")
    if not all(rank in RANKS for rank in order) or cards.count(order) != live.composition:
        raise Unproven(live.committed_seq, "the order that it committed to does not hold the cards of the shoe")
    if len(live.dealt) > len(order) - live.burn:
        raise Unproven(live.dealt[-1][0], "it deals a card after the last one of its order")
    for (dealt_seq, rank), due in zip(live.dealt, order[live.burn :], strict=False):
        if rank != due:
            raise Unproven(dealt_seq, f"it deals a {rank}, the order has a {due} there")
    for picked_seq, rank, pool, moment in live.apart:
        if pick_apart(nonce, pool, moment) != rank:
            raise Unproven(picked_seq, f"it deals a {rank} of the cards shuffled apart, the nonce picks another")
