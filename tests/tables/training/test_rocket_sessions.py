"""Sessions of Rocket that were drawn before other games had a practice: the same questions, to the byte."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tables.training import practice
from tables.training.practice import Course, Question

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
