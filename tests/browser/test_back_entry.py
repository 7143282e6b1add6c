"""An outage as the people who were there enter it: begun by two, a round and a fill from paper, compared, ended."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from tables.audit import proofs
from tables.roles import Role
from tests import floor
from tests.browser.conftest import AtTable, Screen
from tests.browser.test_slips import SIGNERS, count, readable, someone
from tests.clock import travelling
from tests.fixtures.browser import Looking
from tests.floor import PIN, Hand


def typed(moment: datetime) -> str:
    return timezone.localtime(moment).strftime("%Y-%m-%dT%H:%M")


def signs(page: Any, badge: str, does: str = "") -> None:
    """Badge and PIN into the form that does this, or into the slip's own."""
    form = page.locator(f"main form:has([name=do][value={does}])" if does else "main form:has([name=badge])").first
    form.locator("[name=badge]").fill(badge)
    form.locator("[name=pin]").fill(PIN)
    with page.expect_navigation():
        form.locator(".sign button").click()


def from_paper(page: Any, number: str, moment: datetime) -> None:
    page.fill("#paper", number)
    page.fill("#happened", typed(moment))


def test_a_round_and_a_fill_are_entered_from_paper(looking: Looking, at_table: AtTable) -> None:
    """Harm: an hour of play stands on paper alone, or in the log as if it had happened when somebody typed it."""
    dealer = _opened_earlier()
    since = timezone.now() - timedelta(minutes=50)
    paula = someone(Role.PIT_BOSS, "paula", "301")
    someone(Role.CASHIER, "cleo", "302")
    page = looking(paula, "/slips/papers/")
    readable(page)
    page.select_option("#reason", "server")
    page.fill("#since", typed(since))
    page.fill("#note", "the server was away")
    signs(page, "301", "begin")  # one person is not two
    assert page.is_visible("#refused")
    assert dealer.now.back_entry is None
    assert page.input_value("#note") == "the server was away"
    signs(page, "302", "begin")
    assert dealer.now.back_entry is not None
    readable(page)
    page.goto(f"/pit/tables/{dealer.table.pk}/more/")
    assert page.is_visible(".more__needs")

    screen = _round_from_paper(at_table, dealer, since)
    _fill_from_paper(page, dealer, since)

    page.goto("/slips/papers/")
    readable(page)
    page.select_option("[name=number]", "104")
    signs(page, "302", "compare")
    someone(Role.CAGE_MANAGER, "carla", "398")
    signs(page, "398", "compare")
    assert page.locator("[name=do][value=compare]").count() == 0, "no paper waits to be compared"
    for place in page.locator("form:has([name=do][value=end]) [name=where]").all():
        place.check()
    signs(page, "302", "end")
    assert dealer.now.back_entry is None

    page.goto(f"/pit/tables/{dealer.table.pk}/rounds/1/")
    assert "104" in page.inner_text("#from-paper")
    assert proofs.verify(dealer.table.book).fault is None
    screen.page.reload()
    assert screen.page.locator("#papers").count() == 0


def _opened_earlier() -> Hand:
    """A table that was opened before the outage."""
    with travelling() as clock:
        clock.stand(timezone.now() - timedelta(hours=1))
        return floor._dealt()[0]


def _round_from_paper(at_table: AtTable, dealer: Hand, since: datetime) -> Screen:
    screen = at_table(dealer).open()
    page = screen.page
    screen.keys("2", "0", "Enter")
    assert screen.refused == "paper_first"
    page.click("#papers")
    readable(page)
    page.fill("#number", "104")
    page.fill("#happened", typed(since + timedelta(minutes=5)))
    page.click("form:has([name=do][value=announce]) button")
    page.wait_for_selector("#board")
    assert "104" in page.inner_text("#papers")
    dealer.bets(seat1=1_000)
    dealer.cards(4, 3)
    dealer.pay()
    return screen


def _fill_from_paper(page: Any, dealer: Hand, since: datetime) -> None:
    page.goto(f"/slips/{dealer.table.pk}/new/fill/")
    count(page, red=10)
    from_paper(page, "17", since + timedelta(minutes=20))
    readable(page)
    signs(page, "301")
    for step, (_, role, name, badge) in enumerate(SIGNERS, 21):
        someone(role, name, badge)
        from_paper(page, "17", since + timedelta(minutes=step))
        signs(page, badge)
    assert dealer.now.slips == ()
    assert page.locator(".paper__entered").count() == 5
    readable(page)
