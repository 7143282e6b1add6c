"""Games of standard cards by chance: the exact values within their errors, and runs that can be dealt again."""

import json
from io import StringIO
from math import sqrt
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tables.maths.advantage.card_simulation import added
from tables.maths.advantage.dealt_rounds import DEALS
from tables.maths.providers import TallyProvider, provider, rules_type
from tables.maths.worth import Tally, Worth, simulated
from tests.pace import by_pace
from tests.tiers import sampled

ROUNDS = by_pace(1_000_000, 10_000_000, 100_000_000)


def dealer(game: str) -> TallyProvider:
    values = provider(game)
    assert isinstance(values, TallyProvider)
    return values


def off(dealt: Worth, exact: Worth) -> float:
    """By how many standard errors."""
    assert dealt.standard_error
    return (dealt.house_edge - exact.house_edge) / dealt.standard_error


@pytest.mark.parametrize(
    ("game", "options", "cards"),
    sampled(
        [
            ("baccarat", {"spread": ("tie", "player_pair", "dragon_bonus_player", "dragon_bonus_banker")}, None),
            (
                "baccarat",
                {"commission": "ez", "spread": ("dragon_7", "panda_8")},
                (1, 9, 0, 4, 32, 2, 7, 7, 3, 1, 2, 0, 5),
            ),
            ("baccarat", {"commission": "six_pays_half", "spread": ("super_6",), "decks": 1}, None),
            ("dragon_tiger", {"spread": ("tie", "suited_tie")}, None),
            ("dragon_tiger", {}, (1, 0, 2, *[0] * 10)),
            ("casino_war", {}, None),
            ("casino_war", {"second_tie": "bonus"}, (5, 0, 3, 1, *[0] * 8, 2)),
            ("blackjack", {"spread": ("perfect_pairs", "twenty_one_plus_three"), "surrender": "late"}, None),
            ("blackjack", {"hole": "none", "insurance": False, "decks": 2}, (8, *[6] * 12)),
            ("three_card_poker", {}, None),
            ("three_card_poker", {"ante_bonus": "1-2-3"}, (*[1] * 17, *[0] * 20, *[1] * 15)),
        ],
        "deals millions of rounds",
        test=4,
    ),
)
def test_dealt_rounds_agree_with_the_exact_value(game: str, options: dict[str, Any], cards: Any) -> None:
    """Harm: an edge that is proved and published, of a game that is dealt otherwise."""
    values, rules = dealer(game), rules_type(game)(**options)
    tally = DEALS[game](rules, cards, ROUNDS, seed=2026)
    sheet, exact = values.valued(rules, cards, tally, simulated), values.sheet(rules, cards)
    assert sheet.method == "simulated"
    assert sheet.wagers.keys() == exact.wagers.keys()
    for bet, worth in sheet.wagers.items():
        assert abs(off(worth, exact.wagers[bet])) < 4
        assert worth.standard_deviation == pytest.approx(exact.wagers[bet].standard_deviation, rel=40 / sqrt(ROUNDS))
        for name, beside in worth.beside.items():
            assert abs(off(beside, exact.wagers[bet].beside[name])) < 4


@pytest.mark.parametrize("game", ["baccarat", "dragon_tiger", "casino_war", "three_card_poker"])
def test_a_run_is_the_sum_of_its_chunks_and_the_same_again(game: str) -> None:
    """Harm: a result that nobody can deal again."""
    rules = rules_type(game)()
    run_1, run_2 = (DEALS[game](rules, None, 5_000, seed) for seed in (1, 2))
    assert run_1 != run_2
    assert DEALS[game](rules, None, 5_000, 1) == run_1
    sums = added([run_1, run_2])
    assert {part: rounds(sums, part) for part in sums} == dict.fromkeys(sums, 10_000)
    assert all(sums[part][end] == ways + run_2[part][end] for part, ends in run_1.items() for end, ways in ends.items())


def rounds(tally: Tally, part: str) -> int:
    return sum(tally[part].values())


# --- manage.py simulate -----------------------------------------------------------------------------------------------


def dealt(*arguments: str) -> str:
    out = StringIO()
    call_command("simulate", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_deals_the_same_on_any_number_of_cores() -> None:
    """Harm: numbers in a file that depend on the machine."""
    arguments = ("baccarat", "--rounds", "1500000", "--set", "decks=6", "--seed", "7", "--json")
    single, double = (json.loads(dealt(*arguments, "--cores", cores)) for cores in ("1", "2"))
    assert single == double
    assert (single["rounds"], single["options"]["decks"], single["method"]) == (2_000_000, 6, "simulated")
    for wager in single["wagers"].values():
        assert abs(wager["errors_off"]) < 4
        assert wager["errors_off"] == pytest.approx(
            (wager["house_edge"] - wager["exact_edge"]) / wager["standard_error"]
        )


def test_the_text_has_a_line_for_each_wager() -> None:
    """Harm: a report that leaves out the wager that is off."""
    lines = dealt("dragon_tiger", "--rounds", "1", "--composition", "A=2,K=3").splitlines()
    assert lines[0] == "1,000,000 rounds of dragon tiger, a fresh shoe each"
    assert [line.split()[0] for line in lines[2:]] == ["dragon", "tiger", "tie"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["baccarat", "--burn", "0"], "--burn goes with rocket alone"),
        (["baccarat", "--resume", "run.json"], "--resume goes with rocket alone"),
        (["baccarat", "--set", "decks=0"], "Option decks is a whole number from 1 to 8"),
        (["casino_war", "--composition", "A=1"], "1 cards are too few: a round may take 7"),
        (["rocket", "--set", "decks=1"], "Rocket's options have arguments of their own"),
        (["pairs"], "There is no simulation of 'pairs'"),
        (["baccarat", "--rounds", "0"], "at least 1"),
    ],
)  # fmt: skip
def test_what_is_not_dealt_is_refused(arguments: list[str], sentence: str) -> None:
    """Harm: rounds of another table than was asked for."""
    with pytest.raises(CommandError, match=sentence):
        dealt(*arguments)
