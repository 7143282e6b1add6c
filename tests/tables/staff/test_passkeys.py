"""Passkeys: registered by their owners, and attacked by whoever has a page, an answer or a copy of the key."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from django.test import Client, RequestFactory
from webauthn import verify_authentication_response
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

from ledger.house import digest_of
from ledger.models import Alert, Book, LogEntry
from tables.audit import proofs
from tables.audit.rows import comparing
from tables.models import Passkey, Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import passkeys
from tests import floor
from tests.authenticator import PRESENT, Authenticator
from tests.floor import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def olga() -> Staff:
    return floor.staff(Role.OPERATOR, "olga", "301")


@pytest.fixture
def device(olga: Staff) -> Authenticator:
    """A device that is registered for olga."""
    authenticator = Authenticator()
    assert registers(floor.client(olga), authenticator).status_code == 200
    return authenticator


def registers(browser: Client, device: Authenticator, **answered: Any) -> Any:
    options = browser.post("/account/passkeys/options/", {"password": PASSWORD}).json()
    return browser.post("/account/passkeys/", {"name": "My phone", "answer": device.make(options, **answered)})


def asked(browser: Client) -> dict[str, Any]:
    """The options of a sign-in."""
    return dict(browser.post("/sign-in/passkey/options/").json())


def answers(browser: Client, answer: str, **named: str) -> int:
    return browser.post("/sign-in/passkey/", {"answer": answer} | named).status_code


def who(browser: Client) -> str | None:
    return browser.session.get("_auth_user_id")


def test_somebody_registers_a_passkey_and_signs_in_with_it(olga: Staff, device: Authenticator) -> None:
    """Harm: a way in that the log knows nothing of."""
    row = Passkey.objects.get()
    registered = LogEntry.objects.get(kind="passkey_registered")
    assert (registered.by, registered.content["public_key"]) == (olga.signature, row.public_key)
    browser = Client()
    assert answers(browser, device.get(asked(browser))) == 200
    assert who(browser) == str(olga.pk)
    assert LogEntry.objects.filter(kind="signed_in").latest("seq").content["passkey"] == digest_of(row.credential)
    page = browser.get("/account/").content.decode()
    assert "My phone" in page
    assert "last used" in page
    assert proofs.verify(Book.objects.get(name="house")).fault is None
    assert not comparing.compare().faults


@pytest.mark.parametrize(("name", "status"), [("olga", 200), ("omar", 403)])
def test_a_name_that_was_typed_has_to_be_the_keys(device: Authenticator, name: str, status: int) -> None:
    """Harm: somebody works under another name than they believe."""
    floor.staff(Role.OPERATOR, "omar")
    browser = Client()
    assert answers(browser, device.get(asked(browser)), username=name) == status


def test_an_answer_from_another_page_opens_nothing(device: Authenticator) -> None:
    """Harm: a page that looks like the house's hands on what it got."""
    for origin in ("https://testserver.example", "https://testserver", "http://testserver:8001"):
        browser = Client()
        assert answers(browser, device.get(asked(browser), origin=origin)) == 403
    browser = Client()
    options = asked(browser)
    assert answers(browser, device.get(options | {"rpId": "house.example"})) == 403


def test_an_answer_is_good_once_and_in_its_own_session(device: Authenticator) -> None:
    """Harm: an answer that was overheard signs somebody in a second time, or on another screen."""
    browser, other = Client(), Client()
    answer = device.get(asked(browser))
    asked(other)
    assert answers(other, answer) == 403
    assert answers(Client(), answer) == 409
    assert answers(browser, answer) == 200
    browser.post("/sign-out/")
    assert answers(browser, answer) == 409
    asked(browser)
    assert answers(browser, answer) == 403


def test_a_wrong_answer_uses_the_challenge_up(device: Authenticator) -> None:
    """Harm: tries without end at one challenge."""
    browser = Client()
    options = asked(browser)
    assert answers(browser, Authenticator(2).get(options)) == 403
    assert answers(browser, device.get(options)) == 409


