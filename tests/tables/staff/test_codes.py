"""A PIN is its owner's: one-time codes of two people, attacked as an insider would."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ledger.models import HOUSE, Alert, Book, LogEntry
from ledger.site_log import append
from tables.audit import proofs, row_comparison
from tables.floor import recorder
from tables.floor.inputs import BeginSlip, SignSlip
from tables.log.entries.staff import StaffChanged
from tables.models import OneTimeCode, Staff, Terminal
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import codes, secret_ages, secret_changes, staffing, terminals
from tables.state import table_state
from tests import floor
from tests.floor import OWN_PIN, PASSWORD, PIN

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]
NEW = "741963"


@pytest.fixture
def olga() -> Staff:
    return floor.staff(Role.OPERATOR, "olga", "301")


@pytest.fixture
def felt() -> floor.Hand:
    """A table where bets are open."""
    hand = floor.Hand(floor.table(), floor.staff(Role.DEALER, "dan", "102"))
    boss = floor.Hand(hand.table, floor.staff(Role.PIT_BOSS, "pax", "205"))
    boss("open_table")
    recorder.sign_in(hand.table, hand.by)
    hand.ready_shoe()
    return hand


@pytest.fixture
def boss(olga: Staff) -> Staff:
    return floor.staff(Role.PIT_BOSS, "bella", "201")


@pytest.fixture
def dora(olga: Staff, operator: Staff) -> Staff:
    """Taken on, and without any secret yet."""
    return staffing.add_staff(username="dora", name="Dora", role=Role.DEALER.value, badge="101", by=olga)


@pytest.fixture
def tablet(operator: Staff) -> Client:
    """A terminal at which nobody is signed in."""
    browser = Client()
    browser.cookies["terminal"] = floor.terminal_cookie(operator)
    return browser


def halves_of(staff: Staff, asks: Staff, confirms: Staff, of: str = "pin") -> tuple[str, str]:
    """Both halves of a code."""
    code = codes.ask(staff, of, by=asks)
    return code.first, codes.confirm(code.code, by=confirms).second


def makes(browser: Client, halves: tuple[str, str], pin: str = NEW, badge: str = "101") -> int:
    form = {"badge": badge, "first": halves[0], "second": halves[1], "new": pin, "again": pin}
    return browser.post("/pin/?way=code", form).status_code


def found_by_proof() -> list[str]:
    """What a proof of every book says."""
    faults = [proofs.verify(book).fault for book in Book.objects.order_by("pk")]
    return [fault.what for fault in faults if fault is not None]


def proved() -> None:
    assert not found_by_proof()
    assert not row_comparison.compare().faults


def code_of(refused: Any) -> str:
    return str(refused.value.code)


# --- As it is meant --------------------------------------------------------------------------------------------


def test_a_staff_member_makes_a_pin_that_is_known_to_no_other_person(
    dora: Staff, olga: Staff, boss: Staff, tablet: Client
) -> None:
    """Harm: an operator who set the PIN signs as the dealer, a reader of the database or the log finds the code, or the
    finder of the used note makes another PIN."""
    halves = halves_of(dora, olga, boss)
    code = OneTimeCode.objects.get()
    assert code.first.startswith("peppered$")
    assert code.second.startswith("peppered$")
    assert makes(tablet, halves) == 302
    assert makes(tablet, halves, "852074") == 403
    dora.refresh_from_db()
    assert dora.check_pin(NEW)
    assert not OneTimeCode.objects.exists()
    entry = LogEntry.objects.get(book__name=HOUSE, kind="secret_made")
    assert (entry.by, entry.content["terminal"]) == ("101 Dora", "Device 1")
    everything = b"".join(bytes(body) for body in LogEntry.objects.values_list("body", flat=True))
    for secret in (NEW, *halves, *(half.replace(" ", "") for half in halves)):
        assert secret.encode() not in everything
    proved()


def test_a_code_for_a_password_is_typed_in_any_browser(dora: Staff, olga: Staff, boss: Staff) -> None:
    """Harm: passwords that operators chose."""
    half, other_half = halves_of(dora, olga, boss, "password")
    form = {"username": "dora", "first": half, "second": other_half, "new": PASSWORD, "again": PASSWORD}
    assert Client().post("/password/code/", form).status_code == 302
    assert Client().post("/sign-in/?way=name", {"username": "dora", "password": PASSWORD}).status_code == 302
    proved()


def test_the_pages_show_each_of_two_people_one_half(dora: Staff, olga: Staff, boss: Staff) -> None:
    """Harm: one of the two sees all of it, on a page, or later."""
    office, desk = floor.client(olga), floor.client(boss)
    page = office.post(f"/admin/tables/staff/{dora.pk}/pin-code/")
    assert b"First half" in page.content
    assert b"Second half" not in page.content
    assert b"Has no PIN yet: a code waits for its second half." in office.get("/admin/tables/staff/").content
    code = OneTimeCode.objects.get()
    assert b"Dora" in desk.get("/codes/").content
    assert b'value="confirm"' not in office.get("/codes/").content
    wrong = desk.post("/codes/", {"do": "confirm", "code": code.pk, "password": "wrong"})
    assert wrong.status_code == 422
    assert OneTimeCode.objects.get().confirmed_by is None
    confirmed = desk.post("/codes/", {"do": "confirm", "code": code.pk, "password": PASSWORD})
    assert b"second half" in confirmed.content
    assert b"<code>" not in desk.get("/codes/").content


def test_the_first_operator_of_a_house_starts_alone_and_is_alone_no_more_with_a_second() -> None:
    """Harm: a house that cannot open without a shell; or one operator who stays alone for good."""
    anna = Staff.objects.create_superuser("anna", PASSWORD, name="Anna")
    anna = staffing.change_staff(anna, {"badge": "801"}, by=anna)
    secret_changes.first_secrets(anna, asks=anna, confirms=None, terminal=None, pin=NEW)
    berta = staffing.add_staff(username="berta", name="Berta", role="operator", badge="802", by=anna)
    secret_changes.first_secrets(berta, asks=anna, confirms=None, terminal=None, pin=NEW, password=PASSWORD)
    assert Alert.objects.filter(kind="code_of_one").count() == 3
    third = staffing.add_staff(username="carla", name="Carla", role="operator", badge="803", by=anna)
    assert not codes.ask(third, "pin", by=anna).second
    with pytest.raises(Refused) as refused:
        codes.ask(anna, "pin", by=anna)
    assert code_of(refused) == "own_code"
    proved()


# --- Attacks ---------------------------------------------------------------------------------------------------


def test_an_operator_alone_obtains_no_pin(dora: Staff, olga: Staff, boss: Staff, tablet: Client) -> None:
    """Harm: one operator takes on five people and signs a fill alone."""
    code = codes.ask(dora, "pin", by=olga)
    with pytest.raises(Refused) as refused:
        codes.confirm(code.code, by=olga)
    assert code_of(refused) == "own_code"
    for half in ("", "00000000", code.first):
        assert makes(tablet, (code.first, half)) in (403, 422)
    for change in ({"pin": NEW}, {"password": PASSWORD}, {"new_pin": NEW}, {"new_password": PASSWORD}):
        floor.client(olga).post(
            f"/admin/tables/staff/{dora.pk}/change/",
            {"name": "Dora", "role": "dealer", "badge": "101", "is_active": "on"} | change,
        )
    dora.refresh_from_db()
    assert not dora.has("pin")
    assert not dora.has("password")


def test_nobody_confirms_for_themselves_nor_without_the_right(dora: Staff, olga: Staff, boss: Staff) -> None:
    """Harm: the owner is one of the two; a dealer's or an auditor's word is as good as a pit boss's."""
    for_boss = codes.ask(boss, "pin", by=olga).code
    for_dora = codes.ask(dora, "pin", by=olga).code
    bystanders = [floor.staff(role, f"a.{role}") for role in Role if role not in (Role.PIT_BOSS, Role.OPERATOR)]
    for code, by in [(for_boss, boss), *((for_dora, bystander) for bystander in bystanders)]:
        with pytest.raises(Refused) as refused:
            codes.confirm(code, by=by)
        assert refused.value.status == 403
    with pytest.raises(Refused):
        codes.ask(dora, "pin", by=boss)
    assert boss.check_pin(PIN)  # nothing was reset by asking


