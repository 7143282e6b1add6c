"""The two kinds of game: which kind a game is, and what only that kind is asked."""

from typing import Any

import pytest

from tables.games.catalog import DEALT
from tables.games.game import BankedGame, Game, PotGame
from tables.games.protocol import AskBet
from tables.games.script import Scripted
from tests.games.test_every_game import play_outs

every_game = pytest.mark.parametrize("game", DEALT.values(), ids=DEALT)
OF_ALL = set(Game.__annotations__)
ONLY_BANKED = {name for name in vars(BankedGame) if not name.startswith("_")} - OF_ALL
ONLY_POT = {name for name in vars(PotGame) if not name.startswith("_")} - OF_ALL


@every_game
def test_a_game_is_of_one_kind_and_has_nothing_of_the_other(game: Game[Any, Any]) -> None:
    """Harm: a member that means nothing for a kind answers all the same, and a table takes its nothing for a number."""
    assert isinstance(game, BankedGame) != isinstance(game, PotGame)
    mine, foreign = (ONLY_BANKED, ONLY_POT) if isinstance(game, BankedGame) else (ONLY_POT, ONLY_BANKED)
    assert all(hasattr(game, name) for name in mine)
    assert not [name for name in foreign if hasattr(game, name)]
    assert (game.kind == "banked") is isinstance(game, BankedGame)


@every_game
def test_only_banked_games_ask_for_bets(game: Game[Any, Any]) -> None:
    """Harm: a bet against the house is taken in a game that never pays it."""
    for round_ in play_outs(game.name, 3)[:3]:
        ask = game.prompts(game.open(round_.rules, round_.opening))[0]
        assert isinstance(ask, AskBet) == (game.kind == "banked")


def test_a_game_that_leaves_something_out_is_no_game() -> None:
    """Harm: a game without an answer that a table needs is found out in mid-round."""
    with pytest.raises(TypeError, match="abstract"):
        type("Untold", (Scripted,), {})()
    with pytest.raises(TypeError, match="at_cut"):
        type("Endless", (BankedGame,), {})()
