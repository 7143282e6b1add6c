"""The description of the API is what is done: forms, examples, refusals, and the files that follow from it."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.test import Client
from django.utils import timezone
from drf_spectacular.validation import validate_schema

from casino import api_files
from casino.ops import metrics
from tables.api import examples, problems
from tables.api.operations import OPERATIONS
from tables.api.signing import Signed
from tables.log.scopes import SCOPES, Scope
from tables.setup import service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import load
from tests.api.conftest import Floor, note_case
from tests.api.walk import walk


@pytest.fixture
def described(house: Floor) -> dict[str, Any]:
    answer = house.as_(house.auditor).get("schema/")
    document: dict[str, Any] = json.loads(answer.content)
    return document


def operations(described: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: operation
        for methods in described["paths"].values()
        for operation in methods.values()
        if isinstance(operation, dict)
    }


WRITE = "API_EXAMPLES=write ./run test tests/api/test_description.py, then .venv/bin/python -m casino.api_files"
"""Writes the examples again, and the files that contain them."""


def check(described: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    """Hold a value against a schema of the description."""
    jsonschema.Draft202012Validator(described | schema).validate(value)


@pytest.mark.slow("checks the whole description of the API")
@pytest.mark.django_db
def test_it_is_openapi_3_1_and_tells_every_operation(described: dict[str, Any]) -> None:
    """Harm: no generator reads it, or whoever writes a client reads our code instead."""
    validate_schema(described)
    assert described["openapi"].startswith("3.1")
    assert set(operations(described)) == set(OPERATIONS)
    for method in ("get", "post"):
        addresses = [path for path, methods in described["paths"].items() if method in methods]
        assert addresses, method


def token_of(house: Floor, scope: Scope) -> str:
    """The token of an API client with one scope."""
    access = Access(
        purpose="Is tried at every operation",
        scopes=(scope.name,),
        tables=(house.table.name,) if scope.enters else (),
        expires=timezone.now() + timedelta(days=1),
    )
    account = service_accounts.set_account(scope.name.replace(":", " "), access, by=house.operator)
    return service_tokens.make(account, by=house.operator)


def refusal_of(client: Client, method: str, address: str) -> tuple[int, str] | None:
    """How the permission check refuses a request; None where the request passes it."""
    answer: Any = client.generic(method.upper(), address, "{}", content_type="application/json")
    if answer.streaming:
        load.whole(answer)  # and so no longer under way
    return (answer.status_code, answer.json()["code"]) if answer.status_code in (401, 403) else None


@pytest.mark.slow("calls each operation with each scope")
@pytest.mark.django_db
def test_each_operation_accepts_what_its_security_says(house: Floor, described: dict[str, Any]) -> None:
    """Harm: the description offers a token where every token is refused, so an integrator builds and buys what cannot
    work."""
    tokens = {name: token_of(house, scope) for name, scope in SCOPES.items()}
    clients = {name: Client(headers={"Authorization": f"Bearer {token}"}) for name, token in tokens.items()}
    person, stranger = house.as_(house.boss.by).client, Client()
    values = {"id": house.table.pk, "number": 1, "year": 2026, "series": "fill", "day": "2026-01-31"}
    for path, methods in described["paths"].items():
        address = path.format(**values)
        for method, operation in methods.items():
            ways = {name: needed for way in operation["security"] for name, needed in way.items()}
            with note_case(operation["operationId"]):
                assert refusal_of(stranger, method, address) == (401, "not_authenticated")
                if "session" not in ways:
                    assert refusal_of(person, method, address) == (403, "not_permitted")
                for scope, client in clients.items():
                    due = "not_for_programs" if "token" not in ways else "no_scope"
                    accepted = scope in ways.get("token", ())
                    assert refusal_of(client, method, address) == (None if accepted else (403, due)), scope


@pytest.mark.django_db
def test_every_scope_on_offer_opens_something(described: dict[str, Any]) -> None:
    """Harm: an operator grants a scope, and every request that needs it is still refused."""
    ways = [way for operation in operations(described).values() for way in operation["security"]]
    assert {scope for way in ways for scope in way.get("token", ())} | {metrics.SCOPE} == set(SCOPES)


@pytest.mark.django_db
def test_an_operation_with_a_pin_lists_the_terminal(described: dict[str, Any]) -> None:
    """Harm: an integrator builds a form for badge and PIN that no browser but an enrolled terminal can send."""
    for name, operation in operations(described).items():
        needs_terminal = any("terminal" in way for way in operation["security"])
        body = OPERATIONS[name].body
        assert needs_terminal is (body is not None and issubclass(body, Signed)), name


@pytest.mark.django_db
def test_an_input_is_described_by_its_kind_and_what_no_program_sends_is_not(described: dict[str, Any]) -> None:
    """Harm: a program is told of inputs that only a terminal or a signature brings."""
    inputs = described["components"]["schemas"]["Entered"]["properties"]["input"]
    assert "bet" in inputs["discriminator"]["mapping"]
    assert "sign_in" not in inputs["discriminator"]["mapping"]


@pytest.mark.django_db
def test_every_example_fits_what_is_described(described: dict[str, Any]) -> None:
    """Harm: the first thing that somebody copies is refused."""
    for name, operation in operations(described).items():
        example, status = examples.of(name), str(OPERATIONS[name].status)
        assert example["answer"] is not None or OPERATIONS[name].answers is bytes, f"{name} has no example: {WRITE}"
        for media in operation["responses"][status]["content"].values():
            if "example" in media:
                with note_case(f"{name}: {WRITE}"):
                    check(described, media["schema"], example["answer"])
        for media in operation.get("requestBody", {"content": {}})["content"].values():
            check(described, media["schema"], example["body"])
    for response in described["components"]["responses"].values():
        [media] = response["content"].values()
        check(described, media["schema"], media["example"])


@pytest.mark.slow("checks the whole description of the API")
@pytest.mark.django_db
def test_every_operation_answers_as_it_is_described(
    house: Floor, described: dict[str, Any], settings: Any, tmp_path: Path
) -> None:
    """Harm: the description drifts away from what is sent. ``API_EXAMPLES=write`` keeps what was sent as examples."""
    settings.AUDIT_FOLDER = str(tmp_path)
    calls = walk(house)
    if os.environ.get("API_EXAMPLES") == "write":
        examples.FILE.write_text(json.dumps(calls, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    files = {name for name, declared in OPERATIONS.items() if declared.answers is bytes}
    assert set(OPERATIONS) - files - set(calls) == set(), "call these in tests/api/walk.py"
    assert set(calls) == set(OPERATIONS) - files
    for name, call in calls.items():
        responses = operations(described)[name]["responses"]
        [media] = responses[str(OPERATIONS[name].status)]["content"].values()
        check(described, media["schema"], call["answer"])


@pytest.mark.slow("checks the whole description of the API")
@pytest.mark.django_db
def test_every_refusal_leads_to_a_page_that_anybody_may_read(house: Floor) -> None:
    """Harm: the type of a problem leads nowhere, so whoever meets it has to ask the house what it means."""
    caller = house.as_(None)
    for code, statuses in problems.statuses().items():
        page = caller.client.get(problems.page_of(code), headers={"accept": "text/html"})
        assert page.status_code == 200, code
        assert page["Content-Type"].startswith("text/html")
        assert all(problems.ADVICE[status][:20] in page.content.decode() for status in statuses), code
    assert caller.client.get("/api/problems/never_heard_of/").status_code == 404


@pytest.mark.slow("checks the whole description of the API")
def test_no_file_that_follows_from_the_code_is_out_of_date() -> None:
    """Harm: a code without a page, or a client that knows an operation no more. `python -m casino.api_files`."""
    for path, text in api_files.files().items():
        assert path.read_text() == text, f"{path.name} is out of date: .venv/bin/python -m casino.api_files"
