"""Practice for dealers, pure: rounds of Rocket drawn from a seed, what is asked in them, and how answers are scored.

A session is its course and its answers: the same course always makes the same rounds, so whoever has both can play the
session again. Nothing here knows a table, a chip of the house, or a clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from msgspec import Struct

from ledger.proof.chips import money
from tables.games.cards import RANKS
from tables.games.felt import (
    DEALER,
    Action,
    AskCard,
    AskChoice,
    Bet,
    Card,
    Choose,
    CloseBets,
    Limits,
    Opening,
    Payout,
    Prompt,
)
from tables.games.play import play
from tables.games.rocket import DEAL, Rocket, Rules, State

VERSION: Final = 1
"""Of how rounds are drawn and what is asked: a session of another version cannot be played again by this one."""
KINDS: Final = ("fold", "pair", "dealer_pair", "death_card")
"""Every way in which a seat's round ends; a course has each of them, in turn."""
OVER: Final = "over"
CALLS: Final[Mapping[str, str]] = {
    "on": "Nothing: play goes on",
    "pair": "The seat has a pair",
    "dealer_pair": "The dealer has a pair",
    "death_card": "Sudden death",
}
_GAME: Final = Rocket()
_SEATS: Final = tuple(range(1, 7))
_HITS: Final = 0.75


