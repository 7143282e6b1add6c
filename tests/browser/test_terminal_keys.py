"""A terminal's own key in a real browser: made at enrolment, used for five signatures, lost with the site data."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from ledger.models import HOUSE, Book, LogEntry
from ledger.proof.spelling import canonical
from tables import attesting, standing
from tables.audit import proofs
from tables.inputs import ProposeCorrection
from tables.models import Staff
from tables.roles import Role
from tables.setup import chip_series
from tables.staff import terminal_keys, terminals
from tests import floor, processes
from tests.accessibility import serious
from tests.browser.test_slips import SIGNERS, SMALL, count, counted, rack, sign, someone, state
from tests.codes import answers
from tests.fixtures.browser import LAPTOP, complaints_of
from tests.floor import PASSWORD

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


def signed_in(page: Any, staff: Staff) -> None:
    page.goto("/sign-in/?way=name")
    page.fill("#username", staff.username)
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "sign-in" not in url)


def signed_fill(page: Any, dealer: floor.Hand) -> None:
    """Five people sign a fill on this terminal."""
    page.goto(f"/slips/{dealer.table.pk}/new/fill/")
    count(page, red=10, white=50)
    sign(page, "301")
    for _, role, name, badge in SIGNERS:
        someone(role, name, badge)
        sign(page, badge)
    assert state(page) == "complete"


def attested(dealer: floor.Hand) -> list[str]:
    """On which terminals the slips of a table were signed, by the terminals' own keys."""
    entries = LogEntry.objects.filter(book_id=dealer.table.book_id, subject="slip").order_by("seq")
    return [entry.content["attested"]["terminal"] for entry in entries if "attested" in entry.content]


def test_five_people_sign_on_a_terminal_that_signs_with_them(
    enrolled: Enrolled, operator: Staff, transactional_db: None
) -> None:
    """Harm: what the browser signs is not what the house and its auditors read, such as a box that is marked with an
    umlaut; or a browser that has lost its key does nothing, or signs without it where the house demands it."""
    page = enrolled("Pit desk")
    document = {"b": 'Ünter „den“ \\ "Linden"\t\u20ac\U0001f0a1\u007f\u0001', "a": [[100, 5]], "c": {"é": 1, "e": ""}}
    assert page.evaluate("(content) => terminalKey.canonical(content)", document).encode() == canonical(document)
    key = attesting.trust().of("Pit desk")
    assert key is not None
    assert key.is_root
    assert page.inner_text(".terminal__print code").replace(" ", "") == key.fingerprint
    assert page.get_attribute(".terminal__print", "data-state") == "root"
    assert serious(page) == []
    assert page.evaluate(SMALL) == []
    dealer, _ = floor.dealt()
    before = rack(dealer.table)
    boss = someone(Role.PIT_BOSS, "paula", "301")
    signed_in(page, operator)
    page.goto("/terminal/")
    page.check("form:has([value=demand]) [name=sure]")
    page.click("form:has([value=demand]) button")
    answers(page, "terminal_demanded")
    assert attesting.trust().demanded is not None
    signed_in(page, boss)
    signed_fill(page, dealer)
    assert attested(dealer) == ["Pit desk"] * 5
    assert rack(dealer.table) == before + 10_000
    for book in Book.objects.all():
        assert proofs.verify(book).fault is None
    lose_key(page)
    asks_for_a_fill(page, dealer)
    assert attested(dealer) == ["Pit desk"] * 5
    assert len(standing.of(dealer.table).slips) == 0


def test_a_second_terminal_waits_until_the_first_one_vouches(
    enrolled: Enrolled, operator: Staff, transactional_db: None
) -> None:
    """Harm: a browser that somebody enrolled for themselves signs as any other; or nobody finds out how it is to."""
    first = enrolled("Pit desk")
    second = enrolled("Cage 1")
    assert second.get_attribute(".terminal__print", "data-state") == "waits"
    digits = second.inner_text(".terminal__print code")
    signed_in(first, operator)
    first.goto("/terminal/")
    assert digits in first.inner_text(".terminal__waiting")
    assert serious(first) == []
    assert first.evaluate(SMALL) == []
    first.click("form[data-vouch] button")
    answers(first, "key_vouched")
    key = attesting.trust().of("Cage 1")
    assert key is not None
    assert key.is_trusted
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def lose_key(page: Any) -> None:
    """The site data is cleared."""
    page.evaluate("new Promise((done) => { indexedDB.deleteDatabase('terminal').onsuccess = done })")


def asks_for_a_fill(page: Any, dealer: floor.Hand) -> None:
    """Request a fill without the key: the page says so and keeps the entered chips."""
    page.goto(f"/slips/{dealer.table.pk}/new/fill/")
    count(page, red=10)
    page.fill("#badge", "301")
    page.fill("#pin", floor.PIN)
    page.keyboard.press("Enter")
    answers(page, "key_lost")
    assert counted(page, "red") == "10"


@pytest.mark.trial(
    "what a lost key comes to in detail",
    covered_by="tests/browser/test_terminal_keys.py::test_five_people_sign_on_a_terminal_that_signs_with_them",
)
def test_who_cleared_the_site_data_reads_what_to_do(
    enrolled: Enrolled, operator: Staff, transactional_db: None
) -> None:
    """Harm: a form that does nothing, or a slip that is signed without the terminal where the house demands it."""
    page = enrolled("Pit desk")
    dealer = floor.dealt_by(floor.staff(Role.DEALER, "dora", "101"))
    terminal_keys.demand(by=operator)
    signed_in(page, someone(Role.PIT_BOSS, "paula", "301"))
    lose_key(page)
    asks_for_a_fill(page, dealer)
    assert serious(page) == []
    assert attested(dealer) == []
    page.goto("/terminal/")
    page.wait_for_selector("[data-lost]:visible")
    signed_in(page, operator)
    page.goto("/terminal/")
    page.click("form[data-make] button")
    answers(page, "key_made")
    keys = attesting.trust()
    assert [key.terminal for key in keys.roots] == ["Pit desk", "Pit desk"]
    signed_in(page, Staff.objects.get(username="paula"))
    page.goto(f"/slips/{dealer.table.pk}/new/fill/")
    count(page, red=10)
    sign(page, "301")
    assert attested(dealer) == ["Pit desk"]
    assert proofs.verify(dealer.table.book).fault is None


def test_each_form_that_is_signed_says_the_same_to_the_browser_and_to_the_house(
    enrolled: Enrolled, operator: Staff, transactional_db: None
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

    signed_in(page, cashier)
    page.goto("/cage/")
    count(page, black=10, red=4)
    page.fill("#badge", "302")
    page.fill("#pin", floor.PIN)
    page.click("[name=do][value=sell]")
    answers(page, "sell")
    sale = LogEntry.objects.filter(subject="chips", kind="sold").latest("seq")
    assert sale.content["of_series"] == [[10_000, "Alpha"], [500, "Alpha"]]

    signed_in(page, boss)
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
