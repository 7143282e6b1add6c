"""Blackjack's exact value: against every course of small shoes, against what others have published, against itself."""

from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pytest

from tables.games.blackjack import Rules
from tables.maths import blackjack_dealer
from tables.maths.blackjack import Solution, decide, solve
from tables.maths.blackjack_chart import HARD, SOFT, Chart, sign, start, terms_of, upcard_of
from tables.maths.blackjack_dealer import ACE, VALUES
from tables.maths.blackjack_hands import LETTERS, ChartColumn
from tables.maths.blackjack_round import with_splits
from tables.maths.situation import Unknowable
from tests.maths.blackjack_naive import Cards, Naive, is_blackjack, total
from tests.tiers import sampled

pytestmark = pytest.mark.slow("values or simulates whole games")

CLOSE = 1e-13


def shoe(**counts: int) -> Cards:
    """So many of each rank: A=3, six=1, ..., T, J, Q, K."""
    names = ("A", "two", "three", "four", "five", "six", "seven", "eight", "nine", "T", "J", "Q", "K")
    return tuple(counts.get(name, 0) for name in names)


EIGHTS = shoe(A=3, six=3, eight=5, T=9)
ACES = shoe(A=5, five=2, nine=4, T=4, K=4)
PICTURES = shoe(A=1, nine=4, T=3, J=2, Q=3, K=3)
SMALL = (
    (EIGHTS, {}),
    (EIGHTS, {"hole": "none", "splits": 2, "double_after_split": False}),
    (EIGHTS, {"hole": "none_original", "blackjack_pays": "6:5"}),
    (EIGHTS, {"surrender": "late", "soft17": "hit", "splits": 0}),
    (EIGHTS, {"surrender": "late", "hole": "none", "double": "9_to_11"}),
    (EIGHTS, {"surrender": "early", "hole": "none", "splits": 0}),
    (ACES, {"splits": 1, "hit_split_aces": True, "double": "10_to_11"}),
    (ACES, {"splits": 2, "resplit_aces": True, "hole": "none_original", "blackjack_pays": "1:1"}),
    (PICTURES, {"split_by": "rank", "soft17": "hit"}),
    (PICTURES, {"splits": 2}),
)


@cache
def full(**options: Any) -> Solution:
    rules = Rules(**options)
    return solve(rules, (4 * rules.decks,) * 13)


def edge(**options: Any) -> float:
    """In percent."""
    return -100 * full(**options).mean


# --- every course of small shoes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("ranks", "options"), sampled(SMALL, "tries every order of a small shoe", test=2))
def test_it_is_the_mean_over_every_course_of_a_small_shoe(ranks: Cards, options: dict[str, Any]) -> None:
    """Harm: an edge that is called exact is wrong where hands split, double, surrender or meet a blackjack; or a
    deviation has a larger error than the sheet states, or omits the rounds with splits."""
    solution = solve(Rules(**options), ranks)
    chances = Naive(Rules(**options), solution.chart.table()).round(ranks)
    assert sum(chances.values()) == 1
    assert solution.mean == pytest.approx(float(sum(net * chance for net, chance in chances.items())), abs=CLOSE)
    square = float(sum(net * net * chance for net, chance in chances.items()))
    hits = float(sum(chance for net, chance in chances.items() if net > 0))
    moments = solution.moments(rounds=100_000)
    assert moments.square == pytest.approx(square, abs=4 * moments.square_error + CLOSE)
    assert moments.hits == pytest.approx(hits, abs=4 * moments.hits_error + CLOSE)


@pytest.mark.trial(
    "tries every order of a small shoe for each letter",
    covered_by="tests/maths/test_blackjack.py::test_no_change_of_one_cell_gains",
)
def test_no_other_letter_wins_more_of_a_small_shoe() -> None:
    """Harm: a chart that is said to be the best one, and is not."""
    ranks, rules = PICTURES, Rules(splits=1)
    best = solve(rules, ranks)
    for kind, line, upcard in (("hard", "19", "T"), ("pairs", "99", "9"), ("pairs", "TT", "9"), ("soft", "A9", "T")):
        for letter in LETTERS[:5]:
            if letter == "P" and kind != "pairs":
                continue
            table = best.chart.table()
            table[kind][line][upcard] = letter
            chances = Naive(rules, table).round(ranks)
            assert float(sum(net * chance for net, chance in chances.items())) <= best.mean + CLOSE


# --- the dealer, and one decision ----------------------------------------------------------------------------------


