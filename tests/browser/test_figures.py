"""Charts in a real browser: on a desk, on a phone, by keyboard and on paper."""

from typing import Any

import pytest

from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.fixtures.browser import PHONE, Looking
from tests.floor import dealt

pytestmark = pytest.mark.django_db(transaction=True)

SMALLEST_TEXT = """() => Math.min(...[...document.querySelectorAll(".plot text, .bars text")]
  .filter((text) => text.textContent.trim())
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""


def overflow(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_figures_are_read_on_a_phone_by_keyboard_and_on_paper(looking: Looking) -> None:
    """Harm: a chart with labels of four pixels, numbers that only a mouse finds, and bars that paper shows alike."""
    dealer, boss = dealt(options={"decks": 6})
    for _ in range(3):
        dealer.bets(seat1=1_000)
        dealer.cards(8, 3)
        dealer.pay()
    page = looking(boss.by, "/pit/reports/")
    assert not serious(page, EVERY_RULE)
    page.set_viewport_size(PHONE)
    assert overflow(page) <= 0
    assert page.evaluate(SMALLEST_TEXT) >= 12

    page.focus("[data-mark] >> nth=-2")
    page.keyboard.press("ArrowRight")
    assert "−" in page.text_content("[data-mark]:focus .plot__says")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?day=*")
    page.emulate_media(media="print")
    assert page.is_visible(".letterhead")
    assert page.is_visible(".numbers table"), "paper has no summary to press"

    page.emulate_media(media="screen")
    page.goto(f"/pit/tables/{dealer.table.pk}/")
    page.click(".plot__hit >> nth=1")
    assert page.evaluate("[...document.querySelectorAll('.plot__mark')].indexOf(document.activeElement)") == 1
    assert overflow(page) <= 0
    assert page.evaluate(SMALLEST_TEXT) >= 12


@pytest.mark.trial(
    "charts have their path on the report of a day",
    covered_by="tests/browser/test_figures.py::test_figures_are_read_on_a_phone_by_keyboard_and_on_paper",
)
def test_the_cut_card_is_read_on_a_phone(looking: Looking) -> None:
    """Harm: eight lines of which no name can be told."""
    page = looking(floor.staff(Role.OPERATOR, "olga"), "/pit/penetration/")
    assert not serious(page, EVERY_RULE)
    page.set_viewport_size(PHONE)
    assert overflow(page) <= 0
    assert page.evaluate(SMALLEST_TEXT) >= 12
