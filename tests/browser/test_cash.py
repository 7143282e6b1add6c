"""The cage's cash in a real browser: counted by two people with a shortage, through to the closed day's report."""

from datetime import timedelta

from django.utils import timezone

from ledger.models import Discrepancy
from tables.reports import day_close, gaming_hours
from tables.roles import Role
from tests import floor
from tests.browser.conftest import PORTRAIT
from tests.browser.test_slips import readable, sign, state
from tests.clock import Clock
from tests.codes import answers
from tests.fixtures.browser import Looking

HUNDREDS = "[name^=n][data-value='10000']"


def test_the_cage_is_short_and_the_closed_day_says_so(looking: Looking, clock: Clock) -> None:
    """Harm: two people count the cash of the cage, 100 is missing, and the day is closed as if it were there."""
    moment = timezone.now()
    day = gaming_hours.day_of(moment - timedelta(days=1))
    clock.stand(gaming_hours.span(day).start + timedelta(hours=6))
    floor.table()
    cashier = floor.staff(Role.CASHIER, "cora", "401")
    floor.staff(Role.CAGE_MANAGER, "mona", "402")
    boss, operator = floor.staff(Role.PIT_BOSS, "paula", "301"), floor.staff(Role.OPERATOR, "olga", "302")
    clock.right()
    page = looking(cashier, "/cage/", PORTRAIT)
    readable(page)
    assert page.locator("#cash [data-code=counted_unseen]").count(), "whoever may count is not told before, either"
    page.click("a[href$='/new/cagecash/']")
    readable(page)
    page.fill(HUNDREDS, "9")
    assert page.inner_text("[data-sum]") == "900"
    sign(page, "401")
    assert "1,000" not in page.inner_text("main"), "nobody sees what is due before the second has counted"
    readable(page)
    page.fill(HUNDREDS, "9")
    page.click("#apart summary")
    page.select_option("#apart-1-kind", "torn")
    page.fill("#apart-1-worth", "25")
    sign(page, "402")
    answers(page, "bad_apart")
    page.fill("#badge", "")
    page.select_option("#apart-1-kind", "")
    page.fill("#apart-1-worth", "")
    page.fill(HUNDREDS, "9")
    sign(page, "402")
    assert state(page) == "complete"
    assert page.get_attribute(".paper__variance", "data-cents") == "-10000"
    readable(page)
    assert Discrepancy.objects.get().amount_cents == -10_000
    report = looking(boss, f"/pit/reports/?day={day}", PORTRAIT)
    assert "−100" in report.inner_text("#cash-bank")
    sign(report, "301")
    answers(report, "figures_signed")
    closer = looking(operator, f"/pit/reports/?day={day}", PORTRAIT)
    sign(closer, "302")
    answers(closer, "day_closed")
    closed = day_close.closed(day)
    assert closed is not None
    assert closed.cash[0]["difference_cents"] == -10_000