def test_half_a_code_opens_nothing(dora: Staff, olga: Staff, boss: Staff, tablet: Client) -> None:
    """Harm: a person who saw one half makes the PIN, or PINs are made and guessed from home."""
    half, other_half = halves_of(dora, olga, boss)
    guess = "12345678"
    for halves in ((half, guess), (guess, other_half), (other_half, half), (guess, guess)):
        assert makes(tablet, halves) == 403
    assert makes(Client(), (half, other_half)) == 403
    assert Alert.objects.filter(kind="no_terminal").exists()
    assert makes(tablet, (half, other_half)) == 302


def test_guesses_at_a_code_are_counted(
    dora: Staff, olga: Staff, boss: Staff, tablet: Client, terms: Callable[..., None]
) -> None:
    """Harm: who knows one half tries the other one, at leisure."""
    terms(lockout_failures=3)
    half, other_half = halves_of(dora, olga, boss)
    for number in range(3):
        assert makes(tablet, (half, f"{number:08}")) == 403
    assert makes(tablet, (half, other_half)) == 429
    password = halves_of(dora, olga, boss, "password")
    form = {"username": "dora", "first": password[0], "new": PASSWORD, "again": PASSWORD}
    stranger = Client(REMOTE_ADDR="203.0.113.9")
    for number in range(3):
        assert stranger.post("/password/code/", form | {"second": f"{number:08}"}).status_code == 403
    assert stranger.post("/password/code/", form | {"second": password[1]}).status_code == 429


