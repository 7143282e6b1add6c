"""Practice in a real browser: a trainee who deals by keyboard and by touch, and is told each mistake."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from tables.models import Practice, PracticeAnswer, Staff
from tables.roles import Role
from tables.training import certificates
from tables.training.providers import PROVIDERS
from tables.training.questions import Question
from tests import floor
from tests.accessibility import serious
from tests.fixtures.browser import PHONE, Looking
from tests.layout import fits_width, overlapping, small

TABLET = {"width": 1280, "height": 800}


@pytest.fixture
def page(looking: Looking) -> Any:
    """The trainee's browser, with a clock that can be put forward."""
    opened = looking(floor.staff(Role.DEALER, "tess", "102"), "about:blank", TABLET)
    opened.clock.install()
    return opened


PARTS = ", ".join(
    f".board--practice {part}"
    for part in (
        ".seat__spot", ".wager", ".house__pair > .hand", ".house__cards", ".prompt", ".console", ".topline",
    )
)  # fmt: skip
HIDDEN = """() => [...document.querySelectorAll(".console .button")]
  .filter((key) => key.getBoundingClientRect().bottom > innerHeight).map((key) => key.innerText)"""
SIZES = (TABLET, {"width": 1024, "height": 768}, {"width": 800, "height": 1280})


def verdict(page: Any) -> str:
    """What became of the last answer: right or wrong."""
    return str(page.get_attribute("#verdict", "data-code"))


def asks(page: Any, question: Question) -> bool:
    """Whether the table's prompt is this question, with what seats decided before it."""
    prompt = page.locator(".prompt")
    return bool(prompt.locator("#prompt").inner_text() == question.asks and question.decisions in prompt.inner_text())


def answer(page: Any, question: Question, *, right: bool = True) -> None:
    """Answer by keys alone."""
    with page.expect_navigation():
        if not question.pays:
            key = next(each.key for each in question.answers if (each.name == question.right) is right)
            is_step = right and question.right == "over"
            if is_step:
                page.clock.fast_forward(400)  # before that an Enter may be a finger that trembles
            page.keyboard.press("Enter" if is_step else key)
        elif question.right == "0":
            page.keyboard.press("b")
        else:
            page.keyboard.type(f"{abs(int(question.right)) / 100:g}")
            page.keyboard.press("Enter")
            page.keyboard.press("t" if question.right.startswith("-") else "p")


def answer_up_to(row: Practice, questions: Sequence[Question], number: int) -> None:
    """Answer correctly the questions before this one that have no answer yet."""
    answer_count = len(certificates.session(row).answers)
    PracticeAnswer.objects.bulk_create(
        PracticeAnswer(practice=row, number=place, answer=question.right)
        for place, question in enumerate(questions[answer_count:number], answer_count + 1)
    )


def test_a_trainee_deals_by_keys_and_hears_each_mistake(page: Any) -> None:
    """Harm: a practice that cannot be used as the table is, by keys or fingers; or that lets a mistake pass unsaid."""
    page.goto("/practice/")
    page.click("#start")
    page.wait_for_selector("#progress")
    row = Practice.objects.get()
    questions = certificates.session(row).questions
    firsts = [
        next(place for place, question in enumerate(questions) if place and name in (question.kind, question.right))
        for name in ("turn", "called", "pays", "over")
    ]
    for place in sorted({0, *firsts}):
        question = questions[place]
        answer_up_to(row, questions, place)
        page.reload()
        assert asks(page, question)
        assert page.is_visible(".practice__name")
        assert small(page) == []
        assert serious(page) == []
        answer(page, question, right=place > 0)
        assert verdict(page) == ("right" if place else "wrong")
        assert place or page.is_visible(f'[data-seat="{question.right}"] .seat__answer--wrong')
    answer_up_to(row, questions, len(questions))
    page.reload()
    assert page.is_visible("#badge")
    assert small(page) == []
    assert serious(page) == []
    floor.staff(Role.PIT_BOSS, "bo", "305")
    page.fill("#badge", "305")
    page.fill("#pin", floor.PIN)
    page.keyboard.press("Enter")
    page.wait_for_selector(".practice__paper")


def is_clear(page: Any) -> None:
    """The felt can be read and every answer reached, on each device."""
    for size in (*SIZES, PHONE):
        page.set_viewport_size(size)
        assert overlapping(page, PARTS) == [], size
        assert size == PHONE or page.evaluate(HIDDEN) == [], size
        assert small(page) == [], size
        assert fits_width(page), size
    page.set_viewport_size(TABLET)


def drawn(dealer: Staff, game: str, **options: Any) -> Practice:
    """A practice of a course that is always the same, so that it always has the same felts."""
    practised = PROVIDERS[game]
    course = practised.course("felts", 20, msgspec.convert({"unit": 100, **options}, practised.game.rules_type))
    row: Practice = Practice.objects.create(dealer=dealer, course=msgspec.to_builtins(course))
    return row


def crowd(question: Question) -> int:
    """How much lies on the felt, and at the seat that has most."""
    if hasattr(question.state, "stacks"):
        return sum(map(len, question.state.stacks)) + sum(map(bool, question.state.bets))
    return max(
        len(spot.wagers) + sum(1 + len(hand.cards) for hand in spot.hands) + 10 * len(spot.hands)
        for spot in question.state.spots
    ) + len(question.state.spots)


FULL = {
    "rocket": {},
    "baccarat": {
        "commission": "ez",
        "spread": [
            "tie",
            "player_pair",
            "banker_pair",
            "dragon_7",
            "panda_8",
            "dragon_bonus_player",
            "dragon_bonus_banker",
        ],
    },
    "blackjack": {"surrender": "late", "spread": ["perfect_pairs", "twenty_one_plus_three"]},
    "casino_war": {},
    "dragon_tiger": {"spread": ["tie", "suited_tie"]},
    "three_card_poker": {},
}


@pytest.mark.trial(
    "further felts of the same screen",
    covered_by="tests/browser/test_practice.py::test_a_trainee_deals_by_keys_and_hears_each_mistake",
)
@pytest.mark.parametrize("game", FULL)
def test_the_fullest_felts_of_a_game_lie_apart(looking: Looking, game: str) -> None:
    """Harm: a seat's wager lies under the dealer's cards, or an answer below the edge of the screen."""
    dealer = floor.staff(Role.DEALER, "tess", "102")
    page = looking(dealer, "about:blank", TABLET)
    questions = certificates.session(drawn(dealer, game, **FULL[game])).questions
    fullest = [max((each for each in questions if each.kind == kind), key=crowd) for kind in ("turn", "called", "pays")]
    longest = max(questions, key=lambda each: sum(len(answer.words) for answer in each.answers))
    for due in (*fullest, longest):
        row = drawn(dealer, game, **FULL[game])
        answer_up_to(row, questions, questions.index(due))
        page.goto(f"/practice/{row.pk}/")
        assert asks(page, due)
        is_clear(page)
