"""The API held against its own description by schemathesis: whatever fits it, and whatever does not, as several people.

``TEST_PACE=thorough`` sends many more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
import requests
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from tables.feed import long_polling
from tables.models import Staff
from tests import floor, load
from tests.api.conftest import Floor
from tests.api.walk import walk
from tests.pace import percent

load_all_checks()
HELD = [
    CHECKS.get_one(name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "negative_data_rejection",
    )
]
REJECTED = CHECKS.get_one("negative_data_rejection")
KNOWN = {"id": 1, "number": 1, "year": 2026, "series": "fill", "slip": "fill-2026-1", "dispute": "1-1"}
"""What is there after the walk: half of the requests are about it."""


def spelled(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def response_to(client: Client, case: Any) -> schemathesis.Response:
    """A case sent through Django's own client, in the test's transaction; its answer as schemathesis reads it."""
    request: Mapping[str, Any] = case.as_transport_kwargs(base_url="http://testserver")
    prepared = requests.Request(
        method=request["method"],
        url=request["url"],
        params=request.get("params"),
        headers=request.get("headers"),
        json=request.get("json"),
        data=request.get("data"),
    ).prepare()
    address = str(prepared.url).removeprefix("http://testserver")
    headers = {name: spelled(value) for name, value in prepared.headers.items() if name.lower() == "idempotency-key"}
    body = prepared.body or b""
    answer = client.generic(
        str(prepared.method),
        address,
        body if isinstance(body, bytes) else body.encode(),
        content_type=prepared.headers.get("Content-Type", "application/json"),
        headers=headers,
    )
    return schemathesis.Response(
        status_code=answer.status_code,
        headers={name.lower(): [value] for name, value in answer.items()},
        content=load.whole(answer) if answer.streaming else answer.content,
        request=prepared,
        elapsed=timedelta().total_seconds(),
        verify=False,
    )


@pytest.fixture
def people(house: Floor, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Staff]:
    """A house in which every operation was done once, and who asks."""
    settings.AUDIT_FOLDER = str(tmp_path)
    settings.API_REQUESTS_A_MINUTE = 10**9
    monkeypatch.setattr(long_polling, "AT_ONCE", 0)  # nobody waits for what cannot happen here
    walk(house)
    return {
        "dealer": house.dealer.by,
        "pit boss": house.boss.by,
        "operator": house.operator,
        "auditor": house.auditor,
    }


@pytest.mark.trial(
    "sends generated requests to every operation",
    covered_by="tests/api/test_description.py::test_every_operation_answers_as_it_is_described",
)
@pytest.mark.django_db
@pytest.mark.parametrize("version", ["", "v1/"])
@pytest.mark.parametrize("name", ["dealer", "pit boss", "operator", "auditor"])
def test_nothing_that_is_sent_is_answered_otherwise_than_described(
    people: dict[str, Staff], house: Floor, name: str, version: str
) -> None:
    """Harm: a client that goes by the description meets a status, a form or a failure that it was not told of; or what
    the description forbids is taken."""
    described = schemathesis.openapi.from_dict(json.loads(house.as_(house.auditor).get(f"{version}schema/").content))
    # The session is the client's own; test_description.py holds security against what each token opens.
    described.config.generation.update(with_security_parameters=False)
    client = floor.client(people[name], raise_request_exception=False)
    faults: list[str] = []
    for result in described.get_all_operations():
        operation = result.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @seed(1)
            @settings(
                max_examples=percent(2),
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode), of_the_walk=st.booleans())
            def hold(case: Any, of_the_walk: bool) -> None:
                if of_the_walk and case.path_parameters and case.meta.generation.mode == GenerationMode.POSITIVE:
                    case.path_parameters.update({name: KNOWN[name] for name in case.path_parameters if name in KNOWN})
                answer = response_to(client, case)
                # A text that is too long for its field may be too long for any body: that is refused as well.
                checks = [check for check in HELD if check is not REJECTED or answer.status_code != 413]
                case.validate_response(answer, checks=checks)

            try:
                hold()
            except Unsatisfiable:  # without a parameter or a body there is nothing to violate
                assert mode == GenerationMode.NEGATIVE, operation.label
                assert not [*operation.iter_parameters(), *operation.body], operation.label
            except AssertionError as fault:
                faults.append(f"{operation.label} ({mode.value}): {fault}")
            except BaseExceptionGroup as group:
                faults += [f"{operation.label} ({mode.value}): {fault}" for fault in group.exceptions]
    assert not faults, "\n\n".join(faults)
