"""What a game is worth to the house: exact numbers, and nothing that a process pays for before it asks."""

from __future__ import annotations

from typing import Any

from tables.games.game import Game
from tables.maths import providers


def house_edge(game: Game[Any, Any], rules: Any, wager: str | None = None) -> tuple[float, float] | None:
    """What the house wins of a bet on average, and the standard deviation of one bet, both as parts of the bet.

    Of a full shoe, against the best play that sees its own cards and the dealer's. ``None`` where no exact value is
    known, where it takes seconds to find (``par`` takes them), and where a game has several wagers and none is named:
    they have no edge in common. The first call for some
    options takes some milliseconds, and imports what it computes with.
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
