"""docs/opening-a-house.md in a browser: from one command to the first closed day, by those who do it on their pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from ledger import cage
from ledger.models import Account, Book, Discrepancy
from ledger.proof import seals
from tables.audit import day_seals, proofs
from tables.audit.outside import verifier
from tables.models import DayClose, Staff, Table
from tables.reports import gaming_hours, inventory
from tests import floor, processes
from tests.browser.conftest import Screen
from tests.clock import Clock
from tests.codes import answers, saves
from tests.fixtures.browser import LAPTOP, complaints_of
from tests.floor import PASSWORD
from tests.tables.bundles import exported

PEOPLE = (
    ("bella", "pit_boss", "201"), ("boris", "pit_boss", "202"), ("dora", "dealer", "101"), ("cara", "cashier", "301"),
    ("cleo", "cashier", "302"), ("carla", "cage_manager", "801"), ("sam", "security", "401"),
    ("sue", "security", "402"), ("sol", "security", "403"), ("cole", "counter", "501"), ("cyra", "counter", "502"),
)  # fmt: skip
BY_NAME = {"bella": "Pit desk", "cara": "Cage 1", "carla": "Cage 2", "sue": "Count room"}
"""Who opens pages in this walk; the others sign on them by badge."""
KINDS = (("1", "white"), ("5", "red"), ("25", "green"))
BADGES = {name: badge for name, _, badge in PEOPLE} | {"olga": "701", "omar": "702"}
STOCK = {100: 1_000, 500: 1_000, 2_500: 400}
FLOAT = {100: 200, 500: 100, 2_500: 40}
FIFTY, HUNDRED = 5_000, 10_000


def pin_of(name: str) -> str:
    return f"74{BADGES[name]}6"


class House:
    """The browsers of those who open the house: one each, and a tablet on which everybody makes their PIN."""

    def __init__(self, browser: Any, url: str) -> None:
        self._browser, self._url = browser, url
        self._pages: dict[str, Any] = {}
        self.complaints: list[str] = []

    def page(self, who: str) -> Any:
        if who not in self._pages:
            context = self._browser.new_context(base_url=self._url, viewport=LAPTOP)
            context.set_default_timeout(15_000)
            self._pages[who] = context.new_page()
            complaints_of(self._pages[who], self.complaints)
        return self._pages[who]

    def signs_in(self, who: str) -> Any:
        page = self.page(who)
        page.goto("/sign-in/?way=name")
        page.fill("#username", who)
        page.fill("#password", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "sign-in" not in url)
        return page

    def at(self, who: str, path: str) -> Any:
        page = self.page(who)
        page.goto(path)
        return page

    def close(self) -> None:
        for page in self._pages.values():
            page.context.close()
        assert self.complaints == []

    def enrols(self, who: str, name: str) -> None:
        """The first operator makes a link, and the browser that opens it is a terminal with a key of its own."""
        page = self.at("olga", "/admin/tables/terminal/enrol-elsewhere")
        page.fill("[name=name]", name)
        page.click("#content form [type=submit]")
        link = page.get_attribute("#content a[href*='/enrol/']", "href")
        device = self.at(who, link)
        device.click("main form button")
        device.wait_for_selector(".terminal__print")

    # --- People

    def makes(self, who: str, secret: str, *, asks: str = "olga", confirms: str | None = "omar") -> None:
        """Somebody makes a PIN or a password: one operator asks, another person confirms, the owner types."""
        pk = Staff.objects.get(username=who).pk
        page = self.at(asks, f"/admin/tables/staff/{pk}/{secret}-code/")
        page.click("#content form [type=submit]")
        page.wait_for_selector("dd code")
        halves = [text.replace(" ", "") for text in page.locator("dd code").all_inner_texts()]
        if confirms:
            desk = self.at(confirms, "/codes/")
            desk.fill("input[name=password]", PASSWORD)
            desk.click("[name=do][value=confirm] >> nth=-1")
            halves.append(desk.inner_text(".code code").replace(" ", ""))
        first, second = halves
        if secret == "pin":
            page = self.at("tablet", "/pin/?way=code")
            typed = {"badge": BADGES[who], "first": first, "second": second, "new": pin_of(who), "again": pin_of(who)}
        else:
            page = self.at(f"{who}'s", "/password/code/")
            typed = {"username": who, "first": first, "second": second, "new": PASSWORD, "again": PASSWORD}
        enters(page, typed)

    def takes_on(self, who: str, role: str) -> None:
        page = self.at("olga", "/admin/tables/staff/add/")
        page.fill("[name=username]", who)
        page.fill("[name=name]", who.title())
        page.select_option("[name=role]", role)
        page.fill("[name=badge]", BADGES[who])
        saves(page)

    # --- Paper

    def begins(self, who: str, path: str, chips: dict[int, int] | None = None, by: str = "") -> Any:
        """A new slip on somebody's page, signed by badge."""
        page = self.at(who, path)
        counts(page, chips or {})
        return signs(page, by or who)


