"""Stale forms are shown again with their values, to pages of this site alone, and without secrets."""

from __future__ import annotations

import html
import re
from typing import Any, Final

import pytest
from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client, RequestFactory

from dealer_ui.stale_forms import SECRET
from ledger import alerts
from ledger.models import Acknowledgement, Alert
from tables.roles import Role
from tests import floor
from tests.floor import PIN, Hand, dealt

SAME_ORIGIN: Final = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin", "Origin": "http://testserver"}
OLD_TOKEN: Final = "z" * 32
ACKNOWLEDGE: Final = "/pit/alerts/acknowledge"
PASSWORD_FIELD: Final = re.compile(
    r'<input[^>]*name="(\w+)"[^>]*type="password"|<input[^>]*type="password"[^>]*name="(\w+)"'
)

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def hands() -> tuple[Hand, Hand]:
    return dealt(options={"decks": 6})


@pytest.fixture
def alert(hands: tuple[Hand, Hand]) -> Alert:
    return alerts.raise_alert(hands[0].table.book, "negative", "Less than nothing")


def send(who: Any, address: str, form: dict[str, Any], headers: dict[str, str] | None = None) -> tuple[Client, Any]:
    """A form with a token from before the last sign-in."""
    client = floor.client(who, enforce_csrf_checks=True)
    client.cookies["csrftoken"] = "a" * 32
    old = {"csrfmiddlewaretoken": OLD_TOKEN} | form
    return client, client.post(address, old, headers=SAME_ORIGIN if headers is None else headers)


def inputs_of(answer: HttpResponse) -> dict[str, str]:
    """The values that the page shown again would send."""
    form = answer.content.decode().partition('id="stale"')[2].partition("</form>")[0]
    pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return {html.unescape(name): html.unescape(value) for name, value in pairs}


def test_a_stale_form_comes_back_and_is_done_once_it_is_sent_again(hands: tuple[Hand, Hand], alert: Alert) -> None:
    """Harm: a sign-in in another tab, and ten minutes of typing are lost; or the form is done by its old token."""
    note = 'Counted again: "in order" <b>&\nall of it'
    boss = hands[1].by
    client, answer = send(boss, ACKNOWLEDGE, {"alert": str(alert.pk), "note": note, "back": "alerts"})
    assert answer.status_code == 403
    assert not Acknowledgement.objects.exists()
    page = answer.content.decode()
    assert "Nothing was done" in page
    assert boss.name in page
    assert "<b>&\n" not in page
    typed = inputs_of(answer)
    assert typed.pop("csrfmiddlewaretoken") not in ("", OLD_TOKEN)
    assert typed == {"alert": str(alert.pk), "note": note, "back": "alerts"}
    again = client.post(ACKNOWLEDGE, inputs_of(answer), headers=SAME_ORIGIN)
    assert again.status_code == 302
    assert Acknowledgement.objects.get().note == note


def test_a_form_that_was_sent_after_the_session_ended_comes_back_until_it_is_done(
    hands: tuple[Hand, Hand], alert: Alert
) -> None:
    """Harm: an idle session ends, and a form is answered with the page of signing in, without what was typed."""
    boss, client = hands[1].by, Client(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = "a" * 32
    form = {"csrfmiddlewaretoken": "a" * 32, "alert": str(alert.pk), "note": "Counted again"}
    ended = client.post(ACKNOWLEDGE, form, headers=SAME_ORIGIN)
    assert (ended.status_code, inputs_of(ended)["note"]) == (403, "Counted again")
    assert "First sign in" in ended.content.decode()
    assert client.post(ACKNOWLEDGE, form, headers={"Accept": "text/html"})["Location"].startswith("/sign-in/?next=")
    in_admin = client.post("/admin/tables/table/add/", form, headers=SAME_ORIGIN)
    assert inputs_of(in_admin)["note"] == "Counted again"
    signed_in, stale = send(boss, ACKNOWLEDGE, inputs_of(ended) | {"csrfmiddlewaretoken": OLD_TOKEN})
    signed_in.post(ACKNOWLEDGE, inputs_of(stale), headers=SAME_ORIGIN)
    assert Acknowledgement.objects.get().note == "Counted again"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Accept": "text/html"},
        {"Accept": "text/html", "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Accept": "text/html", "Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"},
        {"Accept": "text/html", "Sec-Fetch-Site": "same-site", "Origin": "http://other.testserver"},
        {"Accept": "text/html", "Sec-Fetch-Site": "none"},
        {"Accept": "text/html", "Origin": "null"},
        {"Accept": "text/html", "Origin": "http://testserver.evil.example"},
        {"Accept": "text/html", "Origin": "https://testserver"},
        {"Accept": "text/html", "Referer": "http://testserver/pit/"},
        SAME_ORIGIN | {"Accept": "*/*"},
        SAME_ORIGIN | {"HX-Request": "true"},
    ],
)
def test_a_form_of_another_site_gets_no_page_to_send_it(
    hands: tuple[Hand, Hand], alert: Alert, headers: dict[str, str]
) -> None:
    """Harm: a page of another site fills in a form, and one press on "Send again" does it in the pit boss's name."""
    _, answer = send(hands[1].by, ACKNOWLEDGE, {"alert": str(alert.pk), "note": "typed by others"}, headers)
    assert answer.status_code == 403
    assert b"typed by others" not in answer.content
    assert b'id="stale"' not in answer.content
    assert not Acknowledgement.objects.exists()


