"""The plan of a pit in a real browser: arranged by keyboard and by dragging, and read on the floor."""

import pytest

from tables.log.entries.pits import PitSectionSet
from tables.roles import Role
from tables.setup import floor_plans, pits, table_settings
from tests import floor
from tests.accessibility import serious
from tests.fixtures.browser import Looking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 390, "height": 844}


def test_tables_are_arranged_by_keyboard_and_by_dragging_and_the_floor_sees_it(looking: Looking) -> None:
    """Harm: only who drags with a mouse can arrange a pit; a screen reader hears nothing of a table that moves."""
    dealer, _ = floor.dealt()
    olga = floor.staff(Role.OPERATOR, "olga")
    for number in (2, 3):
        table_settings.create_table(f"Rocket {number}", table_settings.settings_of(dealer.table), by=olga)
    pits.set_section(PitSectionSet(pit="Pit 1", tables=("Rocket 1", "Rocket 2", "Rocket 3")), by=olga)
    page = looking(olga, "/admin/tables/pitsection/plan/")
    page.focus("[data-name='Rocket 1']")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.inner_text("#plan-says") == "Rocket 1: 0 from the left, 4 from the top"
    box = page.locator("[data-name='Rocket 2'] rect").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 3 * box["width"], box["y"] + 2 * box["height"], steps=5)
    page.mouse.up()
    assert serious(page) == []
    page.click("text=Save the plan")
    page.wait_for_selector("text=The plan of Pit 1 is drawn.")
    spots = floor_plans.newest("Pit 1").spots  # type: ignore[union-attr]
    assert spots["Rocket 1"] == [0, 4]
    assert spots["Rocket 2"][0] > 9
    boss = looking(floor.staff(Role.PIT_BOSS, "boris"), "/pit/plan/")
    assert boss.locator("[aria-label^='Rocket 2: Closed']").count() == 1
    assert serious(boss) == []
    boss.click("[aria-label^='Rocket 1:']")
    boss.wait_for_url(f"**/pit/tables/{dealer.table.pk}/")
    for address, who in (("/pit/plan/", olga), ("/admin/tables/pitsection/plan/", olga)):
        phone = looking(who, address, PHONE)
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
        assert serious(phone) == []
