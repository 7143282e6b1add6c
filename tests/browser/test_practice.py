"""Practice in a real browser: a trainee who deals by keyboard and by touch, and is told each mistake."""

from typing import Any

import pytest

from tables.models import Practice, PracticeAnswer
from tables.roles import Role
from tables.training import certificates
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
