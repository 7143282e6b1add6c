"""The feed of events by cursor over HTTP."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone

from tables.feed import feed_records, long_polling
from tables.setup import service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import load
from tests.api.conftest import Caller, Floor, note_case, problem

pytestmark = pytest.mark.django_db


def test_the_feed_goes_on_from_its_cursor(house: Floor) -> None:
    """Harm: a program that comes back with its cursor is told something twice, or misses what happened meanwhile."""
    auditor = house.as_(house.auditor)
    read: list[str] = []
    cursor = ""
    while True:
        page = auditor.get(f"events/?limit=3&cursor={cursor}").json()
        read += [event["id"] for event in page["events"]]
        cursor = page["cursor"]
        if not page["more"]:
            break
    assert len(set(read)) == len(read) > 3
    assert auditor.get(f"events/?cursor={cursor}").json()["events"] == []
    house.dealer("bet", seat=1, amount_cents=1_000)
    [event] = auditor.get(f"events/?cursor={cursor}").json()["events"]
    assert (event["type"], event["version"]) == ("round.opened", 1)
    assert event["table"] == {"id": house.table.pk, "name": house.table.name}
    assert event["data"] == {"round": 1, "game": "rocket", "shoe": 1}
    assert auditor.get(f"events/?cursor={event['cursor']}").json()["events"] == []


def test_a_settled_round_says_what_became_of_each_seat(house: Floor) -> None:
    """Harm: a player-tracking system has other stakes and results than the house."""
    house.dealer.bets(seat1=1_000, seat3=2_000)
    house.dealer.cards(8, 9, 7)
    while house.dealer.board.due == "choose":
        [prompt] = house.dealer.board.prompts[:1]
        house.dealer("choose", seat=prompt.seat, choice="fold")  # type: ignore[union-attr]
    auditor = house.as_(house.auditor)
    [settled] = auditor.get("events/?kinds=round.settled").json()["events"]
    payouts = house.dealer.now.round.settled  # type: ignore[union-attr]
    seats = {seat["seat"]: (seat["staked_cents"], seat["returned_cents"]) for seat in settled["data"]["seats"]}
    assert seats == {payout.seat: (payout.staked_cents, payout.returned_cents) for payout in payouts}
    assert settled["data"]["house_net_cents"] == -sum(payout.net_cents for payout in payouts)
    before = settled["cursor"]
    house.boss("take_back", reopens=True)
    [reopened] = auditor.get(f"events/?cursor={before}&kinds=round.reopened").json()["events"]
    assert reopened["data"] == {"round": 1, "corrects": settled["entry"]["seq"]}


def test_what_cannot_be_read_is_refused_in_words(house: Floor) -> None:
    """Harm: an API client with a typing error receives every event, or none, and the error goes unnoticed."""
    auditor = house.as_(house.auditor)
    for query, status, code in (
        ("cursor=abc", 400, "bad_cursor"),
        ("cursor=ZXZlbnRzLzEgLTE", 400, "bad_cursor"),
        ("cursor=%C3%A9", 400, "bad_cursor"),
        ("limit=0", 400, "bad_input"),
        ("limit=501", 400, "bad_input"),
        ("limit=many", 400, "bad_input"),
        ("wait=21", 400, "bad_input"),
        ("kinds=round.settled,nothing", 400, "unknown_kind"),
        ("table=999999", 404, "no_such_table"),
        ("table=one", 400, "bad_input"),
    ):
        with note_case(query):
            problem(auditor.get(f"events/?{query}"), status, code)


def test_every_type_of_event_is_described(house: Floor) -> None:
    """Harm: a program's author has to guess what an event says."""
    schema = house.as_(house.auditor).get("schema/").json()
    envelope = schema["components"]["schemas"]["Envelope"]
    assert "round.settled" in envelope["properties"]["type"]["enum"]
    names = {ref["$ref"].rpartition("/")[2] for ref in envelope["properties"]["data"]["anyOf"]}
    assert len(names) == len(envelope["properties"]["type"]["enum"])
    assert names <= schema["components"]["schemas"].keys()
    assert "/api/events/" in schema["paths"]


def test_a_program_is_told_of_its_own_tables_alone(house: Floor) -> None:
    """Harm: the token of one table's display reads the whole house's feed."""
    facts = {"purpose": "Tracks players", "scopes": ("read:events",), "expires": timezone.now() + timedelta(days=9)}
    house.dealer("bet", seat=1, amount_cents=1_000)
    answers = []
    for name, tables in (("All", ()), ("One", (house.table.name,)), ("Other", (house.neighbour.name,))):
        account = service_accounts.set_account(name, Access(**facts, tables=tables), by=house.operator)  # type: ignore[arg-type]
        bearer = {"Authorization": f"Bearer {service_tokens.make(account, by=house.operator)}"}
        answers.append(Client().get("/api/events/?limit=500", headers=bearer).json()["events"])
    everything, own, foreign = answers
    assert len(own) < len(everything)
    assert {event["table"]["id"] for event in own} == {house.table.pk}
    assert "round.opened" in {event["type"] for event in own}
    assert {event["table"]["id"] for event in foreign} <= {house.neighbour.pk}
    refused = Client().get(f"/api/events/?table={house.table.pk}", headers=bearer)
    problem(refused, 403, "not_your_table")


# --- Waiting -----------------------------------------------------------------------------------------------------


def waited(caller: Caller, query: str) -> StreamingHttpResponse:
    answer = caller.get(f"events/?{query}")
    assert answer.streaming
    return answer  # type: ignore[no-any-return]


def test_an_empty_answer_waits_for_the_first_event_that_is_asked_for(house: Floor) -> None:
    """Harm: a follower asks every second all day, or is told of a round a minute late."""
    caller = house.as_(house.auditor)
    cursor = caller.get("events/?limit=500").json()["cursor"]
    answer = waited(caller, f"cursor={cursor}&wait=20&kinds=round.settled")
    house.dealer.bets(seat1=1_000)
    house.dealer.cards(8, 10, 8)
    [event] = json.loads(load.whole(answer))["events"]
    assert event["type"] == "round.settled"
    assert long_polling.Waiter.taken == 0


def test_a_wait_without_events_keeps_its_cursor_and_the_number_of_waiting_clients_is_limited(
    house: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a quiet hour ends in an error or loses the client's cursor; or a thousand waiting clients leave one process
    without file descriptors for dealers."""
    monkeypatch.setattr(long_polling, "AT_ONCE", 1)
    caller = house.as_(house.auditor)
    cursor = caller.get("events/?limit=500").json()["cursor"]
    answer = waited(caller, f"cursor={cursor}&wait=1&kinds=round.voided")
    second = caller.get(f"events/?cursor={cursor}&wait=20")
    assert second.json() == {"events": [], "cursor": cursor, "more": False}
    house.dealer("bet", seat=1, amount_cents=1_000)
    body = json.loads(load.whole(answer))
    assert (body["events"], long_polling.Waiter.taken) == ([], 0)
    [event, *_] = caller.get(f"events/?cursor={cursor}").json()["events"]
    assert feed_records.place_of(body["cursor"]) >= feed_records.place_of(event["cursor"])
