"""The account by hand is itself held against rounds that were reckoned on paper from the rules.

Harm in every case: an oracle that is wrong in the same way as the engine, or wrong where the engine is right.
"""

import re
from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.games.house_by_hand import HOUSES, RANKS, Refused, judge
from tests.games.house_records import broken, legal, truncated

Record = dict[str, Any]
Case = tuple[dict[int, str], str, str, dict[str, Any], str]
"""Bets by seat, cards, actions, options, and the wagers as they are settled."""


def record_of(game: str, bets: dict[int, str], cards: str, actions: str = "", **extra: Any) -> Record:
    """From short words: bets `main 100, tie 10`, cards `Ah 9d`, actions `1 hit, 1 stand`."""
    seats = []
    for number, words in bets.items():
        pairs = [bet.split() for bet in words.split(", ")]
        seats.append({"seat": number, "bets": {bet: int(stake) for bet, stake in pairs}})
    record = {"format": "round-record/1", "game": game, "seats": seats, "cards": cards.split(), **extra}
    if actions:
        decisions = [action.split() for action in actions.split(", ")]
        record["actions"] = [{"seat": int(seat), "do": decision} for seat, decision in decisions]
    return record


def settled(answer: dict[str, Any]) -> str:
    """`seat bet/hand staked>returned outcome` of every wager."""
    return ", ".join(
        f"{seat['seat']} {wager['bet']}{'/' if 'hand' in wager else ''}{wager.get('hand', '')}"
        f" {wager['staked']}>{wager['returned']} {wager['outcome']}"
        for seat in answer["results"]
        for wager in seat["wagers"]
    )


def shoe_without(decks: int, cards: str) -> list[str]:
    """What is gone when only these are left in a shoe, by rank."""
    dealt = Counter(list(RANKS) * 4 * decks)
    dealt.subtract(cards.split())
    return list(dealt.elements())


def check(game: str, case: Case) -> None:
    bets, cards, actions, options, wagers = case
    answer = judge(record_of(game, bets, cards, actions, options=options))
    assert answer["complete"], answer["next"]
    assert sorted(settled(answer).split(", ")) == sorted(wagers.split(", "))
    for result in answer["results"]:
        assert result["returned"] == sum(wager["returned"] for wager in result["wagers"])
        assert result["net"] == result["returned"] - sum(wager["staked"] for wager in result["wagers"])
    assert answer["house_net"] == -sum(result["net"] for result in answer["results"])
    assert (answer["game"], answer["pot_left"], answer["next"]) == (game, 0, [])


EZ = {"commission": "ez", "spread": ["panda_8", "dragon_7"]}
SIX = {"commission": "six_pays_half", "spread": ["super_6"]}

BACCARAT: list[Case] = [
    # Player 9 and ten: nine at once; banker 4 and 3: seven. Nobody draws.
    ({1: "player 100", 2: "banker 100"}, "9h 4d Tc 3s", "", {}, "1 player 100>200 win, 2 banker 100>0 lose"),
    # Player 2 and 4: six; banker 5 and 4: nine at once. 19/20 of 100 is 95.
    ({1: "banker 100"}, "2 5 4 4", "", {}, "1 banker 100>195 win"),
    # 95 is no chip of 100: nothing is paid, and it is still a win.
    ({1: "banker 100"}, "2 5 4 4", "", {"unit": 100}, "1 banker 100>100 win"),
    # Rounded up, it is one chip of 100.
    ({1: "banker 100"}, "2 5 4 4", "", {"unit": 100, "rounding": "up"}, "1 banker 100>200 win"),
    # 19/20 of 50 is 47.5: nine chips of 5 and a half one.
    ({1: "banker 50"}, "2 5 4 4", "", {"unit": 5, "rounding": "half_up"}, "1 banker 50>100 win"),
    # 19/20 of 10 is 9.5: one chip of 5 and 9/10 of one; down is one.
    ({1: "banker 10"}, "2 5 4 4", "", {"unit": 5}, "1 banker 10>15 win"),
    # Player 5 draws a ten: 5; banker 3 draws on it: 6. Half of 101 is 50.5; super 6 pays 12.
    (
        {1: "banker 101, super_6 10"},
        "2 2 3 A T 3",
        "",
        SIX,
        "1 banker 101>151 win, 1 super_6 10>130 win",
    ),
    # Player 5 draws 8: 3; banker 2 draws 5: a seven of three cards.
    (
        {1: "banker 100, dragon_7 10, panda_8 10", 3: "player 100"},
        "T T 5 2 8 5",
        "",
        EZ,
        "1 banker 100>100 push, 1 dragon_7 10>410 win, 1 panda_8 10>0 lose, 3 player 100>0 lose",
    ),
    # Banker ten and 7 beats player ten and 6 with two cards: no dragon, and even money.
    (
        {1: "banker 100, dragon_7 10"},
        "T T 6 7",
        "",
        EZ,
        "1 banker 100>200 win, 1 dragon_7 10>0 lose",
    ),
    # Player 2 draws 6: an eight of three cards; banker 7 stands.
    ({1: "player 100, panda_8 10"}, "T T 2 7 6", "", EZ, "1 player 100>200 win, 1 panda_8 10>260 win"),
    # Player 4 draws 8: 2; banker 3 stands on an 8, and wins. 2-2 is a pair, ten and 3 none.
    (
        {2: "banker 20, player_pair 10, banker_pair 10, tie 10"},
        "2 T 2 3 8",
        "",
        {},
        "2 banker 20>39 win, 2 player_pair 10>120 win, 2 banker_pair 10>0 lose, 2 tie 10>0 lose",
    ),
    # Both 0, each draws 5. K-Q and J-T count alike but are no pairs.
    (
        {1: "player 10, tie 10, player_pair 10", 2: "banker 10, banker_pair 10"},
        "K J Q T 5 5",
        "",
        {"tie_pays": 9},
        "1 player 10>10 push, 1 tie 10>100 win, 1 player_pair 10>0 lose, 2 banker 10>10 push, 2 banker_pair 10>0 lose",
    ),
    # Player 7 stands, banker 5 draws ace: 6, against 7.
    ({1: "banker 10, super_6 10"}, "T T 7 5 A", "", SIX, "1 banker 10>0 lose, 1 super_6 10>0 lose"),
]

