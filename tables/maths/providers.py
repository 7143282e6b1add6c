"""Providers of the worth of each game's wagers: the only list of games in the mathematics.

A provider is a module with the function `sheet`. It is imported on first use, so that other processes do not load
NumPy. The options of a game are the `Rules` of the module of `tables.games` that has its name.
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
"""Games that take seconds to solve, and half a minute to compile on a machine's first use: no page waits for them."""
KEPT: Final[Mapping[str, int]] = {"blackjack": 2, "casino_war": 1, "three_card_poker": 1}
"""Games with results that take seconds, if only covariances: a worker computes them for the options in use and stores
them.

The value is the version of the method; a change of any resulting number increases it.
"""


class Provider(Protocol):
    """A module that values a game."""

    def sheet(self, rules: Any, composition: Composition | None = None) -> Sheet:
        """Worth of each wager from a full shoe, or from these cards. Raises Unknowable for an impossible
        composition."""


@runtime_checkable
class Quick(Provider, Protocol):
    """A provider whose sheet takes seconds, but which can value some wagers at once."""

    def quick(self, rules: Any, composition: Composition | None = None) -> dict[str, Worth]:
        """Worth of the wagers that need no solving. Raises Unknowable."""


@runtime_checkable
class TallyProvider(Provider, Protocol):
    """A provider that also values a tally of dealt rounds."""

    def valued(self, rules: Any, composition: Composition | None, often: Tally, worth: Valued) -> Sheet:
        """The sheet of a tally."""


@runtime_checkable
class Together(Provider, Protocol):
    """A provider that also computes covariances of wagers."""

    def covariances(self, rules: Any) -> Covariances:
        """Covariances of each two wagers, of one seat and of two seats, from a full shoe."""


def provider(game: str) -> Provider | None:
    """The game's provider; None if it has no valuation."""
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
    """The games that have a valuation."""
    return [game for game in PROVIDERS if provider(game)]


def rules_type(game: str) -> type[Any]:
    """The options of a valued game."""
    return cast(type[Any], import_module(f"tables.games.{game}").Rules)


@lru_cache(maxsize=512)
def quick(game: str, rules: Any) -> Mapping[str, Worth]:
    """Worth of the wagers from a full shoe that can be computed while a page waits. Cached. Raises Unknowable."""
    values = provider(game)
    if values is None:
        return {}
    return values.quick(rules) if isinstance(values, Quick) else values.sheet(rules).wagers


@lru_cache(maxsize=128)
def full_shoe(game: str, rules: Any) -> Sheet | None:
    """Worth of the wagers of a game at a full shoe; None if it has no valuation.

    Cached, since reports request it repeatedly for few sets of options.
    """
    values = provider(game)
    return values.sheet(rules) if values else None


@lru_cache(maxsize=128)
def covariances(game: str, rules: Any) -> Covariances | None:
    """Covariances of the wagers of a game; None if they are not known."""
    values = provider(game)
    return values.covariances(rules) if isinstance(values, Together) else None
