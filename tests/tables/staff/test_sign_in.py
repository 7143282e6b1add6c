"""Signing in and out: who gets in, what an answer gives away, when a session ends, and what the log says of it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db.models import F
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from casino.web import sessions
from ledger.models import HOUSE, Alert, LogEntry
from tables.floor import recorder, table_opening
from tables.models import AttemptCount, Staff, Table, Terminal
from tables.roles import Role
from tables.setup import policies
from tables.staff import codes, staffing, terminals
from tables.staff.sign_in import BEGAN
from tests import floor
from tests.floor import PASSWORD, PIN

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]
SIGN_IN, SIGN_OUT = "/sign-in/", "/sign-out/"


@pytest.fixture
def dora() -> Staff:
    return floor.staff(Role.DEALER, "dora", "101")


@pytest.fixture
def terminal(operator: Staff) -> Terminal:
    return terminals.add("Tablet", None, by=operator)


@pytest.fixture
def tablet(terminal: Terminal, operator: Staff) -> Client:
    """A device that is enrolled."""
    client = Client()
    client.post(terminals.link_for(terminal, by=operator))
    return client


def by_badge(client: Client, badge: str = "101", pin: str = PIN, **extra: str) -> HttpResponse:
    return client.post(SIGN_IN, {"badge": badge, "pin": pin} | extra)  # type: ignore[return-value]


def by_name(client: Client, username: str, password: str = PASSWORD, **extra: str) -> HttpResponse:
    return client.post(f"{SIGN_IN}?way=name", {"username": username, "password": password} | extra)  # type: ignore[return-value]


def username_at(client: Client) -> str | None:
    """Who is signed in there."""
    answer = client.get(SIGN_IN).wsgi_request.user
    return answer.username if isinstance(answer, Staff) else None


def staff_entries(*kinds: str) -> list[tuple[str, str, dict[str, Any]]]:
    """What the house's book says about staff."""
    entries = LogEntry.objects.filter(book__name=HOUSE, subject="staff", kind__in=kinds).order_by("seq")
    return [(entry.kind, entry.by, entry.content) for entry in entries]


# --- Getting in -----------------------------------------------------------------------------------------------


def test_badge_and_pin_open_an_enrolled_terminal_and_nothing_else(tablet: Client, dora: Staff) -> None:
    """Harm: a dealer cannot sign in at the table, or a PIN read over a shoulder works from a phone."""
    phone = Client()
    assert by_badge(phone).status_code == 403
    assert username_at(phone) is None
    assert Alert.objects.filter(kind="no_terminal").count() == 1
    assert by_badge(tablet).status_code == 302
    assert username_at(tablet) == "dora"
    assert staff_entries("signed_in") == [
        ("signed_in", "101 Dora", {"username": "dora", "terminal": "Tablet", "address": "127.0.0.1"})
    ]


def test_a_pin_is_for_dealers(tablet: Client, operator: Staff) -> None:
    """Harm: four digits open the admin, or a pit boss who helps at the table cannot sign in there by name."""
    floor.staff(Role.OPERATOR, "olga", "7")
    assert by_badge(tablet, "007").status_code == 403
    Staff.objects.filter(username="olga").update(badge="777")
    assert by_badge(tablet, "777").status_code == 403
    assert username_at(tablet) is None
    assert by_name(tablet, "omar").status_code == 302
    assert username_at(tablet) == "omar"


