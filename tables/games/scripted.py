"""The engine of scripted games: a generator writes the whole game, and the kernel plays it as immutable states.

A state is a frozen picture of the script's layout at a prompt, with the actions that led there. It also keeps the
script that stopped there, until one action takes the script further; after that, or as a copy, a state is rebuilt by
replaying its actions. So a script reads like the rules of its game, states behave as if there were no generator, and a
script lives no longer than the state at which it stopped.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from tables.games.game import Game, Picture, Rules, Script, Words
from tables.games.protocol import Action, AskCard, AskChoice, Choice, Money, Opening, Phrase, Prompt, SetAside

Layout = TypeVar("Layout")
Telling = tuple[Script[None], Layout]
"""A script stopped at a prompt, and its layout."""


class ScriptState(Picture, frozen=True, dict=True, gc=True):
    """A game between two actions.

    The fields are its whole value. The stored script takes no part in comparison, hash, copy or JSON.
    """

    rules: Any
    opening: Opening
    actions: tuple[Action, ...]

    def lay_by(self, telling: Telling[Any]) -> None:
        """Store the script that stopped here for the next action."""
        self.__dict__["telling"] = telling

    def take(self) -> Telling[Any] | None:
        """Remove and return the script that stopped here; None if it was taken before."""
        telling: Telling[Any] | None = self.__dict__.pop("telling", None)
        return telling


State = TypeVar("State", bound=ScriptState)


class ScriptRun(Generic[State]):
    """A scripted game in progress."""

    __slots__ = ("actions", "picture", "prompts", "rules", "send", "telling")

    def __init__(self, state: State, telling: Telling[Any], picture: Callable[..., State]) -> None:
        self.rules, self.actions, self.prompts = state.rules, [*state.actions], state.prompts
        self.telling, self.send, self.picture = telling, telling[0].send, picture

    def take(self, action: Action) -> None:
        """Continue with an admitted action."""
        self.actions.append(action)
        if type(action) is SetAside:
            self.telling[1].set_aside(action.rank)
            self.prompts = tuple(ask.without(action.rank) if type(ask) is AskCard else ask for ask in self.prompts)
            return
        try:
            self.prompts = self.send(action)
        except StopIteration:
            self.prompts = ()

    def state(self) -> State:
        """An immutable picture of the game as it is now. It takes over the script if there are open prompts."""
        state = self.picture(self.rules, tuple(self.actions), self.prompts, self.telling[1])
        if self.prompts:
            state.lay_by(self.telling)
        return state


class ScriptedGame(Game[State, Rules]):
    """Base of the kinds of scripted games."""

    @abstractmethod
    def _begin(self, rules: Rules, opening: Opening) -> Telling[Any]:
        """A script and its layout. Raises Illegal for an impossible opening."""

    @abstractmethod
    def _picture(self, rules: Rules, actions: tuple[Action, ...], prompts: tuple[Prompt, ...], layout: Any) -> State:
        """The state in which a script stopped."""

    def open(self, rules: Rules, opening: Opening) -> State:
        """A new game. Raises Illegal when the opening is impossible."""
        telling = self._begin(rules, opening)
        prompts = next(telling[0], ())
        state = self._picture(rules, (), prompts, telling[1])
        if prompts:
            state.lay_by(telling)
        return state

    def play(self, state: State) -> ScriptRun[State]:
        """The game from a state on, by the script that stopped there."""
        return ScriptRun(state, state.take() or self._tell_again(state), self._picture)

    def _tell_again(self, state: State) -> Telling[Any]:
        """A script replayed up to a state whose own script has gone on."""
        script, layout = self._begin(state.rules, state.opening)
        with suppress(StopIteration):  # raised when the game is over
            next(script)
            for action in state.actions:
                if type(action) is SetAside:
                    layout.set_aside(action.rank)
                else:
                    script.send(action)
        return script, layout


# --- choices in words -------------------------------------------------------------------------------------------

_RULES_AT_ONCE: Final = 2


def words_of(words: Mapping[str, Words], choice: str) -> Words:
    """The wording of a choice; its bare name if the game has none."""
    return words.get(choice) or Words(choice.replace("_", " ").capitalize(), "", "")


def say_choices(words: Mapping[str, Words], prompt: AskChoice, money: Money, place: str = "") -> Phrase:
    """The choices of a seat, as a sentence for the dealer."""
    ways: dict[str, list[Choice]] = {}
    for choice in prompt.choices:
        ways.setdefault(choice.name, []).append(choice)
    *most, last = [_say_way(words_of(words, name), choices, money) for name, choices in ways.items()]
    offer = f"{', '.join(most)} or {last}" if most else last
    # The rules of many choices at once would be too long to read: show the first, since the game's page has them all.
    shown_ways = list(ways) if len(ways) <= _RULES_AT_ONCE else [next(iter(ways))]
    rules = " ".join(words_of(words, name).rule for name in shown_ways)
    place = place or f"Seat {prompt.seat}"
    return Phrase(f"{place}: {offer}.", f"{place}: {offer}?", rules)


def _say_way(words: Words, choices: Sequence[Choice], money: Money) -> str:
    label = words.label[:1].lower() + words.label[1:]
    counts = [choice.count for choice in choices if choice.count is not None]
    if counts:
        label += f" {min(counts)}" + (f" to {max(counts)}" if len(counts) > 1 else "")
    costs = {choice.cost_cents for choice in choices}
    return f"{label} for {money(costs.pop())}" if len(costs) == 1 and choices[0].cost_cents else label
