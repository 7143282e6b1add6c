"""The orders of house shoes, as a log commits to them, deals them and opens them. Pure; nothing is read here."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from ledger.proof.chain import Entry
from tables.games import cards
from tables.games.cards import RANKS, Composition
from tables.log.fold import HOUSE_SHOE, Standing


def commitment_of(nonce: bytes, order: bytes) -> str:
    """The commitment to an order: SHA-256, in hex, over the nonce and the ranks, one byte each, burn first."""
    return sha256(nonce + order).hexdigest()


def pick_apart(nonce: bytes, pool: Sequence[int], moment: str) -> int:
    """The card of a pool (sorted) that a shoe's nonce picks at a moment: HMAC-SHA256, modulo the number of cards."""
    digest = hmac.digest(nonce, moment.encode(), "sha256")
    return pool[int.from_bytes(digest) % len(pool)]


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

    def resume(self, now: Standing, entry: Entry) -> None:
        """Take up an order where an earlier proof left it: the entries since its commitment, held against nothing."""
        if commitment_in(entry) is not None:
            # Of a shoe that is gone, what is left of its last round is folded too.
            self.live = _committed(now, entry, None) if now.shoe else None
        elif entry.content.get("opened"):
            self.live = None
        else:
            _committed(now, entry, self.live)
        if self.live is not None:
            _dealt(now, entry, self.live)


# --- one entry after the other ---------------------------------------------------------------------------------


def _committed(now: Standing, entry: Entry, live: Order | None) -> Order | None:
    """The order that an entry commits to, if it does."""
    commitment = commitment_in(entry)
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


def commitment_in(entry: Entry) -> str | None:
    """The commitment to an order that an entry has, if it has one."""
    found = None
    if (entry.subject, entry.kind) == ("shoe", "shuffled"):
        found = entry.content["shoe"]["commitment"]
    elif entry.subject == "round":
        found = entry.content.get("commitment")
    return None if found is None else str(found)


def _dealt(now: Standing, entry: Entry, live: Order | None) -> None:
    """Note the cards that an entry deals from a house shoe."""
    if entry.subject != "round" or now.shoe is None or now.shoe.source != HOUSE_SHOE:
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
    check(live, bytes(opened["order"]), bytes.fromhex(opened["nonce"]), entry.seq)
    live.opened_seq = entry.seq
    return live


def check(live: Order, order: bytes, nonce: bytes, seq: int) -> None:
    """Hold an order and its nonce against what was committed to and dealt; raises Unproven."""
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
