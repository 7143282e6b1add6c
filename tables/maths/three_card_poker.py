"""Three Card Poker, exactly: every hand of a seat against every hand that the dealer may then have.

A deck holds 22,100 hands of 741 strengths. How many of the dealer's hands have a strength and none of the seat's
three cards follows from how many there are with each card, and with each two: inclusion and exclusion. So all 407
million pairs of hands are counted without being gone through, and each hand is decided by what that count is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, permutations
from math import comb, lcm
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from tables.games.cards import RANK_OF, RANK_SIGNS, STANDARD, SUIT_OF, UNKNOWN, Composition
from tables.games.house_script import HouseState, SpotSeen
from tables.games.pays import UNPAID, net
from tables.games.protocol import Settled
from tables.games.three_card_poker import PACKET, PAY_FORM, Rules
from tables.maths import cents
from tables.maths.covariances import Covariances, pairs_of
from tables.maths.covariances import exact as exact_covariances
from tables.maths.standard import shoe_of, spelled
from tables.maths.worth import Results, Sheet, Tally, Valued, exact, results

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

ASSUMES: Final = "A seat that played a facedown packet holds a hand that best play plays."
CARDS: Final = 6
HANDS: Final = ("high card", "pair", "flush", "straight", "three of a kind", "straight flush")
LINES: Final = tuple(hand.replace(" ", "_") for hand in HANDS)
"""Names of the hands in pay tables."""
DECK: Final = len(STANDARD.deck)
_ACE: Final = 14
_WHEEL: Final = (14, 3, 2)
_TWO: Final = ((0, 1), (0, 2), (1, 2))
_SUIT_ORDERS: Final = tuple(permutations(range(4)))
ANTE_ENDS: Final = ("no_dealer", "win", "push", "lose")
"""Ends of a hand that is played: the dealer does not qualify, or both hands are compared."""


# --- All hands of a deck ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hands:
    """All hands, weaker ones first. Cards count from 0 in the order of the pack."""

    cards: Whole
    """A row of three for each hand."""
    kind: Whole
    """Its place in ``HANDS``."""
    strength: Whole
    """From 0; hands that tie have equal strengths."""
    names: tuple[str, ...]
    """Name of each strength: its ranks, such as Q-6-4, with its kind if the ranks do not determine it."""
    qualifies: int
    """The strength from which the dealer's hand counts: queen, three, two."""


@cache
def hands() -> Hands:
    """The 22,100 hands of a deck."""
    rows = sorted((_order(cards), cards) for cards in combinations(range(DECK), 3))
    orders = sorted({order for order, _ in rows})
    place = {order: strength for strength, order in enumerate(orders)}
    return Hands(
        np.array([cards for _, cards in rows], np.int64),
        np.array([order[0] for order, _ in rows], np.int64),
        np.array([place[order] for order, _ in rows], np.int64),
        tuple(_name(order) for order in orders),
        place[0, 12, 3, 2],
    )


def _order(cards: Sequence[int]) -> tuple[int, ...]:
    """Key of comparison of a hand: the kind, then the ranks in deciding order."""
    ranks = sorted((_high(RANK_OF[card + 1]) for card in cards), reverse=True)
    flush = len({SUIT_OF[card + 1] for card in cards}) == 1
    different = len(set(ranks))
    straight = tuple(ranks) == _WHEEL or (different == 3 and ranks[0] - ranks[2] == 2)
    if straight:
        low = tuple(ranks) == _WHEEL
        return HANDS.index("straight flush" if flush else "straight"), *((3, 2, 1) if low else ranks)
    if different == 3:
        return HANDS.index("flush" if flush else "high card"), *ranks
    kind = HANDS.index("pair" if different == 2 else "three of a kind")
    return kind, *sorted(ranks, key=lambda rank: (ranks.count(rank), rank), reverse=True)


def _name(order: tuple[int, ...]) -> str:
    kind, *ranks = order
    signs = "-".join(RANK_SIGNS[(rank - 1) % 13] for rank in ranks)
    return f"{signs} {HANDS[kind]}" if HANDS[kind] in ("flush", "straight", "straight flush") else signs


def _high(rank: int) -> int:
    return _ACE if rank == 1 else rank


# --- What the dealer may have ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Against:
    """For each hand that a deck deals to the seat: how many of the dealer's hands end it how, and whether it plays."""

    cards: Whole
    kind: Whole
    strength: Whole
    ends: Whole
    """A row for each hand, a column for each of ``ANTE_ENDS``."""
    plays: Flags


