"""What the wagers of the house's games are worth: as published, and as every course of small shoes comes out."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tables.games import baccarat as baccarat_game
from tables.games import casino_war as war_game
from tables.games import dragon_tiger as dragon_game
from tables.games import three_card_poker as poker_game
from tables.games.cards import BY_RANK, STANDARD, Composition
from tables.maths import baccarat, casino_war, dragon_tiger, three_card_poker
from tables.maths.providers import PROVIDERS, provider, quick, rules_type
from tables.maths.situation import Unknowable
from tables.maths.worth import Results, Sheet
from tests.games.house_by_hand import poker_hand
from tests.maths import naive
from tests.pace import percent

EZ = baccarat_game.Rules(commission="ez", spread=("dragon_7", "panda_8"))
BONUS = baccarat_game.Rules(spread=("dragon_bonus_player", "dragon_bonus_banker"))
SIX = baccarat_game.Rules(commission="six_pays_half", spread=("super_6",))


@pytest.mark.parametrize("game", [name for name in PROVIDERS if "spread" in rules_type(name).__struct_fields__])
def test_every_side_bet_has_a_line_in_its_sheet(game: str) -> None:
    """Harm: a new side bet is dealt and paid, and the PAR sheet and the reports say nothing of its edge."""
    missing = {side for side in spread_of(game) if not has_line(game, side)}
    assert missing == set()


def has_line(game: str, side: str) -> bool:
    """Whether a sheet has a side bet, under a commission with which it is spread."""
    rules = structs.replace(rules_type(game)(), spread=(side,))
    commissions = ("banker", "ez", "six_pays_half") if hasattr(rules, "commission") else ()
    for variant in (rules, *(structs.replace(rules, commission=commission) for commission in commissions)):
        with suppress(Unknowable):
            if side in quick(game, variant):
                return True
    return False


def spread_of(game: str) -> tuple[str, ...]:
    """The side bets of a game."""
    [option] = [option for option in structs.fields(rules_type(game)) if option.name == "spread"]
    return tuple(get_args(get_args(get_args(option.type)[0])[0]))


def in_percent(game: str, bet: str, **options: Any) -> float:
    values = provider(game)
    assert values
    return 100 * values.sheet(rules_type(game)(**options)).wagers[bet].house_edge


@pytest.mark.parametrize(
    ("game", "bet", "options", "published"),
    [
        ("baccarat", "banker", {}, "1.0579"),
        ("baccarat", "player", {}, "1.2351"),
        ("baccarat", "tie", {}, "14.3596"),
        ("baccarat", "tie", {"tie_pays": 9}, "4.8440"),
        ("baccarat", "player_pair", {}, "10.3614"),
        ("baccarat", "banker_pair", {}, "10.3614"),
        ("baccarat", "banker", {"decks": 6}, "1.0558"),
        ("baccarat", "player", {"decks": 6}, "1.2374"),
        ("baccarat", "tie", {"decks": 6}, "14.4382"),
        ("baccarat", "banker", {"decks": 1}, "1.0117"),
        ("baccarat", "player", {"decks": 1}, "1.2864"),
        ("baccarat", "banker", {"commission": "ez"}, "1.0183"),
        ("baccarat", "dragon_7", {"commission": "ez", "spread": ("dragon_7",)}, "7.6113"),
        ("baccarat", "panda_8", {"commission": "ez", "spread": ("panda_8",)}, "10.1876"),
        ("baccarat", "banker", {"commission": "six_pays_half"}, "1.4581"),
        ("baccarat", "super_6", {"commission": "six_pays_half", "spread": ("super_6",)}, "29.98"),
        ("baccarat", "super_6", {"commission": "six_pays_half", "spread": ("super_6",), "super_6_pays": 15}, "13.82"),
        ("baccarat", "dragon_bonus_player", {"spread": ("dragon_bonus_player",)}, "2.65"),
        ("baccarat", "dragon_bonus_player", {"spread": ("dragon_bonus_player",)}, "2.651675"),
        ("baccarat", "dragon_bonus_banker", {"spread": ("dragon_bonus_banker",)}, "9.37"),
        ("baccarat", "dragon_bonus_banker", {"spread": ("dragon_bonus_banker",)}, "9.373074"),
        ("dragon_tiger", "dragon", {}, "3.73"),
        ("dragon_tiger", "tiger", {}, "3.73"),
        ("dragon_tiger", "tie", {}, "32.77"),
        ("dragon_tiger", "tie", {"tie_pays": 11}, "10.36"),
        ("dragon_tiger", "suited_tie", {"spread": ("suited_tie",)}, "13.98"),
        ("casino_war", "main", {}, "2.88"),
        ("casino_war", "main", {"second_tie": "bonus"}, "2.33"),
        ("casino_war", "main", {"decks": 8}, "2.90"),
        ("casino_war", "tie", {}, "18.65"),
        ("three_card_poker", "ante", {}, "3.3730"),
        ("three_card_poker", "ante", {"ante_bonus": "1-3-4"}, "3.8255"),
        ("three_card_poker", "ante", {"ante_bonus": "1-2-3"}, "4.2780"),
        ("three_card_poker", "pair_plus", {}, "2.3167"),
        ("three_card_poker", "pair_plus", {"pair_plus_pays": "1-3-6-30-40"}, "7.2760"),
    ],
)
def test_edges_are_those_that_are_published(game: str, bet: str, options: dict[str, Any], published: str) -> None:
    """Harm: an expectation of the day that no other source would confirm."""
    digits = len(published.partition(".")[2])
    assert f"{in_percent(game, bet, **options):.{digits}f}" == published


def test_the_rounds_of_a_full_shoe_are_counted_as_published() -> None:
    """Harm: an edge that is right to the digits that are printed, by chance."""
    rounds = baccarat.tally((32,) * 13)["round"]
    assert sum(ways for end, ways in rounds.items() if end.startswith("banker")) == 2_292_252_566_437_888
    assert sum(ways for end, ways in rounds.items() if end.startswith("player")) == 2_230_518_282_592_256
    assert (rounds["tie"], rounds["banker_6"]) == (475_627_426_473_216, 269_232_304_455_680)


def test_giving_half_away_at_a_tie_costs_more_than_a_war() -> None:
    """Harm: two strategies in one number."""
    main = casino_war.sheet(war_game.Rules()).wagers["main"]
    assert f"{100 * main.beside['with_surrender'].house_edge:.2f}" == "3.70"
    assert not casino_war.sheet(war_game.Rules(surrender=False)).wagers["main"].beside


# --- Every course of small shoes --------------------------------------------------------------------------------------


def parts(wagers: Mapping[str, Results]) -> naive.Chances:
    """Ways as chances; results that cannot be are left out."""
    return {
        bet: {net: Fraction(ways, sum(results.values())) for net, ways in results.items() if ways}
        for bet, results in wagers.items()
    }


def agrees(sheet: Sheet, chances: naive.Chances) -> None:
    """The numbers for people say what the fractions say."""
    assert sheet.wagers.keys() == chances.keys()
    for bet, results in chances.items():
        mean = sum(net * chance for net, chance in results.items())
        square = sum(net * net * chance for net, chance in results.items())
        worth = sheet.wagers[bet]
        assert worth.house_edge == pytest.approx(float(-mean), abs=1e-12)
        assert worth.standard_deviation == pytest.approx(sqrt(square - mean * mean), abs=1e-12)
        assert worth.hit_frequency == pytest.approx(float(sum(results[net] for net in results if net > 0)), abs=1e-12)
        assert worth.method == "exact"


def composition(cards: Iterable[str]) -> Composition:
    """By rank, or by card where suits are written."""
    spellings = [*cards]
    pack = STANDARD if len(spellings[0]) == 2 else BY_RANK
    return pack.count(map(pack.number, spellings))


def some_ranks(least: int, largest: int, signs: str = naive.RANKS) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(signs), min_size=least, max_size=largest)


@settings(max_examples=percent(10))
@given(
    some_ranks(6, 7) | some_ranks(7, 7, "A23456789") | some_ranks(7, 7, "234K"),
    st.sampled_from([baccarat_game.Rules(tie_pays=9), EZ, SIX, BONUS]),
)
@pytest.mark.slow("tries every order of a small shoe")
def test_baccarat_is_every_order_of_a_small_shoe(cards: list[str], rules: baccarat_game.Rules) -> None:
    """Harm: a drawing rule, or a card that comes twice, that is right on average and wrong near the end of a shoe."""
    courses = naive.orders(cards, 6, naive.play("baccarat", rules))
    ranks = composition(cards)
    assert parts(baccarat.wagers(rules, baccarat.tally(ranks))) == courses
    agrees(baccarat.sheet(rules, ranks), courses)


@settings(max_examples=percent(50))
@given(
    st.lists(st.sampled_from([f"{rank}{suit}" for rank in "A29K" for suit in "sh"]), min_size=2, max_size=12),
    st.sampled_from([8, 11]),
)
def test_dragon_tiger_is_every_order_of_a_small_shoe(cards: list[str], tie_pays: Any) -> None:
    """Harm: a suited tie that counts a card against itself."""
    rules = dragon_game.Rules(tie_pays=tie_pays, spread=("tie", "suited_tie"))
    if max(map(cards.count, cards)) > 8:
        return
    agrees(dragon_tiger.sheet(rules, composition(cards)), naive.orders(cards, 2, naive.play("dragon_tiger", rules)))
    by_rank = dragon_game.Rules(tie_pays=tie_pays)
    expected = naive.orders(cards, 2, naive.play("dragon_tiger", by_rank))
    agrees(dragon_tiger.sheet(by_rank, composition(card[0] for card in cards)), expected)
    agrees(dragon_tiger.sheet(by_rank, composition(cards)), expected)


@pytest.mark.slow("tries every order of a small shoe")
@settings(max_examples=percent(8))
@given(some_ranks(7, 7, "A25K") | some_ranks(7, 7, "AK"), st.sampled_from(["raise_only", "bonus"]))
def test_casino_war_is_every_order_of_a_small_shoe(cards: list[str], second_tie: Any) -> None:
    """Harm: a second tie that is as likely as the first; burned cards that change the edge."""
    rules = war_game.Rules(second_tie=second_tie)
    sheet = casino_war.sheet(rules, composition(cards))
    agrees(sheet, naive.orders(cards, 7, naive.play("casino_war", rules, "war")))
    surrendering = naive.orders(cards, 7, naive.play("casino_war", rules, "surrender"))["main"]
    aside = Sheet("", {}, {"main": sheet.wagers["main"].beside["with_surrender"]}, {})
    agrees(aside, {"main": surrendering})


@settings(max_examples=percent(25))
@given(
    st.lists(st.sampled_from([str(card) for card in STANDARD.spellings]), min_size=6, max_size=11, unique=True)
    | st.lists(
        st.sampled_from([f"{rank}{suit}" for rank in "A23KQ" for suit in "shd"]), min_size=9, max_size=10, unique=True
    ),
    st.sampled_from(["1-4-6-30-40", "1-3-5-30-40"]),
    st.sampled_from(["1-4-5", "1-2-3"]),
)
def test_three_card_poker_is_every_pair_of_hands_of_a_small_deck(cards: list[str], pays: Any, bonus: Any) -> None:
    """Harm: hands of the dealer that hold a card of the seat; a hand that is folded although it is worth a wager."""
    rules = poker_game.Rules(pair_plus_pays=pays, ante_bonus=bonus)
    agrees(
        three_card_poker.sheet(rules, composition(cards)), naive.chances(naive.three_card_poker_rounds(rules, cards))
    )


def test_the_best_play_of_a_full_deck_is_queen_six_four() -> None:
    """By the exact worth of each of the 22,100 hands, for every ante bonus.

    Harm: an edge of a play that is not the best, under its name.
    """
    for ante_bonus in ("1-4-5", "1-3-4", "1-2-3"):
        rules = poker_game.Rules(ante_bonus=ante_bonus)
        every = three_card_poker.against((1,) * 52, three_card_poker.bonus(rules))
        threshold = three_card_poker.hands().names.index("Q-6-4")
        assert (every.plays == (every.strength >= threshold)).all()
        assert three_card_poker.sheet(rules).chart == {"weakest_play": "Q-6-4", "strongest_fold": "Q-6-3"}


@pytest.mark.parametrize(
    "seat", [["Qs", "6h", "4d"], ["Qs", "6h", "3d"], ["As", "2s", "3s"], ["As", "2h", "3s"], ["7s", "7h", "7d"]]
)
def test_a_hand_meets_all_hands_of_the_other_49_cards(seat: list[str]) -> None:
    """Harm: an order of hands that small decks happen not to show."""
    rules = poker_game.Rules()
    unseen = [str(card) for card in STANDARD.spellings if card not in seat]
    nets = naive.three_card_poker_nets(rules, seat, unseen)
    bonus = three_card_poker.bonus(rules)
    every = three_card_poker.against((1,) * 52, bonus)
    places = sorted(STANDARD.number(card) - 1 for card in seat)
    row = int(np.flatnonzero((np.sort(three_card_poker.hands().cards, axis=1) == places).all(axis=1))[0])
    paid = [net + bonus[every.kind[row]] for net in (1, 2, 0, -2)]
    assert sum(int(ways) * net for ways, net in zip(every.ends[row], paid, strict=True)) == sum(nets)
    assert every.ends[row].sum() == len(nets) == 18_424
    assert bool(every.plays[row]) == (sum(nets) >= -18_424)


def test_all_pairs_of_hands_are_counted_as_they_compare() -> None:
    """All pairs are counted one by one, in the order of hands of the account by hand.

    Harm: one inclusion too many makes an edge nearly right.
    """
    deck = [str(card) for card in STANDARD.spellings]
    hands = sorted((poker_hand([deck[card] for card in row]), row) for row in combinations(range(52), 3))
    values = [value for value, _ in hands]
    masks = np.array([sum(1 << card for card in row) for _, row in hands])
    qualifies = bisect_left(values, (0, [12, 3, 2]))
    counts = dict.fromkeys(three_card_poker.ANTE_ENDS, 0)
    for place in range(bisect_left(values, (0, [12, 6, 4])), len(hands)):
        weaker, through = bisect_left(values, values[place]), bisect_right(values, values[place])
        clear = (masks & masks[place]) == 0
        parts_of_all = (clear[:qualifies], clear[qualifies:weaker], clear[weaker:through], clear[through:])
        for end, part in zip(counts, parts_of_all, strict=True):
            counts[end] += int(part.sum())
    ante = three_card_poker.tally(three_card_poker.against((1,) * 52, (0, 0, 0, 1, 4, 5)))["ante"]
    for end, ways in counts.items():
        assert sum(ante[f"{end} {kind}"] for kind in three_card_poker.HANDS) == ways
    assert sum(ante.values()) == 22_100 * 18_424


# --- What can be asked ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "options", "cards", "sentence"),
    [
        ("baccarat", {}, (33, *[1] * 12), "33 cards of A cannot be unseen: 8 decks hold 32"),
        ("baccarat", {}, (5, *[0] * 12), "5 cards are too few: a round may take 6"),
        ("baccarat", {}, (1,) * 10, "a composition has 13 counts, by rank, or 52, by card; this has 10"),
        ("baccarat", {"spread": ("panda_8",)}, None, "panda_8 is spread only with commission=ez"),
        ("baccarat", {"spread": ("super_6",)}, None, "super_6 is spread only with commission=six_pays_half"),
        ("casino_war", {}, (6, *[0] * 12), "a round may take 7"),
        ("dragon_tiger", {"spread": ("suited_tie",)}, (4,) * 13, "written by card: As=8"),
        ("three_card_poker", {}, (4,) * 13, "written by card"),
        ("three_card_poker", {}, (2, *[1] * 51), "2 cards of As cannot be unseen: one deck holds 1"),
    ],
)
def test_a_shoe_that_cannot_be_has_no_worth(game: str, options: dict[str, Any], cards: Any, sentence: str) -> None:
    """Harm: the edge of a shoe that nobody can deal."""
    values = provider(game)
    assert values
    with pytest.raises(Unknowable, match=sentence):
        values.sheet(rules_type(game)(**options), cards)


@pytest.mark.parametrize("game", ["baccarat", "casino_war", "dragon_tiger", "three_card_poker", "rocket"])
def test_a_sheet_lists_each_wager_that_can_be_placed(game: str) -> None:
    """Harm: a side bet on the felt of which no report knows what it wins."""
    assert game in PROVIDERS
    values, rules = provider(game), rules_type(game)()
    assert values
    sheet = values.sheet(rules)
    own = {"baccarat": ["player", "banker"], "dragon_tiger": ["dragon", "tiger"], "casino_war": ["main"]}
    firsts = own.get(game, ["ante"] if game == "three_card_poker" else ["bet"])
    assert [*sheet.wagers] == [*firsts, *getattr(rules, "spread", ())]
    assert sheet.options.keys() == {*rules.__struct_fields__} - {"pays"}, "no pay table of an operator's making"
    assert sheet.game == game
    assert sheet.method == "exact"


def test_all_side_bets_of_a_game_may_be_spread_at_once() -> None:
    """Harm: a bet left out because another one is there."""
    sheet = dragon_tiger.sheet(dragon_game.Rules(spread=("suited_tie", "tie")))
    assert {*sheet.wagers} == {"dragon", "tiger", "tie", "suited_tie"}
    assert {*dragon_tiger.sheet(dragon_game.Rules(spread=())).wagers} == {"dragon", "tiger"}
