"""Pages beside the felt, as the server draws and takes them: a relief, cash and changes; and the tables on offer."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ledger import cage
from ledger.models import Account, LogEntry
from ledger.proof.chips import money
from tables.audit import proofs
from tables.floor import recorder
from tables.models import Staff
from tables.roles import Role
from tests import floor
from tests.floor import PIN, Hand

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

Terms = Callable[..., None]


@pytest.fixture
def hand() -> Hand:
    return floor.dealt()[0]


@pytest.fixture
def dora(hand: Hand) -> Client:
    return floor.client(hand.by)


def text(answer: Any) -> str:
    return unescape(answer.content.decode())


def latest(hand: Hand) -> LogEntry:
    return LogEntry.objects.filter(book_id=hand.table.book_id).latest("seq")


# --- A settled round -------------------------------------------------------------------------------------------


def test_a_settled_round_is_reopened_at_the_table_by_a_pit_bosss_badge_and_pin(hand: Hand, dora: Client) -> None:
    """Harm: the page reopens a settled round for the dealer alone; or says of a badge, without its PIN, whose it is."""
    floor.staff(Role.PIT_BOSS, "petra", "201")
    hand.bets(seat1=1_000)
    hand.cards(8, 3)
    page, screen = f"/tables/{hand.table.pk}/reopen/", dora.get(f"/tables/{hand.table.pk}/")
    assert 'id="reopen" href="' + page in text(screen)
    sent = {"key": str(uuid4()), "seq": hand.now.seq}
    refusals = {("", ""): "", ("201", "9999"): "", ("101", "9999"): "", ("101", PIN): "wrong_role"}
    for (badge, pin), code in refusals.items():
        answer = dora.post(page, sent | {"badge": badge, "pin": pin})
        assert answer.context["refused"].code == (code or "wrong_credentials")
    assert hand.now.round.over
    assert dora.post(page, sent | {"badge": "201", "pin": PIN})["Location"] == f"/tables/{hand.table.pk}/"
    assert not hand.now.round.over
    assert (latest(hand).by, latest(hand).content["second"]["username"]) == ("101 Dora", "petra")


# --- Relief ----------------------------------------------------------------------------------------------------


def relieve(client: Client, hand: Hand, badge: str, pin: str = PIN) -> Any:
    return client.post(f"/tables/{hand.table.pk}/relief/", {"badge": badge, "pin": pin})


def test_a_relief_in_mid_round_takes_badge_and_pin_alone(hand: Hand, dora: Client) -> None:
    """Harm: nobody can take over in mid-round, so a dealer deals on who should not; or the log does not say who did."""
    floor.staff(Role.DEALER, "rosa", "102")
    hand.bets(seat1=1_000)
    before = hand.now
    answer = relieve(dora, hand, "102")
    assert answer["Location"] == f"/tables/{hand.table.pk}/"
    content = latest(hand).content
    assert (content["username"], content["relieves"], content["confirmed_by"]) == ("rosa", "dora", "dora")
    assert hand.now.round == before.round
    page = dora.get(answer["Location"])
    assert page.status_code == 200
    assert page.wsgi_request.user.username == "rosa"
    assert proofs.verify(hand.table.book).fault is None


def test_a_relief_that_is_refused_leaves_the_dealer_dealing(hand: Hand, dora: Client) -> None:
    """Harm: a wrong PIN signs out the dealer who stands in the middle of a round."""
    floor.staff(Role.DEALER, "rosa", "102")
    mia, busy = floor.staff(Role.DEALER, "mia", "103"), floor.table("Rocket 2")
    Hand(busy, Staff.objects.get(username="bella"))("open_table")
    recorder.sign_in(busy, mia)
    hand.bets(seat1=1_000)
    for badge, pin, sentence in (
        ("102", "9999", "Badge number or PIN is wrong."),
        ("999", PIN, "Badge number or PIN is wrong."),
        ("101", PIN, "You are signed in at Rocket 1 already."),
        ("103", PIN, "You are signed in at Rocket 2: tap out there first."),
        ("", "", "both are digits"),
    ):
        answer = text(relieve(dora, hand, badge, pin))
        assert (sentence in answer, 'data-beside="open"' in answer) == (True, True), sentence
    assert hand.now.dealer is not None
    assert hand.now.dealer.username == "dora"
    assert dora.get(f"/tables/{hand.table.pk}/").status_code == 200


def test_who_lacks_the_certificate_takes_no_table_over(hand: Hand, dora: Client, terms: Terms) -> None:
    """Harm: an untrained dealer deals on, or the one who leaves is signed out for their sake."""
    floor.staff(Role.DEALER, "rosa", "102")
    terms(certificate_games=("rocket",))
    assert "A valid certificate for Rocket is required" in text(relieve(dora, hand, "102"))
    assert dora.get(f"/tables/{hand.table.pk}/").status_code == 200


# --- Cash and changes ------------------------------------------------------------------------------------------


def exchange(client: Client, hand: Hand, **fields: Any) -> Any:
    typed = {"key": str(uuid4()), "way": "sale", "step": "show", **fields}
    return client.post(f"/tables/{hand.table.pk}/cash/", typed)


def rack_cents(hand: Hand) -> int:
    return cage.balance(Account.objects.get(book_id=hand.table.book_id, place="rack"))


def test_nothing_is_sold_before_the_line_that_says_it_was_shown(hand: Hand, dora: Client) -> None:
    """Harm: Enter in a field sells chips that nobody read of."""
    before = hand.now.seq
    page = text(exchange(dora, hand, amount="500"))
    assert "Cash 500 in" in page
    assert 'value="confirm"' in page
    assert hand.now.seq == before


def test_a_sale_names_the_chips_that_were_chosen(hand: Hand, dora: Client) -> None:
    """Harm: the screen says one breakdown, and the book has another."""
    values = [chip.value_cents for chip in hand.table.denominations.order_by("value_cents")]
    small = values[0]
    fields = {"amount": money(10 * small), f"c{small}": "10", "step": "confirm"}
    answer = exchange(dora, hand, **fields)
    assert answer.status_code == 302
    assert latest(hand).content["chips"] == [[small, 10]]
    receipt = text(dora.get(answer["Location"]))
    assert 'data-beside="done"' in receipt
    assert f"A player buys chips for {money(10 * small)}." in receipt


def test_a_confirmation_that_is_sent_twice_sells_once(hand: Hand, dora: Client) -> None:
    """Harm: a second finger on Confirm puts the same cash into the box twice."""
    before, key = rack_cents(hand), str(uuid4())
    answers = [exchange(dora, hand, amount="50", step="confirm", key=key) for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert rack_cents(hand) == before - 5_000


def test_a_refused_form_keeps_its_input(hand: Hand, dora: Client) -> None:
    """Harm: a refusal clears the form, and the dealer counts the player's notes again."""
    before = hand.now.seq
    for fields, sentence in (
        ({"amount": ""}, "Type an amount in digits first"),
        ({"amount": "x"}, "is no amount"),
        ({"amount": "0", "step": "confirm"}, "more than 0"),
        ({"amount": "150", "n10000": "2"}, "What was counted comes to 200, the amount is 150: correct one of them."),
        ({"amount": "150", "n10000": "x"}, "Type digits only"),
        ({"amount": "500", "step": "confirm", "c100": "1"}, "These chips are worth 1, the cash is 500."),
        ({"amount": "500", "step": "confirm", "key": "x"}, "This form was incomplete"),
        ({"amount": "500", "way": "gift"}, "Say what it is"),
    ):
        answer = exchange(dora, hand, **fields)
        assert (answer.status_code in (400, 422), sentence in text(answer)) == (True, True), sentence
        for name in {"amount", "n10000", "c100"} & fields.keys():
            assert f'name="{name}" value="{fields[name]}"' in text(answer), sentence
    assert hand.now.seq == before


