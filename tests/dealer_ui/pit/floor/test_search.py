"""Finding anything by typing: what fits comes first, and nobody is shown what they may not open."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tables.floor.inputs import BeginSlip
from tables.models import Staff
from tables.roles import Role
from tests import floor
from tests.floor import Hand, dealt, signs
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
@ready_made
def boss() -> Hand:
    """Two tables; at the first a round and a fill on its way."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=1_000)
    dealer.cards(8, 3)
    dealer.pay()
    floor.table("Rocket 12")
    signs(dealer.table, boss.by, BeginSlip("fill", ((500, 10),)))
    return boss


def finds(viewer: Staff, typed: str) -> list[str]:
    page = floor.client(viewer).get(reverse("pit:find"), {"q": typed})
    assert page.status_code == 200
    return [f"{find.title}: {find.address}" for find in page.context["finds"]]


def test_what_is_typed_leads_to_table_round_slip_person_and_screen(boss: Hand) -> None:
    """Harm: somebody on the phone asks for round 1 of Rocket 1, and it takes five pages to get there."""
    pk = boss.table.pk
    slip = boss.now.slips[-1]
    assert finds(boss.by, "rocket 1")[0] == f"Rocket 1: /pit/tables/{pk}/"
    assert finds(boss.by, "rocket 1 1")[0] == f"Rocket 1, round 1: /pit/tables/{pk}/rounds/1/"
    assert finds(boss.by, "round 1")[0] == f"Rocket 1, round 1: /pit/tables/{pk}/rounds/1/"
    title = f"Fill {slip.number} of {slip.year}: /slips/{pk}/fill/{slip.year}/{slip.number}/"
    assert title in finds(boss.by, f"fill {slip.number}")
    assert finds(boss.by, "dora")[0].startswith("Dora: /pit/log/")
    assert finds(boss.by, "disp") == ["Disputes: /pit/disputes/"]
    assert finds(boss.by, "no such thing") == []


def test_nobody_is_shown_what_they_may_not_open(boss: Hand) -> None:
    """Harm: a cashier reads the names of tables, people and rounds in the palette; each link is refused, but told."""
    cashier = floor.staff(Role.CASHIER, "carla", "401")
    for typed in ("rocket 1", "rocket 1 1", "dora", "figures", "closer 1"):
        assert finds(cashier, typed) == [], typed
    assert finds(cashier, "cage")[0] == "Cage: /cage/"
    dealer = Staff.objects.get(username="dora")
    assert floor.client(dealer).get(reverse("pit:find")).status_code == 403
    for find in finds(boss.by, ""):
        assert floor.client(boss.by).get(find.split(": ")[1]).status_code == 200, find


def test_a_find_costs_the_same_however_many_tables_there_are(boss: Hand) -> None:
    """Harm: the palette grows slow with the house."""
    client = floor.client(boss.by)
    client.get(reverse("pit:find"))

    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(reverse("pit:find"), {"q": "rocket 1 1"})
        return len(captured)

    before = cost()
    for number in range(20, 24):
        floor.table(f"Rocket {number}")
    assert cost() == before
