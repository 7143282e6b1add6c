"""Who runs which pit, in a browser: an operator sets a post; a pit boss takes another pit over, from a table there."""

import pytest

from ledger.models import LogEntry
from tables.log.entries.pits import PitSectionSet
from tables.roles import Role
from tables.setup import pits
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.browser.conftest import PORTRAIT
from tests.codes import answers
from tests.fixtures.browser import Looking
from tests.layout import fits_width

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_post_is_set_and_a_pit_taken_over(looking: Looking) -> None:
    """Harm: a pit boss stands at a table that burns, and finds neither why nothing is taken nor how to go on."""
    felt, boss = floor.dealt()
    floor.table("Rocket 2")
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    for number in (1, 2):
        pits.set_section(PitSectionSet(pit=f"Pit {number}", tables=(f"Rocket {number}",)), by=olga)

    desk = looking(olga, "/admin/tables/post/grid/", PORTRAIT)
    assert serious(desk, *EVERY_RULE) == []
    desk.check("input[value='Pit 2'] >> nth=0")
    desk.click(".grid__bar .grid__button--main")
    desk.wait_for_selector(".posts__pit:has-text('Pit 2')")
    assert fits_width(desk)

    page = looking(boss.by, f"/pit/tables/{felt.table.pk}/", PORTRAIT)
    assert serious(page, *EVERY_RULE) == []
    page.click("a[href$='#take-over']")
    page.wait_for_selector("#take-over")
    assert page.input_value("#pit") == "Pit 1"
    assert serious(page, *EVERY_RULE) == []
    assert fits_width(page)
    page.fill("#reason", "Boris was taken ill")
    page.keyboard.press("Enter")
    answers(page, "cover_set")
    assert LogEntry.objects.filter(subject="post", kind="cover_set").count() == 1
    page.goto(f"/pit/tables/{felt.table.pk}/")
    assert not page.locator("a[href$='#take-over']").count()