WAYS_IN = [
    ("101", "9999", "a wrong PIN"),
    ("999", PIN, "a badge that nobody has"),
    ("102", PIN, "a dealer without a PIN"),
    ("103", PIN, "a dealer who has left"),
]


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every secret that is hashed from here on: hashing is nearly all the time that an answer takes."""
    calls: list[str] = []
    plain = Argon2PasswordHasher.encode
    monkeypatch.setattr(
        Argon2PasswordHasher, "encode", lambda self, *args: calls.append("encode") or plain(self, *args)
    )
    verify = Argon2PasswordHasher.verify
    monkeypatch.setattr(
        Argon2PasswordHasher, "verify", lambda self, *args: calls.append("verify") or verify(self, *args)
    )
    return calls


def crew() -> None:
    Staff.objects.create_staff("nan", name="Nan", role=Role.DEALER, password=PASSWORD, badge="102")
    floor.staff(Role.DEALER, "gone", "103")
    Staff.objects.filter(username="gone").update(is_active=False)


def test_an_answer_does_not_tell_which_part_was_wrong_nor_does_its_time(
    tablet: Client, dora: Staff, hashes: list[str]
) -> None:
    """Else badge numbers could be found out first, and PINs then, one by one."""
    crew()
    answers = set()
    for badge, pin, _ in WAYS_IN:
        hashes.clear()
        answer = by_badge(tablet, badge, pin)
        assert len(hashes) == 1, badge
        answers.add((answer.status_code, b"Badge number or PIN is wrong." in answer.content))
    assert answers == {(403, True)}


def test_nor_by_name(dora: Staff, hashes: list[str]) -> None:
    """The same, from the whole internet."""
    crew()
    Staff.objects.create_staff("new", name="New", role=Role.AUDITOR)
    answers = set()
    for username, password in (("dora", "wrong"), ("nobody", PASSWORD), ("gone", PASSWORD), ("new", PASSWORD)):
        hashes.clear()
        answer = by_name(Client(), username, password)
        assert len(hashes) == 1, username
        answers.add((answer.status_code, b"Name or password is wrong." in answer.content))
    assert answers == {(403, True)}


def test_nonsense_on_the_pad_gets_a_sentence(tablet: Client, dora: Staff) -> None:
    """Harm: nonsense on the pad breaks the page or begins a session."""
    for entry in (
        {},
        {"badge": "", "pin": ""},
        {"badge": "1" * 5_000, "pin": PIN},
        {"badge": "101", "pin": "1" * 5_000},
        {"badge": "10\0", "pin": PIN},
        {"badge": "١٠١", "pin": PIN},
        {"badge": "101' OR '1'='1", "pin": PIN},
        {"badge[]": "101", "pin": PIN},
    ):
        assert tablet.post(SIGN_IN, entry).status_code == 422, entry
        assert username_at(tablet) is None


def test_nonsense_in_the_fields_gets_a_sentence(dora: Staff) -> None:
    """Harm: a name that is longer than the column or contains a zero byte causes a database error."""
    for entry in (("", ""), ("d\0ra", "x"), ("d" * 300, "x"), ("dora", "x" * 100_000), ("dora", "")):
        assert by_name(Client(), *entry).status_code in (403, 422)


def test_a_screen_that_follows_the_floor_by_itself_does_not_keep_its_reader_signed_in(
    operator: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pit screen that nobody has touched for an hour would otherwise stay open for whoever passes."""
    monkeypatch.setattr(sessions, "RENEWED_SECONDS", 0)  # the sign-in wrote it a moment ago
    desk = Client()
    by_name(desk, "omar")

    def renewed(**headers: str) -> bool:
        return "sessionid" in desk.get("/pit/", headers=headers).cookies

    assert renewed()
    assert not renewed(**{"X-Requested-With": "fetch"})
    assert not renewed(**{"HX-Request": "true"})


# --- Too many tries -------------------------------------------------------------------------------------------


@pytest.fixture
def three_tries(terms: Callable[..., None]) -> None:
    """As good as ten, and quicker: each try is hashed as slowly as any."""
    terms(lockout_failures=3)


def test_ten_wrong_pins_close_the_terminal_to_that_badge_and_to_no_other(tablet: Client, dora: Staff) -> None:
    """There are only ten thousand PINs; and one who forgot theirs must not close the table."""
    assert policies.number("lockout_failures") == 10
    for _ in range(10):
        assert by_badge(tablet, pin="9999").status_code == 403
    answer = by_badge(tablet)
    assert answer.status_code == 429
    assert b"Too many wrong PINs with this badge on this terminal: wait 30 minutes" in answer.content
    assert username_at(tablet) is None
    floor.staff(Role.DEALER, "dan", "102")
    assert by_badge(tablet, "102").status_code == 302


