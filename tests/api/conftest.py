"""Callers of the API, each signed in as somebody, and a count of what the house has written."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from tables.models import Staff, Table
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.floor import Hand
from tests.ready import ready_made

WRITTEN = (
    "ledger_logentry",
    "ledger_transfer",
    "ledger_account",
    "ledger_recount",
    "ledger_alert",
    "ledger_acknowledgement",
    "ledger_book",
    "tables_houseshoe",
    "tables_table",
    "tables_staff",
)


@dataclass
class Caller:
    """A client of the API with somebody's session."""

    client: Client
    table: Table

    def get(self, path: str = "", **headers: str) -> Any:
        return self.client.get(f"/api/{path}", headers=headers)

    def send(self, body: bytes | str, content_type: str = "application/json", table: int | None = None) -> Any:
        """A body as it is."""
        path = f"/api/tables/{table or self.table.pk}/inputs/"
        return self.client.post(path, body, content_type=content_type)

    def enter(self, do: str, key: uuid.UUID | None = None, seq: int | None = None, **facts: Any) -> Any:
        """An input, on the newest sequence number unless another one is given."""
        newest = table_state.of(self.table).seq
        body = {"key": str(key or uuid.uuid4()), "expected_seq": newest if seq is None else seq}
        return self.send(json.dumps(body | {"input": {"do": do} | facts}))


def caller(table: Table, staff: Staff | None, **options: Any) -> Caller:
    return Caller(floor.client(staff, **options) if staff else Client(**options), table)


@dataclass
class Floor:
    """A table with its dealer and pit boss, an operator and an auditor, and another table with its dealer."""

    dealer: Hand
    boss: Hand
    table: Table
    neighbour: Table
    operator: Staff
    auditor: Staff
    idle: Staff
    """A dealer who is signed in at no table."""

    def as_(self, staff: Staff | None, **options: Any) -> Caller:
        return caller(self.table, staff, **options)


@pytest.fixture
@ready_made
def house(db: None) -> Floor:
    """Bets are open at a table of one deck, 10 to 100."""
    dealer, boss = floor.dealt()
    second_table = floor.table("Rocket 2")
    operator, auditor = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.AUDITOR, "anna")
    idle = floor.staff(Role.DEALER, "ida", "102")
    return Floor(dealer, boss, dealer.table, neighbour=second_table, operator=operator, auditor=auditor, idle=idle)


@pytest.fixture
def dealer(house: Floor) -> Caller:
    return house.as_(house.dealer.by)


def rows_and_heads() -> dict[str, Any]:
    """How many rows every table of the house has, and where every log ends."""
    with connection.cursor() as cursor:
        counts: dict[str, Any] = {}
        for name in WRITTEN:
            cursor.execute(f"SELECT count(*) FROM {name}")
            counts[name] = cursor.fetchone()[0]
        cursor.execute("SELECT id, head_seq, head_hash FROM ledger_book ORDER BY id")
        return counts | {"heads": [(book, seq, bytes(digest or b"")) for book, seq, digest in cursor.fetchall()]}


@contextmanager
def nothing_written() -> Iterator[None]:
    before = rows_and_heads()
    yield
    assert rows_and_heads() == before


@contextmanager
def note_case(case: str) -> Iterator[None]:
    """Add the name of a case to what fails in it."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the case: {case}")
        raise


def problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    """An answer that must be a refusal in the API's one form."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["code"] == code, body
    assert (body["status"], body["type"]) == (status, f"/api/problems/{code}/")
    assert body["title"]
    assert body["instance"].startswith("/api/")
    assert body["detail"]
    assert body["detail"][-1] in ".!?"
    assert "Traceback" not in body["detail"]
    return body
