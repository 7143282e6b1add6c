"""The log and the chips in the admin: readable by those who may, changeable by nobody."""

from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from ledger import slips
from ledger.alerts import open_alerts, raise_alert
from ledger.models import Acknowledgement, Book, Discrepancy, Finding, LogEntry, Run, RunEnd
from ledger.proof.slip_name import SlipName
from ledger.recount import recount
from tables.models import Staff
from tables.roles import Role
from tests.ledger.conftest import Felt

pytestmark = pytest.mark.slow("sets up a house for each test")

MODELS = [
    "book", "logentry", "transfer", "account", "recount", "alert", "slip", "slipsignature", "discrepancy", "finding",
    "run",
]  # fmt: skip


YES = {"post": "yes"}


def signed_in(role: Role) -> Client:
    client = Client()
    client.force_login(Staff.objects.create_staff(role.value, name=f"Eve {role.label}", role=role, password="x" * 12))
    return client


@pytest.fixture
def operator(db: None) -> Client:
    return signed_in(Role.OPERATOR)


@pytest.fixture
def busy(felt: Felt) -> Felt:
    for _ in range(5):
        felt.round()
    recount(felt.book.pk, "test")
    raise_alert(felt.book, "negative", "<b>rack</b>", {"place": "rack"})
    watched(felt.book, 1)
    return felt


def watched(book: Book, number: int) -> None:
    """A slip with a signature, a discrepancy with its finding, and a run that ended."""
    moment = timezone.now()
    signing = slips.Signing(SlipName("rack", 2026, number), "counted", "eve", "dealer", 0)
    slips.write(signing, book.pk, number)
    discrepancy = Discrepancy.objects.create(
        book=book, at=moment, kind="count", amount_cents=5, level=0, message="5 over", key=str(number)
    )
    Finding.objects.create(discrepancy=discrepancy, username="olga", by="olga Olga", at=moment, text="A chip lay below")
    run = Run.objects.create(task="hourly", slot=moment + timedelta(hours=number), begun_at=moment)
    RunEnd.objects.create(run=run, at=moment, found=0)


def page_of(model: str, view: str, *args: object) -> str:
    return reverse(f"admin:ledger_{model}_{view}", args=args)


def row_of(model: str) -> Any:
    return apps.get_model("ledger", model).objects.latest("pk")


def name_of(row: Any) -> str:
    """As it stands in the row's address."""
    return f"{row.book_id}-{row.seq}" if isinstance(row, LogEntry) else str(row.pk)


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.AUDITOR])
def test_whoever_may_look_sees_lists_and_rows(busy: Felt, role: Role) -> None:
    """Harm prevented: an auditor who has to ask the audited for a print-out."""
    client = signed_in(role)
    for model in MODELS:
        assert client.get(page_of(model, "changelist")).status_code == 200, model
        page = client.get(page_of(model, "change", name_of(row_of(model))))
        assert page.status_code == 200, model
        assert "&lt;b&gt;rack" in page.text or model != "alert"


@pytest.mark.parametrize("role", [Role.DEALER, Role.PIT_BOSS])
def test_whoever_may_not_look_sees_nothing(busy: Felt, role: Role) -> None:
    """Harm prevented: a dealer who reads another table's log."""
    client = signed_in(role)
    for model in MODELS:
        for url in (page_of(model, "changelist"), page_of(model, "change", name_of(row_of(model)))):
            assert client.get(url).status_code in (302, 403), url


def test_nobody_adds_changes_or_deletes(busy: Felt, operator: Client) -> None:
    """Harm prevented: history edited by the person in charge of it."""
    for model in MODELS:
        row = row_of(model)
        for view, name, values in (("add", (), {}), ("change", (name_of(row),), {}), ("delete", (name_of(row),), YES)):
            assert operator.post(page_of(model, view, *name), values).status_code == 403, (model, view)
        action = {"action": "delete_selected", "_selected_action": row.pk}
        operator.post(page_of(model, "changelist"), action | YES)
        assert row_of(model) == row


def test_an_entry_shows_its_body_and_its_hashes(busy: Felt, operator: Client) -> None:
    """Harm prevented: an auditor who cannot compare a hash with a print-out."""
    entry = LogEntry.objects.filter(subject="round").latest("seq")
    before = LogEntry.objects.get(book=entry.book, seq=entry.seq - 1)
    page = operator.get(page_of("logentry", "change", name_of(entry))).text
    assert bytes(entry.hash).hex() in page
    assert bytes(before.hash).hex() in page
    assert "&quot;note&quot;: &quot;a round&quot;" in page


