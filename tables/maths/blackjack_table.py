"""Blackjack by chance at a table of several seats, compiled: how their results go together, and how shoes are walked.

All seats play by one chart and meet one hand of the dealer. The hands are those of ``blackjack_simulation``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tables.games.blackjack import Rules
from tables.maths.blackjack_chart import Chart
from tables.maths.blackjack_dealer import ACE, TEN
from tables.maths.blackjack_hands import SPLIT, STAND
from tables.maths.blackjack_round import MOST_HANDS
from tables.maths.blackjack_sides import INSURANCE_LINES, PAIR_LINES, THREE_LINES, lines, pays_of, won
from tables.maths.blackjack_simulation import (
    NO_CARD,
    SURRENDERING,
    Counts,
    Deck,
    SimulationOptions,
    _beaten,
    _blackjack,
    _card,
    _compare,
    _dealer,
    _finish,
    _hand_letter,
    _letter,
    _points,
    columns,
    deck_of,
    house_of,
)
from tables.maths.compiled import inlined, jit
from tables.maths.covariances import Pair, Together, pairs_of
from tables.maths.random_cards import Bytes, draw

Floats = NDArray[np.float64]

WAGERS: Final = ("main", "perfect_pairs", "twenty_one_plus_three", "insurance")
_INSURANCE: Final = WAGERS.index("insurance")
_KINDS: Final = len(WAGERS)
_VALUES: Final = TEN + 1
ENOUGH: Final = 20
"""More cards than a hand of a seat or of the dealer takes, apart from negligible probabilities."""


class Seats(NamedTuple):
    """Arrays for the results of a round: each seat's first two cards by rank, its win in tenths of its bet, its numbers
    of hands and of bets that await the dealer, and the hands."""

    cards: Counts
    nets: Counts
    waiting: Counts
    standing: Counts


class DealtShoe(NamedTuple):
    """A shoe: with how many cards the round began; with how many the discards were brought back in it, if they were,
    and how many there were then; and how often the cards would have run out by now."""

    began: Counts
    short: Counts
    renewed: Counts
    refills: Counts


class Sides(NamedTuple):
    """Side bets that depend on suits: lines by cards, payouts by line, and the copies of a rank."""

    pair_lines: Bytes
    three_lines: Bytes
    pair_pays: Floats
    three_pays: Floats
    copies: Bytes


class Sums(NamedTuple):
    """Sums over all rounds and over those with an ace as upcard.

    Number of rounds; sums of each wager over both seats; of the products of two wagers of one seat and of both seats;
    and of the squares of these products.
    """

    rounds: Counts
    nets: Floats
    own: Floats
    cross: Floats
    own_squares: Floats
    cross_squares: Floats


def covariances(rules: Rules, chart: Chart, rounds: int, seed: int) -> dict[Pair, Together]:
    """Covariances of wagers of one and of two seats at fresh shoes, from simulated rounds.

    Each pair of wagers is listed once. Insurance counts where it is offered.
    """
    sums = Sums(np.zeros(2, np.int64), np.zeros((2, _KINDS)), *(np.zeros((2, _KINDS, _KINDS)) for _ in range(4)))
    pair_lines, three_lines = lines()
    copies = np.arange(4 * rules.decks, dtype=np.uint8)
    pays = pays_of(rules)
    pair_pays, three_pays = (
        np.array([float(won(pays[bet], line)) for line in names])
        for bet, names in (("perfect_pairs", PAIR_LINES), ("twenty_one_plus_three", THREE_LINES))
    )
    sides = Sides(pair_lines, three_lines, pair_pays, three_pays, copies)
    deck = deck_of((4 * rules.decks,) * 13, seed)
    _covary(deck, _room(2), (house_of(rules), columns(chart)), (rounds, sides), sums)
    return {
        (first, second): _together(sums, WAGERS.index(first), WAGERS.index(second))
        for first, second in pairs_of(WAGERS)
    }


def _together(sums: Sums, first: int, second: int) -> Together:
    part = int(_INSURANCE in (first, second))
    rounds = int(sums.rounds[part])
    apart = float(sums.nets[part, first] * sums.nets[part, second]) / (2 * rounds) ** 2
    own, cross = (float(products[part, first, second]) / (2 * rounds) for products in (sums.own, sums.cross))
    errors = (
        sqrt(max(float(squares[part, first, second]) / (2 * rounds) - mean**2, 0.0) / rounds)
        for squares, mean in ((sums.own_squares, own), (sums.cross_squares, cross))
    )
    return Together(own - apart, cross - apart, *errors)


def deal(rules: Rules, chart: Chart, seats: int, rounds: int, seed: int) -> Floats:
    """Each seat's net win in bets, round by round, each from a fresh shoe."""
    nets = np.zeros((rounds, seats), np.int64)
    _deal_seats(deck_of((4 * rules.decks,) * 13, seed), _room(seats), (house_of(rules), columns(chart)), nets)
    won: Floats = nets / 10
    return won


