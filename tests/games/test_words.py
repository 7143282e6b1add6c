"""What a game says of itself as data: the parts of its layout, its choices in words, what may become of a seat.

Screens and pages of the docs are drawn from it, so it must be true in every game of the catalog.
"""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs

from tables.games.catalog import DEALT
from tables.games.game import Game, Part
from tables.games.protocol import DEALER, AskCard, AskChoice, SeatView, View
from tests.games.test_every_game import WHOLE, PlayOut, _possible_start, play_outs

every_game = pytest.mark.parametrize("game", DEALT.values(), ids=DEALT)

_OF_SEATS: dict[Part, str] = {
    "stack": "stack",
    "hand": "hand_size",
    "score": "score",
    "kept": "kept",
    "columns": "columns",
}
_OF_ALL: dict[Part, str] = {"middle": "middle", "pot": "pot", "button": "button"}


ROUNDS = 150
"""So many play-outs of each game are looked at: the golden ones first, which were chosen for what is rare."""


def _rounds(game: Game[Any, Any]) -> list[PlayOut]:
    return play_outs(game.name, WHOLE)[:ROUNDS]


def _states(game: Game[Any, Any]) -> Iterator[Any]:
    for played in _rounds(game):
        yield from played.states
        yield played.state


def _on_physical_cards(game: Game[Any, Any]) -> Iterator[Any]:
    """Where the dealer keys what is turned, some of it lies there longer: bids, until all are named."""
    for seed in range(0 if game.kind == "banked" else 10):
        chance = random.Random(seed)
        rules, opening = _possible_start(game, chance)
        played = PlayOut(game, rules, structs.replace(opening, blind=True), chance, boldness=0.5, kind=False)
        played.run()
        yield from played.states


def _occupied(view: View) -> Iterator[Part]:
    """The parts of the layout on which something lies."""
    yield from (part for part, name in _OF_ALL.items() if getattr(view, name) not in (None, 0, ()))
    if any(hand.cards or hand.facedown for hand in view.hands or ()):
        yield "hands"
    if view.facedown > sum(hand.facedown for hand in view.hands or ()):
        yield "facedown"
    seats: tuple[SeatView, ...] = view.seats
    for part, name in _OF_SEATS.items():
        if any(getattr(seat, name) not in (None, 0, ()) for seat in seats):
            yield part


@every_game
def test_the_parts_of_a_layout_are_all_that_ever_lies_there(game: Game[Any, Any]) -> None:
    """Harm: cards or coins lie on the table that no screen draws; or a screen keeps a place for what never comes."""
    states = [*_states(game), *_on_physical_cards(game)]
    parts = {part for state in states for part in _occupied(game.view(state, DEALER))}
    assert parts == set(game.parts)


@every_game
def test_every_choice_has_its_words_and_every_word_its_choice(game: Game[Any, Any]) -> None:
    """Harm: the dealer's screen or the docs offer a bare name, or explain what the game no longer has."""
    names = {
        choice.name
        for state in _states(game)
        for ask in game.prompts(state)
        if isinstance(ask, AskChoice)
        for choice in ask.choices
    }
    assert names == set(game.words)
    for words in game.words.values():
        assert words.label
        assert words.does.endswith(".")
        assert words.rule.endswith(".")


@every_game
def test_what_is_named_as_public_lies_where_the_words_say(game: Game[Any, Any]) -> None:
    """Harm: a choice that names cards of a hidden hand is taken for a public one, and shown to everybody."""
    for state in _states(game):
        view = game.view(state, None)
        middle = set(view.middle)
        stacks = {rank for seat in view.seats for rank in seat.stack}
        for ask in game.prompts(state):
            for choice in ask.choices if isinstance(ask, AskChoice) else ():
                of = game.words[choice.name].of
                named = {*(choice.cards or ()), *(() if choice.card is None else (choice.card,))}
                if of != "hand":
                    assert named <= (stacks if of == "stack" else middle)


@every_game
def test_the_outcomes_are_all_that_become_of_a_seat(game: Game[Any, Any]) -> None:
    """Harm: the pit looks for rounds by an outcome that never comes, or cannot look for one that does."""
    outcomes = {payout.outcome for played in _rounds(game) for payout in game.settle(played.state)}
    assert outcomes <= set(game.outcomes)
    assert len(set(game.outcomes)) == len(game.outcomes)


@every_game
def test_every_prompt_has_a_text(game: Game[Any, Any]) -> None:
    """Harm: the dealer's screen is blank at a rare prompt, names a wrong seat or place, or omits a cost."""
    for state in _states(game):
        for ask in game.prompts(state):
            phrase = game.say(state, ask, lambda cents: f"<{cents}>")
            assert phrase.do.endswith(".")
            assert phrase.say
            assert phrase.rule
            if isinstance(ask, AskChoice):
                assert all(f"<{choice.cost_cents}>" in phrase.say for choice in ask.choices if choice.cost_cents)
            if isinstance(ask, AskCard | AskChoice) and (seat := getattr(ask, "seat", getattr(ask, "to", 0))) > 0:
                assert f"eat {seat}" in phrase.do