def test_a_challenge_is_for_one_purpose_and_not_for_long(
    olga: Staff, device: Authenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the answer to one question is taken for another's."""
    browser = floor.client(olga)
    options = browser.post("/account/passkeys/options/", {"password": PASSWORD}).json()
    assert answers(browser, device.get(options | {"rpId": "testserver"})) == 409
    stranger = Client()
    answer = device.get(asked(stranger))
    monkeypatch.setattr(passkeys, "_SECONDS", -1)
    assert answers(stranger, answer) == 409


def test_a_device_that_nobody_unlocked_opens_nothing(device: Authenticator) -> None:
    """Harm: whoever finds the phone is the operator."""
    browser = Client()
    assert answers(browser, device.get(asked(browser), flags=PRESENT)) == 403
    boss = floor.staff(Role.PIT_BOSS, "boris", "202")
    assert registers(floor.client(boss), Authenticator(3), flags=PRESENT).status_code == 422


def test_a_counter_that_does_not_rise_is_refused_and_told(device: Authenticator) -> None:
    """Harm: a copy of the key works beside it for years."""
    browser = Client()
    assert answers(browser, device.get(asked(browser))) == 200
    device.count = 0
    copy = Client()
    assert answers(copy, device.get(asked(copy))) == 403
    assert Alert.objects.filter(kind="passkey_copied").count() == 1
    assert who(copy) is None


@pytest.mark.parametrize("answer", ["", "{}", "[]", "null", '{"id": 7}', "x" * 30_000, '{"id": "a", "response": 1}'])
def test_what_is_no_answer_is_refused(device: Authenticator, answer: str) -> None:
    """Harm: a page of errors instead of a sentence."""
    browser = Client()
    asked(browser)
    assert answers(browser, answer) == 403
    browser = floor.client(Staff.objects.get(username="olga"))
    browser.post("/account/passkeys/options/", {"password": PASSWORD})
    sent = browser.post("/account/passkeys/", {"name": "x", "answer": answer})
    assert sent.status_code == 422


def test_a_malformed_answer_of_a_known_key_is_refused(device: Authenticator) -> None:
    """Harm: the same, past the first look."""
    browser = Client()
    answer = json.loads(device.get(asked(browser)))
    for part in ("authenticatorData", "signature", "clientDataJSON"):
        asked(browser)
        broken = answer | {"response": answer["response"] | {part: "AAAA"}}
        assert answers(browser, json.dumps(broken)) == 403


def test_registering_takes_the_password_again(olga: Staff) -> None:
    """Harm: a screen that was left open becomes a way in for good."""
    browser = floor.client(olga)
    assert browser.post("/account/passkeys/options/", {"password": "wrong"}).status_code == 422
    assert browser.post("/account/passkeys/", {"name": "x", "answer": "{}"}).status_code == 409
    assert not Passkey.objects.exists()


def test_a_withdrawn_passkey_and_one_of_somebody_who_left_open_nothing(olga: Staff, device: Authenticator) -> None:
    """Harm: the phone that was lost."""
    row, boss = Passkey.objects.get(), floor.staff(Role.PIT_BOSS, "boris", "202")
    assert floor.client(boss).post(f"/account/passkeys/{row.pk}/withdraw/").status_code == 404
    with pytest.raises(Refused):
        passkeys.withdraw(row, by=boss)
    Staff.objects.filter(pk=olga.pk).update(is_active=False)
    browser = Client()
    assert answers(browser, device.get(asked(browser))) == 403
    Staff.objects.filter(pk=olga.pk).update(is_active=True)
    assert floor.client(olga).post(f"/account/passkeys/{row.pk}/withdraw/").status_code == 302
    assert answers(browser, device.get(asked(browser))) == 403
    assert not comparing.compare().faults


def test_a_role_that_must_have_passkeys_gives_no_password_any_more(olga: Staff, terms: Callable[..., None]) -> None:
    """Harm: the house says that operators use passkeys, and a password still opens everything."""
    terms(passkey_roles=("operator",))
    browser = Client()
    sent = {"username": "olga", "password": PASSWORD}
    assert browser.post("/sign-in/?way=name", sent).status_code == 302
    assert browser.get("/admin/")["Location"] == "/account/"
    assert registers(browser, Authenticator()).status_code == 200
    assert browser.get("/admin/").status_code == 200
    answer = Client().post("/sign-in/?way=name", sent)
    assert answer.status_code == 403
    assert "signs in by passkey" in answer.content.decode()


def test_a_passkey_signs_a_digest_that_anybody_can_check_again(olga: Staff, device: Authenticator) -> None:
    """Harm: a signature on paper that only the house can vouch for; or one that is taken for another paper's."""
    request = RequestFactory().get("/", headers={"host": "testserver"})
    request.session = Client().session
    digest, other = sha256(b"fill/2026/1 issued").digest(), sha256(b"fill/2026/2 issued").digest()
    options = json.loads(passkeys.options_for(request, olga, digest))
    signed = passkeys.assertion_over(request, olga, digest, device.get(options))
    row = Passkey.objects.get()
    assert signed["credential"] == digest_of(row.credential)
    verify_authentication_response(
        credential={
            "id": row.credential, "rawId": row.credential, "type": "public-key",
            "response": {
                "clientDataJSON": signed["client_data"], "authenticatorData": signed["authenticator_data"],
                "signature": signed["signature"],
            },
        },
        expected_challenge=digest, expected_rp_id="testserver", expected_origin="http://testserver",
        credential_public_key=base64url_to_bytes(row.public_key), credential_current_sign_count=0,
        require_user_verification=True,
    )  # fmt: skip
    options = json.loads(passkeys.options_for(request, olga, digest))
    with pytest.raises(Refused):
        passkeys.assertion_over(request, olga, other, device.get(options))
    options = json.loads(passkeys.options_for(request, olga, digest))
    options["challenge"] = bytes_to_base64url(other)
    with pytest.raises(Refused):
        passkeys.assertion_over(request, olga, digest, device.get(options))
