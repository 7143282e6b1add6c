"""Guessing from outside, at a terminal, and by many at once: the attacks as they were done, and who stays in."""

import re
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from ledger.models import Alert, LogEntry, Slip
from tables.models import AttemptCount, Staff, Table
from tables.roles import Role
from tables.staff import guess_counts, terminals
from tables.staff.guess_counts import GuessLimit, TooMany
from tests import floor, processes
from tests.floor import PASSWORD, PIN

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]
ONE_SENTENCE = "Badge number or PIN is wrong."


def by_name(client: Client, username: str, password: str = PASSWORD) -> HttpResponse:
    return client.post("/sign-in/?way=name", {"username": username, "password": password})  # type: ignore[return-value]


def knock(username: str, settings: Any) -> None:
    """What a stranger does: more wrong passwords than the house takes, from five addresses."""
    for number in range(settings.LOCKOUT_FAILURES_EVERYWHERE + 2):
        by_name(Client(REMOTE_ADDR=f"203.0.113.{number % 5}"), username, "wrong")


@pytest.fixture
def quick(settings: Any, terms: Callable[..., None]) -> Any:
    """The same limits, sooner reached."""
    terms(lockout_failures=3)
    settings.LOCKOUT_FAILURES_EVERYWHERE = 6
    return settings


@pytest.fixture
def boss() -> Staff:
    return floor.staff(Role.PIT_BOSS, "boris", "202")


# --- Strangers -------------------------------------------------------------------------------------------------


def test_strangers_lock_no_user_out_of_a_known_device(quick: Any, boss: Staff) -> None:
    """Harm: fifty wrong passwords from five addresses lock a pit boss, a cashier or an operator out of the sign-in for
    half an hour, as often as a stranger likes; or their right PIN on a slip is refused."""
    table, desk, pad = floor.table(), Client(), floor.client(boss)
    assert by_name(desk, "boris").status_code == 302
    desk.post("/sign-out/")
    knock("boris", quick)
    assert by_name(Client(REMOTE_ADDR="203.0.113.77"), "boris").status_code == 429
    assert by_name(desk, "boris").status_code == 302
    assert begin_fill(pad, table, "202").status_code == 302


def test_a_known_device_has_a_count_of_its_own(quick: Any, boss: Staff) -> None:
    """Whoever sits down at it guesses as little as anybody, and locks out no other device."""
    desk, home = Client(), Client(REMOTE_ADDR="198.51.100.1")
    by_name(desk, "boris")
    by_name(home, "boris")
    for _ in range(3):
        assert by_name(desk, "boris", "wrong").status_code == 403
    assert by_name(desk, "boris").status_code == 429
    assert by_name(home, "boris").status_code == 302


def test_a_device_is_known_for_one_name_alone(quick: Any, boss: Staff) -> None:
    """Harm: who may sign in somewhere guesses at everybody else's password there, outside of every other count."""
    floor.staff(Role.OPERATOR, "omar")
    own = Client()
    by_name(own, "boris")
    knock("omar", quick)
    assert by_name(own, "omar").status_code == 429


@pytest.mark.parametrize("forged", ["eyJhIjoxfQ:1abcde:x", "\x00"])
def test_a_forged_device_is_a_stranger(quick: Any, boss: Staff, forged: str) -> None:
    own = Client()
    own.cookies["devices"] = forged
    for _ in range(3):
        by_name(own, "boris", "wrong")
    assert by_name(own, "boris").status_code == 429


def test_one_address_tries_no_password_on_everybody(settings: Any, boss: Staff) -> None:
    """Harm: one common password for each of a thousand names, of which no count by name takes notice."""
    settings.LOCKOUT_FAILURES_ADDRESS = 5
    for number in range(5):
        assert by_name(Client(), f"somebody{number}", "wrong").status_code == 403
    assert by_name(Client(), "boris").status_code == 429
    assert Alert.objects.filter(kind="sign_in_locked").count() == 1
    assert AttemptCount.objects.count() < 12


