"""The pages of chips by piece: who sees which day, and what a list says."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from tables.reports import gaming_hours
from tables.roles import Role
from tests import floor, load
from tests.clock import Clock
from tests.floor import Hand
from tests.pages import lasting

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_who_counts_a_rack_sees_the_days_that_are_over(clock: Clock) -> None:
    """Harm: a pit boss looks up what is due in the rack, and counts that."""
    dealer, boss = floor.dealt()
    dealer("sell_chips", amount_cents=12_300)
    auditor = floor.client(floor.staff(Role.AUDITOR, "ada"))
    today = gaming_hours.day_of(timezone.now())
    assert "8,877" in text(auditor.get(reverse("pit:inventory")))
    page = text(floor.client(boss.by).get(reverse("pit:inventory"), {"day": str(today)}))
    assert "8,877" not in page
    assert "sees the days that are over" in page
    clock.pass_until(gaming_hours.span(today).end + timedelta(hours=1))
    assert "8,877" in text(floor.client(boss.by).get(reverse("pit:inventory"), {"day": str(today)}))


def test_the_list_has_a_row_for_each_kind_in_each_place_and_says_what_is_estimated() -> None:
    """Harm: a spreadsheet in which a guess looks like a count."""
    dealer, _ = floor.dealt()
    dealer("sell_chips", amount_cents=2_500)
    auditor = floor.client(floor.staff(Role.AUDITOR, "ada"))
    answer = auditor.get(reverse("pit:inventory-csv"))
    rows = load.whole(answer).decode("utf-8-sig").splitlines()
    day = gaming_hours.day_of(timezone.now())
    assert f"{day},Rocket 1,100,white,8975,897500,estimated" in rows
    assert any(row.startswith((f"{day},Vault,", f"{day},Cage,")) for row in rows)


def test_a_float_is_planned_from_whole_runs() -> None:
    """Harm: a page that fails on a table's first day; or a level of service that nobody offers."""
    dealer, boss = floor.dealt()
    pit, url = floor.client(boss.by), reverse("pit:float", args=[dealer.table.pk])
    assert "after its first whole run" in text(pit.get(url))
    dealer("sell_chips", amount_cents=61_500)
    Hand(dealer.table, boss.by)("close_table")
    page = text(pit.get(url, {"of": "99"}))
    assert "in 0 of 1 runs" in page
    assert "in 1 of 1 runs" in page
    assert lasting(text(pit.get(url, {"of": "7"}))) == lasting(text(pit.get(url)))
    assert pit.get(reverse("pit:float-csv", args=[dealer.table.pk])).status_code == 200


def test_a_rack_in_chips_is_behind_the_rule_of_blind_counts() -> None:
    """Harm: a table's page tells whoever is to count its rack how many of each chip are due there."""
    dealer, boss = floor.dealt()
    dealer("sell_chips", amount_cents=12_300)
    url = reverse("pit:table", args=[dealer.table.pk])

    def pieces(hand: Hand) -> str:
        return text(floor.client(hand.by).get(url)).partition("Rack in chips")[2].partition("</details>")[0]

    seen = pieces(Hand(dealer.table, floor.staff(Role.AUDITOR, "ada")))
    assert "As they lie now" in seen
    assert "5,877</td>" in seen or "8,877</td>" in seen, "what lies there comes to the rack"
    blind = pieces(boss)
    assert "whoever may have to count them is not shown more" in blind
    assert "877" not in blind


def test_the_cage_in_chips_is_behind_the_same_rule() -> None:
    """Harm: a cashier reads off the screen what the count of the cage is to come to."""
    floor.dealt()
    page = text(floor.client(floor.staff(Role.CASHIER, "cora")).get(reverse("cage")))
    assert "Cage in chips" in page
    assert "As they lie now" not in page.partition("Cage in chips")[2].partition("</details>")[0]
