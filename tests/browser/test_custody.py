"""Counts by shift, the vault's chips, a lost key and the counter in a real browser, as the people do them."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ledger.models import Alert, Discrepancy, LogEntry
from tables.day import hours
from tables.log.entries.custody import HouseKeySet
from tables.models import Denomination, Staff
from tables.roles import Role
from tables.setup import chip_series, custody
from tests import floor
from tests.browser.test_slips import count, counted, readable, sign, state
from tests.clock import Clock
from tests.codes import answers
from tests.fixtures.browser import Looking


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


@pytest.mark.trial(
    "a page drawn by the server",
    covered_by="tests/tables/day/test_cash_shifts.py::test_what_is_owed_stands_on_the_cages_page_and_the_floor",
)
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
    assert page.is_visible("#owed [data-series=cagecash]")
    readable(page)
    boss = looking(people["paula"], "/pit/")
    assert boss.is_visible("#owed [data-series=cagecash]")
    readable(boss)
    page.click("#owed a[href$='/new/cagecash/']")
    for badge in ("401", "402"):
        page.fill("[name^=n][data-value='10000']", "10")
        sign(page, badge)
    page.goto("/cage/")
    assert not page.query_selector("#owed")
    report = looking(people["paula"], f"/pit/reports/?day={calendar.day_of(ended - timedelta(minutes=1))}")
    assert "1,000" in report.inner_text("#cash-shifts + .scroll")


@pytest.mark.trial(
    "counting unseen has its path at a table's opener",
    covered_by="tests/dealer_ui/slips/test_pages.py::test_who_counts_the_cage_does_not_see_what_it_holds",
)
def test_two_people_count_the_vault_unseen(looking: Looking, people: dict[str, Staff]) -> None:
    """Harm: the vault is counted by what a page says is in it."""
    page = looking(people["cora"], "/cage/")
    page.click("a[href$='/new/vault/']")
    readable(page)
    count(page, white=12)
    sign(page, "401")
    boss = looking(people["mona"], "/cage/")
    assert boss.locator("[aria-labelledby=held-title] [data-code=counted_unseen]").count()
    count(page, white=12)
    sign(page, "402")
    assert state(page) == "complete"
    readable(page)
    assert Discrepancy.objects.count() == 1
    pieces = looking(people["olga"], "/pit/chips/")
    assert pieces.is_visible("#counted-last")
    readable(pieces)


def test_a_key_is_lost_and_its_mark_ends(looking: Looking, people: dict[str, Staff]) -> None:
    """Harm: a guard who lost a key finds no page that takes it, and the key stays on somebody's name for good."""
    custody.set_key(HouseKeySet(name="B1", lock="box_release", dual=False, in_use=True), by=people["olga"])
    page = looking(people["guido"], "/slips/keys/")
    page.click("a[href$='/new/key/']")
    page.select_option("select", "B1")
    sign(page, "403")
    sign(page, "403")
    answers(page, "wrong_credentials")
    page.fill("#badge", "")
    page.click("#void summary")
    readable(page)
    sign(page, "401")
    assert state(page) == "complete"
    page.goto("/slips/keys/")
    assert "Guido" in page.inner_text("[data-key=B1][data-state=out]")
    page.click("a[href$='/new/keylost/']")
    readable(page)
    page.select_option("select", "B1")
    page.fill("#fact-place", "Corridor B")
    page.fill("#fact-moment", "2026-01-05T10:00")
    page.fill("#fact-reason", "It fell off the ring")
    sign(page, "403")
    assert Alert.objects.filter(kind="keylost_reported").exists()
    sign(page, "404")
    assert state(page) == "complete"
    page.goto("/slips/keys/")
    assert page.is_visible("[data-key=B1][data-state=lost]")
    readable(page)


def test_the_counter_asks_for_the_series_where_there_are_two(looking: Looking, people: dict[str, Staff]) -> None:
    """Harm: the cashier is asked of every chip, or of none."""
    values = list(Denomination.objects.values_list("value_cents", flat=True))
    chip_series.add("Alpha", "Chips & Co", 2026, values, by=people["olga"])
    chip_series.add("Beta", "Chips & Co", 2027, [100], by=people["olga"])
    page: Any = looking(people["cora"], "/cage/")
    assert page.locator("select[data-of-series]").count() == 1
    readable(page)
    count(page, white=3)
    page.fill("#badge", "401")
    page.fill("#pin", floor.PIN)
    page.click("[name=do][value=redeem]")
    answers(page, "series_needed")
    assert counted(page, "white") == "3"
    page.select_option("[data-of-series='100']", "Beta")
    page.fill("#pin", floor.PIN)
    page.click("[name=do][value=redeem]")
    answers(page, "redeem")
    entry = LogEntry.objects.get(subject="chips", kind="redeemed")
    assert entry.content["of_series"] == [[100, "Beta"]]