def counts(page: Any, pieces: dict[int, int], field: str = "n") -> None:
    """So many pieces of each worth in cents; ``field="d"``: as the delivery note has them."""
    for value_cents, count in pieces.items():
        page.fill(f"[name^={field}][data-value='{value_cents}']", str(count))


def signs(page: Any, who: str) -> Any:
    page.fill("#badge", BADGES[who])
    page.fill("#pin", pin_of(who))
    with page.expect_navigation():
        page.keyboard.press("Enter")
    refusals = [refusal.get_attribute("data-code") for refusal in page.locator("[role=alert] >> visible=true").all()]
    assert refusals == []
    return page


def enters(page: Any, typed: dict[str, str]) -> None:
    """Every field of a way in, then its button."""
    for name, text in typed.items():
        page.locator(f"[name={name}]").evaluate("(field, text) => { field.value = text }", text)
    with page.expect_navigation():
        page.evaluate("document.querySelector('main form').requestSubmit()")
    assert page.locator("#refused").count() == 0, page.inner_text("#refused")


@pytest.fixture
def house(browser: Any, web: processes.Web) -> Iterator[House]:
    house = House(browser, web.url)
    yield house
    house.close()


def people(house: House) -> None:
    """Steps 1 to 3."""
    page = house.signs_in("olga")
    house.enrols("tablet", "Office")
    page.goto(f"/admin/tables/staff/{Staff.objects.get().pk}/change/")
    page.fill("[name=badge]", "701")
    saves(page)
    house.makes("olga", "pin", confirms=None)
    house.signs_in("olga")  # a new PIN ends the sign-ins of before
    house.takes_on("omar", "operator")
    house.makes("omar", "pin", confirms=None)
    house.makes("omar", "password", confirms=None)
    house.signs_in("omar")
    for who, role, _ in PEOPLE:
        house.takes_on(who, role)
        house.makes(who, "pin")
    for who, terminal in BY_NAME.items():
        house.makes(who, "password")
        house.enrols(who, terminal)
        house.signs_in(who)
    house.enrols("dora", "Rocket 1")


def what_the_house_is(house: House) -> Table:
    """Steps 4 to 6."""
    page = house.page("olga")
    for worth, colour in KINDS:
        page.goto("/admin/tables/denomination/add/")
        page.fill("[name=value]", worth)
        page.fill("[name=colour]", colour)
        saves(page)
    page.goto("/admin/tables/chipseries/add/")
    page.fill("[name=name]", "First")
    page.fill("[name=manufacturer]", "Chips & Co")
    page.fill("[name=year]", "2026")
    for box in page.locator("[name=kinds]").all():
        box.check(force=True)
    saves(page)
    page.goto("/admin/tables/table/add/")
    for name, text in {"name": "Rocket 1", "unit": "1", "minimum": "10", "maximum": "100"}.items():
        page.fill(f"[name={name}]", text)
    for box in page.locator("[name=denominations]").all():
        box.check(force=True)
    saves(page)
    page.goto("/admin/tables/houseterms/")
    page.click("a[href$='/houseterms/add/']")
    page.check("[name=two_people]", force=True)
    page.click("[name=save]")
    answers(page, "entered")
    return Table.objects.get()


def chips_and_cash(house: House) -> None:
    """Steps 7 and 8: two count the delivery, unseen; cash comes from the bank."""
    page = house.at("carla", "/cage/")
    page.click("a[href$='/new/receipt/']")
    page.select_option("#fact-series", "First")
    page.fill("#fact-note_number", "N-1")
    counts(page, STOCK, "d")
    counts(page, STOCK)
    signs(page, "carla")
    counts(page, STOCK)
    signs(page, "sam")
    house.at("cara", "/slips/0/new/withdrawal/")
    page = house.page("cara")
    counts(page, STOCK)
    signs(page, "cara")
    signs(page, "carla")
    house.at("cara", "/slips/0/new/bankin/")
    counts(page, {HUNDRED: 200})
    signs(page, "cara")
    signs(page, "carla")
    page.fill("#fact-receipt", "B-1")
    signs(page, "cleo")
    house.at("cara", "/slips/0/new/imprest/")
    counts(page, {HUNDRED: 100})
    signs(page, "cara")
    signs(page, "carla")