DRAGON_TIGER: list[Case] = [
    # King high, ace low.
    (
        {1: "dragon 100, tie 10", 2: "tiger 50"},
        "K A",
        "",
        {},
        "1 dragon 100>200 win, 1 tie 10>0 lose, 2 tiger 50>0 lose",
    ),
    # Two sevens: the house takes 50 of 101.
    ({1: "dragon 101, tie 10"}, "7h 7d", "", {}, "1 dragon 101>51 half, 1 tie 10>90 win"),
    # The tie at 11 for 1; sevens of two suits are not the same card.
    (
        {1: "tie 10, suited_tie 10"},
        "7h 7d",
        "",
        {"tie_pays": 11, "spread": ["tie", "suited_tie"]},
        "1 tie 10>120 win, 1 suited_tie 10>0 lose",
    ),
    # The same card pays both.
    (
        {1: "tie 10, suited_tie 10"},
        "7h 7h",
        "",
        {"decks": 2, "spread": ["suited_tie", "tie"]},
        "1 tie 10>90 win, 1 suited_tie 10>510 win",
    ),
    # Half a chip of 100 is none: all of it goes back. Rounding up changes nothing where the house takes.
    ({1: "tiger 100"}, "7 7", "", {"unit": 100, "rounding": "up"}, "1 tiger 100>100 half"),
    # Half of 300 in chips of 100 is one.
    ({1: "tiger 300"}, "7 7", "", {"unit": 100}, "1 tiger 300>200 half"),
    # A seat needs no side; a queen beats a jack.
    ({6: "tie 5", 7: "tiger 5"}, "J Q", "", {}, "6 tie 5>0 lose, 7 tiger 5>10 win"),
]

CASINO_WAR: list[Case] = [
    # Ace beats king, queen does not.
    ({1: "main 100, tie 10", 2: "main 100"}, "A Q K", "", {}, "1 main 100>200 win, 1 tie 10>0 lose, 2 main 100>0 lose"),
    # The house takes 50 of 101; the tie is paid by the first cards.
    ({1: "main 101, tie 10"}, "9 9", "1 surrender", {}, "1 main 101>51 surrender, 1 tie 10>110 win"),
    # King beats queen in the war: only the raise is paid.
    ({1: "main 100"}, "9 9 K Q", "1 war", {}, "1 main 100>100 push, 1 raise 100>200 win"),
    # Lower loses both.
    ({1: "main 100, tie 1"}, "9 9 Q K", "1 war", {}, "1 main 100>0 lose, 1 raise 100>0 lose, 1 tie 1>11 win"),
    # A second tie is as good as a win; with the bonus the main bet is paid too.
    ({1: "main 100"}, "9 9 Q Q", "1 war", {}, "1 main 100>100 push, 1 raise 100>200 win"),
    ({1: "main 100"}, "9 9 Q Q", "1 war", {"second_tie": "bonus"}, "1 main 100>200 win, 1 raise 100>200 win"),
    # Without surrender the war is not asked for.
    ({1: "main 100"}, "9 9 K Q", "", {"surrender": False}, "1 main 100>100 push, 1 raise 100>200 win"),
    # Seat 2 has lost at once; seat 1 surrenders, so the third card is seat 5's.
    (
        {1: "main 100", 2: "main 10", 5: "main 20"},
        "9 8 9 9 2 A",
        "1 surrender, 5 war",
        {},
        "1 main 100>50 surrender, 2 main 10>0 lose, 5 main 20>0 lose, 5 raise 20>0 lose",
    ),
]

