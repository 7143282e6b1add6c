"""Slips that take a passkey, in a real browser on a tablet: vouched for, demanded, used, refused in words."""

from collections.abc import Iterator
from typing import Any

import pytest

from ledger.models import Book, LogEntry
from tables.audit import proofs
from tables.floor import signature_checks
from tables.models import Passkey, Staff
from tables.roles import Role
from tables.staff import terminals
from tests import floor, processes
from tests.browser.conftest import PORTRAIT, sign_in
from tests.browser.test_slips import count, counted, readable
from tests.codes import answers
from tests.fixtures.browser import complaints_of
from tests.floor import PASSWORD, PIN

OPTIONS = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


class Pocket:
    """The device that somebody brings: a browser sees what is held near it."""

    def __init__(self, page: Any) -> None:
        self.session = page.context.new_cdp_session(page)
        self.session.send("WebAuthn.enable")
        self.credentials: list[Any] = []
        self.place = ""

    def bring(self) -> None:
        device = self.session.send("WebAuthn.addVirtualAuthenticator", {"options": OPTIONS})
        self.place = device["authenticatorId"]
        for credential in self.credentials:
            self.session.send("WebAuthn.addCredential", {"authenticatorId": self.place, "credential": credential})

    def take_away(self) -> None:
        held = self.session.send("WebAuthn.getCredentials", {"authenticatorId": self.place})
        self.credentials = held["credentials"]
        self.session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": self.place})


@pytest.fixture
def tablet(browser: Any, web: processes.Web, operator: Staff) -> Iterator[Any]:
    """A tablet at the cage that is enrolled and has a key; the house is open by its name."""
    complaints: list[str] = []
    context = browser.new_context(base_url=web.url.replace("127.0.0.1", "localhost"), viewport=PORTRAIT, has_touch=True)
    context.set_default_timeout(15_000)
    page = context.new_page()
    complaints_of(page, complaints)
    page.goto(terminals.link_for(terminals.add("Cage desk", None, by=operator), by=operator))
    page.tap("main form button")
    page.wait_for_selector(".terminal__print")
    yield page
    context.close()
    assert complaints == []


def registers(page: Any, name: str) -> None:
    """Somebody who is signed in registers a passkey, and lets this terminal vouch for it."""
    page.goto("/account/")
    page.fill("#key-name", name)
    page.fill("#key-password", PASSWORD)
    page.tap("[data-use]")
    answers(page, "passkey_registered")
    assert page.get_attribute(".key", "data-vouched-by") == ""
    readable(page)
    page.tap("form[action$='/vouch/'] button")
    answers(page, "passkey_vouched")
    assert page.get_attribute(".key", "data-vouched-by") == "Cage desk"


def demands(page: Any, operator: Staff) -> None:
    """From now on cage managers sign by passkey."""
    sign_in(page, operator)
    page.goto("/terminal/")
    assert "Cora" in page.inner_text("label:has([value=cage_manager])")
    readable(page)
    page.check("[name=role][value=cage_manager]")
    page.check("[aria-labelledby=passkeys-title] input[name=sure]")
    page.tap("[aria-labelledby=passkeys-title] form button")
    answers(page, "passkey_demanded")
    assert page.is_disabled("input[value=cage_manager]")


def begins(page: Any, badge: str) -> None:
    """Chips to the vault, by badge, PIN and whatever the browser asks."""
    page.goto("/slips/0/new/deposit/")
    count(page, red=2)
    page.fill("#badge", badge)
    page.fill("#pin", PIN)
    page.tap("main form .button--primary")


def test_a_cage_manager_signs_by_passkey(tablet: Any, operator: Staff, transactional_db: None) -> None:
    """Harm: what the browser signs is not what the house and its auditors read; or nobody finds out how it is done."""
    carla, cora = floor.staff(Role.CAGE_MANAGER, "carla", "403"), floor.staff(Role.CAGE_MANAGER, "cora", "404")
    floor.dealt()
    carlas, coras = Pocket(tablet), Pocket(tablet)
    sign_in(tablet, carla)
    carlas.bring()
    registers(tablet, "My phone")
    assert [key.vouched_by for key in signature_checks.trust().signs("carla")] == ["Cage desk"]
    demands(tablet, operator)

    sign_in(tablet, carla)
    begins(tablet, "403")
    tablet.wait_for_selector(".paper__state")
    answers(tablet, "signed")
    assert "Cage desk" in tablet.inner_text(".paper__with")
    readable(tablet)
    tablet.emulate_media(media="print")
    assert tablet.is_visible(".paper__with")
    tablet.emulate_media(media="screen")
    entry = LogEntry.objects.filter(kind="deposit_requested").get()
    row = Passkey.objects.get()
    assert entry.content["attested"]["passkey"]["credential"] == signature_checks.digest_of(row.credential)

    begins(tablet, "404")
    answers(tablet, "no_passkey")
    assert counted(tablet, "red") == "2"
    readable(tablet)

    carlas.take_away()
    coras.bring()
    sign_in(tablet, cora)
    registers(tablet, "Cora’s stick")
    coras.take_away()
    carlas.bring()
    begins(tablet, "404")
    answers(tablet, "NotAllowedError")
    for book in Book.objects.all():
        assert proofs.verify(book).fault is None


@pytest.mark.trial(
    "notes put apart, beside a path of each of its parts",
    covered_by="tests/tables/audit/test_attestations.py::test_notes_put_apart_are_signed_too",
)
def test_a_count_of_cash_says_to_the_terminal_what_it_puts_apart(
    tablet: Any, operator: Staff, transactional_db: None
) -> None:
    """Harm: a count that puts notes apart cannot be signed where the house demands terminals’ signatures; or two
    spellings of one amount are two statements."""
    from tables.floor.inputs import BeginSlip, SignSlip
    from tables.staff import terminal_keys

    dealer, _ = floor.dealt()
    guards = [floor.staff(Role.SECURITY, name, badge) for name, badge in (("silvia", "501"), ("stefan", "502"))]
    counter = floor.staff(Role.COUNTER, "carl", "601")
    floor.signs(dealer.table, guards[0], BeginSlip("drop", (), "B1"))
    name = LogEntry.objects.filter(kind="drop_removed").get().content["slip"]
    floor.signs(dealer.table, guards[1], SignSlip(name, "witnessed"))
    terminal_keys.demand(by=operator)
    sign_in(tablet, counter)
    tablet.goto(f"/slips/{dealer.table.pk}/{name}/")
    tablet.fill("[data-value='10000']", "1")
    tablet.tap("#apart summary")
    for line, (kind, worth, mark) in enumerate(
        (("unknown", "1,000", "Ü 7"), ("torn", "2.50", " E8 "), ("torn", "2", "E9")), 1
    ):
        tablet.select_option(f"#apart-{line}-kind", kind)
        tablet.fill(f"#apart-{line}-worth", worth)
        tablet.fill(f"#apart-{line}-envelope", mark)
    tablet.fill("#badge", "601")
    tablet.fill("#pin", PIN)
    tablet.tap(".slip-page__side .button--primary")
    answers(tablet, "signed")
    entry = LogEntry.objects.filter(kind="drop_counted").get()
    assert [note[:3] for note in entry.content["apart"]] == [
        ["torn", 200, "E9"], ["torn", 250, "E8"], ["unknown", 100_000, "Ü 7"],
    ]  # fmt: skip
    assert entry.content["attested"]["terminal"] == "Cage desk"
    assert proofs.verify(dealer.table.book).fault is None
