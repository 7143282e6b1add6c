"""Sessions that were drawn before: the same questions, to the byte. Those of Rocket are older than any other's."""

import json
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from tables.training import providers
from tables.training.providers import PROVIDERS
from tables.training.questions import CourseSpec, Question

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
    names = ("round", "kind", "asks", "right", "rule", "seat", "rank")
    return {name: getattr(question, name) for name in names} | {
        "settled": sorted(question.settled),
        "felt": [state.seats, state.bets, state.stacks, state.dealer],
    }


def lines(course: CourseSpec) -> list[str]:
    return [json.dumps(spelled(question), sort_keys=True) for question in providers.script(course)]


@pytest.mark.parametrize("drawn", DIGESTS)
def test_every_session_of_version_1_is_the_same_to_the_byte(drawn: tuple[str, int, int, int]) -> None:
    """Harm: an old practice is replayed with other questions, which makes its answers and a certificate meaningless."""
    seed, rounds, decks, unit_cents = drawn
    questions = lines(CourseSpec(seed, rounds=rounds, decks=decks, unit_cents=unit_cents))
    assert (len(questions), sha256("\n".join(questions).encode()).hexdigest()) == DIGESTS[drawn]


# --- Games with several wagers -----------------------------------------------------------------------------------

HOUSE_DIGESTS = {
    "baccarat": (173, "dc4c54b0029507e2ce05a309b689e1911b47d4f94180e5b452116a5872b77329"),
    "blackjack": (272, "8b5ad2b12cd0abad5842d9d4178802a120c92424a34f8f19dbb389b27955d5e1"),
    "casino_war": (222, "39f5725f3021ae8c68d761e12d27f341f0a1735082428f6c77ae31a1a916e782"),
    "dragon_tiger": (121, "caba87f1d6c54644952dc3b92ca4cc49e787e187c2075f07e390b6972c5fece7"),
    "three_card_poker": (267, "5fadee803fae1d5c3f6ce22433f251f60cab893f5db55954fe1e5647c5553c30"),
}
"""Of a course under the game's own options. Whoever draws or asks otherwise counts the version up, and these then stand
for the new one: sessions of the old version are not replayed by it."""
VERSIONS = dict.fromkeys(HOUSE_DIGESTS, 1) | {"three_card_poker": 2, "blackjack": 2}


def offered(question: Question) -> dict[str, Any]:
    """A question with all that is offered."""
    names = ("round", "kind", "decisions", "asks", "right", "answers", "wager")
    return {name: getattr(question, name) for name in names} | {
        "paid": sorted(question.paid, key=str),
        "felt": [question.state.spots, question.state.hands],
    }


UNSEEN = {"lies_at", "commission_cents", "why"}
"""What a state has beside what lies on the felt; and wording, which may be corrected."""


def on_the_felt(spelled: Any) -> Any:
    if isinstance(spelled, dict):
        return {name: on_the_felt(part) for name, part in spelled.items() if name not in UNSEEN}
    return [on_the_felt(part) for part in spelled] if isinstance(spelled, list | tuple) else spelled


@pytest.mark.parametrize("game", HOUSE_DIGESTS)
def test_every_session_of_a_house_game_is_the_same_to_the_byte(game: str) -> None:
    """Harm: an old practice is replayed to other questions, and a certificate that rests on it does not hold."""
    practised = PROVIDERS[game]
    assert practised.version == VERSIONS[game]
    questions = providers.script(practised.course("a1", 20, practised.game.rules_type(unit=100)))
    lines = [json.dumps(on_the_felt(msgspec.to_builtins(offered(question))), sort_keys=True) for question in questions]
    assert (len(questions), sha256("\n".join(lines).encode()).hexdigest()) == HOUSE_DIGESTS[game]