def test_a_lock_out_is_logged_once_and_ends(three_tries: None, tablet: Client, dora: Staff, operator: Staff) -> None:
    """Harm: the pit gets no alert of a lock-out, or a script fills the log with it; one terminal locks a dealer out of
    all; the lock never ends, or an operator cannot lift it under their own name."""
    for _ in range(policies.number("lockout_failures") + 5):
        by_badge(tablet, pin="9999")
    entries = LogEntry.objects.filter(book__name=HOUSE, subject="terminal", kind="locked_out")
    assert [entry.content for entry in entries] == [{"name": "Tablet", "table": None, "tries": 3, "of": "of badge 101"}]
    (alert,) = Alert.objects.filter(kind="terminal_locked")
    assert alert.message.startswith("Tablet: 3 wrong PINs of badge 101.")
    second_tablet = Client()
    second_tablet.post(terminals.link_for(terminals.add("Other", None, by=operator), by=operator))
    assert by_badge(second_tablet).status_code == 302
    assert by_badge(tablet).status_code == 429
    staffing.lift_lock_out(dora, by=operator)
    assert by_badge(tablet).status_code == 302
    assert staff_entries("lock_out_lifted") == [("lock_out_lifted", "omar Omar", {"username": "dora"})]
    for _ in range(policies.number("lockout_failures")):
        by_badge(tablet, pin="9999")
    assert by_badge(tablet).status_code == 429
    AttemptCount.objects.update(since=F("since") - timedelta(minutes=30, seconds=1))
    assert by_badge(tablet).status_code == 302


def test_names_that_nobody_has_are_not_written_down_for_good(three_tries: None) -> None:
    """People type their password into the field of the name; and anybody could fill the log from outside."""
    for _ in range(policies.number("lockout_failures") + 1):
        answer = by_name(Client(), "my secret password")
    assert answer.status_code == 429
    assert staff_entries("locked_out") == []
    counts = " ".join(f"{row.place} {row.name}" for row in AttemptCount.objects.all())
    assert "secret" not in counts


def test_a_success_resets_the_count_of_the_lock_out_but_not_of_the_day(
    terms: Callable[..., None], tablet: Client, dora: Staff
) -> None:
    """Harm: an occasional wrong PIN locks a dealer out, or a guesser between the owner's own sign-ins has a thousand
    tries a day."""
    terms(lockout_failures=3, wrong_pins_a_day=4)
    for wrong in (True, True, False, True, True):
        assert by_badge(tablet, pin="9999" if wrong else PIN).status_code == (403 if wrong else 302)
    answer = by_badge(tablet)
    assert answer.status_code == 429
    assert b"try again tomorrow, or ask an operator" in answer.content


def test_a_terminal_on_which_every_badge_is_tried_is_locked_and_the_pit_hears_of_it(
    terms: Callable[..., None], tablet: Client, dora: Staff, operator: Staff
) -> None:
    """There are ten thousand PINs, and a hundred badges to try the commonest one on."""
    terms(terminal_wrong_pins=4)
    floor.staff(Role.DEALER, "dan", "102")
    for badge in ("101", "102", "103", "104"):
        assert by_badge(tablet, badge, "9999").status_code == 403
    answer = by_badge(tablet)
    assert answer.status_code == 429
    assert b"Too many wrong PINs on this terminal" in answer.content
    assert Alert.objects.filter(kind="terminal_locked").count() == 1
    terminals.lift_lock_out(Terminal.objects.get(), by=operator)
    assert by_badge(tablet).status_code == 302


