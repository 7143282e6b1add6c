"""The sign-in attempts of an address are limited before any database query."""

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from casino.web import buckets
from casino.web.body_limits import RefusedRequest
from casino.web.throttle import Throttle
from tables.roles import Role
from tests import floor, load


@pytest.fixture
def clock(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Three tries at once, then one every ten seconds."""
    settings.SIGN_INS_AT_ONCE, settings.SIGN_INS_A_MINUTE = 3, 6
    moment = [0.0]
    monkeypatch.setattr(buckets, "monotonic", lambda: moment[0])
    return moment


@pytest.fixture
def knock(clock: list[float]) -> Callable[..., int]:
    """Sends a request from an address and returns its status."""

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        """Every request that gets here was admitted."""

    throttle = Throttle(inside)

    def knock(address: str | None, method: str = "POST", path: str = "/sign-in/", cookie: str = "") -> int:
        headers = [(b"cookie", cookie.encode())] if cookie else []
        client = [address, 1234] if address else None
        scope = {"type": "http", "method": method, "path": path, "headers": headers, "client": client}
        try:
            async_to_sync(throttle)(scope, None, None)  # type: ignore[arg-type]
        except RefusedRequest as refusal:
            return refusal.status
        return 200

    return knock


def test_only_tries_at_the_door_count(knock: Callable[..., int]) -> None:
    assert [knock("10.0.0.1", method="GET") for _ in range(9)] == [200] * 9, "to look at the form"
    assert [knock("10.0.0.1", path="/tables/1/input") for _ in range(9)] == [200] * 9
    assert [knock("10.0.0.1") for _ in range(4)] == [200] * 3 + [429]
    assert knock(None) == 200


@pytest.mark.django_db
def test_an_enrolled_terminal_is_no_stranger(knock: Callable[..., int]) -> None:
    """Sixty dealers come through one proxy at a change of shift."""
    token = load.enrolled("", floor.staff(Role.OPERATOR, "omar")).cookies["terminal"]
    assert [knock("10.0.0.1", cookie=f"terminal={token}") for _ in range(9)] == [200] * 9
    assert [knock("10.0.0.1", cookie=f"terminal={token}x") for _ in range(4)] == [200] * 3 + [429], "a forged one is"
