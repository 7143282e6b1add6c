"""Enrolled terminals: what their cookie is worth, how a device becomes one, and how it stops being one."""

import re
import time
from functools import partial
from hashlib import sha256
from http.cookies import Morsel
from typing import Any

import pytest
from django.core import signing
from django.core.management import CommandError, call_command
from django.test import Client, RequestFactory, override_settings
from django.urls import reverse

from ledger.models import HOUSE, LogEntry
from tables.floor import recorder
from tables.models import Staff, Terminal
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import terminals
from tests import floor

pytestmark = pytest.mark.django_db


@pytest.fixture
def terminal(operator: Staff) -> Terminal:
    return terminals.add("Tablet", None, by=operator)


def opened(path: str, client: Client | None = None) -> Client:
    """A device on which a link was opened and confirmed."""
    client = client or Client()
    answer = client.post(path)
    assert answer.status_code == 302, answer.content
    return client


def is_terminal(client: Client) -> bool:
    return b"Badge number" in client.get(reverse("sign-in")).content


def cookie(client: Client) -> "Morsel[str]":
    return client.cookies["terminal"]


def kinds() -> list[tuple[str, str, dict[str, Any]]]:
    """What the house's book says about terminals."""
    entries = LogEntry.objects.filter(book__name=HOUSE, subject="terminal").exclude(by=floor.SETS_UP).order_by("seq")
    return [(entry.kind, entry.by, entry.content) for entry in entries]


# --- The cookie -----------------------------------------------------------------------------------------------


def test_scripts_and_other_sites_never_get_the_cookie(terminal: Terminal, operator: Staff) -> None:
    """Harm: a script, another site or a reader of the database gets the cookie and tries PINs from anywhere."""
    client = opened(terminals.link_for(terminal, by=operator))
    morsel = cookie(client)
    assert morsel["httponly"]
    assert morsel["samesite"] == "Strict"
    assert morsel["path"] == "/"
    assert not morsel["domain"]
    assert int(morsel["max-age"]) > 30 * 24 * 3600
    terminal.refresh_from_db()
    token = morsel.value.split(":")[0]
    assert len(token) >= 43
    assert token not in terminal.token_digest
    foreign_cookie = signing.get_cookie_signer(salt="something else").sign(token)
    for cookie_value in (terminal.token_digest, token, f"{token}:x:y", "", "\0", foreign_cookie):
        thief = Client()
        thief.cookies["terminal"] = cookie_value
        assert not is_terminal(thief)


def test_behind_tls_it_never_leaves_it(terminal: Terminal, operator: Staff) -> None:
    """The prefix makes the browser itself insist: no neighbouring host can plant one either."""
    with override_settings(SESSION_COOKIE_SECURE=True):
        client = Client()
        client.post(terminals.link_for(terminal, by=operator), secure=True)
        assert client.cookies["__Host-terminal"]["secure"]
        assert b"Badge number" in client.get(reverse("sign-in"), secure=True).content
        assert "terminal" not in client.cookies


# --- Links ----------------------------------------------------------------------------------------------------


def test_a_link_works_once(terminal: Terminal, operator: Staff) -> None:
    """Harm: a mail scanner that opens the link uses it up, or a link read over a shoulder enrols a second device."""
    link = terminals.link_for(terminal, by=operator)
    for _ in range(2):
        client = Client()
        assert b"Tablet" in client.get(link).content
        assert not is_terminal(client)
    assert is_terminal(opened(link))
    for answer in (Client().get(link), Client().post(link)):
        assert answer.status_code == 410
        assert b"too old, or was used before" in answer.content
        assert "terminal" not in answer.cookies