@lru_cache(maxsize=16)
def against(cards: Composition, bonus: tuple[Fraction | int, ...]) -> Against:
    """All hands of these cards against all hands of the rest; the better of playing and folding, and of equals play.

    ``bonus`` is what the ante bonus pays for each kind of hand; values are counted in its parts, as whole numbers.
    """
    deck, parts = hands(), lcm(*(Fraction(paid).denominator for paid in bonus))
    dealt = is_dealt(cards)
    rows, kind, strength = deck.cards[dealt], deck.kind[dealt], deck.strength[dealt]
    below = _below(rows, strength, len(deck.names))
    every, qualifying = comb(sum(cards) - 3, 3), strength >= deck.qualifies
    unqualified = below(np.full_like(strength, deck.qualifies))
    weaker, through = below(strength), below(strength + 1)
    wins = np.where(qualifying, weaker - unqualified, 0)
    pushes = np.where(qualifying, through - weaker, 0)
    loses = every - unqualified - wins - pushes
    paid = np.array([int(paid * parts) for paid in bonus], np.int64)
    value = (unqualified + 2 * wins - 2 * loses) * parts + paid[kind] * every
    return Against(rows, kind, strength, np.stack((unqualified, wins, pushes, loses), axis=1), value >= -every * parts)


def is_dealt(cards: Composition) -> Flags:
    """Which hands of a deck these cards can deal."""
    return np.asarray(np.array(cards, dtype=bool)[hands().cards].all(axis=1))


def _below(rows: Whole, strength: Whole, strengths: int) -> Callable[[Whole], Whole]:
    """A function that gives for each hand the number of hands below a strength that share no card with it."""
    every = np.zeros(strengths + 1, np.int64)
    with_one = np.zeros((DECK, strengths + 1), np.int64)
    with_two = np.zeros((DECK, DECK, strengths + 1), np.int64)
    np.add.at(every, strength + 1, 1)
    for card in rows.T:
        np.add.at(with_one, (card, strength + 1), 1)
    for first, second in _TWO:
        np.add.at(with_two, (rows[:, first], rows[:, second], strength + 1), 1)
    for counts in (every, with_one, with_two):
        np.cumsum(counts, axis=-1, out=counts)

    def below(bounds: Whole) -> Whole:
        holding = with_one[rows, bounds[:, np.newaxis]].sum(axis=1)
        holding -= sum(with_two[rows[:, first], rows[:, second], bounds] for first, second in _TWO)
        return np.asarray(every[bounds] - holding - (strength < bounds), np.int64)

    return below


# --- A round in progress
# ----------------------------------------------------------------------------------------------


def midround(state: HouseState) -> dict[int, float]:
    """Expectation of each seat that bet, in cents, exact under the stated assumptions. Raises Unknowable."""
    unseen = cents.unseen(state, 1, 0)
    dealer = _seen_cards(state.hands[0].cards)

    def spot_cents(spot: SpotSeen, wager: Settled) -> float:
        if wager.bet == "play":
            return 0.0  # its result is part of the worth of the ante
        own = _seen_cards(card for hand in spot.hands for card in hand.cards)
        stakes = {stake.bet for stake in spot.wagers}
        plays = None if "ante" not in stakes else "play" in stakes
        return _packet_worth(state.rules, unseen, own, dealer, plays)[wager.bet] * wager.staked_cents

    return cents.expected(state, spot_cents)


def _seen_cards(cards: Iterable[int]) -> tuple[int, ...]:
    """The cards of a packet that were shown, counted from 0."""
    return tuple(sorted(card - 1 for card in cards if card != UNKNOWN))


@lru_cache(maxsize=64)
def _packet_worth(
    rules: Rules, unseen: Composition, own: tuple[int, ...], dealer: tuple[int, ...], plays: bool | None
) -> dict[str, float]:
    """Worth of a packet with these known cards, for each unit on ante and pair plus.

    `plays`: whether it is played; False if that is undecided, None if it has no ante.
    """
    every = against(_with(unseen, (*own, *dealer)), bonus(rules))
    likely = np.array([set(own) <= set(cards) for cards in every.cards.tolist()])
    likely &= ~np.isin(every.cards, dealer).any(axis=1)
    if plays and len(own) < PACKET:
        likely &= every.plays
    kinds = np.array(pair_plus(rules), np.float64)[every.kind]
    # A fold also loses pair plus: for an undecided hand, both depend on whether it is played.
    folds = (plays is False) & ~every.plays
    antes = _antes(every, np.flatnonzero(likely), dealer, rules)
    return {
        "ante": float(np.where(folds[likely], -1.0, antes).mean()),
        "pair_plus": float(np.where(folds, -1, kinds)[likely].mean()),
    }