THREE_CARD_POKER: list[Case] = [
    # Jack high does not qualify: the ante is paid, play comes back; a pair pays 1 to 1.
    (
        {1: "ante 100, pair_plus 10"},
        "2h 2d 5c Jh 9d 4c",
        "1 play",
        {},
        "1 ante 100>200 win, 1 play 100>100 push, 1 pair_plus 10>20 win",
    ),
    # A-2-3 is the lowest straight flush: lost to 2-3-4, but 5 for 1 of the ante is paid, and 40 for 1.
    (
        {1: "ante 100, pair_plus 10"},
        "Ah 3h 2h 2s 3s 4s",
        "1 play",
        {},
        "1 ante 100>500 lose, 1 play 100>0 lose, 1 pair_plus 10>410 win",
    ),
    # A fold loses the pair plus as well, though it is a pair.
    ({1: "ante 100, pair_plus 10"}, "2h 2d 5c Jh 9d 4c", "1 fold", {}, "1 ante 100>0 fold, 1 pair_plus 10>0 lose"),
    # Pair plus alone is not asked anything; a flush pays 3 here.
    ({3: "pair_plus 10"}, "2h 9h 5h Jh 9d 4c", "", {"pair_plus_pays": "1-3-5-30-40"}, "3 pair_plus 10>40 win"),
    # The same ranks push both; suits never decide.
    ({1: "ante 100"}, "Ah Kd 9c As Kc 9d", "1 play", {}, "1 ante 100>100 push, 1 play 100>100 push"),
    # Two straights to the seven push, and the bonus of 1 for 1 comes on top.
    ({1: "ante 100"}, "5h 6d 7c 5d 6c 7h", "1 play", {}, "1 ante 100>200 push, 1 play 100>100 push"),
    # A straight beats the flush of the dealer; the ante is paid with its bonus.
    ({1: "ante 100"}, "2h 3d 4c Kd 9d 5d", "1 play", {}, "1 ante 100>300 win, 1 play 100>200 win"),
    # Three aces: the ante bonus is 2 for 1 here. The dealer's king high qualifies and loses.
    (
        {1: "ante 10, pair_plus 1"},
        "Ah Ad Ac Kd 9d 5c",
        "1 play",
        {"ante_bonus": "1-2-3"},
        "1 ante 10>40 win, 1 play 10>20 win, 1 pair_plus 1>31 win",
    ),
    # A pair of twos qualifies, and beats ace high. Seat 2's threes beat it by the pair, not by the kicker.
    (
        {1: "ante 10", 2: "ante 20"},
        "Ah Kd Qc 3h 3d 4c 2h 2d As",
        "1 fold, 2 play",
        {"spread": []},
        "1 ante 10>0 fold, 2 ante 20>40 win, 2 play 20>40 win",
    ),
    # Q-K-A is the highest straight.
    ({1: "ante 10"}, "Qh Kd Ac Jh Qd Kc", "1 play", {}, "1 ante 10>30 win, 1 play 10>20 win"),
    # K-A-2 is no straight: ace high, and beaten by a pair.
    ({1: "ante 10"}, "Kh Ad 2c 4h 4d 5c", "1 play", {}, "1 ante 10>0 lose, 1 play 10>0 lose"),
    # Queen-6-4 against queen-6-3: by the third card.
    ({1: "ante 10"}, "Qh 6d 4c Qd 6c 3h", "1 play", {}, "1 ante 10>20 win, 1 play 10>20 win"),
]

PAIRS = {"spread": ["perfect_pairs", "twenty_one_plus_three"]}
NO_HOLE = {"hole": "none", "insurance": False}
ORIGINAL = {"hole": "none_original", "insurance": False}

