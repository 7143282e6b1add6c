"""The penetration designer: its file of results is what the shoes and the exact values give."""

import json
from io import StringIO
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from tables.games.cards import DECK_SIZE, shoe
from tables.games.rocket import Rules
from tables.maths.advantage import counting, penetration
from tables.maths.advantage.penetration import CUTS, SEATS, Pace, PenetrationCell
from tables.maths.advantage.rocket_simulation import Table, deal
from tables.maths.rocket_value import solve
from tables.maths.situation import DECKS, Unknowable, fresh
from tests.tiers import sampled

RESULTS = penetration.results()


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("penetration", *arguments, stdout=out)
    return out.getvalue()


def test_the_file_has_every_shoe_and_goes_the_way_of_shoes() -> None:
    """Harm: an operator who is shown a hole, or a deeper shoe as the safer one."""
    cells = {(cell.decks, cell.seats, cell.cut): cell for cell in RESULTS.cells}
    assert len(cells) == len(RESULTS.cells) == len(DECKS) * len(SEATS) * len(CUTS)
    for decks in DECKS:
        for seats in SEATS:
            for deep, high in pairwise(cells[decks, seats, cut] for cut in CUTS):
                assert deep.rounds > high.rounds
                assert deep.gain > high.gain
                assert deep.positive > high.positive
                assert deep.count_gain < deep.gain
                assert deep.best > deep.chart
    assert all(0.9 < cell.correlation < 1 for cell in RESULTS.cells)


@pytest.mark.parametrize(
    ("decks", "seats", "cut", "places"),
    sampled([(1, 6, 0.2, 250), (6, 1, 0.1, 80)], "values many shoes exactly"),
)
def test_the_results_are_those_of_exact_values_at_other_shoes(decks: int, seats: int, cut: float, places: int) -> None:
    """Without the fit, from another seed, at rounds picked at random: within four standard errors.

    Harm: a floor that is set by a formula that was fitted to something else.
    """
    full, cell = solve(fresh(decks)), RESULTS.cell(decks, seats, cut)
    dealt = counting.walk(full, seats, 12_345, 40_000)
    rounds = np.flatnonzero(dealt.until(cut))
    best, chart = counting.values(full, dealt.unseen[np.random.default_rng(1).choice(rounds, places)]).T
    for sample, mean in (
        (best, cell.best),
        (best > 0, cell.positive),
        (np.maximum(best, 0), cell.gain),
        (chart, cell.chart),
    ):
        assert abs(float(sample.mean()) - mean) < 4 * float(sample.std(ddof=1)) / sqrt(places)
    assert np.all(best >= chart - 1e-12), "the chart is never better than best play"


@pytest.mark.parametrize(("decks", "seats", "cut"), [(1, 6, 0.1), (1, 3, 0.35), (2, 6, 0.5), (8, 2, 0.25)])
def test_a_shoe_that_is_dealt_deeper_is_the_same_up_to_the_cut_card(decks: int, seats: int, cut: float) -> None:
    """Against shoes that the simulator ends at that cut card, also where they run out in mid-round.

    Harm: rounds a shoe, and so the time that is lost, of a shoe that nobody deals.
    """
    full, cell = solve(fresh(decks)), RESULTS.cell(decks, seats, cut)
    before = np.zeros((400_000, 11), np.int64)
    tally = deal(Table(Rules(decks, reshuffle_at=cut), seats, full), 99, len(before), before=before)
    lengths = np.diff(np.flatnonzero(before[:, :10].sum(axis=1) == DECK_SIZE * decks))
    measured = RESULTS.rounds / RESULTS.cell(decks, seats, CUTS[0]).rounds  # shoes
    assert abs(lengths.mean() - cell.rounds) < 4 * lengths.std() * sqrt(1 / len(lengths) + 1 / measured)
    assert cell.refills == pytest.approx(tally.refills / len(lengths), rel=0.05, abs=1e-3)


def test_the_count_is_what_a_player_would_keep() -> None:
    """Harm: surveillance that looks for another count than the one that pays."""
    tags = RESULTS.count.tags
    assert tags == RESULTS.best_tags[-1].tags
    assert sum(rank * tag for rank, tag in enumerate(tags, 1)) == 0
    one_three_gone = np.array([shoe(1)]) - np.eye(10, dtype=np.int64)[2]
    assert counting.per_deck(tags, one_three_gone)[0] == pytest.approx(tags[2] * 55 / 54)
    assert [count.correlation for count in RESULTS.best_tags] == sorted(
        count.correlation for count in RESULTS.best_tags
    )
    assert [max(map(abs, count.tags)) for count in RESULTS.best_tags] == list(range(1, 10))


