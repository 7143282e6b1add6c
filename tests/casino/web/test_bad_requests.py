"""Whatever somebody sends, the answer is a refusal in plain words: never a failure, never a traceback."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from ledger.alerts import raise_alert
from ledger.models import Acknowledgement
from tables.models import Staff
from tests.floor import Hand, dealt
from tests.floor import client as on_terminal

pytestmark = pytest.mark.django_db

DIGITS = "9" * 5_000
Send = Callable[[Client, Client, Hand], Any]


@pytest.fixture
def floor() -> tuple[Hand, Hand]:
    return dealt()


def signed_in(hand: Hand) -> Client:
    return on_terminal(hand.by, raise_request_exception=False)


def without_token(hand: Hand, body: str) -> Any:
    """A body of whoever is signed in, whose token must be looked for without reading it."""
    client = on_terminal(hand.by, raise_request_exception=False, enforce_csrf_checks=True)
    client.cookies["csrftoken"] = "a" * 32
    answer = client.post(f"/api/tables/{hand.table.pk}/inputs/", body, content_type="application/json")
    assert answer.json()["code"] == "csrf_failed"
    return answer


def with_cookie(value: str) -> Client:
    client = Client(raise_request_exception=False)
    client.cookies.load(f"sessionid={value}")
    return client


BAD: dict[str, Send] = {
    "a NUL in a session": lambda boss, dealer, hand: with_cookie('"\\000abc"').get("/pit/"),
    "a NUL in a session of the API": lambda boss, dealer, hand: with_cookie('"\\000abc"').get("/api/tables/"),
    "an endless session": lambda boss, dealer, hand: with_cookie("a" * 3_000).get("/pit/"),
    "a form of parts in UTF-16": lambda boss, dealer, hand: dealer.post(
        f"/tables/{hand.table.pk}/input", b"--x\r\n", content_type="multipart/form-data; boundary=x; charset=utf-16"
    ),
    "parts without a boundary": lambda boss, dealer, hand: dealer.post(
        f"/tables/{hand.table.pk}/input", b"--x\r\n", content_type="multipart/form-data"
    ),
    "deep JSON": lambda boss, dealer, hand: dealer.post(
        f"/api/tables/{hand.table.pk}/inputs/", "[" * 8_000, content_type="application/json"
    ),
    "deep JSON without a token": lambda boss, dealer, hand: without_token(hand, "[" * 8_000),
    "endless digits without a token": lambda boss, dealer, hand: without_token(hand, DIGITS),
    "deep JSON from nobody": lambda boss, dealer, hand: Client(raise_request_exception=False).post(
        f"/api/tables/{hand.table.pk}/inputs/", "[" * 8_000, content_type="application/json"
    ),
    "JSON of endless digits": lambda boss, dealer, hand: dealer.post(
        f"/api/tables/{hand.table.pk}/inputs/", DIGITS, content_type="application/json"
    ),
    "a NUL in a note": lambda boss, dealer, hand: boss.post(
        "/pit/alerts/acknowledge", {"alert": alert(hand), "note": "a\x00b", "back": "alerts"}
    ),
    "an endless note": lambda boss, dealer, hand: boss.post(
        "/pit/alerts/acknowledge", {"alert": alert(hand), "note": "a" * 501, "back": "alerts"}
    ),
    "a NUL in a name": lambda boss, dealer, hand: Client(raise_request_exception=False).post(
        "/sign-in/", {"username": "a\x00b", "password": "c\x00d"}
    ),
    "a NUL in a seat": lambda boss, dealer, hand: dealer.post(f"/tables/{hand.table.pk}/input", {"seat": "\x00"}),
    "endless digits for a seat": lambda boss, dealer, hand: dealer.post(
        f"/tables/{hand.table.pk}/input", {"seat": DIGITS, "amount": DIGITS, "seq": DIGITS, "key": DIGITS}
    ),
    "endless digits for a table": lambda boss, dealer, hand: boss.get(f"/pit/tables/{DIGITS}/"),
    "a table beyond the database's numbers": lambda boss, dealer, hand: boss.get(f"/pit/tables/{10**30}/"),
    "a round beyond the database's numbers": lambda boss, dealer, hand: boss.get(
        f"/pit/tables/{hand.table.pk}/rounds/{10**30}/"
    ),
    "a table beyond the API's numbers": lambda boss, dealer, hand: boss.get(f"/api/tables/{10**30}/"),
    "a round beyond the API's numbers": lambda boss, dealer, hand: boss.get(
        f"/api/tables/{hand.table.pk}/rounds/{10**30}/"
    ),
    "endless digits for a live table": lambda boss, dealer, hand: boss.get(f"/live/?table={DIGITS}"),
    "superscript digits": lambda boss, dealer, hand: boss.get(f"/pit/tables/{hand.table.pk}/?through=²&seat=²"),
}
PARAMETERS = [
    f"{name}={value}"
    for name in ("before", "through", "seat", "day", "outcome", "subject")
    for value in (DIGITS, "%00", "-1")
]


def alert(hand: Hand) -> int:
    """An open alert."""
    return raise_alert(hand.table.book, "test", "something happened", {}).pk


@pytest.mark.parametrize("send", BAD.values(), ids=BAD)
def test_nothing_that_is_sent_makes_the_house_fail(floor: tuple[Hand, Hand], send: Send) -> None:
    """Harm: a line in a form brings a page down, and its traceback tells of the inside."""
    dealer, boss = floor
    response: HttpResponse = send(signed_in(boss), signed_in(dealer), dealer)
    assert response.status_code < 500
    assert not Acknowledgement.objects.exists()


@pytest.mark.parametrize("page", ["", "log/", "rounds", "rounds.csv", "log.csv"])
def test_no_parameter_makes_a_page_of_a_table_fail(floor: tuple[Hand, Hand], page: str) -> None:
    """Harm: a parameter in an address causes a server error, and its traceback reveals internals."""
    dealer, boss = floor
    client = signed_in(boss)
    addresses = [f"/pit/tables/{dealer.table.pk}/{page}?{parameter}" for parameter in PARAMETERS]
    assert [address for address in addresses if client.get(address).status_code >= 500] == []


def test_no_parameter_makes_a_page_of_the_admin_fail(operator: Staff) -> None:
    """Harm: a parameter in an address causes a server error on a page of the admin."""
    client = on_terminal(operator, raise_request_exception=False)
    lists = ("tables/table", "tables/staff", "ledger/logentry", "ledger/transfer", "ledger/alert")
    questions = ("q=%00", f"q={DIGITS}", "e=1", f"p={DIGITS}", "id__exact=%00")
    addresses = [f"/admin/{name}/?{question}" for name in lists for question in questions]
    assert [address for address in addresses if client.get(address).status_code >= 500] == []
