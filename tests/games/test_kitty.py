"""Kitty where records do not reach: physical cards that nobody keyed, and players who cannot pay."""

import random

import pytest

from tables.games.cards import DECK, RANKS
from tables.games.kitty import KITTY, SOFT, Kitty, Rules
from tables.games.play import play, replay
from tables.games.protocol import MIDDLE, Action, AskCard, AskChoice, Card, Choose, Illegal, Opening
from tables.games.script import GameState
from tests.pace import by_pace

GAME = Kitty()
PLAY_OUTS = by_pace(30, 150, 600)


def dealt(rules: Rules, opening: Opening, chance: random.Random) -> GameState:
    """A game after the deal, the deck well shuffled."""
    deck = [rank for rank in RANKS for _ in range(rank)]
    chance.shuffle(deck)
    state = GAME.open(rules, opening)
    while isinstance(ask := GAME.prompts(state)[0], AskCard):
        state = play(GAME, state, Card(deck.pop(), ask.to))
    return state


def decided(state: GameState, chance: random.Random) -> Choose:
    """Any decision that is open; bids are low rather than high, so that many are matched."""
    ask = chance.choice(GAME.prompts(state))
    assert isinstance(ask, AskChoice)
    choice = chance.choice(ask.choices[:3] if ask.choices[0].name == "bid" else ask.choices)
    return Choose(ask.seat, choice.name, choice.card, target=choice.target)


def seen_game(chance: random.Random) -> GameState:
    """A whole game on cards that the system knows, in which nobody had to bid the only rank of a hand."""
    while True:
        rules = Rules(chance.random() < 0.5, chance.random() < 0.5, chance.random() < 0.5)
        seats = tuple(sorted(chance.sample(range(1, 8), chance.choice([4, 6] if rules.partners else [3, 4, 5, 6]))))
        state = dealt(rules, Opening(seats, pot=chance.randint(0, 3)), chance)
        while GAME.prompts(state):
            state = play(GAME, state, decided(state, chance))
        bids = [action for action in state.actions if isinstance(action, Choose) and action.choice == "bid"]
        if len(bids) == len(seats) * (len(SOFT) if rules.soft else KITTY):
            return state


def answer(ask: AskCard | AskChoice, blind: GameState, open_state: GameState, decisions: list[Choose]) -> Action:
    """What lies on the table: a card of the kitty, one of a hand that is shown, or what the seat decided."""
    if isinstance(ask, AskChoice):
        choose = next(decision for decision in decisions if decision.seat == ask.seat and decision.choice != "pass")
        decisions.remove(choose)
        return choose
    assert ask.shown, "a facedown card is asked for"
    if ask.to == MIDDLE:
        kitty = [action.rank for action in open_state.actions[:KITTY] if isinstance(action, Card)]
        return Card(kitty[-blind.facedown], MIDDLE)
    [(blind_hand, open_hand)] = [
        (b.hand, s.hand) for b, s in zip(blind.players, open_state.players, strict=True) if s.seat == ask.to
    ]
    return Card(next(rank for rank in open_hand if open_hand.count(rank) > blind_hand.count(rank)), ask.to)


@pytest.mark.parametrize("seed", range(PLAY_OUTS))
def test_physical_cards_end_as_known_ones(seed: int) -> None:
    """Harm: the dealer is asked for cards that nobody may see, or keys what lies there and is refused or paid wrong."""
    open_state = seen_game(random.Random(f"kitty {seed}"))
    decisions = [action for action in open_state.actions if isinstance(action, Choose)]
    opening = Opening(open_state.opening.seats, pot=open_state.opening.pot, blind=True)
    blind = GAME.open(open_state.rules, opening)
    while prompts := GAME.prompts(blind):
        [ask] = prompts
        assert isinstance(ask, AskCard | AskChoice)
        assert all(0 <= out <= rank for rank, out in zip(DECK, blind.gone, strict=True))
        blind = play(GAME, blind, answer(ask, blind, open_state, decisions))
    assert GAME.settle(blind) == GAME.settle(open_state)
    assert blind.pot == open_state.pot
    assert blind == replay(GAME, open_state.rules, opening, blind.actions)
    assert [sorted(player.hand) for player in blind.players] == [sorted(player.hand) for player in open_state.players]
    assert {decision.choice for decision in decisions} == {"pass"}


def test_two_seats_cannot_show_the_same_physical_card() -> None:
    """Harm: a wrong key makes a second 1, and the bids of a round cannot all be true."""
    state = GAME.open(Rules(), Opening((1, 2, 3), blind=True))
    for action in (Card(10, MIDDLE), Choose(1, "bid", 1)):
        state = play(GAME, state, action)
    with pytest.raises(Illegal, match="seat 2 may bid, not 'bid' with card 1"):
        play(GAME, state, Choose(2, "bid", 1))


def test_a_captured_physical_card_may_be_passed_on() -> None:
    """Harm: the next seat bids the card that it was passed, and the system insists that another one has it."""
    state = GAME.open(Rules(), Opening((1, 2, 3), blind=True))
    bids = (Choose(1, "bid", 2), Choose(2, "bid", 3), Choose(3, "bid", 4))
    for action in (Card(1, MIDDLE), *bids, Card(10, MIDDLE), Choose(1, "bid", 5), Choose(2, "bid", 1)):
        state = play(GAME, state, action)
    assert state.players[1].stack == (1,)


@pytest.mark.parametrize("seed", range(PLAY_OUTS))
def test_who_has_too_few_coins_pays_what_is_there(seed: int) -> None:
    """Harm: a player is charged coins that are not on the table, or the winners are paid coins that nobody paid."""
    chance = random.Random(f"kitty coins {seed}")
    seats = (1, 2, 4)
    coins = tuple(chance.randint(0, 6) for _ in seats)
    state = dealt(Rules(soft=True, gambling=True), Opening(seats, pot=1, stacks=coins), chance)
    while GAME.prompts(state):
        state = play(GAME, state, decided(state, chance))
    payouts = GAME.settle(state)
    best = max(payout.score or 0 for payout in payouts)
    for payout, coins_there in zip(payouts, coins, strict=True):
        due = best - (payout.score or 0)
        assert payout.staked_cents == min(due, coins_there)
        assert ("all that is there" in GAME.explain(payout)) == (due > coins_there)
    assert sum(payout.net_cents for payout in payouts) + state.pot == 1
