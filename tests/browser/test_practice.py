"""Practice in a real browser: a trainee who deals by keyboard and by touch, and is told each mistake."""

from typing import Any

import msgspec
import pytest

from tables.models import Practice, PracticeAnswer, Staff
from tables.roles import Role
from tables.training import certificates
from tables.training.practice import Question
from tables.training.providers import PROVIDERS
from tests import floor
from tests.accessibility import serious
from tests.browser.test_slips import SMALL
from tests.fixtures.browser import Looking

TABLET = {"width": 1280, "height": 800}


@pytest.fixture
def page(looking: Looking) -> Any:
    """The trainee's browser, with a clock that can be put forward."""
    opened = looking(floor.staff(Role.DEALER, "tess", "102"), "about:blank", TABLET)
    opened.clock.install()
    return opened


OVER_EACH_OTHER = """() => {
  const parts = [".seat__spot", ".wager", ".house__pair > .hand", ".house__cards", ".prompt", ".console", ".topline"];
  const boxes = [...document.querySelectorAll(parts.map((part) => `.board--practice ${part}`).join())]
    .map((part) => [`${part.className} ${part.innerText.slice(0, 20)}`, part.getBoundingClientRect()]);
  const beside = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1;
  const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
  return boxes.flatMap(([name, a], place) =>
    boxes.slice(place + 1).filter(([, b]) => !apart(a, b)).map(([other]) => `${name} / ${other}`));
}"""
HIDDEN = """() => [...document.querySelectorAll(".console .button")]
  .filter((key) => key.getBoundingClientRect().bottom > innerHeight).map((key) => key.innerText)"""
SIZES = (TABLET, {"width": 1024, "height": 768}, {"width": 800, "height": 1280})
PHONE = {"width": 390, "height": 844}


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


def test_a_trainee_deals_by_keys_and_hears_each_mistake(page: Any) -> None:
    """Harm: a practice that cannot be used as the table is, by keys or fingers; or that lets a mistake pass unsaid."""
    page.goto("/practice/")
    page.click("#start")
    practised = certificates.session(Practice.objects.get())
    seen = set()
    for place, question in enumerate(practised.questions):
        if {"turn", "called", "pays", "over"} <= seen:
            break
        assert asks(page, question)
        assert page.is_visible(".practice__name")
        if question.kind not in seen:
            assert page.evaluate(SMALL) == []
            assert serious(page) == []
        seen |= {question.kind, question.right}
        answer(page, question, right=place > 0)
        assert verdict(page) == ("wrong" if place == 0 else "right")
        if place == 0:
            assert page.is_visible(f'[data-seat="{question.right}"] .seat__answer--wrong')
    answers = certificates.session(practised.row).answers
    for number, question in enumerate(practised.questions[len(answers) :], start=len(answers) + 1):
        PracticeAnswer.objects.create(practice=practised.row, number=number, answer=question.right)
    page.reload()
    assert page.is_visible("#badge")
    assert page.evaluate(SMALL) == []
    assert serious(page) == []
    floor.staff(Role.PIT_BOSS, "bo", "305")
    page.fill("#badge", "305")
    page.fill("#pin", floor.PIN)
    page.keyboard.press("Enter")
    page.wait_for_selector(".practice__paper")


def is_clear(page: Any) -> None:
    """The felt can be read and every answer reached, on each device."""
    for size in SIZES:
        page.set_viewport_size(size)
        assert page.evaluate(OVER_EACH_OTHER) == [], size
        assert page.evaluate(HIDDEN) == [], size
        assert page.evaluate(SMALL) == [], size
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size
    page.set_viewport_size(PHONE)
    assert page.evaluate(OVER_EACH_OTHER) == []
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
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
    "baccarat": {"commission": "ez", "spread": ["tie", "player_pair", "banker_pair", "dragon_7", "panda_8"]},
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
        row, number = drawn(dealer, game, **FULL[game]), questions.index(due)
        PracticeAnswer.objects.bulk_create(
            PracticeAnswer(practice=row, number=place, answer=each.right)
            for place, each in enumerate(questions[:number], 1)
        )
        page.goto(f"/practice/{row.pk}/")
        assert asks(page, due)
        is_clear(page)


@pytest.mark.trial(
    "a further game to practise",
    covered_by="tests/browser/test_practice.py::test_a_trainee_deals_by_keys_and_hears_each_mistake",
)
def test_a_trainee_deals_a_course_of_blackjack(page: Any) -> None:
    """Harm: a felt with hands and wagers apart on which nobody can see what is asked, or press what is right."""
    page.goto("/practice/")
    page.click("a[href$='?game=blackjack']")
    page.click(".practice__terms summary")
    page.select_option("#option-surrender", "late")
    page.check("[name=spread][value=perfect_pairs]")
    assert page.evaluate(SMALL) == []
    assert serious(page) == []
    page.click("#start")
    page.wait_for_selector("#progress")
    begun = Practice.objects.get()
    assert begun.course["options"]["surrender"] == "late"
    assert begun.course["options"]["spread"] == ["perfect_pairs"]
    course = certificates.session(drawn(begun.dealer, "blackjack", surrender="late"))
    page.goto(f"/practice/{course.row.pk}/")
    shown: set[str] = set()
    for asked in course.questions:
        assert asks(page, asked)
        looks = f"{asked.kind} {asked.wager.bet if asked.wager else asked.right}"
        if looks not in shown:
            assert serious(page) == []
        shown.add(looks)
        answer(page, asked)
        assert verdict(page) == "right"
        if {"pays main", "called draw", "turn 0"} <= shown:
            break
    given = len(certificates.session(course.row).answers)
    for number, asked in enumerate(course.questions[given:], given + 1):
        PracticeAnswer.objects.create(practice=course.row, number=number, answer=asked.right)
    page.reload()
    floor.staff(Role.PIT_BOSS, "bo", "305")
    page.fill("#badge", "305")
    page.fill("#pin", floor.PIN)
    page.keyboard.press("Enter")
    page.wait_for_selector(".practice__dealt-under")
