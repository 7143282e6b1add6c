"""Providers of practice by game: the only list of games in the training."""

from __future__ import annotations

from typing import Any, Final, Protocol

from tables.games.game import BankedGame
from tables.training.baccarat import BaccaratPractice
from tables.training.blackjack import BlackjackPractice
from tables.training.casino_war import CasinoWarPractice
from tables.training.dragon_tiger import DragonTigerPractice
from tables.training.questions import CourseSpec, Question
from tables.training.rocket import RocketPractice
from tables.training.three_card_poker import ThreeCardPokerPractice


class Practised(Protocol):
    """The practice of a game: how courses are drawn, and their questions."""

    @property
    def game(self) -> BankedGame[Any, Any]: ...
    @property
    def version(self) -> int:
        """Version of the drawing of rounds and of the questions: sessions of another version cannot be replayed."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the game that a trainee may choose, the common ones first."""

    def course(self, seed: str, rounds: int, rules: Any) -> CourseSpec:
        """A course under these rules. Raises Illegal for rules that cannot be dealt."""

    def rules(self, course: CourseSpec) -> Any:
        """The rules that a certificate pins."""

    def script(self, course: CourseSpec) -> list[Question]:
        """All questions of a course, in order."""


_ALL: Final[tuple[Practised, ...]] = (
    RocketPractice(),
    BaccaratPractice(),
    BlackjackPractice(),
    CasinoWarPractice(),
    DragonTigerPractice(),
    ThreeCardPokerPractice(),
)
PROVIDERS: Final = {practised.game.name: practised for practised in _ALL}


def provider(game: str) -> Practised:
    """The practice of a game. Raises KeyError if it has none."""
    return PROVIDERS[game]


def script(course: CourseSpec) -> list[Question]:
    """All questions of a course, in order: a course always makes the same rounds."""
    return provider(course.game).script(course)