BLACKJACK: list[Case] = [
    # 3 for 2 of 15 is 22.5. The hole card is turned though nobody awaits it; 16 does not draw.
    ({1: "main 15"}, "A 6 K T", "", {}, "1 main/1 15>37 blackjack"),
    ({1: "main 15"}, "A 6 K T", "", {"rounding": "half_up"}, "1 main/1 15>38 blackjack"),
    # 6 for 5 of 15 is 18, three chips of 5 and 3/5 of one.
    ({1: "main 15"}, "A 6 K T", "", {"blackjack_pays": "6:5", "unit": 5}, "1 main/1 15>30 blackjack"),
    # 19 against ace and 8.
    (
        {1: "main 101"},
        "T A 9 8",
        "1 insure, 0 no_blackjack, 1 stand",
        {},
        "1 main/1 101>101 push, 1 insurance 50>0 lose",
    ),
    # Under a king the hole card is an ace: 18 loses, a blackjack pushes, nobody is asked.
    ({1: "main 100", 2: "main 100"}, "9 A K 9 Q A", "", {}, "1 main/1 100>0 lose, 2 main/1 100>100 push"),
    # A blackjack is offered insurance too.
    ({1: "main 100"}, "A A K T", "1 insure", {}, "1 main/1 100>100 push, 1 insurance 50>150 win"),
    # Half of one chip is nothing to insure with: seat 1 is not asked.
    (
        {1: "main 100", 2: "main 300"},
        "9 9 A 9 9 T",
        "2 decline",
        {"unit": 100},
        "1 main/1 100>0 lose, 2 main/1 300>0 lose",
    ),
    # Three splits: 8-T 18; 8-3 doubled 21; 8-9 17; 8-8 cannot be split again and busts. Dealer 6, T, 2: 18.
    (
        {1: "main 10"},
        "8 6 8 8 T 3 T 8 9 8 K T 2",
        "1 split, 1 split, 1 stand, 1 double, 1 split, 1 stand, 1 hit",
        {},
        "1 main/1 10>10 push, 1 main/2 20>40 win, 1 main/3 10>0 lose, 1 main/4 10>0 bust",
    ),
    # Aces: ace and ten is 21 and no blackjack; two aces are 12 and stand. Dealer 6, T, 5: 21.
    ({1: "main 10"}, "A 6 A T A T 5", "1 split", {}, "1 main/1 10>10 push, 1 main/2 10>0 lose"),
    # The second of two splits leaves A-A unasked. 16, 12 and 20 against 17.
    (
        {1: "main 10"},
        "A 7 A A 5 A 9 T",
        "1 split, 1 split",
        {"resplit_aces": True, "splits": 2},
        "1 main/1 10>0 lose, 1 main/2 10>0 lose, 1 main/3 10>20 win",
    ),
    # A further ace may also stand.
    (
        {1: "main 10"},
        "A 7 A A A T",
        "1 split, 1 stand, 1 stand",
        {"resplit_aces": True},
        "1 main/1 10>0 lose, 1 main/2 10>0 lose",
    ),
    # Split aces play on: A-5-5 and A-A-9 are 21 and stand by themselves, against 17.
    (
        {1: "main 10"},
        "A 7 A 5 5 A 9 T",
        "1 split, 1 hit, 1 hit",
        {"hit_split_aces": True},
        "1 main/1 10>20 win, 1 main/2 10>20 win",
    ),
    # No hole card: the blackjack takes the double; the other house gives it back.
    ({1: "main 100"}, "5 A 6 9 T", "1 double", NO_HOLE, "1 main/1 200>0 lose"),
    ({1: "main 100"}, "5 A 6 9 T", "1 double", ORIGINAL, "1 main/1 200>100 lose"),
    # Hand 1 is 8-3-K doubled and holds the original bet; hand 2 stood on 18.
    (
        {1: "main 10"},
        "8 K 8 3 K T A",
        "1 split, 1 double, 1 stand",
        ORIGINAL,
        "1 main/1 20>10 lose, 1 main/2 10>10 push",
    ),
    # Hand 1 is bust and has lost already: nothing more is taken of hand 2, doubled to 19.
    (
        {1: "main 10"},
        "8 K 8 4 T 2 9 A",
        "1 split, 1 hit, 1 double",
        ORIGINAL,
        "1 main/1 10>0 bust, 1 main/2 20>20 push",
    ),
    # After the look the house takes half of 101; the hole card is turned for nobody.
    ({1: "main 101"}, "T T 6 7", "0 no_blackjack, 1 surrender", {"surrender": "late"}, "1 main/1 101>51 surrender"),
    # No hole card, everybody bust, nothing insured: no second card.
    ({1: "main 10"}, "T A 6 K", "1 hit", NO_HOLE, "1 main/1 10>0 bust"),
    # An insurance waits for it, though the hand is bust.
    ({1: "main 10"}, "T A 6 K 9", "1 insure, 1 hit", {"hole": "none"}, "1 main/1 10>0 bust, 1 insurance 5>0 lose"),
    # So does a blackjack under a ten; under a six it is paid without.
    ({1: "main 10"}, "A T K 9", "", NO_HOLE, "1 main/1 10>25 blackjack"),
    ({1: "main 10"}, "A 6 K", "", NO_HOLE, "1 main/1 10>25 blackjack"),
    # Dealer 6-A is a soft 17: it stands, or draws a 4 to 21.
    ({1: "main 10"}, "T 6 8 A", "1 stand", {}, "1 main/1 10>20 win"),
    ({1: "main 10"}, "T 6 8 A 4", "1 stand", {"soft17": "hit"}, "1 main/1 10>0 lose"),
    # Ten and king count alike; hand 1 busts with 5, hand 2 is 20, dealer 7-T.
    (
        {1: "main 10"},
        "T 7 K 5 8 J T",
        "1 split, 1 hit, 1 stand",
        {},
        "1 main/1 10>0 bust, 1 main/2 10>20 win",
    ),
    # Hit to 21: it stands by itself, and pushes with the dealer's 21 of three cards.
    ({1: "main 10"}, "5 6 6 T T 5", "1 hit", {}, "1 main/1 10>10 push"),
    # Kings of hearts and diamonds, one colour; with the king of clubs three of a kind.
    (
        {1: "main 10, perfect_pairs 10, twenty_one_plus_three 10"},
        "Kh Kc Kd 7h",
        "0 no_blackjack, 1 stand",
        PAIRS,
        "1 main/1 10>20 win, 1 perfect_pairs 10>130 win, 1 twenty_one_plus_three 10>310 win",
    ),
    # The king of hearts three times.
    (
        {1: "main 10, perfect_pairs 10, twenty_one_plus_three 10"},
        "Kh Kh Kh 7h",
        "0 no_blackjack, 1 stand",
        PAIRS,
        "1 main/1 10>20 win, 1 perfect_pairs 10>260 win, 1 twenty_one_plus_three 10>1010 win",
    ),
    # Two black sevens would be 12 for 1, red and black are 6; 7-7-9 of two suits is nothing.
    (
        {1: "main 10, perfect_pairs 10, twenty_one_plus_three 10"},
        "7h 9h 7s Th",
        "1 stand",
        PAIRS,
        "1 main/1 10>0 lose, 1 perfect_pairs 10>70 win, 1 twenty_one_plus_three 10>0 lose",
    ),
    # Seven, seven, nine of hearts are a flush. Dealer 9-T.
    (
        {1: "main 10, perfect_pairs 10, twenty_one_plus_three 10"},
        "7h 9h 7h Th",
        "1 stand",
        PAIRS,
        "1 main/1 10>0 lose, 1 perfect_pairs 10>260 win, 1 twenty_one_plus_three 10>60 win",
    ),
    # Q-K-A of hearts is a straight flush. The dealer, king up, has 17.
    (
        {1: "main 10, twenty_one_plus_three 10"},
        "Qh Kh Ah 7h",
        "0 no_blackjack",
        PAIRS,
        "1 main/1 10>25 blackjack, 1 twenty_one_plus_three 10>410 win",
    ),
    # K-A-2 is no straight; seat 2's 3-2-4 is one. 12 and 7 stand against 2-T-5.
    (
        {1: "main 10, twenty_one_plus_three 10", 2: "main 10, twenty_one_plus_three 10"},
        "Kh 3c 2d Ad 4h Ts 5d",
        "2 stand",
        PAIRS,
        "1 main/1 10>25 blackjack, 1 twenty_one_plus_three 10>0 lose, "
        "2 main/1 10>0 lose, 2 twenty_one_plus_three 10>110 win",
    ),
]


