"""The engine: play one action, or replay a list of them, on any game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from msgspec import structs

from tables.games.cards import NOTHING, UNKNOWN
from tables.games.game import Game, Picture, RoundPlay
from tables.games.protocol import (
    DEALER,
    MIDDLE,
    PLACE_NAMES,
    Action,
    AskBet,
    AskCard,
    AskChoice,
    AskCloseBets,
    AskShuffle,
    Bet,
    Card,
    Illegal,
    Opening,
    Prompt,
    SetAside,
)

State = TypeVar("State", bound=Picture)
Rules = TypeVar("Rules")


def play(game: Game[State, Rules], state: State, action: Action) -> State:
    """The state after `action`. Raises Illegal, with the legal alternatives, if no open prompt admits it."""
    return game.apply(state, admitted(game, state, action))


def admitted(game: Game[State, Rules], state: State, action: Action) -> Action:
    """A complete action: omitted parts are filled in if only one value is possible.

    Raises Illegal, with the legal alternatives, if no open prompt admits it.
    """
    for prompt in state.prompts:
        if full_action := prompt.admits(action):
            return full_action
    if type(action) is SetAside:
        return _aside(game, state, action)
    raise out_of_turn(prompts_for(game, state, None), action)


def run(game: Game[State, Rules], state: State, answer: Callable[[tuple[Prompt, ...]], Action | None]) -> State:
    """The state when ``answer`` has answered all prompts, or has none for the next. Raises Illegal at a wrong one."""
    round_play = game.play(state)
    take = round_play.take
    while (prompts := round_play.prompts) and (action := answer(prompts)):
        for prompt in prompts:
            if full_action := prompt.admits(action):
                take(full_action)
                break
        else:
            if type(action) is not SetAside:
                raise out_of_turn(prompts, action)
            take(_aside(game, round_play.state(), action))
    end: State = round_play.state()
    return end


def replay(game: Game[State, Rules], rules: Rules, opening: Opening, actions: Iterable[Action]) -> State:
    """The state after a round's actions, from its opening. Raises Illegal at the first that is not admitted."""
    round_play = game.play(game.open(rules, opening))
    for _ in _played(game, round_play, actions):
        pass
    end: State = round_play.state()
    return end


def complete(game: Game[State, Rules], rules: Rules, opening: Opening, actions: Iterable[Action]) -> Iterator[Action]:
    """A round's actions, each with all that it names. Raises Illegal at the first that is not admitted."""
    return _played(game, game.play(game.open(rules, opening)), actions)


def _played(game: Game[State, Rules], round_play: RoundPlay, actions: Iterable[Action]) -> Iterator[Action]:
    """The actions as the prompts admit them, each played before the next is looked at."""
    for action in actions:
        for prompt in round_play.prompts:
            if full_action := prompt.admits(action):
                round_play.take(full_action)
                yield full_action
                break
        else:
            if type(action) is SetAside:
                round_play.take(_aside(game, round_play.state(), action))
                yield action
                continue
            raise out_of_turn(prompts_for(game, round_play.state(), None), action)


def prompts_for(game: Game[Any, Any], state: Any, viewer: int | None) -> tuple[Prompt, ...]:
    """The open prompts as `viewer` (a seat, the dealer 0, or None for the public) may see them.

    Visible are: that a card is due, where and in which way, but not which cards are left, which would reveal hidden
    ones; that a seat chooses; its choices, to itself, and to others only for a seat without facedown cards, since even
    the kinds of its choices reveal something of a hand; and everything about bets and shuffles.
    """
    if not game.hides:
        return game.prompts(state)
    hides = {
        seat_view.seat for seat_view in game.view(state, None).seats if seat_view.hand_size and seat_view.seat != viewer
    }
    return tuple(_allowed(ask, hides) for ask in game.prompts(state))


def _allowed(ask: Prompt, hides: set[int]) -> Prompt:
    if isinstance(ask, AskCard):
        return structs.replace(ask, gone=NOTHING)
    return AskChoice(ask.seat, ()) if isinstance(ask, AskChoice) and ask.seat in hides else ask


def _aside(game: Game[State, Rules], state: State, action: SetAside) -> SetAside:
    """A card that leaves the shoe unplayed answers no prompt: it may at any time, as long as one is left to deal."""
    if not state.prompts or isinstance(state.prompts[0], AskShuffle):
        raise out_of_turn(prompts_for(game, state, None), action)
    if game.cards_left(state) <= 1:
        sentence = (
            "it is the last card of the shoe, and another may be due: a pit boss voids the round, or the card is dealt"
        )
        raise Illegal("last_card", sentence)
    if action.rank != UNKNOWN:
        AskCard(MIDDLE, game.gone(state), game.decks(state.rules)).admits(Card(action.rank, MIDDLE))  # type: ignore[attr-defined]
    return action


def out_of_turn(prompts: tuple[Prompt, ...], action: Action) -> Illegal:
    """The refusal of an action that answers none of the open prompts."""
    if not prompts:
        return Illegal("round_over", "the round is over: nothing more can happen in it")
    expected = _expected(prompts)
    if isinstance(action, Bet) and isinstance(prompts[0], AskBet):
        wagers = [ask.wager for ask in prompts if isinstance(ask, AskBet) and ask.seat == action.seat]
        if wagers:
            sentence = f"seat {action.seat} has no wager {action.wager!r} here: it has {', '.join(wagers)}"
            return Illegal("unknown_wager", sentence)
        return Illegal("unknown_seat", f"there is no seat {action.seat} at this table: {expected}")
    return Illegal("out_of_turn", f"out of turn: {expected}")


def _expected(prompts: tuple[Prompt, ...]) -> str:
    first = prompts[0]
    if isinstance(first, AskBet | AskCloseBets):
        seats = dict.fromkeys(str(prompt.seat) for prompt in prompts if isinstance(prompt, AskBet))
        return f"bets are open for seats {', '.join(seats)}"
    if isinstance(first, AskChoice):
        return " and ".join(_decides(ask) for ask in prompts if isinstance(ask, AskChoice))
    if isinstance(first, AskCard):
        if first.to == MIDDLE:
            return "a card is due in the middle"
        place = f"the {PLACE_NAMES[first.to]}" if first.to in PLACE_NAMES else f"seat {first.to}"
        return f"a card is due to {place}"
    return "the shoe is empty: the discards must be shuffled first"


def _decides(ask: AskChoice) -> str:
    if ask.seat == DEALER:
        return f"the dealer looks at the card that lies facedown: {ask.names}, or that card"
    return f"seat {ask.seat} decides" + (f": {ask.names}" if ask.choices else "")
