"""Two operators' printed codes: a way in that nobody can shut, and that nobody else can take."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ledger.models import HOUSE, Alert, LogEntry
from tables.audit import proofs
from tables.models import EmergencyCode, Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import emergency, staffing
from tests import floor
from tests.floor import PASSWORD
from tests.tables.at_once import at_once

pytestmark = pytest.mark.django_db
PAGE, OWN = "/emergency/", "/emergency/code/"


@pytest.fixture
def operators(db: None) -> tuple[Staff, Staff]:
    return floor.staff(Role.OPERATOR, "olga"), floor.staff(Role.OPERATOR, "omar")


def username_at(client: Client) -> str | None:
    answer = client.get("/sign-in/").wsgi_request.user
    return answer.username if isinstance(answer, Staff) else None


def test_two_codes_let_the_first_of_them_in_whatever_is_locked(
    settings: Any, terms: Callable[..., None], operators: tuple[Staff, Staff]
) -> None:
    """Harm: strangers shut every operator out, and only an operator lifts that."""
    mine, second_code = (emergency.make(operator) for operator in operators)
    terms(lockout_failures=0)
    settings.LOCKOUT_FAILURES_EVERYWHERE = settings.LOCKOUT_FAILURES_ADDRESS = 0
    client = Client()
    assert client.post("/sign-in/", {"username": "olga", "password": PASSWORD}).status_code == 429
    assert client.post(PAGE, {"first": mine, "second": second_code})["Location"] == "/"
    assert username_at(client) == "olga"
    assert "devices" in client.cookies
    entry = LogEntry.objects.filter(book__name=HOUSE, kind="emergency_sign_in").get()
    assert b'"with":"omar"' in bytes(entry.body)
    assert proofs.verify(entry.book).fault is None
    assert (
        Alert.objects.get(kind="emergency_sign_in").message
        == "Olga came in by emergency codes, with Omar’s. Both are used up."
    )
    assert not EmergencyCode.objects.exists()
    again = Client()
    assert again.post(PAGE, {"first": mine, "second": second_code}).status_code == 403
    assert username_at(again) is None


def test_other_input_gives_no_access_and_uses_no_code(operators: tuple[Staff, Staff]) -> None:
    """Harm: half of the codes, nonsense, or the code of a former operator gives access to the site; or the answer
    reveals what was wrong."""
    olga, omar = operators
    first_code, second_code = (emergency.make(operator) for operator in operators)
    client, codes = Client(), {"first": first_code, "second": second_code}

    def refuse(form: dict[str, str]) -> None:
        answer = client.post(PAGE, form)
        assert answer.status_code in (403, 422)
        assert answer.content.count(b'role="alert"') == 1
        assert username_at(client) is None
        assert EmergencyCode.objects.count() == 2
        assert not Alert.objects.exists()

    refuse({"first": first_code, "second": first_code})
    refuse({"first": first_code, "second": "A" * 26})
    refuse({"first": "\u202e'; --", "second": "x" * 80})
    refuse({})
    Staff.objects.filter(pk=omar.pk).update(role=Role.AUDITOR)
    refuse(codes)
    Staff.objects.filter(pk=omar.pk).update(role=Role.OPERATOR)
    Staff.objects.filter(pk=olga.pk).update(is_active=False)
    refuse(codes)


def test_an_operator_makes_a_code_with_their_password_and_sees_it_once(operators: tuple[Staff, Staff]) -> None:
    """Harm: an emergency code is read again on a page, in the database or in the log, or the staff list does not
    say which operator has none."""
    client = Client()
    client.force_login(operators[0])
    assert b"You have none yet." in client.get(OWN).content
    assert client.post(OWN, {"password": "wrong"}).status_code == 422
    assert not EmergencyCode.objects.exists()
    page = client.post(OWN, {"password": PASSWORD}).content.decode()
    (code,) = re.findall(r"<code>([A-Z2-7-]+)</code>", page)
    assert len(code.replace("-", "")) * 5 >= 128
    digest = EmergencyCode.objects.get().digest
    assert code.replace("-", "") not in digest
    assert code not in client.get(OWN).content.decode()
    assert all(code[:11].encode() not in bytes(body) for body in LogEntry.objects.values_list("body", flat=True))
    assert client.get("/admin/tables/staff/").content.decode().count("none yet") == 1


def test_a_code_ends_with_a_new_one_and_with_its_owners_role(operators: tuple[Staff, Staff]) -> None:
    """Harm: an old printed code gives access to the site, or so does the code of an operator who was dismissed and is
    reinstated years later."""
    olga, omar = operators
    before, second_code = (emergency.make(operator) for operator in operators)
    own_code = emergency.make(olga)
    with pytest.raises(Refused, match="two operators"):
        emergency.use(before, second_code, address=None)
    typed_code = own_code.lower().replace("o", "0").replace("i", "1").replace("b", "8")
    assert emergency.use(f" {typed_code} ", second_code.replace("-", " "), address=None).username == "olga"
    emergency.make(omar)
    staffing.change_staff(omar, {"is_active": False}, by=olga)
    assert not EmergencyCode.objects.exists()


def test_only_operators_have_an_emergency_code(db: None) -> None:
    client = Client()
    client.force_login(floor.staff(Role.AUDITOR, "ada"))
    assert client.post(OWN, {"password": PASSWORD}).status_code == 403
    for role in set(Role) - {Role.OPERATOR}:
        with pytest.raises(Refused, match="Only an operator"):
            emergency.make(Staff(username="other", name="Other", role=role))


def test_guessing_the_password_there_ends_the_session(
    terms: Callable[..., None], operators: tuple[Staff, Staff]
) -> None:
    """Harm: a stolen session makes itself a way back in."""
    terms(lockout_failures=2)
    client = Client()
    client.force_login(operators[0])
    for _ in range(2):
        client.post(OWN, {"password": "wrong"})
    assert client.post(OWN, {"password": PASSWORD})["Location"] == reverse("sign-in")
    assert username_at(client) is None


@pytest.mark.django_db(transaction=True)
def test_two_codes_work_once_however_many_use_them_at_once() -> None:
    """Harm: one pair of codes, two sessions, and the log knows of one."""
    operators = floor.staff(Role.OPERATOR, "olga"), floor.staff(Role.OPERATOR, "omar")
    mine, second_code = (emergency.make(operator) for operator in operators)
    uses = [
        partial(emergency.use, *codes, address=None)
        for codes in ((mine, second_code), (second_code, mine))
        for _ in range(4)
    ]
    came_in = [person for person in at_once(*uses) if isinstance(person, Staff)]
    assert len(came_in) == 1
    assert LogEntry.objects.filter(kind="emergency_sign_in").count() == 1
