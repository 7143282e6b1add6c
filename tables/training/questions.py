"""Parts of a practice: the course that it is drawn from, its questions, and the scoring of answers. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from ledger.proof.chips import money

OVER: Final = "over"


class CourseSpec(Struct, frozen=True):
    """What a session is drawn from."""

    seed: str
    rounds: int = 20
    game: str = "rocket"
    decks: int = 6
    unit_cents: int = 100
    version: int = 1
    """Version of its game's practice."""
    options: dict[str, Any] | UnsetType = UNSET
    """Every option of the game, so that changed defaults do not alter a session.

    Courses of Rocket have none: they were written before there were options.
    """


class AnswerChoice(NamedTuple):
    """Something that may be said to a question."""

    name: str
    words: str
    key: str


class Wagered(NamedTuple):
    """A wager on the felt."""

    seat: int
    bet: str
    hand: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Something that the trainee is to say, and the right answer with its rule."""

    round: int
    kind: Literal["turn", "called", "pays"]
    """turn: what is next; called: the result of a card; pays: what a seat pays or is paid."""
    asks: str
    right: str
    rule: str
    state: Any
    """The cards on the layout: a state of the game."""
    settled: frozenset[int] = frozenset()
    """The seats whose round is already over."""
    seat: int = 0
    rank: int = 0
    """The latest card."""
    answers: tuple[AnswerChoice, ...] = ()
    """The answers offered; empty if the answer is an amount."""
    decisions: str = ""
    """Decisions of seats since the previous question."""
    place: int | None = None
    """Place on the layout that the question is about: a seat, the dealer or the hand of a place."""
    wager: Wagered | None = None
    """The wager that is paid or taken."""
    paid: frozenset[Wagered] = frozenset()
    """The wagers that were paid or taken before."""

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
    def wrong(self) -> int:
        """Wrong answers."""
        return self.asked - self.right

    @property
    def percent(self) -> float:
        """Right answers of a hundred, cut to two digits and not rounded up: 94.999 is not 95."""
        return self.right * 10_000 // self.asked / 100 if self.asked else 0.0

    def passes(self, percent: int) -> bool:
        """Whether at least this percentage of the steps, and of the payments, was right.

        Each is required by itself, so that many easy steps do not make up for wrong payments.
        """
        parts = ((self.steps_right, self.steps), (self.payouts_right, self.payouts))
        return all(total and right * 100 >= percent * total for right, total in parts)


def score(questions: Sequence[Question], answers: Iterable[str]) -> Score:
    """The score of the answers so far; payments are counted separately from steps. Time does not matter."""
    pairs = zip(questions, answers, strict=False)
    counts = Counter((question.pays, question.right == answer) for question, answer in pairs)
    steps, payouts = (counts[pays, True] + counts[pays, False] for pays in (False, True))
    return Score(counts[False, True], steps, counts[True, True], payouts)


# --- In words --------------------------------------------------------------------------------------------------


def payment(net_cents: int) -> str:
    """The dealer's payment for a wager, as text."""
    if not net_cents:
        return "give it back"
    return f"{'pay' if net_cents > 0 else 'take'} {money(abs(net_cents))}"


def numbered(words: Mapping[str, str]) -> tuple[AnswerChoice, ...]:
    """Answers whose keys are their places."""
    return tuple(AnswerChoice(name, label, str(place)) for place, (name, label) in enumerate(words.items(), 1))


def seat_answers(seats: Iterable[int], *further: AnswerChoice) -> tuple[AnswerChoice, ...]:
    """Each seat, under its number, and the further answers."""
    return (*(AnswerChoice(str(seat), f"Seat {seat}", str(seat)) for seat in seats), *further)


THE_DEALER: Final = AnswerChoice("0", "The dealer", "d")
NOBODY: Final = AnswerChoice(OVER, "Nobody: the round is over", "n")


def in_words(question: Question, answer: str) -> str:
    """An answer as a dealer would say it."""
    if question.pays:
        return payment(int(answer)).capitalize()
    offered = {choice.name: choice.words for choice in question.answers}
    return offered.get(answer) or f"Seat {answer}"
