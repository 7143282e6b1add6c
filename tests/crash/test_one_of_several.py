"""`kill -9` of one of two web processes while a table is dealt through both: the others go on, nothing is lost.

What a process keeps for itself must not matter: each input may be taken by another process than the one before it.
"""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.crash.conftest import Fragile, children
from tests.patience import eventually

ROUND = [
    {"do": "bet", "seat": 1, "amount_cents": 2_000},
    {"do": "close_bets"},
    {"do": "card", "rank": 8},
    {"do": "card", "rank": 10},
    {"do": "card", "rank": 8},  # seat 1 pairs: the round settles
]
ROUNDS_A_KILL = 3


@pytest.fixture(scope="module")
def processes() -> int:
    return 2


def workers(fragile: Fragile) -> list[int]:
    assert fragile.web.process is not None
    below = children(fragile.web.process.pid)
    return [pid for pid in below if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]


def deal(fragile: Fragile) -> None:
    for event in ROUND:
        fragile.client.enter(event, fragile.client.board()["seq"])


def kill_while_dealing(fragile: Fragile, pid: int) -> None:
    """Once two more inputs were acknowledged."""
    acknowledged = fragile.client.acknowledged
    so_far = len(acknowledged)
    eventually(lambda: len(acknowledged) >= so_far + 2)
    os.kill(pid, signal.SIGKILL)


def test_dealing_goes_on_and_every_input_is_there_once(fragile: Fragile) -> None:
    """Harm: a process that took no part in a round answers from what it remembers of the table; or an input that was
    acknowledged by the one that died is gone, or is recorded again by the other."""
    with ThreadPoolExecutor(1) as thread:
        for which in range(2):
            pids = eventually(lambda: both if len(both := workers(fragile)) == 2 else [])
            killed = thread.submit(kill_while_dealing, fragile, pids[which])
            for _ in range(ROUNDS_A_KILL):
                deal(fragile)
            killed.result()
            deal(fragile)  # by the other, or by its successor
    dealt = 2 * (ROUNDS_A_KILL + 1)
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
