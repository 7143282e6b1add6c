"""A terminal's own key in a real browser: created at enrolment, used for signatures, lost with the site data,
replaced."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from ledger.models import HOUSE, Book, LogEntry
from ledger.proof.spelling import canonical
from tables.audit import proofs
from tables.cage import chip_series
from tables.floor import signature_checks
from tables.floor.inputs import ProposeCorrection
from tables.models import Staff
from tables.roles import Role
from tables.staff import terminal_keys, terminals
from tests import floor, processes
from tests.accessibility import serious
from tests.browser.conftest import sign_in
from tests.browser.test_slips import count, counted, sign, someone, state
from tests.codes import answers
from tests.fixtures.browser import LAPTOP, complaints_of
from tests.layout import small

Enrolled = Callable[[str], Any]


@pytest.fixture
def enrolled(browser: Any, web: processes.Web, operator: Staff) -> Iterator[Enrolled]:
    """``enrolled("Cage 1")``: a page of a browser on which the operator's link was opened, and that made its key."""
    contexts, complaints = [], []

    def enrol(name: str) -> Any:
        context = browser.new_context(base_url=web.url, viewport=LAPTOP)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        complaints_of(page, complaints)
        page.goto(terminals.link_for(terminals.add(name, None, by=operator), by=operator))
        page.click("main form button")
        page.wait_for_selector(".terminal__print")
        return page

    yield enrol
    for context in contexts:
        context.close()
    assert complaints == []


def attested(dealer: floor.Hand) -> list[str]:
    """On which terminals the slips of a table were signed, by the terminals' own keys."""
    entries = LogEntry.objects.filter(book_id=dealer.table.book_id, subject="slip").order_by("seq")
    return [entry.content["attested"]["terminal"] for entry in entries if "attested" in entry.content]


def test_a_terminal_signs_with_its_key_and_refuses_without_it(enrolled: Enrolled, operator: Staff) -> None:
    """Harm: the browser signs another text than the casino and its auditors read, for example for a box with an umlaut
    in its mark; a browser enrolled by its own user signs like any other; or a browser that lost its key does nothing,
    gets no new key, or signs without one where the casino requires it."""
    page = enrolled("Pit desk")
    document = {"b": 'Ünter „den“ \\ "Linden"\t\u20ac\U0001f0a1\u007f\u0001', "a": [[100, 5]], "c": {"é": 1, "e": ""}}
    assert page.evaluate("(content) => terminalKey.canonical(content)", document).encode() == canonical(document)
    key = signature_checks.trust().of("Pit desk")
    assert key is not None
    assert key.is_root
    assert page.inner_text(".terminal__print code").replace(" ", "") == key.fingerprint
    assert page.get_attribute(".terminal__print", "data-state") == "root"
    assert serious(page) == []
    assert small(page) == []
    dealer, _ = floor.dealt()
    boss = someone(Role.PIT_BOSS, "paula", "301")
    sign_in(page, operator)
    vouch(page, enrolled("Cage 1"))
    page.goto("/terminal/")
    page.check("form:has([value=demand]) [name=sure]")
    page.click("form:has([value=demand]) button")
    answers(page, "terminal_demanded")
    assert signature_checks.trust().demanded is not None
    sign_in(page, boss)
    request_fill(page, dealer)
    someone(Role.CASHIER, "cleo", "302")
    sign(page, "302")
    assert attested(dealer) == ["Pit desk"] * 2
    lose_key(page)
    refuse_fill(page, dealer)
    assert attested(dealer) == ["Pit desk"] * 2
    page.goto("/terminal/")
    page.wait_for_selector("[data-lost]:visible")
    sign_in(page, operator)
    page.goto("/terminal/")
    page.click("form[data-make] button")
    answers(page, "key_made")
    assert page.get_attribute(".terminal__print", "data-state") == "waits"
    for book in Book.objects.all():
        assert proofs.verify(book).fault is None


def vouch(page: Any, second: Any) -> None:
    """The first terminal vouches for the key of a second one."""
    assert second.get_attribute(".terminal__print", "data-state") == "waits"
    page.goto("/terminal/")
    assert second.inner_text(".terminal__print code") in page.inner_text(".terminal__waiting")
    assert serious(page) == []
    assert small(page) == []
    page.click("form[data-vouch] button")
    answers(page, "key_vouched")
    key = signature_checks.trust().of("Cage 1")
    assert key is not None
    assert key.is_trusted


