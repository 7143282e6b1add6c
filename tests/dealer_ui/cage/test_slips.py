"""Slips on screen: who finds what to sign, and that nothing which is to be counted unseen can be read before."""

import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from ledger import cage
from ledger.models import Account, LogEntry, Slip
from ledger.proof.chips import money
from tables.cage import cage_desk
from tables.floor.inputs import BeginSlip, SignSlip
from tables.log.slip_types import CASH
from tables.models import Staff, Table
from tables.reports import gaming_hours
from tables.roles import Role
from tables.state import table_state
from tests import floor, load
from tests.floor import CREW, PIN, Hand, crew, signs
from tests.pages import lasting
from tests.tiers import sampled

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def badged(role: Role, name: str, badge: str) -> Staff:
    """Somebody who can sign on a screen."""
    return Staff.objects.filter(username=name).first() or floor.staff(role, name, badge)


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def begin(table: Table, series: str, chips: tuple[tuple[int, int], ...], by: Staff, box: str = "") -> str:
    signs(table, by, BeginSlip(series, chips, box))
    return table_state.of(table).slips[-1].name


def address(table: Table, name: str) -> str:
    return reverse("slips:slip", args=[table.pk, *name.split("/")])


def test_a_fill_goes_through_five_hands_on_one_screen(hands: tuple[Hand, Hand]) -> None:
    """Harm: whoever signs has to sign in first, at a screen that somebody else needs."""
    dealer, boss = hands
    bella = badged(Role.PIT_BOSS, "petra", "801")
    people = {
        "issued": badged(Role.CASHIER, "carmen", "803"),
        "carried": badged(Role.SECURITY, "sid", "804"),
        "received": dealer.by,
        "confirmed": badged(Role.PIT_BOSS, "pavel", "805"),
    }
    client, before = floor.client(boss.by), cage.balance(Account.objects.get(book=dealer.table.book, place="rack"))
    form = {"badge": bella.badge, "pin": PIN, "key": str(uuid.uuid4()), "n500": "10", "n100": ""}
    answer = client.post(reverse("slips:begin", args=[dealer.table.pk, "fill"]), form)
    assert answer.status_code == 302
    for stage, somebody in people.items():
        form = {"badge": somebody.badge, "pin": PIN, "key": str(uuid.uuid4()), "stage": stage}
        assert client.post(answer["Location"], form).status_code == 302, stage
    page = text(client.get(answer["Location"]))
    assert "Complete" in page
    assert all(one.name in page for one in [bella, *people.values()])
    assert cage.balance(Account.objects.get(book=dealer.table.book, place="rack")) == before + 5_000


def test_a_wrong_form_gets_one_sentence_and_no_number(hands: tuple[Hand, Hand]) -> None:
    boss, before = badged(Role.PIT_BOSS, "petra", "801"), Slip.objects.count()
    url, client = reverse("slips:begin", args=[hands[0].table.pk, "fill"]), floor.client(boss)
    for change, sentence in (
        ({"pin": "9999"}, "Badge number or PIN is wrong."),
        ({"badge": "x"}, "both are digits"),
        ({"key": "x"}, "This form was incomplete"),
        ({"n500": "ten"}, "Type digits only"),
        ({"n500": ["10", "1"]}, "5 is listed more than once. Give one count for each kind."),
        ({"n500": "9" * 30}, "count 0 to 100,000"),
        ({"n500": ""}, "how many chips of each kind"),
    ):
        form = {"badge": boss.badge, "pin": PIN, "key": str(uuid.uuid4()), "n500": "10"} | change
        answer = client.post(url, form)
        assert 400 <= answer.status_code < 500, sentence
        assert sentence in text(answer)
        assert PIN not in lasting(text(answer)), sentence
    assert Slip.objects.count() == before


def test_a_double_click_signs_once(hands: tuple[Hand, Hand]) -> None:
    """Harm: a nervous finger asks the cage for twice the chips."""
    boss, before = badged(Role.PIT_BOSS, "petra", "801"), Slip.objects.count()
    form = {"badge": boss.badge, "pin": PIN, "key": str(uuid.uuid4()), "n500": "10"}
    url, client = reverse("slips:begin", args=[hands[0].table.pk, "fill"]), floor.client(boss)
    assert client.post(url, form)["Location"] == client.post(url, form)["Location"]
    assert Slip.objects.count() == before + 1


