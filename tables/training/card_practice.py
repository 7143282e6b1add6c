"""Practice of house-banked games on standard cards: a round is drawn at random, and walked through with questions.

Each game has a module for its particulars. The engine determines the right answers: the next turn from its prompts, the
payouts from its settlement.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Final, Literal, NamedTuple

import msgspec

from ledger.proof.chips import money
from tables.games.cards import Pack, pack_of
from tables.games.game import RoundPlay as Round
from tables.games.house_script import HouseScript, HouseState
from tables.games.odds import ROUNDED
from tables.games.play import play
from tables.games.protocol import (
    DEALER,
    Action,
    AskCard,
    AskChoice,
    AskShuffle,
    Bet,
    Card,
    Choice,
    Choose,
    CloseBets,
    Illegal,
    Limits,
    Opening,
    Settled,
    Shuffle,
)
from tables.games.scripted import words_of
from tables.training.chance import below, next_card, one_of, seeded, shuffled, some_of, weighted
from tables.training.questions import AnswerChoice, CourseSpec, Question, Wagered, payment
from tables.training.wagers import placed

Ending = Callable[[HouseState], bool]
"""Whether a round that is over ended so."""

_SEATS: Final = range(1, 8)
_FEWEST, _MOST_SEATS = 2, 4
_MOST_DRAWN: Final = 20_000
"""Maximum of rounds drawn for an ending. One that is not reached by then is impossible under these options."""
_HALVED: Final = frozenset({"half", "surrender"})


class PracticeStep(NamedTuple):
    """A question about the course of a round."""

    kind: Literal["turn", "called"]
    asks: str
    right: str
    rule: str
    answers: tuple[AnswerChoice, ...]
    place: int | None = None


class SpreadPractice(ABC):
    """Base of how these games are practised."""

    game: ClassVar[HouseScript[Any]]
    version: ClassVar[int] = 1
    options: ClassVar[tuple[str, ...]]
    """The options that a trainee may choose, the common ones first."""
    paid_with: ClassVar[Mapping[str, str]] = {}
    """Payouts that are added to a wager's own odds, by wager."""

    helped: ClassVar[frozenset[str]] = frozenset()
    """The endings that are too rare to wait for."""

    @abstractmethod
    def ways(self, rules: Any) -> Mapping[str, Ending]:
        """Every ending of a round under some rules that is worth practising, by name."""

    @abstractmethod
    def calls(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """Questions after an action, before any payout for it."""

    @abstractmethod
    def turns(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """The question about the next step, once all bets are paid."""

    def likes(self, state: HouseState, ask: AskChoice, choice: Choice) -> float:
        """Relative weight of a choice among those of a seat."""
        return 1.0

    def helps(self, way: str, state: HouseState, ask: AskCard) -> Sequence[int]:
        """The cards that lead to an ending of `helped`; empty if any card does."""
        return ()

    # --- what it is drawn under ---

    def course(self, seed: str, rounds: int, rules: Any) -> CourseSpec:
        """A course under these rules. Raises Illegal for rules that cannot be dealt."""
        self._opened(rules, (1,))
        options = {name: value for name, value in msgspec.to_builtins(rules).items() if name != "unit"}
        return CourseSpec(seed, rounds, self.game.name, self.game.decks(rules), rules.unit, self.version, options)

    def rules(self, course: CourseSpec) -> Any:
        """The rules of a course."""
        options = course.options or {}
        return msgspec.convert({**options, "unit": course.unit_cents}, self.game.rules_type)

    def script(self, course: CourseSpec) -> list[Question]:
        """All questions of a course: round by round, each with its own ending."""
        rules, chance = self.rules(course), seeded(course.seed)
        ways = self.ways(rules)
        order = shuffled(chance, tuple(ways))
        questions: list[Question] = []
        for number in range(1, course.rounds + 1):
            way = order[(number - 1) % len(order)]
            questions += _Walk(self, rules, number).questions(self._drawn(rules, chance, way, ways[way]))
        return questions

    # --- a round by chance ---

    def _drawn(self, rules: Any, chance: Random, way: str, is_so: Ending) -> HouseState:
        """A round that ends in this way: rounds are drawn until one does, so that none is rare."""
        for _ in range(_MOST_DRAWN):
            state = self._round(rules, chance, way)
            if is_so(state):
                return state
        raise Illegal("no_such_ending", f"no round of {self.game.title} ends with {way} under these options")

    def _opened(self, rules: Any, seats: tuple[int, ...]) -> HouseState:
        """A round from a full shoe, whose facedown cards are unknown, as on the floor."""
        opening = Opening(seats, Limits(rules.unit), self.game.pack(rules).nothing, blind=True)
        return self.game.open(rules, opening)

    def _round(self, rules: Any, chance: Random, way: str) -> HouseState:
        seats = tuple(some_of(chance, _SEATS, _FEWEST + below(chance, _MOST_SEATS - _FEWEST + 1)))
        course = self.game.play(self._opened(rules, seats))
        for seat in seats:
            for bet in placed(chance, rules, seat, self.game.wagers(rules), self.game.bet_steps(rules)):
                _take(course, bet)
        _take(course, CloseBets())
        while course.prompts:
            _take(course, self._by_chance(course, chance, way))
        state: HouseState = course.state()
        return state

    def _by_chance(self, course: Round, chance: Random, way: str) -> Action:
        first, last = course.prompts[0], course.prompts[-1]
        if isinstance(first, AskCard):
            helps = self.helps(way, course.state(), first) if way in self.helped else ()
            return Card(one_of(chance, helps) if helps else next_card(chance, first, first.barred), first.to)
        if isinstance(last, AskCard) and isinstance(first, AskChoice):
            # A peeked card answers one of the two prompts, whatever it is.
            card = next_card(chance, last)
            return Choose(DEALER, first.choices[0].name) if card in last.barred else Card(card, last.to)
        if isinstance(first, AskShuffle):
            return Shuffle()
        assert isinstance(first, AskChoice)  # noqa: S101 -- bets are closed
        state = course.state()
        choice = weighted(chance, first.choices, [self.likes(state, first, choice) for choice in first.choices])
        return Choose(first.seat, choice.name)


def _take(course: Round, action: Action) -> None:
    course.take(next(full_action for prompt in course.prompts if (full_action := prompt.admits(action))))


# --- What is asked in it ---------------------------------------------------------------------------------------


class _Walk:
    """A round action by action, with its questions."""

    def __init__(self, practised: SpreadPractice, rules: Any, number: int) -> None:
        self.practised, self.rules, self.number = practised, rules, number
        self.titles = {wager.name: wager.title for wager in practised.game.wagers(rules)}
        self.paid: frozenset[Wagered] = frozenset()
        self.decisions: list[str] = []
        """Decisions since the last question."""

    def questions(self, drawn: HouseState) -> Iterator[Question]:
        game, practised = self.practised.game, self.practised
        state = game.open(self.rules, drawn.opening)
        for action in drawn.actions:
            before, state = state, play(game, state, action)
            if isinstance(action, Bet):
                continue
            if isinstance(action, Choose):
                self.decisions.append(self._decision(before, action))
            for step in practised.calls(before, action, state):
                yield self._question(step, state)
            yield from self._payments(state)
            for step in practised.turns(before, action, state):
                yield self._question(step, state)

    def _decision(self, before: HouseState, action: Choose) -> str:
        label = words_of(self.practised.game.words, action.choice).label
        ask = before.prompts[0]
        hands = [len(spot.hands) for spot in before.spots if spot.seat == action.seat]
        hand = f", hand {ask.hand}" if isinstance(ask, AskChoice) and hands and hands[0] > 1 else ""
        return f"Seat {action.seat}{hand}: {label[:1].lower()}{label[1:]}." if action.seat else f"{label}."

    def _all_decisions(self) -> str:
        spoken, self.decisions = " ".join(self.decisions), []
        return spoken

    def _question(self, step: PracticeStep, state: HouseState) -> Question:
        return Question(
            round=self.number,
            kind=step.kind,
            asks=step.asks,
            right=step.right,
            rule=step.rule,
            state=state,
            answers=step.answers,
            decisions=self._all_decisions(),
            place=step.place,
            paid=self.paid,
        )

    def _payments(self, state: HouseState) -> Iterator[Question]:
        """Every wager that is decided and was not paid yet, from the dealer's right."""
        for spot in reversed(state.spots):
            for wager in spot.wagers:
                place = Wagered(spot.seat, wager.bet, wager.hand)
                if wager.outcome and place not in self.paid:
                    hand = f", hand {wager.hand}" if len(spot.hands) > 1 and wager.hand else ""
                    yield self._payment(state, place, wager, f"Seat {spot.seat}{hand}")
                    self.paid |= {place}

    def _payment(self, state: HouseState, place: Wagered, wager: Settled, payee: str) -> Question:
        title = self.titles.get(wager.bet, wager.bet.replace("_", " ").capitalize())
        why = self.practised.game.explain(wager)
        beside = self.practised.paid_with.get(wager.bet, "")
        return Question(
            round=self.number,
            kind="pays",
            asks=f"{payee}, {title}: {money(wager.staked_cents)}. What is taken or paid{beside}?",
            right=str(wager.net_cents),
            rule=f"{why[:1].upper()}{why[1:]}: {payment(wager.net_cents)}.{self._rounding(wager)}",
            state=state,
            seat=place.seat,
            decisions=self._all_decisions(),
            place=place.seat,
            wager=place,
            paid=self.paid,
        )

    def _rounding(self, wager: Settled) -> str:
        chips = f"chips of {money(self.rules.unit)}"
        if wager.broken_cents:
            return f" Winnings are rounded {ROUNDED[self.rules.rounding]} {chips}."
        if wager.outcome in _HALVED and -2 * wager.net_cents != wager.staked_cents:
            return f" The half is rounded down to whole {chips}."
        return ""


# --- What games ask about ----------------------------------------------------------------------------------------


def ending(bet: str, *outcomes: str) -> Ending:
    """Whether a wager of some seat ended so."""

    def is_so(state: HouseState) -> bool:
        return any(wager.bet == bet and wager.outcome in outcomes for spot in state.spots for wager in spot.wagers)

    return is_so


def betting(state: HouseState) -> list[int]:
    """The seats that bet."""
    return [spot.seat for spot in state.spots]


def face(pack: Pack, card: int) -> str:
    """A card as a dealer reads it."""
    name = str(pack.spell(card))
    return name.replace("T", "10") if len(name) == 1 else f"{name[0].replace('T', '10')}{_SUITS[name[1]]}"


def cards_of(state: HouseState, cards: Iterable[int]) -> str:
    """Cards as a dealer reads them, one after the other."""
    pack = pack_of(state.gone)
    return ", ".join(face(pack, card) for card in cards)


_SUITS: Final = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}
