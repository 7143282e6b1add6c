"""A simulation distributed over the site's workers: chunks of a million rounds, each dealt once and stored as integers.

A chunk is claimed by a lock that ends with its worker's connection, and is complete when its row exists. So a killed
worker leaves nothing behind, and the chunks add up to what one process would deal from that seed. Workers deal in short
turns, which the command requests repeatedly: other tasks never wait long, and a run stops with its command. A restarted
command continues it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from celery import shared_task

from ledger import runs
from tables.models import SimulatedChunk

if TYPE_CHECKING:
    from tables.maths.advantage.rocket_simulation import RocketTally

TURN_SECONDS: Final = 20
PATIENCE: Final = 3
"""Maximum of consecutive turns in which no worker deals a shoe."""
_LOOK_SECONDS: Final = 0.5


class NobodyDeals(Exception):
    """No worker took a turn in time: none runs, or all are busy."""


def name(description: Mapping[str, Any]) -> str:
    """The name of a run, derived from its description: runs with equal rounds share a name."""
    return json.dumps(description, sort_keys=True, separators=(",", ":"))


def deal(run: str, chunks: int, workers: int, report: Callable[[int, int], None]) -> None:
    """Have the workers deal the missing chunks, and wait for them. Raises NobodyDeals.

    `report` is called with the number of chunks dealt and their total.
    """
    before, idle = -1, 0
    while (count := dealt(run, chunks)) < chunks:
        idle = idle + 1 if count == before else 0
        if idle >= PATIENCE:
            raise NobodyDeals
        before = count
        _ask(run, chunks, workers)
        _wait(run, chunks, report)
    report(chunks, chunks)


def _ask(run: str, chunks: int, workers: int) -> None:
    """Enqueue a turn for each worker; the broker drops those not taken in time."""
    for _ in range(workers):
        turn.apply_async((run, chunks), expires=TURN_SECONDS)


def _wait(run: str, chunks: int, report: Callable[[int, int], None]) -> None:
    end = monotonic() + TURN_SECONDS
    while (count := dealt(run, chunks)) < chunks and monotonic() < end:
        report(count, chunks)
        sleep(_LOOK_SECONDS)


def dealt(run: str, chunks: int) -> int:
    """How many of the chunks are there."""
    return SimulatedChunk.objects.filter(run=run, number__lt=chunks).count()


@shared_task(name="tables.edge.spreading.turn")
def turn(run: str, chunks: int) -> int:
    """Deal missing chunks until none is left or the turn is over; returns the number of chunks dealt."""
    from tables.maths.advantage.rocket_simulation import chart, seed_of, table_of
    from tables.maths.advantage.rocket_simulation import deal as deal_chunk

    end, description, count = monotonic() + TURN_SECONDS, json.loads(run), 0
    table = table_of(description)
    folds = chart(table.solution)
    for number in _missing(run, chunks):
        if monotonic() > end:
            break
        with runs.alone(f"simulation {run} {number}") as is_alone:
            if is_alone and not SimulatedChunk.objects.filter(run=run, number=number).exists():
                tally = deal_chunk(table, seed_of(description["seed"], number), folds=folds)
                SimulatedChunk.objects.create(run=run, number=number, counts=tally.counts())
                count += 1
    return count


def _missing(run: str, chunks: int) -> Iterator[int]:
    numbers = set(SimulatedChunk.objects.filter(run=run, number__lt=chunks).values_list("number", flat=True))
    return (number for number in range(chunks) if number not in numbers)


def added_up(run: str, chunks: int, tally: RocketTally) -> RocketTally:
    """All chunks of a run in one tally, begun from an empty one."""
    rows = SimulatedChunk.objects.filter(run=run, number__lt=chunks).values_list("counts", flat=True)
    for counts in rows.iterator():
        tally = tally.with_counts(counts)
    return tally