def test_nobody_reads_a_count_before_the_second_one(db: None) -> None:
    """Harm: the second counter writes what the first one found, or what is expected."""
    table = floor.table()
    slip = begin(table, "opener", ((100, 8_765),), crew("received"))
    boss, auditor = badged(Role.PIT_BOSS, "petra", "801"), floor.staff(Role.AUDITOR, "aude")
    pages = [address(table, slip), reverse("slips:book"), reverse("slips:book-csv")]
    pages += [reverse(name, args=[table.pk]) for name in ("pit:log", "pit:log-csv")]
    pages.append(reverse("slips:begin", args=[table.pk, "opener"]))
    for viewer in (boss, auditor):
        for page in pages:
            answer = floor.client(viewer).get(page)
            content = load.whole(answer).decode() if answer.streaming else text(answer)
            # A whole number: a hash or a salt may hold its digits by chance.
            assert not re.search(r"\b(8,765|8765|876500)\b", content), page
    signs(table, boss, SignSlip(slip, "recounted", ((100, 8_765),)))
    assert "8,765" in text(floor.client(boss).get(address(table, slip)))


def test_who_counts_boxes_sees_boxes_and_nothing_else(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    fill = begin(dealer.table, "fill", ((500, 10),), boss.by)
    drop = begin(dealer.table, "drop", (), badged(Role.SECURITY, "sue", "806"), "R1")
    counter = floor.staff(Role.COUNTER, "cole")
    page = text(floor.client(counter).get(reverse("slips:book")))
    assert "box R1" in page
    assert "Fill" not in page
    assert floor.client(counter).get(address(dealer.table, fill)).status_code == 403
    assert floor.client(counter).get(address(dealer.table, drop)).status_code == 200
    assert floor.client(boss.by).get(address(dealer.table, drop)).status_code == 403


def test_all_cash_in_a_box_is_counted_on_the_screen_until_two_counts_agree(hands: tuple[Hand, Hand]) -> None:
    """Harm: a note of 500 or a coin that has no field makes every count of its box wrong; or two counts differ, and the
    count room takes the third form for a mistake of the system."""
    table = hands[0].table
    drop = begin(table, "drop", (), badged(Role.SECURITY, "sue", "806"), "R1")
    signs(table, floor.staff(Role.COUNTER, "cole"), SignSlip(drop, "witnessed"))
    counter = badged(Role.COUNTER, "cora", "807")
    client, url = floor.client(counter), address(table, drop)
    page = text(client.get(url))
    for value in CASH:
        assert f'name="n{value}"' in page
    form = {"badge": counter.badge, "pin": PIN, "key": str(uuid.uuid4()), "stage": "counted", "n50000": "1", "n25": "2"}
    client.post(url, form)
    assert table_state.of(table).slips[-1].counts == (((50_000, 1), (25, 2)),)
    assert "counts so far differ" not in text(client.get(url))
    signs(table, floor.staff(Role.COUNTER, "cleo"), SignSlip(drop, "recounted", ((10_000, 2),)))
    page = text(client.get(url))
    assert "counts so far differ" in page
    assert "To be counted again, unseen<" in page


def test_the_list_of_slips_can_be_added_up(hands: tuple[Hand, Hand]) -> None:
    """Harm: amounts go to the accountants as text such as "1,000", which no spreadsheet adds."""
    dealer, boss = hands
    begin(dealer.table, "fill", ((500, 200),), boss.by)
    answer = floor.client(boss.by).get(reverse("slips:book-csv"))
    header, first, *_ = load.whole(answer).decode("utf-8-sig").splitlines()
    assert header.startswith("slip,table,amount_cents,")
    assert first.split(",")[2] == "100000"


def test_who_carries_finds_where_the_boxes_are(hands: tuple[Hand, Hand]) -> None:
    page = text(floor.client(badged(Role.SECURITY, "sue", "806")).get(reverse("slips:book")))
    assert reverse("slips:begin", args=[hands[0].table.pk, "drop"]) in page
    assert reverse("slips:begin", args=[hands[0].table.pk, "drop"]) not in text(
        floor.client(floor.staff(Role.COUNTER, "cole")).get(reverse("slips:book"))
    )


def test_a_paper_says_in_which_shift_it_was_begun(hands: tuple[Hand, Hand]) -> None:
    """Harm: a fill asked for after midnight is looked for under the next day."""
    dealer, boss = hands
    slip = begin(dealer.table, "fill", ((500, 10),), boss.by)
    now = gaming_hours.shift_of(timezone.now())
    day = date_format(gaming_hours.day_of(timezone.now()), "j M Y")
    assert f"{day}, {now.name}" in text(floor.client(boss.by).get(address(dealer.table, slip)))


def test_a_fill_on_its_way_says_for_how_long(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    slip = begin(dealer.table, "fill", ((500, 10),), boss.by)
    for stage in list(CREW)[1:3]:
        signs(dealer.table, crew(stage), SignSlip(slip, stage))
    page = text(floor.client(boss.by).get(reverse("slips:book")))
    assert "on its way for" in page
    assert "3 of 5 signed" in page


def test_a_list_of_slips_asks_no_question_per_slip(hands: tuple[Hand, Hand]) -> None:
    """Harm: a list that gets slower with every slip there ever was."""
    dealer, boss = hands
    client, query_counts = floor.client(boss.by), []
    for _ in range(2):
        begin(dealer.table, "fill", ((500, 10),), boss.by)
        client.get(reverse("slips:book"))
        with CaptureQueriesContext(connection) as questions:
            client.get(reverse("slips:book"))
        query_counts.append(len(questions))
        for _ in range(3):
            begin(dealer.table, "fill", ((500, 10),), boss.by)
    assert query_counts[0] == query_counts[1]


def test_the_cage_sells_at_its_counter(hands: tuple[Hand, Hand]) -> None:
    cashier = badged(Role.CASHIER, "carmen", "803")
    client, url = floor.client(cashier), reverse("cage")
    form = {"do": "sell", "n2500": "10", "badge": cashier.badge, "pin": PIN, "key": str(uuid.uuid4())}
    for _ in range(2):
        assert client.post(url, form).status_code == 302
    assert LogEntry.objects.filter(subject="chips", kind="sold", by=cashier.signature).count() == 1
    wrong = [
        ({"n2500": "x"}, "Type digits only"),
        ({"n2500": ""}, "how many chips of each kind"),
        ({"pin": "0000"}, "wrong"),
        ({"do": "steal"}, "incomplete"),
    ]
    for change, says in wrong:
        answer = client.post(url, form | {"key": str(uuid.uuid4())} | change)
        assert says in text(answer)


@pytest.mark.parametrize("series", sampled(["rack", "closer"], "opens every address"))
def test_who_counts_a_rack_sees_nowhere_what_is_due_there(hands: tuple[Hand, Hand], series: str) -> None:
    """Harm: the second counter looks up at the floor's screen, and counts what stands there."""
    dealer, boss = hands
    dealer("sell_chips", amount_cents=12_300)
    rack = cage.balance(Account.objects.get(book=dealer.table.book, place="rack"))
    due, chips, pk = money(rack), ((100, rack // 100),), dealer.table.pk
    pit, office = floor.client(boss.by), floor.client(floor.staff(Role.OPERATOR, "olga"))
    shown = [reverse("pit:floor"), reverse("pit:table", args=[pk]), reverse("pit:reports")]
    assert not any(due in text(pit.get(page)) for page in shown), "one tap before the count, too"
    signs(dealer.table, dealer.by, BeginSlip(series, ((500, 1),)))
    slip = table_state.of(dealer.table).slips[-1].name
    also = [address(dealer.table, slip), reverse("slips:book")]
    for one in (*shown, *also):
        answer = pit.get(one)
        assert answer.status_code == 200, one
        assert due not in text(answer), one
    assert all("being counted" in text(pit.get(one)) for one in shown)
    assert str(rack) not in load.whole(pit.get(reverse("pit:reports-csv"))).decode()
    assert due in text(office.get(reverse("pit:table", args=[pk])))
    signs(dealer.table, boss.by, SignSlip(slip, "recounted", chips))
    assert not any("being counted" in text(pit.get(one)) for one in shown)


def test_who_counts_the_cage_does_not_see_what_it_holds(hands: tuple[Hand, Hand]) -> None:
    """Harm: the same, of the one place with more chips than all tables."""
    carmen, carlos = (floor.staff(Role.CASHIER, name) for name in ("carmen", "carlos"))
    cage_desk.sell(10_500, by=carmen, key=uuid.uuid4())  # what it holds is no amount that stands there anyway
    balance, client = cage.balance(Account.objects.get(place="cage")), floor.client(carlos)
    due = money(balance)
    assert due not in text(client.get(reverse("cage"))), "one tap before the count, too"
    slip = cage_desk.sign(BeginSlip("cage", ((500, 1),)), by=carmen, key=uuid.uuid4())
    page = text(client.get(reverse("cage")))
    assert due not in page
    assert "counted unseen" in page
    assert due in text(floor.client(floor.staff(Role.AUDITOR, "ada")).get(reverse("cage")))
    cage_desk.sign(SignSlip(slip, "recounted", ((500, 1),)), by=carlos, key=uuid.uuid4())
    assert due not in text(client.get(reverse("cage")))