def _with(cards: Composition, additions: Iterable[int]) -> Composition:
    """A composition with some further cards added."""
    counts = [*cards]
    for card in additions:
        counts[card] += 1
    return tuple(counts)


def _antes(every: Against, places: Whole, dealer: tuple[int, ...], rules: Rules) -> NDArray[np.float64]:
    """Mean win of the ante with play wager and bonus, for each of some hands that are played."""
    paid = np.array(bonus(rules), np.float64)[every.kind[places]]
    ends = every.ends[places]
    if dealer:
        ends = np.array([_ends_against(every, int(place), dealer) for place in places])
    return np.asarray(paid + ends @ np.array([1, 2, 0, -2]) / ends.sum(axis=1))


def _ends_against(every: Against, place: int, dealer: tuple[int, ...]) -> Whole:
    """Number of ways in which a hand gives each end, against a dealer with some known cards."""
    own = every.cards[place]
    mask = ~np.isin(every.cards, own).any(axis=1)
    for card in dealer:
        mask &= (every.cards == card).any(axis=1)
    strength, mine = every.strength[mask], int(every.strength[place])
    counts = strength >= hands().qualifies
    ends = (~counts, counts & (strength < mine), counts & (strength == mine), counts & (strength > mine))
    return np.array([end.sum() for end in ends], np.int64)


# --- From a deck to its sheet ----------------------------------------------------------------------------------------


def deck(rules: Rules, composition: Composition | None) -> Composition:
    """The cards that a round is dealt from."""
    return shoe_of(composition, 1, CARDS, suits=True)


def bonus(rules: Rules) -> tuple[Fraction, ...]:
    """Odds of the ante bonus for each kind of hand."""
    odds = PAY_FORM.in_force(rules)["ante_bonus"]
    return tuple(odds[line].fraction if line in odds else Fraction(0) for line in LINES)


def pair_plus(rules: Rules) -> tuple[Fraction, ...]:
    """Net win of pair plus with each kind of hand."""
    odds = PAY_FORM.in_force(rules)["pair_plus"]
    return tuple(net(odds.get(line, UNPAID)) for line in LINES)


def tally(every: Against) -> Tally:
    """Number of ways in which an ante gives each end with each kind of hand, and a hand to each kind."""
    ante = {"fold": int(every.ends[~every.plays].sum())}
    for number, kind in enumerate(HANDS):
        sums = every.ends[every.plays & (every.kind == number)].sum(axis=0)
        ante |= {f"{end} {kind}": int(ways) for end, ways in zip(ANTE_ENDS, sums, strict=True)}
    kinds = np.bincount(every.kind, minlength=len(HANDS))
    return {"ante": ante, "pair_plus": dict(zip(HANDS, map(int, kinds), strict=True))}


def wagers(rules: Rules, often: Tally) -> dict[str, Results]:
    """Result of each wager, with the number of ways: the ante with play wager and bonus, and pair plus."""
    pays = dict(zip(ANTE_ENDS, (1, 2, 0, -2), strict=True))
    ante: list[tuple[Fraction | int, int]] = [(-1, often["ante"]["fold"])]
    for kind, paid in zip(HANDS, bonus(rules), strict=True):
        ante += [(pays[end] + paid, often["ante"][f"{end} {kind}"]) for end in ANTE_ENDS]
    every: dict[str, list[tuple[Fraction | int, int]]] = {
        "ante": ante,
        "pair_plus": [(won, often["pair_plus"][kind]) for kind, won in zip(HANDS, pair_plus(rules), strict=True)],
    }
    return {bet: results(ends) for bet, ends in every.items() if bet in ("ante", *rules.spread)}


# --- How wagers go together ------------------------------------------------------------------------------------------