@pytest.mark.parametrize("case", BACCARAT)
def test_baccarat(case: Case) -> None:
    check("baccarat", case)


@pytest.mark.parametrize("case", DRAGON_TIGER)
def test_dragon_tiger(case: Case) -> None:
    check("dragon_tiger", case)


@pytest.mark.parametrize("case", CASINO_WAR)
def test_casino_war(case: Case) -> None:
    check("casino_war", case)


@pytest.mark.parametrize("case", THREE_CARD_POKER)
def test_three_card_poker(case: Case) -> None:
    check("three_card_poker", case)


@pytest.mark.parametrize("case", BLACKJACK)
def test_blackjack(case: Case) -> None:
    check("blackjack", case)


MAIN = {1: "main 100"}
LATE = {"surrender": "late"}

CARD = {"kind": "card"}
PEEK = {"kind": "peek"}


def decision(seat: int, choices: str, **extra: Any) -> dict[str, Any]:
    return {"kind": "decision", "seat": seat, "choices": choices.split(), "cost": {}, **extra}


OPEN: list[tuple[Record, dict[str, Any]]] = [
    # Nothing is dealt yet.
    (record_of("baccarat", {1: "tie 10"}, ""), CARD),
    # Player 5, and no third card yet.
    (record_of("baccarat", {1: "tie 10"}, "T T 5 2"), CARD),
    (record_of("dragon_tiger", {1: "tie 10"}, "7"), CARD),
    # Seats 1 and 3 tie: seat 1 decides first.
    (
        record_of("casino_war", {1: "main 100", 2: "main 1", 3: "main 5"}, "9 8 9 9"),
        decision(1, "surrender war", cost={"war": 100}),
    ),
    # All have decided: the cards of the war.
    (record_of("casino_war", MAIN, "9 9 K", "1 war"), CARD),
    # The packets of the seats lie there, the dealer's not yet, or in part, or whole.
    (record_of("three_card_poker", {1: "ante 10"}, "2h 3h 9c"), decision(1, "play fold", cost={"play": 10})),
    (record_of("three_card_poker", {1: "ante 10"}, "2h 3h 9c 4d"), decision(1, "play fold", cost={"play": 10})),
    (record_of("three_card_poker", {1: "ante 10"}, "2h 3h 9c 4d 5d 6d"), decision(1, "play fold", cost={"play": 10})),
    (record_of("three_card_poker", {1: "ante 10"}, "2h 3h"), CARD),
    # Even when everybody has folded the dealer's packet belongs to the record.
    (record_of("three_card_poker", {1: "ante 10"}, "2h 3h 9c", "1 fold"), CARD),
    # An ace up: insurance first, then the look, then the decisions.
    (record_of("blackjack", MAIN, "T A 6"), decision(1, "insure decline", hand=1, cost={"insure": 50})),
    (record_of("blackjack", MAIN, "T A 6", "1 decline"), PEEK),
    (record_of("blackjack", MAIN, "T T 6"), PEEK),
    (
        record_of("blackjack", MAIN, "T A 6", "1 decline, 0 no_blackjack", options=LATE),
        decision(1, "hit stand double surrender", hand=1, cost={"double": 100}),
    ),
    # After a hit neither double nor surrender.
    (record_of("blackjack", MAIN, "5 6 6 2", "1 hit", options=LATE), decision(1, "hit stand", hand=1)),
    # Tens of two ranks where they are split by rank.
    (
        record_of("blackjack", MAIN, "T 7 K", options={"split_by": "rank"}),
        decision(1, "hit stand double", hand=1, cost={"double": 100}),
    ),
    # Soft 19 is not in a range for doubling, and hard 9 is.
    (record_of("blackjack", MAIN, "A 7 8", options={"double": "9_to_11"}), decision(1, "hit stand", hand=1)),
    (
        record_of("blackjack", MAIN, "5 7 4", options={"double": "9_to_11"}),
        decision(1, "hit stand double", hand=1, cost={"double": 100}),
    ),
    (record_of("blackjack", MAIN, "5 7 4", options={"double": "10_to_11"}), decision(1, "hit stand", hand=1)),
    # No double after a split, no surrender either.
    (
        record_of("blackjack", MAIN, "8 7 8 3", "1 split", options={"double_after_split": False, **LATE}),
        decision(1, "hit stand", hand=1),
    ),
    # The second card of hand 2 comes when its turn has come.
    (record_of("blackjack", MAIN, "8 7 8 T", "1 split, 1 stand"), CARD),
    # A further ace: only split or stand.
    (
        record_of("blackjack", MAIN, "A 7 A A", "1 split", options={"resplit_aces": True}),
        decision(1, "split stand", hand=1, cost={"split": 100}),
    ),
    # The hole card is turned though all are bust.
    (record_of("blackjack", MAIN, "T 6 6 K", "1 hit"), CARD),
]


