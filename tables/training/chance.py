"""Chance for practice: the same seed draws the same for ever."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from tables.games.cards import WHOLE
from tables.games.protocol import AskCard

Item = TypeVar("Item")


def seeded(seed: str) -> Random:
    """The random generator of a course."""
    return Random(seed)  # noqa: S311 -- reproducible on purpose; nothing is won by foreseeing it


def below(chance: Random, most: int) -> int:
    """A whole number from 0 to below ``most``. Of Random, only ``random()`` is promised to stay the same for ever."""
    return int(chance.random() * most)


def one_of(chance: Random, items: Sequence[Item]) -> Item:
    """One of some things, each as likely."""
    return items[below(chance, len(items))]


def shuffled(chance: Random, items: Sequence[Item]) -> list[Item]:
    """The things in another order."""
    order = [*items]
    for place in range(len(order) - 1, 0, -1):
        swap = below(chance, place + 1)
        order[place], order[swap] = order[swap], order[place]
    return order


def some_of(chance: Random, items: Sequence[Item], count: int) -> list[Item]:
    """This number of the items, at random, in their original order."""
    drawn = set(shuffled(chance, range(len(items)))[:count])
    return [item for place, item in enumerate(items) if place in drawn]


def weighted(chance: Random, items: Sequence[Item], weights: Sequence[float]) -> Item:
    """One of some things, as often as its weight says."""
    point = chance.random() * sum(weights)
    for item, weight in zip(items, weights, strict=True):
        point -= weight
        if point < 0:
            return item
    return items[-1]


def next_card(chance: Random, prompt: AskCard, barred: tuple[int, ...] = ()) -> int:
    """A random unseen card, weighted by the number of copies left; never one of `barred`."""
    whole = WHOLE[len(prompt.gone)][prompt.decks]
    unseen = [copies - out for copies, out in zip(whole, prompt.gone, strict=True)]
    for card in barred:
        unseen[card - 1] = 0
    place = below(chance, sum(unseen))
    for card, count in enumerate(unseen, 1):
        place -= count
        if place < 0:
            return card
    raise AssertionError("a card is left")
