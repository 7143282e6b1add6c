"""Token buckets: how many tries they hold, how they refill, and that their number is bounded."""

import pytest

from casino.web import buckets
from casino.web.buckets import Buckets


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [0.0]
    monkeypatch.setattr(buckets, "monotonic", lambda: moment[0])
    return moment


@pytest.fixture
def tries(clock: list[float]) -> Buckets:
    """Three at once, then one every ten seconds."""
    return Buckets(at_once=3, a_second=0.1)


def test_each_key_has_its_tries_and_gets_new_ones_with_time(clock: list[float], tries: Buckets) -> None:
    assert [tries.take("a") for _ in range(5)] == [True] * 3 + [False] * 2
    assert tries.take("b"), "another key has its own tries"
    clock[0] = 9
    assert not tries.take("a")
    clock[0] = 10
    assert [tries.take("a") for _ in range(2)] == [True, False]
    clock[0] = 1_000
    assert [tries.take("a") for _ in range(5)] == [True] * 3 + [False] * 2, "unused tries do not pile up"


def test_a_client_that_never_stops_still_gets_its_share(clock: list[float], tries: Buckets) -> None:
    """A refusal costs nothing, else a program that never stops would shut out its whole office for good."""
    passed = 0
    for moment in range(100):
        clock[0] = moment
        passed += tries.take("a")
    assert passed == 3 + 9


def test_the_number_of_buckets_is_bounded(clock: list[float], tries: Buckets) -> None:
    """Harm: a client that invents ever new keys fills the memory of the process that serves the dealers."""
    for number in range(buckets.MOST_BUCKETS + 10):
        tries.take(str(number))
    assert len(tries._left) == buckets.MOST_BUCKETS