@pytest.mark.parametrize(("record", "due"), OPEN)
def test_a_record_that_stops_says_what_is_due(record: Record, due: dict[str, Any]) -> None:
    answer = judge(record)
    assert (answer["complete"], answer["results"], answer["house_net"]) == (False, [], 0)
    assert answer["next"] == [due]


def baccarat(**extra: Any) -> Record:
    return record_of("baccarat", {1: "player 100"}, "9 4 T 3") | extra


def seats(*entries: Any) -> Record:
    return baccarat(seats=list(entries))


PLAYER = {"player": 100}

REFUSED: list[tuple[str, Record]] = [
    # A word that no record has, or one that is missing or null.
    ("record: its keys", baccarat(button=1)),
    ("record: its keys", baccarat(blind=True)),
    ("options: an object", baccarat(options=None)),
    ("actions: a list", baccarat(actions=None)),
    ("cards, dealt: lists", baccarat(dealt=None)),
    ("format", baccarat(format="round-record/2")),
    ("game", baccarat(game="punto")),
    ("record: its keys", {key: value for key, value in baccarat().items() if key != "cards"}),
    # Options that there are not, of the wrong kind, or for a side bet under another commission.
    ("options: unknown {'soft17'}", baccarat(options={"soft17": "hit"})),
    ("options.decks", baccarat(options={"decks": 9})),
    ("options.decks", baccarat(options={"decks": True})),
    ("options.decks", baccarat(options={"decks": 8.0})),
    ("options.unit", baccarat(options={"unit": 0})),
    ("seats[].bets.player: no multiple of the unit", baccarat(options={"unit": 3})),
    ("options.rounding", baccarat(options={"rounding": "nearest"})),
    ("options.commission", baccarat(options={"commission": None})),
    ("options.spread: twice the same", baccarat(options={"spread": ["tie", "tie"]})),
    ("options.spread: dragon_7 needs ('commission', 'ez')", baccarat(options={"spread": ["dragon_7"]})),
    (
        "options.spread: super_6 needs ('commission', 'six_pays_half')",
        baccarat(options={"spread": ["super_6"], "commission": "ez"}),
    ),
    ("options.spread: perfect_pairs", baccarat(options={"spread": ["perfect_pairs"]})),
    ("options.spread: a list", baccarat(options={"spread": "tie"})),
    ("options.surrender", record_of("casino_war", MAIN, "A K", options={"surrender": 1})),
    (
        "options: unknown {'decks'}",
        record_of("three_card_poker", {1: "ante 10"}, "2h 3h 9c 4d 5d 6d", "1 fold", options={"decks": 1}),
    ),
    # Seats and bets.
    ("seats: at least one", seats()),
    ("seats[].seat: 1 to 7", seats({"seat": 0, "bets": PLAYER})),
    ("seats[].seat: 1 to 7", seats({"seat": 8, "bets": PLAYER})),
    ("seats[].seat: 1 to 7", seats({"seat": True, "bets": PLAYER})),
    ("seats[].seat: rising", seats({"seat": 2, "bets": PLAYER}, {"seat": 1, "bets": PLAYER})),
    ("seats[].seat: rising", seats({"seat": 1, "bets": PLAYER}, {"seat": 1, "bets": PLAYER})),
    ("seats[]: seat and bets", seats({"seat": 1, "bet": 100})),
    ("seats[]: seat and bets", seats({"seat": 1, "bets": PLAYER, "bet": 100})),
    ("seats[].bets: at least one", seats({"seat": 1, "bets": {}})),
    ("seats[].bets.player: a positive number", seats({"seat": 1, "bets": {"player": 0}})),
    ("seats[].bets.player: a positive number", seats({"seat": 1, "bets": {"player": 100.0}})),
    ("seats[].bets.player: a positive number", seats({"seat": 1, "bets": {"player": True}})),
    ("seats[].bets: both sides", seats({"seat": 1, "bets": {"player": 100, "banker": 100}})),
    ("seats[].bets: super_6 is not spread", seats({"seat": 1, "bets": {"player": 100, "super_6": 10}})),
    ("seats[].bets: main is required", record_of("casino_war", {1: "tie 10"}, "A K")),
    ("seats[].bets: insurance is not spread", record_of("blackjack", {1: "main 10, insurance 5"}, "A 6 K T")),
    # Cards: written in two ways, without the suits that a side bet looks at, none at all, too many of one.
    ("cards with suits and cards without", baccarat(cards=["9", "4", "T", "3h"])),
    ("cards with suits and cards without", baccarat(dealt=["9h"])),
    ("no card: 10", baccarat(cards=["9", "4", "10", "3"])),
    ("no card: 9", baccarat(cards=[9, 4, 8, 3])),
    (
        "cards: suits are needed",
        record_of("dragon_tiger", {1: "tie 10"}, "7 8", options={"spread": ["tie", "suited_tie"]}),
    ),
    ("cards: suits are needed", record_of("three_card_poker", {1: "ante 10"}, "2 3 9 4 5 6", "1 fold")),
    ("the shoe has no 7h", record_of("dragon_tiger", {1: "tie 10"}, "7h 7h", options={"decks": 1})),
    (
        "dealt: one deck is shuffled before every round",
        record_of("dragon_tiger", {1: "tie 10"}, "7 7", options={"decks": 1}, dealt=["8"]),
    ),
    ("the shoe has no 7", record_of("dragon_tiger", {1: "tie 10"}, "7 7", options={"decks": 2}, dealt=["7"] * 7)),
    (
        "dealt: more than the shoe holds",
        record_of("dragon_tiger", {1: "tie 10"}, "8 9", options={"decks": 2}, dealt=["7"] * 9),
    ),
    ("the shoe has no 2h", record_of("three_card_poker", {1: "ante 10"}, "2h 3h 9c 2h 5d 6d", "1 fold")),
    # Left over, or missing where the other list goes on.
    ("cards left over", baccarat(cards=["9", "4", "T", "3", "2"])),
    ("actions left over", baccarat(actions=[{"seat": 1, "do": "stand"}])),
    ("an action where a card is due", record_of("casino_war", MAIN, "9", "1 war")),
    ("a card where a decision is due", record_of("casino_war", MAIN, "9 9 K")),
    ("actions left over", record_of("casino_war", MAIN, "9 9 K Q", "1 war", options={"surrender": False})),
    ("out of turn: seat 1 decides", record_of("casino_war", {1: "main 1", 2: "main 1"}, "9 9 9 K K Q", "2 war, 1 war")),
    ("actions left over", record_of("three_card_poker", {1: "pair_plus 10"}, "2h 3h 9c 4d 5d 6d", "1 play")),
    ("a card where a decision is due", record_of("three_card_poker", {1: "ante 10"}, "2h 3h 9c 4d 5d 6d 7d")),
    # What the dealer saw: said where there was nothing to look at, not said, said of a blackjack, said too early.
    ("out of turn: seat 1 decides", record_of("blackjack", MAIN, "T 7 9 T", "0 no_blackjack, 1 stand")),
    ("the dealer has to look first", record_of("blackjack", MAIN, "T T 9 T", "1 stand")),
    ("the dealer has looked, and had no blackjack", record_of("blackjack", MAIN, "T T 9 A", "0 no_blackjack, 1 stand")),
    ("out of turn: seat 1 decides", record_of("blackjack", MAIN, "T A 9 9", "0 no_blackjack, 1 decline, 1 stand")),
    (
        "out of turn: seat 1 decides",
        record_of("blackjack", MAIN, "T T 9 T", "0 no_blackjack, 1 stand", options={"hole": "none"}),
    ),
    # A decision that there is not: a third split, a soft double, a surrender of a split hand, 21, a stood ace.
    (
        "split is none of ['hit', 'stand', 'double']",
        record_of("blackjack", MAIN, "8 6 8 8 8", "1 split, 1 split, 1 split", options={"splits": 2}),
    ),
    (
        "double is none of ['hit', 'stand']",
        record_of("blackjack", MAIN, "A 6 8 8", "1 double", options={"double": "10_to_11"}),
    ),
    (
        "surrender is none of ['hit', 'stand', 'double', 'split']",
        record_of("blackjack", MAIN, "8 6 8 8", "1 split, 1 surrender", options=LATE),
    ),
    ("an action where a card is due", record_of("blackjack", MAIN, "5 6 6 T T", "1 hit, 1 stand")),
    ("an action where a card is due", record_of("blackjack", MAIN, "A 6 A 5", "1 split, 1 stand")),
    (
        "split is none of ['hit', 'stand', 'double']",
        record_of("blackjack", MAIN, "T 7 K 5 5", "1 split", options={"split_by": "rank"}),
    ),
    ("the dealer has to look first", record_of("blackjack", {1: "main 1"}, "T A 9 T", "1 decline")),
    # An action with a word too many.
    (
        "actions[]: seat and do",
        record_of("blackjack", MAIN, "T 7 9 T") | {"actions": [{"seat": 1, "do": "stand", "hand": 1}]},
    ),
]


