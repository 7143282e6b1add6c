"""A lost key and the cage counter in a real browser."""

from typing import Any

import pytest

from ledger.models import Alert, LogEntry
from tables.cage import chip_series, key_register
from tables.log.entries.custody import HouseKeySet
from tables.models import Denomination, Staff
from tables.roles import Role
from tests import floor
from tests.browser.test_slips import count, counted, readable, sign, state
from tests.codes import answers
from tests.fixtures.browser import Looking


@pytest.fixture
def people(transactional_db: None) -> dict[str, Staff]:
    """The staff of a casino with a table and cash in the cage."""
    floor.table()
    return {
        "cora": floor.staff(Role.CASHIER, "cora", "401"),
        "mona": floor.staff(Role.CAGE_MANAGER, "mona", "402"),
        "guido": floor.staff(Role.SECURITY, "guido", "403"),
        "paula": floor.staff(Role.PIT_BOSS, "paula", "404"),
        "olga": floor.staff(Role.OPERATOR, "olga", "405"),
    }


def test_a_key_is_lost_and_its_mark_ends(looking: Looking, people: dict[str, Staff]) -> None:
    """Harm: a guard who lost a key finds no page that takes it, and the key stays on somebody's name for good."""
    key_register.set_key(HouseKeySet(name="B1", lock="box_release", dual=False, in_use=True), by=people["olga"])
    page = looking(people["guido"], "/slips/keys/")
    page.click("a[href$='/new/key/']")
    page.select_option("select", "B1")
    sign(page, "403")
    sign(page, "403")
    assert page.inner_text("#next-signer").endswith(" except Guido, who took it.")
    answers(page, "signed_already")
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