def test_secrets_do_not_come_back(hands: tuple[Hand, Hand]) -> None:
    """Harm: the PIN of a signature is in the page, for the next person at the terminal to read and to send."""
    dealer, boss = hands
    form = {"n500": "10", "badge": "201", "pin": PIN, "second_pin": "7319", "attested": "signed-by-terminal"}
    _, answer = send(boss.by, f"/slips/{dealer.table.pk}/new/fill/", form)
    page = answer.content.decode()
    assert inputs_of(answer).keys() == {"csrfmiddlewaretoken", "n500", "badge"}
    assert not [
        secret for secret in (PIN, "7319", "signed-by-terminal") if secret in re.sub(r'value="\w{64}"', "", page)
    ]
    assert re.findall(r'name="(\w+)" type="password" required', page) == ["pin", "second_pin"]


@pytest.mark.parametrize("address", ["/sign-in/", "/password/", "/pin/", "/account/", "/account/pin/", "/emergency/"])
def test_forms_of_secrets_do_not_come_back_at_all(hands: tuple[Hand, Hand], address: str) -> None:
    """Harm: a code or a password stays in a page because its field has an innocent name."""
    _, answer = send(hands[1].by, address, {"first": "12345678", "old": "hunter2 hunter2", "username": "bella"})
    assert answer.status_code == 403
    assert b'id="stale"' not in answer.content
    assert b"Nothing was done: open it again." in answer.content


def test_what_was_done_and_signed_out_with_it_does_not_come_back(hands: tuple[Hand, Hand]) -> None:
    """Harm: a dealer who taps out reads that nothing was done, and sends it again."""
    client = floor.client(hands[0].by)
    answer = client.post(f"/tables/{hands[0].table.pk}/leave", {"why": "break"}, headers=SAME_ORIGIN)
    assert answer.status_code == 302
    assert hands[0].now.dealer is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"--x\r\nnot a part", "multipart/form-data; boundary=x"),
        (b"note=1", "multipart/form-data"),
        (b"&".join([b"note=1"] * 2_000), "application/x-www-form-urlencoded"),
        (b"note=" + b"1" * 3_000_000, "application/x-www-form-urlencoded"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_as_any_without_a_token(
    hands: tuple[Hand, Hand], body: bytes, kind: str
) -> None:
    """Harm: the refusal of a forged form depends on its body; or a broken upload without a token is a server error."""
    client = floor.client(hands[1].by, enforce_csrf_checks=True, raise_request_exception=False)
    answer = client.generic("POST", ACKNOWLEDGE, body, kind, headers=SAME_ORIGIN)
    assert answer.status_code == 403


def test_files_are_not_repeated() -> None:
    """Harm: a form returns without its file and is sent again without it."""
    operator = floor.staff(Role.OPERATOR, "olga", "301")
    form = {"file": SimpleUploadedFile("limits.csv", b"Table,Maximum\n"), "start": "now"}
    _, answer = send(operator, "/admin/tables/table/grid/import/", form)
    assert b'id="stale"' not in answer.content


def test_every_password_field_is_known_as_a_secret(rf: RequestFactory) -> None:
    """Harm: a new form has a secret by a name that the page shows again."""
    sources = [path for app in ("dealer_ui", "tables", "casino") for path in (settings.BASE_DIR / app).rglob("*.html")]
    names = {
        name
        for path in sources
        if "/accounts/" not in str(path)
        for names in PASSWORD_FIELD.findall(path.read_text())
        for name in names
        if name
    }
    request = rf.get("/")
    request.user = floor.staff(Role.OPERATOR, "olga", "301")
    for model_admin in admin.site._registry.values():
        fields: dict[str, forms.Field] = getattr(model_admin.form, "base_fields", {})
        names |= {name for name, field in fields.items() if isinstance(field.widget, forms.PasswordInput)}
    assert {"pin", "second_pin", "signed_with"} <= names
    assert {name for name in names if not SECRET.search(name)} == set()