def test_one_badge_tried_all_over_the_house_raises_an_alert(
    terms: Callable[..., None], tablet: Client, dora: Staff, operator: Staff
) -> None:
    """Each terminal sees too little of it to close."""
    terms(wrong_pins_a_day=6)
    second_tablet = Client()
    second_tablet.post(terminals.link_for(terminals.add("Other", None, by=operator), by=operator))
    for _ in range(3):
        assert not Alert.objects.exists()
        by_badge(tablet, pin="9999")
        by_badge(second_tablet, pin="9999")
    (alert,) = Alert.objects.all()
    assert alert.message == "Badge 101: 6 wrong PINs in a day, over all terminals."


# --- Sessions -------------------------------------------------------------------------------------------------


def test_a_session_is_new_with_each_sign_in(tablet: Client, dora: Staff) -> None:
    """A session key that somebody planted beforehand must be worthless."""
    session = tablet.session
    session["planted"] = True
    session.save()
    tablet.cookies[settings.SESSION_COOKIE_NAME] = planted = str(session.session_key)
    by_badge(tablet)
    assert tablet.session.session_key != planted
    assert username_at(tablet) == "dora"
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = planted
    assert username_at(thief) is None


def test_a_dealer_at_a_table_stays_for_the_shift_and_nobody_else_does(tablet: Client, operator: Staff) -> None:
    """No round is locked out by a pause; a desk, or a tablet where somebody took no table, is."""
    dealer, _ = floor.dealt()
    dan = floor.staff(Role.DEALER, "dan", "102")
    by_badge(tablet, "102")
    assert tablet.session.get_expiry_age() == settings.SESSION_COOKIE_AGE == 900
    agreed = {"relieves": "dora", "badge": "101", "pin": PIN}
    tablet.post(reverse("dealer:take", args=[dealer.table.pk]), agreed)
    assert table_opening.table_of(dan) == dealer.table
    assert tablet.session.get_expiry_age() == settings.TERMINAL_IDLE_SECONDS == 12 * 3600
    by_badge(tablet, "102")
    assert tablet.session.get_expiry_age() == settings.TERMINAL_IDLE_SECONDS
    by_name(tablet, "omar")
    assert tablet.session.get_expiry_age() == settings.SESSION_COOKIE_AGE


def test_a_session_by_pin_does_not_leave_its_terminal(
    tablet: Client, dora: Staff, terminal: Terminal, operator: Staff
) -> None:
    """Harm: a session that was copied to another browser, or a tablet that was stolen and revoked, can deal."""
    by_badge(tablet)
    elsewhere = Client()
    elsewhere.cookies[settings.SESSION_COOKIE_NAME] = tablet.cookies[settings.SESSION_COOKIE_NAME].value
    assert username_at(elsewhere) is None
    by_badge(tablet)
    assert username_at(tablet) == "dora"
    terminals.revoke(terminal, by=operator)
    assert username_at(tablet) is None


def test_every_session_ends_when_a_secret_is_reset(tablet: Client, dora: Staff, operator: Staff) -> None:
    """Harm: a person who knows the old password or PIN stays signed in after its reset."""
    boss, phone = floor.staff(Role.PIT_BOSS, "boris", "202"), Client()
    for secret in ("password", "pin"):
        by_badge(tablet)
        phone.force_login(Staff.objects.get(pk=dora.pk), backend="django.contrib.auth.backends.ModelBackend")
        assert username_at(phone) == "dora"
        codes.confirm(codes.ask(dora, secret, by=operator).code, by=boss)
        assert username_at(tablet) is None, secret
        assert username_at(phone) is None, secret


def test_who_changes_their_own_password_stays_and_is_out_everywhere_else(dora: Staff) -> None:
    """The way out for somebody whose password was seen."""
    desk, elsewhere = Client(), Client()
    by_name(desk, "dora")
    by_name(elsewhere, "dora")
    new = {"new": "a better one, just as long", "again": "a better one, just as long"}
    assert desk.post(reverse("password"), {"old": "wrong"} | new).status_code == 422
    assert desk.post(reverse("password"), {"old": PASSWORD} | new | {"again": "x"}).status_code == 422
    assert desk.post(reverse("password"), {"old": PASSWORD, "new": "short", "again": "short"}).status_code == 422
    assert desk.post(reverse("password"), {"old": PASSWORD} | new).status_code == 302
    assert username_at(desk) == "dora"
    assert username_at(elsewhere) is None
    secrets = Staff.objects.get(username="dora").digests
    assert [entry[2] for entry in staff_entries("secret_made")] == [
        {"username": "dora", "secret": "password", "secrets": secrets}
    ]
    assert secrets["password"] != dora.digests["password"]


