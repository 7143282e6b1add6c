"""The PAR sheet: its numbers are the solver's, its bounds hold, and it refuses what cannot be."""

import json
from io import StringIO
from math import sqrt
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from tables.games.cards import shoe
from tables.maths import par
from tables.maths import printed_sheet as printed_page
from tables.maths.advantage import docs_page
from tables.maths.par import ParSheet
from tables.maths.rocket_value import decide, solve
from tables.maths.situation import NEVER_FOLD, OPTIMAL, Situation, Strategy, fresh

AT_THE_END = "0,0,0,0,0,1,2,3,4,6"


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("par", *arguments, stdout=out)
    return out.getvalue()


def facts(*arguments: str) -> dict[str, Any]:
    sheet: dict[str, Any] = json.loads(printed(*arguments, "--json"))
    return sheet


def test_json_has_every_digit() -> None:
    """Harm: an audit that compares rounded numbers with exact ones."""
    for decks, name, strategy in (
        (1, "optimal", OPTIMAL),
        (6, "never_fold", NEVER_FOLD),
        (8, "fold_at:2", Strategy(2)),
    ):
        solution, sheet = solve(fresh(decks), strategy), facts("rocket", "--decks", str(decks), "--strategy", name)
        assert sheet["house_edge"] == solution.house_edge
        assert sheet["standard_deviation"] == solution.standard_deviation
        assert sheet["strategy"] == name
        assert sum(outcome["probability"] for outcome in sheet["outcomes"]) == pytest.approx(1)
        assert sum(decision["probability"] for decision in sheet["first_decisions"]) == pytest.approx(
            1 - sheet["decks"] * 3 / (55 * decks)
        )


def test_the_sheet_of_a_shoe_near_its_end() -> None:
    """Harm: the edge of a full shoe shown for one that is nearly dealt out."""
    sheet = facts("rocket", "--decks", "1", "--composition", AT_THE_END, "--burn", "2")
    solution = solve(Situation(1, (0, 0, 0, 0, 0, 1, 2, 3, 4, 6), 2))
    assert (sheet["house_edge"], sheet["cards_left"]) == (solution.house_edge, 14)
    assert {decision["player"] for decision in sheet["first_decisions"]} == {6, 7, 8, 9, 10}


def test_the_text_says_what_the_numbers_say() -> None:
    """Harm: a sheet for a regulator that says something else than its JSON."""
    text = printed("rocket", "--bankroll", "30")
    solution = solve(fresh(6))
    assert f"House edge              {100 * solution.house_edge:.4f} %" in text
    chart = text[text.index("First decision") : text.index("Later decisions")].splitlines()
    assert chart[-2].split() == ["10", "F", "F", *"HHHHHHH"]
    assert "Risk of ruin with 30 bets: between 0.0" in text
    assert "F fold, H hit" in text


def test_where_the_seat_has_the_edge() -> None:
    """Harm: a risk of ruin, or a number of rounds, that makes no sense when the house expects to lose."""
    dying = ParSheet(solve(Situation(1, (1, 1, 3, 1, 1, 1, 1, 1, 1, 1), 0)))
    assert dying.house_edge < 0
    assert dying.ruin(1000) == par.Ruin(1000, 1, 1)
    assert dying.bankroll(0.01) is None
    assert "no bankroll is enough" in "\n".join(par.lines(dying))


