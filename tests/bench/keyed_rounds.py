"""Rounds for a benchmark, as the inputs of a keyed table: planned beforehand, so that nothing but record() is timed."""

import random

from tables.floor import inputs
from tables.floor.inputs import Input
from tables.games.cards import NOTHING, Composition, shoe
from tables.games.play import play
from tables.games.protocol import Action, AskCard, AskChoice, Bet, Card, Choose, CloseBets, Opening
from tables.games.rocket import Rocket, Rules

ROCKET, RULES = Rocket(), Rules(unit=100)
SEATS = (1, 2, 3, 4, 5, 6)
CHEAP = 3
"""A fold that costs so many tenths of the bet is taken."""


def plan(rounds: int, seed: int, bettors: tuple[int, ...] = SEATS) -> list[list[Input]]:
    """The inputs of each round; where the cut card came out, the shuffle comes first."""
    chance = random.Random(seed)
    cards, dealt, planned = _shuffled(chance), NOTHING, []
    for _ in range(rounds):
        entered: list[Input] = []
        if len(cards) <= ROCKET.at_cut(RULES):
            entered += [inputs.ShuffleShoe(), inputs.PlaceCutCard(), inputs.Burn()]
            cards, dealt = _shuffled(chance), NOTHING
        dealt = _deal(entered, cards, dealt, chance, bettors)
        planned.append(entered)
    return planned


def _shuffled(chance: random.Random) -> list[int]:
    """A shoe after its burn, the first card last."""
    cards = [rank for rank, copies in enumerate(shoe(RULES.decks), 1) for _ in range(copies)]
    return chance.sample(cards, len(cards))[RULES.burn :]


def _deal(
    entered: list[Input], cards: list[int], dealt: Composition, chance: random.Random, bettors: tuple[int, ...]
) -> Composition:
    """One round: adds its inputs and takes its cards; returns what is gone from the shoe afterwards."""
    bets = [Bet(seat, 1_000 * chance.randint(1, 10)) for seat in bettors]
    stakes = {bet.seat: bet.amount_cents for bet in bets}
    entered += [*bets, CloseBets()]
    state = ROCKET.open(RULES, Opening(SEATS, dealt=dealt))
    for action in (*bets, CloseBets()):
        state = play(ROCKET, state, action)
    decided = ROCKET.settle(state)
    while prompts := ROCKET.prompts(state):
        settled, ask = ROCKET.settle(state), prompts[0]
        actions: list[Action] = []
        if isinstance(ask, AskChoice) and ask.choices[-1].cost_cents * 10 <= CHEAP * stakes[ask.seat]:
            actions = [Choose(ask.seat, "fold")]
            entered.append(actions[0])
        else:
            rank = cards.pop()
            entered.append(inputs.KeyCard(rank))
            actions = (
                [Card(rank, ask.to)] if isinstance(ask, AskCard) else [Choose(ask.seat, "hit"), Card(rank, ask.seat)]
            )
        for action in actions:
            state = play(ROCKET, state, action)
        decided = tuple(payout for payout in ROCKET.settle(state) if payout not in settled)
    if len(decided) > 1 or any(payout.net_cents > 0 for payout in decided):
        entered += [inputs.Paid(payout.seat) for payout in reversed(decided)]
    return ROCKET.gone(state)
