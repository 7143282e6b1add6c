"""The notice of limits on the dealer's screen and the pit's pages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tables.limits import enforcement, plans
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import Always
from tables.roles import Role
from tests import floor
from tests.accessibility import serious
from tests.processes import Web

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_notice_has_a_strip_of_its_own_and_the_pit_sees_why(page: Page, web: Web) -> None:
    """Harm: a dealer does not know what to announce, or the words lie over the felt; a pit boss cannot say why."""
    dealer, boss = floor.dealt()
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    dealer.bets(seat1=1_000)
    dealer.cards(5, 3)
    dealer.pay()
    event = LimitPlanSet(
        name="Season", version=0, scope="house", schedule=Always(), values={"min_cents": 2_000}, note="Full house",
        keeps_seated=True, effective="",
    )  # fmt: skip
    plans.set_plan(event, expected_version=0, by=olga)
    enforcement.bring_into_force()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.context.add_cookies(floor.cookies_of(dealer.by, web.url))
    page.goto(f"{web.url}/tables/{dealer.table.pk}/")
    strip = page.locator("#limits-notice")
    expect(strip).to_contain_text("Full house")
    box, felt = strip.bounding_box(), page.locator(".felt").bounding_box()
    assert box is not None
    assert felt is not None
    assert box["y"] + box["height"] <= felt["y"]
    assert serious(page) == []
    page.context.clear_cookies()
    page.context.add_cookies(floor.cookies_of(boss.by, web.url))
    page.goto(f"{web.url}/pit/tables/{dealer.table.pk}/limits/")
    expect(page.locator("main")).to_contain_text("Season (Full house)")
    assert serious(page) == []
    page.context.clear_cookies()
    page.context.add_cookies(floor.cookies_of(olga, web.url))
    page.goto(f"{web.url}/admin/tables/limitplan/?table=Rocket+1")
    assert serious(page) == []
