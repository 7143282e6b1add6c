"""A day of Rocket as chance deals it, and the mistakes that somebody might make in it."""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

from tables.disputes.rack_history import Dealt
from tables.games.cards import NOTHING, RANKS, Composition
from tables.games.play import play, replay
from tables.games.protocol import (
    Action,
    AskCard,
    AskChoice,
    Bet,
    Card,
    Choose,
    CloseBets,
    Illegal,
    Limits,
    Opening,
    Payout,
)
from tables.games.rocket import Rocket, Rules, State

GAME, RULES = Rocket(), Rules(decks=6, unit=100)
VALUES = (100, 500, 2_500, 10_000)
SEATS = (1, 2, 3, 4, 5, 6)
BETS = (1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000)


def day(rounds: int, chance: random.Random) -> list[Dealt]:
    """So many rounds of two to six seats; a seat folds when that is cheap."""
    return [deal(number, chance) for number in range(1, rounds + 1)]


def deal(number: int, chance: random.Random) -> Dealt:
    opening = Opening(SEATS, Limits(1_000, 10_000), NOTHING)
    state, actions = GAME.open(RULES, opening), []
    betting: list[Action] = [
        Bet(seat, chance.choice(BETS)) for seat in sorted(chance.sample(SEATS, chance.randint(2, 6)))
    ]
    for action in [*betting, CloseBets()]:
        state = play(GAME, state, action)
        actions.append(action)
    while prompts := GAME.prompts(state):
        action = answer(prompts[0], state, chance)
        state = play(GAME, state, action)
        actions.append(action)
    return Dealt(number, number * 40, GAME, RULES, opening, actions=tuple(actions), payouts=GAME.settle(state))


def by_hand(bets: dict[int, int], cards: list[int], dealt: Composition) -> Dealt:
    """A round from one deck with these bets and cards; every seat hits."""
    rules, opening, coming = Rules(decks=1, burn=0, unit=100), Opening(SEATS, Limits(1_000, 10_000), dealt), iter(cards)
    state, actions = GAME.open(rules, opening), []
    for action in [*(Bet(seat, cents) for seat, cents in bets.items()), CloseBets()]:
        state = play(GAME, state, action)
        actions.append(action)
    while prompts := GAME.prompts(state):
        ask = prompts[0]
        action = Choose(ask.seat, "hit") if isinstance(ask, AskChoice) else Card(next(coming), getattr(ask, "to", 0))
        state = play(GAME, state, action)
        actions.append(action)
    return Dealt(1, 40, GAME, rules, opening, actions=tuple(actions), payouts=GAME.settle(state))


def answer(ask: object, state: State, chance: random.Random) -> Action:
    if isinstance(ask, AskCard):
        return Card(chance.choice(ask.may_come), ask.to)
    assert isinstance(ask, AskChoice)
    bet = state.bets[state.seats.index(ask.seat)]
    cheap = ask.choices[1].cost_cents * 10 <= bet * 2
    return Choose(ask.seat, "fold" if cheap or chance.random() < 0.1 else "hit")


# --- Mistakes: each gives what the rack has more than the log says, or None where this round has no room for it ---


@dataclass(frozen=True)
class Planted:
    """A mistake that was made in a round."""

    round: int
    kind: str
    seat: int
    rack_cents: int


def _of(dealt: Dealt, chance: random.Random, fits: Callable[[Payout], bool]) -> Payout | None:
    return chance.choice(fitting) if (fitting := [payout for payout in dealt.payouts if fits(payout)]) else None