def test_a_wrong_code_reads_like_no_code_and_nobody(dora: Staff, olga: Staff, boss: Staff, tablet: Client) -> None:
    """Harm: the answer tells for whom a code is good."""
    halves_of(dora, olga, boss)
    pages = []
    for badge in ("101", "201", "999"):
        form = {"badge": badge, "first": "1" * 8, "second": "2" * 8, "new": NEW, "again": NEW}
        pages.append(tablet.post("/pin/?way=code", form))
    assert all(page.status_code == 403 and codes.WRONG in page.content.decode() for page in pages)


def test_of_eight_at_once_one_wins(dora: Staff, olga: Staff, boss: Staff, transactional_db: None) -> None:
    """Harm: two people make a PIN each with one code, and the last one is the dealer's."""
    half, other_half = halves_of(dora, olga, boss)
    terminal = terminals.enrol("T", None, by=olga)[0]

    def make(number: int) -> str:
        pin = f"{741960 + number}"
        try:
            secret_changes.make_pin(terminal, "101", (half, other_half), pin, pin)
            return pin
        except Refused as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(make, range(8)))
    winners = [answer for answer in answers if answer.isdigit()]
    assert len(winners) == 1, answers
    assert set(answers) - set(winners) == {"wrong_code"}
    assert Staff.objects.get(username="dora").check_pin(winners[0])
    assert LogEntry.objects.filter(kind="secret_made").count() == 1


def test_a_code_ends_with_its_time_another_code_a_withdrawal_and_a_dismissal(
    dora: Staff, olga: Staff, boss: Staff, tablet: Client
) -> None:
    """Harm: a note in a drawer opens the casino's pages a year later, or several written codes are all valid."""
    halves = halves_of(dora, olga, boss)
    OneTimeCode.objects.update(until=timezone.now())
    assert makes(tablet, halves) == 403
    code = codes.ask(dora, "pin", by=olga)
    OneTimeCode.objects.update(asked_at=timezone.now() - timedelta(hours=codes.hours() + 1))
    with pytest.raises(Refused) as refused:
        codes.confirm(code.code, by=boss)
    assert code_of(refused) == "too_old"
    before, after = (halves_of(dora, olga, boss) for _ in range(2))
    assert makes(tablet, before) == 403
    codes.withdraw(OneTimeCode.objects.get(), by=boss)
    assert makes(tablet, after) == 403
    latest = halves_of(dora, olga, boss)
    staffing.change_staff(dora, {"is_active": False}, by=olga)
    assert not OneTimeCode.objects.exists()
    assert makes(tablet, latest) == 403
    proved()


# --- A reset ---------------------------------------------------------------------------------------------------


def test_a_reset_takes_two_raises_an_alert_and_ends_the_pin_at_once(
    olga: Staff, operator: Staff, boss: Staff, tablet: Client
) -> None:
    """Harm: an operator resets a pit boss's PIN in silence."""
    code = codes.ask(boss, "pin", by=olga)
    boss.refresh_from_db()
    assert boss.check_pin(PIN)
    codes.confirm(code.code, by=operator)
    boss.refresh_from_db()
    assert not boss.check_pin(PIN)
    (alert,) = Alert.objects.filter(kind="secret_reset")
    assert alert.message == "PIN reset of Bella by Olga and Omar."