def test_an_address_of_ipv6_is_its_network() -> None:
    """Harm: whoever has one such address has 2⁶⁴, and a count for each would count nothing."""

    def place(address: str) -> str:
        return guess_counts.address_of(Client(REMOTE_ADDR=address).get("/sign-in/").wsgi_request)

    assert place("2001:db8:1:2::1") == place("2001:db8:1:2:ffff::9") != place("2001:db8:1:3::1")
    assert place("::ffff:192.0.2.1") == place("192.0.2.1")
    assert place("") == place("unix:")


# --- PINs ------------------------------------------------------------------------------------------------------


def begin_fill(client: Client, table: Table, badge: str, pin: str = PIN, **chips: str) -> HttpResponse:
    form = {"badge": badge, "pin": pin, "key": str(uuid.uuid4()), "n500": "10"} | chips
    return client.post(reverse("slips:begin", args=[table.pk, "fill"]), form)  # type: ignore[return-value]


def refusal_text(answer: HttpResponse) -> str:
    match = re.search(r'role="alert" id="refused"[^>]*>(.*?)</p>', answer.content.decode(), re.S)
    return match.group(1) if match else ""


def test_no_pin_is_taken_from_a_browser_that_is_no_terminal(boss: Staff) -> None:
    """Harm: from any browser with a session, nine PINs for each badge are guessed in half an hour without an alert, or
    people type their PIN into another person's browser."""
    table, anywhere = floor.table(), Client()
    anywhere.force_login(boss)
    page = anywhere.get(reverse("slips:begin", args=[table.pk, "fill"])).content.decode()
    assert 'name="pin"' not in page
    assert "This browser is no terminal" in page
    assert "Next: any pit boss." in page
    answers = [begin_fill(anywhere, table, badge, pin) for badge in ("202", "999") for pin in (PIN, "9999")]
    assert {(answer.status_code, refusal_text(answer)) for answer in answers} == {(403, terminals.NO_TERMINAL)}
    (alert,) = Alert.objects.all()
    assert (alert.kind, alert.message) == (
        "no_terminal", "A badge and a PIN were tried on a browser that is no terminal (boris).",
    )  # fmt: skip
    assert not AttemptCount.objects.exists()


def test_wrong_credentials_read_and_count_alike(boss: Staff) -> None:
    """Harm: a wrong PIN gets another sentence where its owner may not sign, or where the badge is nobody's."""
    table, desk = floor.table(), floor.client(boss)
    floor.staff(Role.AUDITOR, "ada", "601")
    floor.staff(Role.PIT_BOSS, "gone", "203")
    Staff.objects.filter(username="gone").update(is_active=False)
    tries = [("202", "9999"), ("999", PIN), ("601", "9999"), ("203", PIN)]
    assert {(a.status_code, refusal_text(a)) for a in (begin_fill(desk, table, *guess) for guess in tries)} == {
        (403, ONE_SENTENCE)
    }
    counted = AttemptCount.objects.exclude(name="").filter(kind="signature", place__startswith="terminal")
    assert sorted(counted.values_list("tries", flat=True)) == [1, 1, 1, 1]


def test_the_owner_of_a_right_pin_is_told_why_they_may_not_sign(boss: Staff) -> None:
    """Harm: a person who may not sign a step types the PIN again and again, until the badge is locked."""
    table, desk = floor.table(), floor.client(boss)
    floor.staff(Role.AUDITOR, "ada", "601")
    before = LogEntry.objects.count()
    answer = begin_fill(desk, table, "601")
    assert (answer.status_code, LogEntry.objects.count()) == (403, before)
    assert refusal_text(answer).endswith(": this step is signed by a pit boss, not by Ada.")
    assert set(AttemptCount.objects.values_list("tries", flat=True)) == {0}
    slip = begin_fill(desk, table, "202")["Location"]
    form = {"badge": "202", "key": str(uuid.uuid4()), "stage": "issued"}
    assert refusal_text(desk.post(slip, form | {"pin": "9999"})) == ONE_SENTENCE
    assert "this step is signed by a cage manager or a cashier" in refusal_text(desk.post(slip, form | {"pin": PIN}))


