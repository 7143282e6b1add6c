"""The games by the account by hand (`tests/games/house_by_hand.py`), the reference for the exact values."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

from tables.games import three_card_poker
from tests.games.house_by_hand import HOUSES, Chips, Round, Seat, poker_hand, read_options

Chances = dict[str, dict[Fraction, Fraction]]
"""For each wager, how likely each result is."""
Net = dict[str, Fraction]
RANKS = "A23456789TJQK"
STAKE = 200
"""A multiple of twenty, so that every payout is a whole number."""
RAISES = {"raise": "main", "play": "ante"}
"""Raises, and the wagers with which they are counted."""


def chances(rounds: Iterator[Net]) -> Chances:
    """Of rounds that are equally likely."""
    counts: dict[str, Counter[Fraction]] = {}
    for nets in rounds:
        for bet, net in nets.items():
            counts.setdefault(bet, Counter())[net] += 1
    return {
        bet: {net: Fraction(ways, sum(results.values())) for net, ways in results.items()}
        for bet, results in counts.items()
    }


def orders(cards: Sequence[str], dealt: int, play: Callable[[Sequence[str]], Net]) -> Chances:
    """A game by every order in which so many of the cards may come."""
    return chances(play(order) for order in permutations(cards, dealt))


def play(game: str, rules: Any, choice: str = "") -> Callable[[Sequence[str]], Net]:
    """What each wager wins, in stakes, by the order of the cards, with one seat on each side; the first seat decides.

    Of seven cards the third to the fifth are burned.
    """
    house = HOUSES[game]
    values = {name: getattr(rules, name) for name in house.options}
    options = read_options(house, values | {"spread": list(rules.spread)})
    first, *second = house.bets
    stakes = [dict.fromkeys((first, *rules.spread), STAKE), *({bet: STAKE} for bet in second)]
    decisions = [{"seat": 1, "do": choice}] if choice else []

    def nets(cards: Sequence[str]) -> Net:
        turned = [*cards[:2], *cards[5:]] if len(cards) == 7 else [*cards]
        table = Round(Counter(cards), Counter(), turned, [*decisions])
        seats = [Seat(number, bets, Chips(1, "down")) for number, bets in enumerate(stakes, 1)]
        house.play(table, seats, options)
        net: Net = {}
        for wager in (wager for seat in seats for wager in seat.wagers):
            bet = RAISES.get(wager["bet"], wager["bet"])
            net[bet] = net.get(bet, Fraction(0)) + Fraction(wager["returned"] - wager["staked"], STAKE)
        return net

    return nets


def three_card_poker_nets(rules: three_card_poker.Rules, seat: Sequence[str], unseen: Sequence[str]) -> list[int]:
    """What a hand that is played wins against each hand that the dealer may have."""
    seat_hand = poker_hand([*seat])
    bonus = (0, 0, 0, *map(int, rules.ante_bonus.split("-")))[seat_hand[0]]
    nets = []
    for dealer in combinations(unseen, 3):
        dealer_hand = poker_hand([*dealer])
        if dealer_hand[0] == 0 and dealer_hand[1][0] < 12:
            nets.append(1 + bonus)
        else:
            nets.append(2 * ((seat_hand > dealer_hand) - (seat_hand < dealer_hand)) + bonus)
    return nets


def three_card_poker_rounds(rules: three_card_poker.Rules, cards: Sequence[str]) -> Iterator[Net]:
    """All pairs of hands; the seat folds where that costs it less."""
    pair_plus = (-1, *map(int, rules.pair_plus_pays.split("-")))
    for seat in combinations(cards, 3):
        nets = three_card_poker_nets(rules, seat, [card for card in cards if card not in seat])
        folds = sum(nets) < -len(nets)
        for net in nets:
            odds = pair_plus[poker_hand([*seat])[0]]
            yield {"ante": Fraction(-1 if folds else net), "pair_plus": Fraction(odds)}
