"""Whatever is sent to the API, the answer is a 4xx with a code and a sentence, and nothing is written."""

import json
import uuid
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.contrib.sessions.backends.base import SessionBase
from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.urls import resolve
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from casino.embedded.servers import APPLICATION
from tables.roles import Role
from tests import floor
from tests.api.conftest import Caller, Floor, note_case, nothing_written, problem, rows_and_heads
from tests.pace import percent

pytestmark = pytest.mark.django_db


def body(entered: Any, seq: int = 8, **changes: Any) -> bytes:
    document = {"key": str(uuid.uuid4()), "expected_seq": seq, "input": entered} | changes
    return json.dumps({name: value for name, value in document.items() if value is not ...}).encode()


BET = {"do": "bet", "seat": 1, "amount_cents": 2_000}


def bet_of(cents: bytes, seq: int = 8) -> bytes:
    """A bet whose amount is spelled so. The key is made by chance and may have any figures in it."""
    before, amount, after = body(BET, seq).partition(b'"amount_cents": 2000')
    assert amount
    return before + b'"amount_cents": ' + cents + after


MALFORMED: dict[str, bytes] = {
    "nothing": b" ",
    "no JSON": b"bet 20 on seat 1",
    "half of it": body(BET)[:-10],
    "two documents": body(BET) + body(BET),
    "bytes that are no text": body(BET).replace(b"bet", b"\xff\xfe\xfd"),
    "half a surrogate": body({"do": "choose", "seat": 1, "choice": "?"}).replace(b"?", b"\\ud800"),
    "a list": json.dumps([BET]).encode(),
    "a number": b"7",
    "null": b"null",
    "very deep": b"[" * 4_000,
    "a deep input": body({"do": "check_decks", "counts": []}).replace(b"[]", b"[" * 2_000),
    "NaN for a bet": bet_of(b"NaN"),
    "infinity for a bet": bet_of(b"-Infinity"),
    "half a cent": body(BET | {"amount_cents": 1000.5}),
    "a float": bet_of(b"2e3"),
    "a bet as text": body(BET | {"amount_cents": "2000"}),
    "a bet that is true": body(BET | {"amount_cents": True}),
    "five thousand digits": bet_of(b"9" * 5_000),
    "no such input": body({"do": "steal"}),
    "no do": body({"seat": 1}),
    "a do that is a list": body({"do": ["bet"]}),
    "a key that no input has": body(BET | {"colour": "red"}),
    "a key that is missing": body({"do": "bet", "seat": 1}),
    "a card as text": body({"do": "card", "rank": "8"}),
    "no card": body({"do": "card", "rank": None}),
    "an input that is text": body("bet"),
    "no input": body(...),
    "no key": body(BET, key=...),
    "a key that is no UUID": body(BET, key="1"),
    "no sequence": body(BET, expected_seq=...),
    "a sequence of null": body(BET, expected_seq=None),
    "a negative sequence": body(BET, expected_seq=-1),
    "a sequence with a fraction": body(BET, expected_seq=8.5),
    "something else besides": body(BET, by="202 Bella"),
}


def test_what_is_no_input_is_refused_and_nothing_is_written(dealer: Caller) -> None:
    """Harm: a guess at what was meant becomes a bet in the log."""
    with nothing_written():
        for name, malformed in MALFORMED.items():
            with note_case(name):
                problem(dealer.send(malformed), 400, "bad_input")


def test_a_number_of_four_thousand_digits_is_a_bet_that_is_too_high(house: Floor, dealer: Caller) -> None:
    """Harm: Python refuses to print a number that it could read, and the refusal itself fails."""
    with nothing_written():
        payload = bet_of(b"9" * 4_290, house.dealer.now.seq)
        problem(dealer.send(payload), 422, "bad_bet")


