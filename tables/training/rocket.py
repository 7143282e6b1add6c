"""Practice of Rocket.

Version 1, which courses used before other games had a practice. Its drawing and questions must not change by a byte: a
session is replayed from its seed, and certificates depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final

from ledger.proof.chips import money
from tables.games.play import play
from tables.games.protocol import (
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
    Prompt,
)
from tables.games.rocket import DEAL, Rocket, Rules, State
from tables.training.chance import below, next_card, seeded
from tables.training.questions import (
    NOBODY,
    OVER,
    THE_DEALER,
    AnswerChoice,
    CourseSpec,
    Question,
    numbered,
    payment,
    seat_answers,
)

KINDS: Final = ("fold", "pair", "dealer_pair", "death_card")
"""Every way in which a seat's round ends; a course has each of them, in turn."""
_CALLS: Final[Mapping[str, str]] = {
    "on": "Nothing: play goes on",
    "pair": "The seat has a pair",
    "dealer_pair": "The dealer has a pair",
    "death_card": "Sudden death",
}
_CALL_ANSWERS: Final = numbered(_CALLS)
_GAME: Final = Rocket()
_SEATS: Final = tuple(range(1, 7))
_HITS: Final = 0.75


class RocketPractice:
    """Practice of Rocket under the site's options."""

    game = _GAME
    version = 1
    options: tuple[str, ...] = ()

    def course(self, seed: str, rounds: int, rules: Rules) -> CourseSpec:
        """A course of this game: of the options it has only the number of decks."""
        return CourseSpec(seed, rounds, self.game.name)

    def rules(self, course: CourseSpec) -> Rules:
        """The rules that a certificate records, without the unit."""
        return Rules(decks=course.decks)

    def script(self, course: CourseSpec) -> list[Question]:
        """All questions of a course, in order."""
        chance = seeded(course.seed)
        questions: list[Question] = []
        for number in range(1, course.rounds + 1):
            questions += _questions(course, number, _actions(course, chance, KINDS[(number - 1) % len(KINDS)]))
        return questions


# --- A round ---------------------------------------------------------------------------------------------------


def _actions(course: CourseSpec, chance: Random, ending: str) -> list[Action]:
    """A round in which a seat ends in this way: rounds are drawn until one does, so that no ending is rare."""
    while True:
        actions, state = _round(course, chance)
        if any(payout.outcome == ending for payout in _GAME.settle(state)):
            return actions


def _opening(course: CourseSpec) -> State:
    most = 100 * course.unit_cents
    limits = Limits(10 * course.unit_cents, most, None)
    return _GAME.open(Rules(decks=course.decks, unit=course.unit_cents), Opening(_SEATS, limits))


def _round(course: CourseSpec, chance: Random) -> tuple[list[Action], State]:
    """A round by chance, as its actions and its end."""
    seats = [seat for seat in _SEATS if chance.random() < 0.5] or [_SEATS[below(chance, 6)]]
    bets: list[Action] = [Bet(seat, 10 * course.unit_cents * (1 + below(chance, 10))) for seat in seats]
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
    return Card(next_card(chance, prompt), prompt.to)


# --- What is asked in it ---------------------------------------------------------------------------------------


def _questions(course: CourseSpec, number: int, actions: Sequence[Action]) -> Iterator[Question]:
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
        answers=_turns(state),
    )


def _turns(state: State) -> tuple[AnswerChoice, ...]:
    """The possible answers: the seats that bet, the dealer, or none of them."""
    betting = (seat for seat, bet in zip(state.seats, state.bets, strict=True) if bet)
    return seat_answers(betting, THE_DEALER, NOBODY)


def _call(number: int, before: State, after: State, action: Action) -> Iterator[Question]:
    """A question on the effect of a card just dealt. A choice has its question after its card or its payment."""
    if not isinstance(action, Card):
        return
    payouts = [payout for payout in _GAME.settle(after) if payout not in _GAME.settle(before)]
    holder = f"seat {action.to}" if action.to else "the dealer"
    yield Question(
        round=number,
        kind="called",
        asks=f"A {action.rank} for {holder}. What has happened?",
        right=payouts[0].outcome if payouts else "on",
        rule=_GAME.explain(payouts[0]).partition(":")[0].capitalize() + "." if payouts else _rule_of_going_on(action),
        state=after,
        settled=_settled_seats(before),
        seat=action.to,
        rank=action.rank,
        answers=_CALL_ANSWERS,
    )


def _rule_of_going_on(action: Card) -> str:
    """Why a card has changed nothing."""
    if action.to and action.rank == 3:
        return "A 3 is an ordinary card for a seat; only the dealer's is sudden death."
    return "A card that pairs none of its own stack changes nothing: play goes on."


def _payments(number: int, before: State, after: State) -> Iterator[Question]:
    """Questions on the payment of each seat that has just ended, in the order of settlement."""
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
            rule=f"{_GAME.explain(payout).capitalize()}: {payment(net)}.",
            state=after,
            settled=settled,
            seat=payout.seat,
        )
        settled |= {payout.seat}


def _settled_seats(state: State) -> frozenset[int]:
    return frozenset(payout.seat for payout in _GAME.settle(state))
