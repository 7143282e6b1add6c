"""What a pay table makes wagers worth: as its lines are worked out from every course that the engine itself deals."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import sqrt
from typing import Any

import pytest
from msgspec import structs

from tables.games.cards import BY_RANK, STANDARD, Pack
from tables.games.catalog import GAMES
from tables.games.odds import PayTable
from tables.games.play import replay
from tables.games.protocol import Bet, Card, CloseBets, Opening
from tables.games.record import judge
from tables.maths import providers
from tables.maths.advantage.dealt_rounds import deal_blackjack
from tables.maths.blackjack import valued
from tables.maths.worth import Worth, simulated
from tests.tiers import sampled

pytestmark = pytest.mark.slow("values or simulates whole games")

SIDES = {"perfect_pairs": {"perfect": "35:2", "coloured": "7:1", "mixed": "7:1"}}
THREE = {
    "same_card_thrice": "0:1",
    "straight_flush": "31:1",
    "three_of_a_kind": "31:1",
    "straight": "7:2",
    "flush": "3:1",
}
BONUS = {"natural": "3:2", "by_9": "60:1", "by_8": "0:1", "by_7": "15:2", "by_6": "10:1", "by_5": "6:1", "by_4": "4:1"}
BONUSES = {"dragon_bonus_player": BONUS, "dragon_bonus_banker": BONUS | {"natural": "0:1"}}
PAIR_PLUS = {"pair": "0:1", "flush": "7:2", "straight": "11:1", "three_of_a_kind": "60:1", "straight_flush": "21:1"}
BONUS = {"straight": "3:2", "three_of_a_kind": "0:1", "straight_flush": "13:7"}


def table(game: str, **wagers: dict[str, str]) -> PayTable:
    return GAMES[game].pay_form.table_of("Sides", 3, wagers)


def sheet_of(game: str, rules: Any, pack: Pack, cards: Sequence[str]) -> dict[str, Worth]:
    values = providers.provider(game)
    assert values
    composition = pack.count(pack.number(card) for card in cards)
    if isinstance(values, providers.Quick):
        return values.quick(rules, composition)
    return dict(values.sheet(rules, composition).wagers)


def agrees(worth: Worth, nets: Counter[Fraction]) -> None:
    """With the moments of results that are equally likely, each as often as it is counted."""
    total = nets.total()
    mean = sum((net * ways for net, ways in nets.items()), Fraction(0)) / total
    square = sum((net * net * ways for net, ways in nets.items()), Fraction(0)) / total
    assert worth.house_edge == pytest.approx(float(-mean), abs=1e-12)
    assert worth.standard_deviation == pytest.approx(sqrt(square - mean * mean), abs=1e-9)
    assert worth.hit_frequency == pytest.approx(sum(ways for net, ways in nets.items() if net > 0) / total, abs=1e-12)


LEAST = {"baccarat": 4, "dragon_tiger": 2, "casino_war": 2, "three_card_poker": 6}
"""So many cards a round has at least."""
STAKE = 1_400
"""Comes out even at all odds that are tried here."""


def nets_of(game: str, options: dict[str, Any], bets: Sequence[str], rounds: Iterator[Sequence[str]]) -> dict[str, Any]:
    """By wager, what the engine pays on it in each of these rounds, with as many cards as end it."""
    nets: dict[str, Counter[Fraction]] = {bet: Counter() for bet in bets}
    for cards in rounds:
        for wager in settled(game, options, bets, cards):
            nets[wager["bet"]][Fraction(wager["returned"] - wager["staked"], STAKE)] += 1
    return nets


def settled(game: str, options: dict[str, Any], bets: Sequence[str], cards: Sequence[str], *decisions: str) -> Any:
    """The wagers of a seat once the round is over: cards that nobody asks for are left away."""
    record = {
        "format": "round-record/1",
        "game": game,
        "options": options,
        "seats": [{"seat": 1, "bets": dict.fromkeys(bets, STAKE)}],
        "actions": [{"seat": 1, "do": do} for do in decisions],
    }
    for dealt in range(LEAST[game], len(cards) + 1):
        answer = judge(json.dumps(record | {"cards": cards[:dealt]}))
        if answer["complete"]:
            return answer["results"][0]["wagers"]
    raise AssertionError(cards)


def spelled(pays: PayTable) -> dict[str, Any]:
    return {"pays": structs.asdict(pays)}


@pytest.mark.parametrize(
    ("commission", "wagers"),
    sampled(
        [
            ("five_percent", {"tie": {"tie": "19:2"}, "player_pair": {"player_pair": "15:1"}, **BONUSES}),
            ("ez", {"dragon_7": {"dragon_7": "161:4"}, "panda_8": {"panda_8": "31:1"}}),
            ("six_pays_half", {"super_6": {"super_6": "17:1"}, "banker_pair": {"banker_pair": "21:2"}}),
        ],
        "values every pay table exactly",
        test=1,
    ),
)
def test_baccarat(commission: Any, wagers: dict[str, dict[str, str]]) -> None:
    """Harm: an operator sees another edge than the table then deals."""
    pays = table("baccarat", **wagers)
    options = {"decks": 1, "commission": commission, "spread": [*wagers]}
    cards = ["A", "2", "3", "6", "6", "T", "K"]
    rules = providers.rules_type("baccarat")(1, pays=pays, **options | {"spread": tuple(wagers)})
    worths = sheet_of("baccarat", rules, BY_RANK, cards)
    for bet, nets in nets_of("baccarat", options | spelled(pays), [*wagers], permutations(cards, 6)).items():
        agrees(worths[bet], nets)


def test_dragon_tiger_and_casino_war() -> None:
    """Harm: the same."""
    cards = ["5h", "5h", "5s", "9s", "9s", "Kd", "Ac"]
    pays = table("dragon_tiger", tie={"tie": "25:2"}, suited_tie={"suited_tie": "75:1"})
    options = {"decks": 2, "spread": ["tie", "suited_tie"]}
    rules = providers.rules_type("dragon_tiger")(decks=2, spread=("tie", "suited_tie"), pays=pays)
    worths = sheet_of("dragon_tiger", rules, STANDARD, cards)
    for bet, nets in nets_of(
        "dragon_tiger", options | spelled(pays), options["spread"], permutations(cards, 2)
    ).items():  # type: ignore[arg-type]
        agrees(worths[bet], nets)
    pays = table("casino_war", tie={"tie": "47:4"})
    rules = providers.rules_type("casino_war")(decks=2, pays=pays)
    nets = Counter(
        Fraction(
            settled("casino_war", {"decks": 2} | spelled(pays), ["main", "tie"], drawn, *decisions)[-1]["returned"],
            STAKE,
        )
        - 1
        for drawn in permutations([card[0] for card in cards], 2)
        for decisions in [("surrender",) if drawn[0] == drawn[1] else ()]
    )
    agrees(sheet_of("casino_war", rules, BY_RANK, [card[0] for card in cards])["tie"], nets)


def test_three_card_poker() -> None:
    """Harm: the bonus is worth something else, or hands are played that the bonus makes folds."""
    cards = ["2h", "3h", "4h", "4s", "4d", "Qc", "9s", "9d"]
    pays = table("three_card_poker", pair_plus=PAIR_PLUS, ante_bonus=BONUS)
    rules, options = providers.rules_type("three_card_poker")(pays=pays), spelled(pays)
    nets: dict[str, Counter[Fraction]] = {"ante": Counter(), "pair_plus": Counter()}
    for own in combinations(cards, 3):
        unseen = [card for card in cards if card not in own]
        played = [
            settled("three_card_poker", options, ["ante", "pair_plus"], (*own, *dealer), "play")
            for dealer in combinations(unseen, 3)
        ]
        antes = [Fraction(sum(wager["returned"] - wager["staked"] for wager in wagers[:2]), STAKE) for wagers in played]
        folds = sum(antes) < -len(antes)
        nets["ante"].update([Fraction(-1)] * len(antes) if folds else antes)
        nets["pair_plus"].update(Fraction(wagers[2]["returned"], STAKE) - 1 for wagers in played)
    worths = sheet_of("three_card_poker", rules, STANDARD, cards)
    for bet, results in nets.items():
        agrees(worths[bet], results)


def test_side_bets_of_blackjack() -> None:
    """Harm: lines that pay alike, or nothing, are counted as one another."""
    cards = [*["8h"] * 3, "8s", "8s", "8d", "9h", "Th", "Jc", "Jc", "Ah", "2h", "3s", "Qc", "Ks", "5d", "5d"]
    pays = table("blackjack", **SIDES, twenty_one_plus_three=THREE)
    spread = ("perfect_pairs", "twenty_one_plus_three")
    rules = providers.rules_type("blackjack")(decks=3, spread=spread, pays=pays, splits=0)
    bets = ("main", *spread)
    nets: dict[str, Counter[Fraction]] = {bet: Counter() for bet in spread}
    for drawn in permutations(cards, 3):
        dealt = [Card(STANDARD.number(card), to) for card, to in zip(drawn, (1, 0, 1), strict=True)]
        actions = [*(Bet(1, STAKE, bet) for bet in bets), CloseBets(), *dealt]
        state = replay(GAMES["blackjack"], rules, Opening((1,), dealt=STANDARD.nothing), actions)
        for wager in state.spots[0].wagers[1:]:
            nets[wager.bet][Fraction(wager.returned_cents, STAKE) - 1] += 1
    worths = sheet_of("blackjack", rules, STANDARD, cards)
    for bet in spread:
        agrees(worths[bet], nets[bet])


def test_rounds_by_chance_are_told_by_their_lines() -> None:
    """Harm: of two lines that pay alike, one swallows the rounds of the other."""
    rounds = 300_000
    rules = providers.rules_type("blackjack")(spread=("perfect_pairs",), pays=table("blackjack", **SIDES))
    tally = deal_blackjack(rules, None, rounds, 11)
    assert sum(tally["perfect_pairs"].values()) == rounds
    worth = valued(rules, None, tally, simulated).wagers["perfect_pairs"]
    assert worth.standard_error
    assert (
        abs(worth.house_edge - providers.quick("blackjack", rules)["perfect_pairs"].house_edge)
        < 4 * worth.standard_error
    )


def test_a_table_in_force_is_in_no_value_of_what_it_has_not() -> None:
    """Harm: a table of the tie changes what the pairs are worth."""
    rules = providers.rules_type("baccarat")()
    shipped = providers.quick("baccarat", rules)
    own = providers.quick("baccarat", structs.replace(rules, pays=table("baccarat", tie={"tie": "9:1"})))
    assert {bet for bet, worth in own.items() if worth != shipped[bet]} == {"tie"}
    assert own["tie"] == providers.quick("baccarat", structs.replace(rules, tie_pays=9))["tie"]
