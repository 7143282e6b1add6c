"""Worth of games to the casino, as exact numbers. Importing this package loads none of the heavy modules."""

from __future__ import annotations

from typing import Any

from tables.games.game import Game
from tables.maths import providers


def house_edge(game: Game[Any, Any], rules: Any, wager: str | None = None) -> tuple[float, float] | None:
    """Mean win of the casino on a bet, and the standard deviation of one bet, both as fractions of the bet.

    For a full shoe, against the best play that sees its own cards and the dealer's. None if no exact value is known, if
    it takes seconds to compute (`par` does), or if a game has several wagers and none is named: they have no common
    edge. The first call for some options takes some milliseconds, and imports the modules that it needs.
    """
    if game.name in providers.SLOW:
        return None
    sheet = providers.full_shoe(game.name, rules)
    if sheet is None:
        return None
    if wager is None:
        wager = next(iter(sheet.wagers)) if len(sheet.wagers) == 1 else ""
    worth = sheet.wagers.get(wager)
    return (worth.house_edge, worth.standard_deviation) if worth else None
