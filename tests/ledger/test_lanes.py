"""A line lets so many in at once and keeps nobody for long; each lane has its own part of the database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError, connection, transaction
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import resolve

from casino.web import pool_sizes
from casino.web.connection_pools import LaneOfPerson, of_route
from ledger import cage, log
from ledger.connection_pools import Busy, Lane, TurnQueue, lane
from ledger.models import HOUSE
from tables.api.errors import AWAY, outage
from tables.roles import Role
from tables.staff import terminals
from tests import floor, load

# --- Lines -----------------------------------------------------------------------------------------------------


def crowd(line: TurnQueue, number: int, work: Callable[[], Any]) -> list[str]:
    """What became of so many who came at once."""

    def come(_: int) -> str:
        try:
            with line.turn():
                work()
        except Busy as busy:
            return busy.sentence
        return "done"

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(come, range(number)))


def test_a_line_lets_no_more_in_at_once_than_it_has_places() -> None:
    inside: list[int] = []
    crowds: list[int] = []
    pair = threading.Barrier(2, timeout=60)  # nobody leaves before two are inside

    def work() -> None:
        inside.append(threading.get_ident())
        crowds.append(len(inside))
        pair.wait()
        inside.remove(threading.get_ident())

    line = TurnQueue(places=2, queue=20, seconds=60, full="full")
    assert crowd(line, 12, work) == ["done"] * 12
    assert max(crowds) == 2


def test_a_line_that_is_full_sends_away_at_once_and_one_that_does_not_move_after_a_while() -> None:
    line = TurnQueue(places=1, queue=1, seconds=0.2, full="full")
    with line.turn():
        assert crowd(line, 5, lambda: None) == ["full"] * 5
    assert crowd(line, 1, lambda: None) == ["done"], "whoever was sent away takes up no place"


def test_a_failure_gives_its_place_up() -> None:
    line = TurnQueue(places=1, queue=1, seconds=0, full="full")
    with pytest.raises(ZeroDivisionError), line.turn():
        _ = 1 // 0
    assert crowd(line, 1, lambda: None) == ["done"]


# --- Widths ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("connections", [6, 7, 12, 24, 48, 200])
def test_the_lanes_together_take_no_more_than_a_process_may_have(connections: int) -> None:
    lanes = pool_sizes.pool_sizes(connections, {})
    assert sum(lane.connections for lane in lanes.values()) <= connections
    assert lanes["dealers"].connections >= 2
    assert all(lanes[name].connections >= 1 for name in ("seats", "pages", "door", "exports"))


def test_a_screen_is_answered_before_it_gives_up() -> None:
    """Its input would be sent again while the first one still waits."""
    dealers = pool_sizes.pool_sizes(48, {})["dealers"]
    turn_ms = 2_000
    assert 2 * dealers.wait_ms + turn_ms + dealers.lock_ms < 8_000


def test_a_worker_has_no_pool_and_waits_as_it_is_told() -> None:
    lanes = pool_sizes.pool_sizes(0, {"COMMANDS_LOCK_MS": "1234"})
    assert not any(lane.connections for lane in lanes.values())
    assert "-c lock_timeout=1234 " in lanes["commands"].options


# --- Which lane ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/tables/1/input", Lane.DEALERS),
        ("/api/tables/1/inputs/", Lane.DEALERS),
        ("/sign-out/", Lane.DEALERS),
        ("/healthz", Lane.DEALERS),
        ("/seat/x/choose", Lane.SEATS),
        ("/sign-in/", Lane.DOOR),
        ("/enrol/x/", Lane.DOOR),
        ("/pit/tables/1/log.csv", Lane.EXPORTS),
        ("/pit/reports.csv", Lane.EXPORTS),
        ("/slips/slips.csv", Lane.EXPORTS),
        ("/practice/certificates.csv", Lane.EXPORTS),
        ("/pit/tables/1/rounds/1/record.json", Lane.EXPORTS),
        ("/pit/", Lane.PAGES),
        ("/admin/", Lane.PAGES),
        ("/slips/", Lane.PAGES),
    ],
)
def test_each_address_has_its_lane(path: str, expected: Lane) -> None:
    assert of_route(RequestFactory().post(path), resolve(path)) == expected


@pytest.mark.django_db
def test_a_device_that_was_enrolled_signs_in_on_the_dealers_lane_and_one_that_says_so_does_not() -> None:
    request = RequestFactory().post("/sign-in/")
    request.COOKIES["terminal"] = "forged:by:somebody"
    assert of_route(request, resolve("/sign-in/")) == Lane.DOOR
    request.COOKIES["terminal"] = load.enrolled("", floor.staff(Role.OPERATOR, "omar")).cookies["terminal"]
    assert terminals.claims(request)
    assert of_route(request, resolve("/sign-in/")) == Lane.DEALERS


@pytest.mark.django_db
@pytest.mark.parametrize("role", [*Role, None])
def test_nobody_but_dealers_stays_on_their_lane(role: Role | None) -> None:
    """An auditor's program that reads the boards must not take what the dealers need."""
    request = RequestFactory().get("/api/tables/1/")
    request.user = floor.staff(role, "ann") if role else AnonymousUser()
    token = lane.set(Lane.DEALERS)
    try:
        LaneOfPerson(lambda _: HttpResponse()).process_request(request)
        assert lane.get() == (Lane.DEALERS if role in (Role.DEALER, None) else Lane.PAGES)
    finally:
        lane.reset(token)


# --- Time-outs -------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_session_has_its_time_outs_from_its_first_statement_on() -> None:
    """Without them a transaction that somebody forgot holds its locks, and whoever waits waits for ever."""
    with connection.cursor() as cursor:
        for setting, expected in (
            ("lock_timeout", "10s"),
            ("statement_timeout", "0"),
            ("idle_in_transaction_session_timeout", "10min"),
        ):
            cursor.execute(f"SHOW {setting}")
            assert cursor.fetchone() == (expected,)


@pytest.mark.django_db(transaction=True)
def test_a_lock_that_is_not_had_in_time_is_said_to_be_one(superuser_connection: psycopg.Connection) -> None:
    house = cage.open_house()
    load.hold(HOUSE, superuser_connection)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = 50")
        with pytest.raises(OperationalError) as late:
            log.lock(house.pk)
        transaction.set_rollback(True)
    assert outage(late.value).code == "book_held"
    assert outage(OperationalError("the server closed the connection")) == AWAY
