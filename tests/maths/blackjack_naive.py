"""Blackjack as the rules tell it, card by card in the order of the deal, in rational numbers: slow, written to be read.

It knows nothing of the mathematics but the chart as it is printed. Every course of a small shoe is gone through.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from tables.games.blackjack import Rules

SIGNS = "A23456789TJQK"
Cards = tuple[int, ...]
"""Ranks, ace 1 to king 13; or so many left of each."""
Chances = dict[Fraction, Fraction]
"""What a seat wins, and how likely."""
PlayedHands = tuple[tuple[int, int], ...]
"""Hands that are finished: the total, 22 where it is too many, and the bets on it."""


def points(rank: int) -> int:
    return min(rank, 10)


def total(hand: Cards) -> tuple[int, bool]:
    """What a hand counts, and whether an ace in it counts eleven."""
    hard = sum(map(points, hand))
    return (hard + 10, True) if 1 in hand and hard <= 11 else (hard, False)


def is_blackjack(*hand: int) -> bool:
    return sorted(map(points, hand)) == [1, 10]


def added(chances: Chances, branch: Chances, share: Fraction) -> None:
    for net, chance in branch.items():
        chances[net] = chances.get(net, Fraction(0)) + share * chance


def draws(shoe: Cards) -> Iterator[tuple[int, Fraction, Cards]]:
    """Each rank that may come next, how likely, and what is left then. A shoe that runs out is no case for this."""
    assert sum(shoe), "the shoe of a test ran out"
    for rank, count in enumerate(shoe, 1):
        if count:
            yield rank, Fraction(count, sum(shoe)), (*shoe[: rank - 1], count - 1, *shoe[rank:])


class Naive:
    def __init__(self, rules: Rules, chart: dict[str, dict[str, dict[str, str]]]) -> None:
        self.rules, self.chart = rules, chart
        self.finish = lru_cache(None)(self._finish)
        self.play = lru_cache(None)(self._play)
        self.dealer = lru_cache(None)(self._dealer)

    def round(self, shoe: Cards) -> Chances:
        chances: Chances = {}
        for first_rank, share, shoe_1 in draws(shoe):
            for up, second_share, shoe_2 in draws(shoe_1):
                for second_rank, third_share, shoe_3 in draws(shoe_2):
                    self._dealt(chances, shoe_3, (first_rank, second_rank), up, share * second_share * third_share)
        return chances

    def _dealt(self, chances: Chances, shoe: Cards, hand: Cards, up: int, share: Fraction) -> None:
        if self.rules.hole != "peek":
            return added(chances, self._seat(shoe, hand, up, None), share)
        for hole, chance, next_shoe in draws(shoe):
            if is_blackjack(up, hole):
                added(chances, {Fraction(0 if is_blackjack(*hand) else -1): Fraction(1)}, share * chance)
            else:
                added(chances, self._seat(next_shoe, hand, up, hole), share * chance)
        return None

    def _seat(self, shoe: Cards, hand: Cards, up: int, hole: int | None) -> Chances:
        if not is_blackjack(*hand):
            return self.play(shoe, hand, 0, 1, (), up, hole)
        pays, stake = map(int, self.rules.blackjack_pays.split(":"))
        if hole is not None:
            return {Fraction(pays, stake): Fraction(1)}
        chances: Chances = {}
        for rank, chance, _ in draws(shoe):
            added(chances, {Fraction(0) if is_blackjack(up, rank) else Fraction(pays, stake): Fraction(1)}, chance)
        return chances

    def letter(self, hand: Cards, up: int, pair: bool) -> str:
        column = "A" if up == 1 else "T" if points(up) == 10 else str(up)
        count, soft = total(hand)
        if pair:
            sign = SIGNS[points(hand[0]) - 1]
            return self.chart["pairs"][sign + sign][column]
        if count == 21:
            return "S"
        if soft:
            return self.chart["soft"][f"A{count - 11}"][column] if count > 12 else "H"
        return self.chart["hard"][str(count)][column] if count > 4 else "H"

    def _play(
        self, shoe: Cards, hand: Cards, waiting: int, hands: int, played_hands: PlayedHands, up: int, hole: int | None
    ) -> Chances:
        """A hand of two cards; behind it some wait that are one card, of the same value."""
        rules = self.rules
        alike = hand[0] == hand[1] if rules.split_by == "rank" else points(hand[0]) == points(hand[1])
        code = self.letter(hand, up, alike)
        if code == "P":
            if hands <= rules.splits and (hands == 1 or hand[0] != 1 or rules.resplit_aces):
                chances: Chances = {}
                for rank, chance, next_shoe in draws(shoe):
                    added(
                        chances,
                        self.play(next_shoe, (hand[0], rank), waiting + 1, hands + 1, played_hands, up, hole),
                        chance,
                    )
                return chances
            code = self.letter(hand, up, False)
        if code.startswith("R"):
            if hands == 1:
                return self._given_up(shoe, up)
            code = {"R": "H", "Rs": "S"}[code]
        if hands > 1 and hand[0] == 1 and not rules.hit_split_aces:
            code = "S"
        if code.startswith("D"):
            count, soft = total(hand)
            hard = () if soft else {"9_to_11": (9, 10, 11), "10_to_11": (10, 11)}.get(rules.double, ())
            if (rules.double == "any_two" or count in hard) and (hands == 1 or rules.double_after_split):
                return self._draw(shoe, hand, waiting, hands, played_hands, up, hole, 2)
            code = "S" if code == "Ds" else "H"
        if code == "S":
            return self.finish(shoe, hand, waiting, hands, (*played_hands, (total(hand)[0], 1)), up, hole)
        return self._draw(shoe, hand, waiting, hands, played_hands, up, hole, 1)

    def _given_up(self, shoe: Cards, up: int) -> Chances:
        """Half is lost; of a late surrender all of it, if the dealer's second card makes a blackjack."""
        if self.rules.hole == "peek" or self.rules.surrender == "early":
            return {Fraction(-1, 2): Fraction(1)}
        chances: Chances = {}
        for rank, chance, _ in draws(shoe):
            added(chances, {Fraction(-1) if is_blackjack(up, rank) else Fraction(-1, 2): Fraction(1)}, chance)
        return chances

    def _draw(
        self,
        shoe: Cards,
        hand: Cards,
        waiting: int,
        hands: int,
        played_hands: PlayedHands,
        up: int,
        hole: int | None,
        bets: int,
    ) -> Chances:
        """One card more; on a single bet, as many as the chart says."""
        chances: Chances = {}
        for rank, chance, next_shoe in draws(shoe):
            longer = (*hand, rank)
            count = min(total(longer)[0], 22)
            if bets == 2 or count > 20 or self._stays(longer, up):
                end = self.finish(next_shoe, hand, waiting, hands, (*played_hands, (count, bets)), up, hole)
            else:
                end = self._draw(next_shoe, longer, waiting, hands, played_hands, up, hole, 1)
            added(chances, end, chance)
        return chances

    def _stays(self, hand: Cards, up: int) -> bool:
        return self.letter(hand, up, False) in ("S", "Ds", "Rs")

    def _finish(
        self, shoe: Cards, hand: Cards, waiting: int, hands: int, played_hands: PlayedHands, up: int, hole: int | None
    ) -> Chances:
        """The next hand of a split, or the dealer's turn."""
        chances: Chances = {}
        if waiting:
            for rank, chance, next_shoe in draws(shoe):
                added(
                    chances, self.play(next_shoe, (hand[0], rank), waiting - 1, hands, played_hands, up, hole), chance
                )
        elif all(count > 21 for count, _ in played_hands):
            chances[Fraction(-sum(bets for _, bets in played_hands))] = Fraction(1)
        elif hole is not None:
            chances = self.dealer(shoe, tuple(sorted((up, hole))), played_hands)
        else:
            for rank, chance, next_shoe in draws(shoe):
                blackjack = is_blackjack(up, rank)
                end = (
                    self._beaten(played_hands)
                    if blackjack
                    else self.dealer(next_shoe, tuple(sorted((up, rank))), played_hands)
                )
                added(chances, end, chance)
        return chances

    def _beaten(self, played_hands: PlayedHands) -> Chances:
        lost = 0
        for number, (count, bets) in enumerate(played_hands):
            if count > 21 or self.rules.hole == "none":
                lost += bets
            elif number == 0:
                lost += 1
        return {Fraction(-lost): Fraction(1)}

    def _dealer(self, shoe: Cards, hand: Cards, played_hands: PlayedHands) -> Chances:
        count, soft = total(hand)
        if count > 17 or (count == 17 and not (soft and self.rules.soft17 == "hit")):
            net = 0
            for hand_count, bets in played_hands:
                wins = hand_count <= 21 and (count > 21 or hand_count > count)
                net += bets if wins else 0 if hand_count == count <= 21 else -bets
            return {Fraction(net): Fraction(1)}
        chances: Chances = {}
        for rank, chance, next_shoe in draws(shoe):
            added(chances, self.dealer(next_shoe, tuple(sorted((*hand, rank))), played_hands), chance)
        return chances
