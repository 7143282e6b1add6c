"""How wagers and seats go together: against every course of small shoes, and against rounds that were dealt."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import sqrt
from typing import Any

import numpy as np
import pytest

from tables.games import baccarat as baccarat_game
from tables.games import casino_war as war_game
from tables.games import dragon_tiger as dragon_game
from tables.games import three_card_poker as poker_game
from tables.games.blackjack import Rules
from tables.maths import baccarat, blackjack, blackjack_table, casino_war, dragon_tiger, providers, three_card_poker
from tables.maths.covariances import Covariances, Pair, Staked, pairs_of, read, rows, variance
from tests.maths import naive
from tests.tiers import sampled

pytestmark = pytest.mark.slow("values or simulates whole games")

Nets = Sequence[dict[str, Fraction]]
"""What each wager of one seat won, and of another."""


def counted(courses: Iterator[Nets]) -> dict[str, dict[Pair, float]]:
    """The covariances of courses that are equally likely, of one seat and of two."""
    dealt = list(courses)
    wagers = list(dealt[0][0])
    means = {bet: sum((seat[bet] for seat, _ in dealt), Fraction(0)) / len(dealt) for bet in wagers}
    counted_pairs: dict[str, dict[Pair, float]] = {"seat": {}, "seats": {}}
    for bet, partner in pairs_of(wagers):
        apart = means[bet] * means[partner]
        own = sum((seat[bet] * seat[partner] for seat, _ in dealt), Fraction(0)) / len(dealt)
        across = sum((seat[bet] * neighbour[partner] for seat, neighbour in dealt), Fraction(0)) / len(dealt)
        counted_pairs["seat"][bet, partner], counted_pairs["seats"][bet, partner] = (
            float(own - apart),
            float(across - apart),
        )
    return counted_pairs


def agrees(exact: Covariances, counted_pairs: dict[str, dict[Pair, float]]) -> None:
    for pair in counted_pairs["seat"]:
        assert exact[pair].seat == pytest.approx(counted_pairs["seat"][pair], abs=1e-12)
        assert exact[pair].seats == pytest.approx(counted_pairs["seats"][pair], abs=1e-12)
        assert exact[pair] == exact[pair[1], pair[0]]


def composition(cards: str) -> tuple[int, ...]:
    return tuple(cards.count(rank) for rank in naive.RANKS)


@pytest.mark.parametrize("cards", sampled(["TTJQ98A", "KKT6543", "QQ57A32"], "tries every order of a small shoe"))
def test_baccarat_in_every_course_of_a_small_shoe(cards: str) -> None:
    """Harm: pairs of tens and faces that are told by their value, and an interval for bets that are half as varied."""
    spread = ("tie", "player_pair", "banker_pair", "dragon_7", "panda_8", "dragon_bonus_player", "dragon_bonus_banker")
    rules = baccarat_game.Rules(decks=1, commission="ez", spread=spread)
    play = naive.play("baccarat", rules)
    courses = (play(order) for order in permutations(cards, 6))
    agrees(baccarat.covariances(rules, composition(cards)), counted((nets, nets) for nets in courses))


def test_dragon_tiger_in_every_course_of_a_small_shoe() -> None:
    """Harm: a tie that takes half of both sides is thought to help one of them."""
    rules = dragon_game.Rules(decks=1, spread=("tie",))
    play = naive.play("dragon_tiger", rules)
    courses = (play(order) for order in permutations("AA23K", 2))
    agrees(dragon_tiger.covariances(rules, composition("AA23K")), counted((nets, nets) for nets in courses))


@pytest.mark.parametrize("second_tie", sampled(["raise_only", "bonus"], "tries every order of a small shoe"))
def test_two_seats_at_war_in_every_course_of_a_small_shoe(second_tie: Any) -> None:
    """Harm: seats that tie the same card and go to war with the same dealer are thought to have nothing in common."""
    rules, cards = war_game.Rules(decks=2, second_tie=second_tie), "AAA22KKK"
    play = naive.play("casino_war", rules, "war")

    def courses() -> Iterator[Nets]:
        for upper, lower, dealer, own_war, other_war, final_card in permutations(cards, 6):
            seats = ((upper, own_war), (lower, other_war))
            yield [play((own, dealer, "A", "A", "A", war, final_card)) for own, war in seats]

    agrees(casino_war.covariances(rules, composition(cards)), counted(courses()))


@pytest.mark.slow("tries every order of a small deck")
def test_two_packets_against_one_dealer_in_every_course_of_a_small_deck() -> None:
    """Harm: hands that need the same cards, against the same dealer, are added up as if they were dealt apart."""
    rules, small_deck = poker_game.Rules(), [0, 1, 11, 12, 13, 24, 25, 26, 37, 51]
    cards = tuple(int(card in small_deck) for card in range(52))
    every = three_card_poker.against(cards, three_card_poker.bonus(rules))
    deck = three_card_poker.hands()
    places = {frozenset(row): place for place, row in enumerate(deck.cards[three_card_poker.is_dealt(cards)].tolist())}
    pays = (-1, *map(int, rules.pair_plus_pays.split("-")))

    def nets(hand: frozenset[int], dealer: int) -> dict[str, Fraction]:
        place = places[hand]
        paid, strength = three_card_poker.bonus(rules)[every.kind[place]], every.strength[place]
        compared = 1 if dealer < deck.qualifies else 2 * (int(strength > dealer) - int(strength < dealer))
        ante = compared + paid if every.plays[place] else -1
        return {"ante": Fraction(int(ante)), "pair_plus": Fraction(pays[every.kind[place]])}

    def courses() -> Iterator[Nets]:
        for dealer in combinations(small_deck, 3):
            unseen = set(small_deck) - set(dealer)
            strength = int(every.strength[places[frozenset(dealer)]])
            for left_hand in combinations(unseen, 3):
                for right_hand in combinations(unseen - set(left_hand), 3):
                    yield [nets(frozenset(left_hand), strength), nets(frozenset(right_hand), strength)]

    agrees(three_card_poker.covariances(rules, cards), counted(courses()))


def test_two_seats_of_blackjack_vary_as_one_does_and_together_as_published() -> None:
    """Harm: a table of seven seats whose band is that of seven tables. Griffin has about a half for two hands."""
    rules = Rules(spread=("perfect_pairs", "twenty_one_plus_three"))
    worths, chart = blackjack.sheet(rules).wagers, blackjack.solve(rules, (24,) * 13).chart
    moments = blackjack_table.covariances(rules, chart, 500_000, seed=3)
    for bet, worth in worths.items():
        pair = moments[bet, bet]
        assert abs(pair.seat - worth.standard_deviation**2) < 4 * pair.seat_error
    assert 0.45 < moments["main", "main"].seats < 0.52
    assert moments["insurance", "insurance"].seats == pytest.approx(moments["insurance", "insurance"].seat)
    assert moments["main", "insurance"].seats < -0.4, "insurance wins where every hand loses"
    assert (
        abs(moments["perfect_pairs", "perfect_pairs"].seats) < 4 * moments["perfect_pairs", "perfect_pairs"].seats_error
    )


@pytest.mark.parametrize(
    "options",
    sampled(
        [{}, {"hole": "none"}, {"hole": "none_original", "surrender": "late", "decks": 2}],
        "deals hundreds of thousands of rounds",
        test=1,
    ),
)
def test_every_seat_of_a_table_plays_the_game_that_a_lone_seat_does(options: dict[str, Any]) -> None:
    """Harm: a loop for several seats that deals another game, and covariances of that one."""
    rules, rounds = Rules(**options), 200_000
    solution = blackjack.solve(rules, (4 * rules.decks,) * 13)
    nets = blackjack_table.deal(rules, solution.chart, 3, rounds, seed=8)
    for seat in nets.T:
        assert abs(seat.mean() - solution.mean) < 4 * seat.std() / sqrt(rounds)


def test_a_bet_varies_as_its_sheet_says() -> None:
    """Harm: a band and a sheet that contradict each other."""
    for game in ("rocket", "baccarat", "dragon_tiger", "casino_war"):
        rules = providers.rules_type(game)()
        sheet, together = providers.full_shoe(game, rules), providers.covariances(game, rules)
        assert sheet is not None
        assert together is not None
        for bet, worth in sheet.wagers.items():
            assert together[bet, bet].seat == pytest.approx(worth.standard_deviation**2, abs=1e-9)
        assert read(rows(together)) == together, "what is kept is what was computed"


def test_the_variance_of_a_table_is_that_of_the_sum_of_its_bets() -> None:
    """Harm: each two wagers counted once where they are there in both orders."""
    together = baccarat.covariances(baccarat_game.Rules())
    bets = {"player": [200, 0, 300], "banker": [0, 500, 0], "tie": [100, 0, 50]}
    stakes = {}
    for bet, partner in pairs_of(bets):
        seat = sum(x * y for x, y in zip(bets[bet], bets[partner], strict=True))
        stakes[bet, partner] = Staked(seat, sum(bets[bet]) * sum(bets[partner]) - seat)
    sums = np.array([sum(cents) for cents in bets.values()])
    matrix = np.array([[together[bet, second].seat for second in bets] for bet in bets])
    assert variance(together, stakes) == pytest.approx(float(sums @ matrix @ sums))
