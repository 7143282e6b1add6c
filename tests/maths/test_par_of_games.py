"""manage.py par for every game: options and cards as they are written, and what it prints of each wager."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tables.games.cards import BY_RANK, STANDARD
from tables.maths.options import cards_of, rules_of
from tables.maths.providers import PROVIDERS, provider, rules_type


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("par", *arguments, stdout=out)
    return out.getvalue()


def facts(*arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(printed(*arguments, "--json"))
    return document


def test_json_has_the_options_and_each_wager() -> None:
    """Harm: numbers in a file of which nobody knows the rules."""
    sheet = facts("baccarat", "--set", "commission=ez", "decks=6", "--set", "spread=dragon_7,tie")
    assert sheet["game"] == "baccarat"
    assert sheet["options"] == {
        "decks": 6,
        "commission": "ez",
        "tie_pays": 8,
        "super_6_pays": 12,
        "spread": ["dragon_7", "tie"],
        "unit": 1,
        "rounding": "down",
    }
    assert {*sheet["wagers"]} == {"player", "banker", "dragon_7", "tie"}
    for wager in sheet["wagers"].values():
        assert wager.keys() == {"house_edge", "standard_deviation", "hit_frequency", "method"}
        assert wager["method"] == "exact"
    assert (sheet["chart"], sheet["method"]) == (None, "exact")


def test_a_composition_is_what_is_left() -> None:
    """Harm: the edge of a full shoe shown for one that is nearly dealt out."""
    sheet = facts("dragon_tiger", "--composition", "A=1,K=2")
    assert sheet["composition"] == {rank: {"A": 1, "K": 2}.get(rank, 0) for rank in map(str, BY_RANK.spellings)}
    assert sheet["wagers"]["dragon"]["house_edge"] == pytest.approx(1 / 6)
    assert sheet["wagers"]["tie"]["hit_frequency"] == pytest.approx(1 / 3)
    suited = facts("dragon_tiger", "--set", "spread=suited_tie", "--composition", "As=2,Ah=1,2c=1")
    assert suited["wagers"]["suited_tie"]["hit_frequency"] == pytest.approx(1 / 6)
    by_rank, by_card = (
        facts("baccarat", "--composition", ",".join(f"{card}={count}" for card in pack.spellings))
        for pack, count in ((BY_RANK, 8), (STANDARD, 2))
    )
    assert by_rank == by_card


def test_the_text_is_the_table_of_the_same_numbers() -> None:
    """Harm: a sheet for a file that says something else than its JSON."""
    lines = printed("casino_war").splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.endswith("exact")}
    assert {name: row[0] for name, row in rows.items()} == {
        "main": "2.87713%",
        "with_surrender": "3.69775%",
        "tie": "18.64952%",
    }
    assert rows["main"][1:] == ["1.049714", "50.27354%", "exact"]
    assert "surrender true" in lines[1]
    assert lines[2] == "Cards: 24 of each of 13"
    assert "Weakest play: Q-6-4" in printed("three_card_poker")
    assert "Cards: A: 1, 2: 1" in printed("dragon_tiger", "--composition", "A=1,2=1")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["baccarat", "--set", "decks=9"], "Option decks is a whole number from 1 to 8, not '9'."),
        (["baccarat", "--set", "tie_pays=10"], "Option tie_pays is 8 or 9, not '10'."),
        (["baccarat", "--set", "spread=tie,luck"], "Option spread is a list, with commas between and each once, of"),
        (["baccarat", "--set", "spread=tie,tie"], "Option spread is a list, with commas between and each once, of"),
        (["baccarat", "--set", "spread=super_6"], "super_6 is spread only with commission=six_pays_half."),
        (["baccarat", "--set", "luck=1"], "There is no option 'luck': the options are "),
        (["baccarat", "--set", "decks"], "'decks' sets nothing: an option is set as name=value."),
        (["baccarat", "--set", "decks=6", "decks=7"], "Option decks is set twice."),
        (["casino_war", "--set", "surrender=1"], "Option surrender is yes or no, not '1'."),
        (["three_card_poker", "--set", "ante_bonus=5"], "Option ante_bonus is 1-2-3, 1-3-4 or 1-4-5, not '5'."),
        (["baccarat", "--composition", "A=32,1=32"], "There is no card '1': a rank is one of A23456789TJQK"),
        (["baccarat", "--composition", "A=32,Ks=8"], "A composition names its cards all by rank, A=32, or all by card"),
        (["baccarat", "--composition", "A=x"], "'A=x' counts nothing: a composition is written as A=32,2=31"),
        (["baccarat", "--composition", ""], "'' counts nothing"),
        (["baccarat", "--composition", "A=3,A=2"], "A is counted twice."),
        (["baccarat", "--composition", "A=33,2=9"], "33 cards of A cannot be unseen: 8 decks hold 32."),
        (["baccarat", "--decks", "6"], "--decks goes with rocket alone: the options of other games are set by --set"),
        (["rocket", "--set", "decks=9"], "Option decks is a whole number from 1 to 8"),
        (["bingo"], "There is no exact value of 'bingo': only baccarat, "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_line(arguments: list[str], sentence: str) -> None:
    """Harm: a number for rules that nobody deals, or a traceback."""
    with pytest.raises(CommandError) as refusal:
        printed(*arguments)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_options_are_read_by_their_types() -> None:
    """Harm: a list that is a text, or a true that is a word."""
    war = rules_type("casino_war")
    assert rules_of(war, ["surrender=FALSE", "second_tie=bonus", "spread=", "decks=2", "rounding=half_up"]) == war(
        decks=2, surrender=False, second_tie="bonus", spread=(), rounding="half_up"
    )
    poker = rules_type("three_card_poker")
    assert rules_of(poker, ["pair_plus_pays=1-3-5-30-40"]) == poker(pair_plus_pays="1-3-5-30-40")
    assert rules_of(poker, []) == poker()
    assert cards_of("A=1, K=2") == (1, *[0] * 11, 2)


def test_rocket_takes_its_options_either_way() -> None:
    """Harm: a game whose options are written unlike those of all others."""
    assert facts("rocket", "--set", "decks=2", "burn=0") == facts("rocket", "--decks", "2", "--burn", "0")


def test_every_game_with_a_value_has_options_of_its_own() -> None:
    """Harm: a provider that is registered under a name that no game has."""
    for game in PROVIDERS:
        assert rules_type(game)()
    assert provider("pairs") is None