@dataclass(frozen=True, eq=False)
class Walked:
    """Rounds of whole shoes: the unseen cards of each value before each, and how often the shoe had run out by then."""

    unseen: Counts
    refills: Counts
    nets: Floats
    """Net win of the first seat, in bets."""


def walk(rules: Rules, chart: Chart, seats: int, rounds: int, seed: int, last: int) -> Walked:
    """Simulate rounds of several seats. A shoe is shuffled once at most `last` cards are left, which must be `ENOUGH`
    for a hand."""
    before = np.zeros((rounds, _VALUES + 2), np.int64)
    deck = deck_of((4 * rules.decks,) * 13, seed)
    _walk(deck, _room(seats), (house_of(rules), columns(chart)), last, before)
    return Walked(before[:, :_VALUES], before[:, _VALUES], before[:, -1] / 10)


def _room(seats: int) -> Seats:
    return Seats(
        np.zeros((seats, 2), np.int64),
        np.zeros(seats, np.int64),
        np.zeros((seats, 2), np.int64),
        np.zeros((seats, MOST_HANDS, 2), np.int64),
    )


# --- the loop, in machine code ------------------------------------------------------------------------------------


@inlined
def _round(deck: Deck, course: DealtShoe, table: tuple[SimulationOptions, Counts], room: Seats) -> tuple[int, int]:
    """Deal a round to all seats; returns the dealer's upcard and hole card, NO_CARD if no hand required it."""
    house, letters = table
    seats = len(room.nets)
    course.began[0] = deck.left[0]
    course.short[0] = 0
    for seat in range(seats):
        room.cards[seat, 0] = _card(deck)
    up = _card(deck)
    for seat in range(seats):
        room.cards[seat, 1] = _card(deck)
    hole = _card(deck) if house.looks else NO_CARD
    if house.looks and _blackjack(up, hole):
        for seat in range(seats):
            room.nets[seat] = 0 if _blackjack(room.cards[seat, 0], room.cards[seat, 1]) else -10
        return up, hole
    live_bets, natural, gave_up = 0, False, False
    for seat in range(seats):
        first, second = room.cards[seat, 0], room.cards[seat, 1]
        room.waiting[seat, 1] = 0
        if _blackjack(first, second):
            natural = True
            room.nets[seat] = house.blackjack
            continue
        _renew(deck, course)
        net, count, bets = _hands(deck, (first, second), house, letters[min(up, TEN)], room.standing[seat])
        room.nets[seat] = net
        room.waiting[seat, 0] = count
        room.waiting[seat, 1] = bets
        live_bets += bets
        gave_up = gave_up or bool(house.surrender_waits and count == 0)
    if hole == NO_CARD and (live_bets or up == ACE or ((natural or gave_up) and up >= TEN)):
        hole = _card(deck)
    beaten, total = hole != NO_CARD and _blackjack(up, hole), 0
    if live_bets and not beaten:
        _renew(deck, course)
        total = _dealer(deck, up, hole, house.hits_soft_17)
    for seat in range(seats):
        if room.waiting[seat, 1] and beaten:
            room.nets[seat] += _beaten(house, room.standing[seat], room.waiting[seat, 0])
        elif room.waiting[seat, 1]:
            room.nets[seat] += _compare(total, room.standing[seat], room.waiting[seat, 0])
        elif beaten and _blackjack(room.cards[seat, 0], room.cards[seat, 1]):
            room.nets[seat] = 0
        elif beaten and house.surrender_waits and room.waiting[seat, 0] == 0:
            room.nets[seat] = -10
    if course.short[0] and course.renewed[0] - deck.left[0] > course.short[0]:
        course.refills[0] += 1
    return up, hole


@inlined
def _hands(
    deck: Deck, pair: tuple[int, int], house: SimulationOptions, letters: Counts, standing: Counts
) -> tuple[int, int, int]:
    """Play a seat's hands to their ends.

    Returns the amount lost by then in tenths of the bet, the number of hands in `standing`, and the number of bets that
    await the dealer. Repeats part of `_play`, which would be a fifth slower with a shared function.
    """
    first, second = pair
    net, hands, waiting, count, live_bets = 0, 1, 0, 0, 0
    while True:
        code = _hand_letter(letters, first, second, house)
        if code == SPLIT and hands < (house.ace_hands if first == ACE and hands > 1 else house.hands):
            hands += 1
            waiting += 1
            second = _card(deck)
            continue
        if code == SPLIT:
            code = _letter(letters, _points(first) + _points(second), first == ACE)
        if hands == 1 and SURRENDERING >> code & 1:
            net = -5
            break
        if hands > 1 and first == ACE and not house.hit_aces:
            code = STAND
        may_double = hands == 1 or house.after_split == 1
        points, bets = _finish(deck, (first, second), (code, may_double), house, letters)
        if points > 21:
            net -= 10 * bets
            bets = 0
        standing[count, 0] = points
        standing[count, 1] = bets
        live_bets += bets
        count += 1
        if waiting == 0:
            break
        waiting -= 1
        second = _card(deck)
    return net, count, live_bets


