"""The page of figures: what it says is what the tables won, in every span; a day is closed there by two people."""

import io
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from openpyxl import load_workbook

from ledger import discrepancies
from ledger.models import LogEntry
from tables.log.entries.pits import PitSectionSet
from tables.roles import Role
from tables.setup import pits
from tests import floor
from tests.floor import Hand, dealt
from tests.load import whole
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
@ready_made
def hands() -> tuple[Hand, Hand]:
    """One round, in which the house won 8 of 10."""
    dealer, boss = dealt()
    dealer("sell_chips", amount_cents=20_000)
    dealer.bets(seat1=1_000)
    dealer.cards(8, 4, 8)
    dealer.pay()
    return dealer, boss


def browser(hand: Hand) -> Client:
    return floor.client(hand.by)


def text(hand: Hand, **query: str) -> str:
    answer = browser(hand).get(reverse("pit:reports"), query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_every_span_says_what_was_won(hands: tuple[Hand, Hand]) -> None:
    """Harm: a pit boss answers for figures that are another table's or another day's."""
    for span in ("day", "shifts", "month", "year", "nonsense", ""):
        page = text(hands[1], span=span)
        assert [words in page for words in ("+8", "Rocket 1", "200")] == [True] * 3, span


def test_an_invalid_day_gets_the_current_day(hands: tuple[Hand, Hand]) -> None:
    """Harm: an impossible day causes a server error, or shows figures that can be signed."""
    auditor, pk = floor.client(floor.staff(Role.AUDITOR, "ada")), hands[0].table.pk
    for name, args in (
        ("reports", []), ("reports-csv", []), ("shoes", []), ("shoes-csv", []), ("rounds", [pk]), ("table", [pk]),
    ):  # fmt: skip
        assert auditor.get(reverse(f"pit:{name}", args=args), {"day": "2026-02-30"}).status_code == 200, name
    assert browser(hands[1]).post("/pit/reports/2026-02-30/close").status_code == 404


def test_a_day_is_not_closed_before_it_is_over(hands: tuple[Hand, Hand]) -> None:
    """Harm: two people sign figures that go on changing."""
    assert "It can be closed when it is over" in text(hands[1])
    form = {"badge": "201", "pin": floor.PIN}
    assert browser(hands[1]).post("/pit/reports/2999-12-31/close", form).status_code == 302
    assert not LogEntry.objects.filter(subject="day").exists()


def test_the_list_goes_out_as_a_file_and_as_a_workbook(hands: tuple[Hand, Hand]) -> None:
    """Harm: what is shown on the page cannot be taken to the accountants."""
    client, url = browser(hands[1]), reverse("pit:reports-csv")
    book = load_workbook(io.BytesIO(whole(client.get(url, {"as": "xlsx"}))))
    rows = list(book.active.iter_rows(values_only=True))
    win = rows[0].index("win_cents")
    assert [(row[1], row[2], row[win]) for row in rows[1:]] == [
        ("table", "Rocket 1", 800), ("game", "Rocket", 800), ("pit", "All tables", 800),
    ]  # fmt: skip


def test_each_pit_has_its_sum(hands: tuple[Hand, Hand]) -> None:
    """Harm: who answers for a pit adds up its tables by hand, and a table that stands in none is left out."""
    floor.table("Rocket 2")
    olga = floor.staff(Role.OPERATOR, "olga")
    pits.set_section(PitSectionSet(pit="<i>Pit 1", tables=("Rocket 1",)), by=olga)
    client = browser(hands[1])
    book = load_workbook(io.BytesIO(whole(client.get(reverse("pit:reports-csv"), {"as": "xlsx"}))))
    rows = list(book.active.iter_rows(values_only=True))
    win = rows[0].index("win_cents")
    sums = [(row[2], row[win]) for row in rows if row[1] == "place"]
    assert sums == [("<i>Pit 1", 800), ("No pit", 0)]
    page = client.get(reverse("pit:reports")).content.decode()
    assert "&lt;i&gt;Pit 1" in page
    assert "<i>Pit" not in page


def test_a_list_says_whose_it_is_where_no_column_moves(hands: tuple[Hand, Hand], terms: Callable[..., None]) -> None:
    """Harm: figures of two properties on the accountant's desk, and nobody can say which are whose or in what money."""
    terms(house_name="Grand Café & Söhne", property_name="Pier Nine", currency="eur")
    client, url = browser(hands[1]), reverse("pit:reports-csv")
    plain, answer = client.get(url), client.get(url, {"as": "xlsx"})
    assert "grand-cafe-sohne-pier-nine-figures-" in plain["Content-Disposition"]
    assert whole(plain).decode("utf-8-sig").startswith("span,of,name,")
    about = dict(load_workbook(io.BytesIO(whole(answer)))["About"].iter_rows(values_only=True))
    assert (about["House"], about["Property"], about["Currency"]) == ("Grand Café & Söhne", "Pier Nine", "EUR")
    assert about["Taken out by"] == hands[1].by.name


def test_what_is_printed_says_whose_it_is_and_who_printed_it(
    hands: tuple[Hand, Hand], terms: Callable[..., None]
) -> None:
    """Harm: a sheet of amounts without a currency, a house or a date."""
    terms(house_name="Grand & Sons", property_name="Pier Nine", currency="jpy")
    page = text(hands[1])
    head = page.partition('<div class="letterhead">')[2].partition("</div>")[0]
    assert "<b>Grand &amp; Sons, Pier Nine</b>" in head
    assert "Amounts in JPY" in head
    assert f"by {hands[1].by.name}" in head
    assert "Win<small> JPY</small>" in page


def test_tables_that_were_not_open_are_named_below_the_list(hands: tuple[Hand, Hand]) -> None:
    """Harm: forty rows of nothing around the one that matters."""
    floor.table(name="Rocket 9")
    page = text(hands[1])
    assert "1 table was not open" in page
    assert '<th scope="row">Rocket 9</th>' not in page


@pytest.mark.parametrize(("slip", "linked"), [("closer/2026/1", True), ("drop/2026/1", False), (None, False)])
def test_a_discrepancy_leads_to_its_slip(hands: tuple[Hand, Hand], slip: str | None, linked: bool) -> None:
    """Harm: whoever looks into it has to find the paper by its number, or is sent to one that they may not see."""
    book = hands[0].table.book
    evidence = {"seq": 7, "slip": slip} if slip else {}
    discrepancies.open_(book, "variance", -3_000, "short", key="x", involved=["dora"], evidence=evidence)
    page = browser(hands[1]).get(reverse("pit:discrepancies")).content.decode()
    assert "Dora" in page
    assert (reverse("slips:slip", args=[hands[0].table.pk, "closer", 2026, 1]) in page) is linked
    assert (f"{reverse('pit:mispays', args=[hands[0].table.pk])}?variance=-30&amp;through=7" in page) is linked
    assert "/slips/1/drop" not in page
