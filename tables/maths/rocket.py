"""Rocket among the other games: its one bet, of which ``par`` tells far more."""

from __future__ import annotations

from functools import cache

import msgspec

from tables.games.cards import PAIRS, Composition
from tables.games.rocket import Rules
from tables.maths.situation import Situation, fresh
from tables.maths.value import Solution, solve
from tables.maths.worth import Sheet, Worth


def sheet(rules: Rules, composition: Composition | None = None) -> Sheet:
    """What a bet is worth to the best play that sees its own cards and the dealer's. Raises Unknowable."""
    solution = _full(rules.decks) if composition is None else solve(Situation(rules.decks, composition, rules.burn))
    hits = sum(chance for tenths, chance in solution.distribution.items() if tenths > 0)
    bet = Worth(solution.house_edge, solution.standard_deviation, hits)
    counts = {str(PAIRS.spell(rank)): held for rank, held in enumerate(solution.situation.unseen, 1)}
    return Sheet("rocket", msgspec.to_builtins(rules), {"bet": bet}, counts)


@cache
def _full(decks: int) -> Solution:
    return solve(fresh(decks))
