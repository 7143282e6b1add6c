"""Slips in a real browser: a fill that five people sign, a rack that two count, for eyes, fingers and keyboards."""

from typing import Any

import pytest

from ledger import cage
from ledger.models import Account
from tables import standing
from tables.audit import proofs
from tables.inputs import BeginSlip
from tables.models import Staff, Table
from tables.roles import Role
from tables.setup import chip_series
from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import PORTRAIT
from tests.codes import answers
from tests.fixtures.browser import Looking
from tests.floor import PIN

SMALL = """() => [...document.querySelectorAll("main :is(button, summary, a.button, input:not([type=hidden]))")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([, box]) => Math.round(box.width) < 48 || Math.round(box.height) < 48)
  .map(([one, box]) => `${one.tagName} ${one.name} ${Math.round(box.width)}x${Math.round(box.height)}`)"""
SIGNERS = (
    ("issued", Role.CASHIER, "cleo", "302"),
    ("carried", Role.SECURITY, "stan", "303"),
    ("received", Role.DEALER, "dora", "101"),
    ("confirmed", Role.PIT_BOSS, "bo", "305"),
)
WORTHS = {colour: value_cents for value_cents, colour, _ in floor.CHIPS}


def someone(role: Role, name: str, badge: str) -> Staff:
    return Staff.objects.filter(username=name).first() or floor.staff(role, name, badge)


def rack(table: Table) -> int:
    return cage.balance(Account.objects.get(book_id=table.book_id, place="rack"))


def sign(page: Any, badge: str, pin: str = PIN) -> None:
    """Badge and PIN from the keyboard, as somebody types who does not look for the button."""
    page.focus("#badge")
    page.keyboard.type(badge)
    page.keyboard.press("Tab")
    page.keyboard.type(pin)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def count(page: Any, field: str = "n", **colours: int) -> None:
    """So many chips of each colour; ``field="d"``: as the delivery note has them."""
    for colour, chips in colours.items():
        page.fill(f"[name^={field}][data-value='{WORTHS[colour]}']", str(chips))


def counted(page: Any, colour: str) -> str:
    """What stands in the field of a colour."""
    return str(page.input_value(f"[name^=n][data-value='{WORTHS[colour]}']"))


def state(page: Any) -> str:
    """The step that is due on a slip, or how it ended."""
    return str(page.get_attribute(".paper__state", "data-state"))


def readable(page: Any) -> None:
    """Nothing that axe calls serious, nothing too small for a finger, nothing beside the screen."""
    assert serious(page) == []
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_five_people_sign_a_fill(looking: Looking, transactional_db: None) -> None:
    """Harm: a slip that the floor cannot read, reach or sign, so that chips are carried without one."""
    dealer, _ = floor.dealt()
    boss = someone(Role.PIT_BOSS, "paula", "301")
    before = rack(dealer.table)
    page = looking(boss, f"/slips/{dealer.table.pk}/new/fill/", PORTRAIT)
    readable(page)
    count(page, red=10, white=50)
    assert page.inner_text("[data-sum]") == "100"
    sign(page, "301")
    for step, role, name, badge in SIGNERS:
        someone(role, name, badge)
        assert page.input_value(".slip-page__side [name=stage]") == state(page) == step
        assert page.get_attribute(".is-due", "data-stage") == step
        assert rack(dealer.table) == before
        readable(page)
        sign(page, badge)
        answers(page, "signed")
    assert state(page) == "complete"
    assert page.locator(".paper__lines .is-signed").count() == 5
    readable(page)
    assert rack(dealer.table) == before + 10_000
    page.emulate_media(media="print")
    assert page.is_visible(".paper__lines")
    assert not page.is_visible(".slip-page__side")
    assert not page.is_visible(".bar")


def test_who_signed_already_is_told_so_and_the_form_stays(looking: Looking, transactional_db: None) -> None:
    """Harm: a refusal without a sentence, or one that takes what was typed with it."""
    dealer, _ = floor.dealt()
    boss = someone(Role.PIT_BOSS, "paula", "301")
    page = looking(boss, f"/slips/{dealer.table.pk}/new/fill/")
    count(page, red=10)
    sign(page, "301", "9999")
    answers(page, "wrong_credentials")
    assert counted(page, "red") == "10"
    assert page.input_value("#badge") == "301"
    assert page.input_value("#pin") == ""
    page.fill("#badge", "")
    sign(page, "301")
    sign(page, "301")
    answers(page, "wrong_credentials")
    assert page.get_attribute("#badge", "aria-describedby") == "refused"
    readable(page)


