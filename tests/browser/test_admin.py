"""The administration in a real browser: landmarks, the house's type and times, and the way to the floor and back."""

from collections.abc import Sequence
from typing import Any

import pytest

from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, WCAG, in_words, violations
from tests.fixtures.browser import Looking
from tests.floor import dealt

pytestmark = pytest.mark.django_db(transaction=True)

LANDMARKS = {"landmark-one-main", "landmark-no-duplicate-main", "region", "bypass"}
"""Not landmark-unique: the scroll bars that unfold draws are all called alike."""
PAGES = ("", "tables/houseterms/add/", "ledger/logentry/", "tables/table/{pk}/change/")
FURTHER_PAGES = (
    "tables/table/",
    "tables/staff/",
    "tables/houseterms/",
    "tables/houseterms/roles/",
    "tables/table/{pk}/history/",
)


def faults_of(page: Any, addresses: Sequence[str], pk: int) -> dict[str, list[str]]:
    """Violations of WCAG and of the rules on landmarks, by page."""
    faults: dict[str, list[str]] = {}
    for address in addresses:
        page.goto(f"/admin/{address.format(pk=pk)}")
        rules = violations(page, *EVERY_RULE)
        missing_landmarks = LANDMARKS & {rule["id"] for rule in rules}
        if sentences := [*in_words(rule for rule in rules if {*WCAG} & {*rule["tags"]}), *missing_landmarks]:
            faults[address] = sentences
    return faults


def test_the_administration_is_one_product_with_the_floor(looking: Looking) -> None:
    """Harm: an operator in two products, each with its own type, times and colours; pages without landmarks."""
    dealer, _ = dealt()
    page = looking(floor.staff(Role.OPERATOR, "olga"), f"/pit/tables/{dealer.table.pk}/")
    page.click(f"#pages-{dealer.table.pk} > summary")
    page.click("a[href$='/change/']")
    page.wait_for_url("**/admin/tables/table/*/change/")
    assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith("Archivo")
    page.click("#content a[href*='/pit/tables/']")
    page.wait_for_url(f"**/pit/tables/{dealer.table.pk}/")

    assert faults_of(page, PAGES, dealer.table.pk) == {}
    page.goto("/admin/ledger/logentry/")
    label = "getComputedStyle(document.querySelector('#result_list tbody [data-label]'), '::before').display"
    assert page.evaluate(label) == "none", "labels of columns again in each cell"
    assert ".m." not in page.inner_text("#result_list tbody tr >> nth=0"), "times otherwise than on the floor"


UPRIGHT = {"width": 800, "height": 1280}
SMALL = """() => [...document.querySelectorAll(
    'main :is(input, select, button, a[class*="rounded"][class*="border"]), #header-inner a, a.addlink')]
    .filter(field => !['hidden', 'checkbox', 'radio', 'file'].includes(field.type) && field.offsetParent)
    .map(field => [field.getBoundingClientRect(), field])
    .filter(([box]) => box.width > 1 && box.height > 1 && box.height < 48)
    .map(([box, field]) => `${Math.round(box.width)}x${Math.round(box.height)} ${field.outerHTML.slice(0, 160)}`)"""


@pytest.mark.trial(
    "further pages of the administration, beside its one path",
    covered_by="tests/browser/test_admin.py::test_the_administration_is_one_product_with_the_floor",
)
def test_further_pages_have_landmarks_and_controls_as_high_as_a_finger(looking: Looking) -> None:
    """Harm: an operator on a tablet presses the field beside the one that was meant, and sets another limit."""
    dealer, _ = dealt()
    olga = floor.staff(Role.OPERATOR, "olga")
    pk = dealer.table.pk
    small = {}
    page = looking(olga, "/admin/", UPRIGHT, has_touch=True, is_mobile=True)
    for address in ("table/", f"table/{pk}/change/", "table/grid/", "staff/add/", "houseterms/"):
        page.goto(f"/admin/tables/{address}")
        if fields := page.evaluate(SMALL):
            small[address] = fields
    assert faults_of(page, FURTHER_PAGES, pk) == {}
    assert small == {}, "\n".join(f"{where} {field}" for where, fields in small.items() for field in fields)
