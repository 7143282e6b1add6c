"""The morning after, in a real browser: the day's exceptions are read, and followed into the log and its rounds."""

import pytest

from ledger import alerts
from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.fixtures.browser import Looking
from tests.floor import dealt

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_auditor_follows_an_exception_into_the_log_and_searches_it(looking: Looking) -> None:
    """Harm: a report names an entry without a link to it; or the form that searches the log loses its input, or
    requires a mouse."""
    dealer, _ = dealt(options={"decks": 6})
    for _ in range(2):
        dealer.bets(seat1=2_000)
        dealer.cards(8, 3)
        dealer.pay()
    dealer.bets(seat1=2_000)
    dealer.cards(9)
    dealer("take_back")
    alerts.raise_alert(dealer.table.book, "a_test", "The rack is low: a fill is due")
    page = looking(floor.staff(Role.AUDITOR, "ada"), "/pit/reports/exceptions/")
    assert "The rack is low" in page.inner_text("section[aria-labelledby=matter-alerts]")
    assert not serious(page, EVERY_RULE)

    page.click("section[aria-labelledby=matter-take_backs] a.row-link >> nth=0")
    page.wait_for_url("**/pit/log/?*")
    assert page.locator("tbody tr").count() == 1
    page.click("tbody tr td a.row-link")
    page.wait_for_url("**/rounds/3/")

    page.goto("/pit/log/")
    page.select_option("#subject", "slip")
    page.fill("#text", "counted")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=counted**")
    assert {cell.strip() for cell in page.locator("tbody td:nth-child(6)").all_inner_texts()} == {"slip"}
    assert page.input_value("#text") == "counted"
    assert not serious(page, EVERY_RULE)
    page.fill("#amount", "a lot")
    page.keyboard.press("Enter")
    page.wait_for_selector("#refused")