def test_what_refuses_everybody_is_told_whatever_the_pin(boss: Staff) -> None:
    """Harm: an amount that nobody could sign for tells a right PIN from a wrong one, and leaves no trace."""
    table, desk = floor.table(), floor.client(boss)
    before = LogEntry.objects.count()
    for count in ("99999", ""):
        sentences = {refusal_text(begin_fill(desk, table, "202", pin, n500=count)) for pin in (PIN, "9999")}
        assert len(sentences) == 1
        assert sentences != {ONE_SENTENCE}
    assert LogEntry.objects.count() == before
    assert set(AttemptCount.objects.values_list("tries", flat=True)) == {0}


def test_a_wrong_pin_leaves_nothing_of_what_it_would_have_signed(boss: Staff) -> None:
    """The signature is tried out before the PIN is looked at: of that, nothing may stay, nor take a slip's number."""
    table, desk = floor.table(), floor.client(boss)
    before = LogEntry.objects.count()
    begin_fill(desk, table, "202", "9999")
    assert LogEntry.objects.count() == before
    year, number = begin_fill(desk, table, "202")["Location"].split("/")[-3:-1]
    assert int(number) == Slip.objects.filter(series="fill", year=year).count()


def test_wrong_pins_on_slips_do_not_stop_a_signature_elsewhere(quick: Any, boss: Staff) -> None:
    """Harm: a guesser at one terminal blocks a badge in the whole casino, or resets the count with a form that can
    never be signed."""
    table, desk, second_desk = floor.table(), floor.client(boss), floor.client(boss)
    for _ in range(3):
        begin_fill(desk, table, "202", "9999")
        begin_fill(desk, table, "202", n500="")
    answer = begin_fill(desk, table, "202")
    assert (answer.status_code, refusal_text(answer)) == (
        429,
        "Too many wrong PINs with this badge on this terminal: wait 30 minutes, or ask an operator to let you in.",
    )
    assert begin_fill(second_desk, table, "202").status_code == 302


# --- Many at once ----------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_eighty_tries_at_once_only_as_many_are_counted_in_as_the_limit_says() -> None:
    """Harm: a count that is read first and written afterwards lets 43 of 80 through a limit of 30."""
    limit = GuessLimit("signature", "terminal 1", "", 30, 1800)

    def attempt(_: int) -> bool:
        try:
            guess_counts.reserve([limit])
        except TooMany:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(40) as pool:
        assert sum(pool.map(attempt, range(80))) == 30


@pytest.mark.django_db(transaction=True)
def test_many_wrong_pins_at_once_against_the_web_process(web: processes.Web) -> None:
    """Harm: forty badges are tried at one terminal at the same moment, and more than 30 of them get an answer."""
    boss = floor.staff(Role.PIT_BOSS, "boris", "202")
    cookies, token = floor.client(boss).cookies, "t" * 32
    table = floor.table()
    headers = {
        "Cookie": f"terminal={cookies['terminal'].value}; sessionid={cookies['sessionid'].value}; csrftoken={token}",
        "X-CSRFToken": token,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    host = urlsplit(web.url).netloc

    def guess(number: int) -> int:
        form = {"badge": str(1_000 + number), "pin": "9999", "key": str(uuid.uuid4()), "n500": "10"}
        with closing(HTTPConnection(host, timeout=120)) as house:
            house.request("POST", f"/slips/{table.pk}/new/fill/", urlencode(form), headers)
            return house.getresponse().status

    with ThreadPoolExecutor(40) as pool:
        statuses = list(pool.map(guess, range(40)))
    answered = statuses.count(403)
    assert answered <= 30, statuses
    assert statuses.count(429) >= 1
    assert Alert.objects.filter(kind="terminal_locked").count() == 1