def test_a_change_is_taken_back_by_the_opposite_one(hand: Hand, dora: Client) -> None:
    """Harm: a colour-up that was keyed wrongly stays in the rack's pieces until the next count."""
    small, large = (chip.value_cents for chip in hand.table.denominations.order_by("value_cents")[:2])
    count = large // small
    fields = {f"n{small}": str(count), "way": "up", "step": "confirm", f"c{large}": "1"}
    answer = exchange(dora, hand, **fields)
    changed = latest(hand).content
    assert (changed["takes"], changed["gives"], changed["up"]) == ([[small, count]], [[large, 1]], True)
    undo = {"key": str(uuid4()), "undo": answer["Location"].rpartition("=")[2]}
    dora.post(f"/tables/{hand.table.pk}/cash/", undo)
    back = latest(hand).content
    assert (back["takes"], back["gives"], back["up"]) == ([[large, 1]], [[small, count]], False)


def test_a_sale_is_undone_from_its_receipt_or_the_sheet(hand: Hand, dora: Client) -> None:
    """Harm: 500 that was keyed for 50 stays in the book, or is offered to be undone when it cannot be any more."""
    before, sheet = rack_cents(hand), f"/tables/{hand.table.pk}/cash/"
    offer = "Undo the sale of 500"
    assert offer not in text(dora.get(sheet))
    sold = exchange(dora, hand, amount="500", step="confirm")["Location"]
    assert offer in text(dora.get(sold))
    assert offer in text(dora.get(sheet))
    assert offer not in text(exchange(dora, hand, amount="50"))
    undo = {"key": str(uuid4()), "undo": sold.rpartition("=")[2]}
    answers = [dora.post(sheet, undo) for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"]
    receipt = text(dora.get(answers[0]["Location"]))
    assert "no chips were sold for 500. Back into the rack:" in receipt.replace("</b>", "")
    assert "<button" not in receipt.partition("<main")[2].partition("</section>")[0]
    assert rack_cents(hand) == before
    again = dora.post(sheet, undo | {"key": str(uuid4())})
    assert (again.status_code, "That sale was undone already." in text(again)) == (409, True)
    exchange(dora, hand, amount="500", step="confirm")
    hand.bets(seat1=1_000)
    assert offer not in text(dora.get(sheet))


def test_no_refusal_tells_a_dealer_what_the_rack_should_hold(hand: Hand, dora: Client) -> None:
    """Harm: who counts the rack tonight asks the screen first what has to come out."""
    held = rack_cents(hand)
    figures = {money(held), str(held), f"{held // 100}"}
    sale = {"amount": "99,999,999", "step": "confirm"}
    api = {"key": str(uuid4()), "seq": hand.now.seq, "input": {"do": "sell_chips", "amount_cents": 9_999_999_900}}
    answers = [
        exchange(dora, hand, **sale),
        exchange(dora, hand, **sale, way="up"),
        exchange(dora, hand, **sale, way="smaller"),
        dora.post(f"/api/tables/{hand.table.pk}/inputs/", api, content_type="application/json"),
        dora.get(f"/tables/{hand.table.pk}/cash/"),
        dora.get(f"/tables/{hand.table.pk}/"),
    ]
    assert "The rack does not hold that much: ask for a fill first." in text(answers[0])
    shown = [set(re.findall(r"[\d,]+", re.sub(r"99,999,999|9999999900", "", text(answer)))) for answer in answers]
    assert [figures & numbers for numbers in shown] == [set()] * len(answers)


# --- Which tables are offered ----------------------------------------------------------------------------------


def names(page: str) -> list[str]:
    return re.findall(r'pick__name">([^<]+)', page)


def test_tables_are_offered_by_need_and_then_in_their_order(hand: Hand, terms: Terms) -> None:
    """Harm: a relief reads forty names to find the table that waits for somebody."""
    opened = {name: floor.table(name) for name in ("Rocket 10", "Rocket 2", "Rocket 3")}
    for number, (name, table) in enumerate(opened.items()):
        Hand(table, Staff.objects.get(username="bella"))("open_table")
        if name != "Rocket 10":
            recorder.sign_in(table, floor.staff(Role.DEALER, f"dealer{number}", f"{500 + number}"))
    rosa = floor.client(floor.staff(Role.DEALER, "rosa", "102"))
    table_names = names(text(rosa.get("/tables/")))  # the table without a dealer first, then by the length of the stint
    assert table_names == ["Rocket 10", "Rocket 1", "Rocket 2", "Rocket 3"]
    floor.relieve(opened["Rocket 3"], Staff.objects.get(username="rosa"))
    floor.relieve(opened["Rocket 3"], floor.staff(Role.DEALER, "mia", "103"))
    assert names(text(rosa.get("/tables/")))[:2] == ["Rocket 10", "Rocket 3"], "the last table is second"
    terms(certificate_games=("rocket",))
    page = text(rosa.get("/tables/"))
    assert "A valid certificate for Rocket is required" in page
    assert page.count("disabled") == len(names(page))


def test_the_tables_are_read_in_the_same_few_queries(hand: Hand) -> None:
    """Harm: forty tables make the sign-in of every relief slow."""
    rosa = floor.client(floor.staff(Role.DEALER, "rosa", "102"))
    counts = []
    for number in (2, 3, 4):
        with CaptureQueriesContext(connection) as queries:
            rosa.get("/tables/")
        counts.append(len(queries))
        Hand(floor.table(f"Rocket {number}"), Staff.objects.get(username="bella"))("open_table")
    assert counts[1] == counts[2]


def test_a_terminal_of_one_table_asks_for_its_relief_at_once(hand: Hand) -> None:
    """Harm: at the tablet of Rocket 1 a relief looks for Rocket 1 in a list."""
    rosa = floor.staff(Role.DEALER, "rosa", "102")
    client = floor.client(rosa)
    client.cookies["terminal"] = floor.terminal_cookie(rosa, hand.table)
    assert "Relieve Dora at Rocket 1?" in text(client.get("/tables/"))
