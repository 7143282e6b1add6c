"""What `/api/v1/` does otherwise than its alias `/api/`."""

from __future__ import annotations

import json
import re
import uuid
from base64 import b64decode
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import resolve
from django.utils import timezone
from drf_spectacular.validation import validate_schema

from casino.web.connection_pools import of_route
from ledger.connection_pools import Lane
from tables.api import schema
from tables.api.operations import OPERATIONS
from tables.api.versions import ADDED, ONLY_V1, RENAMED, V1
from tables.log.slip_types import SLIPS
from tables.models import Staff
from tables.roles import Role
from tables.setup import policies, service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import floor
from tests.api.conftest import Floor

pytestmark = pytest.mark.django_db


def send(by: Staff | Client, path: str, root: str = "/api/v1/", key: uuid.UUID | None = None, **body: Any) -> Any:
    """Send a write from the signatory's own terminal, or as an API client."""
    client = by if isinstance(by, Client) else floor.client(by)
    headers = {"Idempotency-Key": str(key or uuid.uuid4())}
    return client.post(f"{root}{path}", json.dumps(body), content_type="application/json", headers=headers)


def fill(house: Floor, root: str = "/api/v1/", chips: int = 2) -> Any:
    boss = Staff.objects.filter(badge="202").first() or floor.staff(Role.PIT_BOSS, "bruno", "202")
    facts = {"table": house.table.pk, "series": "fill", "chips": [[10_000, chips]]}
    return send(boss, "slips/", root, **facts, badge=boss.badge, pin=floor.PIN)


def dispute(house: Floor) -> Any:
    claim = {"round": 1, "seat": 1, "claim": "Had not folded", "claimant": "The player at seat 1"}
    return send(house.boss.by, f"tables/{house.table.pk}/disputes/", **claim)


def play(house: Floor) -> None:
    house.dealer.bets(seat1=2_000)
    house.dealer.cards(8, 10, 8)
    house.dealer.pay()


# --- What is created -----------------------------------------------------------------------------------------------


def test_what_is_created_is_answered_201_with_its_address(house: Floor) -> None:
    """Harm: a client cannot distinguish a new slip from an old one, or has to assemble its address from parts."""
    play(house)
    boss, pk = house.boss.by, house.table.pk
    version = house.as_(boss).get(f"v1/tables/{pk}/settings/").json()["version"]
    proposed = {"expected": version, "changes": {"max_cents": 20_000}, "comment": "A guest asks for more"}
    handed = {"round": 1, "seat": 1, "handed_cents": 400, "reason": "Paid as a pair, and it was none"}
    answers = [
        fill(house),
        dispute(house),
        send(boss, f"tables/{pk}/corrections/", **handed),
        send(boss, f"tables/{pk}/proposals/", **proposed),
    ]
    for answer in answers:
        assert answer.status_code == 201, answer.content
        assert answer["Location"].startswith("/api/v1/")
        assert floor.client(boss).get(answer["Location"]).json() == answer.json()
    schedule, values = {"when": "always"}, {"min_cents": 2_000}
    plan = {"expected_version": 0, "name": "Late nights", "scope": "house", "schedule": schedule, "values": values}
    answer = send(house.operator, "limit-plans/", **plan)
    assert (answer.status_code, answer["Location"]) == (201, "/api/v1/limit-plans/?name=Late+nights")
    assert floor.client(boss).get(answer["Location"]).json()["items"] == [answer.json()]


def test_what_was_begun_is_answered_202_with_its_address(house: Floor, settings: Any, tmp_path: Any) -> None:
    """Harm: a client that started an export cannot find out when it is ready."""
    settings.AUDIT_FOLDER = str(tmp_path)
    answer = send(house.auditor, "exports/", deed="keys")
    assert (answer.status_code, answer["Location"]) == (202, f"/api/v1/exports/{answer.json()['id']}/")


def test_the_alias_answers_200_without_an_address(house: Floor) -> None:
    """Harm: a client of the alias accepts 200 alone, and takes a slip that was begun for a failure."""
    answer = fill(house, "/api/")
    assert answer.status_code == 200
    assert "Location" not in answer
    assert "id" not in answer.json()