def test_guessing_the_old_password_ends_the_session(three_tries: None, dora: Staff) -> None:
    """Harm: a session that was left open, or stolen, becomes an account: its password is guessed there for hours."""
    thief = Client()
    by_name(thief, "dora")
    new = {"new": "a better one, just as long", "again": "a better one, just as long"}
    for _ in range(3):
        assert thief.post(reverse("password"), {"old": "wrong"} | new).status_code == 422
    answer = thief.post(reverse("password"), {"old": PASSWORD} | new)
    assert answer["Location"] == SIGN_IN
    assert username_at(thief) is None
    assert Staff.objects.get(pk=dora.pk).check_password(PASSWORD)
    assert staff_entries("signed_out")[-1][1:] == ("sign-in", {"username": "dora", "after_tries": 3})


def aged(client: Client, seconds: int) -> None:
    """The session began so long ago."""
    session = client.session
    session[BEGAN] -= seconds
    session.save()


def test_no_session_lives_for_ever(tablet: Client, operator: Staff, dora: Staff) -> None:
    """A stolen session that is used every ten minutes would otherwise be one for good."""
    desk = Client()
    by_name(desk, "omar")
    aged(desk, settings.SESSION_LIFE_SECONDS - 60)
    assert username_at(desk) == "omar"
    aged(desk, 61)
    assert username_at(desk) is None
    by_badge(tablet)
    aged(tablet, settings.SESSION_LIFE_SECONDS + 60)
    assert username_at(tablet) == "dora"
    aged(tablet, settings.TERMINAL_LIFE_SECONDS)
    assert username_at(tablet) is None


def test_but_none_ends_in_the_middle_of_a_round(tablet: Client) -> None:
    """Cards lie on the felt: whoever deals them finishes the round, and signs in again then."""
    dealer, _ = floor.dealt()
    by_badge(tablet)
    dealer.bets(seat1=1_000)
    aged(tablet, settings.TERMINAL_LIFE_SECONDS + 1)
    assert username_at(tablet) == "dora"
    dealer.cards(5, 3)
    dealer.pay()
    assert username_at(tablet) is None
    assert dealer.now.dealer is not None
    assert by_badge(tablet).status_code == 302
    assert tablet.get("/", follow=True).redirect_chain[-1][0] == f"/tables/{dealer.table.pk}/"


# --- Where to -------------------------------------------------------------------------------------------------


def test_each_role_comes_to_its_front_page() -> None:
    """Harm: a dealer searches for the screen while a table waits."""
    pages = {Role.DEALER: "/tables/", Role.PIT_BOSS: "/pit/", Role.AUDITOR: "/pit/", Role.OPERATOR: "/admin/"}
    for role, page in pages.items():
        floor.staff(role, f"a.{role}")
        answer = Client().post(SIGN_IN, {"username": f"a.{role}", "password": PASSWORD}, follow=True)
        assert answer.redirect_chain[-1][0] == page


def test_signing_in_never_redirects_to_another_site(operator: Staff) -> None:
    """Harm: a link to the sign-in page that leads to a copy of it on another site collects passwords."""
    for target in ("https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)"):
        for post, get in (({"next": target}, ""), ({}, target)):
            form = {"username": "omar", "password": PASSWORD} | post
            assert Client().post(SIGN_IN, form, query_params={"next": get})["Location"] == "/", target


