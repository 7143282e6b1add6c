"""The explicit list of games: the only place where a game is registered."""

from __future__ import annotations

from typing import Any, Final

from tables.games.baccarat import Baccarat
from tables.games.blackjack import Blackjack, BlackjackVersion1
from tables.games.blackstone import Blackstone
from tables.games.casino_war import CasinoWar
from tables.games.counted import Counted
from tables.games.dragon_tiger import DragonTiger
from tables.games.five_cards import FiveCards
from tables.games.game import Game
from tables.games.goblin_poker import GoblinPoker
from tables.games.hawthorn import Hawthorn
from tables.games.kitty import Kitty
from tables.games.monster import Monster
from tables.games.pairs import Pairs
from tables.games.port import Port
from tables.games.regent import Regent
from tables.games.rocket import Rocket
from tables.games.starboard import Starboard
from tables.games.sweep import Sweep
from tables.games.three_card_poker import ThreeCardPoker, ThreeCardPokerVersion1
from tables.games.troll_guts import TrollGuts
from tables.games.venture import Venture

DEALT: Final[dict[str, Game[Any, Any]]] = {
    game.name: game
    for game in (
        Baccarat(),
        Blackjack(),
        Blackstone(),
        CasinoWar(),
        DragonTiger(),
        FiveCards(),
        GoblinPoker(),
        Hawthorn(),
        Kitty(),
        Monster(),
        Pairs(),
        Port(),
        Regent(),
        Rocket(),
        Starboard(),
        Sweep(),
        ThreeCardPoker(),
        TrollGuts(),
        Venture(),
    )
}
"""Every game that is dealt here round by round, by the name that tables and round records call it."""
GAMES: Final[dict[str, Game[Any, Any]]] = DEALT | {Counted.name: Counted()}
"""Everything that a table may be set to."""
FORMER: Final[dict[tuple[str, int], Game[Any, Any]]] = {
    (game.name, game.version): game for game in (BlackjackVersion1(), ThreeCardPokerVersion1())
}
"""Rules that are dealt no more, by name and version: stored rounds were dealt by them. None is ever removed."""


def versions_of(name: str) -> list[Game[Any, Any]]:
    """A game under all versions of its rules, the present one first. Raises KeyError for an unknown game."""
    return [GAMES[name], *(game for (former, _), game in FORMER.items() if former == name)]