def test_a_write_that_is_repeated_in_the_other_version_is_done_once(house: Floor) -> None:
    """Harm: a client is upgraded between a write and its repetition, and the change is proposed twice."""
    boss, pk, key = house.boss.by, house.table.pk, uuid.uuid4()
    version = house.as_(boss).get(f"tables/{pk}/settings/").json()["version"]
    facts = {"expected": version, "changes": {"max_cents": 20_000}, "comment": "A guest asks for more"}
    numbers = [
        send(boss, f"tables/{pk}/proposals/", root, key, **facts).json()["number"]
        for root in ("/api/", "/api/v1/", "/api/")
    ]
    assert numbers == [1, 1, 1]


# --- Ids -----------------------------------------------------------------------------------------------------------


def test_a_slip_and_a_dispute_have_one_id_that_is_their_address(house: Floor) -> None:
    """Harm: an integrator keeps three columns for one slip, and joins disputes on two."""
    play(house)
    boss = house.boss.by
    slip, case = fill(house).json(), dispute(house).json()
    assert (slip["id"], case["id"]) == (slip["name"].replace("/", "-"), f"{house.table.pk}-1")
    caller = house.as_(boss)
    assert caller.get(f"v1/slips/{slip['id']}/").json() == slip
    assert caller.get("v1/slips/").json()["items"][0] == slip
    assert caller.get("v1/disputes/").json()["items"][0]["id"] == case["id"]
    noted = send(boss, f"disputes/{case['id']}/notes/", heard="Dora", text="He said nothing before the card")
    assert [word["heard"] for word in noted.json()["words"]][-1] == "Dora"
    cashier = floor.staff(Role.CASHIER, "carl", "404")
    signed = send(cashier, f"slips/{slip['id']}/signatures/", stage="issued", badge=cashier.badge, pin=floor.PIN)
    assert signed.json()["due"] == "carried"
    for path in ("slips/fill-2026-999/", "slips/fill-2026/", "disputes/1-999/", f"disputes/{10**30}-1/"):
        assert caller.get(f"v1/{path}").status_code == 404, path


def test_the_id_of_a_slip_has_one_spelling() -> None:
    """Harm: a kind of slip has a name with a hyphen, and its slips have no address in v1."""
    assert all(re.fullmatch("[a-z]{1,16}", name) for name in SLIPS)


# --- Times ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(schema.document(V1)))
    return document


def test_every_time_of_an_answer_has_a_name_that_ends_in_at(described: dict[str, Any]) -> None:
    """Harm: a client recognises times by their names, and takes one for a text."""
    forms = described["components"]["schemas"]
    times = re.compile("at|since|until|began|ended|start|end|effective|expires|happened")
    # Events have their own version: their data are the same by cursor and by webhook.
    events = {ref["$ref"].rpartition("/")[2] for ref in forms["Envelope"]["properties"]["data"]["anyOf"]}
    faults = [f"{name}.{field}" for name in forms.keys() - events for field in forms[name].get("properties", {})]
    assert [fault for fault in faults if times.fullmatch(fault.partition(".")[2])] == []
    assert forms["RoundSummary"]["properties"]["began_at"]["anyOf"][0] == {"type": "string", "format": "date-time"}


def test_each_difference_between_the_versions_is_about_a_form_that_exists(described: dict[str, Any]) -> None:
    """Harm: a form is renamed, and a difference of v1 that names it is silently lost."""
    queries = {declared.query.__name__ for declared in OPERATIONS.values()}
    assert RENAMED.keys() | ADDED.keys() <= described["components"]["schemas"].keys()
    assert ONLY_V1.keys() <= queries


def test_times_are_sent_and_answered_by_their_new_names(house: Floor) -> None:
    """Harm: a plan is sent with the time from which it is valid, which is ignored: it is valid at once."""
    moment = (timezone.now() + timedelta(days=1)).isoformat()
    plan = {"name": "Late", "scope": "house", "schedule": {"when": "always"}, "values": {"min_cents": 2_000}}
    answer = send(house.operator, "limit-plans/", expected_version=0, **plan, effective_at=moment)
    assert answer.json()["effective_at"][:19] == moment[:19]
    assert "effective" not in answer.json()
    refused = send(house.operator, "limit-plans/", expected_version=1, **plan, effective=moment)
    assert refused.json()["errors"] == [
        {"pointer": "/effective", "detail": "Object contains unknown field `effective`."}
    ]


