"""Two beats, of which only one schedules tasks."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from casino.embedded.servers import ServerSet
from tests.patience import eventually
from tests.processes import Served
from tests.tiers import Tier, belongs_to

SENDS = "Sending due task"
TURN = "this one schedules tasks now"


@pytest.fixture
@belongs_to(Tier.TRIALS)
def beats(process_environment: dict[str, str], broker: ServerSet, tmp_path: Path) -> Iterator[list[Served]]:
    command = [sys.executable, "-m", "celery", "--app", "casino", "beat", "--pidfile", "", "--loglevel", "INFO"]
    both = [
        Served(
            [*command, "--schedule", str(tmp_path / name)], process_environment, tmp_path / f"{name}.log",
            lambda beat: "beat: Starting" in beat.output(),
        )
        for name in ("first", "second")
    ]  # fmt: skip
    yield both
    for beat in both:
        if beat.process is not None:
            beat.process.send_signal(signal.SIGCONT)
        beat.kill()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_another_beat_takes_over_from_one_that_died_or_hangs(beats: list[Served], end: signal.Signals) -> None:
    """Harm: every task is asked for twice, or by nobody once the host with the beat is gone."""
    first, second = beats
    first.start()
    eventually(lambda: first.output().count(SENDS) > 2)
    second.start()
    count = first.output().count(SENDS)
    eventually(lambda: first.output().count(SENDS) > count + 2)
    assert SENDS not in second.output(), "two beats tell the same"
    assert first.process is not None
    first.process.send_signal(end)
    eventually(lambda: SENDS in second.output(), second.output)
    assert TURN in second.output()
    if end == signal.SIGSTOP:
        first.process.send_signal(signal.SIGCONT)
        eventually(lambda: "asks for the lock again" in first.output())
        count = first.output().count(TURN)
        assert count == 1, "it has no turn any more"
