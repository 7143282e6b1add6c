"""Worth of a Rocket round in progress to each seat, by the visible cards."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from tables.games.cards import shoe
from tables.games.rocket import HIT, State
from tables.maths.rocket_value import backward, costs, dealers, folds, players
from tables.maths.situation import OPTIMAL, Situation

ASSUMES: Final = ""
"""No assumption: each seat makes its best choices (``providers.MidroundProvider``)."""


def midround(state: State) -> dict[int, float]:
    """The expected result of each seat with a bet, in cents. Raises Unknowable for an impossible shoe."""
    tenths = worth(state)
    bets = zip(state.seats, state.bets, strict=True)
    return {seat: tenths[seat] * bet / 10 for seat, bet in bets if bet}


def worth(state: State) -> Mapping[int, float]:
    """Expectation of each seat that bet, in tenths of its bet, under best play from now on.

    A seat that is out has its result. All unseen cards, including burned ones, are equally likely to come next, so the
    order of a shoe does not matter. Raises Unknowable for an impossible shoe.
    """
    if not state.stacks:
        bets = [seat for seat, bet in zip(state.seats, state.bets, strict=True) if bet]
        return dict.fromkeys(bets, _place(_situation(state, ()), (), (), hits=True))
    return {seat: _seat(state, index) for index, seat in enumerate(state.seats)}


def _seat(state: State, index: int) -> float:
    payout = state.payouts[index]
    if payout is not None:
        return (payout.returned_cents - payout.staked_cents) / (payout.staked_cents / 10)
    player, dealer = state.stacks[index], state.dealer
    hits = not player or (state.stage == HIT and state.waiting[0] == index)
    return _place(_situation(state, (*player, *dealer)), player, dealer, hits=hits)


def _situation(state: State, cards: tuple[int, ...]) -> Situation:
    """The shoe of a round that came to this place: its own cards are put back, as ``decide`` does it."""
    unseen = [full - out for full, out in zip(shoe(state.rules.decks), state.gone, strict=True)]
    for rank in cards:
        unseen[rank - 1] += 1
    return Situation(state.rules.decks, tuple(unseen), state.rules.burn)


def _place(situation: Situation, player: tuple[int, ...], dealer: tuple[int, ...], *, hits: bool) -> float:
    """Expectation of a seat still in: it has chosen to hit, has yet to decide, or waits for the dealer's card."""
    size = len(dealer)
    row = players().place[len(player)][tuple(sorted(player))]
    column = dealers().place[size][tuple(sorted(dealer))]
    layer = next(layer for layer in backward(situation.base, partial(folds, OPTIMAL)) if layer.size == size)
    if len(player) > size:
        return float(layer.due[row, column])
    hit = float(layer.hit[row, column])
    return hit if hits else max(hit, -float(costs(size)[row, column]))
