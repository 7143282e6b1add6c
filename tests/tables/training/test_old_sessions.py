"""Sessions that were drawn before: the same questions, to the byte. Those of Rocket are older than any other's."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tables.training import practice
from tables.training.practice import Course, Question
from tables.training.providers import PROVIDERS

GOLDEN = Path(__file__).parent / "golden" / "rocket-1.jsonl"
DIGESTS = {
    ("a1", 20, 6, 100): (399, "182fb1631bf4343e6e0b740b4a070d9f1f8fcbd69bda54dde23e01b2f68e6d3f"),
    ("0123456789abcdef0123456789abcdef", 20, 6, 100): (
        307,
        "f93ba284a7cfa16b6389f6690342f0f63d3493901bc27db5eb4526e19b7a592d",
    ),
    ("b0", 5, 8, 500): (110, "5f8ecf17d3ffae880fad10799244e4186542d4ee4c43568636afe89c0e75fdcb"),
}
"""How many questions a course of version 1 has, and the hash of all of them."""


def spelled(question: Question) -> dict[str, Any]:
    """A question with the felt that it is asked over."""
    state = question.state
    return {
        "round": question.round,
        "kind": question.kind,
        "asks": question.asks,
        "right": question.right,
        "rule": question.rule,
        "seat": question.seat,
        "rank": question.rank,
        "settled": sorted(question.settled),
        "felt": [state.seats, state.bets, state.stacks, state.dealer],
    }


def lines(course: Course) -> list[str]:
    return [json.dumps(spelled(question), sort_keys=True) for question in practice.script(course)]


def test_a_session_of_version_1_has_its_questions_still() -> None:
    """Harm: an old practice is replayed to other questions, and its answers, and a certificate, mean nothing."""
    assert lines(Course("a1", rounds=5)) == GOLDEN.read_text().splitlines()


@pytest.mark.parametrize("drawn", DIGESTS)
def test_every_session_of_version_1_is_the_same_to_the_byte(drawn: tuple[str, int, int, int]) -> None:
    """Harm: the same for an ending, a number of decks or a unit that the one session above has not."""
    seed, rounds, decks, unit_cents = drawn
    asked = lines(Course(seed, rounds=rounds, decks=decks, unit_cents=unit_cents))
    assert (len(asked), sha256("\n".join(asked).encode()).hexdigest()) == DIGESTS[drawn]


# --- Games with several wagers -----------------------------------------------------------------------------------

HOUSE_DIGESTS = {
    "baccarat": (173, "82e787c4121a200739da7a661af3517842c38bc20ffb58bb2a688bae590871c3"),
    "blackjack": (272, "aa5cc440939909b06690fc41547c22b0cb5f92ffddc4df151833045d0a9ec831"),
    "casino_war": (222, "06de235a3673434d51e1773407047c9bf75d10aff332cc5b8b2bf244b32e42fe"),
    "dragon_tiger": (121, "8134b1e13c0b277c791148344e49e5091d4da1d1af0e94d6aadb8c356605344e"),
    "three_card_poker": (302, "988e4b7eaeecadea53683de96cb9187349a2116661faadc0c72256c787771ad6"),
}
"""Of a course of version 1 under the game's own options. Whoever draws or asks otherwise counts the version up, and
these then stand for the new one: sessions of the old version are not replayed by it."""


def told(question: Question) -> dict[str, Any]:
    """A question with all that is offered."""
    return {
        "round": question.round,
        "kind": question.kind,
        "told": question.told,
        "asks": question.asks,
        "right": question.right,
        "rule": question.rule,
        "answers": question.answers,
        "wager": question.wager,
        "paid": sorted(question.paid, key=str),
        "felt": [question.state.spots, question.state.hands],
    }


@pytest.mark.parametrize("game", HOUSE_DIGESTS)
def test_every_session_of_a_house_game_is_the_same_to_the_byte(game: str) -> None:
    """Harm: an old practice is replayed to other questions, and a certificate that rests on it does not hold."""
    practised = PROVIDERS[game]
    assert practised.version == 1
    asked = practice.script(practised.course("a1", 20, practised.game.rules_type(unit=100)))
    lines = [json.dumps(msgspec.to_builtins(told(question)), sort_keys=True) for question in asked]
    assert (len(asked), sha256("\n".join(lines).encode()).hexdigest()) == HOUSE_DIGESTS[game]
