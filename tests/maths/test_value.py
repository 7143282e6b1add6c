"""The exact value: against the engine, against rational numbers, and against what must hold of any value."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tables.games.cards import RANKS, Composition, shoe
from tables.maths.rocket_reference import Exact
from tables.maths.rocket_value import LAST, SeatDecision, Solution, decide, solve
from tables.maths.situation import NEVER_FOLD, OPTIMAL, Situation, Strategy, Unknowable, fresh, strategy
from tests.maths import rounds
from tests.pace import percent
from tests.tiers import sampled

CLOSE = 1e-12
TINY: list[Composition] = [
    (1, 2, 3, 4, 0, 0, 0, 0, 0, 0),
    (1, 0, 1, 1, 2, 2, 0, 0, 2, 2),
    (0, 2, 0, 0, 2, 0, 3, 0, 2, 4),
    (1, 0, 0, 0, 5, 0, 0, 5, 0, 0),
]
STRATEGIES = [OPTIMAL, NEVER_FOLD, Strategy(1), Strategy(4)]


def unseen(decks: int, least: int) -> st.SearchStrategy[Composition]:
    """Compositions of so many decks, with enough cards that a round of one seat does not run out of them."""
    counts = st.tuples(*(st.integers(0, full) for full in shoe(decks)))
    return counts.filter(lambda composition: sum(composition) >= least)


def net(outcome: str, rank: int) -> int:
    return -rank if outcome in ("fold", "pair") else rank


# --- against the engine ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
@pytest.mark.parametrize("cards", TINY, ids=str)
def test_every_course_of_a_tiny_shoe_through_the_engine(cards: Composition, strategy: Strategy) -> None:
    """Harm: an edge of some other game, when the mathematics has read the rules otherwise than the engine."""
    situation = Situation(1, cards, burn=0)
    ends = rounds.ends(situation, strategy)
    exact, solution = Exact(situation, strategy), solve(situation, strategy)
    assert exact.value() == rounds.mean(ends)
    assert exact.outcomes() == {(outcome, rank): chance for (outcome, rank, _), chance in ends.items()}
    assert all(won == net(outcome, rank or 0) for outcome, rank, won in ends)
    assert_same(solution, exact)


@pytest.mark.parametrize(
    ("cards_left", "burn", "limit"),
    sampled([(0, 5, 6), (1, 5, 4), (2, 0, 5), (3, 20, 5), (4, 1, 5)], "deals every course of the last cards"),
)
def test_a_shoe_that_runs_out_in_mid_round_is_filled_as_the_engine_fills_it(
    cards_left: int, burn: int, limit: int
) -> None:
    """Harm: a wrong edge deep in the shoe, where the burned cards come back and the cards in play do not."""
    situation = Situation(1, deep(cards_left + burn), burn)
    assert situation.left == cards_left
    ends = rounds.ends(situation, Strategy(limit))
    exact = Exact(situation, Strategy(limit))
    assert exact.outcomes() == {(outcome, rank): chance for (outcome, rank, _), chance in ends.items()}
    assert exact.value() == rounds.mean(ends)
    assert_same(solve(situation, Strategy(limit)), exact)


def deep(cards: int) -> Composition:
    """So many cards at the end of a deck, high ones, so that a seat that folds for little has something to decide."""
    counts = [0] * 10
    for place in range(cards):
        rank = next(rank for rank in (10 - (place + step) % 7 for step in range(7)) if counts[rank - 1] < rank)
        counts[rank - 1] += 1
    return tuple(counts)


# --- against rational numbers -----------------------------------------------------------------------------------


def assert_same(solution: Solution, exact: Exact) -> None:
    """To the last digits of a double."""
    assert solution.value == pytest.approx(float(exact.value()), abs=CLOSE)
    outcomes = exact.outcomes()
    assert sum(outcomes.values()) == 1
    assert sum(net(*end) * chance for end, chance in outcomes.items()) == exact.value()
    assert {end for end, chance in outcomes.items() if chance} == set(solution.outcomes)
    for end, chance in outcomes.items():
        assert solution.outcomes.get(end, 0.0) == pytest.approx(float(chance), abs=CLOSE)
    variance = sum((net(*end) - exact.value()) ** 2 * chance for end, chance in outcomes.items()) / 100
    assert solution.variance == pytest.approx(float(variance), abs=CLOSE)


@settings(max_examples=percent(5))
@given(st.tuples(*(st.integers(0, min(rank, 2)) for rank in RANKS)), st.sampled_from(STRATEGIES), st.integers(0, 3))
def test_doubles_and_fractions_agree_on_thin_shoes(cards: Composition, strategy: Strategy, burn: int) -> None:
    """Harm: a solver that is fast and wrong where shoes are thin and some ranks are gone altogether."""
    thin = (*cards[:3], 0, cards[4], 0, 0, *cards[7:])
    if sum(thin) - burn < 14:
        thin = (1, 2, 3, 4, 5, 6, 0, 0, 0, 0)
    assert_same(solve(Situation(1, thin, burn), strategy), Exact(Situation(1, thin, burn), strategy))


# --- what must hold of any value ----------------------------------------------------------------------------------


def feasible(solution: Solution, size: int) -> np.ndarray:
    """The places of a layer that can be reached at all if the seat only hits."""
    return solve(solution.situation, NEVER_FOLD).reached(size) > 0


@settings(max_examples=percent(5))
@given(unseen(2, 25), st.sampled_from(STRATEGIES))
def test_values_are_bounded_and_the_best_strategy_is_best_everywhere(cards: Composition, strategy: Strategy) -> None:
    """Harm: an edge beyond the bet, or a strategy that beats the one that is called optimal."""
    situation = Situation(2, cards)
    best, worse = solve(situation), solve(situation, strategy)
    assert -1 <= best.house_edge <= worse.house_edge + CLOSE <= 1 + CLOSE
    for size in range(LAST + 1):
        places = feasible(best, size)
        assert (best.hit[size][places] >= worse.hit[size][places] - CLOSE).all()
        assert (np.abs(best.hit[size][places]) <= 10).all()


@settings(max_examples=percent(5))
@given(unseen(2, 25), st.sampled_from(STRATEGIES))
def test_outcomes_are_probabilities_and_give_the_value_again(cards: Composition, strategy: Strategy) -> None:
    """Harm: an outcome table that does not belong to the edge that is printed above it."""
    solution = solve(Situation(2, cards), strategy)
    assert sum(solution.outcomes.values()) == pytest.approx(1, abs=CLOSE)
    assert all(0 < chance <= 1 for chance in solution.outcomes.values())
    assert sum(won * chance for won, chance in solution.distribution.items()) == pytest.approx(solution.value)
    assert 0 <= solution.variance <= 1


@settings(max_examples=percent(5))
@given(unseen(2, 30), st.integers(0, 10))
def test_a_card_that_another_seat_gets_changes_nothing_by_itself(cards: Composition, limit: int) -> None:
    """The assumption for several seats, exactly: unseen cards are exchangeable, and what is seen can only help.

    Harm: an edge that would need another number for every seat at the table.
    """
    for tactic in (Strategy(limit), OPTIMAL):
        before = solve(Situation(2, cards), tactic).value
        after = sum(
            count / sum(cards) * solve(Situation(2, without(cards, rank)), tactic).value
            for rank, count in zip(RANKS, cards, strict=True)
            if count
        )
        if tactic == OPTIMAL:
            assert after >= before - CLOSE
        else:
            assert after == pytest.approx(before, abs=CLOSE)


def without(cards: Composition, rank: int) -> Composition:
    return tuple(count - (own_rank == rank) for own_rank, count in zip(RANKS, cards, strict=True))


@settings(max_examples=percent(5))
@given(unseen(3, 45), st.integers(0, 20))
def test_the_burn_is_worth_nothing_while_the_shoe_lasts(cards: Composition, burn: int) -> None:
    """Harm: burned cards counted as seen."""
    assert solve(Situation(3, cards, burn)).value == solve(Situation(3, cards, 0)).value


def test_folding_for_more_costs_more_once_it_is_folly() -> None:
    """Harm: a fixed strategy that folds at another cost than it says."""
    edges = [solve(fresh(6), Strategy(limit)).house_edge for limit in range(1, 11)]
    assert all(edge < next_edge for edge, next_edge in pairwise(edges))
    assert solve(fresh(6), Strategy(10)).outcomes.keys() == {("death_card", 3), *(("fold", rank) for rank in RANKS)}


# --- decisions ----------------------------------------------------------------------------------------------------


def test_a_decision_by_hand() -> None:
    """Two cards are left, so that every course can be told on two fingers.

    Harm: advice of which no one could say why.
    """
    three_and_ten = Situation(1, (0, 0, 1, 0, 0, 0, 0, 0, 0, 1), burn=0)
    # Of 10 against 10: the seat draws the 10 and pays 10, or it draws the 3, and the dealer pairs the 10 and pays 10.
    assert decide(three_and_ten, [10], [10]) == SeatDecision(hit=pytest.approx(0), fold=-10)
    three_and_nine = Situation(1, (0, 0, 1, 0, 0, 0, 0, 0, 1, 0), burn=0)
    # Of 10 against 9: the seat draws the 3 and the dealer pairs the 9, or it draws the 9 and the dealer dies of the 3.
    choice = decide(three_and_nine, [10], [9])
    assert (choice.best, choice.hit, choice.fold, choice.mistake) == ("hit", pytest.approx(6), -9, pytest.approx(15))
    only_tens = Situation(1, (0, 0, 0, 0, 0, 0, 0, 0, 0, 8), burn=0)
    # Of 10 against 1: only 10s are left, so a hit costs 10 and a fold costs 1.
    choice = decide(only_tens, [10], [1])
    assert (choice.best, choice.hit, choice.fold, choice.mistake) == ("fold", pytest.approx(-10), -1, pytest.approx(9))


def test_a_decision_in_the_middle_is_that_of_the_round_that_came_there() -> None:
    """Harm: advice at the table that differs from the strategy whose edge was published."""
    situation = fresh(1)
    solution = solve(situation)
    for player, dealer in (([4], [9]), ([2, 8], [5, 10]), ([1, 6, 9], [7, 8, 10])):
        cards = list(situation.unseen)
        for rank in (*player, *dealer):
            cards[rank - 1] -= 1
        assert decide(Situation(1, tuple(cards)), player, dealer) == solution.choice(player, dealer)


@pytest.mark.parametrize(("player", "dealer"), [([], []), ([4], []), ([4, 4], [5, 6]), ([4], [3]), ([11], [5])])
def test_where_nobody_decides_there_is_no_advice(player: list[int], dealer: list[int]) -> None:
    """Harm: a number for a place that a round cannot come to."""
    with pytest.raises(Unknowable, match="as many cards as the dealer"):
        solve(fresh(1)).choice(player, dealer)


# --- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decks", "cards", "burn", "sentence"),
    [
        (0, shoe(1), 5, "a shoe of 0 decks is not dealt: it has 1 to 8"),
        (9, shoe(1), 5, "a shoe of 9 decks is not dealt"),
        (1, (2, *shoe(1)[1:]), 5, "2 cards of rank 1 cannot be unseen: one deck holds 1"),
        (2, (0, -1, *shoe(1)[2:]), 5, "-1 cards of rank 2 cannot be unseen: 2 decks hold 4"),
        (1, (1, 2), 5, "this has 2"),
        (1, (1, 2, 1, 0, 0, 0, 0, 0, 0, 0), 5, "4 unseen cards cannot be: the 5 burned ones are among them"),
        (1, shoe(1), 21, "a burn of 21 cards is not made: it is 0 to 20"),
    ],
)
def test_a_shoe_that_cannot_be_is_refused(decks: int, cards: Composition, burn: int, sentence: str) -> None:
    """Harm: an edge of a shoe that no deck makes."""
    with pytest.raises(Unknowable, match=sentence):
        Situation(decks, cards, burn)


@pytest.mark.parametrize(
    "name", ["best", "", "fold_at", "fold_at:", "fold_at:11", "fold_at:-1", "fold_at:x", "optimal:1"]
)
def test_an_unknown_strategy_is_refused(name: str) -> None:
    """Harm: a sheet of another strategy than was asked for."""
    with pytest.raises(Unknowable, match="it is optimal, never_fold, or fold_at:N"):
        strategy(name)


def test_strategies_are_known_by_their_names() -> None:
    """Harm: a sheet that cannot be asked for again."""
    assert [strategy(name).name for name in ("optimal", "never_fold", "fold_at:3")] == [
        "optimal",
        "never_fold",
        "fold_at:3",
    ]
    assert strategy("fold_at:0") == NEVER_FOLD