def lose_key(page: Any) -> None:
    """The site data is cleared."""
    page.evaluate("new Promise((done) => { indexedDB.deleteDatabase('terminal').onsuccess = done })")


def request_fill(page: Any, dealer: floor.Hand) -> None:
    page.goto(f"/slips/{dealer.table.pk}/new/fill/")
    count(page, red=10)
    sign(page, "301")


def refuse_fill(page: Any, dealer: floor.Hand) -> None:
    """Request a fill without the key: the page says so and keeps the entered chips."""
    page.goto(f"/slips/{dealer.table.pk}/new/fill/")
    count(page, red=10)
    page.fill("#badge", "301")
    page.fill("#pin", floor.PIN)
    page.keyboard.press("Enter")
    answers(page, "key_lost")
    assert counted(page, "red") == "10"
    assert serious(page) == []


@pytest.mark.trial(
    "further forms that a terminal signs",
    covered_by="tests/browser/test_terminal_keys.py::test_a_terminal_signs_with_its_key_and_refuses_without_it",
)
def test_each_form_that_is_signed_says_the_same_to_the_browser_and_to_the_house(
    enrolled: Enrolled, operator: Staff
) -> None:
    """Harm: a void, a sale at the cage or a correction that no terminal can sign where the house demands it."""
    page = enrolled("Cage 1")
    dealer = floor.dealt_by(floor.staff(Role.DEALER, "dora", "101"))
    dealer.bets(seat1=1_000)
    dealer.cards(8, 4, 8)
    dealer.pay()
    boss, second = someone(Role.PIT_BOSS, "paula", "301"), someone(Role.PIT_BOSS, "bo", "305")
    cashier, ada = someone(Role.CASHIER, "cleo", "302"), someone(Role.AUDITOR, "ada", "401")
    floor.signs(dealer.table, boss, ProposeCorrection(1, 1, 0, "Passed over"))
    values = [chip.value_cents for chip in dealer.table.denominations.all()]
    chip_series.add("Alpha", "Chips & Co", 2026, values, by=operator)
    terminal_keys.demand(by=operator)
    book = dealer.table.book

    sign_in(page, cashier)
    page.goto("/cage/")
    count(page, black=10, red=4)
    page.fill("#badge", "302")
    page.fill("#pin", floor.PIN)
    page.click("[name=do][value=sell]")
    answers(page, "sell")
    sale = LogEntry.objects.filter(subject="chips", kind="sold").latest("seq")
    assert sale.content["of_series"] == [[10_000, "Alpha"], [500, "Alpha"]]

    sign_in(page, boss)
    page.goto(f"/slips/{dealer.table.pk}/new/fill/")
    count(page, red=7)
    sign(page, "301")
    page.click("#void summary")
    page.fill("#reason", "  the wrong  table, „Rocket 2“ ")
    page.fill("#void-badge", "305")
    page.fill("#void-pin", floor.PIN)
    with page.expect_navigation():
        page.click("#void .button--primary")
    assert "the wrong table" in " ".join(page.inner_text(".paper__reason").split())
    sign(page, "401")
    assert state(page) == "void"

    page.goto(f"/pit/tables/{dealer.table.pk}/corrections/{timezone.now().year}/1/")
    page.click("details:has(#why) > summary")
    page.fill("#why", "The player\n was  paid")
    page.fill("#no-badge", "305")
    page.fill("#no-pin", floor.PIN)
    page.click("details:has(#why) .button--primary")
    answers(page, "declined")
    assert "The player was paid" in page.inner_text("main")
    assert {ada.role, second.role} == {"auditor", "pit_boss"}
    for each in (book, Book.objects.get(name=HOUSE)):
        assert proofs.verify(each).fault is None
    kinds = LogEntry.objects.filter(subject__in=("slip", "correction", "chips")).order_by("book_id", "seq")
    assert [entry.kind for entry in kinds if "attested" in entry.content] == [
        "sold", "fill_requested", "fill_void_asked", "fill_voided", "declined",
    ]  # fmt: skip
