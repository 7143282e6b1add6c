"""Baccarat, exactly: all courses of a round by card values, and the number of ways in which a shoe deals each.

There are some 100,000 courses (two cards on either side in any order, then the third cards by the drawing rules). They
depend on the rules only, so they are listed once. A shoe deals each in a number of ways: a product with one factor for
each card. For eight decks their sum is below 2^63, so they are summed as integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from tables.games.baccarat import DRAGON_BONUS, PAY_FORM, Rules
from tables.games.cards import RANK_OF, Composition
from tables.games.house_script import HouseState, hand_named
from tables.games.odds import Odds
from tables.games.pays import net
from tables.maths import cents
from tables.maths.covariances import Covariances, all_in_common
from tables.maths.situation import Unknowable
from tables.maths.standard import by_rank, shoe_of, spelled
from tables.maths.worth import Edge, Results, Sheet, Tally, Valued, exact, results

End = tuple[str, str]
"""End of a round: one of `ENDS`, and one of `MARGINS`."""
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

ASSUMES: Final = ""
CARDS: Final = 6
ENDS: Final = ("tie", "player", "player_8", "banker", "banker_6", "banker_7")
"""Ends of a round: a player's three-card 8, a banker's 6 and a banker's three-card 7 are distinguished from other
wins."""
MARGINS: Final = (*map(str, range(-9, 10)), "natural banker", "natural tie", "natural player")
"""The player's lead in points without naturals; with a natural, the winner."""
_TIE, _NATURAL_TIE = MARGINS.index("0"), MARGINS.index("natural tie")
_VALUES: Final = 10
_DIFFERENT, _SAME, _TENS = range(3)
"""Kinds of a side's first two cards: of two values, of one, or both tens and faces."""
_NONE: Final = 10
"""Value in place of a third card that is not drawn."""
_BANKER_DRAWS: Final = (
    "DDDDDDDDDD",
    "DDDDDDDDDD",
    "DDDDDDDDDD",
    "DDDDDDDD-D",
    "--DDDDDD--",
    "----DDDD--",
    "------DD--",
    "----------",
)
"""When the banker draws: a row for each banker's total, a column for each player's third card from 0 to 9."""


# --- The courses of a round ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Courses:
    """All courses with a given number of cards, ordered by their ends."""

    cards: Whole
    """A row for each card dealt: its value."""
    repeats: Whole
    """For each card: how many of the cards before it have its value."""
    orders: Whole
    """Number of orders of the first two cards of both sides."""
    ends: tuple[End, ...]
    starts: Whole
    """The ends of these courses, and the index of the first course of each."""

    def ways(self, values: Whole) -> dict[End, int]:
        """Number of ways in which a shoe with these cards of each value gives each end."""
        return dict(zip(self.ends, map(int, np.add.reduceat(self._ways(values), self.starts)), strict=True))

    def ways_by_pair(self, values: Whole) -> dict[tuple[End, int, int], int]:
        """Number of ways to each end, by the first two cards of each side: of different values, of one value, or both
        tens."""
        ways = self._ways(values)
        lie = [
            np.where(first != second, _DIFFERENT, np.where(first == 0, _TENS, _SAME)) for first, second in self._sides()
        ]
        counts: dict[tuple[End, int, int], int] = {}
        for end, start, stop in zip(self.ends, self.starts, [*self.starts[1:], len(ways)], strict=True):
            for player, banker in product((_DIFFERENT, _SAME, _TENS), repeat=2):
                mask = (lie[0][start:stop] == player) & (lie[1][start:stop] == banker)
                counts[end, player, banker] = int(ways[start:stop][mask].sum())
        return counts

    def _ways(self, values: Whole) -> Whole:
        ways = self.orders
        for card, repeats in zip(self.cards, self.repeats, strict=True):
            ways = ways * (values[card] - repeats)
        return ways

    def _sides(self) -> tuple[tuple[Whole, Whole], tuple[Whole, Whole]]:
        """The first two cards of the player, and of the banker."""
        return (self.cards[0], self.cards[1]), (self.cards[2], self.cards[3])


@cache
def courses() -> tuple[Courses, ...]:
    """The courses of four cards, of five and of six."""
    hands = np.array(list(combinations_with_replacement(range(_VALUES), 2)), np.int64)
    thirds = np.arange(_VALUES + 1)
    grid = np.meshgrid(np.arange(len(hands)), np.arange(len(hands)), thirds, thirds, indexing="ij")
    first, second, third, fourth = (axis.ravel() for axis in grid)
    legal = _legal(hands.sum(axis=1)[first] % 10, hands.sum(axis=1)[second] % 10, third, fourth)
    first, second, third, fourth = (axis[legal] for axis in (first, second, third, fourth))
    cards = np.stack((*hands[first].T, *hands[second].T, third, fourth))
    count = (cards != _NONE).sum(axis=0)
    return tuple(_courses(cards[:, count == dealt], dealt) for dealt in (4, 5, 6))


