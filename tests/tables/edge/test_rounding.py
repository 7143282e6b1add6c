"""What rounding costs at a table, beside the exact odds of its sheet."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from tables.edge import cached_sheets, rounding
from tables.games.casino_war import Rules as WarRules
from tables.games.odds import Odds
from tables.reports import figures, gaming_hours
from tables.setup import payouts
from tests import floor

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

BANKER_WINS = 0.4585974226834
"""With eight decks, as published."""


def test_a_commission_that_chips_cannot_pay_shows_what_it_really_costs() -> None:
    """Harm: a bet of 10 on Banker pays 9, twice the commission that is posted, and no sheet says so."""
    table = floor.table("Baccarat 1", game="baccarat", options={"rounding": "down"}, min_cents=1_000, max_cents=2_000)
    costs = rounding.costs(table, cached_sheets.of_table(table))
    assert costs.keys() == {"banker"}
    assert costs["banker"].least_cents == 1_000
    assert costs["banker"].at_least == pytest.approx(BANKER_WINS * 0.05)
    broken = [95 * bet // 100 - 19 * bet // 20 + (19 * bet / 20) % 100 for bet in range(1_000, 2_001, 100)]
    assert costs["banker"].over_all == pytest.approx(BANKER_WINS * sum(broken) / sum(range(1_000, 2_001, 100)))
    table.options = {"rounding": "up"}
    assert rounding.costs(table, cached_sheets.of_table(table))["banker"].at_least == pytest.approx(-BANKER_WINS * 0.05)
    for exact in ({"rounding": "exact"}, {"rounding": "down", "commission": "ez"}):
        table.options = exact
        assert rounding.costs(table, cached_sheets.of_table(table)) == {}


def test_a_half_that_chips_cannot_pay_is_the_casinos_loss() -> None:
    """Harm: a sheet shows rounding as the casino's gain where it takes the smaller half."""
    table = floor.table("Tiger 1", game="dragon_tiger", options={}, unit_cents=500, min_cents=500, max_cents=500)
    costs = rounding.costs(table, cached_sheets.of_table(table))
    ties = 31 / 415
    assert costs["dragon"].at_least == pytest.approx(-ties / 2), "of 5 it takes nothing"
    assert payouts.underpaying([table]) == []


def test_the_sheet_of_a_table_and_its_theoretical_win_show_it() -> None:
    """Harm: an auditor compares a table's win with exact odds that its chips never paid."""
    dealer, _ = floor.dealt(name="Baccarat 1", game="baccarat", options={"rounding": "down"}, seats=2)
    dealer("bet", seat=1, amount_cents=1_000, wager="banker")
    dealer("close_bets")
    dealer.cards("9", "K", "K", "K")
    dealer.pay()
    cost = rounding.costs(dealer.table, cached_sheets.of_table(dealer.table))["banker"]
    [line] = figures.day(gaming_hours.day_of(timezone.now())).lines
    assert line.rounding == pytest.approx(cost.over_all * 1_000)
    printed = StringIO()
    call_command("par", table="Baccarat 1", stdout=printed)
    assert "Winnings are rounded down to whole chips of 1" in printed.getvalue()
    assert f"banker: {cost.at_least:.5%} of the least bet of 10" in printed.getvalue()
    as_json = StringIO()
    call_command("par", table="Baccarat 1", as_json=True, stdout=as_json)
    assert json.loads(as_json.getvalue())["rounding"]["banker"]["least_cents"] == 1_000


@pytest.mark.trial(
    "solves blackjack",
    covered_by="tests/tables/edge/test_rounding.py::test_a_commission_that_chips_cannot_pay_shows_what_it_really_costs",
)
def test_a_blackjack_is_valued_with_how_often_it_comes() -> None:
    """Harm: the cost of rounding 3 to 2 is unknown, which is the largest of all."""
    options = {"rounding": "down", "surrender": "late"}
    table = floor.table(
        "Blackjack 1", game="blackjack", options=options, unit_cents=500, min_cents=1_500, max_cents=1_500
    )
    cached_sheets.value_games()
    chances = cached_sheets.of_table(table).chances["main"]
    naturals = 2 * 96 * 24 / (312 * 311)
    assert 0.94 * naturals < chances["3/2"] < naturals, "without the blackjacks that the dealer ties"
    assert 0.02 < chances["-1/2"] < 0.07
    cost = rounding.costs(table, cached_sheets.of_table(table))["main"]
    paid, _ = Odds(3, 2).of(1_500, 500, "down")
    assert paid == 2_000
    expected = chances["3/2"] * (2_250 - paid) + chances["-1/2"] * (500 - 750)
    assert cost.at_least == pytest.approx(expected / 1_500)


def test_whole_odds_cost_nothing() -> None:
    """Harm: a page names a cost that there is not."""
    table = floor.table("War 1", game="casino_war", options={"decks": WarRules().decks})
    assert rounding.costs(table, cached_sheets.of_table(table)) == {}
