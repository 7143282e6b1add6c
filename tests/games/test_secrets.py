"""Nobody can tell what is hidden from them, in any game; and this search finds it when one can."""

import random
from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec
import pytest
from msgspec import structs

from tables.games.catalog import GAMES
from tables.games.game import Game, Script
from tables.games.layout import Layout, cards_to
from tables.games.play import play, prompts_for
from tables.games.protocol import DEALER, AskCard, AskChoice, Choice, Choose, Illegal, Opening, Struct, because
from tables.games.script import Scripted
from tests.games.test_every_game import PlayOut, play_outs
from tests.games.worlds import leaks_of_cards, leaks_of_choices, leaks_of_hands
from tests.pace import by_pace

pytestmark = pytest.mark.slow("plays many rounds by chance")

HIDING = [name for name, game in GAMES.items() if "hand" in game.parts]
hiding_game = pytest.mark.parametrize("name", HIDING)
ROUNDS, OF_ALL = by_pace(6, 30, 30), by_pace(10, 40, 40)
"""Random rounds, and how many together with golden ones."""


def leaks(game: Game[Any, Any], round_: PlayOut) -> Iterator[str]:
    """Everything that somebody can tell in a round, and must not."""
    seats, chance = round_.opening.seats, random.Random(1)
    together = [state for state in round_.states if len(game.prompts(state)) > 1]
    for state in chance.sample(together, min(4, len(together))):
        yield from leaks_of_choices(game, state, seats)
    for state in round_.states[:: max(1, len(round_.states) // 8)]:
        yield from leaks_of_hands(game, state)
    yield from leaks_of_cards(game, round_.rules, round_.opening, round_.actions, chance)


@hiding_game
def test_no_screen_reveals_hidden_cards_or_choices(name: str) -> None:
    """Harm: a player, the dealer or an onlooker learns a hand, a facedown card or a secret choice from a screen or its
    source."""
    for round_ in play_outs(name, ROUNDS)[-OF_ALL:]:
        assert not list(leaks(GAMES[name], round_))


@hiding_game
def test_what_leaves_the_house_holds_only_what_may(name: str) -> None:
    """Harm: another seat's hand or choices, or the count of the cards that are left, are in a page's source."""
    game = GAMES[name]
    for round_ in play_outs(name, ROUNDS)[-OF_ALL:]:
        for state in [*round_.states, round_.state]:
            hands = {player.seat: player.hand for player in state.players}
            faceup = sorted([*state.middle, *(c for player in state.players for c in (*player.stack, *player.kept))])
            for viewer in (None, DEALER, *round_.opening.seats):
                view = msgspec.to_builtins(game.view(state, viewer))
                own = hands.get(viewer, ()) if viewer is not None else ()
                assert sorted(_cards_in(view)) == sorted([*faceup, *own])
                for ask in prompts_for(game, state, viewer):
                    assert not isinstance(ask, AskCard) or not any(ask.gone)
                    if isinstance(ask, AskChoice) and ask.seat != viewer and hands[ask.seat]:
                        assert ask == AskChoice(ask.seat, ())


@hiding_game
def test_a_refusal_out_of_turn_tells_nothing_of_a_hand(name: str) -> None:
    """Harm: a player who presses a button out of turn is told what the hand of another one allows."""
    game = GAMES[name]
    for round_ in play_outs(name, ROUNDS)[-10:]:
        for state in round_.states:
            asks = [ask for ask in game.prompts(state) if isinstance(ask, AskChoice)]
            if asks and any(player.hand for player in state.players if player.seat == asks[0].seat):
                with pytest.raises(Illegal) as refusal:
                    play(game, state, Choose(0, "peek"))
                words = refusal.value.sentence.replace(",", " ").split()
                assert not {choice.name for ask in asks for choice in ask.choices} & {*words}


def _cards_in(view: dict[str, Any]) -> Iterator[int]:
    yield from (*view["middle"], *view["dealer"])
    for seat in view["seats"]:
        yield from (*seat["stack"], *seat["hand"], *seat["kept"])


# --- the search itself ----------------------------------------------------------------------------------------


class NoRules(Struct, frozen=True):
    """No options."""


class Tight(Scripted[NoRules]):
    """Two cards down each; everyone shows one of them, together. It leaks nothing."""

    name: ClassVar[str] = "tight"
    title: ClassVar[str] = "Tight"
    seat_counts: ClassVar[range] = range(2, 4)
    rules_type = NoRules

    def script(self, rules: NoRules, layout: Layout) -> Script[None]:
        yield from layout.deal(2, down=True)
        self.tells(layout)
        yield from layout.show_together("show")
        for player in layout.players:
            player.ends("win" if player.stack[0] > 5 else "lose", because("shown"))

    def tells(self, layout: Layout) -> None:
        """What is done with the hands before anything may be told of them."""


class Scores(Tight):
    """It counts points before the hands are shown."""

    def tells(self, layout: Layout) -> None:
        for player in layout.players:
            player.score, player.outcome, player.why = sum(player.hand), "counted", (because("too_early"),)


class Sums(Tight):
    """A game whose view leaks the sum of all hands."""

    def view(self, state: Any, viewer: int | None) -> Any:
        hand_sum = sum(rank for player in state.players for rank in player.hand)
        return structs.replace(super().view(state, viewer), pot=hand_sum)


class Asks(Tight):
    """It offers what another one holds, to a seat that holds nothing itself."""

    def script(self, rules: NoRules, layout: Layout) -> Script[None]:
        asker, holder = layout.players[:2]
        yield from layout.deal(2, down=True, to=layout.players[1:])
        choice = yield from layout.choose(asker, [*cards_to("guess", holder.hand), Choice("stop")])
        for player in layout.players:
            player.ends("win" if choice.name == "stop" else "lose", "asked")


class Shows(Tight):
    """It lays each chosen card down before all have chosen."""

    def script(self, rules: NoRules, layout: Layout) -> Script[None]:
        yield from layout.deal(2, down=True)
        open_ = {player.seat: cards_to("show", player.hand) for player in layout.players}
        while open_:
            action = yield tuple(AskChoice(seat, ways, True) for seat, ways in open_.items())
            assert isinstance(action, Choose)
            layout.show(layout.player(action.seat), action.card or 0)
            layout.player(action.seat).stack.append(action.card or 0)
            del open_[action.seat]
        for player in layout.players:
            player.ends("win", "shown")


@pytest.mark.parametrize("game", [Tight(), Scores(), Sums(), Asks(), Shows()], ids=lambda game: type(game).__name__)
def test_the_search_finds_games_that_leak(game: Tight) -> None:
    """Harm: the search passes because it looks at nothing."""
    leak_list = []
    for seed in range(20):
        round_ = PlayOut(game, NoRules(), Opening((1, 2, 4)), random.Random(seed), boldness=1, kind=False)
        round_.run()
        leak_list += leaks(game, round_)
    assert bool(leak_list) == (type(game) is not Tight)
