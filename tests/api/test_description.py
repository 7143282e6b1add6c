"""The description of the API is what is done: forms, examples, refusals, and the files that follow from it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from drf_spectacular.validation import validate_schema

from casino import api_files
from tables.api import examples, problems
from tables.api.operations import OPERATIONS
from tests.api.conftest import Floor
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
        for media in operation["responses"][status]["content"].values():
            if "example" in media:
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
        assert path.read_text() == text, path