class Course(Struct, frozen=True):
    """What a session is drawn from."""

    seed: str
    rounds: int = 20
    game: str = "rocket"
    decks: int = 6
    unit_cents: int = 100
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that the trainee is to say, and what is right."""

    round: int
    kind: str
    """turn: who is next; called: what a card has done; pays: what a seat pays or is paid."""
    asks: str
    right: str
    rule: str
    state: State
    """What lies on the felt."""
    settled: frozenset[int]
    """The seats that are done by then."""
    seat: int = 0
    rank: int = 0
    """The card that has just come."""

    @property
    def pays(self) -> bool:
        """Whether it is about money."""
        return self.kind == "pays"


@dataclass(frozen=True, slots=True)
class Score:
    """How many answers were right, of how many."""

    steps_right: int
    steps: int
    payouts_right: int
    payouts: int

    @property
    def right(self) -> int:
        return self.steps_right + self.payouts_right

    @property
    def asked(self) -> int:
        return self.steps + self.payouts

    @property
    def percent(self) -> float:
        """Cut, not rounded up: 94.99 is not 95."""
        return self.right * 10_000 // self.asked / 100 if self.asked else 0.0

    def passes(self, percent: int) -> bool:
        """Whether so many of a hundred were right, of the steps and of the payments: many easy steps make up for no
        wrong payment."""
        parts = ((self.steps_right, self.steps), (self.payouts_right, self.payouts))
        return all(asked and right * 100 >= percent * asked for right, asked in parts)


def script(course: Course) -> list[Question]:
    """Everything that is asked in a course, in order."""
    chance = Random(course.seed)  # noqa: S311 -- reproducible on purpose; nothing is won by foreseeing it
    asked: list[Question] = []
    for number in range(1, course.rounds + 1):
        asked += _round(course, number, _drawn(course, chance, KINDS[(number - 1) % len(KINDS)]))
    return asked


def score(asked: Sequence[Question], answers: Iterable[str]) -> Score:
    """The score of the answers given so far; a payment counts apart from a step. Time is never a part of it."""
    found = Counter((one.pays, one.right == answer) for one, answer in zip(asked, answers, strict=False))
    steps, payouts = (found[pays, True] + found[pays, False] for pays in (False, True))
    return Score(found[False, True], steps, found[True, True], payouts)


def endings(course: Course) -> Counter[str]:
    """How often each kind of ending comes in a course."""
    return Counter(one.rule_of for one in _ends(course))


# --- A round ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _End:
    rule_of: str


def _ends(course: Course) -> Iterator[_End]:
    for one in script(course):
        payout = _payout(one.state, one.seat) if one.pays else None
        if payout is not None:
            yield _End(payout.outcome)


def _payout(state: State, seat: int) -> Payout | None:
    return next((one for one in _GAME.settle(state) if one.seat == seat), None)


def _drawn(course: Course, chance: Random, wanted: str) -> list[Action]:
    """A round in which a seat ends as is wanted: rounds are drawn until one does, so that no ending is rare."""
    while True:
        actions, state = _played(course, chance)
        if any(one.outcome == wanted for one in _GAME.settle(state)):
            return actions


def _opened(course: Course) -> State:
    most = 100 * course.unit_cents
    limits = Limits(10 * course.unit_cents, most, None)
    return _GAME.open(Rules(decks=course.decks, unit=course.unit_cents), Opening(_SEATS, limits))


def _played(course: Course, chance: Random) -> tuple[list[Action], State]:
    seats = [seat for seat in _SEATS if chance.random() < 0.5] or [_SEATS[_below(chance, 6)]]
    bets: list[Action] = [Bet(seat, 10 * course.unit_cents * (1 + _below(chance, 10))) for seat in seats]
    actions: list[Action] = []
    state = _opened(course)
    for action in (*bets, CloseBets()):
        actions.append(action)
        state = play(_GAME, state, action)
    while prompts := _GAME.prompts(state):
        actions.append(_answer(prompts[0], chance))
        state = play(_GAME, state, actions[-1])
    return actions, state


def _answer(ask: Prompt, chance: Random) -> Action:
    if isinstance(ask, AskChoice):
        return Choose(ask.seat, "hit" if chance.random() < _HITS else "fold")
    assert isinstance(ask, AskCard)  # noqa: S101 -- a full shoe does not run out in one round
    left = [ask.decks * rank - gone for rank, gone in zip(RANKS, ask.gone, strict=True)]
    at = _below(chance, sum(left))
    for rank, held in zip(RANKS, left, strict=True):
        at -= held
        if at < 0:
            return Card(rank, ask.to)
    raise AssertionError("a card is left")


def _below(chance: Random, most: int) -> int:
    """A whole number from 0 to below ``most``. Of Random, only this is promised to stay the same for ever."""
    return int(chance.random() * most)


# --- What is asked in it ---------------------------------------------------------------------------------------


def _round(course: Course, number: int, actions: Sequence[Action]) -> Iterator[Question]:
    state, begun = _opened(course), False
    for action in actions:
        before, state = state, play(_GAME, state, action)
        if isinstance(action, Bet | CloseBets):
            continue
        if not begun or before.stage != DEAL:
            begun = True
            if not (isinstance(action, Card) and before.stage == DEAL + 3):
                yield _turn(number, before)
        if before.stage == DEAL:
            continue
        yield from _called(number, before, state, action)
        yield from _paid(number, before, state)
    if all(one.outcome in ("fold", "pair") for one in _GAME.settle(state)):
        yield _turn(number, state)


def _turn(number: int, state: State) -> Question:
    prompts = _GAME.prompts(state)
    ask = prompts[0] if prompts else None
    if ask is None:
        right, rule = OVER, "With no seat left in, the dealer draws nothing: the round is over."
    elif isinstance(ask, AskChoice):
        right, rule = str(ask.seat), "Each seat still in acts in order from the dealer's left."
    else:
        to = ask.to if isinstance(ask, AskCard) else DEALER
        first = "One card faceup to each seat, from the dealer's left."
        house = "When every seat still in has acted, the dealer hits."
        dealt = "When every seat has its first card, the dealer takes one."
        right, rule = str(to), first if to else (house if state.dealer else dealt)
    return Question(number, "turn", "Who is next?", right, rule, state, _done(state))


def _called(number: int, before: State, after: State, action: Action) -> Iterator[Question]:
    """A card is on the felt: what has it done? (A choice has its card after it, or its payment.)"""
    if not isinstance(action, Card):
        return
    new = [one for one in _GAME.settle(after) if one not in _GAME.settle(before)]
    right = new[0].outcome if new else "on"
    whose = f"seat {action.to}" if action.to else "the dealer"
    rule = new[0].why.partition(":")[0].capitalize() + "." if new else _nothing(action)
    asks = f"A {action.rank} for {whose}. What has happened?"
    yield Question(number, "called", asks, right, rule, after, _done(before), action.to, action.rank)


def _nothing(action: Card) -> str:
    if action.to and action.rank == 3:
        return "A 3 is an ordinary card for a seat; only the dealer's is sudden death."
    return "A card that pairs none of its own stack changes nothing: play goes on."


def _paid(number: int, before: State, after: State) -> Iterator[Question]:
    done = _done(before)
    known = _GAME.settle(before)
    for one in _GAME.settle(after):
        if one in known:
            continue
        net = one.returned_cents - one.staked_cents
        asks = f"Seat {one.seat} folds. " if one.outcome == "fold" else ""
        asks += f"Seat {one.seat} bets {money(one.staked_cents)}: what is taken, or paid?"
        rule = f"{one.why.capitalize()}: {_said(net)}."
        yield Question(number, "pays", asks, str(net), rule, after, done, one.seat)
        done |= {one.seat}


def _done(state: State) -> frozenset[int]:
    return frozenset(one.seat for one in _GAME.settle(state))


def _said(net: int) -> str:
    return f"{'pay' if net > 0 else 'take'} {money(abs(net))}"


def in_words(one: Question, answer: str) -> str:
    """An answer as it is said."""
    if one.pays:
        return _said(int(answer)).capitalize()
    if one.kind == "called":
        return CALLS[answer]
    return {"0": "The dealer", OVER: "Nobody: the round is over"}.get(answer, f"Seat {answer}")
