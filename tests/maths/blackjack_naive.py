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
Done = tuple[tuple[int, int], ...]
"""Hands that are finished: the total, 22 where it is too many, and the bets on it."""


def points(rank: int) -> int:
    return min(rank, 10)


def total(hand: Cards) -> tuple[int, bool]:
    """What a hand counts, and whether an ace in it counts eleven."""
    hard = sum(map(points, hand))
    return (hard + 10, True) if 1 in hand and hard <= 11 else (hard, False)


def is_blackjack(*hand: int) -> bool:
    return sorted(map(points, hand)) == [1, 10]


def added(chances: Chances, more: Chances, share: Fraction) -> None:
    for net, chance in more.items():
        chances[net] = chances.get(net, Fraction(0)) + share * chance


def draws(left: Cards) -> Iterator[tuple[int, Fraction, Cards]]:
    """Each rank that may come next, how likely, and what is left then. A shoe that runs out is no case for this."""
    assert sum(left), "the shoe of a test ran out"
    for rank, count in enumerate(left, 1):
        if count:
            yield rank, Fraction(count, sum(left)), (*left[: rank - 1], count - 1, *left[rank:])


class Naive:
    def __init__(self, rules: Rules, chart: dict[str, dict[str, dict[str, str]]]) -> None:
        self.rules, self.chart = rules, chart
        self.finish = lru_cache(None)(self._finish)
        self.play = lru_cache(None)(self._play)
        self.dealer = lru_cache(None)(self._dealer)

    def round(self, shoe: Cards) -> Chances:
        chances: Chances = {}
        for first, share, left in draws(shoe):
            for up, second_share, after in draws(left):
                for second, third_share, rest in draws(after):
                    self._dealt(chances, rest, (first, second), up, share * second_share * third_share)
        return chances

    def _dealt(self, chances: Chances, left: Cards, hand: Cards, up: int, share: Fraction) -> None:
        if self.rules.hole != "peek":
            return added(chances, self._seat(left, hand, up, None), share)
        for hole, chance, rest in draws(left):
            if is_blackjack(up, hole):
                added(chances, {Fraction(0 if is_blackjack(*hand) else -1): Fraction(1)}, share * chance)
            else:
                added(chances, self._seat(rest, hand, up, hole), share * chance)
        return None

    def _seat(self, left: Cards, hand: Cards, up: int, hole: int | None) -> Chances:
        if not is_blackjack(*hand):
            return self.play(left, hand, 0, 1, (), up, hole)
        pays, stake = map(int, self.rules.blackjack_pays.split(":"))
        if hole is not None:
            return {Fraction(pays, stake): Fraction(1)}
        chances: Chances = {}
        for rank, chance, _ in draws(left):
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
        self, left: Cards, hand: Cards, waiting: int, hands: int, done: Done, up: int, hole: int | None
    ) -> Chances:
        """A hand of two cards; behind it some wait that are one card, of the same value."""
        rules = self.rules
        alike = hand[0] == hand[1] if rules.split_by == "rank" else points(hand[0]) == points(hand[1])
        code = self.letter(hand, up, alike)
        if code == "P":
            if hands <= rules.splits and (hands == 1 or hand[0] != 1 or rules.resplit_aces):
                chances: Chances = {}
                for rank, chance, rest in draws(left):
                    added(chances, self.play(rest, (hand[0], rank), waiting + 1, hands + 1, done, up, hole), chance)
                return chances
            code = self.letter(hand, up, False)
        if code.startswith("R"):
            if hands == 1:
                return {Fraction(-1, 2): Fraction(1)}
            code = {"R": "H", "Rs": "S"}[code]
        if hands > 1 and hand[0] == 1 and not rules.hit_split_aces:
            code = "S"
        if code.startswith("D"):
            count, soft = total(hand)
            hard = () if soft else {"9_to_11": (9, 10, 11), "10_to_11": (10, 11)}.get(rules.double, ())
            if (rules.double == "any_two" or count in hard) and (hands == 1 or rules.double_after_split):
                return self._more(left, hand, waiting, hands, done, up, hole, 2)
            code = "S" if code == "Ds" else "H"
        if code == "S":
            return self.finish(left, hand, waiting, hands, (*done, (total(hand)[0], 1)), up, hole)
        return self._more(left, hand, waiting, hands, done, up, hole, 1)

    def _more(
        self, left: Cards, hand: Cards, waiting: int, hands: int, done: Done, up: int, hole: int | None, bets: int
    ) -> Chances:
        """One card more; on a single bet, as many as the chart says."""
        chances: Chances = {}
        for rank, chance, rest in draws(left):
            longer = (*hand, rank)
            count = min(total(longer)[0], 22)
            if bets == 2 or count > 20 or self._stays(longer, up):
                end = self.finish(rest, hand, waiting, hands, (*done, (count, bets)), up, hole)
            else:
                end = self._more(rest, longer, waiting, hands, done, up, hole, 1)
            added(chances, end, chance)
        return chances

    def _stays(self, hand: Cards, up: int) -> bool:
        return self.letter(hand, up, False) in ("S", "Ds", "Rs")

    def _finish(
        self, left: Cards, hand: Cards, waiting: int, hands: int, done: Done, up: int, hole: int | None
    ) -> Chances:
        """The next hand of a split, or the dealer's turn."""
        chances: Chances = {}
        if waiting:
            for rank, chance, rest in draws(left):
                added(chances, self.play(rest, (hand[0], rank), waiting - 1, hands, done, up, hole), chance)
        elif all(count > 21 for count, _ in done):
            chances[Fraction(-sum(bets for _, bets in done))] = Fraction(1)
        elif hole is not None:
            chances = self.dealer(left, tuple(sorted((up, hole))), done)
        else:
            for rank, chance, rest in draws(left):
                blackjack = is_blackjack(up, rank)
                end = self._beaten(done) if blackjack else self.dealer(rest, tuple(sorted((up, rank))), done)
                added(chances, end, chance)
        return chances

    def _beaten(self, done: Done) -> Chances:
        lost = 0
        for number, (count, bets) in enumerate(done):
            if count > 21 or self.rules.hole == "none":
                lost += bets
            elif number == 0:
                lost += 1
        return {Fraction(-lost): Fraction(1)}

    def _dealer(self, left: Cards, hand: Cards, done: Done) -> Chances:
        count, soft = total(hand)
        if count > 17 or (count == 17 and not (soft and self.rules.soft17 == "hit")):
            net = 0
            for each, bets in done:
                wins = each <= 21 and (count > 21 or each > count)
                net += bets if wins else 0 if each == count <= 21 else -bets
            return {Fraction(net): Fraction(1)}
        chances: Chances = {}
        for rank, chance, rest in draws(left):
            added(chances, self.dealer(rest, tuple(sorted((*hand, rank))), done), chance)
        return chances