def paid_twice(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    payout = _of(dealt, chance, lambda payout: payout.net_cents > 0)
    return (payout.seat, -payout.net_cents) if payout else None


def not_paid(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    payout = _of(dealt, chance, lambda payout: payout.net_cents > 0)
    return (payout.seat, payout.net_cents) if payout else None


def not_taken(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    payout = _of(dealt, chance, lambda payout: payout.net_cents < 0)
    return (payout.seat, payout.net_cents) if payout else None


def took_all(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    payout = _of(dealt, chance, lambda payout: -payout.staked_cents < payout.net_cents < 0)
    return (payout.seat, payout.staked_cents + payout.net_cents) if payout else None


def wrong_way(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    payout = _of(dealt, chance, lambda payout: payout.net_cents != 0)
    return (payout.seat, 2 * payout.net_cents) if payout else None


def neighbour(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    winners = [payout for payout in dealt.payouts if payout.net_cents > 0]
    pairs = [(seated, beside) for seated, beside in itertools.pairwise(winners) if seated.net_cents != beside.net_cents]
    if not pairs:
        return None
    seated, beside = chance.choice(pairs)
    return seated.seat, seated.net_cents - beside.net_cents


def chip_other(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    """The largest chip of a win is handed out as one of the next denomination."""
    payout = _of(dealt, chance, lambda payout: payout.net_cents > 0)
    if payout is None:
        return None
    value = max(value for value in VALUES if value <= payout.net_cents)
    place = VALUES.index(value)
    next_value = (
        VALUES[place + 1] if (place + 1 < len(VALUES) and chance.random() < 0.5) or place == 0 else VALUES[place - 1]
    )
    return payout.seat, value - next_value


def chip_more(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    """The largest chip of a win is handed out once more."""
    payout = _of(dealt, chance, lambda payout: payout.net_cents > 0)
    return (payout.seat, -max(value for value in VALUES if value <= payout.net_cents)) if payout else None


def other_rank(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    """A fold is reckoned by a card of the seat's or the dealer's that is not the lowest."""
    payout = _of(dealt, chance, lambda payout: payout.outcome == "fold")
    if payout is None:
        return None
    ranks = {action.rank for action in dealt.actions if isinstance(action, Card) and action.to in (0, payout.seat)}
    wrong_ranks = sorted(ranks - {payout.card})
    if not wrong_ranks or payout.card is None:
        return None
    tenth = payout.staked_cents // 10
    return payout.seat, (chance.choice(wrong_ranks) - payout.card) * tenth


def card(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    """A card is named as its neighbour; the chips move by the card that lies there."""
    place = chance.choice([place for place, action in enumerate(dealt.actions) if isinstance(action, Card)])
    named = dealt.actions[place]
    assert isinstance(named, Card)
    rank = named.rank + chance.choice((-1, 1))
    if rank not in RANKS:
        return None
    try:
        state = replay(
            GAME, RULES, dealt.opening, (*dealt.actions[:place], Card(rank, named.to), *dealt.actions[place + 1 :])
        )
    except Illegal:
        return None
    lay = {payout.seat: payout.net_cents for payout in GAME.settle(state)}
    if GAME.prompts(state) or set(lay) != {payout.seat for payout in dealt.payouts}:
        return None
    shift_cents = sum(payout.net_cents - lay[payout.seat] for payout in dealt.payouts)
    return (named.to, shift_cents) if shift_cents else None


def other_bet(dealt: Dealt, chance: random.Random) -> tuple[int, int] | None:
    """A green chip more lay there than was entered."""
    payout = _of(dealt, chance, lambda payout: payout.net_cents != 0 and payout.staked_cents <= 7_500)
    return (
        (payout.seat, -payout.net_cents * 2_500 // payout.staked_cents)
        if payout and payout.net_cents * 2_500 % payout.staked_cents == 0
        else None
    )


KINDS = {
    mistake.__name__: mistake
    for mistake in (
        card, chip_more, chip_other, neighbour, not_paid, not_taken, other_bet, other_rank, paid_twice, took_all,
        wrong_way,
    )
}  # fmt: skip


def plant(kind: str, dealt: list[Dealt], chance: random.Random) -> Planted:
    """A mistake of a kind, in a round of the day as chance will have it."""
    while True:
        round_ = chance.choice(dealt)
        if error := KINDS[kind](round_, chance):
            return Planted(round_.number, kind, *error)
