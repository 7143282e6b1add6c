"""The plan of a pit in a real browser: arranged by keyboard and by dragging, and read on the floor."""

from uuid import uuid4

import pytest

from tables.floor import recorder
from tables.floor.inputs import LockRack
from tables.log.entries.pits import PitSectionSet
from tables.roles import Role
from tables.setup import floor_plans, pits, table_settings
from tests import floor
from tests.accessibility import serious
from tests.codes import answers
from tests.fixtures.browser import PHONE, Looking
from tests.layout import fits_width, overlapping

pytestmark = pytest.mark.django_db(transaction=True)


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
    assert page.inner_text("#plan-says")
    assert page.get_attribute("[data-name='Rocket 1']", "transform") == "translate(0 4)"
    box = page.locator("[data-name='Rocket 2'] rect").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 3 * box["width"], box["y"] + 2 * box["height"], steps=5)
    page.mouse.up()
    assert serious(page) == []
    page.click("#plan-form .grid__button--main")
    answers(page, "plan_drawn")
    spots = floor_plans.newest("Pit 1").spots  # type: ignore[union-attr]
    assert spots["Rocket 1"] == [0, 4]
    assert spots["Rocket 2"][0] > 9
    boss = looking(floor.staff(Role.PIT_BOSS, "boris"), "/pit/plan/")
    assert boss.locator("[data-name='Rocket 1'].is-open").count() == 1
    assert boss.locator("[data-name='Rocket 2'].is-open").count() == 0
    assert serious(boss) == []
    boss.click("[data-name='Rocket 1']")
    boss.wait_for_url(f"**/pit/tables/{dealer.table.pk}/")
    page.set_viewport_size(PHONE)
    for address in ("/pit/plan/", "/admin/tables/pitsection/plan/"):
        page.goto(address)
        assert fits_width(page), address
        assert serious(page) == [], address


@pytest.mark.trial(
    "the stream has its path on the floor",
    covered_by="tests/browser/test_pit_floor.py::test_a_round_is_followed_card_by_card_without_a_reload",
)
def test_the_plan_follows_the_floor_by_its_stream(looking: Looking) -> None:
    """Harm: a screen on the wall shows a table as open for ten seconds after its rack was locked; or forty screens ask
    for the whole plan again and again while nothing happens."""
    _, boss = floor.dealt()
    olga = floor.staff(Role.OPERATOR, "olga")
    pits.set_section(PitSectionSet(pit="Pit 1", tables=("Rocket 1",)), by=olga)
    page = looking(boss.by, "/pit/plan/")
    page.wait_for_selector("#live[data-state='live']")
    page.focus("[data-name='Rocket 1']")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    recorder.record(boss.table, LockRack("an alarm"), by=boss.by, key=uuid4(), expected_seq=boss.now.seq)
    page.wait_for_selector("[data-name='Rocket 1'].is-needing")
    assert page.evaluate("document.activeElement.dataset.name") == "Rocket 1"
    assert sum(url.endswith("/pit/plan/") for url in asked) <= 1, "once at most, while the one who draws tiles begins"


@pytest.mark.trial(
    "forty tables, of which tests/tables/setup/test_floor_plans.py has the places",
    covered_by="tests/tables/setup/test_floor_plans.py::test_a_pit_has_a_plan_before_anybody_draws_one_and_tables_that_left_are_on_none",
)
def test_forty_tables_that_nobody_drew_lie_side_by_side(looking: Looking) -> None:
    """Harm: those that the first rows have no room for lie upon each other, and nobody can press the lower ones."""
    olga = floor.staff(Role.OPERATOR, "olga")
    terms = table_settings.settings_of(floor.table("Rocket 1"))
    for number in range(2, 41):
        table_settings.create_table(f"Rocket {number}", terms, by=olga)
    names = tuple(f"Rocket {number}" for number in range(1, 41))
    pits.set_section(PitSectionSet(pit="Pit 1", tables=names), by=olga)
    plan = looking(olga, "/pit/plan/")
    editor = looking(olga, "/admin/tables/pitsection/plan/")
    for page, chosen in ((plan, ".plan__table rect"), (editor, "[data-table] rect")):
        assert page.locator(chosen).count() == 40
        assert overlapping(page, chosen) == []
    editor.click("#plan-form .grid__button--main")
    answers(editor, "plan_drawn")
    assert len(floor_plans.newest("Pit 1").spots) == 40  # type: ignore[union-attr]
