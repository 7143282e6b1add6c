"""Buckets of tries: what they hold, how they fill again, and that they stay few."""

import pytest

from casino import buckets
from casino.buckets import Buckets


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [0.0]
    monkeypatch.setattr(buckets, "monotonic", lambda: moment[0])
    return moment


@pytest.fixture
def tries(clock: list[float]) -> Buckets:
    """Three at once, then one every ten seconds."""
    return Buckets(at_once=3, a_second=0.1)


def test_each_has_so_many_tries_and_gets_new_ones_with_time(clock: list[float], tries: Buckets) -> None:
    assert [tries.take("a") for _ in range(5)] == [True] * 3 + [False] * 2
    assert tries.take("b"), "another has its own"
    clock[0] = 9
    assert not tries.take("a")
    clock[0] = 10
    assert [tries.take("a") for _ in range(2)] == [True, False]
    clock[0] = 1_000
    assert [tries.take("a") for _ in range(5)] == [True] * 3 + [False] * 2, "they do not pile up"


def test_whoever_knocks_all_the_time_still_gets_in_now_and_then(clock: list[float], tries: Buckets) -> None:
    """A refusal costs nothing: else a program that never stops would shut out its whole office for good."""
    passed = 0
    for moment in range(100):
        clock[0] = moment
        passed += tries.take("a")
    assert passed == 3 + 9


def test_what_is_remembered_is_bounded(clock: list[float], tries: Buckets) -> None:
    """Harm: whoever comes under ever new names fills the memory of the process that dealers are answered by."""
    for number in range(buckets.KEPT + 10):
        tries.take(str(number))
    assert len(tries._left) == buckets.KEPT
