"""What a game is worth to the house: exact numbers, and nothing that a process pays for before it asks."""

from __future__ import annotations

from functools import cache
from typing import Any

from tables.games.game import Game


def house_edge(game: Game[Any, Any], rules: Any) -> tuple[float, float] | None:
    """What the house wins of a bet on average, and the standard deviation of one bet, both as parts of the bet.

    Of a full shoe, against the best play that sees its own cards and the dealer's. ``None`` where no exact value is
    known. The first call for a number of decks takes some milliseconds, and imports what it computes with.
    """
    return _rocket(rules.decks) if game.name == "rocket" else None


@cache
def _rocket(decks: int) -> tuple[float, float]:
    from tables.maths.situation import fresh
    from tables.maths.value import solve

    solution = solve(fresh(decks))
    return solution.house_edge, solution.standard_deviation
