"""A simulation spread over workers: each chunk once, whoever is killed, and the sum is that of one process."""

from functools import cache, partial

import pytest
from django.db import IntegrityError, transaction

from tables.edge import distributed_simulation
from tables.games.rocket import Rules
from tables.maths.advantage import rocket_simulation
from tables.maths.advantage.rocket_simulation import Table, deal, described, nothing, seed_of
from tables.maths.rocket_value import solve
from tables.maths.situation import fresh
from tables.models import SimulatedChunk
from tests.database import locked_by_another_worker

pytestmark = pytest.mark.django_db


@cache
def a_table() -> Table:
    return Table(Rules(1), 1, solve(fresh(1)))


RUN = distributed_simulation.name(described(a_table(), 7))


ROUNDS = 10_000
"""Of each chunk here."""


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocket_simulation, "deal", partial(deal, rounds=ROUNDS))


def test_what_another_worker_is_at_is_left_to_it_until_it_is_gone() -> None:
    """Harm: rounds counted twice because two workers dealt them, or never because one was killed at them."""
    with locked_by_another_worker(f"simulation {RUN} 0"):
        assert distributed_simulation.turn(RUN, 2) == 1
        assert [chunk.number for chunk in SimulatedChunk.objects.all()] == [1]
    assert distributed_simulation.turn(RUN, 2) == 1
    assert distributed_simulation.turn(RUN, 2) == 0
    alone = deal(a_table(), seed_of(7, 0), ROUNDS) + deal(a_table(), seed_of(7, 1), ROUNDS)
    assert distributed_simulation.added_up(RUN, 2, nothing(1)).counts() == alone.counts()
    assert distributed_simulation.added_up(RUN, 1, nothing(1)).rounds == ROUNDS


def test_a_turn_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the watch waits for hours behind a simulation."""
    monkeypatch.setattr(distributed_simulation, "TURN_SECONDS", 0)
    assert distributed_simulation.turn(RUN, 1_000) <= 1


def test_without_workers_the_command_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a bar that stands still for a night, and nobody is told why."""
    monkeypatch.setattr(distributed_simulation, "TURN_SECONDS", 0)
    monkeypatch.setattr(distributed_simulation, "_ask", lambda *_: None)
    progress: list[tuple[int, int]] = []
    with pytest.raises(distributed_simulation.NobodyDeals):
        distributed_simulation.deal(RUN, 3, 1, lambda *counts: progress.append(counts))


def test_a_chunk_is_written_once() -> None:
    """Harm: the sum counts the rounds of a chunk twice."""
    SimulatedChunk.objects.create(run=RUN, number=0, counts={})
    with pytest.raises(IntegrityError, match="tables_simulatedchunk_once"), transaction.atomic():
        SimulatedChunk.objects.create(run=RUN, number=0, counts={})