def _legal(player: Whole, banker: Whole, third: Whole, fourth: Whole) -> Flags:
    """Whether the third cards are those that the rules draw on these totals of two cards."""
    natural = (player >= 8) | (banker >= 8)
    player_draws = ~natural & (player <= 5)
    draws = ~natural & banker_draws()[np.minimum(banker, 7), third]
    legal: Flags = (player_draws == (third != _NONE)) & (draws == (fourth != _NONE))
    return legal


def banker_draws() -> Flags:
    """When the banker draws: a row for each banker's total, a column for each player's third card; the last one for
    none."""
    return np.array([[sign == "D" for sign in row] + [total <= 5] for total, row in enumerate(_BANKER_DRAWS)])


def _courses(cards: Whole, dealt: int) -> Courses:
    points = np.where(cards == _NONE, 0, cards)
    player, banker = points[[0, 1, 4]].sum(axis=0) % 10, points[[2, 3, 5]].sum(axis=0) % 10
    drawn = cards[4:] != _NONE
    end = np.select(
        [
            player == banker,
            (player > banker) & (player == 8) & drawn[0],
            player > banker,
            banker == 6,
            (banker == 7) & drawn[1],
        ],
        [ENDS.index(name) for name in ("tie", "player_8", "player", "banker_6", "banker_7")],
        ENDS.index("banker"),
    )
    lead = player - banker
    natural = ~drawn.any(axis=0) & (np.maximum(player, banker) >= 8)
    end = len(MARGINS) * end + np.where(natural, _NATURAL_TIE + np.sign(lead), _TIE + lead)
    order = np.argsort(end, kind="stable")
    numbers, starts = np.unique(end[order], return_index=True)
    ends = tuple((ENDS[number // len(MARGINS)], MARGINS[number % len(MARGINS)]) for number in numbers)
    deal = np.stack((*cards[:4], *np.sort(cards[4:], axis=0)))[:dealt, order]
    repeats = np.stack([(deal[:place] == card).sum(axis=0) for place, card in enumerate(deal)])
    orders = (2 - (deal[0] == deal[1])) * (2 - (deal[2] == deal[3]))
    return Courses(deal, repeats, orders, ends, starts)


# --- A round in progress
# ----------------------------------------------------------------------------------------------


def tally_from(ranks: Composition, player: Sequence[int], banker: Sequence[int]) -> Tally:
    """The tally of a round of which some cards are dealt, by rank; `ranks` are the cards that may come."""
    if not player:
        return tally(ranks)
    values = [sum(ranks[9:]), *ranks[:9]]
    ends: dict[End, int] = {}
    _deal_on(values, [_points(player), _points(banker)], 1, ends)
    return _tally(ends.items(), _pair_ways(ranks, player), _pair_ways(ranks, banker))


def _points(ranks: Sequence[int]) -> list[int]:
    return [rank if rank < _VALUES else 0 for rank in ranks]


def _deal_on(values: list[int], hands: list[list[int]], ways: int, ends: dict[End, int]) -> None:
    """Deal every possible next card until the round is over; each course counts once for each way to go on to six
    cards."""
    place, dealt = _due(*hands), len(hands[0]) + len(hands[1])
    cards_left = sum(values)
    if place is None:
        for undealt in range(CARDS - dealt):
            ways *= cards_left - undealt
        end = _end(*hands), _margin(*hands)
        ends[end] = ends.get(end, 0) + ways
        return
    for value, copies in enumerate(values):
        if copies:
            values[value] -= 1
            hands[place].append(value)
            _deal_on(values, hands, ways * copies, ends)
            hands[place].pop()
            values[value] += 1


def _due(player: list[int], banker: list[int]) -> int | None:
    """Side of the next card: 0 the player's, 1 the banker's; None if the round is over."""
    if len(banker) < 2:
        return int(len(player) > len(banker))
    player_points, banker_points = sum(player[:2]) % 10, sum(banker[:2]) % 10
    if max(player_points, banker_points) >= 8 or len(banker) > 2:
        return None
    if len(player) == 2 and player_points <= 5:
        return 0
    third = player[2] if len(player) > 2 else _NONE
    return 1 if banker_draws()[min(banker_points, 7), third] else None


def _end(player: list[int], banker: list[int]) -> str:
    player_points, banker_points = sum(player) % 10, sum(banker) % 10
    if player_points == banker_points:
        return "tie"
    if player_points > banker_points:
        return "player_8" if (player_points, len(player)) == (8, 3) else "player"
    if banker_points == 6:
        return "banker_6"
    return "banker_7" if (banker_points, len(banker)) == (7, 3) else "banker"


def _margin(player: list[int], banker: list[int]) -> str:
    player_points, banker_points = sum(player) % 10, sum(banker) % 10
    lead = player_points - banker_points
    if len(player) == len(banker) == 2 and max(player_points, banker_points) >= 8:
        return MARGINS[_NATURAL_TIE + (lead > 0) - (lead < 0)]
    return MARGINS[_TIE + lead]


def _pair_ways(ranks: Composition, hand: Sequence[int]) -> dict[str, int]:
    """Number of ways in which the first two cards of a hand are a pair, and are not."""
    if len(hand) > 1:
        won = int(hand[0] == hand[1])
        return {"win": won, "lose": 1 - won}
    if hand:
        return {"win": ranks[hand[0] - 1], "lose": sum(ranks) - ranks[hand[0] - 1]}
    pairs = sum(copies * (copies - 1) for copies in ranks)
    return {"win": pairs, "lose": sum(ranks) * (sum(ranks) - 1) - pairs}


def midround(state: HouseState) -> dict[int, float]:
    """Exact expectation of each seat that bet, in cents. Raises Unknowable."""
    player, banker = ([RANK_OF[card] for card in hand_named(state, name).cards] for name in ("player", "banker"))
    ranks = by_rank(cents.unseen(state, state.rules.decks, CARDS - len(player) - len(banker)))
    return cents.by_name(state, wagers(state.rules, tally_from(ranks, player, banker)))


# --- From a shoe to its sheet ----------------------------------------------------------------------------------------


def shoe(rules: Rules, composition: Composition | None) -> Composition:
    """The cards that a round is dealt from. Raises Unknowable, also for side bets that do not go with the options."""
    for bet, commission in (("dragon_7", "ez"), ("panda_8", "ez"), ("super_6", "six_pays_half")):
        if bet in rules.spread and rules.commission != commission:
            raise Unknowable(f"the side bet {bet} is spread only with commission={commission}")
    return shoe_of(composition, rules.decks, CARDS)


def tally(ranks: Composition) -> Tally:
    """Number of ways in which a round gives each end, and a side's first two cards to a pair."""
    tens = sum(ranks[9:])
    values = np.array([tens, *ranks[:9]], np.int64)
    ends = ((end, ways * undealt) for undealt, course in _weighed(ranks) for end, ways in course.ways(values).items())
    pair = _pair_ways(ranks, ())
    return _tally(ends, pair, pair)


def _weighed(ranks: Composition) -> Iterator[tuple[int, Courses]]:
    """All courses, each with the number of orders of the undealt cards up to the sixth."""
    size = sum(ranks)
    yield from zip(((size - 4) * (size - 5), size - 5, 1), courses(), strict=True)


def _tally(ends: Iterable[tuple[End, int]], player_pair: Mapping[str, int], banker_pair: Mapping[str, int]) -> Tally:
    """Rounds by either part of their ends, and the pairs."""
    rounds, margins = dict.fromkeys(ENDS, 0), dict.fromkeys(MARGINS, 0)
    for (end, margin), ways in ends:
        rounds[end] += ways
        margins[margin] += ways
    return {"round": rounds, "margin": margins, "player_pair": player_pair, "banker_pair": banker_pair}


def joint(ranks: Composition) -> dict[tuple[End, bool, bool], int]:
    """Number of ways in which a round gives each end, with or without a pair of the player's and of the banker's.

    Two cards of one value are a pair, except tens and faces: these are a pair with the probability that two cards drawn
    from them have one rank, independently of the rest.
    """
    tens = ranks[9:]
    values = np.array([sum(tens), *ranks[:9]], np.int64)
    ways: dict[tuple[End, bool, bool], Fraction] = {}
    for undealt, course in _weighed(ranks):
        for (end, player, banker), course_ways in course.ways_by_pair(values).items():
            for first, second, chance in _pairs(player, banker, tens):
                key = (end, first, second)
                ways[key] = ways.get(key, Fraction(0)) + course_ways * undealt * chance
    return {key: int(count) for key, count in ways.items() if count}


def _pairs(player: int, banker: int, tens: Sequence[int]) -> Iterator[tuple[bool, bool, Fraction]]:
    """Whether either side has a pair, with the probability, by the kinds of their first two cards."""
    chances = {_DIFFERENT: Fraction(0), _SAME: Fraction(1), _TENS: _same_rank(tens)}
    first, second = chances[player], chances[banker]
    both_chance = _two_pairs(tens) if (player, banker) == (_TENS, _TENS) else first * second
    yield True, True, both_chance
    yield True, False, first - both_chance
    yield False, True, second - both_chance
    yield False, False, 1 - first - second + both_chance


def _same_rank(tens: Sequence[int]) -> Fraction:
    """Probability that two of these cards have one rank."""
    size = sum(tens)
    return Fraction(sum(copies * (copies - 1) for copies in tens), max(size * (size - 1), 1))


def _two_pairs(tens: Sequence[int]) -> Fraction:
    """Probability that the first two of these cards have one rank, and the next two as well."""
    size, pairs = sum(tens), [copies * (copies - 1) for copies in tens]
    again = sum(
        ways * (sum(pairs) - ways + (copies - 2) * (copies - 3))
        for copies, ways in zip(tens, pairs, strict=True)
        if ways
    )
    return Fraction(again, max(size * (size - 1) * (size - 2) * (size - 3), 1))


def covariances(rules: Rules, composition: Composition | None = None) -> Covariances:
    """Exactly. All seats bet on the same cards, so two seats go together as the wagers of one do."""
    ends = []
    for (end, player, banker), ways in joint(shoe(rules, composition)).items():
        pairs = ({"win": int(pair), "lose": int(not pair)} for pair in (player, banker))
        often = _tally([(end, 1)], *pairs)
        nets = {bet: sum(net * won for net, won in pays.items()) for bet, pays in wagers(rules, often).items()}
        ends.append((nets, ways))
    return all_in_common(ends)


def wagers(rules: Rules, often: Tally) -> dict[str, Results]:
    """Result of each wager, with the number of ways."""
    ends, total = often["round"], sum(often["round"].values())
    player, six, seven = ends["player"] + ends["player_8"], ends["banker_6"], ends["banker_7"]
    banker = ends["banker"] + six + seven
    odds = PAY_FORM.in_force(rules)
    player_pair, banker_pair = often["player_pair"], often["banker_pair"]
    wins = {
        "tie": (ends["tie"], total - ends["tie"]),
        "player_pair": (player_pair["win"], player_pair["lose"]),
        "banker_pair": (banker_pair["win"], banker_pair["lose"]),
        "dragon_7": (seven, total - seven),
        "panda_8": (ends["player_8"], total - ends["player_8"]),
        "super_6": (six, total - six),
    }
    every: dict[str, Iterable[tuple[Fraction | int, int]]] = {
        "player": ((1, player), (-1, banker), (0, ends["tie"])),
        "banker": (*_banker(rules, ends), (-1, player), (0, ends["tie"])),
        **{bet: ((net(odds[bet][bet]), won), (-1, lost)) for bet, (won, lost) in wins.items()},
        **{bet: _bonus(odds[bet], side, often["margin"]) for bet, side in DRAGON_BONUS.items()},
    }
    return {bet: results(pays) for bet, pays in every.items() if bet in ("player", "banker", *rules.spread)}


def _banker(rules: Rules, ends: Mapping[str, int]) -> tuple[tuple[Fraction | int, int], ...]:
    """Payouts of the banker's wins: all of them less commission, or different ones for a 6 or a three-card 7."""
    usual: Fraction | int = Fraction(19, 20) if rules.commission == "five_percent" else 1
    six = Fraction(1, 2) if rules.commission == "six_pays_half" else usual
    seven = 0 if rules.commission == "ez" else usual
    return (usual, ends["banker"]), (six, ends["banker_6"]), (seven, ends["banker_7"])


def _bonus(odds: Mapping[str, Odds], side: str, margins: Mapping[str, int]) -> Iterator[tuple[Fraction | int, int]]:
    """Payouts of a dragon bonus by margin: by its lines, a push at a natural tie, otherwise a loss."""
    sign = 1 if side == "player" else -1
    won = {f"natural {side}": odds["natural"], **{str(sign * lead): odds[f"by_{lead}"] for lead in range(4, 10)}}
    for margin, ways in margins.items():
        yield net(won[margin]) if margin in won else 0 if margin == "natural tie" else -1, ways


def sheet(rules: Rules, composition: Composition | None = None) -> Sheet:
    """Worth of every wager. Raises Unknowable."""
    return valued(rules, composition, tally(shoe(rules, composition)), exact)


def edges(rules: Rules, unseen: Composition) -> dict[str, Edge]:
    """Worth of every wager, from the unseen cards. Raises Unknowable."""
    return sheet(rules, unseen).edges


def valued(rules: Rules, composition: Composition | None, often: Tally, worth: Valued) -> Sheet:
    """The sheet of a tally, however it came about."""
    worths = {bet: worth(ends) for bet, ends in wagers(rules, often).items()}
    return Sheet("baccarat", msgspec.to_builtins(rules), worths, spelled(shoe(rules, composition)))
