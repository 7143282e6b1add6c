"""Rocket in the form common to all games: its one bet. `par` has far more about it."""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from tables.games.cards import PAIRS, Composition
from tables.games.protocol import MAIN
from tables.games.rocket import Rules
from tables.maths.covariances import Covariances, Together
from tables.maths.rocket_value import Solution, solve
from tables.maths.situation import Situation, fresh
from tables.maths.worth import Edge, Sheet, Worth

LINEAR: Final = True
"""A card moves the edge as far as the cards left say: measured in docs/shoe-audit.md."""


def sheet(rules: Rules, composition: Composition | None = None) -> Sheet:
    """Worth of a bet to the best play that sees its own cards and the dealer's. Raises Unknowable."""
    solution = _full(rules.decks) if composition is None else solve(Situation(rules.decks, composition, rules.burn))
    hits = sum(chance for tenths, chance in solution.distribution.items() if tenths > 0)
    bet = Worth(solution.house_edge, solution.standard_deviation, hits)
    counts = {str(PAIRS.spell(rank)): copies for rank, copies in enumerate(solution.situation.unseen, 1)}
    return Sheet("rocket", msgspec.to_builtins(rules), {"bet": bet}, counts)


SEATS_TOGETHER: Final = (
    0.14540850743462524, 0.14550751554658223, 0.14551943056468547, 0.14548700286949162, 0.14548940840481348,
    0.14547954234289173, 0.14547644286335518, 0.14547952625234706,
)  # fmt: skip
"""The covariance of two seats with one bet each, by decks: ``seat_covariance.py`` computes it in 10 s."""


def covariances(rules: Rules) -> Covariances:
    """Exactly, of full shoes."""
    return {("bet", "bet"): Together(_full(rules.decks).standard_deviation ** 2, SEATS_TOGETHER[rules.decks - 1])}


def edges(rules: Rules, unseen: Composition) -> dict[str, Edge]:
    """Worth of the bet, from the unseen cards. Raises Unknowable."""
    solution = solve(Situation(rules.decks, unseen, rules.burn))
    return {MAIN: Edge(solution.house_edge, solution.variance)}


@cache
def _full(decks: int) -> Solution:
    return solve(fresh(decks))
