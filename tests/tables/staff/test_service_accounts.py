"""Programs: who may set what they may do, what a token is worth, and how it stops being worth anything."""

import json
import logging
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from casino.web.redaction import redacted
from ledger.models import HOUSE, Alert, LogEntry
from tables import pepper
from tables.approvals import proposals
from tables.audit import row_comparison
from tables.models import ServiceAccount, ServiceToken, Staff, Table
from tables.refusals import Refused
from tables.reports import access_review
from tables.roles import Role
from tables.setup import policies, service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import floor

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

TABLES = reverse("api:tables")


@pytest.fixture
def olga() -> Staff:
    return floor.staff(Role.OPERATOR, "olga")


def allowed(**changes: Any) -> Access:
    facts: dict[str, Any] = {
        "purpose": "Shows the boards in the lounge",
        "scopes": ("read:board",),
        "expires": timezone.now() + timedelta(days=30),
    }
    return Access(**facts | changes)


@pytest.fixture
def account(olga: Staff) -> ServiceAccount:
    floor.table()
    return service_accounts.set_account("Lounge", allowed(), by=olga)


@pytest.fixture
def token(account: ServiceAccount, olga: Staff) -> str:
    return service_tokens.make(account, by=olga)


def ask(token: str, path: str = TABLES, **headers: Any) -> Any:
    return Client(enforce_csrf_checks=True).get(path, headers={"Authorization": f"Bearer {token}"}, **headers)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def kinds() -> list[str]:
    entries = LogEntry.objects.filter(book__name=HOUSE, subject="service_account").order_by("seq")
    return list(entries.values_list("kind", flat=True))


# --- Setting ---------------------------------------------------------------------------------------------------


def test_the_form_keeps_a_retired_table_of_an_account(olga: Staff) -> None:
    """Harm: an operator corrects the purpose of an account whose one table is retired, and the API client may read
    every table of the house."""
    floor.table("Rocket 1")
    floor.table("Rocket 2")
    account = service_accounts.set_account("Lounge", allowed(tables=("Rocket 2",)), by=olga)
    Table.objects.filter(name="Rocket 2").update(retired_at=timezone.now())
    browser, address = floor.client(olga), reverse("admin:tables_serviceaccount_change", args=[account.pk])
    form = browser.get(address).context["adminform"].form
    ticked = [box.data["value"] for box in form["tables"].subwidgets if box.data["selected"]]
    assert ticked == ["Rocket 2"]
    typed = {"purpose": "Shows the boards", "scopes": ["read:board"], "addresses": "", "tables": ticked}
    expires = f"{timezone.localtime(account.expires_at):%Y-%m-%d %H:%M}"
    assert browser.post(address, typed | {"expires_at": expires}).status_code == 302
    account.refresh_from_db()
    assert (account.purpose, account.tables) == ("Shows the boards", ["Rocket 2"])


def test_an_account_its_token_and_their_end_are_in_the_log(account: ServiceAccount, token: str, olga: Staff) -> None:
    """Harm: the log does not name the operator who gave access, each request writes a row, or a reader of the log or
    the database gets the token."""
    row = ServiceToken.objects.get()
    assert token not in row.kept
    assert pepper.is_sealed(row.kept)
    assert token.startswith(f"casino_{row.ident}")
    assert ask(token).status_code == 200
    used = ServiceToken.objects.get().used_at
    assert used is not None
    assert ask(token).status_code == 200
    assert ServiceToken.objects.get().used_at == used, "the last use is stored once a minute"
    service_accounts.revoke(account, "The screen was sold", by=olga)
    assert kinds() == ["set", "token_made", "revoked"]
    log_text = json.dumps([entry.content for entry in LogEntry.objects.filter(subject="service_account")])
    assert token not in log_text
    assert "Lounge" in log_text
    assert [fault for fault in row_comparison.compare().faults if "program" in fault] == []


def test_an_account_is_judged_field_by_field(account: ServiceAccount) -> None:
    """Harm: an account with a slip of the pen may do more, or for longer, than anybody meant."""
    bad = allowed(
        purpose=" ",
        scopes=("read:board", "read:everything"),
        tables=("Nowhere",),
        addresses=("10.0.0.0/33",),
        expires=timezone.now() + timedelta(days=800),
    )
    wrong = service_accounts.faults("-", bad, timezone.now())
    assert wrong.keys() == {"name", "purpose", "scopes", "tables", "addresses", "expires"}
    assert "10.0.3.0/24" in wrong["addresses"]
    assert "365 days" in wrong["expires"]
    reader = allowed(scopes=("enter:cards",))
    assert "one table" in service_accounts.faults("Reader", reader, timezone.now())["tables"]
    mixed = allowed(scopes=("read:board", "enter:cards"), tables=("Rocket 1",))
    assert "nothing else" in service_accounts.faults("Reader", mixed, timezone.now())["scopes"]