def a_day_at(house: House, table: Table) -> None:
    """Steps 9 to 11: a fill and the opener, rounds, the closer, the drop and its count."""
    pit = house.begins("bella", f"/slips/{table.pk}/new/fill/", FLOAT)
    for who in ("cara", "sam", "dora", "boris"):
        signs(pit, who)
    house.begins("bella", f"/slips/{table.pk}/new/opener/", FLOAT, by="dora")
    counts(pit, FLOAT)
    signs(pit, "bella")
    deals(house, table)
    pit.goto("/pit/")
    pit.click(f"#more-{table.pk}")
    pit.click("#sheet [href$='/do/retire-shoe/']")
    pit.click(".act__form .button--primary")
    answers(pit, "retire-shoe")
    house.begins("bella", f"/slips/{table.pk}/new/closer/", {100: rack_of(table)}, by="dora")
    counts(pit, {100: rack_of(table)})
    signs(pit, "bella")
    room = house.at("sue", f"/slips/{table.pk}/new/drop/")
    room.fill("#box", "R1-1")
    for who in ("sue", "sol"):
        signs(room, who)
    for who in ("cole", "cyra"):
        counts(room, {FIFTY: 1})
        signs(room, who)


def rack_of(table: Table) -> int:
    """Whole units."""
    return cage.balance(Account.objects.get(book_id=table.book_id, place="rack")) // 100


def deals(house: House, table: Table) -> None:
    """The dealer taps in, makes the shoe ready, sells chips and deals three rounds."""
    page = house.at("dora", "/sign-in/")
    page.fill("#badge", BADGES["dora"])
    page.fill("#pin", pin_of("dora"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/tables/")
    page.click(".pick")
    screen = Screen(page, table).open()
    while screen.due not in ("bets", "seats"):
        screen.pause()
        if screen.due == "check":
            screen.count_columns(decks=6)
        screen.keys("Enter")
    page.keyboard.press("F2")
    page.fill("#sheet-amount", "50")
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange__line")
    page.keyboard.press("Enter")
    page.wait_for_selector("#receipt:visible")
    for _ in range(3):
        screen.keys("2", "0", "Enter")
        screen.pause()
        screen.keys("Enter")
        while screen.due != "bets" or screen.settling:
            screen.pause()
            screen.keys("Enter" if screen.due == "pay" or screen.settling else "9")
    house.complaints += screen.complaints


def cash_is_counted(house: House) -> None:
    """Step 12: two count each place, unseen by the other."""
    for series, place in (("cagecash", "bank"), ("vaultcash", "vault_cash")):
        page = house.at("cara", f"/slips/0/new/{series}/")
        hundreds, rest_cents = divmod(cage.balance(Account.objects.get(place=place)), 10_000)
        for who in ("cara", "cleo"):
            counts(page, {HUNDRED: hundreds, FIFTY: rest_cents // FIFTY})
            signs(page, who)


def digest_on(page: Any) -> str:
    """What the second signature names: the figures that the first one signed."""
    digest = re.search(r'name="digest" value="([^"]*)"', page.content.decode())
    return digest[1] if digest else ""


def the_day_is_closed(clock: Clock, tmp_path: Path) -> None:
    """Steps 13 and 14, a day later, without a browser: its server has no clock that could be put forward."""
    day = gaming_hours.day_of(timezone.now())
    clock.pass_until(gaming_hours.span(day).end + timedelta(hours=1))
    page = f"{reverse('pit:reports')}?day={day}"
    for who in ("bella", "omar"):
        browser = floor.client(Staff.objects.get(username=who))
        form = {"badge": BADGES[who], "pin": pin_of(who), "digest": digest_on(browser.get(page))}
        browser.post(reverse("pit:close-day", args=[day]), form)
    key_file = tmp_path / "audit.pem"
    seals.make_key(key_file)
    with override_settings(AUDIT_KEY_FILE=str(key_file)):
        day_seals.seal_finished()
        bundle = tmp_path / "day.zip"
        bundle.write_bytes(exported(day, day))
        assert [proofs.verify(book).fault for book in Book.objects.all()] == [None, None]
    says: list[str] = []
    verifier.verify(bundle, say=says.append)
    assert not [line for line in says if "NOT" in line]


@pytest.mark.trial(
    "sixteen people walk the whole guide over a hundred pages, each of which has a path of its own",
    covered_by="tests/tables/test_opening_a_house.py::test_a_house_opens_without_a_shell",
)
@pytest.mark.timeout(900)  # sixteen people, and a hundred pages
def test_a_house_is_opened_on_its_pages(
    house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Harm: a step of the guide that has no page, a page that nobody of the house reaches, or a second command."""
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", interactive=False, username="olga", name="Olga Ott", verbosity=0)
    people(house)
    table = what_the_house_is(house)
    chips_and_cash(house)
    a_day_at(house, table)
    cash_is_counted(house)
    the_day_is_closed(clock, tmp_path)
    assert Discrepancy.objects.count() == 0
    assert {line.value_cents: line.issued for line in inventory.on(DayClose.objects.get().day).lines} == {
        100: 1_000, 500: 1_000, 2_500: 400
    }  # fmt: skip
