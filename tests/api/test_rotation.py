"""The rotation over the API: pushes and their corrections, once for each key."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from tables.models import LineUp, Staff
from tables.roles import Role
from tables.rotation import line_ups
from tables.rotation.line_ups import Basis, LineUpChange
from tests import floor

PUSHES = "/api/v1/rotation/pushes/"
TAKE_BACK = "/api/v1/rotation/pushes/take-back/"


@pytest.fixture
def boss(db: None) -> Client:
    """Rocket 1 in string A, where Dora deals and Dan is on a break. Bella's client."""
    floor.dealt()
    floor.staff(Role.DEALER, "dan", "102")
    moment = timezone.now()
    change = LineUpChange(
        string="A", tables=("Rocket 1",), dealers=("dora", "dan"), turn_minutes=20,
        push_at=moment, ends=moment + timedelta(hours=8),
    )  # fmt: skip
    bella = Staff.objects.get(username="bella")
    line_ups.set_line_up(change, by=bella, basis=Basis(0))
    return floor.client(bella)


def seen() -> dict[str, Any]:
    """A body that rests on the line-up in force."""
    current = line_ups.of_string("A")
    return {"key": str(uuid4()), "string": "A", "entry": current.row.seq, "push_at": current.push_at_spelled}


def send(client: Client, address: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    answer = client.post(address, json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def test_a_push_is_taken_back_once_for_each_key(boss: Client) -> None:
    """Harm: a client repeats a request whose answer was lost, and is refused although its push was taken back."""
    assert send(boss, PUSHES, seen())[1]["dealers"] == ["dan", "dora"]
    body = seen()
    status, answer = send(boss, TAKE_BACK, body)
    assert (status, answer["dealers"]) == (200, ["dora", "dan"])
    assert send(boss, TAKE_BACK, body) == (status, answer)
    status, answer = send(boss, TAKE_BACK, seen())
    assert (status, answer["code"]) == (409, "not_taken_back")
    assert LineUp.objects.count() == 3


def test_a_push_over_the_api_examines_certificates(boss: Client, terms: Callable[..., None]) -> None:
    """Harm: a push that the page refuses goes through over the API, and a dealer is sent to a table that refuses the
    tap."""
    terms(certificate_games=("rocket",))
    status, answer = send(boss, PUSHES, seen())
    assert (status, answer["code"]) == (409, "not_certified")
    status, answer = send(boss, PUSHES, seen() | {"without": ["dan"]})
    assert (status, answer["dealers"]) == (200, ["", "dora"])