def numbers(house: Floor, query: str) -> list[int]:
    answer = house.as_(house.boss.by).get(f"v1/tables/{house.table.pk}/rounds/?{query}")
    assert answer.status_code == 200, answer.content
    return [line["number"] for line in answer.json()["items"]]


def test_rounds_and_slips_are_listed_by_time(house: Floor) -> None:
    """Harm: a nightly import reads each round since the site opened, or misses one that began on the hour."""
    for _ in range(3):
        play(house)
    lines = house.as_(house.boss.by).get(f"v1/tables/{house.table.pk}/rounds/").json()["items"]
    second = lines[1]["began_at"].replace("+00:00", "Z")
    assert numbers(house, f"since={second}") == [3, 2]
    assert numbers(house, f"until={second}") == [1]
    assert numbers(house, f"since={second}&until={lines[0]['began_at']}&limit=1") == [2]
    assert numbers(house, "since=2999-01-01T00:00:00Z") == numbers(house, "until=2001-01-01T00:00:00Z") == []
    slips = [fill(house).json() for _ in range(2)]
    first, later = (slip["steps"][0]["signed_at"] for slip in slips)
    for state in ("all", "waiting"):
        for query, names in ((f"since={later}", slips[1:]), (f"since={first}&until={later}", slips[:1])):
            answer = house.as_(house.boss.by).get(f"v1/slips/?state={state}&{query}").json()
            assert [line["id"] for line in answer["items"]] == [slip["id"] for slip in names], (state, query)


def test_a_page_of_a_span_leads_on_within_it(house: Floor) -> None:
    """Harm: the second page of a span has the rounds of the time before it."""
    for _ in range(4):
        play(house)
    caller, address = house.as_(house.boss.by), f"v1/tables/{house.table.pk}/rounds/"
    since = caller.get(address).json()["items"][2]["began_at"]
    query, numbers = f"since={since}&limit=1", list[int]()
    cursor: str | None = ""
    while cursor is not None:
        page = caller.get(f"{address}?{query}&cursor={cursor}").json()
        numbers += [line["number"] for line in page["items"]]
        cursor = page["next"]
    assert numbers == [4, 3, 2]


def test_the_alias_takes_no_filter_by_time(house: Floor) -> None:
    """Harm: the alias is not what it was, and its description does not say so."""
    caller = house.as_(house.boss.by)
    for path in (f"tables/{house.table.pk}/rounds/", "slips/"):
        assert caller.get(f"{path}?since=2026-01-01T00:00:00Z").status_code == 400


# --- Problems ------------------------------------------------------------------------------------------------------


def test_a_problem_has_an_absolute_type_and_names_each_field(house: Floor, settings: Any) -> None:
    """Harm: a log of problems cannot be resolved without the site, and a form cannot mark the field that is wrong."""
    settings.HOUSE_ADDRESS = "https://tables.example/"
    boss, pk = house.boss.by, house.table.pk
    caller = house.as_(boss)
    plan = {"expected_version": 0, "name": "Late", "scope": "house", "values": {"min_cents": 2_000}}
    event = {"when": "hours", "weekdays": [0, "x"], "starts": "20:00", "ends": "04:00", "zone": "UTC"}
    bet = {"do": "bet", "seat": 1, "amount_cents": 1.5}
    cases = {
        "/limit": caller.get("v1/alerts/?limit=0"),
        "/sate": caller.get("v1/alerts/?sate=open"),
        "/schedule/weekdays/1": send(house.operator, "limit-plans/", **plan, schedule=event),
        "/schedule": send(house.operator, "limit-plans/", **plan),
        "/effective_at": send(
            house.operator, "limit-plans/", **plan, schedule={"when": "always"}, effective_at="1999-01-01T00:00:00Z"
        ),
        "/input/amount_cents": send(house.dealer.by, f"tables/{pk}/inputs/", expected_seq=1, input=bet),
        "/key": floor.client(house.auditor).post("/api/v1/exports/", {"deed": "keys"}, "application/json"),
    }
    for pointer, answer in cases.items():
        problem = answer.json()
        assert problem["type"] == f"https://tables.example/api/v1/problems/{problem['code']}/"
        assert problem["instance"].startswith("/api/v1/")
        [error] = problem["errors"]
        assert (error["pointer"], error["detail"][-1]) == (pointer, "."), problem
    problem = caller.get("v1/tables/999999/").json()
    assert "errors" not in problem
    assert problem["type"] == "https://tables.example/api/v1/problems/no_such_table/"
    assert "errors" not in caller.get("alerts/?limit=0").json()