def test_what_names_no_entry_is_refused(busy: Felt, operator: Client) -> None:
    """Harm prevented: an error page for whoever mistypes an address."""
    for name in ("1", "1-", "x-1", "1-999999", f"1-{10**30}", "-1-1", "½-1"):
        assert operator.get(page_of("logentry", "change", name)).status_code == 302, name


def test_the_newest_entry_of_a_book_is_read_by_its_index(busy: Felt, operator: Client) -> None:
    """Harm prevented: a list, or one entry, that reads the whole log of ten million rows."""
    address = page_of("logentry", "change", name_of(row_of("logentry")))
    with CaptureQueriesContext(connection) as queries:
        operator.get(page_of("logentry", "changelist"))
        operator.get(address)
    statements = [query["sql"] for query in queries.captured_queries if 'FROM "ledger_logentry"' in query["sql"]]
    assert statements
    with connection.cursor() as cursor:
        # On a small log any plan is cheap: with these off, what is left shows whether an index gives the order.
        for dear in ("seqscan", "bitmapscan", "sort", "incremental_sort"):
            cursor.execute(f"SET LOCAL enable_{dear} = off")
        for sql in statements:
            cursor.execute("EXPLAIN " + sql.replace("%", "%%"))
            plan = "\n".join(line for (line,) in cursor.fetchall())
            assert "Seq Scan on ledger_logentry" not in plan, plan
            assert "Sort" not in plan, plan


def test_a_list_counts_no_rows_and_sends_no_query_per_row(busy: Felt, operator: Client) -> None:
    """Harm: a list of ten million rows takes a minute because it counts them first, or sends one more query for each
    row."""

    def statements(model: str) -> list[str]:
        with CaptureQueriesContext(connection) as queries:
            assert operator.get(page_of(model, "changelist")).status_code == 200
        return [query["sql"] for query in queries.captured_queries]

    unbounded = ("logentry", "transfer", "recount")
    lists = (*unbounded, "slip", "slipsignature", "discrepancy", "finding", "run")
    statements("slip")  # writes the session, which happens once a minute
    before = {model: statements(model) for model in lists}
    for model in unbounded:
        assert not [sql for sql in before[model] if "COUNT(" in sql and "ledger_" in sql]
        assert not [sql for sql in before[model] if '"body"' in sql]
    for number in range(2, 6):
        busy.round()
        watched(busy.book, number)
    recount(busy.book.pk, "test")
    for model in lists:
        assert len(statements(model)) == len(before[model]), model


def test_lists_are_filtered(busy: Felt, operator: Client) -> None:
    """Harm: an auditor has to read every slip of a year to find the open ones."""
    for model, query, rows in (
        ("slip", "series=rack", 1), ("slip", "series=fill", 0), ("slipsignature", "series=fill", 0),
        ("discrepancy", "state=closed", 1), ("discrepancy", "state=open", 0), ("run", "task=hourly", 1),
    ):  # fmt: skip
        page = operator.get(f"{page_of(model, 'changelist')}?{query}")
        assert len(page.context["cl"].result_list) == rows, query


def acknowledged(client: Client) -> list[tuple[str, str]]:
    (alert,) = open_alerts()
    chosen = {"action": "acknowledge_alerts", "_selected_action": [alert.pk], "note": "seen"}
    client.post(page_of("alert", "changelist"), chosen)
    return list(Acknowledgement.objects.values_list("by", "note"))


def test_an_alert_is_acknowledged_in_ones_own_name(busy: Felt, operator: Client) -> None:
    """Harm prevented: an acknowledgement in somebody else's name."""
    assert acknowledged(operator) == [("operator Eve Operator", "seen")]
    assert not open_alerts().exists()
    assert "operator Eve Operator" in operator.get(page_of("alert", "changelist") + "?state=acknowledged").text
    assert "operator Eve Operator" not in operator.get(page_of("alert", "changelist") + "?state=open").text


def test_an_auditor_acknowledges_nothing(busy: Felt) -> None:
    """Harm prevented: whoever only reads makes an alert disappear."""
    assert acknowledged(signed_in(Role.AUDITOR)) == []