def covariances(rules: Rules, composition: Composition | None = None) -> Covariances:
    """Exactly, in some seconds: for each hand of the dealer, all hands of two seats that leave out its cards and each
    other's. Hands of the dealer that differ by their suits alone come to the same, from a whole deck."""
    cards = deck(rules, composition)
    every = against(cards, bonus(rules))
    rows = hands().cards[is_dealt(cards)]
    # Odds of an operator's table may be fractions: both wagers are counted in parts of one unit, as whole numbers.
    parts = lcm(*(won.denominator for won in (*bonus(rules), *pair_plus(rules))))
    won = np.array([int(parts * won) for won in pair_plus(rules)], np.float64)[every.kind]
    totals = dict.fromkeys(("ante", "pair_plus", "own", "own_cross", "own_plus", "both", "cross", "plus"), 0.0)
    cards_of = (1 << rows).sum(axis=1)
    for place, weight in _dealers_hands(cards, rows):
        apart = (cards_of & cards_of[place]) == 0
        ante = np.where(apart, parts * _ante(rules, every, int(every.strength[place])), 0.0)
        plus = np.where(apart, won, 0.0)
        first, second = _Disjoint(rows, ante), _Disjoint(rows, plus)
        sums = {
            "ante": ante.sum(),
            "pair_plus": plus.sum(),
            "own": ante @ ante,
            "own_cross": ante @ plus,
            "own_plus": plus @ plus,
            "both": first.with_others(ante),
            "cross": second.with_others(ante),
            "plus": second.with_others(plus),
        }
        for name, total in sums.items():
            totals[name] += weight * float(total)
    size = sum(cards)
    hand = comb(size, 3) * comb(size - 3, 3)
    two = hand * comb(size - 6, 3)
    means: dict[str, Fraction] = {bet: Fraction(round(totals[bet]), parts * hand) for bet in ("ante", "pair_plus")}
    named = dict(zip(pairs_of(means), ("", "_cross", "_plus"), strict=True))
    of_seat = {pair: Fraction(round(totals[f"own{name}"]), parts**2 * hand) for pair, name in named.items()}
    across = zip(named, ("both", "cross", "plus"), strict=True)
    of_seats = {pair: Fraction(round(totals[name]), parts**2 * two) for pair, name in across}
    together = exact_covariances(means, of_seat, of_seats)
    return {pair: estimate for pair, estimate in together.items() if {*pair} <= {"ante", *rules.spread}}


def _ante(rules: Rules, every: Against, dealer: int) -> Floats:
    """Net win of an ante with each hand against a dealer's strength."""
    compared = 2.0 * np.sign(every.strength - dealer)
    paid = np.array(bonus(rules), np.float64)[every.kind]
    played = paid + (compared if dealer >= hands().qualifies else 1.0)
    return np.where(every.plays, played, -1.0)


def _dealers_hands(cards: Composition, rows: Whole) -> Iterator[tuple[int, int]]:
    """Representative dealer's hands, and the number of hands that each represents."""
    if any(copies != 1 for copies in cards):
        yield from ((place, 1) for place in range(len(rows)))
        return
    often: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for place, row in enumerate(rows):
        dealt = [(RANK_OF[card + 1], SUIT_OF[card + 1]) for card in row.tolist()]
        likeness = min(tuple(sorted((rank, order[suit]) for rank, suit in dealt)) for order in _SUIT_ORDERS)
        often.setdefault(likeness, []).append(place)
    for places in often.values():
        yield places[0], len(places)


class _Disjoint:
    """Numbers of hands, added up over those hands that have no card of a given one: inclusion and exclusion."""

    def __init__(self, rows: Whole, numbers: Floats) -> None:
        self.rows, self.numbers, self.total = rows, numbers, float(numbers.sum())
        self.with_one = np.zeros(DECK)
        self.with_two = np.zeros(DECK * DECK)
        for column in rows.T:
            self.with_one += np.bincount(column, numbers, DECK)
        for first, second in _TWO:
            self.with_two += np.bincount(rows[:, first] * DECK + rows[:, second], numbers, DECK * DECK)

    def with_others(self, numbers: Floats) -> float:
        """The sum of the products of two hands' numbers, over hands that have no card in common."""
        disjoint = self.total - self.with_one[self.rows].sum(axis=1) - self.numbers
        for first, second in _TWO:
            disjoint += self.with_two[self.rows[:, first] * DECK + self.rows[:, second]]
        return float(numbers @ disjoint)


# --- The chart, and the sheet ----------------------------------------------------------------------------------------


def chart(every: Against) -> dict[str, Any]:
    """The weakest hand that plays and the strongest that folds: all decisions, where the first beats the second."""
    names = hands().names
    plays, folds = every.strength[every.plays], every.strength[~every.plays]
    return {
        "weakest_play": names[plays.min()] if len(plays) else None,
        "strongest_fold": names[folds.max()] if len(folds) else None,
    }


def sheet(rules: Rules, composition: Composition | None = None) -> Sheet:
    """Worth of every wager to the best play. Raises Unknowable."""
    return valued(rules, composition, tally(against(deck(rules, composition), bonus(rules))), exact)


def valued(rules: Rules, composition: Composition | None, often: Tally, worth: Valued) -> Sheet:
    """The sheet of a tally, however it came about."""
    cards = deck(rules, composition)
    worths = {bet: worth(ends) for bet, ends in wagers(rules, often).items()}
    played = chart(against(cards, bonus(rules)))
    return Sheet("three_card_poker", msgspec.to_builtins(rules), worths, spelled(cards), played)
