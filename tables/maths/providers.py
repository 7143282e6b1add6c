"""Who knows what a game's wagers are worth: the only list of games in the mathematics.

A provider is a module with the function ``sheet``. It is imported when it is asked, so nobody pays for NumPy who does
not ask. The options of a game are the ``Rules`` of the module of ``tables.games`` that has its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, Protocol, cast, runtime_checkable

from tables.games.cards import Composition
from tables.maths.covariances import Covariances
from tables.maths.worth import Sheet, Tally, Valued, Worth

PROVIDERS: Final = {
    "baccarat": "tables.maths.baccarat",
    "blackjack": "tables.maths.blackjack",
    "casino_war": "tables.maths.casino_war",
    "dragon_tiger": "tables.maths.dragon_tiger",
    "rocket": "tables.maths.rocket",
    "three_card_poker": "tables.maths.three_card_poker",
}


SLOW: Final = frozenset({"blackjack"})
"""What is solved for seconds, and compiled for half a minute on a machine's first use: no page waits for that."""
KEPT: Final[Mapping[str, int]] = {"blackjack": 2, "casino_war": 1, "three_card_poker": 1}
"""Games of which something takes seconds, if only how wagers go together: a worker computes it for the options that
tables have, and it is kept. By the version of the method: whoever changes a number that comes out counts it up."""


class Provider(Protocol):
    """What values a game."""

    def sheet(self, rules: Any, composition: Composition | None = None) -> Sheet:
        """Each wager's worth from a full shoe, or from these cards. Raises Unknowable for what cannot be."""


@runtime_checkable
class Quick(Provider, Protocol):
    """A provider whose sheet takes seconds, with what is told of it at once."""

    def quick(self, rules: Any, composition: Composition | None = None) -> dict[str, Worth]:
        """The worth of the wagers that need no solving. Raises Unknowable."""


@runtime_checkable
class TallyProvider(Provider, Protocol):
    """A provider that also values a tally of dealt rounds."""

    def valued(self, rules: Any, composition: Composition | None, often: Tally, worth: Valued) -> Sheet:
        """The sheet of a tally."""


@runtime_checkable
class Together(Provider, Protocol):
    """A provider that knows how wagers go together, too."""

    def covariances(self, rules: Any) -> Covariances:
        """Of each two wagers, of one seat and of two seats, from a full shoe."""


def provider(game: str) -> Provider | None:
    """The game's provider; None where nobody values the game."""
    name = PROVIDERS.get(game)
    if name is None:
        return None
    try:
        return cast(Provider, import_module(name))
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        return None


def valued() -> list[str]:
    """The games that somebody values."""
    return [game for game in PROVIDERS if provider(game)]


def rules_type(game: str) -> type[Any]:
    """The options of a valued game."""
    return cast(type[Any], import_module(f"tables.games.{game}").Rules)


@lru_cache(maxsize=512)
def quick(game: str, rules: Any) -> Mapping[str, Worth]:
    """What the wagers are worth from a full shoe, as far as a page may wait for it. Raises Unknowable. Kept, too."""
    values = provider(game)
    if values is None:
        return {}
    return values.quick(rules) if isinstance(values, Quick) else values.sheet(rules).wagers


@lru_cache(maxsize=128)
def full_shoe(game: str, rules: Any) -> Sheet | None:
    """What the wagers of a game are worth, None where nobody values it.

    Kept, for reports ask it again and again for the few sets of options that a house has.
    """
    values = provider(game)
    return values.sheet(rules) if values else None


@lru_cache(maxsize=128)
def covariances(game: str, rules: Any) -> Covariances | None:
    """How the wagers of a game go together; None where nobody knows."""
    values = provider(game)
    return values.covariances(rules) if isinstance(values, Together) else None