def test_the_place_of_the_mistake_is_named(dealer: Caller) -> None:
    """Harm: whoever writes a client has to guess which of ten fields is wrong."""
    assert problem(dealer.send(body(BET | {"amount_cents": 10.5})), 400, "bad_input")["detail"] == (
        "Amount_cents: expected `int`, got `float`."
    )
    assert problem(dealer.send(body(BET, key="1")), 400, "bad_input")["detail"].startswith("Key: ")


EXTREME = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")


def test_no_moment_that_a_zone_cannot_show_is_accepted(house: Floor) -> None:
    """Harm: a program sends a date of the year 1 or 9999: a server error at once, or on each page that shows it."""
    desk, key = house.as_(house.operator), str(uuid.uuid4())
    plan: dict[str, Any] = {"key": key, "expected_version": 0, "name": "Ancient", "scope": "house"}
    plan |= {"schedule": {"when": "always"}, "values": {"min_cents": 2_000}}
    with nothing_written():
        for moment in EXTREME:
            answer = desk.client.post("/api/limit-plans/", json.dumps(plan | {"effective": moment}), "application/json")
            assert problem(answer, 422, "bad_moment")["detail"] == "Effective: expected a moment from 2000 to 2999."
            problem(desk.client.get("/api/log/", {"since": moment}), 422, "bad_moment")
        event = {"when": "event", "starts": EXTREME[0], "ends": (timezone.now() + timedelta(days=1)).isoformat()}
        answer = desk.client.post("/api/limit-plans/", json.dumps(plan | {"schedule": event}), "application/json")
        assert "from 2000 to 2999" in problem(answer, 422, "bad_plan")["detail"]
        problem(desk.client.get("/api/figures/", {"day": "0001-01-01"}), 422, "bad_moment")
    assert desk.get("limit-plans/").status_code == 200


def test_a_kind_that_is_listed_twice_is_refused_in_its_field(house: Floor) -> None:
    """Harm: a slip lists a denomination twice, and its total is the last count or the sum of both: chips that no signer
    intended are requested or counted."""
    boss, key = floor.staff(Role.PIT_BOSS, "petra", "801"), str(uuid.uuid4())
    desk, twice = house.as_(boss), [[500, 2], [500, 3]]
    begin = {"key": key, "table": house.table.pk, "series": "fill", "badge": boss.badge, "pin": floor.PIN}
    sentence = "5 is listed more than once. Give one count for each kind."
    with nothing_written():
        for field in ("chips", "noted"):
            answer = desk.client.post("/api/slips/", json.dumps(begin | {field: twice}), "application/json")
            assert problem(answer, 422, "bad_count")["detail"] == f"{field.capitalize()}: {sentence}"
    sale = house.as_(house.dealer.by).enter("sell_chips", amount_cents=2_500, chips=twice)
    assert problem(sale, 422, "bad_count")["detail"] == f"Chips: {sentence}"


REFUSALS: dict[str, list[tuple[dict[str, Any], int, str]]] = {
    "bets": [
        *(({"do": "bet", "seat": seat, "amount_cents": 1_000}, 422, "unknown_seat") for seat in (0, 7, -1, 10**30)),
        *(({"do": "card", "rank": rank}, 422, "out_of_turn") for rank in (8, 11)),
        ({"do": "close_bets"}, 422, "out_of_turn"),
        ({"do": "choose", "seat": 1, "choice": "fold"}, 422, "out_of_turn"),
        ({"do": "deal"}, 422, "keyed_shoe"),
        ({"do": "paid", "seat": 1}, 409, "nothing_to_pay"),
        ({"do": "take_back"}, 409, "nothing_to_take_back"),
        ({"do": "load_shoe"}, 409, "out_of_turn"),
        ({"do": "check_decks", "counts": [1, 2]}, 409, "out_of_turn"),
        ({"do": "begin_slip", "series": "opener"}, 400, "bad_input"),
        ({"do": "sign_slip", "slip": "fill/2026/1", "stage": "issued"}, 400, "bad_input"),
        ({"do": "sign_in", "terminal": "somebody else's"}, 400, "bad_input"),
    ],
    "a card": [({"do": "card", "rank": rank}, 422, "no_such_card") for rank in (0, 11, -3, 10**30)],
    "a choice": [({"do": "card", "rank": rank}, 422, "no_such_card") for rank in (0, 11, -3, 10**30)],
}