@pytest.mark.parametrize(("sentence", "record"), REFUSED)
def test_what_cannot_be_is_refused(sentence: str, record: Record) -> None:
    with pytest.raises(Refused, match=re.escape(sentence)):
        judge(record)


def near_the_end(game: str, bets: dict[int, str], shoe: str, cards: str, actions: str = "") -> Record:
    """A round from two decks in which only these cards are left."""
    return record_of(game, bets, cards, actions, options={"decks": 2}, dealt=shoe_without(2, shoe))


def test_an_empty_shoe_is_filled_from_what_was_dealt() -> None:
    """Two cards are left in the shoe; the others are back in it after them."""
    assert judge(near_the_end("baccarat", {1: "player 10"}, "9 4", "9 4 T 3"))["complete"]
    with pytest.raises(Refused):
        judge(near_the_end("baccarat", {1: "player 10"}, "9 4", "T 4 9 3"))


def test_the_burned_cards_of_a_war_lie_unseen_among_the_discards() -> None:
    # Four are left, three of them are burned: the seat's card is one of the four, then all that was dealt is back.
    assert judge(near_the_end("casino_war", MAIN, "9 9 2 3 4 5", "9 9 5 K", "1 war"))["complete"]
    with pytest.raises(Refused):
        judge(near_the_end("casino_war", MAIN, "9 9 2 3 4 5", "9 9 K 5", "1 war"))
    # Three are left and burned: the shoe is filled at once, with them.
    assert judge(near_the_end("casino_war", MAIN, "9 9 2 3 4", "9 9 K 2", "1 war"))["complete"]


