"""The desk and its grid in a real browser: by keyboard, on a phone, and fit for everybody's eyes."""

import pytest

from tables.limits import plans
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.limit_plans import Always
from tables.models import Table
from tables.roles import Role
from tables.setup import pits, table_settings
from tests import floor
from tests.accessibility import serious
from tests.codes import answers
from tests.fixtures.browser import PHONE, Looking
from tests.layout import fits_width

pytestmark = pytest.mark.django_db(transaction=True)

GRID = "/admin/tables/table/grid/"


def test_limits_are_changed_by_keyboard_alone_and_nothing_is_lost_on_the_way(looking: Looking) -> None:
    """Harm: Enter in a cell sends half of a form; a page that only a mouse works; amounts cut off on a phone."""
    olga, first = floor.staff(Role.OPERATOR, "olga"), floor.table()
    settings = table_settings.settings_of(first)
    second, third, *_ = [table_settings.create_table(f"Rocket {number}", settings, by=olga) for number in range(2, 8)]
    pits.set_section(PitSectionSet(pit="Pit 1", tables=("Rocket 1", "Rocket 2", "Rocket 3")), by=olga)
    plan = LimitPlanSet(
        name="Nights", schedule=Always(), version=0, scope="pit", of="Pit 1", values={"cap_cents": 500_000},
        effective="",
    )  # fmt: skip
    plans.set_plan(plan, expected_version=0, by=olga)
    page = looking(olga, GRID)
    page.fill(f"[name='c-{first.pk}-min_cents']", "20")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("15")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.name") == f"c-{third.pk}-min_cents"
    assert page.url.endswith(GRID)
    page.click("[name=do][value=preview]")
    page.wait_for_selector(".grid__faults li")
    page.fill(f"[name='c-{second.pk}-min_cents']", "30")
    assert serious(page) == []
    page.click("[name=do][value=preview]")
    page.wait_for_selector("[name=do][value=save]")
    assert serious(page) == []
    page.click("[name=do][value=save]")
    answers(page, "limits_set")
    assert list(Table.objects.order_by("pk").values_list("min_cents", flat=True))[:3] == [2_000, 3_000, 1_000]
    page.set_viewport_size(PHONE)
    for address in ("/admin/", GRID, f"{GRID}import/", "/admin/tables/table/limits/history/", "/admin/records/"):
        page.goto(address)
        assert fits_width(page), address
        assert address in ("/admin/", GRID) or serious(page) == [], address
