"""A form from before the last sign-in, in a real browser: its values can be sent again."""

import pytest

from ledger import alerts
from ledger.models import Acknowledgement
from tests.accessibility import EVERY_RULE, serious
from tests.fixtures.browser import Looking
from tests.floor import dealt

pytestmark = pytest.mark.django_db(transaction=True)
OF_ANOTHER_SIGN_IN = (
    "document.querySelectorAll('[name=csrfmiddlewaretoken]').forEach(field => field.value = '{}')".format("z" * 32)
)
"""Give the page's forms a CSRF token that is not the cookie's, as after a sign-in in another tab. The cookie stays: the
answer to a request that the page has already sent would set it back."""


def test_a_note_that_was_typed_before_a_sign_in_elsewhere_is_sent_again(looking: Looking) -> None:
    """Harm: the note is lost, and the browser's way back leads to an empty form."""
    dealer, boss = dealt(options={"decks": 6})
    alerts.raise_alert(dealer.table.book, "negative", "Less than nothing")
    page = looking(boss.by, "/pit/alerts/?table=")
    page.click("#inbox .alert__take > summary")
    page.fill("#inbox .alert__take [name=note]", "Counted again: in order")
    page.evaluate(OF_ANOTHER_SIGN_IN)
    page.click("#inbox .alert__take button:not(.alert__usual button)")
    page.wait_for_selector("#stale")
    assert "Counted again: in order" in page.inner_text("#stale")
    assert serious(page, EVERY_RULE) == []
    assert not Acknowledgement.objects.exists()
    page.click("#stale button")
    page.wait_for_url("**/pit/alerts/**")
    assert Acknowledgement.objects.get().note == "Counted again: in order"
