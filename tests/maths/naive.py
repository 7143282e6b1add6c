"""The same games once more, card by card and without any mathematics: what the exact values are held against."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from tables.games import baccarat, casino_war, dragon_tiger, three_card_poker

Chances = dict[str, dict[Fraction, Fraction]]
"""For each wager, how likely each result is."""
Net = dict[str, Fraction | int]
RANKS = "A23456789TJQK"


def chances(rounds: Iterator[Net]) -> Chances:
    """Of rounds that are equally likely."""
    counts: dict[str, Counter[Fraction]] = {}
    for nets in rounds:
        for bet, net in nets.items():
            counts.setdefault(bet, Counter())[Fraction(net)] += 1
    return {
        bet: {net: Fraction(ways, sum(results.values())) for net, ways in results.items()}
        for bet, results in counts.items()
    }


def orders(cards: Sequence[str], dealt: int, play: Callable[[Sequence[str]], Net]) -> Chances:
    """A game by every order in which so many of the cards may come."""
    return chances(play(order) for order in permutations(cards, dealt))


# --- Baccarat --------------------------------------------------------------------------------------------------------


def points(cards: Sequence[str]) -> int:
    return sum(0 if card[0] in "TJQK" else RANKS.index(card[0]) + 1 for card in cards) % 10


def baccarat_hands(cards: Sequence[str]) -> tuple[list[str], list[str]]:
    """By the house's table, as a dealer learns it."""
    player, banker, stock = [cards[0], cards[2]], [cards[1], cards[3]], list(cards[4:])
    if points(player) > 7 or points(banker) > 7:
        return player, banker
    if points(player) > 5:
        return (player, [*banker, stock[0]]) if points(banker) < 6 else (player, banker)
    third = stock.pop(0)
    value, total = points([third]), points(banker)
    draws = total <= 2
    if total == 3:
        draws = value != 8
    if total in (4, 5, 6):
        draws = {4: 2, 5: 4, 6: 6}[total] <= value <= 7
    return [*player, third], [*banker, stock[0]] if draws else banker


def play_baccarat(rules: baccarat.Rules) -> Callable[[Sequence[str]], Net]:
    def play(cards: Sequence[str]) -> Net:
        player, banker = baccarat_hands(cards)
        ours, theirs = points(player), points(banker)
        dragon = theirs > ours and theirs == 7 and len(banker) == 3
        panda = ours > theirs and ours == 8 and len(player) == 3
        six = theirs > ours and theirs == 6
        paid: Fraction | int = 1
        if rules.commission == "five_percent":
            paid = Fraction("0.95")
        if rules.commission == "six_pays_half" and six:
            paid = Fraction(1, 2)
        if rules.commission == "ez" and dragon:
            paid = 0
        every: Net = {
            "player": (ours > theirs) - (ours < theirs),
            "banker": paid if theirs > ours else -(ours > theirs),
            "tie": rules.tie_pays if ours == theirs else -1,
            "player_pair": 11 if cards[0][0] == cards[2][0] else -1,
            "banker_pair": 11 if cards[1][0] == cards[3][0] else -1,
            "dragon_7": 40 if dragon else -1,
            "panda_8": 25 if panda else -1,
            "super_6": rules.super_6_pays if six else -1,
        }
        return {bet: net for bet, net in every.items() if bet in ("player", "banker", *rules.spread)}

    return play


# --- Two games of the higher card ------------------------------------------------------------------------------------


def play_dragon_tiger(rules: dragon_tiger.Rules) -> Callable[[Sequence[str]], Net]:
    def play(cards: Sequence[str]) -> Net:
        dragon, tiger = (RANKS.index(card[0]) for card in cards)
        half = Fraction(-1, 2)
        every: Net = {
            "dragon": half if dragon == tiger else 1 if dragon > tiger else -1,
            "tiger": half if dragon == tiger else 1 if tiger > dragon else -1,
            "tie": rules.tie_pays if dragon == tiger else -1,
            "suited_tie": 50 if cards[0] == cards[1] else -1,
        }
        return {bet: net for bet, net in every.items() if bet in ("dragon", "tiger", *rules.spread)}

    return play


def play_casino_war(rules: casino_war.Rules, *, surrenders: bool = False) -> Callable[[Sequence[str]], Net]:
    def play(cards: Sequence[str]) -> Net:
        """Seven cards: two, three that are burned, two."""
        seat, dealer, *_, again, dealers_war = ((RANKS.index(card[0]) + 12) % 13 for card in cards)
        if seat != dealer:
            return {"main": 1 if seat > dealer else -1, "tie": -1}
        if surrenders:
            return {"main": Fraction(-1, 2), "tie": 10}
        second_tie = 2 if rules.second_tie == "bonus" else 1
        return {"main": second_tie if again == dealers_war else 1 if again > dealers_war else -2, "tie": 10}

    return play


# --- Three Card Poker ------------------------------------------------------------------------------------------------


def hand(cards: Sequence[str]) -> tuple[int, tuple[int, ...]]:
    """The class of a hand, from 0 for a high card to 5, and what decides within it."""
    ranks = sorted(("23456789TJQKA".index(card[0]) for card in cards), reverse=True)
    suited = cards[0][1] == cards[1][1] == cards[2][1]
    if ranks[0] == ranks[2]:
        return 4, (ranks[0],)
    if ranks == [12, 1, 0]:
        return (5 if suited else 3), (1,)
    if ranks[0] == ranks[1] + 1 == ranks[2] + 2:
        return (5 if suited else 3), (ranks[0],)
    if suited:
        return 2, tuple(ranks)
    if ranks[1] in (ranks[0], ranks[2]):
        return 1, (ranks[1], ranks[0] + ranks[2] - ranks[1])
    return 0, tuple(ranks)


def three_card_poker_nets(rules: three_card_poker.Rules, seat: Sequence[str], unseen: Sequence[str]) -> list[int]:
    """What a hand that is played wins against each hand that the dealer may have."""
    mine = hand(seat)
    bonus = (0, 0, 0, *map(int, rules.ante_bonus.split("-")))[mine[0]]
    nets = []
    for dealer in combinations(unseen, 3):
        theirs = hand(dealer)
        if theirs[0] == 0 and theirs[1][0] < 10:
            nets.append(1 + bonus)
        else:
            nets.append(2 * ((mine > theirs) - (mine < theirs)) + bonus)
    return nets


def three_card_poker_rounds(rules: three_card_poker.Rules, cards: Sequence[str]) -> Iterator[Net]:
    """All pairs of hands; the seat folds where that costs it less."""
    pair_plus = (-1, *map(int, rules.pair_plus_pays.split("-")))
    for seat in combinations(cards, 3):
        nets = three_card_poker_nets(rules, seat, [card for card in cards if card not in seat])
        folds = sum(nets) < -len(nets)
        for net in nets:
            yield {"ante": -1 if folds else net, "pair_plus": pair_plus[hand(seat)[0]]}