@pytest.mark.parametrize("due", REFUSALS)
def test_an_input_that_is_not_allowed_now_is_refused_with_its_code(house: Floor, dealer: Caller, due: str) -> None:
    """Harm: a client retries forever because the response does not distinguish "not now" from "never"; or a typing
    error becomes a card, or chips at a seat that does not exist."""
    if due != "bets":
        house.dealer.bets(seat1=1_000)
    if due == "a choice":
        house.dealer.cards(8, 9)
    with nothing_written():
        for fields, status, code in REFUSALS[due]:
            with note_case(str(fields)):
                problem(dealer.enter(**fields), status, code)


def test_an_illegal_bet_is_refused_with_the_nearest_legal_bets(dealer: Caller) -> None:
    """Harm: a bet is accepted that cannot be paid in chips, or that the casino never offered."""
    with nothing_written():
        for cents, nearest in ((-10, [1_000]), (0, [1_000]), (1_050, [1_000, 2_000]), (10**30, [10_000])):
            answer = problem(dealer.enter("bet", seat=1, amount_cents=cents), 422, "bad_bet")
            assert (answer["nearest_cents"], answer["seat"]) == (nearest, 1)


def test_an_unknown_choice_is_refused_with_those_there_are(house: Floor, dealer: Caller) -> None:
    """Harm: an unknown word is taken for the likeliest one."""
    house.dealer.bets(seat1=1_000)
    house.dealer.cards(8, 9)
    with nothing_written():
        refused = problem(dealer.enter("choose", seat=1, choice="stand\u0000"), 422, "unknown_choice")
    assert "hit or fold" in refused["detail"]


def test_a_stale_sequence_is_refused_with_the_current_one(house: Floor, dealer: Caller) -> None:
    """Harm: a dealer acts on a board that is not there any more."""
    seq = house.dealer.now.seq
    house.dealer("bet", seat=1, amount_cents=1_000)
    with nothing_written():
        for wrong in (seq, 0, 10**30):
            assert problem(dealer.enter("close_bets", seq=wrong), 409, "stale_sequence")["seq"] == seq + 1


def test_without_the_token_against_forged_requests_nothing_is_entered(house: Floor) -> None:
    """Harm: a page elsewhere deals with the dealer's cookie."""
    forged = house.as_(house.dealer.by, enforce_csrf_checks=True)
    with nothing_written():
        problem(forged.enter("bet", seat=1, amount_cents=1_000), 403, "csrf_failed")


def test_a_body_of_another_type_than_json_is_refused(dealer: Caller) -> None:
    """Harm: a form on another site sends text, which needs no preflight request, and the API parses it as JSON."""
    with nothing_written():
        for kind in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "json"):
            problem(dealer.send(body(BET), content_type=kind), 415, "unsupported_media_type")


def test_a_body_that_is_too_large_is_refused(dealer: Caller) -> None:
    """Harm: a megabyte is read, parsed and hashed before it is refused."""
    with nothing_written():
        for size in (8_193, 3_000_000):
            problem(dealer.send(body(BET) + b" " * size), 413, "too_large")


def test_a_body_without_its_length_is_read(house: Floor) -> None:
    """Harm: DRF takes a body that is sent in chunks for an empty one, so such a client can write nothing."""
    path = f"/api/v1/tables/{house.table.pk}/inputs/"
    scope = {"type": "http", "method": "POST", "path": path, "headers": [(b"content-type", b"application/json")]}
    request = ASGIRequest(scope, BytesIO(body({"do": "steal"})))
    route = request.resolver_match = resolve(path)
    request.session, request.user, request._dont_enforce_csrf_checks = SessionBase(), house.dealer.by, True
    answer = route.func(request, *route.args, **route.kwargs)
    assert b"Invalid value 'steal'" in answer.content


