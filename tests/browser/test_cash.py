"""The cage's cash in a real browser: counted by two people with a shortage, through to the closed day's report."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ledger.models import HOUSE, Book, Discrepancy
from tables.audit import proofs
from tables.day import closing, hours
from tables.models import DayClose
from tables.roles import Role
from tests import floor
from tests.browser.conftest import PORTRAIT
from tests.browser.test_slips import readable, sign
from tests.clock import Clock
from tests.fixtures.browser import LAPTOP, Looking

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("viewport", [LAPTOP, PORTRAIT], ids=["laptop", "portrait"])
def test_the_cage_is_short_and_the_closed_day_says_so(
    looking: Looking, transactional_db: None, clock: Clock, viewport: dict[str, int]
) -> None:
    """Harm: two people count the cash of the cage, 100 is missing, and the day is closed as if it were there."""
    moment = timezone.now()
    day = hours.day_of(moment - timedelta(days=1))
    clock.stand(hours.span(day).start + timedelta(hours=6))
    floor.table()
    cashier = floor.staff(Role.CASHIER, "cora", "401")
    floor.staff(Role.CAGE_MANAGER, "mona", "402")
    boss, operator = floor.staff(Role.PIT_BOSS, "paula", "301"), floor.staff(Role.OPERATOR, "olga", "302")
    clock.right()
    page = looking(cashier, "/cage/", viewport)
    readable(page)
    assert "counted unseen" in page.inner_text("#cash"), "whoever may count is not told before, either"
    page.click("text=Count the cage's cash")
    readable(page)
    page.get_by_label("notes of 100").fill("9")
    assert page.inner_text("[data-sum]") == "900"
    sign(page, "401")
    assert "1,000" not in page.inner_text("main"), "nobody sees what is due before the second has counted"
    readable(page)
    page.get_by_label("notes of 100").fill("9")
    page.click("text=A note that is torn")
    page.select_option("#apart-1-kind", "torn")
    page.fill("#apart-1-worth", "25")
    sign(page, "402")
    assert "give all" in page.inner_text("[role=alert]")
    page.fill("#badge", "")
    page.select_option("#apart-1-kind", "")
    page.fill("#apart-1-worth", "")
    page.get_by_label("notes of 100").fill("9")
    sign(page, "402")
    assert page.inner_text(".paper__state") == "Complete"
    assert "short: −100" in page.inner_text(".paper__variance")
    readable(page)
    assert Discrepancy.objects.get().amount_cents == -10_000
    report = looking(boss, f"/pit/reports/?day={day}", viewport)
    row = report.inner_text("#cash-bank")
    assert "cash in +1,000" in row
    assert "short −100" in row
    assert "after the day" in row
    sign(report, "301")
    assert "an operator closes the day" in report.inner_text("[role=status]")
    closer = looking(operator, f"/pit/reports/?day={day}", viewport)
    sign(closer, "302")
    assert DayClose.objects.get().day == day
    assert "900" in closer.inner_text("#cash-bank")
    closed = closing.closed(day)
    assert closed is not None
    assert closed.cash[0]["difference_cents"] == -10_000
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
