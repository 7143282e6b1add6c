"""Simulation of games of standard cards, compiled: rounds of a fresh shoe each, counted by their ends.

Payouts do not matter here. Ends are counted as the exact values count their ways, and the wagers are read from them
in the same way. Cards burned unseen are never picked: unseen cards are exchangeable.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tables.games.cards import Composition
from tables.maths.compiled import jit
from tables.maths.random_cards import Bytes, Words, dice_of, draw
from tables.maths.worth import Tally

Counts = NDArray[np.int64]
Hands = NDArray[np.uint16]

_DECK: Final = 52


def pile(composition: Composition) -> Bytes:
    """The cards one by one, each as its place in the composition."""
    return np.repeat(np.arange(len(composition), dtype=np.uint8), composition)


def added(tallies: list[Tally]) -> Tally:
    """Several runs of the same game in one tally."""
    return {
        part: {end: sum(tally[part][end] for tally in tallies) for end in ends} for part, ends in tallies[0].items()
    }


@jit
def _card(cards: Bytes, unseen: int, dice: Words) -> np.int64:
    """One of the first ``unseen`` cards, as a number with a sign: compiled code takes others for fractions."""
    return np.int64(draw(cards, unseen, dice))


# --- Baccarat --------------------------------------------------------------------------------------------------------


def baccarat(composition: Composition, draws: Bytes, rounds: int, seed: int) -> Counts:
    """Rounds by their ends: tie, player, a player's three-card 8, banker, a banker's 6, a banker's three-card 7; then
    pairs of the player's and of the banker's first two cards; then rounds by the player's lead, from -9 to 9 without a
    natural; with one by who wins: banker, neither, player.

    ``draws`` says where the banker draws: eleven places for each total, for the player's third card and for none.
    """
    counts = np.zeros(30, np.int64)
    _baccarat(np.uint64(seed), rounds, pile_by_value(composition), draws, counts)
    return counts


def pile_by_value(composition: Composition) -> Bytes:
    """The cards one by one, each as its value times 16 and its rank."""
    values = np.array([0 if rank >= 9 else rank + 1 for rank in range(13)], np.uint8)
    ranks = pile(composition)
    return ((values[ranks] << 4) | ranks).astype(np.uint8)


@jit
def _baccarat(seed: np.uint64, rounds: int, cards: Bytes, draws: Bytes, counts: Counts) -> None:
    dice, size = dice_of(seed), len(cards)
    for _ in range(rounds):
        player_1, banker_1 = _card(cards, size, dice), _card(cards, size - 1, dice)
        player_2, banker_2 = _card(cards, size - 2, dice), _card(cards, size - 3, dice)
        counts[6] += (player_1 & 15) == (player_2 & 15)
        counts[7] += (banker_1 & 15) == (banker_2 & 15)
        player, banker = (player_1 >> 4) + (player_2 >> 4), (banker_1 >> 4) + (banker_2 >> 4)
        player, banker = player - 10 * (player > 9), banker - 10 * (banker > 9)
        player_drew, banker_drew = False, False
        natural = player > 7 or banker > 7
        if not natural:
            cards_left, third = size - 4, np.int64(10)
            if player <= 5:
                third = _card(cards, cards_left, dice) >> 4
                cards_left -= 1
                player += third
                player -= 10 * (player > 9)
                player_drew = True
            if draws[11 * banker + third]:
                banker += _card(cards, cards_left, dice) >> 4
                banker -= 10 * (banker > 9)
                banker_drew = True
        if player > banker:
            counts[2 if player_drew and player == 8 else 1] += 1
        elif player < banker:
            counts[4 if banker == 6 else 5 if banker_drew and banker == 7 else 3] += 1
        else:
            counts[0] += 1
        counts[28 + int(player > banker) - int(player < banker) if natural else 17 + player - banker] += 1


# --- The higher card -------------------------------------------------------------------------------------------------


def dragon_tiger(composition: Composition, rounds: int, seed: int) -> Counts:
    """Rounds by their ends: dragon, tiger, tie; then those with the same card twice, which are ties too."""
    counts = np.zeros(4, np.int64)
    _dragon_tiger(np.uint64(seed), rounds, pile(composition), counts)
    return counts


@jit
def _dragon_tiger(seed: np.uint64, rounds: int, cards: Bytes, counts: Counts) -> None:
    dice, size = dice_of(seed), len(cards)
    for _ in range(rounds):
        dragon, tiger = _card(cards, size, dice), _card(cards, size - 1, dice)
        counts[3] += dragon == tiger
        dragon, tiger = dragon % 13, tiger % 13
        counts[int(dragon < tiger) + 2 * int(dragon == tiger)] += 1


def casino_war(composition: Composition, rounds: int, seed: int) -> Counts:
    """Rounds by their ends: won, lost, a war won, a war lost, a second tie."""
    counts = np.zeros(5, np.int64)
    aces_high = (*composition[1:], composition[0])
    _casino_war(np.uint64(seed), rounds, pile(aces_high), counts)
    return counts


@jit
def _casino_war(seed: np.uint64, rounds: int, cards: Bytes, counts: Counts) -> None:
    dice, size = dice_of(seed), len(cards)
    for _ in range(rounds):
        seat, dealer = _card(cards, size, dice), _card(cards, size - 1, dice)
        if seat != dealer:
            counts[int(seat < dealer)] += 1
            continue
        seat, dealer = _card(cards, size - 2, dice), _card(cards, size - 3, dice)
        counts[2 + int(seat < dealer) + 2 * int(seat == dealer)] += 1


# --- Three Card Poker ------------------------------------------------------------------------------------------------

KINDS: Final = 6
PLAYS: Final = 13
"""The bit of a hand's word that says whether a seat plays it; below are three for its kind and ten for its strength."""


def three_card_poker(composition: Composition, hands: Hands, qualifies: int, rounds: int, seed: int) -> Counts:
    """Rounds by what comes of an ante: four ends for each kind of hand (no dealer, won, a push, lost), then folds; then
    the seat's hands by kind. ``hands`` has a word for each three cards in any order.
    """
    counts = np.zeros(5 * KINDS + 1, np.int64)
    _three_card_poker(np.uint64(seed), rounds, pile(composition), hands, qualifies, counts)
    return counts


@jit
def _three_card_poker(seed: np.uint64, rounds: int, cards: Bytes, hands: Hands, qualifies: int, counts: Counts) -> None:
    dice, size = dice_of(seed), len(cards)
    for _ in range(rounds):
        place = _card(cards, size, dice)
        place = place * _DECK + _card(cards, size - 1, dice)
        place = place * _DECK + _card(cards, size - 2, dice)
        seat = int(hands[place])
        kind = seat >> 10 & 7
        counts[4 * KINDS + 1 + kind] += 1
        if not seat >> PLAYS:
            counts[4 * KINDS] += 1
            continue
        place = _card(cards, size - 3, dice)
        place = place * _DECK + _card(cards, size - 4, dice)
        place = place * _DECK + _card(cards, size - 5, dice)
        mine, theirs = seat & 1023, int(hands[place]) & 1023
        end = 0 if theirs < qualifies else 1 if mine > theirs else 2 if mine == theirs else 3
        counts[4 * kind + end] += 1
