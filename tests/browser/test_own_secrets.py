"""A PIN made on a tablet with a code of two people, and passkeys of a device, in a real browser."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tables.models import Passkey, Staff
from tables.roles import Role
from tables.staff import staffing, terminals
from tests import floor, processes
from tests.accessibility import serious
from tests.codes import answers
from tests.floor import OWN_PIN, PASSWORD
from tests.layout import small

TABLET = {"width": 800, "height": 1280}


@pytest.fixture
def dora(operator: Staff) -> Staff:
    """Taken on today, with nothing but a badge."""
    return staffing.add_staff(username="dora", name="Dora", role=Role.DEALER.value, badge="101", by=operator)


def signed_in(browser: Any, url: str, staff: Staff, path: str) -> Any:
    """Open a browser page with the session of a staff member."""
    context = browser.new_context(base_url=url)
    context.set_default_timeout(15_000)
    context.add_cookies(floor.cookies_of(staff, url)[:1])
    page = context.new_page()
    page.goto(path)
    return page


def key_in(page: Any, digits: str) -> None:
    for digit in digits:
        page.tap(f"[data-digit='{digit}']")


def test_two_people_give_a_code_and_its_owner_makes_a_pin(
    browser: Any, web: processes.Web, operator: Staff, dora: Staff
) -> None:
    """Harm: an operator who knows a dealer's PIN; or a page on which one person reads the whole code."""
    bella = floor.staff(Role.PIT_BOSS, "bella", "201")
    office = signed_in(browser, web.url, operator, f"/admin/tables/staff/{dora.pk}/pin-code/")
    office.click("#content form [type=submit]")
    first = office.inner_text("dd code").replace(" ", "")
    assert office.locator("dd code").count() == 1, "one person reads the whole code"
    assert re.fullmatch("[0-9]{8}", first)

    desk = signed_in(browser, web.url, bella, "/codes/")
    desk.fill("input[name=password]", PASSWORD)
    assert not serious(desk)
    desk.click("[name=do][value=confirm]")
    second = desk.inner_text(".code code").replace(" ", "")

    context = browser.new_context(base_url=web.url, viewport=TABLET, has_touch=True)
    tablet = context.new_page()
    tablet.set_default_timeout(15_000)
    tablet.goto(terminals.link_for(terminals.add("Tablet", None, by=operator), by=operator))
    tablet.tap("main form button")
    tablet.wait_for_selector(".terminal__print")
    tablet.tap(".terminal__ways a")
    tablet.tap("a[href$='/pin/']")
    tablet.tap("a[href$='?way=code']")
    tablet.wait_for_selector("#first")
    assert small(tablet, "[data-keys] button") == []
    assert not serious(tablet)
    for typed in ("101", first, second, OWN_PIN):
        key_in(tablet, typed)
        tablet.tap("[data-go]")
    key_in(tablet, OWN_PIN)
    tablet.tap("[data-go]")
    tablet.wait_for_url("**/sign-in/")
    answers(tablet, "pin_made")
    for typed in ("101", OWN_PIN):
        key_in(tablet, typed)
        tablet.tap("[data-go]")
    tablet.wait_for_url("**/tables/")
    for page in (office, desk, tablet):
        page.context.close()


@pytest.fixture
def device(browser: Any, web: processes.Web) -> Iterator[Any]:
    """A browser with a device that holds passkeys, unlocked by its owner; the house is open by its name."""
    context = browser.new_context(base_url=web.url.replace("127.0.0.1", "localhost"))
    page = context.new_page()
    page.set_default_timeout(15_000)
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    page.device = (session, made["authenticatorId"])
    yield page
    context.close()


def test_a_passkey_is_registered_used_and_withdrawn(device: Any, operator: Staff) -> None:
    """Harm: a script that no browser runs under the policy, or an answer that no device gives."""
    complaints: list[str] = []
    device.on("pageerror", lambda error: complaints.append(str(error)))
    device.on("console", lambda line: "Policy" in line.text and complaints.append(line.text))
    device.goto("/sign-in/")
    device.fill("#username", "omar")
    device.fill("#password", PASSWORD)
    device.keyboard.press("Enter")
    device.wait_for_url(lambda address: "sign-in" not in address)
    device.goto("/account/")
    device.fill("#key-name", "This computer")
    device.fill("#key-password", "wrong")
    device.click("[data-use]")
    answers(device, "wrong_credentials")
    device.fill("#key-password", PASSWORD)
    device.click("[data-use]")
    answers(device, "passkey_registered")
    assert not serious(device)

    device.context.clear_cookies()
    device.goto("/sign-in/")
    device.click("[data-use]")
    device.wait_for_url(lambda address: "sign-in" not in address)
    row = Passkey.objects.get()
    assert row.used_at is not None

    session, authenticator = device.device
    device.context.clear_cookies()
    device.goto("/sign-in/")
    session.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False})
    device.click("[data-use]")
    answers(device, "NotAllowedError")
    session.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": True})
    device.click("[data-use]")
    device.wait_for_url(lambda address: "sign-in" not in address)

    device.goto("/account/")
    device.click("form[action$='/withdraw/'] button")
    answers(device, "passkey_withdrawn")
    device.context.clear_cookies()
    device.goto("/sign-in/")
    device.click("[data-use]")
    answers(device, "wrong_passkey")
    assert not complaints