def test_the_page_of_a_problem_is_there_in_v1(house: Floor) -> None:
    """Harm: the type of a problem leads nowhere."""
    assert Client().get("/api/v1/problems/stale_sequence/", headers={"accept": "text/html"}).status_code == 200


# --- How often -----------------------------------------------------------------------------------------------------


def test_an_answer_says_how_often_its_caller_may_ask(house: Floor, settings: Any) -> None:
    """Harm: a client learns of the limit when it is refused, and waits longer than it has to, or not long enough."""
    settings.API_REQUESTS_A_MINUTE = 2
    caller = house.as_(house.boss.by)
    answers = [caller.get("v1/tables/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    left = []
    for answer in answers:
        assert answer["RateLimit-Policy"] == '"requests";q=2;w=60'
        match = re.fullmatch(r'"requests";r=(\d+);t=(\d+)', answer["RateLimit"])
        assert match
        left.append(int(match[1]))
        assert 1 <= int(match[2]) <= 60
    assert left == [1, 0, 0]
    assert answers[2]["Retry-After"] == match[2]
    assert "RateLimit" not in caller.get("tables/")
    assert "RateLimit" not in house.as_(house.dealer.by).get("v1/tables/")


def test_an_api_client_is_told_of_its_own_limit(house: Floor) -> None:
    """Harm: an API client reads the rate limit of people in its headers, and is refused earlier."""
    policies.change({"program_requests_a_minute": 20}, by=house.operator)
    policies.forget()
    access = Access(purpose="Shows boards", scopes=("read:board",), expires=timezone.now() + timedelta(days=1))
    account = service_accounts.set_account("Display", access, by=house.operator)
    token = service_tokens.make(account, by=house.operator)
    answer = Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/tables/")
    assert answer["RateLimit-Policy"] == '"requests";q=20;w=60'
    assert answer["RateLimit"].startswith('"requests";r=19;')


def test_requests_to_v1_are_treated_as_those_to_the_alias(house: Floor) -> None:
    """Harm: a client of v1 follows a redirect to a form; or a card reader waits for a connection behind pages."""
    for root in ("/api/", "/api/v1/"):
        path = f"{root}tables/{house.table.pk}/reader/"
        assert of_route(RequestFactory().get(path), resolve(path)) == Lane.DEALERS
    caller = house.as_(house.boss.by)
    session = caller.client.session
    session["owes"] = "password"  # pragma: allowlist secret
    session.save()
    answer = caller.get("v1/tables/")
    assert (answer.status_code, answer.json()["code"]) == (403, "password_due")


# --- The description -------------------------------------------------------------------------------------------------


def test_the_description_of_v1_has_its_servers_and_webhooks(described: dict[str, Any], house: Floor) -> None:
    """Harm: a generator builds a client without a server, and a receiver of webhooks guesses what it is sent."""
    validate_schema(described)
    assert described["servers"]
    assert set(described["webhooks"]) == {"events", "alert"}
    assert all(path.startswith("/api/v1/") for path in described["paths"])
    answer = house.as_(house.auditor).get("v1/schema/")
    assert answer.json()["info"]["version"] == described["info"]["version"]
    page = house.as_(house.operator).get("v1/reference/", accept="text/html")
    assert "/api/v1/slips/{slip}/" in page.content.decode()


def test_events_are_read_in_v1_as_they_are_sent(house: Floor) -> None:
    """Harm: a receiver of webhooks reads the time of an event where the API has none."""
    [event] = house.as_(house.auditor).get("v1/events/?limit=1").json()["events"]
    assert event["recorded_at"]
    assert "at" not in event
    assert b64decode(event["cursor"] + "==").startswith(b"events/1 ")
