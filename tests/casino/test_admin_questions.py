"""What the lists of the admin may be asked: nobody finds a secret by the length, order or wording of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.db.models import Field, Model
from django.http import HttpRequest, QueryDict
from django.test import Client, RequestFactory
from django.urls import reverse

from ledger.admin_lists import ClosedList
from ledger.models import LogEntry
from tables.models import HouseShoe, SeatPage, Staff, Terminal
from tables.roles import Role
from tables.staff import terminals
from tests import floor
from tests.tiers import sampled

pytestmark = pytest.mark.slow("sets up a house for each test")

SECRETS = {
    "tables.Staff.password", "tables.Staff.pin",
    "tables.OneTimeCode.secret", "tables.SecretVersion.secret", "tables.AlertChannel.secret",
    "tables.AlertChannel.former_secret",
    "tables.Terminal.token_digest", "tables.SeatPage.token_digest", "tables.EmergencyCode.digest",
    "tables.HouseShoe.order", "tables.HouseShoe.nonce",
    "ledger.LogEntry.body",
    "office.Pin.secret", "office.Day.digest",
    "sessions.Session.session_key", "sessions.Session.session_data",
}  # fmt: skip
"""Columns that nobody reads in the admin. An entry's body has its own page, veiled while a game is open."""
SOUNDS_SECRET = re.compile(r"pin(?!g|_made_at)|passw(?!ord_made_at)|secret|token|nonce|session_|^digest")
LOOKUPS = ("", "__exact", "__regex", "__startswith", "__gt", "__isnull", "__in")
ADMINS = sorted(admin.site._registry.items(), key=lambda pair: pair[0]._meta.label)
MAY_OPEN = (Role.OPERATOR, Role.AUDITOR)


def test_every_column_that_sounds_secret_is_declared() -> None:
    """A new secret has to be named here, or the walk below would not look for it."""
    labels = {f"{model._meta.label}.{field.name}" for model in apps.get_models() for field in model._meta.fields}
    assert {label for label in labels if SOUNDS_SECRET.search(label.split(".")[-1])} - SECRETS == set()
    assert labels >= SECRETS


def test_every_list_is_closed() -> None:
    """Django's own kind of list answers whatever it is asked."""
    assert [model._meta.label for model, shown in ADMINS if not isinstance(shown, ClosedList)] == []


def paths(model: type[Model], depth: int, before: str = "") -> Iterator[tuple[str, str]]:
    """Every column that can be named from a model by so many steps along relations, and its own label."""
    for field in model._meta.get_fields():
        name = before + field.name
        if isinstance(field, Field):
            yield name, f"{field.model._meta.label}.{field.name}"
        if field.is_relation and field.related_model is not None and depth:
            yield from paths(field.related_model, depth - 1, f"{name}__")


@pytest.mark.parametrize(("model", "shown"), ADMINS, ids=[model._meta.label for model, _ in ADMINS])
def test_a_list_admits_its_own_filters_only(model: type[Model], shown: ClosedList, rf: RequestFactory) -> None:
    """The walk: every column within three steps, by every lookup."""
    request = rf.get("/")
    columns = dict(paths(model, 3))
    admitted = {
        path + lookup: label
        for path, label in columns.items()
        for lookup in LOOKUPS
        if shown.lookup_allowed(path + lookup, "x", request)
    }
    assert set(admitted.values()) & SECRETS == set()
    declared = (getattr(name, "parameter_name", name) for name in (*shown.get_list_filter(request), *shown.lookups))
    filtered = {name.split("__")[0] for name in declared}
    assert {path.split("__")[0] for path in admitted} <= filtered
    chosen_by = [field.name for field in model._meta.fields if shown.to_field_allowed(request, field.name)]
    assert chosen_by == [model._meta.pk.name]


# --- As those who may open the admin ------------------------------------------------------------------------------


@pytest.fixture
def clients(db: None) -> dict[Role, Client]:
    """Clients of every role that may open the admin and of a dealer, with two rows of every model that has a secret."""
    dealer, _ = floor.dealt()
    clients = {}
    for number, role in enumerate((*MAY_OPEN, Role.DEALER)):
        somebody = floor.staff(role, f"a.{role}", str(900 + number))
        clients[role] = Client(raise_request_exception=False)
        clients[role].force_login(somebody, backend="django.contrib.auth.backends.ModelBackend")
    operator = Staff.objects.get(username="a.operator")
    for number in (1, 2):
        terminals.enrol(f"Tablet {number}", dealer.table, by=operator)
        SeatPage.objects.create(table=dealer.table, seat=number, token_digest=str(number) * 64)
        HouseShoe.objects.create(table=dealer.table, commitment=str(number) * 64, order=b"\1\2", nonce=bytes([number]))
    return clients