def test_the_hole_card_is_known_when_nothing_else_was_left() -> None:
    # The eight is all that the hole card can be; 14 draws a king from the filled shoe.
    assert settled(judge(near_the_end("blackjack", MAIN, "T 6 9 8", "T 6 9 8 K", "1 stand"))) == "1 main/1 100>200 win"
    # Without a hit the shoe has not run out, but no seven was in it either.
    with pytest.raises(Refused):
        judge(near_the_end("blackjack", MAIN, "T 6 9 8", "T 6 9 7 K", "1 stand"))
    # After a refill there are sevens, but the hole card has left the shoe before.
    with pytest.raises(Refused):
        judge(near_the_end("blackjack", MAIN, "T 6 3 8", "T 6 3 4 7 K", "1 hit, 1 stand"))


def test_a_hand_that_bust_is_dealt_again() -> None:
    # Seat 1 busts with all eight twos and a king; no two was dealt before. Seat 2 then draws one: 9, 5 and 2.
    hits = "1 hit, " * 7
    shoe = "2 2 2 2 2 2 2 2 K 9 5 7 T"
    bets = {1: "main 10", 2: "main 10"}
    answer = judge(near_the_end("blackjack", bets, shoe, "2 9 7 2 5 2 2 2 2 2 2 K 2 T", hits + "2 hit, 2 stand"))
    assert settled(answer) == "1 main/1 10>0 bust, 2 main/1 10>0 lose"
    # A hand that stands stays: seat 1 keeps its twos, and there is none for seat 2.
    decisions = "1 hit, " * 6 + "1 stand, 2 hit, 2 stand"
    with pytest.raises(Refused, match="no 2"):
        judge(near_the_end("blackjack", bets, "2 2 2 2 2 2 2 2 9 5 7 T", "2 9 7 2 5 2 2 2 2 2 2 2 T", decisions))


@pytest.mark.parametrize("game", HOUSES)
def test_rounds_of_real_cards_are_possible(game: str) -> None:
    """Harm: the account refuses a round that was really dealt, or crashes on a broken record instead of refusing it."""
    chance = Random(7)
    tally: Counter[str] = Counter()
    for _ in range(120):
        record = legal(game, chance)
        answer = judge(record)
        assert answer["complete"]
        tally.update(wager["outcome"] for seat in answer["results"] for wager in seat["wagers"])
        for changed in (truncated(record, chance), broken(record, chance)):
            try:
                tally["complete" if judge(changed)["complete"] else "open"] += 1
            except Refused:
                tally["refused"] += 1
    assert min(tally["win"], tally["lose"], tally["open"], tally["refused"]) > 0
