"""The orders of house shoes, as a log commits to them, deals them and opens them. Pure; nothing is read here."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from operator import itemgetter

from tables.games.cards import Composition, pack_of
from tables.games.protocol import Card, SetAside
from tables.log.entries.rounds import Played, TakenBack
from tables.log.entries.shoes import Burned, CardSetAside, ShoeStep
from tables.log.event import Event, Opened
from tables.log.state import HOUSE_SHOE, TableState


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
    dealt: list[tuple[int, int, int]] = field(default_factory=list)
    """(entry, card, how many cards were left with it) of every card that came from it."""
    apart: list[tuple[int, int, list[int], str]] = field(default_factory=list)
    """(entry, rank, the cards it came from, moment) of every card that was shuffled apart, and picked by its nonce."""


class Unproven(Exception):
    """An entry that does not fit the order that was committed to."""

    def __init__(self, seq: int, sentence: str) -> None:
        super().__init__(sentence)
        self.seq = seq
        self.what = sentence


@dataclass(slots=True)
class Seals:
    """Follows a table's log: which order its house shoe is dealt from, and what was dealt from it so far."""

    live: Order | None = None
    before: bytes = b""
    """The order that was opened last: a card that lay facedown then is of it."""

    def follow(self, standing: TableState, seq: int, event: Event) -> Order | None:
        """The order that this entry opened, if it did and the order holds; ``standing`` is the table's after it.

        Raises Unproven for an entry that does not fit what was committed to.
        """
        order = None
        if event.opens is not None:
            order, self.live = _opened(self.live, seq, event.opens), None
            self.before = bytes(event.opens.order)
        self.live = _committed(standing, seq, event, self.live) or self.live
        _dealt(standing, seq, event, self.live, self.before)
        return order

    def resume(self, standing: TableState, seq: int, event: Event) -> None:
        """Take up an order where an earlier proof left it: the entries since its commitment, held against nothing."""
        if event.commits is not None:
            # Of a shoe that is gone, what is left of its last round is folded too.
            self.live = _committed(standing, seq, event, None) if standing.shoe else None
        elif event.opens is not None:
            self.live = None
        else:
            _committed(standing, seq, event, self.live)
        if self.live is not None:
            _dealt(standing, seq, event, self.live, b"")


# --- one entry after the other ---------------------------------------------------------------------------------


def _committed(standing: TableState, seq: int, event: Event, live: Order | None) -> Order | None:
    """The order that an entry commits to, if it does."""
    commitment = event.commits
    if commitment is None:
        if live is not None and isinstance(event, Burned):
            live.burn = event.shoe.burn
        return None
    if live is not None:
        raise Unproven(seq, "it commits to an order before the one before it was opened")
    shoe = standing.shoe
    if shoe is None:
        raise Unproven(seq, "it commits to an order, and there is no shoe")
    whole = shoe.pack.shoes[shoe.decks]
    if isinstance(event, ShoeStep):
        return Order(shoe.number, commitment, whole, 0, seq)
    if standing.round is None:
        raise Unproven(seq, "it shuffles discards, and there is no round")
    in_play = standing.round.game.gone(standing.round.state)
    discards = tuple(all_of - count for all_of, count in zip(whole, in_play, strict=True))
    current = standing.round
    return Order(shoe.number, commitment, discards, sum(discards) - current.game.cards_left(current.state), seq)


def _dealt(standing: TableState, seq: int, event: Event, live: Order | None, before: bytes) -> None:
    """Note the cards that an entry deals from a house shoe."""
    if isinstance(event, CardSetAside) and live is not None and event.left is not None:
        live.dealt.append((seq, event.card, event.left))
    if not isinstance(event, Played | TakenBack) or standing.shoe is None or standing.shoe.source != HOUSE_SHOE:
        return
    apart = {card.action: card for card in event.apart} if isinstance(event, Played) else {}
    ranks = {index: action.rank for index, action in enumerate(event.actions) if isinstance(action, Card | SetAside)}
    if live is not None:
        live.apart += [(seq, ranks[index], list(card.pool), card.moment) for index, card in apart.items()]
    lefts = standing.round.plays[-1].lefts if isinstance(event, Played) and standing.round else ()
    in_order = [
        (rank, cards_left)
        for (index, rank), cards_left in zip(ranks.items(), lefts, strict=False)
        if index not in apart
    ]
    if isinstance(event, TakenBack) and ranks.keys() - apart.keys():
        raise Unproven(seq, "it takes back a card that a house shoe dealt")
    if in_order and live is None:
        raise Unproven(seq, "it deals a card before any order was committed to")
    for card, cards_left in in_order:
        if cards_left < 0 and before and before[len(before) + cards_left] != card:
            raise Unproven(seq, f"it turns a {card}, which is not what was dealt facedown")
    if live is not None:
        live.dealt += [(seq, card, cards_left) for card, cards_left in in_order if cards_left > 0]


# --- what was opened -------------------------------------------------------------------------------------------


def _opened(live: Order | None, seq: int, opened: Opened) -> Order:
    if live is None or opened.commitment != live.commitment:
        raise Unproven(seq, "it opens an order that the shoe was not dealt from")
    check(live, bytes(opened.order), bytes.fromhex(opened.nonce), seq)
    live.opened_seq = seq
    return live


def check(live: Order, order: bytes, nonce: bytes, seq: int) -> None:
    """Hold an order and its nonce against what was committed to and dealt; raises Unproven."""
    if commitment_of(nonce, order) != live.commitment:
        raise Unproven(seq, f"order and nonce are not those that entry {live.committed_seq} committed to")
    kinds = len(live.composition)
    if not all(1 <= card <= kinds for card in order) or pack_of(live.composition).count(order) != live.composition:
        raise Unproven(live.committed_seq, "the order that it committed to does not hold the cards of the shoe")
    # The card with most left was dealt first, even where it lay facedown and was turned after others.
    dealt_seq, card, cards_left = max(live.dealt, key=itemgetter(2), default=(0, 0, len(order)))
    if cards_left < len(order) - live.burn:
        raise Unproven(dealt_seq, f"it deals a {card} first, the order has a {order[live.burn]} there")
    for dealt_seq, card, cards_left in live.dealt:
        if not 0 < cards_left <= len(order) - live.burn:
            raise Unproven(dealt_seq, "it deals a card after the last one of its order")
        due = order[len(order) - cards_left]
        if card != due:
            raise Unproven(dealt_seq, f"it deals a {card}, the order has a {due} there")
    for picked_seq, rank, pool, moment in live.apart:
        if pick_apart(nonce, pool, moment) != rank:
            raise Unproven(picked_seq, f"it deals a {rank} of the cards shuffled apart, the nonce picks another")