def page_of(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist")


def test_no_list_is_filtered_by_a_secret(clients: dict[Role, Client]) -> None:
    """Harm: a filter reveals the hash of a PIN letter by letter, through the length of a list."""
    secrets = {model: [path for path, label in paths(model, 2) if label in SECRETS] for model, _ in ADMINS}
    addresses = [
        f"{page_of(model)}?{urlencode({min(columns, key=len) + '__regex': '0'})}"
        for model, columns in secrets.items()
        if columns
    ]
    assert len(addresses) > 10
    assert {clients[Role.AUDITOR].get(address).status_code for address in addresses} == {400}


def test_the_auditor_reads_no_pin_by_its_hash(clients: dict[Role, Client]) -> None:
    """As it was done: right and wrong guesses get the same answer."""
    url = page_of(Staff)
    begins = re.escape(Staff.objects.get(username="a.dealer").pin[:9])
    for guess in (begins, "nonsense"):
        for column in ("pin__regex", "password__regex", "practices__dealer__pin__regex"):
            answer = clients[Role.AUDITOR].get(url, {"username": "a.dealer", column: f"^{guess}"})
            assert (answer.status_code, answer.content.count(b"a.dealer")) == (400, 0)
    assert clients[Role.AUDITOR].get(page_of(LogEntry), {"book__table__houseshoe__nonce__gt": "0"}).status_code == 400


QUESTIONS = (
    *(f"o={number}" for number in range(1, 12)),
    "o=-1", "o=pin", "o=-pin", "o=1.-2.3", "_facets=True", "all=1", "e=1", "p=2", "_popup=1", "_popup=1&_to_field=id",
    "_to_field=pin", "_to_field=token_digest", "_to_field=username", "q=argon2", "q=pin", "q=000", "q=a.dealer",
    "_changelist_filters=pin%3D1", "at__year=2026", "at__week_day=1",
)  # fmt: skip
PAGES = (
    "/admin/", "/admin/tables/", "/admin/search/?s=pin", "/admin/search/?s=argon2&extended=1",
    "/admin/tables/staff/?_facets=True&o=3", "/admin/tables/terminal/?_popup=1&o=-4",
    *(
        f"/admin/autocomplete/?app_label=tables&model_name={model}&field_name={field}&term={term}"
        for model, field in (("terminal", "enrolled_by"), ("practice", "dealer"), ("certificate", "signed_by"))
        for term in ("1", "argon2", "dealer")
    ),
)  # fmt: skip
CHANGING = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"|csrf\w*[":= ]+\w{32,}|in \d+\.\d\d seconds')


def answer(shown: ClosedList, request: HttpRequest) -> object:
    """What a list is drawn from: its rows in their order, and the counts at its filters."""
    try:
        asked = shown.get_changelist_instance(request)
    except (SuspiciousOperation, IncorrectLookupParameters) as refused:
        return repr(refused)
    counts = [list(spec.choices(asked)) for spec in asked.filter_specs]
    return [row.pk for row in asked.result_list], asked.result_count, counts


def answers(client: Client, by: Staff, rf: RequestFactory) -> dict[str, object]:
    """Whatever the admin says, question by question."""
    said: dict[str, object] = {}
    for model, shown in ADMINS:
        for question in QUESTIONS:
            request = rf.get("/", query_params=QueryDict(question))
            request.user = by
            said[f"{model._meta.label}?{question}"] = answer(shown, request)
    rows = [
        reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_change", args=[row.pk]) + chosen
        for model in (Staff, Terminal)
        for row in model.objects.all()[:2]
        for chosen in ("", "?_to_field=pin")
    ]
    for path in (*rows, *PAGES):
        page = client.get(path)
        said[path] = page.status_code, CHANGING.sub(b"", page.content)
    return said


@pytest.mark.parametrize("role", sampled(MAY_OPEN, "asks every list every question"))
def test_nothing_that_the_admin_says_depends_on_a_secret(
    clients: dict[Role, Client], role: Role, rf: RequestFactory
) -> None:
    """Two houses that differ in their secrets alone look the same, in whatever order they are listed."""
    by = Staff.objects.get(username=f"a.{role}")
    before = answers(clients[role], by, rf)
    others = list(Staff.objects.exclude(pk=by.pk))
    for number, somebody in enumerate(others):
        Staff.objects.filter(pk=somebody.pk).update(pin=f"{number:03}", password=f"{len(others) - number:03}")
    for number, terminal in enumerate(Terminal.objects.order_by("-pk")):
        Terminal.objects.filter(pk=terminal.pk).update(token_digest=f"{number:064}")
    after = answers(clients[role], by, rf)
    assert [asked for asked in before if before[asked] != after[asked]] == []
