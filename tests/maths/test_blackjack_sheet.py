"""The sheet of blackjack and its simulator: wagers, what is refused, and rounds by chance beside the exact value."""

import json
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import sqrt
from typing import Any

import pytest

from tables.games.blackjack import Rules
from tables.games.cards import STANDARD, Composition
from tables.maths.blackjack import Solution, sheet, solve
from tables.maths.blackjack_sides import insurance, perfect_pairs, twenty_one_plus_three
from tables.maths.blackjack_simulation import nothing, simulate
from tables.maths.situation import Unknowable
from tables.maths.worth import exact
from tests.pace import by_pace
from tests.tiers import sampled

ROUNDS = by_pace(400_000, 2_000_000, 100_000_000)
TABLES: tuple[dict[str, Any], ...] = (
    {},
    {"decks": 1, "soft17": "hit", "double_after_split": False},
    {"decks": 1, "resplit_aces": True, "hit_split_aces": True, "surrender": "late"},
    {"decks": 2, "hole": "none_original", "blackjack_pays": "6:5", "splits": 2},
    {"decks": 8, "hole": "none", "surrender": "late", "split_by": "rank", "double": "9_to_11"},
    {"decks": 4, "splits": 0, "double": "10_to_11", "blackjack_pays": "1:1"},
)


@cache
def solved(number: int) -> Solution:
    rules = Rules(**TABLES[number])
    return solve(rules, (4 * rules.decks,) * 13)


# --- by chance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", sampled(range(len(TABLES)), "deals hundreds of thousands of rounds"))
def test_rounds_by_chance_come_to_the_exact_value(number: int) -> None:
    """Harm: an exact value of another game than the one that is dealt. Four standard errors, everywhere."""
    solution = solved(number)
    moments = solution.moments(rounds=400_000)
    tally = simulate(solution.rules, solution.chart, ROUNDS, seed=number)
    assert tally.rounds == ROUNDS
    assert abs(tally.mean - solution.mean) < 4 * tally.standard_error
    assert abs(tally.hits - moments.hits) < 4 * sqrt(0.25 / ROUNDS + moments.hits_error**2)
    splits = sum(opening.chance for opening in solution.openings)
    assert abs(tally.split - splits) <= 4 * sqrt(splits / ROUNDS)
    assert tally.standard_deviation == pytest.approx(moments.worth().standard_deviation, rel=8 / sqrt(ROUNDS))


def test_a_seed_deals_the_same_rounds_and_another_one_others() -> None:
    """Harm: a run that nobody can repeat."""
    rules, chart = solved(0).rules, solved(0).chart
    run, repeat, other_seed = (simulate(rules, chart, 20_000, seed) for seed in (5, 5, 6))
    assert run.counts() == repeat.counts() != other_seed.counts()
    joined = run + other_seed
    assert joined.rounds == 40_000
    assert joined.counts() == nothing().with_counts(run.counts()).with_counts(other_seed.counts()).counts()
    assert sum(joined.results.values()) == 40_000
    assert joined.results[Fraction(3, 2)] > 1000


def test_a_shoe_that_is_dealt_down_to_a_cut_card_has_nearly_the_same_value() -> None:
    """Harm: cards that come twice, or never, where a shoe is not shuffled before every round."""
    tally = simulate(solved(0).rules, solved(0).chart, ROUNDS, seed=11, cut=78)
    assert abs(tally.mean - solved(0).mean) < 4 * tally.standard_error + 0.0005


# --- side bets and insurance ---------------------------------------------------------------------------------------


def suited(*cards: str) -> Composition:
    return STANDARD.count(STANDARD.number(card) for card in cards)


@pytest.mark.parametrize(
    ("cards", "pays"),
    [("Ah Ah", 25), ("Ah Ad", 12), ("As Ac", 12), ("As Ad", 6), ("Ks Qs", -1), ("Th Jh", -1)],
)
def test_a_pair_pays_by_how_alike_it_is(cards: str, pays: int) -> None:
    """Harm: a side bet valued by the wrong line of its table."""
    assert perfect_pairs(suited(*cards.split())) == {Fraction(pays): 1}


@pytest.mark.parametrize(
    ("cards", "pays"),
    [
        ("7c 7c 7c", 100),
        ("Qh Kh Ah", 40),
        ("Ac 2c 3c", 40),
        ("7c 7c 7d", 30),
        ("Qh Kh As", 10),
        ("9h Th 8s", 10),
        ("Kh Ah 2h", 5),
        ("7h 7h 9h", 5),
        ("Kh Ah 2s", -1),
        ("7h 7h 8s", -1),
    ],
)
def test_three_cards_pay_by_the_best_that_they_are(cards: str, pays: int) -> None:
    """Harm: a flush with a pair, or an ace, taken for another hand."""
    assert twenty_one_plus_three(suited(*cards.split())) == {Fraction(pays): 1}


