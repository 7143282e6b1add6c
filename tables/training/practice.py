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
    """Something that the trainee is to say, and the right answer with its rule."""

    round: int
    kind: str
    """turn: who is next; called: what a card has done; pays: what a seat pays or is paid."""
    asks: str
    right: str
    rule: str
    state: State
    """What lies on the felt."""
    settled: frozenset[int]
    """The seats whose round has ended by then."""
    seat: int = 0
    rank: int = 0
    """The card that has just come."""

    @property
    def pays(self) -> bool:
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
        """Right answers, to steps and to payments alike."""
        return self.steps_right + self.payouts_right

    @property
    def asked(self) -> int:
        """Questions that were answered."""
        return self.steps + self.payouts

    @property
    def percent(self) -> float:
        """Right answers of a hundred, cut to two digits and not rounded up: 94.999 is not 95."""
        return self.right * 10_000 // self.asked / 100 if self.asked else 0.0

    def passes(self, percent: int) -> bool:
        """Whether so many of a hundred were right, of the steps and of the payments: many easy steps make up for no
        wrong payment."""
        parts = ((self.steps_right, self.steps), (self.payouts_right, self.payouts))
        return all(total and right * 100 >= percent * total for right, total in parts)


def script(course: Course) -> list[Question]:
    """Everything that is asked in a course, in order."""
    chance = Random(course.seed)  # noqa: S311 -- reproducible on purpose; nothing is won by foreseeing it
    questions: list[Question] = []
    for number in range(1, course.rounds + 1):
        questions += _questions(course, number, _actions(course, chance, KINDS[(number - 1) % len(KINDS)]))
    return questions


def score(questions: Sequence[Question], answers: Iterable[str]) -> Score:
    """The score of the answers given so far; a payment counts apart from a step. Time is never a part of it."""
    pairs = zip(questions, answers, strict=False)
    counts = Counter((question.pays, question.right == answer) for question, answer in pairs)
    steps, payouts = (counts[pays, True] + counts[pays, False] for pays in (False, True))
    return Score(counts[False, True], steps, counts[True, True], payouts)


def endings(course: Course) -> Counter[str]:
    """How often each kind of ending comes in a course."""
    return Counter(_endings(course))


def _endings(course: Course) -> Iterator[str]:
    for question in script(course):
        payout = _payout(question.state, question.seat) if question.pays else None
        if payout is not None:
            yield payout.outcome


# --- A round ---------------------------------------------------------------------------------------------------


def _payout(state: State, seat: int) -> Payout | None:
    return next((payout for payout in _GAME.settle(state) if payout.seat == seat), None)


def _actions(course: Course, chance: Random, ending: str) -> list[Action]:
    """A round in which a seat ends in this way: rounds are drawn until one does, so that no ending is rare."""
    while True:
        actions, state = _round(course, chance)
        if any(payout.outcome == ending for payout in _GAME.settle(state)):
            return actions


def _opening(course: Course) -> State:
    most = 100 * course.unit_cents
    limits = Limits(10 * course.unit_cents, most, None)
    return _GAME.open(Rules(decks=course.decks, unit=course.unit_cents), Opening(_SEATS, limits))


def _round(course: Course, chance: Random) -> tuple[list[Action], State]:
    """A round by chance, as its actions and its end."""
    seats = [seat for seat in _SEATS if chance.random() < 0.5] or [_SEATS[_random_below(chance, 6)]]
    bets: list[Action] = [Bet(seat, 10 * course.unit_cents * (1 + _random_below(chance, 10))) for seat in seats]
    actions: list[Action] = []
    state = _opening(course)
    for action in (*bets, CloseBets()):
        actions.append(action)
        state = play(_GAME, state, action)
    while prompts := _GAME.prompts(state):
        actions.append(_answer(prompts[0], chance))
        state = play(_GAME, state, actions[-1])
    return actions, state


def _answer(prompt: Prompt, chance: Random) -> Action:
    if isinstance(prompt, AskChoice):
        return Choose(prompt.seat, "hit" if chance.random() < _HITS else "fold")
    assert isinstance(prompt, AskCard)  # noqa: S101 -- a full shoe does not run out in one round
    unseen = [prompt.decks * rank - out for rank, out in zip(RANKS, prompt.gone, strict=True)]
    place = _random_below(chance, sum(unseen))
    for rank, count in zip(RANKS, unseen, strict=True):
        place -= count
        if place < 0:
            return Card(rank, prompt.to)
    raise AssertionError("a card is left")


