"""A wager's edge as a short polynomial of the cards that are unseen: quick enough for thousands of orders of a shoe.

Where an edge hangs on how even the ranks are (a pair, a tie), a card moves it by nothing in the first order. So the
polynomial has the share of each rank and its square, how alike cards and suits are, and one term for the size of the
shoe. It is fitted to the provider's edges of compositions that are drawn once for all, by least squares; what it leaves
out costs the test of ``following`` a little power, and never its level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tables.games.cards import Composition, Pack
from tables.maths.advantage.providers import round_provider
from tables.maths.situation import Unknowable

Floats = NDArray[np.float64]

SAMPLES: Final = 240
"""Number of compositions that the function is fitted to."""
_FEWEST: Final = 20
_SEED: Final = 1
_SUITS, _RANKS = 4, 13


@dataclass(frozen=True, eq=False)
class Yardstick:
    """The coefficients of a wager, in the order of ``terms``."""

    coefficients: Floats

    def edges(self, unseen: Floats) -> Floats:
        """The house edge by cards of each kind, along the last axis of an array of compositions."""
        return np.asarray(terms(unseen) @ self.coefficients)


def terms(unseen: Floats) -> Floats:
    """The terms of the polynomial: a row for each composition."""
    size = unseen.sum(axis=-1, keepdims=True)
    has_suits = unseen.shape[-1] == _SUITS * _RANKS
    grid = unseen.reshape((*unseen.shape[:-1], -1, _RANKS)) if has_suits else unseen[..., None, :]
    shares = grid.sum(axis=-2) / size
    parts = [shares, shares**2, 1 / size]
    if has_suits:
        parts += [(unseen**2).sum(axis=-1, keepdims=True) / size**2]
        parts += [(grid.sum(axis=-1) ** 2).sum(axis=-1, keepdims=True) / size**2]
    return np.concatenate(parts, axis=-1)


@lru_cache(maxsize=64)
def yardsticks(game: str, rules: Any, pack: Pack, decks: int) -> Mapping[str, Yardstick]:
    """The yardsticks of an audited game's wagers under some options. Raises Unknowable."""
    values = round_provider(game)
    if values is None:
        raise Unknowable(f"nobody values the rounds of {game}")
    samples: list[Composition] = []
    edges: list[Mapping[str, Any]] = []
    for composition in _compositions(pack, decks):
        try:
            edges.append(values.edges(rules, composition))
        except Unknowable:
            continue
        samples.append(composition)
    rows = terms(np.array(samples, np.float64))
    return {
        wager: Yardstick(np.linalg.lstsq(rows, np.array([edge[wager].house for edge in edges]), rcond=None)[0])
        for wager in edges[0]
    }


def _compositions(pack: Pack, decks: int) -> list[Composition]:
    """Random compositions left of a shuffled shoe, at any depth."""
    chance, cards = np.random.default_rng(_SEED), np.array(pack.cards(pack.shoes[decks]))
    lefts = chance.integers(_FEWEST, len(cards), size=SAMPLES, endpoint=True)
    return [pack.count(chance.permutation(cards)[:size].tolist()) for size in lefts]