def test_a_broken_form_upload_is_refused(house: Floor) -> None:
    """Harm: Django's own parser meets the body before the API does, and fails with a page of its own."""
    caller = house.as_(house.dealer.by, enforce_csrf_checks=True)
    with nothing_written():
        answer = caller.send(b"--x", content_type="multipart/form-data; boundary=\xff")
        assert answer.status_code in {400, 403, 415}
        problem(answer, answer.status_code, answer.json()["code"])


def test_what_is_not_there_is_not_found(house: Floor, dealer: Caller) -> None:
    """Harm: a number too large for the database causes a server error, an address reveals to a dealer what exists, or a
    client receives HTML instead of a code."""
    boss, own = house.as_(house.boss.by), house.table.pk
    house.dealer("bet", seat=1, amount_cents=1_000)
    for path in ("", "nonsense/", "tables/abc/", "tables/1", "tables/1/inputs", "tables/-1/", "v2/x"):
        problem(dealer.get(path), 404, "not_found")
        problem(dealer.client.post(f"/api/{path}"), 404, "not_found")
    for pk in (0, 999_999, 10**30):
        problem(dealer.get(f"tables/{pk}/"), 403, "not_your_table")
        problem(dealer.send(body(BET), table=pk or 999_999), 403, "not_your_table")
        problem(boss.get(f"tables/{pk}/"), 404, "no_such_table")
    for number in (0, 2, 10**30):
        problem(dealer.get(f"tables/{own}/rounds/{number}/"), 404, "no_such_round")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
words = ["bet", "close_bets", "choose", "shuffle", "card", "deal", "paid", "take_back", "cut_card_out", "check_decks"]
inputs = st.fixed_dictionaries(
    {"do": st.sampled_from(words)},
    optional={
        "seat": st.integers(-1, 8) | json_values,
        "amount_cents": st.integers(-2_000, 12_000) | json_values,
        "rank": st.integers(-1, 12) | json_values,
        "choice": st.sampled_from(["hit", "fold"]) | json_values,
        "counts": json_values,
    },
)


@pytest.mark.slow("sends hundreds of bodies")
@settings(max_examples=percent(50))
@given(
    entered=inputs | json_values,
    extra=st.fixed_dictionaries({}, optional={"key": json_values, "expected_seq": json_values}),
)
def test_no_body_makes_the_server_fail(house: Floor, entered: Any, extra: dict[str, Any]) -> None:
    """Harm: one client with a bug takes a web process down, or finds out what lies behind it."""
    caller = house.as_(house.dealer.by)
    seq = house.dealer.now.seq
    before = rows_and_heads()
    answer = caller.send(json.dumps({"key": str(uuid.uuid4()), "expected_seq": seq, "input": entered} | extra))
    assert answer.status_code < 500
    if answer.status_code == 200:
        assert answer.json()["seq"] > seq
    else:
        problem(answer, answer.status_code, answer.json()["code"])
        assert answer.json()["code"] == "impossible_card" or rows_and_heads() == before


@pytest.mark.django_db(transaction=True)
def test_a_dead_database_is_a_503_and_nothing_is_half_written(house: Floor) -> None:
    """Harm: a traceback where the client should be told to try again with the same key."""
    caller, seq = house.as_(house.dealer.by), house.dealer.now.seq
    before, host = rows_and_heads(), connection.settings_dict["HOST"]
    payload = body(BET, seq=seq)
    connection.close()
    connection.settings_dict["HOST"] = "/nowhere/at/all"
    caller.client.raise_request_exception = False
    try:
        for answer in (caller.send(payload), caller.get("tables/"), caller.get(f"tables/{house.table.pk}/")):
            problem(answer, 503, "database_unavailable")
            assert answer["Retry-After"] == "1"
            assert "sessionid" not in answer.cookies  # or the client would be signed out as well
    finally:
        connection.settings_dict["HOST"] = host
        assert connection.settings_dict["USER"] == APPLICATION
    assert rows_and_heads() == before
    assert caller.send(payload).status_code == 200
