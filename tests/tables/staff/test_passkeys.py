"""Passkeys: registered by their owners, and attacked by whoever has a page, an answer or a copy of the key."""

import json
from collections.abc import Callable
from typing import Any

import cbor2
import pytest
from django.test import Client
from webauthn.helpers import bytes_to_base64url

from ledger.models import Alert, Book, LogEntry
from ledger.site_log import digest_of
from tables.audit import proofs, row_comparison
from tables.floor import signature_checks
from tables.log.policies import BY_NAME
from tables.models import Passkey, Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import passkeys, secret_changes
from tests import floor
from tests.authenticator import PRESENT, Authenticator
from tests.floor import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


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


def sign_in_options(browser: Client) -> dict[str, Any]:
    """The options of a sign-in."""
    return dict(browser.post("/sign-in/passkey/options/").json())


def answers(browser: Client, answer: str, **named: str) -> int:
    return browser.post("/sign-in/passkey/", {"answer": answer} | named).status_code


def user_id(browser: Client) -> str | None:
    return browser.session.get("_auth_user_id")


def test_somebody_registers_a_passkey_and_signs_in_with_it(olga: Staff, device: Authenticator) -> None:
    """Harm: a way in that the log knows nothing of."""
    row = Passkey.objects.get()
    registered = LogEntry.objects.get(kind="passkey_registered")
    assert (registered.by, registered.content["public_key"]) == (olga.signature, row.public_key)
    browser = Client()
    assert answers(browser, device.get(sign_in_options(browser))) == 200
    assert user_id(browser) == str(olga.pk)
    assert LogEntry.objects.filter(kind="signed_in").latest("seq").content["passkey"] == digest_of(row.credential)
    page = browser.get("/account/").content.decode()
    assert "My phone" in page
    assert "last used" in page
    assert proofs.verify(Book.objects.get(name="house")).fault is None
    assert not row_comparison.compare().faults


@pytest.mark.parametrize(("name", "status"), [("olga", 200), ("omar", 403)])
def test_a_name_that_was_typed_has_to_be_the_keys(device: Authenticator, name: str, status: int) -> None:
    """Harm: somebody works under another name than they believe."""
    floor.staff(Role.OPERATOR, "omar")
    browser = Client()
    assert answers(browser, device.get(sign_in_options(browser)), username=name) == status


def test_an_answer_from_another_page_opens_nothing(device: Authenticator) -> None:
    """Harm: a page that looks like the house's hands on what it got."""
    for origin in ("https://testserver.example", "https://testserver", "http://testserver:8001"):
        browser = Client()
        assert answers(browser, device.get(sign_in_options(browser), origin=origin)) == 403
    browser = Client()
    options = sign_in_options(browser)
    assert answers(browser, device.get(options | {"rpId": "house.example"})) == 403


def test_an_answer_is_valid_once_and_in_its_own_session(device: Authenticator) -> None:
    """Harm: an intercepted answer signs a person in a second time or on another screen, or one challenge accepts any
    number of attempts."""
    browser, stranger = Client(), Client()
    answer = device.get(sign_in_options(browser))
    sign_in_options(stranger)
    assert answers(stranger, answer) == 403
    assert answers(Client(), answer) == 409
    assert answers(browser, answer) == 200
    browser.post("/sign-out/")
    assert answers(browser, answer) == 409
    options = sign_in_options(browser)
    assert answers(browser, answer) == 403
    assert answers(browser, device.get(options)) == 409


