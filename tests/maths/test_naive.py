"""The second telling of the games that exact values are held against is that of the engines, round for round."""

import json
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from tables.games.cards import STANDARD
from tables.games.record import judge
from tables.maths.providers import rules_type
from tests.maths import naive

STAKE = 200
"""A multiple of twenty and of two: every payment of it is whole."""
ROUNDS = 300
SPREADS = {
    "five_percent": ["tie", "player_pair", "banker_pair"],
    "ez": ["tie", "dragon_7", "panda_8"],
    "six_pays_half": ["tie", "super_6"],
}


def cards_by_chance(decks: int, dealt: int, chance: Random) -> list[str]:
    """Of few ranks, so that ties and pairs are no rare event."""
    signs = chance.sample(naive.RANKS, 5)
    return chance.sample([str(card) for card in STANDARD.spellings if str(card)[0] in signs] * decks, dealt)


def nets(game: str, options: dict[str, Any], seats: Sequence[Sequence[str]], cards: Sequence[str], *acts: str) -> Any:
    """What each wager wins by the engine, in stakes; further wagers count with the first of their seat."""
    record = {
        "format": "round-record/1",
        "game": game,
        "options": options,
        "seats": [{"seat": seat, "bets": dict.fromkeys(bets, STAKE)} for seat, bets in enumerate(seats, 1)],
        "cards": [*cards],
        "actions": [{"seat": 1, "do": act} for act in acts],
    }
    answer = judge(json.dumps(record))
    assert answer["complete"]
    won: dict[str, Fraction] = {}
    for result in answer["results"]:
        for wager in result["wagers"]:
            bet = {"raise": "main", "play": "ante"}.get(wager["bet"], wager["bet"])
            won[bet] = won.get(bet, Fraction(0)) + Fraction(wager["returned"] - wager["staked"], STAKE)
    return won


@pytest.mark.parametrize("commission", ["five_percent", "ez", "six_pays_half"])
def test_baccarat(commission: str) -> None:
    """Harm: exact values of a game that is not the one on the felt."""
    chance = Random(commission)
    options = {"commission": commission, "spread": SPREADS[commission], "tie_pays": 9, "super_6_pays": 15}
    rules = rules_type("baccarat")(**options | {"spread": tuple(options["spread"])})
    for _ in range(ROUNDS):
        cards = cards_by_chance(8, 6, chance)
        turned = sum(map(len, naive.baccarat_hands(cards)))
        seats = (["player", *options["spread"]], ["banker"])
        assert nets("baccarat", options, seats, cards[:turned]) == naive.play_baccarat(rules)(cards)


def test_dragon_tiger() -> None:
    """Harm: the same."""
    chance, options = Random("dragon"), {"tie_pays": 11, "spread": ["tie", "suited_tie"]}
    rules = rules_type("dragon_tiger")(tie_pays=11, spread=("tie", "suited_tie"))
    for _ in range(ROUNDS):
        cards = cards_by_chance(8, 2, chance)
        seats = (["dragon", "tie", "suited_tie"], ["tiger"])
        assert nets("dragon_tiger", options, seats, cards) == naive.play_dragon_tiger(rules)(cards)


@pytest.mark.parametrize("second_tie", ["raise_only", "bonus"])
def test_casino_war(second_tie: str) -> None:
    """Harm: the same; the three burned cards stand in no record."""
    chance, options = Random(second_tie), {"second_tie": second_tie}
    rules = rules_type("casino_war")(second_tie=second_tie)
    for _ in range(ROUNDS):
        cards = cards_by_chance(6, 7, chance)
        tied = cards[0][0] == cards[1][0]
        turned, seats = (cards[:2] + cards[5:] if tied else cards[:2]), [["main", "tie"]]
        war = nets("casino_war", options, seats, turned, *(["war"] if tied else []))
        assert war == naive.play_casino_war(rules)(cards)
        if tied:
            surrender_nets = nets("casino_war", options, seats, cards[:2], "surrender")
            assert surrender_nets == naive.play_casino_war(rules, surrenders=True)(cards)


@pytest.mark.parametrize("ante_bonus", ["1-4-5", "1-2-3"])
def test_three_card_poker(ante_bonus: str) -> None:
    """Harm: the same; hands that lose and are paid a bonus."""
    chance, options = Random(ante_bonus), {"ante_bonus": ante_bonus, "pair_plus_pays": "1-3-5-30-40"}
    rules = rules_type("three_card_poker")(**options)
    for _ in range(ROUNDS):
        cards = cards_by_chance(1, 6, chance)
        played = nets("three_card_poker", options, [["ante", "pair_plus"]], cards, "play")
        (net,) = naive.three_card_poker_nets(rules, cards[:3], cards[3:])
        pair_plus = (-1, 1, 3, 5, 30, 40)[naive.hand(cards[:3])[0]]
        assert played == {"ante": net, "pair_plus": pair_plus}
        assert nets("three_card_poker", options, [["ante"]], cards, "fold") == {"ante": -1}