def test_only_an_operator_gives_access(account: ServiceAccount, token: str) -> None:
    """Harm: a pit boss creates an API client with permissions that pit bosses lack."""
    for role in set(Role) - {Role.OPERATOR}:
        user = Staff(username="x", name="X", role=role)
        for act in (
            partial(service_accounts.set_account, "Other", allowed()),
            partial(service_accounts.revoke, account, "why"),
            partial(service_tokens.make, account),
            partial(service_tokens.end, account.tokens.get()),
        ):
            with pytest.raises(Refused, match="Only an operator"):
                act(by=user)


def test_more_access_takes_two_people_where_access_does_and_less_takes_one(
    account: ServiceAccount, olga: Staff
) -> None:
    """Harm: one operator alone gives a program what the house says two give."""
    omar = floor.staff(Role.OPERATOR, "omar")
    policies.change({"two_people": True}, by=olga)
    wider = allowed(scopes=("read:board", "read:alerts"))
    with pytest.raises(Refused, match="takes two people"):
        service_accounts.set_account("Lounge", wider, by=olga)
    draft = service_accounts.draft("Lounge", wider)
    assert draft is not None
    proposal = proposals.propose(draft, "Alerts too", by=olga)
    proposals.approve(proposal, by=omar)
    account.refresh_from_db()
    assert account.scopes == ["read:board", "read:alerts"]
    shorter = allowed(expires=timezone.now() + timedelta(days=2))
    assert service_accounts.draft("Lounge", shorter) is None
    service_accounts.set_account("Lounge", shorter, by=olga)
    call_command("verify", verbosity=0)


def test_the_review_of_access_lists_programs(account: ServiceAccount, token: str) -> None:
    """Harm: an auditor signs that everybody's access was looked at, and programs were left out."""
    line = access_review.review()[-1]
    assert (line.username, line.granted_by, line.is_active) == ("program Lounge", account.by, True)
    assert line.may[0] == "See tables as their screens show them (all tables)"
    assert "Shows the boards" in line.may[1]


# --- Tokens ----------------------------------------------------------------------------------------------------


def test_a_typing_error_differs_from_a_token_that_was_never_issued(token: str) -> None:
    """Harm: an integrator mistakes a typing error for a revocation, or a person who saw the ten letters in the log
    makes a token of them."""
    misspelled = token[:-7] + ("x" if token[-7] != "x" else "y") + token[-6:]
    assert code(ask(misspelled)) == (401, "token_misspelled")
    assert code(ask(token[:-1])) == (401, "token_misspelled")
    assert code(ask(service_tokens._new())) == (401, "token_unknown")
    body = token[len("casino_") :][:10] + "0" * 33
    assert code(ask(f"casino_{body}{service_tokens._check(body)}")) == (401, "token_unknown")
    assert ask(token).status_code == 200


def test_a_token_is_replaced_without_standing_still_and_never_a_third_time(
    account: ServiceAccount, token: str, olga: Staff
) -> None:
    """Harm: rotation is put off because it stops the program; or tokens pile up."""
    second = service_tokens.make(account, by=olga)
    assert ask(token).status_code == ask(second).status_code == 200
    with pytest.raises(Refused, match="two tokens already"):
        service_tokens.make(account, by=olga)
    earlier = ServiceToken.objects.get(ident=token[7:17])
    assert earlier.until <= timezone.now() + timedelta(hours=24)
    service_tokens.end(earlier, by=olga)
    assert code(ask(token)) == (401, "token_revoked")
    assert ask(second).status_code == 200


def test_an_ended_token_is_invalid_and_its_use_raises_an_alert(
    account: ServiceAccount, token: str, olga: Staff
) -> None:
    """Harm: a forgotten account never expires, or a stolen token is tried after its revocation without an alert."""
    expires = account.expires_at
    ServiceAccount.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert code(ask(token)) == (401, "token_expired")
    assert service_accounts.note_expired() == 1
    assert service_accounts.note_expired() == 0
    assert kinds()[-1] == "expired"
    ServiceAccount.objects.update(expires_at=expires)
    service_accounts.revoke(account, "The tablet was stolen", by=olga)
    for _ in range(2):
        assert code(ask(token)) == (401, "token_revoked")
    expired, revoked = Alert.objects.filter(kind="token_late").order_by("pk")
    assert "Lounge" in expired.message
    assert "Lounge" in revoked.message
    with pytest.raises(Refused, match="for good"):
        service_accounts.set_account("Lounge", allowed(), by=olga)


