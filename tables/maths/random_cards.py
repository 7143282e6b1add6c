"""Chance, compiled: a generator with a seed, and cards drawn from those that are left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tables.maths.compiled import jit

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


@jit
def _scramble(word: np.uint64) -> np.uint64:
    """One step of splitmix64: seeds that differ by one come out with nothing in common."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@jit
def dice_of(seed: np.uint64) -> Words:
    """The generator's first state, from a seed: two words that are not both 0."""
    dice = np.empty(2, np.uint64)
    dice[0] = _scramble(seed + np.uint64(0x9E3779B97F4A7C15))
    dice[1] = _scramble(seed + np.uint64(0x3C6EF372FE94F82A))
    return dice


@jit
def _next(dice: Words) -> np.uint64:
    """xoroshiro128++ of Blackman and Vigna."""
    first, second = dice[0], dice[1]
    total = first + second
    word: np.uint64 = ((total << np.uint64(17)) | (total >> np.uint64(47))) + first
    second ^= first
    dice[0] = ((first << np.uint64(49)) | (first >> np.uint64(15))) ^ second ^ (second << np.uint64(21))
    dice[1] = (second << np.uint64(28)) | (second >> np.uint64(36))
    return word


@jit
def draw(cards: Bytes, unseen: int, dice: Words) -> int:
    """One of the first ``unseen`` cards, each equally likely (Lemire's method), put behind them."""
    mask, shift, count = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(unseen)
    product = (_next(dice) >> shift) * count
    if (product & mask) < count:
        least = (mask + np.uint64(1) - count) % count
        while (product & mask) < least:
            product = (_next(dice) >> shift) * count
    index = product >> shift
    rank = cards[index]
    cards[index] = cards[unseen - 1]
    cards[unseen - 1] = rank
    return int(rank)