def test_a_table_opens_when_two_counts_agree(looking: Looking, transactional_db: None) -> None:
    """Harm: the second one reads what the first one counted, or a table that opens with a rack nobody agreed on."""
    table = floor.table()
    boss = someone(Role.PIT_BOSS, "paula", "301")
    someone(Role.DEALER, "dora", "101")
    new = f"/slips/{table.pk}/new/opener/"
    page = looking(boss, new)
    readable(page)
    count(page, white=9_000)
    sign(page, "101")
    assert "9,000" not in page.inner_text("main")
    assert [field.input_value() for field in page.locator("[data-value]").all()] == [""] * len(floor.CHIPS)
    readable(page)
    count(page, white=8_999)
    sign(page, "301")
    assert state(page) == "came_to_nothing"
    assert not standing.of(table).is_open
    page.goto(new)
    count(page, white=9_001)
    sign(page, "101")
    count(page, white=9_001)
    sign(page, "301")
    assert state(page) == "complete"
    assert page.get_attribute(".paper__variance", "data-cents") == "100"
    readable(page)
    assert standing.of(table).is_open


@pytest.mark.trial(
    "a second press in the same moment",
    covered_by="tests/dealer_ui/slips/test_pages.py::test_a_double_click_signs_once",
)
def test_two_presses_are_one_slip(looking: Looking, transactional_db: None) -> None:
    """Harm: a nervous finger asks the cage for twice the chips."""
    dealer, _ = floor.dealt()
    page = looking(someone(Role.PIT_BOSS, "paula", "301"), f"/slips/{dealer.table.pk}/new/fill/")
    count(page, red=10)
    page.fill("#badge", "301")
    page.fill("#pin", PIN)
    page.dblclick(".button--primary")  # the second press may break off the first one's way to the next page
    page.wait_for_selector(".paper__lines")
    assert len(standing.of(dealer.table).slips) == 1


@pytest.mark.trial(
    "four slips of three places; counting and signing have their path on a fill and an opener",
    covered_by="tests/tables/slips/test_chip_papers.py::test_two_people_count_chips_into_the_vault",
)
def test_two_people_receive_chips_and_they_reach_a_table(looking: Looking, transactional_db: None) -> None:
    """Harm: a new house cannot open, as no chip can come into its vault; or one person alone brings chips in."""
    dealer, _ = floor.dealt()
    carla, sue = someone(Role.CAGE_MANAGER, "carla", "401"), someone(Role.SECURITY, "sue", "402")
    bo, values = someone(Role.PIT_BOSS, "bo", "305"), [chip.value_cents for chip in dealer.table.denominations.all()]
    chip_series.add("Alpha", "Chips & Co", 2026, values, by=someone(Role.OPERATOR, "olga", "901"))
    vault = Account.objects.get(place="vault")
    assert cage.balance(vault) == 0
    page = looking(carla, "/cage/")
    page.click("a[href$='/new/receipt/']")
    readable(page)
    page.select_option("#fact-series", "Alpha")
    page.fill("#fact-note_number", "4711")
    for field in ("d", "n"):
        count(page, field, red=20, white=100)
    assert page.locator("[data-sum]").all_inner_texts() == ["200", "200"]
    sign(page, "401")
    address = page.url
    assert "4711" in page.inner_text("article")
    assert "20 of 5" not in page.inner_text("main")
    page = looking(sue, "/slips/")
    page.goto(address)
    readable(page)
    assert page.locator("[name^=d][data-value]").count() == 0
    count(page, red=20, white=100)
    sign(page, "402")
    assert state(page) == "complete"
    assert "20 of 5" in page.inner_text("article")
    assert cage.balance(vault) == 20_000
    readable(page)
    cleo = someone(Role.CASHIER, "cleo", "302")
    page = looking(cleo, "/slips/0/new/withdrawal/")
    count(page, red=20, white=100)
    sign(page, "302")
    sign(page, "401")
    assert cage.balance(vault) == 0
    before = rack(dealer.table)
    slip = BeginSlip("fill", ((500, 20), (100, 100)))
    floor.signs(dealer.table, bo, slip)
    page = looking(bo, f"/slips/{dealer.table.pk}/{standing.of(dealer.table).slips[-1].name}/")
    for _, role, name, badge in (*SIGNERS[:-1], ("", Role.PIT_BOSS, "paula", "301")):
        someone(role, name, badge)
        sign(page, badge)
    assert rack(dealer.table) == before + 20_000
    page = looking(carla, "/slips/chips/")
    assert "Alpha" in page.inner_text("main")
    readable(page)
    assert proofs.verify(dealer.table.book).fault is None