def test_wrong_tokens_are_counted_by_address_and_never_shut_out_a_right_one(token: str) -> None:
    """Harm: tokens are tried by the million; or a stranger behind the same address stops a program by trying."""
    for _ in range(10):
        assert code(ask("casino_nonsense"))[0] == 401
    assert code(ask("casino_nonsense")) == (429, "locked_out")
    assert Alert.objects.filter(kind="tokens_tried").count() == 1
    assert ask(token).status_code == 200


def test_a_program_calls_from_its_own_addresses(account: ServiceAccount, token: str, olga: Staff) -> None:
    """Harm: a token that was copied works from anywhere."""
    service_accounts.set_account("Lounge", allowed(addresses=("10.0.3.0/24",)), by=olga)
    assert ask(token, REMOTE_ADDR="10.0.3.7").status_code == 200
    assert code(ask(token, REMOTE_ADDR="10.0.4.7")) == (403, "wrong_address")
    assert Alert.objects.filter(kind="token_elsewhere").exists()


def test_a_program_is_throttled_by_itself(account: ServiceAccount, token: str, olga: Staff) -> None:
    """Harm: one program asks so often that dealers wait."""
    policies.change({"program_requests_a_minute": 10}, by=olga)
    policies.forget()
    cage_token = service_tokens.make(service_accounts.set_account("Cage", allowed(), by=olga), by=olga)
    answers = [ask(token) for _ in range(11)]
    assert code(answers[-1]) == (429, "throttled")
    assert answers[-1]["Retry-After"] == "60"
    assert ask(cage_token).status_code == 200


# --- What it may ask -------------------------------------------------------------------------------------------


def test_a_program_has_its_scopes_and_its_tables_and_enters_nothing(
    account: ServiceAccount, token: str, olga: Staff
) -> None:
    """Harm: a display deals; or what is for one table tells of all."""
    floor.table("Rocket 9")
    service_accounts.set_account("Lounge", allowed(tables=("Rocket 9",)), by=olga)
    assert [line["name"] for line in ask(token).json()["items"]] == ["Rocket 9"]
    own, foreign = (pk_of(name) for name in ("Rocket 9", "Rocket 1"))
    assert ask(token, reverse("api:table", args=[own])).status_code == 200
    assert code(ask(token, reverse("api:table", args=[foreign]))) == (403, "not_your_table")
    assert code(ask(token, reverse("api:round", args=[own, 1]))) == (403, "no_scope")
    inputs = Client(enforce_csrf_checks=True).post(
        reverse("api:inputs", args=[own]),
        json.dumps({}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert code(inputs) == (403, "not_for_programs")


def pk_of(name: str) -> int:
    return Table.objects.get(name=name).pk


def test_a_token_opens_no_page_and_leaves_no_session(token: str, olga: Staff) -> None:
    """Harm: a program's token becomes a person's way in."""
    client = Client()
    assert client.get(TABLES, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert "sessionid" not in client.cookies
    assert client.get(reverse("admin:index"), headers={"Authorization": f"Bearer {token}"}).status_code == 302


def test_no_log_ever_has_a_token(token: str, caplog: pytest.LogCaptureFixture) -> None:
    """Harm: whoever may read a log file asks in the program's name."""
    logging.getLogger("django").error("went wrong with %s", token)
    assert token not in caplog.text
    assert "casino_***" in caplog.text
    assert redacted(f'{{"authorization": "Bearer {token}"}}') == '{"authorization": "Bearer casino_***"}'


def test_another_pepper_carries_tokens_over(token: str) -> None:
    """Harm: a key is changed, and every program stands still."""
    call_command("pepper", rotate=True, verbosity=0)
    assert pepper.is_current(ServiceToken.objects.get().kept)
    assert ask(token).status_code == 200
    assert [fault for fault in row_comparison.compare().faults if "token" in fault] == []


# --- The administration ----------------------------------------------------------------------------------------


def test_an_operator_makes_an_account_and_sees_its_token_once(client: Client, olga: Staff) -> None:
    """Harm: a token can be read again later, by whoever sits there then."""
    client.force_login(olga)
    typed = {
        "name": "Lounge",
        "purpose": "Shows the boards",
        "scopes": ["read:board"],
        "addresses": "",
        "expires_at": f"{timezone.now() + timedelta(days=3):%Y-%m-%d %H:%M}",
    }
    answer = client.post(reverse("admin:tables_serviceaccount_add"), typed)
    assert answer.status_code == 302, answer.content.decode()
    account = ServiceAccount.objects.get()
    change = reverse("admin:tables_serviceaccount_change", args=[account.pk])
    assert "has no token" in client.get(change).content.decode()
    page = client.post(reverse("admin:tables_serviceaccount_new_token", args=[account.pk]))
    token = page.context["token"]
    assert ask(token).status_code == 200
    assert token not in client.get(change).content.decode()
    assert "in use" in client.get(reverse("admin:tables_serviceaccount_changelist")).content.decode()
