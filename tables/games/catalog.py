"""The explicit list of games: the only place where a game is registered."""

from __future__ import annotations

from typing import Any, Final

from tables.games.baccarat import Baccarat
from tables.games.blackjack import Blackjack
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
from tables.games.three_card_poker import ThreeCardPoker
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
