"""Simulated rounds: the very rounds of the engine, and the exact value within their errors."""

from collections.abc import Iterator
from math import sqrt

import numpy as np
import pytest

from tables.games.protocol import AskCard, AskChoice, AskShuffle, Bet, Card, Choose, CloseBets, Opening, Shuffle
from tables.games.rocket import Rocket, Rules, State
from tables.maths.advantage import rocket_simulation
from tables.maths.advantage.rocket_simulation import RocketTally, Table, deal, nothing, seed_of
from tables.maths.rocket_value import solve
from tables.maths.situation import NEVER_FOLD, OPTIMAL, Strategy, fresh

pytestmark = pytest.mark.slow("values or simulates whole games")

ROUNDS = 1_000_000
GAME = Rocket()


class Engine:
    """The same rounds through the engine: its cards come from the same dice."""

    def __init__(self, table: Table, seed: int) -> None:
        self.table, self.rules = table, table.rules
        self.folds = rocket_simulation.chart(table.solution)
        self.seats = tuple(range(1, table.seats + 1))
        self.tally, self.refills = nothing(table.seats), 0
        self.dice = rocket_simulation.dice_of(np.uint64(seed))
        self.cards = np.empty(55 * self.rules.decks, np.uint8)
        self.unseen = self.refilled((), ())
        self.gone, self.button = (0,) * 10, None

    def refilled(self, stacks: tuple[tuple[int, ...], ...], dealer: tuple[int, ...]) -> int:
        """Where the simulator leaves the cards after a shuffle."""
        masks = np.array([mask(stack) for stack in stacks] or [0], np.int64)
        return rocket_simulation.refill(self.cards, self.rules.decks, masks, mask(dealer))

    def card(self) -> int:
        rank = rocket_simulation.draw(self.cards, self.unseen, self.dice) + 1
        self.unseen -= 1
        return rank

    def play(self) -> None:
        """One round."""
        cut = len(self.cards) if self.table.fresh else GAME.at_cut(self.rules)
        if self.unseen - self.rules.burn <= cut:
            self.unseen, self.gone = len(self.cards), (0,) * 10
        state = GAME.open(self.rules, Opening(self.seats, dealt=self.gone, button=self.button))
        for action in (*(Bet(seat, 10) for seat in self.seats), CloseBets()):
            state = GAME.apply(state, action)
        while prompts := GAME.prompts(state):
            state = GAME.apply(state, self.answer(state, prompts[0]))
            assert state.left == self.unseen - self.rules.burn
        self.gone, self.button = GAME.gone(state), state.button
        self.count(state)

    def answer(self, state: State, ask: object) -> Card | Choose | Shuffle:
        if isinstance(ask, AskCard):
            return Card(self.card(), ask.to)
        if isinstance(ask, AskChoice):
            folds = self.folds[mask(state.stacks[ask.seat - 1]), mask(state.dealer)]
            return Choose(ask.seat, "fold" if folds else "hit")
        assert isinstance(ask, AskShuffle)
        self.refills += 1
        dealing = state.stacks if state.order else ()
        alive = tuple(stack if index in state.order else () for index, stack in enumerate(dealing))
        self.unseen = self.refilled(alive, state.dealer)
        return Shuffle()

    def count(self, state: State) -> None:
        total = 0
        for payout in GAME.settle(state):
            self.tally.ends[payout.seat - 1, GAME.outcomes.index(payout.outcome), payout.card or 0] += 1
            total += payout.net_cents
        self.tally.totals[len(self.tally.totals) // 2 + total] += 1


def mask(ranks: tuple[int, ...]) -> int:
    return sum(1 << rank - 1 for rank in ranks)


@pytest.mark.parametrize(
    ("rules", "seats", "strategy", "fresh_shoe"),
    [
        (Rules(6), 6, OPTIMAL, False),
        (Rules(1, burn=20, reshuffle_at=0.1, start="low_card"), 6, NEVER_FOLD, False),
        (Rules(1, burn=0, reshuffle_at=0.1), 4, Strategy(1), False),
        (Rules(2, start="low_card"), 3, OPTIMAL, True),
    ],
)
def test_the_simulator_deals_the_rounds_of_the_engine(
    rules: Rules, seats: int, strategy: Strategy, fresh_shoe: bool
) -> None:
    """Harm: a simulation that confirms the mathematics because both have the same mistake."""
    table = Table(rules, seats, solve(fresh(rules.decks), strategy), fresh_shoe)
    engine = Engine(table, seed=7)
    for _ in range(1_000):
        engine.play()
    simulated = deal(table, 7, 1_000)
    assert (simulated.ends == engine.tally.ends).all()
    assert (simulated.totals == engine.tally.totals).all()
    assert simulated.refills == engine.refills
    assert bool(engine.refills) == (rules.decks == 1)


def differences(table: Table, tally: RocketTally) -> Iterator[float]:
    """Of each outcome and of the mean, at each seat: how many standard errors it is off the exact value."""
    exact = table.solution
    for seat in range(1, table.seats + 1):
        assert tally.chances(seat).keys() <= exact.outcomes.keys()
        yield from tally.errors(seat, exact)
        yield (tally.seat(seat)[0] + exact.house_edge) / (exact.standard_deviation / sqrt(tally.rounds))


@pytest.mark.parametrize(
    ("decks", "seats", "start", "strategy"),
    [
        (1, 1, "dealer_left", OPTIMAL),
        (2, 3, "low_card", NEVER_FOLD),
        (2, 3, "low_card", OPTIMAL),
        (6, 6, "dealer_left", Strategy(1)),
    ],
)
def test_a_million_rounds_agree_with_the_exact_value_at_every_seat(
    decks: int, seats: int, start: str, strategy: Strategy
) -> None:
    """One value for every seat, whoever starts: other seats' cards are as good as unseen ones.

    Harm: an edge that belongs to one seat alone, or to a round without others.
    """
    rules = Rules(decks, burn=0, start="low_card" if start == "low_card" else "dealer_left")
    table = Table(rules, seats, solve(fresh(decks), strategy), fresh=True)
    tally = deal(table, seed_of(2026, decks), ROUNDS)
    assert tally.refills == 0
    assert max(abs(off) for off in differences(table, tally)) < 4


def test_a_run_is_the_sum_of_its_chunks_and_the_same_again() -> None:
    """Harm: a result that nobody can deal again, or that depends on how many cores a machine has."""
    table = Table(Rules(1), 2, solve(fresh(1)))
    chunk_0, chunk_1 = (deal(table, seed_of(3, chunk), 5_000) for chunk in (0, 1))
    assert (chunk_0 + chunk_1).rounds == 10_000
    assert ((chunk_0 + chunk_1).ends == (chunk_1 + chunk_0).ends).all()
    assert (deal(table, seed_of(3, 1), 5_000).ends == chunk_1.ends).all()
    assert (chunk_0.ends != chunk_1.ends).any()
    assert (chunk_0.ends.sum(axis=(1, 2)) == 5_000).all()


def test_what_a_table_wins_is_what_its_seats_win() -> None:
    """Harm: bands for a whole table that leave out that its seats win and lose together."""
    tally = deal(Table(Rules(6), 6, solve(fresh(6))), 1, 100_000)
    mean, variance = tally.table()
    assert mean == pytest.approx(sum(tally.seat(seat)[0] for seat in range(1, 7)))
    assert variance > 1.5 * sum(tally.seat(seat)[1] for seat in range(1, 7))
