"""Charts of blackjack players who consider totals only, and the best such chart for a shoe and the options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tables.games.blackjack import Rules
from tables.maths.blackjack_dealer import ACE, KINDS, TEN, VALUES, Places, tree
from tables.maths.blackjack_hands import (
    DOUBLE,
    DOUBLE_STAND,
    HIT,
    LETTERS,
    SPLIT,
    STAND,
    STANDS,
    SURRENDER,
    SURRENDER_SPLIT,
    SURRENDER_STAND,
    ChartColumn,
    Stakes,
    StakeValue,
    ValueCounts,
    lattice,
)
from tables.maths.blackjack_round import (
    Pairs,
    Pay,
    Play,
    SeatOptions,
    Upcard,
    all_split_ends,
    first_ends,
    first_letters,
    with_splits,
)

UPCARDS: Final = (*"23456789", "T", "A")
HARD: Final = range(5, 21)
SOFT: Final = range(13, 21)
_PAIRS: Final = (*VALUES[1:], ACE)
"""The values in a chart's order: the ace last."""
Table = Mapping[str, Mapping[str, Mapping[str, str]]]
_GAIN: Final = 1e-12
"""Difference of values below which letters are equally good: it is rounding error."""


def value_of(rank: int) -> int:
    """Index of the value of a rank, ace 1 to king 13."""
    return min(rank, 10) - 1


def sign(value: int) -> str:
    """A value as a chart writes it."""
    return "A" if value == ACE else "T" if value == TEN else str(value + 1)


@dataclass(frozen=True)
class Chart:
    """A letter for each hand by each upcard's value. What it has no row for is hit: 4 and A-A where it is not split."""

    rows: tuple[ChartColumn, ...]

    def table(self) -> dict[str, dict[str, dict[str, str]]]:
        """The chart in readable form: `hard` 5 to 20, `soft` A2 to A9, `pairs` 22 to AA, each by upcard."""
        return {
            "hard": {str(total): self._line("hard", total) for total in HARD},
            "soft": {f"A{total - 11}": self._line("soft", total) for total in SOFT},
            "pairs": {2 * sign(value): self._line("pairs", value) for value in _PAIRS},
        }

    def _line(self, kind: str, hand: int) -> dict[str, str]:
        letters = (getattr(self.rows[upcard], kind)[hand] for upcard in _PAIRS)
        return {name: LETTERS[int(code)] for name, code in zip(UPCARDS, letters, strict=True)}


def start(upcard: int) -> ChartColumn:
    """A plain chart that the search of the best one begins with: split nothing, double nothing."""
    hard, soft, pairs = (np.full(size, HIT, np.int64) for size in (22, 22, KINDS))
    weak = upcard in range(1, 6)
    hard[12 if weak else 17 :] = STAND
    soft[18:] = STAND
    pairs[:] = [hard[2 * (value + 1)] for value in VALUES]
    pairs[ACE] = HIT
    return ChartColumn(hard, soft, pairs)


# --- What the options come to ------------------------------------------------------------------------------------


def play_of(rules: Rules) -> Play:
    """The choices that a seat has under the options."""
    least, most = {"any_two": (0, 21), "9_to_11": (9, 11), "10_to_11": (10, 11)}[rules.double]
    hands = rules.splits + 1
    return Play(
        least=least,
        most=most,
        soft=int(rules.double == "any_two"),
        after_split=int(rules.double_after_split),
        hands=hands,
        ace_hands=hands if rules.resplit_aces else min(hands, 2),
        hit_aces=int(rules.hit_split_aces),
    )


def blackjack_odds(rules: Rules) -> tuple[int, int]:
    """Payout of a blackjack as two numbers, such as 3 and 2."""
    pays, stake = rules.blackjack_pays.split(":")
    return int(pays), int(stake)


def pay_of(rules: Rules) -> Pay:
    """Net win of a seat at each end, as a fraction of its bet."""
    pays, stake = blackjack_odds(rules)
    looks = rules.hole == "peek"
    return Pay(
        first=Stakes(_stake(rules, 1, later=False), _stake(rules, 2, later=False)),
        later=Stakes(_stake(rules, 1, later=True), _stake(rules, 2, later=True)),
        blackjack=pays / stake,
        surrender=-0.5,
        surrender_beaten=0.0 if looks else -0.5 if rules.surrender == "early" else -1.0,
        beaten=-1.0 if looks else 0.0,
    )


def terms_of(rules: Rules) -> SeatOptions:
    """The options, as far as a seat feels them."""
    return SeatOptions(play_of(rules), pay_of(rules))


def _stake(rules: Rules, bets: int, *, later: bool) -> StakeValue:
    lost = {"peek": 0, "none": bets, "none_original": 0 if later else 1}[rules.hole]
    return StakeValue(float(bets), -float(bets), -float(lost), 0.0 if rules.hole == "peek" else -float(bets))


# --- The shoe without an upcard ----------------------------------------------------------------------------------