def test_one_comes_back_to_the_page_that_asked(operator: Staff) -> None:
    """A session that ran out in the middle of a form costs no search."""
    client = Client()
    page = client.get("/admin/tables/table/", follow=True)
    assert page.redirect_chain[-1][0] == "/sign-in/?next=/admin/tables/table/"
    answer = by_name(client, "omar", next="/admin/tables/table/")
    assert answer["Location"] == "/admin/tables/table/"


def test_the_admin_has_no_other_way_in(operator: Staff, dora: Staff) -> None:
    """A second form would be a second place to guess at, past the house's log."""
    client = Client()
    assert client.post("/admin/login/", {"username": "omar", "password": PASSWORD})["Location"].startswith(SIGN_IN)
    assert username_at(client) is None
    by_name(client, "dora")
    assert client.get("/admin/", follow=True).status_code == 403
    client.post("/admin/logout/")
    assert username_at(client) is None


def test_what_is_not_for_ones_role_says_so_in_a_sentence(dora: Staff) -> None:
    """Nobody should think that something broke, or look for a way around."""
    client = Client()
    by_name(client, "dora")
    for path, sentence in (
        ("/pit/", b"This page is not for your role."),
        ("/admin/login/", b"The administration is for operators and auditors."),
        ("/nowhere/", b"There is no such page"),
    ):
        assert sentence in client.get(path).content, path


def test_a_form_that_was_open_too_long_says_so_in_a_sentence(dora: Staff) -> None:
    """A tablet whose page is from before the last sign-in."""
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post(SIGN_IN, {"username": "dora", "password": PASSWORD})
    assert answer.status_code == 403
    assert b"Nothing was done: open it again." in answer.content


# --- Out ------------------------------------------------------------------------------------------------------


@pytest.fixture
def at_table(tablet: Client) -> tuple[Client, floor.Hand]:
    """A dealer signed in at a terminal and at a table."""
    dealer, _ = floor.dealt()
    by_badge(tablet)
    return tablet, dealer


def test_signing_out_taps_out_of_the_table(at_table: tuple[Client, floor.Hand]) -> None:
    """A table must not name a dealer who has gone home."""
    client, dealer = at_table
    client.post(SIGN_OUT)
    assert username_at(client) is None
    assert dealer.now.dealer is None
    assert [entry[:2] for entry in staff_entries("signed_out")] == [("signed_out", "101 Dora")]


def test_tapping_out_signs_out_of_the_terminal(at_table: tuple[Client, floor.Hand]) -> None:
    """The next dealer must not deal under this one's name."""
    client, dealer = at_table
    client.post(reverse("dealer:leave", args=[dealer.table.pk]))
    assert username_at(client) is None
    assert dealer.now.dealer is None


def test_signing_out_in_mid_round_or_from_another_site_is_refused(at_table: tuple[Client, floor.Hand]) -> None:
    """Harm: a round is left without a dealer, or a picture on another site signs people out."""
    client, dealer = at_table
    assert client.get(SIGN_OUT).headers["Location"] == "/"
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies
    assert strict.post(SIGN_OUT).status_code == 403
    assert username_at(client) == "dora"
    dealer.bets(seat1=1_000)
    answer = client.post(SIGN_OUT, follow=True)
    assert b"Finish the round before you tap out" in answer.content
    assert username_at(client) == "dora"
    assert dealer.now.dealer is not None
    assert staff_entries("signed_out") == []


def test_a_relief_signs_in_over_the_dealer_in_mid_round(at_table: tuple[Client, floor.Hand]) -> None:
    """The tablet is one, the dealers are two: the round goes on under the second one's name."""
    client, dealer = at_table
    dealer.bets(seat1=1_000)
    dan = floor.staff(Role.DEALER, "dan", "102")
    by_badge(client, "102")
    assert username_at(client) == "dan"
    assert staff_entries("signed_out")[-1][1:] == (dan.signature, {"username": "dora", "relieved_by": "dan"})
    recorder.relieve(dealer.table, dan, "dora", confirmed_by=dealer.by, terminal="Tablet")
    assert table_opening.table_of(dan) == dealer.table
    assert Table.objects.count() == 1