def test_a_house_that_cannot_lose_is_not_ruined() -> None:
    """Harm: a crash, or a risk where there is none."""
    tens = ParSheet(solve(Situation(1, (1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0), Strategy(10)))
    assert tens.exposure == (0.3, pytest.approx(3 / 54))
    only_pairs = ParSheet(solve(Situation(1, (0, 0, 0, 0, 0, 0, 0, 0, 0, 10), 0), Strategy(10)))
    assert only_pairs.solution.distribution == {-10: 1.0}
    assert only_pairs.ruin(1) == par.Ruin(1, 0, 0)
    assert only_pairs.exposure == (0, 0)


@pytest.mark.parametrize(("strategy", "bankroll"), [(OPTIMAL, 10), (OPTIMAL, 30), (NEVER_FOLD, 5), (Strategy(2), 2.5)])
def test_the_risk_of_ruin_lies_within_its_bounds(strategy: Strategy, bankroll: float) -> None:
    """Against the walk itself, solved on the lattice of tenths up to a bankroll that no one loses.

    Harm: a house that thinks itself safe.
    """
    sheet = ParSheet(solve(fresh(6), strategy))
    ceiling = 2_000
    step = np.eye(ceiling)
    for net, chance in sheet.solution.distribution.items():
        bankrolls = np.arange(ceiling)
        to = bankrolls - net
        inside = (to >= 0) & (to < ceiling)
        np.add.at(step, (bankrolls[inside], to[inside]), -chance)
    lost = [
        sum(chance for net, chance in sheet.solution.distribution.items() if net > held_units)
        for held_units in range(ceiling)
    ]
    ruin = np.linalg.solve(step, np.array(lost))[round(bankroll * 10)]
    bounds = sheet.ruin(bankroll)
    assert bounds.least <= ruin <= bounds.most
    assert bounds.most < 1.5 * bounds.least


def test_rounds_and_bands_by_their_definitions() -> None:
    """Harm: a band of 95 % that is another band."""
    sheet = ParSheet(solve(fresh(6)))
    assert sheet.n0 == pytest.approx((sheet.standard_deviation / sheet.house_edge) ** 2)
    rounds = sheet.rounds_to_95 or 0
    low, high = sheet.hold(round(rounds))
    assert low == pytest.approx(0, abs=1e-4)
    assert high == pytest.approx(2 * sheet.house_edge, abs=1e-4)
    assert sheet.hold(10_000)[1] == pytest.approx(sheet.house_edge + 1.959964 * sheet.standard_deviation / sqrt(10_000))
    assert sheet.ruin(sheet.bankroll(0.01) or 0).most == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--decks", "9"], "A shoe of 9 decks is not dealt: it has 1 to 8."),
        (["--composition", "1,2,3,4,5,6,7,8,9,x"], "is no composition: it is ten counts, whole numbers"),
        (["--strategy", "best"], "There is no strategy 'best': it is optimal, never_fold, or fold_at:N"),
        (["--bankroll", "0"], "A bankroll of 0 bets cannot be ruined: it is a number above 0."),
        (["--bankroll", "nan"], "A bankroll of nan bets cannot be ruined"),
        (["--check"], "it goes with --docs"),
        (["--player", "9,4", "--dealer", "2"], "A seat decides with as many cards as the dealer"),
        (["--player", "99", "--dealer", "2", "--composition", "1,2,3,4,5,6,7,8,9,9"], "A seat decides with"),
        (["--player", "9"], "is no hand: it is one rank for each card, whole numbers with commas between."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(arguments: list[str], sentence: str) -> None:
    """Harm: a number for a shoe that does not exist, or a traceback."""
    with pytest.raises(CommandError) as refusal:
        printed("rocket", *arguments)
    assert sentence in str(refusal.value)


def test_the_page_for_a_file_draws_the_chart() -> None:
    """Harm: a regulator's copy that says something else than the numbers, or that needs a network to be read."""
    text = printed("rocket", "--html", "--bankroll", "30")
    solution = solve(fresh(6))
    chart = text[text.index('aria-label="Chart') : text.index("Results of a bet")]
    assert (chart.count(">F<"), chart.count(">H<")) == (8, 82)
    assert f"{100 * solution.house_edge:.4f} %" in text
    assert "With 30 bets: between 0.0" in text
    assert "http" not in text
    thin = ParSheet(solve(Situation(1, (0, 0, 0, 0, 0, 0, 0, 0, 0, 10), 0), Strategy(10)))
    assert "None can be reached." in printed_page.page(thin)


def test_a_decision_is_told_for_the_cards_that_were_seen() -> None:
    """Harm: advice for a full shoe where the shoe is nearly out."""
    assert printed("--player", "9", "--dealer", "2").startswith("Fold. To hit is worth -2.62")
    arguments = ("--player", "9,4", "--dealer", "2,10", "--decks", "1", "--composition", "1,1,3,3,5,6,7,8,8,9")
    choice = decide(Situation(1, (1, 1, 3, 3, 5, 6, 7, 8, 8, 9)), [9, 4], [2, 10])
    assert printed(*arguments).startswith(
        f"Hit. To hit is worth {choice.hit:+.6f} tenths of the bet, to fold -2.000000;"
    )


def test_another_game_has_no_sheet() -> None:
    """Harm: numbers of Rocket under another name."""
    with pytest.raises(CommandError, match=r"There is no exact value of 'pairs': only baccarat, .*rocket, .*have one"):
        printed("pairs")


@pytest.mark.trial(
    "six seconds of fractions", covered_by="tests/maths/test_value.py::test_doubles_and_fractions_agree_on_thin_shoes"
)
def test_the_full_deck_in_rational_numbers() -> None:
    """Harm: digits of the published edge that are rounding."""
    assert solve(fresh(1)).house_edge == pytest.approx(float(docs_page.one_deck()), abs=1e-16)


@pytest.mark.slow("twelve seconds: every table of the page")
def test_the_tables_of_the_page_are_computed() -> None:
    """Harm: published numbers that the code does not give any more."""
    call_command("par", "--docs", "--check")


def test_the_page_has_the_full_shoe() -> None:
    """Harm: a default that is another shoe than the table's."""
    assert facts("rocket")["composition"] == list(shoe(6))


@pytest.mark.slow("simulates a table")
def test_the_deviation_of_a_table_counts_that_its_seats_hang_together() -> None:
    """Harm: a table's band as if each seat had a dealer of its own."""
    arguments = ("--strategy", "fold_at:8", "--seats", "6")
    table, solution = facts(*arguments)["table"], solve(fresh(6), Strategy(8))
    assert table["standard_deviation"] == pytest.approx(sqrt(6 * solution.variance + 30 * table["covariance"]))
    assert 0 < table["covariance"] < solution.variance
    assert f"6 seats with equal bets: standard deviation {table['standard_deviation']:.6f}" in printed(*arguments)
    assert facts("--seats", "1")["table"]["standard_deviation"] == pytest.approx(solve(fresh(6)).standard_deviation)
    with pytest.raises(CommandError, match="Rocket is not dealt to 7 seats"):
        printed("--seats", "7")