def values_of(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Number of cards of each value, from the number of each rank."""
    return (*ranks[:TEN], sum(ranks[TEN:]))


def upcard_of(rules: Rules, ranks: tuple[int, ...], upcard: int) -> Upcard:
    """What does not depend on a chart, for an upcard's value; the shoe has `ranks` cards of each rank."""
    counts = np.array(values_of(ranks), np.float64)
    counts[upcard] -= 1
    dealer = tree(upcard, rules.soft17 == "hit")
    pairs, tens = pairs_of(rules, ranks, upcard)
    return Upcard(
        hands=lattice(),
        shoe=ValueCounts(counts, float(counts.sum()), dealer.natural),
        ends=first_ends(lattice(), dealer, counts),
        split_ends=all_split_ends(lattice(), dealer, counts, play_of(rules)),
        pairs=pairs,
        tens=tens,
    )


def pairs_of(rules: Rules, ranks: tuple[int, ...], upcard: int) -> tuple[Pairs, float]:
    """The pairs that may be split, and how likely two tens are none.

    Where only a rank is split, ten, jack, queen and king are ranks of their own, and which of them is up counts.
    """
    values, size = values_of(ranks), sum(ranks)
    ways: dict[tuple[int, int], float] = {}
    for value in VALUES:
        by_rank = rules.split_by == "rank" and value == TEN
        for up_rank, up_chance in _ups(ranks, upcard) if by_rank else ((-1, 1.0),):
            groups = range(TEN, len(ranks)) if by_rank else (value,)
            for group in groups:
                out = up_rank == group if by_rank else value == upcard
                copies = (ranks[group] if by_rank else values[value]) - out
                chance = up_chance * copies * (copies - 1) / ((size - 1) * (size - 2))
                ways[value, copies] = ways.get((value, copies), 0.0) + chance
    tens = values[TEN] - (upcard == TEN)
    apart = tens * (tens - 1) / ((size - 1) * (size - 2)) - sum(ways[key] for key in ways if key[0] == TEN)
    pairs = Pairs(
        np.array([value for value, _ in ways], np.int64),
        np.array(list(ways.values())),
        np.array([float(copies) for _, copies in ways]),
    )
    return pairs, max(apart, 0.0) if rules.split_by == "rank" else 0.0


def _ups(ranks: tuple[int, ...], upcard: int) -> tuple[tuple[int, float], ...]:
    """The ranks that an upcard of a value may have, with their probabilities."""
    if upcard != TEN:
        return ((upcard, 1.0),)
    tens = sum(ranks[TEN:])
    return tuple((rank, ranks[rank] / tens) for rank in range(TEN, len(ranks)) if ranks[rank])


# --- The best chart ----------------------------------------------------------------------------------------------


def improved(table: Upcard, upcard: int, rules: Rules) -> ChartColumn:
    """The best letters against an upcard: no other letter in any cell would be worth more in the whole round.

    Cell by cell the letter that is worth most is taken, with every hand, later cards and splits counted, until a
    whole turn changes nothing. Higher totals come first, for shorter hands lead to longer ones.
    """
    row, terms = start(upcard), terms_of(rules)
    before: list[list[int]] = []
    while before != (before := [letters.tolist() for letters in row]):
        worth = with_splits(table, row, terms)
        for letters, totals in ((row.hard, HARD), (row.soft, SOFT)):
            for total in reversed(totals):
                codes = _letters(rules, total, soft=letters is row.soft)
                worth = _best_letter(table, row, terms, (letters, total), (worth, codes))
        for value in VALUES:
            row.pairs[value] = _pair_letter(table, row, value, rules)
    return row


def _best_letter(
    table: Upcard, row: ChartColumn, terms: SeatOptions, cell: tuple[Places, int], choice: tuple[float, tuple[int, ...]]
) -> float:
    """Puts the letter that is worth most into a cell, and says what it is worth; none that is worth the same replaces
    the one that is there. ``choice`` is what that is worth, and the letters that are sensible."""
    (letters, place), (most, codes) = cell, choice
    best = old = int(letters[place])
    for code in codes:
        if code == old:
            continue
        letters[place] = code
        worth = with_splits(table, row, terms)
        if worth > most + _GAIN:
            best, most = code, worth
    letters[place] = best
    return most


def _letters(rules: Rules, total: int, *, soft: bool) -> tuple[int, ...]:
    """The sensible letters of a chart for a total: standing is not one where a further card cannot bust."""
    play = play_of(rules)
    may_double = play.soft == 1 if soft else play.least <= total <= play.most
    may_stand = soft or total >= 12
    codes: tuple[int, ...] = (HIT, STAND) if may_stand else (HIT,)
    if may_double:
        codes += (DOUBLE, DOUBLE_STAND) if may_stand else (DOUBLE,)
    if rules.surrender != "none":
        codes += (SURRENDER, SURRENDER_STAND) if may_stand else (SURRENDER,)
    return codes


def _pair_letter(table: Upcard, row: ChartColumn, value: int, rules: Rules) -> int:
    """The letter that is worth most for a pair; of letters that are worth the same its total's, then the shorter."""
    terms = terms_of(rules)
    worth = first_letters(table, value, row, terms)
    total = int(row.soft[12] if value == ACE else row.hard[2 * (value + 1)])
    codes = [code for code in (total, *_letters(rules, 2 * (value + 1), soft=value == ACE)) if code < SPLIT]
    if terms.play.hands >= 2:
        codes.append(SPLIT)
    best = codes[0]
    for code in codes:
        if worth[code] > worth[best] + _GAIN:
            best = code
    if rules.surrender == "none" or worth[SURRENDER] <= worth[best] + _GAIN:
        return best
    return SURRENDER_SPLIT if best == SPLIT else SURRENDER_STAND if best in STANDS else SURRENDER


def letters_of(row: ChartColumn) -> Places:
    """A column as numbers, for the simulator: hard totals, soft totals, pairs."""
    return np.concatenate([row.hard, row.soft, row.pairs])