def test_a_challenge_is_for_one_purpose_and_not_for_long(
    olga: Staff, device: Authenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the answer to one question is taken for another's."""
    browser = floor.client(olga)
    options = browser.post("/account/passkeys/options/", {"password": PASSWORD}).json()
    assert answers(browser, device.get(options | {"rpId": "testserver"})) == 409
    stranger = Client()
    answer = device.get(sign_in_options(stranger))
    monkeypatch.setattr(passkeys, "_SECONDS", -1)
    assert answers(stranger, answer) == 409


def test_a_device_that_nobody_unlocked_opens_nothing(device: Authenticator) -> None:
    """Harm: whoever finds the phone is the operator."""
    browser = Client()
    assert answers(browser, device.get(sign_in_options(browser), flags=PRESENT)) == 403
    boss = floor.staff(Role.PIT_BOSS, "boris", "202")
    assert registers(floor.client(boss), Authenticator(3), flags=PRESENT).status_code == 422


def test_a_counter_that_does_not_rise_is_refused_and_told(device: Authenticator) -> None:
    """Harm: a copy of the key works beside it for years."""
    browser = Client()
    assert answers(browser, device.get(sign_in_options(browser))) == 200
    device.count = 0
    copy = Client()
    assert answers(copy, device.get(sign_in_options(copy))) == 403
    assert Alert.objects.filter(kind="passkey_copied").count() == 1
    assert user_id(copy) is None


def test_a_malformed_answer_is_refused(device: Authenticator) -> None:
    """Harm: a malformed answer gets an error page instead of a sentence."""
    stranger, owner = Client(), floor.client(Staff.objects.get(username="olga"))
    for answer in ("", "{}", "[]", "null", '{"id": 7}', "x" * 30_000, '{"id": "a", "response": 1}'):
        sign_in_options(stranger)
        assert answers(stranger, answer) == 403, answer
        owner.post("/account/passkeys/options/", {"password": PASSWORD})
        assert owner.post("/account/passkeys/", {"name": "x", "answer": answer}).status_code == 422, answer
    options = json.loads(device.get(sign_in_options(stranger)))
    for part in ("authenticatorData", "signature", "clientDataJSON"):
        sign_in_options(stranger)
        broken = options | {"response": options["response"] | {part: "AAAA"}}
        assert answers(stranger, json.dumps(broken)) == 403, part


def test_registering_takes_the_password_again(olga: Staff) -> None:
    """Harm: an open screen becomes permanent access, or a passkey is registered that its device cannot find or that can
    never sign a slip."""
    browser = floor.client(olga)
    assert browser.post("/account/passkeys/options/", {"password": "wrong"}).status_code == 422
    assert browser.post("/account/passkeys/", {"name": "x", "answer": "{}"}).status_code == 409
    assert not Passkey.objects.exists()
    options = browser.post("/account/passkeys/options/", {"password": PASSWORD}).json()
    assert options["authenticatorSelection"]["residentKey"] == "required"
    assert [kind["alg"] for kind in options["pubKeyCredParams"]] == [-7, -257]
    assert signature_checks.public_of(bytes_to_base64url(Authenticator().public_key))
    for key in ("", "AAAA", bytes_to_base64url(cbor2.dumps({1: 1, 3: -8, -1: 6, -2: bytes(32)}))):
        assert signature_checks.public_of(key) == ""


def test_a_withdrawn_passkey_and_one_of_somebody_who_left_open_nothing(olga: Staff, device: Authenticator) -> None:
    """Harm: the phone that was lost."""
    row, boss = Passkey.objects.get(), floor.staff(Role.PIT_BOSS, "boris", "202")
    assert floor.client(boss).post(f"/account/passkeys/{row.pk}/withdraw/").status_code == 404
    with pytest.raises(Refused):
        passkeys.withdraw(row, by=boss)
    Staff.objects.filter(pk=olga.pk).update(is_active=False)
    browser = Client()
    assert answers(browser, device.get(sign_in_options(browser))) == 403
    Staff.objects.filter(pk=olga.pk).update(is_active=True)
    assert floor.client(olga).post(f"/account/passkeys/{row.pk}/withdraw/").status_code == 302
    assert answers(browser, device.get(sign_in_options(browser))) == 403
    assert not row_comparison.compare().faults


def test_a_role_that_must_have_passkeys_gives_no_password_any_more(olga: Staff, terms: Callable[..., None]) -> None:
    """Harm: the house says that operators use passkeys, and a password still opens everything."""
    terms(passkey_roles=("operator",))
    browser = Client()
    form = {"username": "olga", "password": PASSWORD}
    assert browser.post("/sign-in/?way=name", form).status_code == 302
    assert browser.get("/admin/")["Location"] == "/account/"
    assert registers(browser, Authenticator()).status_code == 200
    assert browser.get("/admin/").status_code == 200
    answer = Client().post("/sign-in/?way=name", form)
    assert answer.status_code == 403
    assert "signs in by passkey" in answer.content.decode()


def test_every_role_that_signs_in_by_name_does_so_by_passkey() -> None:
    """Harm: the casino requires passkeys of a role that cannot register a passkey or sign in with it."""
    for number, role in enumerate(BY_NAME, 1):
        member, device, browser = floor.staff(Role(role), f"a.{role}"), Authenticator(number), Client()
        assert registers(floor.client(member), device).status_code == 200, role
        assert answers(browser, device.get(sign_in_options(browser))) == 200, role
        assert user_id(browser) == str(member.pk)
        assert browser.get("/account/").status_code == 200, role


def test_two_passkeys_have_names_and_one_is_withdrawn(olga: Staff, device: Authenticator) -> None:
    """Harm: nobody can tell the lost one from the other; or both are gone."""
    stick, browser = Authenticator(2), floor.client(olga)
    options = browser.post("/account/passkeys/options/", {"password": PASSWORD}).json()
    for name in ("", "x" * 41, "a\nb"):
        assert browser.post("/account/passkeys/", {"name": name, "answer": "{}"}).status_code in (409, 422)
        options = browser.post("/account/passkeys/options/", {"password": PASSWORD}).json()
    assert browser.post("/account/passkeys/", {"name": "Stick", "answer": stick.make(options)}).status_code == 200
    page = browser.get("/account/").content.decode()
    assert 'aria-label="Withdraw My phone"' in page
    assert 'aria-label="Withdraw Stick"' in page
    browser.post(f"/account/passkeys/{Passkey.objects.get(name='My phone').pk}/withdraw/")
    assert "My phone" not in browser.get("/account/").content.decode().replace("My phone is withdrawn", "")
    stranger = Client()
    assert answers(stranger, device.get(sign_in_options(stranger))) == 403
    assert answers(stranger, stick.get(sign_in_options(stranger))) == 200
    assert not row_comparison.compare().faults


def test_who_lost_device_and_password_comes_in_by_two_people(terms: Callable[..., None]) -> None:
    """Harm: one operator alone takes over an account by withdrawing its passkey; or its owner never gets in again."""
    terms(passkey_roles=("cage_manager",))
    olga, omar = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.OPERATOR, "omar", "302")
    carla = floor.staff(Role.CAGE_MANAGER, "carla", "403")
    assert registers(floor.client(carla), Authenticator()).status_code == 200
    form = {"username": "carla", "password": PASSWORD}
    assert Client().post("/sign-in/?way=name", form).status_code == 403
    passkeys.withdraw(Passkey.objects.get(), by=olga)
    with pytest.raises(Refused):
        passkeys.withdraw(Passkey.objects.get(), by=floor.staff(Role.PIT_BOSS, "boris", "202"))
    carla = secret_changes.first_secrets(
        Staff.objects.get(pk=carla.pk), asks=olga, confirms=omar, terminal=None, password="another long one"
    )
    assert "signs in by passkey" not in Client().post("/sign-in/?way=name", form).content.decode()
    browser = Client()
    assert browser.post("/sign-in/?way=name", form | {"password": "another long one"}).status_code == 302
    assert browser.get("/slips/")["Location"] == "/account/"
    new = Authenticator(2)
    options = browser.post("/account/passkeys/options/", {"password": "another long one"}).json()
    assert browser.post("/account/passkeys/", {"name": "New", "answer": new.make(options)}).status_code == 200
    assert browser.get("/slips/").status_code == 200
    assert [row.is_active for row in Passkey.objects.order_by("pk")] == [False, True]
    assert not signature_checks.trust().passkeys, "nothing of it signs a slip before a terminal vouched for it"
    assert not row_comparison.compare().faults