@pytest.fixture
def paper(olga: Staff, operator: Staff, boss: Staff) -> Any:
    """A fill that a pit boss asked for; and what another one needs who is to confirm it."""
    table = floor.table()
    chips = ((floor.CHIPS[0][0], 10),)
    clerk = floor.staff(Role.PIT_BOSS, "pax", "205")
    floor.signs(table, clerk, BeginSlip("fill", chips))
    slip = table_state.of(table).slips[-1].name
    for stage in ("issued", "carried", "received"):
        floor.signs(table, floor.crew(stage), SignSlip(slip, stage))
    return table, slip


def reset(staff: Staff, asks: Staff, confirms: Staff) -> Staff:
    """Somebody's PIN is reset, and they make another."""
    half, other_half = halves_of(staff, asks, confirms)
    terminal = Terminal.objects.first() or terminals.enrol("T", None, by=asks)[0]
    return secret_changes.make_pin(terminal, str(staff.badge), (half, other_half), NEW, NEW)


def test_whose_pin_was_reset_signs_nothing_that_was_open_then(
    paper: Any, olga: Staff, operator: Staff, boss: Staff
) -> None:
    """Harm: two people reset the pit boss's PIN to finish a fill in that name."""
    table, slip = paper
    boss = reset(boss, olga, operator)
    desk = floor.client(Staff.objects.get(username="pax"))
    form = {"badge": "201", "pin": NEW, "key": str(uuid4()), "stage": "confirmed"}
    answer = desk.post(f"/slips/{table.pk}/{slip}/", form)
    assert answer.status_code == 403
    assert "was reset while this paper was open" in answer.content.decode()
    with pytest.raises(Refused) as refused:
        floor.signs(table, boss, SignSlip(slip, "confirmed"))
    assert code_of(refused) == "barred"
    floor.signs(table, floor.crew("confirmed"), SignSlip(slip, "confirmed"))
    floor.signs(table, boss, BeginSlip("fill", ((floor.CHIPS[0][0], 10),)))  # begun afterwards
    proved()