@pytest.mark.parametrize("soft17", ["stand", "hit"])
@pytest.mark.parametrize("upcard", range(1, 11))
def test_the_dealer_ends_as_card_by_card(upcard: int, soft17: str) -> None:
    """Harm: a set of cards that is counted in the wrong number of orders."""
    unseen = (3, 4, 1, 0, 2, 4, 3, 4, 2, 11)

    @lru_cache(None)
    def ends(shoe: Cards, hand: Cards) -> tuple[Fraction, ...]:
        count, soft = total(hand)
        if len(hand) == 2 and is_blackjack(*hand):
            return (*(Fraction(0),) * 6, Fraction(1))
        if count > 17 or (count == 17 and not (soft and soft17 == "hit")):
            return tuple(Fraction(place == min(count - 17, 5)) for place in range(7))
        sums = [Fraction(0)] * 7
        for rank, copies in enumerate(shoe, 1):
            if copies:
                next_shoe = (*shoe[: rank - 1], copies - 1, *shoe[rank:])
                for place, chance in enumerate(ends(next_shoe, tuple(sorted((*hand, rank))))):
                    sums[place] += chance * Fraction(copies, sum(shoe))
        return tuple(sums)

    exact = ends(unseen, (upcard,))
    tree = blackjack_dealer.tree(upcard - 1, soft17 == "hit")
    chances = np.zeros((blackjack_dealer.BLACKJACK + 1, 1))
    blackjack_dealer.ends(tree, np.array(unseen, np.float64)[:, None], np.zeros((len(tree.parent), 1)), chances)
    assert chances[:, 0] == pytest.approx([float(end) for end in exact], abs=CLOSE)


def test_a_hand_of_too_many_decides_nothing() -> None:
    """Harm: a number for a hand that is over."""
    with pytest.raises(Unknowable):
        decide(Rules(), (4,) * 13, (10, 10, 5), 6)


# --- what others have published ----------------------------------------------------------------------------------

SIX_DECKS = """
hard 5 HHHHHHHHHH   hard 6 HHHHHHHHHH   hard 7 HHHHHHHHHH   hard 8 HHHHHHHHHH   hard 9 HDDDDHHHHH
hard 10 DDDDDDDDHH  hard 11 DDDDDDDDDH  hard 12 HHSSSHHHHH  hard 13 SSSSSHHHHH  hard 14 SSSSSHHHHH
hard 15 SSSSSHHHHH  hard 16 SSSSSHHHHH  hard 17 SSSSSSSSSS  hard 18 SSSSSSSSSS  hard 19 SSSSSSSSSS
soft A2 HHHDDHHHHH  soft A3 HHHDDHHHHH  soft A4 HHDDDHHHHH  soft A5 HHDDDHHHHH  soft A6 HDDDDHHHHH
soft A7 SddddSSHHH  soft A8 SSSSSSSSSS  soft A9 SSSSSSSSSS  hard 20 SSSSSSSSSS  pairs 55 DDDDDDDDHH
pairs 22 PPPPPPHHHH pairs 33 PPPPPPHHHH pairs 44 HHHPPHHHHH pairs 66 PPPPPHHHHH pairs 77 PPPPPPHHHH
pairs 88 PPPPPPPPPP pairs 99 PPPPPSPPSS pairs TT SSSSSSSSSS pairs AA PPPPPPPPPP
"""


def test_the_chart_of_six_decks_is_the_one_in_every_book() -> None:
    """Harm: a chart that no player would know again. ``d`` here is Ds: double, else stand."""
    words, table = SIX_DECKS.split(), full().chart.table()
    for kind, line, letters in zip(words[::3], words[1::3], words[2::3], strict=True):
        assert [*table[kind][line].values()] == [{"d": "Ds"}.get(letter, letter) for letter in letters], (kind, line)


@pytest.mark.parametrize(
    ("options", "published"),
    sampled(
        [
            ({"decks": 6}, 0.41),
            ({"decks": 8}, 0.43),
            ({"decks": 1, "double_after_split": False}, 0.0),
            ({"decks": 1, "double_after_split": False, "soft17": "hit"}, 0.19),
            ({"decks": 2, "soft17": "hit"}, 0.40),
        ],
        "values blackjack exactly",
        test=2,
    ),
)
def test_the_edge_is_as_published(options: dict[str, Any], published: float) -> None:
    """Harm: an edge that is off from what everybody knows of the game, in percent, by a fiftieth of one."""
    assert edge(**options) == pytest.approx(published, abs=0.02)


