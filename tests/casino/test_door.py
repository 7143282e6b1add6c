"""An address may try to sign in so often, whoever it says it is; the database is not asked."""

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from casino import door
from casino.door import Buckets, Door
from casino.gate import Refusal
from tables.roles import Role
from tests import floor, load


@pytest.fixture
def clock(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Three tries at once, then one every ten seconds."""
    settings.SIGN_INS_AT_ONCE, settings.SIGN_INS_A_MINUTE = 3, 6
    moment = [0.0]
    monkeypatch.setattr(door, "monotonic", lambda: moment[0])
    return moment


def test_an_address_has_so_many_tries_and_gets_new_ones_with_time(clock: list[float]) -> None:
    buckets = Buckets()
    assert [buckets.take("a") for _ in range(5)] == [True] * 3 + [False] * 2
    assert buckets.take("b"), "another address has its own"
    clock[0] = 9
    assert not buckets.take("a")
    clock[0] = 10
    assert [buckets.take("a") for _ in range(2)] == [True, False]
    clock[0] = 1_000
    assert [buckets.take("a") for _ in range(5)] == [True] * 3 + [False] * 2, "they do not pile up"


def test_whoever_knocks_all_the_time_still_gets_in_now_and_then(clock: list[float]) -> None:
    """A refusal costs nothing: else a program that never stops would shut out its whole office for good."""
    buckets, got_in = Buckets(), 0
    for moment in range(100):
        clock[0] = moment
        got_in += buckets.take("a")
    assert got_in == 3 + 9


def test_what_it_remembers_is_bounded(clock: list[float]) -> None:
    buckets = Buckets()
    for number in range(door.ADDRESSES + 10):
        buckets.take(str(number))
    assert len(buckets._left) == door.ADDRESSES


@pytest.fixture
def knock(clock: list[float]) -> Callable[..., int]:
    """What the door answers a request from an address."""

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        """Whoever gets this far has passed."""

    door = Door(inside)

    def knock(address: str | None, method: str = "POST", path: str = "/sign-in/", cookie: str = "") -> int:
        headers = [(b"cookie", cookie.encode())] if cookie else []
        client = [address, 1234] if address else None
        scope = {"type": "http", "method": method, "path": path, "headers": headers, "client": client}
        try:
            async_to_sync(door)(scope, None, None)  # type: ignore[arg-type]
        except Refusal as refusal:
            return refusal.status
        return 200

    return knock


def test_only_tries_at_the_door_count(knock: Callable[..., int]) -> None:
    assert [knock("10.0.0.1", method="GET") for _ in range(9)] == [200] * 9, "to look at the form"
    assert [knock("10.0.0.1", path="/tables/1/input") for _ in range(9)] == [200] * 9
    assert [knock("10.0.0.1") for _ in range(4)] == [200] * 3 + [429]


@pytest.mark.django_db
def test_an_enrolled_terminal_is_no_stranger(knock: Callable[..., int]) -> None:
    """Sixty dealers come through one proxy at a change of shift."""
    token = load.enrolled("", floor.staff(Role.OPERATOR, "omar")).cookies["terminal"]
    assert [knock("10.0.0.1", cookie=f"terminal={token}") for _ in range(9)] == [200] * 9
    assert [knock("10.0.0.1", cookie=f"terminal={token}x") for _ in range(4)] == [200] * 3 + [429], "a forged one is"


def test_a_network_of_ipv6_is_one_neighbour(knock: Callable[..., int]) -> None:
    """Who has one address there has 2⁶⁴."""
    assert [knock(f"2001:db8::{number}") for number in range(1, 5)] == [200] * 3 + [429]
    assert knock("2001:db8:0:1::1") == 200
    assert knock("not an address") == 200
    assert knock(None) == 200
