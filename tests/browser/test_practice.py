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

pytestmark = pytest.mark.browser

TABLET = {"width": 1280, "height": 800}


@pytest.fixture
def page(looking: Looking) -> Any:
    """The trainee's browser."""
    return looking(floor.staff(Role.DEALER, "tess", "102"), "about:blank", TABLET)


OVER_EACH_OTHER = """() => {
  const parts = ".practice__table .seat__spot, .practice__table .wager, .practice__table .house__pair > .hand";
  const boxes = [...document.querySelectorAll(`${parts}, .practice__ask`)]
    .map((part) => [`${part.className} ${part.innerText.slice(0, 20)}`, part.getBoundingClientRect()]);
  const beside = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1;
  const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
  return boxes.flatMap(([name, a], place) =>
    boxes.slice(place + 1).filter(([, b]) => !apart(a, b)).map(([other]) => `${name} / ${other}`));
}"""
HIDDEN = """() => [...document.querySelectorAll(".practice__answers button")]
  .filter((key) => key.getBoundingClientRect().bottom > innerHeight).map((key) => key.innerText)"""
SIZES = (TABLET, {"width": 1024, "height": 768}, {"width": 800, "height": 1280})


def test_a_trainee_deals_by_keys_and_hears_each_mistake(page: Any) -> None:
    """Harm: a practice that cannot be used as the table is, by keys or fingers; or that lets a mistake pass unsaid."""
    page.goto("/practice/")
    page.get_by_role("button", name="Start a new practice").click()
    now = certificates.session(Practice.objects.get())
    seen = set()
    for at, one in enumerate(now.questions):
        if {"turn", "called", "pays"} <= seen:
            break
        assert page.get_by_role("heading", level=1).inner_text() == one.asks
        assert page.get_by_text("PRACTICE", exact=True).is_visible()
        if one.kind not in seen:
            assert page.evaluate(SMALL) == []
            assert serious(page) == []
        seen.add(one.kind)
        with page.expect_navigation():
            if one.pays:
                page.keyboard.type(str(abs(int(one.right)) // 100))
                page.keyboard.press("t" if one.right.startswith("-") else "p")
            else:
                page.keyboard.press("n" if at == 0 else _key(one))
        said = page.get_by_role("status").inner_text()
        assert said.startswith("✗ Wrong" if at == 0 else "✓ Right")
    answers = certificates.session(now.row).answers
    for number, one in enumerate(now.questions[len(answers) :], start=len(answers) + 1):
        PracticeAnswer.objects.create(practice=now.row, number=number, answer=one.right)
    page.reload()
    assert page.get_by_role("button", name="Sign the certificate").is_visible()
    assert page.evaluate(SMALL) == []
    assert serious(page) == []
    floor.staff(Role.PIT_BOSS, "bo", "305")
    page.fill("#badge", "305")
    page.fill("#pin", floor.PIN)
    page.keyboard.press("Enter")
    page.get_by_text("deals Rocket").wait_for()


def _key(one: Any) -> str:
    calls = ["on", "pair", "dealer_pair", "death_card"]
    if one.kind == "called":
        return str(calls.index(one.right) + 1)
    return {"0": "d", "over": "n"}.get(one.right, str(one.right))


def is_clear(page: Any) -> None:
    """The felt can be read and every answer reached, on each device."""
    for size in SIZES:
        page.set_viewport_size(size)
        assert page.evaluate(OVER_EACH_OTHER) == [], size
        assert page.evaluate(HIDDEN) == [], size
        assert page.evaluate(SMALL) == [], size
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size


def drawn(dealer: Staff, game: str, **options: Any) -> Practice:
    """A practice of a course that is always the same, so that it always has the same felts."""
    practised = PROVIDERS[game]
    course = practised.course("felts", 20, msgspec.convert({"unit": 100, **options}, practised.game.rules_type))
    row: Practice = Practice.objects.create(dealer=dealer, course=msgspec.to_builtins(course))
    return row


def crowd(question: Question) -> int:
    """How much lies on the felt at the seat that has most."""
    return max(
        len(spot.wagers) + sum(1 + len(hand.cards) for hand in spot.hands) + 10 * len(spot.hands)
        for spot in question.state.spots
    ) + len(question.state.spots)


FULL = {
    "baccarat": {"commission": "ez", "spread": ["tie", "player_pair", "banker_pair", "dragon_7", "panda_8"]},
    "blackjack": {"surrender": "late", "spread": ["perfect_pairs", "twenty_one_plus_three"]},
    "casino_war": {},
    "dragon_tiger": {"spread": ["tie", "suited_tie"]},
    "three_card_poker": {},
}


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
        assert page.get_by_role("heading", level=1).inner_text() == due.asks
        is_clear(page)


def test_a_trainee_deals_a_course_of_blackjack(page: Any) -> None:
    """Harm: a felt with hands and wagers apart on which nobody can see what is asked, or press what is right."""
    page.goto("/practice/")
    page.get_by_role("link", name="Blackjack").click()
    page.get_by_text("choose others").click()
    page.get_by_label("Surrender").select_option("late")
    page.get_by_label("perfect pairs").check()
    assert page.evaluate(SMALL) == []
    assert serious(page) == []
    page.get_by_role("button", name="Start a new practice").click()
    page.get_by_text("Question 1 of").wait_for()
    begun = Practice.objects.get()
    assert begun.course["options"]["surrender"] == "late"
    assert begun.course["options"]["spread"] == ["perfect_pairs"]
    course = certificates.session(drawn(begun.dealer, "blackjack", surrender="late"))
    page.goto(f"/practice/{course.row.pk}/")
    shown: set[str] = set()
    for asked in course.questions:
        assert page.get_by_role("heading", level=1).inner_text() == asked.asks
        assert asked.decisions in page.locator(".practice__ask").inner_text()
        looks = f"{asked.kind} {asked.wager.bet if asked.wager else asked.right}"
        if looks not in shown:
            assert serious(page) == []
        shown.add(looks)
        with page.expect_navigation():
            if not asked.pays:
                page.keyboard.press(next(answer.key for answer in asked.answers if answer.name == asked.right))
            elif asked.right == "0":
                page.keyboard.press("b")
            else:
                page.keyboard.type(f"{abs(int(asked.right)) / 100:g}")
                page.keyboard.press("Enter")
                page.keyboard.press("t" if asked.right.startswith("-") else "p")
        assert page.get_by_role("status").inner_text().startswith("✓ Right")
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
    page.get_by_text("deals Blackjack").wait_for()
    assert page.get_by_text("surrender late").is_visible()