@inlined
def _renew(deck: Deck, course: DealtShoe) -> None:
    """Bring the discards back before a hand that the cards might not last for. So late the cut card is out: the round
    is the shoe's last, and the rounds that are measured hang on nothing in it but how many cards it took."""
    if deck.left[0] < ENOUGH and not course.short[0]:
        _bring_back(deck, course)


@jit
def _bring_back(deck: Deck, course: DealtShoe) -> None:
    """Undealt cards come first, then those of this round, then the discards, which are exchanged with them."""
    cards_left, began = deck.left[0], course.began[0]
    in_play, discards = deck.cards[cards_left:began].copy(), deck.cards[began:].copy()
    deck.cards[cards_left : cards_left + len(discards)] = discards
    deck.cards[cards_left + len(discards) :] = in_play
    deck.left[0] = cards_left + len(discards)
    course.short[0] = cards_left
    course.renewed[0] = deck.left[0]


@jit
def _deal_seats(deck: Deck, room: Seats, table: tuple[SimulationOptions, Counts], nets: Counts) -> None:
    course = DealtShoe(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    for number in range(len(nets)):
        deck.left[0] = len(deck.cards)
        _round(deck, course, table, room)
        nets[number] = room.nets


@jit
def _walk(deck: Deck, room: Seats, table: tuple[SimulationOptions, Counts], last: int, before: Counts) -> None:
    course = DealtShoe(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    for number in range(len(before)):
        if deck.left[0] <= last or course.short[0]:
            deck.left[0] = len(deck.cards)
        for card in deck.cards[: deck.left[0]]:
            before[number, min(int(card), TEN)] += 1
        before[number, _VALUES] = course.refills[0]
        _round(deck, course, table, room)
        before[number, _VALUES + 1] = room.nets[0]


@inlined
def _suited(deck: Deck, copies: Bytes, rank: int, used: Counts, count: int) -> int:
    """An unused copy of a rank, as a card; `used` has the ranks and copies of the first `count` cards."""
    while True:
        copy = np.int64(draw(copies, len(copies), deck.dice))
        free = True
        for place in range(count):
            if used[place, 0] == rank and used[place, 1] == copy:
                free = False
        if free:
            used[count, 0] = rank
            used[count, 1] = copy
            return int(rank + 13 * (copy % 4))


@jit
def _covary(
    deck: Deck, room: Seats, table: tuple[SimulationOptions, Counts], dealt: tuple[int, Sides], sums: Sums
) -> None:
    rounds, sides = dealt
    course = DealtShoe(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    nets, used = np.zeros((2, _KINDS)), np.zeros((5, 2), np.int64)
    for _ in range(rounds):
        deck.left[0] = len(deck.cards)
        up, hole = _round(deck, course, table, room)
        upcard = _suited(deck, sides.copies, up, used, 0)
        for seat in range(2):
            first = _suited(deck, sides.copies, room.cards[seat, 0], used, 1 + 2 * seat)
            second = _suited(deck, sides.copies, room.cards[seat, 1], used, 2 + 2 * seat)
            nets[seat, 0] = room.nets[seat] / 10
            nets[seat, 1] = sides.pair_pays[sides.pair_lines[52 * first + second]]
            nets[seat, 2] = sides.three_pays[sides.three_lines[2704 * first + 52 * second + upcard]]
            nets[seat, 3] = _INSURED if hole >= TEN else _NOT_INSURED
        for part in range(1 + int(up == ACE)):
            sums.rounds[part] += 1
            _add(part, nets, sums)


_NOT_INSURED, _INSURED = (float(won(pays_of(Rules())["insurance"], line)) for line in INSURANCE_LINES)


@inlined
def _add(part: int, nets: Floats, sums: Sums) -> None:
    for wager in range(_KINDS):
        sums.nets[part, wager] += nets[0, wager] + nets[1, wager]
        for column in range(_KINDS):
            first, second = nets[0, wager] * nets[0, column], nets[1, wager] * nets[1, column]
            sums.own[part, wager, column] += first + second
            sums.own_squares[part, wager, column] += first * first + second * second
            first, second = nets[0, wager] * nets[1, column], nets[1, wager] * nets[0, column]
            sums.cross[part, wager, column] += first + second
            sums.cross_squares[part, wager, column] += first * first + second * second
