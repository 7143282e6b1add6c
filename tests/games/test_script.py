"""States of games that are told as scripts are values: the script beside them changes nothing but the time it takes."""

import copy
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from msgspec import structs

from tables.games.catalog import GAMES
from tables.games.game import Game
from tables.games.play import play
from tables.games.protocol import Action
from tables.games.script import GameState, Scripted
from tests.games.test_every_game import PlayOut, play_outs

pytestmark = pytest.mark.slow("plays many rounds by chance")

TOLD = {name: game for name, game in GAMES.items() if isinstance(game, Scripted)}
told_game = pytest.mark.parametrize("game", TOLD.values(), ids=TOLD)
ROUNDS = 3
BRANCHES = 6
"""At so many places of a round something is tried."""


def places(game: Game[Any, Any]) -> Iterator[tuple[PlayOut, int]]:
    """Some rounds, and where in them to branch off."""
    for round_ in play_outs(game.name, ROUNDS)[-ROUNDS:]:
        for branch in range(0, len(round_.actions), len(round_.actions) // BRANCHES + 1):
            yield round_, branch


def after(round_: PlayOut, branch: int) -> GameState:
    """The state of the round after the action at this index."""
    state: GameState = [*round_.states, round_.state][branch + 1]
    return state


def fresh(round_: PlayOut, branch: int) -> GameState:
    """A state that nothing has been played on from."""
    state: GameState = round_.game.open(round_.rules, round_.opening)
    for action in round_.actions[:branch]:
        state = play(round_.game, state, action)
    return state


@told_game
def test_a_state_may_be_played_on_from_again(game: Game[Any, Any]) -> None:
    """Harm: a wrong key is taken back, or a screen looks ahead, and the game goes on from somewhere else."""
    for round_, branch in places(game):
        state = fresh(round_, branch)
        for _ in range(2):
            assert play(game, state, round_.actions[branch]) == after(round_, branch)
        assert hash(state) == hash(round_.states[branch])


@told_game
def test_a_copy_is_played_on_from_like_the_state_itself(game: Game[Any, Any]) -> None:
    """Harm: a copy takes the script away from the state, and one of the two goes on with the other's cards."""
    for round_, branch in places(game):
        state, action = fresh(round_, branch), round_.actions[branch]
        copies = [copy.copy(state), structs.replace(state), copy.deepcopy(state)]
        assert all(twin == state for twin in copies)
        ends = [game.apply(start, action) for start in (*copies, state, *copies)]
        assert ends == [after(round_, branch)] * len(ends)


@told_game
def test_a_script_lives_no_longer_than_the_state_that_it_stopped_at(game: Game[Any, Any]) -> None:
    """Harm: a process that has been dealing for weeks keeps a script of every game that was left unfinished."""
    for round_, branch in places(game):
        state = fresh(round_, branch)
        telling = state.__dict__["telling"]
        script, layout = (weakref.ref(telling[0]), telling[1].opening)
        del telling
        assert script() is not None
        assert layout == round_.opening
        del state
        assert script() is None


@told_game
def test_two_may_play_on_from_one_state_at_once(game: Game[Any, Any]) -> None:
    """Harm: two requests answer the same prompt in two threads, and one script is sent both answers."""
    together = Barrier(2)

    def answered(state: GameState, action: Action) -> GameState:
        together.wait()
        end: GameState = game.apply(state, action)
        return end

    with ThreadPoolExecutor(2) as pool:
        for round_, branch in places(game):
            state, action = fresh(round_, branch), round_.actions[branch]
            ends = [pool.submit(answered, state, action) for _ in range(2)]
            assert [end.result() for end in ends] == [game.apply(state, action)] * 2
