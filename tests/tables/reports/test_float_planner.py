"""The float planner: what a rack should open with, held against runs whose flows are known."""

import pytest

from tables.floor import recorder
from tables.reports import float_planner
from tests import floor
from tests.floor import Hand

pytestmark = pytest.mark.django_db


def run_of(dealer: Hand, boss: Hand, *bets_cents: int) -> None:
    """Buy-ins of these amounts, and the table closes and opens again."""
    for cents in bets_cents:
        dealer("sell_chips", amount_cents=cents)
    Hand(dealer.table, boss.by)("close_table")
    Hand(dealer.table, boss.by)("open_table")


def test_a_float_covers_what_runs_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a rack that runs dry of red every evening, and a plan that says it has enough."""
    dealer, boss = floor.dealt()
    assert float_planner.plan(dealer.table) is None
    for cents in (2_000, 4_000, 61_500):
        run_of(dealer, boss, cents)
        recorder.sign_in(dealer.table, dealer.by)
    needed = [run.needed for run in float_planner.used(dealer.table)]
    assert needed == [{500: 4}, {500: 3, 2_500: 1}, {10_000: 6, 500: 3}]
    plan = float_planner.plan(dealer.table)
    assert plan is not None
    assert {line.value_cents: (line.pieces, line.most) for line in plan.lines} == {
        10_000: (20, 6), 2_500: (20, 1), 500: (20, 4), 100: (0, 0)
    }  # fmt: skip
    assert [line.ran_out for line in plan.lines] == [1, 1, 3, 0]
    assert plan.is_bold


@pytest.mark.parametrize(
    ("times", "of", "bound"), [(0, 10, 0.2589), (0, 60, 0.0487), (1, 20, 0.2161), (2, 30, 0.1953), (60, 60, 1)]
)
def test_the_chance_to_run_out_is_bounded_as_tables_of_it_have_it(times: int, of: int, bound: float) -> None:
    """Harm: 'never yet' read as 'never'. The figures are one-sided limits by Clopper and Pearson."""
    assert float_planner.upper_bound(times, of) == pytest.approx(bound, abs=1e-4)
