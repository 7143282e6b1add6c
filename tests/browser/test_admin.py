"""The administration in a real browser: landmarks, the house's type and times, and the way to the floor and back."""

import pytest

from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious, violations
from tests.fixtures.browser import Looking
from tests.floor import dealt

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LANDMARKS = {"landmark-one-main", "landmark-no-duplicate-main", "region", "bypass"}
"""Not landmark-unique: the scroll bars that unfold draws are all called alike."""
PAGES = ("", "tables/table/", "tables/staff/", "tables/houseterms/", "tables/houseterms/add/", "ledger/logentry/")


def test_the_administration_is_one_product_with_the_floor(looking: Looking) -> None:
    """Harm: an operator in two products, each with its own type, times and colours; pages without landmarks."""
    dealer, _ = dealt()
    page = looking(floor.staff(Role.OPERATOR, "olga"), f"/pit/tables/{dealer.table.pk}/")
    page.click(f"#pages-{dealer.table.pk} > summary")
    page.click("a:has-text('Set up')")
    page.wait_for_selector("main")
    assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith("Archivo")
    page.click(f"a:has-text('{dealer.table.name} on the floor')")
    page.wait_for_url(f"**/pit/tables/{dealer.table.pk}/")

    faults: dict[str, list[str]] = {}
    for address in (*PAGES, f"tables/table/{dealer.table.pk}/change/", f"tables/table/{dealer.table.pk}/history/"):
        page.goto(page.url.partition("/pit/")[0].partition("/admin/")[0] + f"/admin/{address}")
        lost = LANDMARKS & {rule["id"] for rule in violations(page, *EVERY_RULE)}
        if says := [*serious(page), *lost]:
            faults[address] = says
    assert faults == {}


def test_its_tables_write_times_as_the_floor_does(looking: Looking) -> None:
    """Harm: "Nov. 21, 2026, 11:09 p.m." beside "21 Nov 23:09"; and labels of columns again in each cell."""
    dealt()
    page = looking(floor.staff(Role.OPERATOR, "olga"), "/admin/ledger/logentry/")
    row = page.inner_text("#result_list tbody tr >> nth=0")
    assert "a.m." not in row
    assert "p.m." not in row
    assert (
        page.evaluate("getComputedStyle(document.querySelector('#result_list tbody [data-label]'), '::before').display")
        == "none"
    )


TABLET, UPRIGHT = {"width": 1024, "height": 768}, {"width": 800, "height": 1280}
SMALL = """() => [...document.querySelectorAll(
    'main :is(input, select, button, a[class*="rounded"][class*="border"]), #header-inner a, a.addlink')]
    .filter(field => !['hidden', 'checkbox', 'radio', 'file'].includes(field.type) && field.offsetParent)
    .map(field => [field.getBoundingClientRect(), field])
    .filter(([box]) => box.width > 1 && box.height > 1 && box.height < 48)
    .map(([box, field]) => `${Math.round(box.width)}x${Math.round(box.height)} ${field.outerHTML.slice(0, 160)}`)"""


@pytest.mark.parametrize("viewport", [TABLET, UPRIGHT], ids=["tablet", "upright"])
def test_what_is_pressed_with_a_finger_is_as_high_as_one(looking: Looking, viewport: dict[str, int]) -> None:
    """Harm: an operator on a tablet presses the field beside the one that was meant, and sets another limit."""
    dealer, _ = dealt()
    olga = floor.staff(Role.OPERATOR, "olga")
    pk = dealer.table.pk
    small = {}
    for address in ("table/", f"table/{pk}/change/", "table/grid/", "staff/add/", "houseterms/"):
        page = looking(olga, f"/admin/tables/{address}", viewport, has_touch=True, is_mobile=True)
        if fields := page.evaluate(SMALL):
            small[address] = fields
    assert small == {}, "\n".join(f"{where} {field}" for where, fields in small.items() for field in fields)