def test_an_expired_link_is_invalid(terminal: Terminal, operator: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a link in a mailbox, or of a former operator, enrols a device."""
    link, moment = terminals.link_for(terminal, by=operator), time.time()
    with override_settings(ENROLMENT_LINK_SECONDS=1800), monkeypatch.context() as patched:
        patched.setattr("django.core.signing.time.time", lambda: moment + 1790)
        assert Client().get(link).status_code == 200
        patched.setattr("django.core.signing.time.time", lambda: moment + 1810)
        assert Client().get(link).status_code == 410
    Staff.objects.filter(pk=operator.pk).update(role=Role.DEALER)
    assert Client().post(link).status_code == 403


def test_a_link_that_the_site_did_not_make_is_invalid(terminal: Terminal) -> None:
    """Harm: a link without a code or signature, signed for another purpose, or about no terminal breaks the page."""
    for code in ("x", "a:b:c", signing.dumps([1, "", 1]), signing.dumps("text", salt="tables.terminals.link")):
        assert Client().get(reverse("enrol", args=[code])).status_code == 410, code


def test_the_old_device_is_a_terminal_until_the_link_is_used_and_no_longer(terminal: Terminal, operator: Staff) -> None:
    """Harm: a broken tablet cannot be replaced without a gap, comes back from the repair as a terminal, or a forgotten
    link moves the terminal to another device."""
    old = opened(terminals.link_for(terminal, by=operator))
    forgotten_link, link = (terminals.link_for(terminal, by=operator) for _ in range(2))
    assert is_terminal(old)
    new = opened(link)
    assert is_terminal(new)
    assert not is_terminal(old)
    assert Client().post(forgotten_link).status_code == 410


def test_enrolling_signs_out_whoever_is_signed_in_on_the_device(terminal: Terminal, operator: Staff) -> None:
    """The operator who enrols a tablet walks away from it."""
    client = Client()
    client.force_login(operator, backend="django.contrib.auth.backends.ModelBackend")
    opened(terminals.link_for(terminal, by=operator), client)
    assert client.get(reverse("home")).status_code == 302


# --- Taking it back -------------------------------------------------------------------------------------------


def test_a_revoked_terminal_is_invalid_at_once_and_permanently(terminal: Terminal, operator: Staff) -> None:
    """Harm: a stolen tablet, or a link that was made for it, opens the casino's pages."""
    client = opened(terminals.link_for(terminal, by=operator))
    link = terminals.link_for(terminal, by=operator)
    terminal.refresh_from_db()
    terminals.revoke(terminal, by=operator)
    assert not is_terminal(client)
    assert Client().post(link).status_code == 410


def test_the_log_says_who_enrolled_what(terminal: Terminal, operator: Staff) -> None:
    """Which device a card was keyed on is asked when cards were keyed wrongly."""
    added = device(terminal)
    opened(terminals.link_for(terminal, by=operator))
    terminal.refresh_from_db()
    enrolled = device(terminal)
    terminals.bind(terminal, floor.table(), by=operator)
    terminals.revoke(terminal, by=operator)
    assert kinds() == [
        ("added", "omar Omar", {"name": "Tablet", "table": None} | added),
        ("link_made", "omar Omar", {"name": "Tablet", "table": None}),
        ("enrolled", "omar Omar", {"name": "Tablet", "table": None, "link": True} | enrolled),
        ("changed", "omar Omar", {"name": "Tablet", "before": {"table": None}, "after": {"table": "Rocket 1"}}),
        ("revoked", "omar Omar", {"name": "Tablet", "table": "Rocket 1"} | device(terminal)),
    ]
    assert len({added["device"], enrolled["device"], device(terminal)["device"]}) == 3


def device(terminal: Terminal) -> dict[str, str]:
    """What the log says of the device that a terminal is now: the digest of what is kept of its token."""
    return {"device": sha256(terminal.token_digest.encode()).hexdigest(), "enrolled_by": "omar"}


def test_only_operators_enrol_and_revoke(terminal: Terminal) -> None:
    """Harm: dealers enrol their own phones and deal from home."""
    for role in set(Role) - {Role.OPERATOR}:
        user = Staff(username="other", name="Other", role=role)
        for act in (
            partial(terminals.enrol, "Phone", None),
            partial(terminals.add, "Phone", None),
            partial(terminals.link_for, terminal),
            partial(terminals.bind, terminal, None),
            partial(terminals.revoke, terminal),
        ):
            with pytest.raises(Refused) as refusal:
                act(by=user)
            assert refusal.value.status == 403, role


def test_two_terminals_of_one_name_could_not_be_told_apart(terminal: Terminal, operator: Staff) -> None:
    """The log calls them by it."""
    with pytest.raises(Refused, match="There is a terminal"):
        terminals.enrol("tablet", None, by=operator)


def test_a_terminal_that_is_bound_to_a_table_takes_no_other(operator: Staff) -> None:
    """The tablet screwed to Rocket 1 must not key cards into Rocket 2 by a slip."""
    dealer, _ = floor.dealt()
    terminals.add("Other tablet", floor.table("Rocket 2"), by=operator)
    dan = floor.staff(Role.DEALER, "dan", "102")
    with pytest.raises(Refused) as refused:
        recorder.sign_in(dealer.table, dan, "Other tablet")
    assert refused.value.sentence == "This terminal is for Rocket 2: take Rocket 1 at another."
    recorder.sign_out(dealer.table, dealer.by)
    with pytest.raises(Refused, match="This terminal is for Rocket 2"):
        recorder.sign_in(dealer.table, dan, "Other tablet")
    recorder.sign_in(dealer.table, dan, None)


# --- From the command line ------------------------------------------------------------------------------------


def test_the_command_prints_a_link_that_works(operator: Staff, capsys: pytest.CaptureFixture[str]) -> None:
    """A house without a second screen enrols its first tablet this way."""
    table = floor.table()
    call_command("enrol_terminal", "Tablet 1", "--by", "omar", "--table", table.name, "--address", "https://c.example/")
    match = re.fullmatch(r"https://c\.example(/enrol/\S+/)\n", capsys.readouterr().out)
    assert match
    assert is_terminal(opened(match[1]))
    assert Terminal.objects.get(name="Tablet 1").table == table


def test_the_command_says_in_a_sentence_what_is_wrong(operator: Staff) -> None:
    """Harm: the command leaves a terminal behind although it failed, or ends with a traceback."""
    floor.staff(Role.PIT_BOSS, "bella")
    for arguments, sentence in (
        (["--by", "nobody"], "Nobody active here is called nobody."),
        (["--by", "omar", "--table", "Rocket 9"], "There is no table Rocket 9."),
        (["--by", "bella"], "Only an operator enrols terminals."),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("enrol_terminal", "Tablet", *arguments)
    assert not Terminal.objects.exists()


def test_a_request_without_a_cookie_asks_the_database_nothing(django_assert_num_queries: Any) -> None:
    """The sign-in page is open to the world."""
    with django_assert_num_queries(0):
        assert terminals.identify(RequestFactory().get("/")) is None