def test_tags_are_found_where_they_are_known() -> None:
    """Harm: a count that is second best."""
    full, chance = solve(fresh(6)), np.random.default_rng(1)
    unseen = chance.multivariate_hypergeometric(shoe(6), 120, size=500)
    planted = np.array([-2, 1, 3, 1, 0, -2, 0, 0, 1, -1])  # what a card left is worth: 0 over a deck
    edge = unseen @ planted / 1000
    tag_sets = counting.best_tags(counting.Sample(counting.RocketShoe(full), unseen, np.stack([edge, edge], axis=1)))
    assert tag_sets[2].tags == tuple(-planted)
    assert tag_sets[2].correlation == pytest.approx(1)


def a_cell(**changes: Any) -> PenetrationCell:
    blank = dict.fromkeys(penetration.COLUMNS, 0.0)
    return PenetrationCell(**{**blank, "decks": 6, "seats": 6, "cut": 0.2, "lowest": 1, **changes})


def test_what_a_spread_wins() -> None:
    """Harm: a counter who wins where the page says that he loses."""
    cell = a_cell(best=-0.03, best_error=0.001, gain=0.01, gain_error=0.002)
    assert cell.wins(1) == pytest.approx((-3, 0.1))
    assert cell.wins(5) == pytest.approx((1, 0.9))
    assert cell.even == pytest.approx(4)
    assert a_cell(best=-0.03).even is None
    assert a_cell(best=0.01).even == 1
    with pytest.raises(Unknowable, match="a spread of 1 to 0 is not bet"):
        cell.wins(0)


def test_time_that_goes_to_shuffles() -> None:
    """Harm: an operator who counts on rounds that are never dealt."""
    cell = a_cell(rounds=10.0, refills=1.0)
    assert cell.shuffling(Pace(30, 150)) == pytest.approx(0.5)
    assert cell.an_hour(Pace(30, 150)) == pytest.approx(60)
    with pytest.raises(Unknowable, match="a shuffle of 0 seconds cannot be"):
        Pace(30, 0)


def test_the_command_prints_what_the_file_has() -> None:
    """Harm: numbers for a regulator that differ from those on the screen."""
    document = json.loads(printed("--decks", "1,6-8", "--seats", "2", "--cut", "all", "--spread", "12", "--json"))
    assert [shoe_cell["decks"] for shoe_cell in document["cells"]] == [1] * 9 + [6] * 9 + [7] * 9 + [8] * 9
    cell = RESULTS.cell(6, 2, 0.2)
    row = next(candidate for candidate in document["cells"] if (candidate["decks"], candidate["cut"]) == (6, 0.2))
    assert (row["wins_per_100"], row["even_spread"]) == (cell.wins(12)[0], cell.even)
    assert row["cards_behind"] == 66
    text = printed("--decks", "6", "--seats", "2")
    assert f"{cell.positive:.2%}" in text
    assert "3: -9" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--decks", "9"], "A shoe of 9 decks is not dealt: it has 1 to 8."),
        (["--seats", "7"], "Rocket is not dealt to 7 seats: it has 1 to 6."),
        (["--cut", "0.6"], "A cut card at 0.6 of the shoe was not measured: these were: 0.1, 0.15, 0.2"),
        (["--cut", "x"], "'x' is no list of parts of a shoe such as 0.2"),
        (["--decks", "6-"], "'6-' is no list of whole numbers such as 6, 1,2 or 1-8."),
        (["--spread", "0"], "A spread of 1 to 0 is not bet: it is 1 to 1 up to 1 to 1000."),
        (["--round-seconds", "0"], "A round of 0 seconds cannot be: it takes above 0 and at most 3600."),
        (["--shuffle-seconds", "nan"], "A shuffle of nan seconds cannot be"),
    ],
)
def test_what_was_not_measured_is_refused_in_a_sentence(arguments: list[str], sentence: str) -> None:
    """Harm: a traceback, or the numbers of another shoe."""
    with pytest.raises(CommandError) as refusal:
        printed(*arguments)
    assert sentence in str(refusal.value)