@pytest.mark.parametrize(
    ("options", "published"),
    sampled(
        [
            ({"soft17": "hit"}, 0.22),
            ({"blackjack_pays": "6:5"}, 1.36),
            ({"blackjack_pays": "1:1"}, 2.27),
            ({"double": "9_to_11"}, 0.09),
            ({"double": "10_to_11"}, 0.18),
            ({"double_after_split": False}, 0.14),
            ({"resplit_aces": True}, -0.08),
            ({"hit_split_aces": True}, -0.19),
            ({"surrender": "late"}, -0.08),
            ({"hole": "none"}, 0.11),
        ],
        "values blackjack exactly",
        test=3,
    ),
)
def test_an_option_costs_what_is_published_for_it(options: dict[str, Any], published: float) -> None:
    """Harm: an option that the mathematics takes for another one. Percent, eight decks."""
    assert edge(decks=8, **options) - edge(decks=8) == pytest.approx(published, abs=0.015)


@pytest.mark.trial(
    "values eight decks seven times",
    covered_by="tests/maths/test_blackjack.py::test_an_option_costs_what_is_published_for_it",
)
def test_more_freedom_is_worth_more() -> None:
    """Harm: a sign. Each split that is allowed is worth something, and so is a surrender before anybody looks."""
    edges = [edge(decks=8, splits=splits) for splits in range(4)]
    assert edges == sorted(edges, reverse=True)
    assert edge(decks=8) < edge(decks=8, hole="none_original") < edge(decks=8, hole="none")
    assert edge(decks=8, hole="none", surrender="early") < edge(decks=8, surrender="late") < edge(decks=8)


# --- the chart -----------------------------------------------------------------------------------------------------


def chart_of(table: Any) -> Chart:
    """The chart of a printed table."""
    rows = tuple(start(value) for value in VALUES)
    lines = (
        *(("hard", points, str(points)) for points in HARD),
        *(("soft", points, f"A{points - 11}") for points in SOFT),
        *(("pairs", value, 2 * sign(value)) for value in (*VALUES[1:], ACE)),
    )
    numbers = {letter: code for code, letter in enumerate(LETTERS)}
    for kind, hand, line in lines:
        for value in VALUES:
            getattr(rows[value], kind)[hand] = numbers[table[kind][line][sign(value)]]
    return Chart(rows)


def test_the_chart_is_read_as_it_is_printed() -> None:
    """Harm: a house's own chart that is valued as another one."""
    table = full(surrender="late", soft17="hit").chart.table()
    assert chart_of(table).table() == table
    assert [*table["hard"]] == [str(count) for count in range(5, 21)]
    assert [*table["soft"]] == [f"A{kicker}" for kicker in range(2, 10)]
    assert [*table["pairs"]] == [2 * sign for sign in "23456789TA"]
    cells = table["hard"]["15"]["T"], table["hard"]["17"]["A"], table["pairs"]["88"]["A"]
    assert cells == ("R", "Rs", "Rp")


@pytest.mark.parametrize("upcard", [0, 5, 9])
def test_no_change_of_one_cell_gains(upcard: int) -> None:
    """Harm: a search that stops before it is at the best chart."""
    rules = Rules(decks=1, surrender="late")
    table, row = upcard_of(rules, (4,) * 13, upcard), full(decks=1, surrender="late").chart.rows[upcard]
    terms = terms_of(rules)
    best = with_splits(table, row, terms)
    for kind, cells in (("hard", range(5, 21)), ("soft", range(13, 21)), ("pairs", range(10))):
        for cell in cells:
            for letter in range(len(LETTERS)):
                if kind != "pairs" and LETTERS[letter] in ("P", "Rp"):
                    continue
                varied = ChartColumn(*(letters.copy() for letters in row))
                getattr(varied, kind)[cell] = letter
                assert with_splits(table, varied, terms) <= best + CLOSE, (kind, cell, LETTERS[letter])


def test_what_cannot_be_dealt_has_a_plain_column() -> None:
    """Harm: a chart of a shoe without aces that has a hole, or a division by none of them."""
    chart = solve(Rules(), (0, *(8,) * 12)).chart
    assert isinstance(chart, Chart)
    assert chart.table()["hard"]["16"]["A"] == "H"
    assert np.isfinite(solve(Rules(), (0, *(8,) * 12)).mean)
