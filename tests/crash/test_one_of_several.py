"""`kill -9` of one of two web processes while a table is dealt through both: the others go on, nothing is lost.

What a process keeps for itself must not matter: each input may be taken by another process than the one before it.
"""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.crash.conftest import Fragile, children

ROUND = [
    {"do": "bet", "seat": 1, "amount_cents": 2_000},
    {"do": "close_bets"},
    {"do": "card", "rank": 8},
    {"do": "card", "rank": 10},
    {"do": "card", "rank": 8},  # seat 1 pairs: the round settles
]
ROUNDS = 6
SECONDS_APART = 4

PAUSE_SECONDS = 0.05
"""Between inputs, while the first rounds are dealt: as fast as the processes take them."""

LONG_PAUSE_SECONDS = 0.5
"""Between inputs after that, while a killed process is still being replaced: eight decks hold 32 pairs of eights, which
must last until both processes were killed, on however slow a machine."""


@pytest.fixture(scope="module")
def processes() -> int:
    return 2


def workers(fragile: Fragile) -> list[int]:
    assert fragile.web.process is not None
    below = children(fragile.web.process.pid)
    return [pid for pid in below if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]


def test_dealing_goes_on_and_every_input_is_there_once(fragile: Fragile) -> None:
    """Harm: a process that took no part in a round answers from what it remembers of the table; or an input that was
    acknowledged by the one that died is gone, or is recorded again by the other."""
    killed: list[int] = []
    over = threading.Event()

    def kill_one_and_again() -> None:
        while not over.wait(SECONDS_APART):
            if len(pids := workers(fragile)) == 2:
                killed.append(pids[len(killed) % 2])
                os.kill(killed[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill_one_and_again)
    killer.start()
    dealt = 0
    try:
        while dealt < ROUNDS or len(killed) < 2:
            for event in ROUND:
                fragile.client.enter(event, fragile.client.board()["seq"])
                time.sleep(PAUSE_SECONDS if dealt < ROUNDS else LONG_PAUSE_SECONDS)
            dealt += 1
    finally:
        over.set()
        killer.join()
    rows = fragile.sql("SELECT key::text, seq FROM ledger_logentry WHERE subject = 'round' ORDER BY seq")
    assert dict(rows) == fragile.client.acknowledged
    assert len(rows) == len(ROUND) * dealt
    assert f"{dealt} rounds replayed" in fragile.manage("verify").stdout


def test_all_processes_tell_the_same(fragile: Fragile) -> None:
    """Harm: which process answers decides what a screen shows. Each request is a connection of its own, so over a
    hundred of them every process is asked."""
    fragile.client.enter(ROUND[0], fragile.client.board()["seq"])
    boards = [fragile.client.board() for _ in range(100)]
    assert all(board == boards[0] for board in boards)
