"""The cut card at blackjack and baccarat: what was measured is what shoes and exact values give."""

from itertools import pairwise
from math import sqrt

import numpy as np
import pytest

from tables.maths import blackjack_table
from tables.maths.advantage import counting, penetration, studies
from tables.maths.advantage.baccarat_shoes import BaccaratShoe
from tables.maths.advantage.blackjack_shoes import BlackjackShoe
from tables.maths.advantage.penetration import SUBJECTS, Subject, cards_behind
from tests.tiers import sampled

OTHERS = [subject for subject in SUBJECTS if subject.game != "rocket"]


@pytest.mark.parametrize("subject", OTHERS, ids=lambda subject: f"{subject.game} {subject.wager}")
def test_each_file_has_every_shoe_and_goes_the_way_of_shoes(subject: Subject) -> None:
    """Harm: an operator who is shown a hole, or a deeper shoe as the safer one."""
    results = penetration.results(subject.game, subject.wager)
    cells_by_shoe = {(cell.decks, cell.seats, cell.cut): cell for cell in results.cells}
    assert len(cells_by_shoe) == len(results.cells) == len(subject.decks) * len(subject.seats) * len(subject.cuts)
    for decks in subject.decks:
        for seats in subject.seats:
            cells = [cells_by_shoe[decks, seats, cut] for cut in subject.cuts]
            for deep, high in pairwise(cells):
                assert deep.rounds > high.rounds
                assert deep.gain >= high.gain - 2 * (deep.gain_error + high.gain_error)
            assert cells[0].gain > cells[-1].gain
            assert all(cell.lowest == subject.lowest for cell in cells)
            assert all(cell.best > cell.chart - 2 * (cell.best_error + cell.chart_error + 1e-9) for cell in cells)
            assert 0 < cells[0].gain_error < cells[0].gain


@pytest.mark.parametrize(
    ("wager", "places"),
    sampled([("dragon_7", 1_500), ("panda_8", 1_000), ("player_pair", 20_000)], "values many shoes exactly"),
)
def test_side_bets_are_those_of_exact_values_at_other_shoes(wager: str, places: int) -> None:
    """Without the fit, from another seed, at rounds picked at random: within four standard errors.

    Harm: a limit on a side bet that is set by a formula that was fitted to something else.
    """
    subject = penetration.subject("baccarat", wager)
    shoe, cut = BaccaratShoe(subject, 8), 0.05
    cell = penetration.results("baccarat", wager).cell(8, 1, cut)
    dealt = shoe.walk(1, 4_321, 40_000)
    rounds = np.flatnonzero(dealt.until(cut))
    best = shoe.values(dealt.unseen[np.random.default_rng(2).choice(rounds, places)])[:, 0]
    for exact, measured, error in (
        (best, cell.best, cell.best_error),
        (best > 0, cell.positive, cell.positive_error),
        (np.maximum(best, 0), cell.gain, cell.gain_error),
    ):
        assert abs(float(exact.mean()) - measured) < 4 * sqrt(float(exact.var(ddof=1)) / places + error**2)
    assert abs(dealt.until(cut).sum() / dealt.first.sum() - cell.rounds) < 0.2


def test_a_shoe_of_baccarat_burns_what_its_first_card_counts_and_ends_a_round_after_the_cut_card() -> None:
    """Harm: rounds a shoe, and what a counter has seen of it, of a shoe that nobody deals."""
    dealt = BaccaratShoe(penetration.subject("baccarat"), 8).walk(1, 5, 20_000)
    unseen, starts = dealt.unseen.sum(axis=1), np.flatnonzero(dealt.first)
    burned = unseen - dealt.low
    assert set(unseen[starts]) == {415}, "the first card is turned"
    assert set(burned[starts]) == set(range(1, 11))
    for start, end in pairwise(starts[:50]):
        assert len(set(burned[start:end])) == 1
        assert set(np.diff(-dealt.low[start:end])) <= {4, 5, 6}
        behind = dealt.low[start:end] <= cards_behind(8, 0.034, 52)
        assert behind.sum() == 1, "one more round"
        assert dealt.until(0.034)[start:end].all()
        assert dealt.until(0.5)[start:end].sum() == (dealt.low[start:end] > 208).sum() + 1


@pytest.mark.parametrize(("decks", "seats", "cut"), sampled([(6, 1, 0.25), (2, 6, 0.3)], "deals shoes to many depths"))
def test_a_count_wins_at_blackjack_what_was_measured(decks: int, seats: int, cut: float) -> None:
    """By what a million rounds truly paid: always one bet, and bets where Hi-Lo is high. Within four standard errors.

    Harm: a spread that a table allows because somebody's formula says that no count beats it.
    """
    subject = penetration.subject("blackjack")
    shoe, results = BlackjackShoe(subject, decks), penetration.results("blackjack")
    cell, limit = results.cell(decks, seats, cut), results.count.threshold(decks)
    cut_place = cards_behind(decks, cut, subject.deck_size)
    walked = blackjack_table.walk(shoe.rules, shoe.chart, seats, 1_000_000, seed=77, last=cut_place)
    high = counting.per_deck(studies.HI_LO, walked.unseen, subject.deck_size) > limit
    for nets, measured, error in (
        (walked.nets, cell.chart, cell.chart_error),
        (np.where(high, walked.nets, 0.0), cell.count_gain, cell.count_gain_error),
    ):
        assert abs(float(nets.mean()) - measured) < 4 * sqrt(float(nets.var()) / len(nets) + error**2)
    assert abs(high.mean() - cell.high) < 0.01
    starts = walked.unseen.sum(axis=1) == 52 * decks
    assert abs(len(high) / starts.sum() - cell.rounds) < 0.2
    assert abs(walked.refills[-1] / starts.sum() - cell.refills) < 0.02


def test_hi_lo_is_the_count_that_players_know() -> None:
    """Harm: surveillance that looks for another count than the one that is kept."""
    count = penetration.results("blackjack").count
    words = penetration.tags_in_words(penetration.results("blackjack"))
    assert words == "A: -1, 2: +1, 3: +1, 4: +1, 5: +1, 6: +1, T-K: -1"
    assert all(0 <= count.threshold(decks) <= 4 for decks in (2, 6, 8))


def test_a_bet_that_nobody_has_to_make_costs_nothing_while_it_waits() -> None:
    """Harm: a counter of a side bet who is told to lose by it, because others do."""
    cell = penetration.results("baccarat", "dragon_7").cell(8, 1, 0.034)
    assert cell.best < 0
    assert cell.wins(3)[0] == pytest.approx(300 * cell.gain)
    assert cell.even == 1