def _random_below(chance: Random, most: int) -> int:
    """A whole number from 0 to below ``most``. Of Random, only this is promised to stay the same for ever."""
    return int(chance.random() * most)


# --- What is asked in it ---------------------------------------------------------------------------------------


def _questions(course: Course, number: int, actions: Sequence[Action]) -> Iterator[Question]:
    state, has_begun = _opening(course), False
    for action in actions:
        before, state = state, play(_GAME, state, action)
        if isinstance(action, Bet | CloseBets):
            continue
        if not has_begun or before.stage != DEAL:
            has_begun = True
            if not (isinstance(action, Card) and before.stage == DEAL + 3):
                yield _turn(number, before)
        if before.stage == DEAL:
            continue
        yield from _call(number, before, state, action)
        yield from _payments(number, before, state)
    if all(payout.outcome in ("fold", "pair") for payout in _GAME.settle(state)):
        yield _turn(number, state)


def _turn(number: int, state: State) -> Question:
    prompts = _GAME.prompts(state)
    prompt = prompts[0] if prompts else None
    if prompt is None:
        right, rule = OVER, "With no seat left in, the dealer draws nothing: the round is over."
    elif isinstance(prompt, AskChoice):
        right, rule = str(prompt.seat), "Each seat still in acts in order from the dealer's left."
    else:
        to = prompt.to if isinstance(prompt, AskCard) else DEALER
        seats = "One card faceup to each seat, from the dealer's left."
        hits = "When every seat still in has acted, the dealer hits."
        first = "When every seat has its first card, the dealer takes one."
        right, rule = str(to), seats if to else (hits if state.dealer else first)
    return Question(
        round=number,
        kind="turn",
        asks="Who is next?",
        right=right,
        rule=rule,
        state=state,
        settled=_settled_seats(state),
    )


def _call(number: int, before: State, after: State, action: Action) -> Iterator[Question]:
    """A card is on the felt: what has it done? (A choice has its card after it, or its payment.)"""
    if not isinstance(action, Card):
        return
    payouts = [payout for payout in _GAME.settle(after) if payout not in _GAME.settle(before)]
    holder = f"seat {action.to}" if action.to else "the dealer"
    yield Question(
        round=number,
        kind="called",
        asks=f"A {action.rank} for {holder}. What has happened?",
        right=payouts[0].outcome if payouts else "on",
        rule=payouts[0].why.partition(":")[0].capitalize() + "." if payouts else _rule_of_going_on(action),
        state=after,
        settled=_settled_seats(before),
        seat=action.to,
        rank=action.rank,
    )


def _rule_of_going_on(action: Card) -> str:
    """Why a card has changed nothing."""
    if action.to and action.rank == 3:
        return "A 3 is an ordinary card for a seat; only the dealer's is sudden death."
    return "A card that pairs none of its own stack changes nothing: play goes on."


def _payments(number: int, before: State, after: State) -> Iterator[Question]:
    """What each seat that has just ended pays or is paid, in the order in which the dealer settles them."""
    settled = _settled_seats(before)
    earlier = _GAME.settle(before)
    for payout in _GAME.settle(after):
        if payout in earlier:
            continue
        net = payout.returned_cents - payout.staked_cents
        fold = f"Seat {payout.seat} folds. " if payout.outcome == "fold" else ""
        yield Question(
            round=number,
            kind="pays",
            asks=f"{fold}Seat {payout.seat} bets {money(payout.staked_cents)}: what is taken, or paid?",
            right=str(net),
            rule=f"{payout.why.capitalize()}: {_payment(net)}.",
            state=after,
            settled=settled,
            seat=payout.seat,
        )
        settled |= {payout.seat}


def _settled_seats(state: State) -> frozenset[int]:
    return frozenset(payout.seat for payout in _GAME.settle(state))


def _payment(net: int) -> str:
    return f"{'pay' if net > 0 else 'take'} {money(abs(net))}"


def in_words(question: Question, answer: str) -> str:
    """An answer as a dealer would say it."""
    if question.pays:
        return _payment(int(answer)).capitalize()
    if question.kind == "called":
        return CALLS[answer]
    return {"0": "The dealer", OVER: "Nobody: the round is over"}.get(answer, f"Seat {answer}")
