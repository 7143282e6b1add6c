"""The providers of values that need more than full shoes: each round of a shoe, and the middle of a round.

Like ``tables/maths/providers.py``, a provider is a module, imported on demand. Nothing of ``tables/maths`` outside this
package depends on them, so a site without them loses the shoe audit and the worth of rulings, and no edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, Protocol, cast

from tables.games.cards import Composition
from tables.maths.worth import Edge


class RoundProvider(Protocol):
    """A module that values every round of a shoe after the fact."""

    def edges(self, rules: Any, unseen: Composition) -> Mapping[str, Edge]:
        """The edge of each wager that is placed before the cards, by the unseen cards. Raises Unknowable for what
        cannot be."""


class MidroundProvider(Protocol):
    """A module that values the middle of a round, in the time that a page has."""

    ASSUMES: str
    """Its assumptions, as a sentence; empty where every seat makes its best choices."""

    def midround(self, state: Any) -> Mapping[int, float]:
        """The expected result of each seat with a bet, in cents, by the cards that everybody has seen. Raises
        Unknowable for a round that cannot be, or that cannot be valued."""


ROUND_PROVIDERS: Final[Mapping[str, str]] = {
    "baccarat": "tables.maths.baccarat",
    "blackjack": "tables.maths.advantage.blackjack_before",
    "casino_war": "tables.maths.casino_war",
    "dragon_tiger": "tables.maths.dragon_tiger",
    "rocket": "tables.maths.rocket",
}
"""By game, the module with ``edges``."""
MIDROUND_PROVIDERS: Final[Mapping[str, str]] = {
    "baccarat": "tables.maths.baccarat",
    "blackjack": "tables.maths.advantage.blackjack_midround",
    "casino_war": "tables.maths.casino_war",
    "dragon_tiger": "tables.maths.dragon_tiger",
    "rocket": "tables.maths.advantage.rocket_midround",
    "three_card_poker": "tables.maths.three_card_poker",
}
"""By game, the module with ``midround``."""


def round_provider(game: str) -> RoundProvider | None:
    """The module that values every round of a shoe of the game; None if none does."""
    name = ROUND_PROVIDERS.get(game)
    return cast(RoundProvider, import_module(name)) if name else None


def is_linear(game: str) -> bool:
    """Whether the edges of a game are a linear function of the shares of the unseen cards (``LINEAR`` of its module,
    measured in docs/shoe-audit.md)."""
    return bool(getattr(round_provider(game), "LINEAR", False))


def midround_provider(game: str) -> MidroundProvider | None:
    """The module that values the middle of a round of the game; None if none does."""
    name = MIDROUND_PROVIDERS.get(game)
    return cast(MidroundProvider, import_module(name)) if name else None