def test_a_proof_finds_a_signature_that_a_reset_barred(
    paper: Any, olga: Staff, operator: Staff, boss: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the floor's refusal is taken out of the program, and nobody hears of it."""
    table, slip = paper
    boss = reset(boss, olga, operator)
    with monkeypatch.context() as patched:
        patched.setattr("tables.approvals.signing.refuse_barred", lambda by, begun: None)
        floor.signs(table, boss, SignSlip(slip, "confirmed"))
    faults = found_by_proof()
    assert any("bella signs a paper that was open when their PIN was reset" in fault for fault in faults), faults


# --- Age and re-use --------------------------------------------------------------------------------------------


def test_an_old_pin_signs_nothing_but_its_own_change(paper: Any, boss: Staff, tablet: Client) -> None:
    """Harm: a PIN that somebody looked over a shoulder for years ago."""
    table, slip = paper
    Staff.objects.filter(pk=boss.pk).update(pin_made_at=timezone.now() - timedelta(days=91))
    desk = floor.client(boss)
    form = {"badge": "201", "pin": PIN, "key": str(uuid4()), "stage": "confirmed"}
    answer = desk.post(f"/slips/{table.pk}/{slip}/", form)
    assert answer.status_code == 403
    assert "older than 90 days" in answer.content.decode()
    page = desk.post(f"/slips/{table.pk}/{slip}/", form | {"pin": "9999"})
    assert "older than 90 days" in page.content.decode()  # it tells nothing of the PIN
    change = {"badge": "201", "old": PIN, "new": NEW, "again": NEW}
    assert tablet.post("/pin/", change).status_code == 302
    assert desk.post(f"/slips/{table.pk}/{slip}/", form | {"pin": NEW, "key": str(uuid4())}).status_code == 302


def test_a_dealer_in_mid_round_goes_on_with_an_old_pin_and_is_told_at_the_next_sign_in(
    felt: floor.Hand, tablet: Client
) -> None:
    """Harm: a round that nobody can finish because a PIN turned ninety days old in it."""
    felt("bet", seat=1, amount_cents=1_000)
    felt("close_bets")
    Staff.objects.filter(pk=felt.by.pk).update(pin_made_at=timezone.now() - timedelta(days=91))
    assert tablet.post("/sign-in/", {"badge": felt.by.badge, "pin": PIN}).status_code == 302
    tablet.cookies.pop("sessionid", None)
    colleague = floor.staff(Role.DEALER, "rosa", "103")
    Staff.objects.filter(pk=colleague.pk).update(pin_made_at=timezone.now() - timedelta(days=91))
    answer = tablet.post("/sign-in/", {"badge": "103", "pin": PIN})
    assert answer.status_code == 403
    assert "Your PIN" in answer.content.decode()


def test_the_last_secrets_are_not_used_again(olga: Staff) -> None:
    """Harm: who must change a PIN changes it there and back."""
    terminal = terminals.enrol("T", None, by=olga)[0]
    pins = [PIN, "741963", "852074", "963185", "147036"]
    for old, new in itertools.pairwise(pins):
        secret_changes.change_pin(terminal, "301", old, new, new)
    for used in pins[1:]:
        with pytest.raises(Refused) as refused:
            secret_changes.change_pin(terminal, "301", pins[-1], used, used)
        assert code_of(refused) == "used_before"
    with pytest.raises(Refused):
        secret_changes.change_pin(terminal, "301", "741963", "555123", "555123")
    proved()


def test_an_old_password_opens_its_own_change_alone(olga: Staff) -> None:
    """Harm: a password of years ago opens the administration."""
    Staff.objects.filter(pk=olga.pk).update(password_made_at=timezone.now() - timedelta(days=91))
    browser = Client()
    assert browser.post("/sign-in/?way=name", {"username": "olga", "password": PASSWORD}).status_code == 302
    for page in ("/admin/", "/slips/", "/codes/"):
        assert browser.get(page)["Location"] == reverse("password")
    new = "another password of some length"
    again = browser.post("/password/", {"old": PASSWORD, "new": PASSWORD, "again": PASSWORD})
    assert "used this password before" in again.content.decode()
    assert browser.post("/password/", {"old": PASSWORD, "new": new, "again": new}).status_code == 302
    assert browser.get("/admin/").status_code == 200


def test_somebody_is_warned_before_a_secret_runs_out(olga: Staff) -> None:
    """Harm: the PIN runs out in the middle of a shift, unannounced."""
    Staff.objects.filter(pk=olga.pk).update(password_made_at=timezone.now() - timedelta(days=85, hours=1))
    browser = Client()
    answer = browser.post("/sign-in/?way=name", {"username": "olga", "password": PASSWORD}, follow=True)
    assert "Your password runs out in 5 days" in answer.content.decode()


# --- The owner's own page --------------------------------------------------------------------------------------


def test_on_the_account_page_a_pin_takes_password_and_pin(olga: Staff) -> None:
    """Harm: somebody at an open screen, or with a password, gets a PIN with it."""
    browser = floor.client(olga)
    form = {"password": PASSWORD, "old_pin": PIN, "new_pin": NEW, "again_pin": NEW}
    for wrong in ({"password": "wrong"}, {"old_pin": "9999"}, {"again_pin": "111222"}, {"new_pin": "x"}):
        assert browser.post("/account/pin/", form | wrong).status_code == 422
    assert browser.post("/account/pin/", form).status_code == 302
    olga.refresh_from_db()
    assert olga.check_pin(NEW)
    assert browser.get("/account/").status_code == 200  # and stays signed in


# --- Forgeries -------------------------------------------------------------------------------------------------


def test_a_secret_that_an_operator_gave_is_found(dora: Staff, olga: Staff, boss: Staff) -> None:
    """Harm: whoever writes in the database gives a dealer a PIN, as programs of before did."""
    codes.ask(dora, "pin", by=olga)
    dora.set_pin(OWN_PIN)
    dora.save()
    append(StaffChanged(username="dora", new=("pin",), secrets=dora.digests, before={}, after={}), olga.signature)
    faults = found_by_proof()
    assert any("gives dora a secret that is not of their own making" in fault for fault in faults), faults


def test_ages_are_off_where_the_house_says_so(olga: Staff, terms: Callable[..., None]) -> None:
    """Harm: a house whose regulator forbids forced changes cannot say so."""
    Staff.objects.filter(pk=olga.pk).update(pin_made_at=timezone.now() - timedelta(days=4_000))
    olga.refresh_from_db()
    assert secret_ages.is_expired(olga, "pin")
    terms(pin_days=0)
    assert not secret_ages.is_expired(olga, "pin")
