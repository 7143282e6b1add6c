"""A head office's pages: for operators and auditors only, currencies kept apart, and missing days named."""

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.utils import timezone

from casino.office.models import Arrival, Day, House, Pin, Refusal, Source, TableDay, Verdict
from tables.roles import Role
from tests.floor import staff

pytestmark = [pytest.mark.django_db, pytest.mark.urls("casino.office.site_urls")]

TODAY = timezone.now().date()


def house(code: str, currency: str, *, days: int, win_cents: int = 10_000, back: int = 1) -> House:
    """A house with accepted days, the last of them ``back`` days ago."""
    moment = timezone.now()
    row: House = House.objects.create(code=code, name=code.title(), currency=currency, by="otto", at=moment)
    Pin.objects.create(house=row, version=1, key="a" * 64, by="otto", at=moment)
    for number in range(1, days + 1):
        day = TODAY - timedelta(days=back + days - number)
        arrival = Arrival.objects.create(
            house=row,
            sha256=f"{number:064x}",
            size=1_000,
            first=day,
            last=day,
            through=number,
            by="its line",
            at=moment,
        )
        Verdict.objects.create(arrival=arrival, holds=True, says="HOLDS", at=moment)
        Day.objects.create(
            house=row, number=number, day=day, digest="b" * 64, key="a" * 64, arrival=arrival, at=moment,
            ends=moment - timedelta(days=back + days - number - 1),
        )  # fmt: skip
        TableDay.objects.create(
            house=row, day=day, table="Rocket 1", source=Source.RECKONED, game="Rocket", rounds=40,
            win_cents=win_cents, drop_cents=50_000, arrival=arrival,
        )  # fmt: skip
    return row


@pytest.fixture
def auditor(client: Client) -> Client:
    client.force_login(staff(Role.AUDITOR, "ada"))
    return client


def text(client: Client, address: str) -> str:
    reply = client.get(address, secure=True)
    assert reply.status_code == 200, (address, reply.status_code)
    return async_to_sync(streamed)(reply) if reply.streaming else reply.content.decode()


async def streamed(reply: Any) -> str:
    return b"".join([part async for part in reply.streaming_content]).decode("utf-8-sig")


def test_currencies_are_kept_apart_and_signed_figures_replace_reckoned_ones(auditor: Client) -> None:
    """Harm: euros and dollars in one sum; or a day counted twice, reckoned and signed."""
    north = house("north", "EUR", days=3)
    house("south", "EUR", days=3, win_cents=-4_000)
    house("west", "USD", days=2)
    last = Day.objects.filter(house=north).latest("number")
    TableDay.objects.create(
        house=north, day=last.day, table="Rocket 1", source=Source.SIGNED, game="Rocket", rounds=40, win_cents=10_500,
        drop_cents=50_500, handle_cents=400_000, theoretical_cents=9_000, arrival=last.arrival,
    )  # fmt: skip
    rows = text(auditor, "/office/figures.csv").splitlines()
    assert [row.split(",")[:2] + row.split(",")[9:10] for row in rows[1:]] == [
        ["EUR", "North", "30500"],
        ["EUR", "South", "-12000"],
        ["USD", "West", "20000"],
    ]
    page = text(auditor, "/office/figures/")
    assert "In EUR" in page
    assert "+185<" in page, "the two houses in euros"
    assert "1 of 3" in page
    assert "Rocket" in text(auditor, "/office/figures/?by=table&house=north")


def test_missing_days_and_rejected_bundles_are_shown(auditor: Client) -> None:
    """Harm: a house that has stopped reporting looks like one that won nothing."""
    west = house("west", "USD", days=2, back=4)
    house("north", "EUR", days=6)
    says = "roots.jsonl: history was written anew"
    Refusal.objects.create(house=west, sha256="c" * 64, says=says, by="its line", at=timezone.now())
    page = text(auditor, "/office/")
    assert "late" in page
    assert says in page
    assert "Not here yet: West" in text(auditor, "/office/figures/")
    assert says in text(auditor, "/office/houses/west/")
    assert text(auditor, "/office/houses/west.csv").count("\n") == 3


def test_a_houses_page_and_its_file_show_how_each_day_arrived(auditor: Client) -> None:
    """Harm: everybody believes that the line works, but it has carried nothing for a year: somebody brings a stick."""
    house("north", "EUR", days=1)
    assert "<td>its line</td>" in text(auditor, "/office/houses/north/")
    [header, row] = text(auditor, "/office/houses/north.csv").splitlines()
    assert (header.rsplit(",", 1)[1], row.rsplit(",", 1)[1]) == ("came_by", "its line")


def test_only_operators_and_auditors_read_the_pages(client: Client) -> None:
    """Harm: a dealer with an account at the head office reads what the houses win."""
    addresses = ["/office/", "/office/figures/", "/office/figures.csv", "/office/houses/x/", "/office/houses/x.csv"]
    assert {client.get(address, secure=True).status_code for address in addresses} == {302}
    client.force_login(staff(Role.DEALER, "dora", "101"))
    assert {client.get(address, secure=True).status_code for address in addresses} == {403}