def test_ways_are_counted_as_cards_are_dealt() -> None:
    """Harm: two copies of a card taken for one."""
    cards = [STANDARD.number(card) for card in ("Ah", "Ah", "Ad", "As", "Kh", "Qh", "2h", "2h", "3h", "3s")]
    for count, wager in ((2, perfect_pairs), (3, twenty_one_plus_three)):
        dealt = Counter(next(iter(wager(STANDARD.count(drawn)))) for drawn in permutations(cards, count))
        ways = wager(STANDARD.count(cards))
        assert {net: Fraction(copies, dealt.total()) for net, copies in dealt.items()} == {
            net: Fraction(copies, sum(ways.values())) for net, copies in ways.items()
        }


def test_side_bets_are_worth_what_is_published() -> None:
    """Harm: a house that promises an edge that nobody else finds. Six decks."""
    cards = STANDARD.shoes[6]
    assert exact(insurance((24,) * 13)).house_edge == pytest.approx(1 - 3 * 96 / 311)
    assert exact(perfect_pairs(cards)).house_edge == pytest.approx(1 - (25 * 5 + 12 * 6 + 6 * 12 + 23) / 311, abs=1e-15)
    assert exact(twenty_one_plus_three(cards)).hit_frequency == pytest.approx(0.0968, abs=5e-5)


# --- the sheet -----------------------------------------------------------------------------------------------------


@pytest.mark.slow("values blackjack exactly")
def test_the_sheet_has_every_wager_that_can_be_placed() -> None:
    """Harm: a wager without a value, or a value of one that the table does not take."""
    facts = sheet(Rules(spread=("perfect_pairs", "twenty_one_plus_three"))).facts()
    assert [*facts["wagers"]] == ["main", "insurance", "perfect_pairs", "twenty_one_plus_three"]
    main = facts["wagers"]["main"]
    assert main["method"] == "exact"
    assert main["house_edge"] == -solved(0).mean
    assert main["standard_deviation"] == pytest.approx(1.15392, abs=2e-4)
    assert main["hit_frequency"] == pytest.approx(0.43354, abs=5e-5)
    assert 0 < main["standard_errors"]["standard_deviation"] < 1e-4
    assert 0 < main["standard_errors"]["hit_frequency"] < 1e-4
    assert facts["chart"]["hard"]["12"] == dict(zip("23456789TA", "HHSSSHHHHH", strict=True))
    json.dumps(facts)


def test_without_insurance_and_splits_nothing_is_by_chance() -> None:
    """Harm: an error told of a number that has none."""
    facts = sheet(Rules(decks=1, insurance=False, splits=0)).facts()
    assert [*facts["wagers"]] == ["main"]
    assert "standard_errors" not in facts["wagers"]["main"]


def test_a_shoe_of_tens_alone_pushes_for_ever() -> None:
    """Harm: a division by a deviation of nothing."""
    worth = sheet(Rules(), (0,) * 9 + (8,) * 4).wagers["main"]
    assert (worth.house_edge, worth.standard_deviation, worth.hit_frequency) == (0, 0, 0)


@pytest.mark.slow("values blackjack exactly")
def test_a_composition_counts() -> None:
    """Harm: the edge of a full shoe told for one that is not. Tens and aces are good to the seat."""
    rich = (32, *(20,) * 8, *(32,) * 4)
    worths = sheet(Rules(decks=8), rich).wagers
    assert worths["main"].house_edge < 0
    assert worths["insurance"].house_edge == pytest.approx(1 - 3 * 128 / 319)
    assert "insurance" not in sheet(Rules(), (0, *(24,) * 12)).wagers


@pytest.mark.parametrize(
    ("options", "composition"),
    [
        ({}, (0,) * 9 + (2,) * 4),
        ({}, (24,) * 8 + (0,) * 4 + (25,)),
        ({}, (1,) * 12),
        ({"spread": ("perfect_pairs",)}, (24,) * 13),
    ],
)
def test_what_cannot_be_valued_is_refused(options: dict[str, Any], composition: Composition) -> None:
    """Harm: a number for a shoe that runs out in mid-round, that is none, or of which nobody told the suits."""
    with pytest.raises(Unknowable):
        sheet(Rules(**options), composition)
