"""Slips in a real browser: a fill that five people sign, a rack that two count, for eyes, fingers and keyboards."""

from typing import Any

import pytest

from ledger import cage
from ledger.models import Account
from tables.models import Staff, Table
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import PORTRAIT
from tests.codes import answers
from tests.fixtures.browser import Looking
from tests.floor import PIN
from tests.layout import fits_width, small

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
    assert small(page) == []
    assert fits_width(page)


def test_five_people_sign_a_fill(looking: Looking) -> None:
    """Harm: staff cannot read, reach or sign a slip, so chips are carried without one; or a refusal has no message, or
    clears the entered chips."""
    dealer, _ = floor.dealt()
    boss = someone(Role.PIT_BOSS, "paula", "301")
    before = rack(dealer.table)
    page = looking(boss, f"/slips/{dealer.table.pk}/new/fill/", PORTRAIT)
    readable(page)
    count(page, red=10, white=50)
    assert page.inner_text("[data-sum]") == "100"
    sign(page, "301", "9999")
    answers(page, "wrong_credentials")
    assert (counted(page, "red"), page.input_value("#badge"), page.input_value("#pin")) == ("10", "301", "")
    page.fill("#badge", "")
    assert page.inner_text("#next-signer") == "Next: any pit boss."
    sign(page, "301")
    assert page.inner_text("#next-signer") == "Next: any cage manager or cashier."
    sign(page, "301")
    answers(page, "wrong_role")
    assert page.get_attribute("#badge", "aria-describedby") == "refused"
    page.fill("#badge", "")
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


@pytest.mark.trial(
    "a further slip on the same page",
    covered_by="tests/dealer_ui/cage/test_slips.py::test_nobody_reads_a_count_before_the_second_one",
)
def test_a_table_opens_when_two_counts_agree(looking: Looking) -> None:
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
    assert not table_state.of(table).is_open
    page.goto(new)
    count(page, white=9_001)
    sign(page, "101")
    count(page, white=9_001)
    sign(page, "301")
    assert state(page) == "complete"
    assert page.get_attribute(".paper__variance", "data-cents") == "100"
    readable(page)
    assert table_state.of(table).is_open
