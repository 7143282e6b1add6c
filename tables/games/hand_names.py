"""Names of ranks and three-card hands on the floor: "king", "pair of nines", "queen-high"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tables.games.three_cards import FLUSH, HIGH_CARD, NAMES, PAIR, TRIPS

RANK_NAMES: Final = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace",
)  # fmt: skip


def rank_name(rank: int) -> str:
    """A rank of standard cards, with the ace as 1 or as 14."""
    return RANK_NAMES[(rank - 2) % 13]


def plural(rank: int) -> str:
    name = rank_name(rank)
    return f"{name}es" if name == "six" else f"{name}s"


def hand_name(kind: int, ranks: Sequence[int], *, in_full: bool = False) -> str:
    """A hand of three cards by its class and ranks (`three_cards.Value`).

    `in_full` names every rank that may decide, to distinguish hands of one name.
    """
    if kind == PAIR:
        return f"pair of {plural(ranks[0])}" + (f" with {_with_article(ranks[1])}" if in_full else "")
    if kind == TRIPS:
        return f"three {plural(ranks[0])}"
    shows_all = in_full and kind in {HIGH_CARD, FLUSH}
    high = "-".join(map(rank_name, ranks)) if shows_all else rank_name(ranks[0])
    if kind == HIGH_CARD:
        return f"{high} high" if shows_all else f"{high}-high"
    return f"{high} {NAMES[kind]}" if shows_all else f"{high}-high {NAMES[kind]}"


def over(winner: tuple[int, Sequence[int]], loser: tuple[int, Sequence[int]]) -> str:
    """Two hands, the higher one first: "pair of nines over queen-high"."""
    in_full = hand_name(*winner) == hand_name(*loser)
    return f"{hand_name(*winner, in_full=in_full)} over {hand_name(*loser, in_full=in_full)}"


def _with_article(rank: int) -> str:
    name = rank_name(rank)
    return f"an {name}" if name[0] in "ae" else f"a {name}"
