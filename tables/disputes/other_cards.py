"""Which card of a round may have been another one: the round is played again with it, and settled.

Either the card was named wrongly and the round settled as it lay, or the other way. What followed that card was dealt
in any case, so it has to be possible after the other card too. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import gcd
from typing import Any

from tables.disputes.rack_history import Dealt
from tables.games.cards import PAIRS, RANK_OF, RANKS, SUIT_OF, pack_of
from tables.games.play import play
from tables.games.protocol import DEALER, Action, Card, Illegal, Payout


def cents_a_rank(payout: Payout) -> int | None:
    """What a payout changes by for each rank of the card that decided it; None where it does not go by ranks."""
    if not payout.card or not payout.net_cents or payout.net_cents % payout.card:
        return None
    return payout.net_cents // payout.card


def other_cards(round_: Dealt, variance_cents: int | None) -> Iterator[tuple[int, Card, int, int]]:
    """(which of its seat's cards, the card, another rank, the amount) wherever the rack would be off by just that
    amount; or, where none is named, by any."""
    game, state = round_.game, round_.game.open(round_.rules, round_.opening)
    counts: dict[int, int] = {}
    for index, action in enumerate(round_.actions):
        if type(action) is Card:
            counts[action.to] = nth = counts.get(action.to, 0) + 1
            for rank in _candidates(round_, action, variance_cents):
                continuation = (Card(rank, action.to), *round_.actions[index + 1 :])
                difference = _difference(round_, state, continuation)
                if difference and variance_cents in (None, difference):
                    yield nth, action, rank, difference
        state = game.apply(state, action)


def _candidates(round_: Dealt, card: Card, variance_cents: int | None) -> Iterator[int]:
    pack = pack_of(round_.opening.dealt)
    if pack is PAIRS and variance_cents is None:
        yield from (rank for rank in RANKS if rank != card.rank)
        return
    if pack is PAIRS and variance_cents is not None:
        yield from _candidate_ranks(round_.payouts, card, variance_cents)
        return
    for candidate in range(1, len(pack.deck) + 1):  # one key was another: of a card, its rank or its suit
        if candidate != card.rank and (
            SUIT_OF[candidate] == SUIT_OF[card.rank] or RANK_OF[candidate] == RANK_OF[card.rank]
        ):
            yield candidate


def _candidate_ranks(payouts: Sequence[Payout], card: Card, variance_cents: int) -> Iterator[int]:
    """The other ranks of a card that could come to the amount: most are sorted out here, before anything is played.

    A payout says which card decided it. A seat's card touches that seat's payout, and may keep the seat in or take it
    out; the dealer's card touches all payouts, each only if the old card decided it or the new one does.
    """
    payouts_at_stake = [(payout, cents_a_rank(payout)) for payout in payouts if card.to in (DEALER, payout.seat)]
    if any(step is None for _, step in payouts_at_stake):
        yield from (rank for rank in RANKS if rank != card.rank)
        return
    stakes = [(payout.net_cents, payout.card or 0, step or 0) for payout, step in payouts_at_stake]
    if variance_cents % gcd(*(step for *_, step in stakes)):
        return
    deciding_ranks = [rank for _, rank, _ in stakes if rank == card.rank]
    elsewhere = set() if card.to == DEALER else {payout.card or 0 for payout in payouts}
    for rank in RANKS:
        if rank == card.rank:
            continue
        if len(deciding_ranks) > 1 or variance_cents in _sums(stakes, card, {rank} | elsewhere):
            yield rank


def _sums(payouts: Sequence[tuple[int, int, int]], card: Card, deciding: Collection[int]) -> set[int]:
    """What the rack could be off by, over (net, deciding rank, step) of the payouts that a card touches."""
    sums = {0}
    for net, deciding_rank, step in payouts:
        ranks = RANKS if deciding_rank == card.rank else deciding
        changes = {0, *(net - rank * step for rank in ranks)}
        if card.to != DEALER:
            changes.update(net + rank * step for rank in ranks)
        sums = {total + change for total in sums for change in changes}
    return sums


def _difference(round_: Dealt, state: Any, continuation: Sequence[Action]) -> int | None:
    """What the rack would have more if the round had gone on like this; None where it could not have."""
    game = round_.game
    try:
        for action in continuation:
            state = play(game, state, action)
    except Illegal:
        return None
    if game.prompts(state):
        return None
    due = round_.paid(game.settle(state))
    return sum(payout.net_cents for payout in round_.payouts) - sum(payout.net_cents for payout in due)
