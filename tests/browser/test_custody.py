"""Counts by shift, the vault's chips, a lost key and the counter in a real browser, as the people do them."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ledger.models import HOUSE, Alert, Book, Discrepancy, LogEntry
from tables.audit import proofs
from tables.day import hours
from tables.log.entries.custody import HouseKeySet
from tables.models import Denomination, Staff
from tables.roles import Role
from tables.setup import chip_series, custody
from tests import floor
from tests.browser.test_slips import readable, sign
from tests.clock import Clock
from tests.fixtures.browser import Looking

pytestmark = pytest.mark.browser


@pytest.fixture
def people(transactional_db: None) -> dict[str, Staff]:
    return hired()


def hired() -> dict[str, Staff]:
    """A house with a table and cash in the cage, and those who work there."""
    floor.table()
    return {
        "cora": floor.staff(Role.CASHIER, "cora", "401"),
        "mona": floor.staff(Role.CAGE_MANAGER, "mona", "402"),
        "guido": floor.staff(Role.SECURITY, "guido", "403"),
        "paula": floor.staff(Role.PIT_BOSS, "paula", "404"),
        "olga": floor.staff(Role.OPERATOR, "olga", "405"),
    }


def proved() -> None:
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_a_shift_ends_and_two_people_count_its_cash(looking: Looking, people: dict[str, Staff], clock: Clock) -> None:
    """Harm: the shift changes, nobody is told to count, and the next one inherits the loss."""
    clock.right()
    cashier = looking(people["cora"], "/cage/")
    day = hours.day_of(timezone.now())
    [shift] = [shift for shift in hours.shifts_of(day) if shift.start <= timezone.now() < shift.end]
    if shift.end - timezone.now() > timedelta(hours=1):
        assert not cashier.query_selector("#owed"), "nothing is owed in the middle of a shift"
    else:
        assert "The cage's cash is to be counted by two people" in cashier.inner_text("#owed")
    cashier.click("text=Count the cage's cash")
    cashier.get_by_label("notes of 100").fill("9")
    sign(cashier, "401")
    assert "1,000" not in cashier.inner_text("main"), "nobody sees what is due before the second has counted"
    cashier.get_by_label("notes of 100").fill("9")
    sign(cashier, "402")
    assert "short: −100" in cashier.inner_text(".paper__variance")
    report = looking(floor.staff(Role.AUDITOR, "ada", "601"), f"/pit/reports/?day={day}")
    assert "Cage's cash" in report.inner_text("#cash-bank")
    assert Discrepancy.objects.get().amount_cents == -10_000
    proved()


def test_what_is_owed_stands_on_the_cages_page_and_the_floor(
    looking: Looking, transactional_db: None, clock: Clock
) -> None:
    """Harm: a count that is hours late, and no page says so."""
    # The pages run by the real clock: the house's cash came in the shift before, and nobody counted it.
    calendar = hours.calendar()
    ended = calendar.shift_of(timezone.now()).start
    clock.stand(ended - timedelta(hours=2))
    people = hired()
    clock.right()
    page = looking(people["cora"], "/cage/")
    says = page.inner_text("#owed")
    assert "The cage's cash is to be counted by two people" in says
    readable(page)
    boss = looking(people["paula"], "/pit/")
    assert "The cage's cash is to be counted by two people" in boss.inner_text("#owed")
    readable(boss)
    page.click("#owed >> text=Count the cage's cash")
    for badge in ("401", "402"):
        page.get_by_label("notes of 100").fill("10")
        sign(page, badge)
    page.goto("/cage/")
    assert not page.query_selector("#owed")
    report = looking(people["paula"], f"/pit/reports/?day={calendar.day_of(ended - timedelta(minutes=1))}")
    shifts = report.locator("#cash-shifts + .scroll")
    shifts.scroll_into_view_if_needed()
    assert "Should be there" in shifts.inner_text()
    assert "1,000" in shifts.inner_text()
    proved()


def test_two_people_count_the_vault_unseen(looking: Looking, people: dict[str, Staff]) -> None:
    """Harm: the vault is counted by what a page says is in it."""
    page = looking(people["cora"], "/cage/")
    page.click("text=Count the vault's chips")
    readable(page)
    page.get_by_label("white").fill("12")
    sign(page, "401")
    boss = looking(people["mona"], "/cage/")
    held = boss.inner_text("section[aria-labelledby=held-title]")
    assert "counted unseen" in held
    page.get_by_label("white").fill("12")
    sign(page, "402")
    assert page.inner_text(".paper__state") == "Complete"
    readable(page)
    assert Discrepancy.objects.count() == 1
    pieces = looking(people["olga"], "/pit/chips/")
    assert "Vault: counted last" in pieces.inner_text("#counted-last")
    readable(pieces)
    proved()


def test_a_key_is_lost_and_its_mark_ends(looking: Looking, people: dict[str, Staff]) -> None:
    """Harm: a guard who lost a key finds no page that takes it, and the key stays on somebody's name for good."""
    custody.set_key(HouseKeySet(name="B1", lock="box_release", dual=False, in_use=True), by=people["olga"])
    page = looking(people["guido"], "/slips/keys/")
    page.click("text=Take a key >> nth=0")
    page.select_option("select", "B1")
    sign(page, "403")
    sign(page, "403")
    page.wait_for_selector("[role=alert]")
    page.fill("#badge", "")
    page.click("text=Make this slip void")
    readable(page)
    sign(page, "401")
    assert page.inner_text(".paper__state") == "Complete"
    page.goto("/slips/keys/")
    assert "Guido since" in page.inner_text("main")
    page.click("text=A key is lost")
    readable(page)
    page.select_option("select", "B1")
    page.get_by_label("Where it was last").fill("Corridor B")
    page.get_by_label("When it was missed").fill("2026-01-05T10:00")
    page.get_by_label("What happened").fill("It fell off the ring")
    sign(page, "403")
    assert Alert.objects.filter(kind="keylost_reported").exists()
    sign(page, "404")
    assert page.inner_text(".paper__state") == "Complete"
    page.goto("/slips/keys/")
    assert "lost: not taken any more" in page.inner_text("main")
    readable(page)
    proved()


def test_the_counter_asks_for_the_series_where_there_are_two(looking: Looking, people: dict[str, Staff]) -> None:
    """Harm: the cashier is asked of every chip, or of none."""
    values = list(Denomination.objects.values_list("value_cents", flat=True))
    chip_series.add("Alpha", "Chips & Co", 2026, values, by=people["olga"])
    chip_series.add("Beta", "Chips & Co", 2027, [100], by=people["olga"])
    page: Any = looking(people["cora"], "/cage/")
    assert page.locator("select[data-of-series]").count() == 1
    readable(page)
    page.get_by_label("white").fill("3")
    page.fill("#badge", "401")
    page.fill("#pin", floor.PIN)
    with page.expect_navigation():
        page.click("text=Redeem chips")
    assert "Chips of 1 are of the series Alpha or Beta: look at them, and say which." in page.inner_text("[role=alert]")
    assert page.get_by_label("white").input_value() == "3"
    page.get_by_label("Series of chips of 1,").select_option("Beta")
    page.fill("#pin", floor.PIN)
    with page.expect_navigation():
        page.click("text=Redeem chips")
    assert "Chips are redeemed: 3" in page.inner_text("[role=status]")
    entry = LogEntry.objects.get(subject="chips", kind="redeemed")
    assert entry.content["of_series"] == [[100, "Beta"]]
    proved()
