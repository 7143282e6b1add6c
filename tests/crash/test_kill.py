"""`kill -9` of the web process and of PostgreSQL, between any two actions of a round and in the middle of one.

Nothing that was acknowledged is lost, nothing is recorded twice, and the table goes on at the exact prompt.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest

from tests.crash.conftest import Fragile

ROUND: list[dict[str, Any]] = [
    {"do": "bet", "seat": 1, "amount_cents": 2_000},
    {"do": "bet", "seat": 4, "amount_cents": 5_000},
    {"do": "close_bets"},
    {"do": "card", "rank": 8},
    {"do": "card", "rank": 4},
    {"do": "card", "rank": 10},
    {"do": "card", "rank": 8},  # seat 1 pairs
    {"do": "card", "rank": 7},  # seat 4 stays in
    {"do": "card", "rank": 10},  # the dealer pairs: the round settles
    {"do": "paid", "seat": 4},
]
HOUSE_NET_CENTS = 1_600 - 5_000
TRANSFERS = 6
DELAYS = (0.0, 0.002, 0.004, 0.006, 0.008, 0.011, 0.015, 0.02, 0.003, 0.005)
"""Seconds from the moment that an input is sent to the kill: before it arrives, in its midst, after it is durable."""

Prompt = tuple[Any, ...]
played: list[str] = []


def prompt(board: dict[str, Any]) -> Prompt:
    """What the screen asks for, and what lies on the layout."""
    seats = [(box["bet_cents"], box["stack"], box["state"]) for box in board["seats"]]
    return board["due"], board["phrase"]["do"], seats, board["dealer_stack"], board["prompts"]


@pytest.fixture(scope="module")
def expected(fragile: Fragile) -> list[Prompt]:
    """What is asked before each input of the round and after the last: a round in which nobody is killed."""
    boards = []
    for entered in ROUND:
        board = fragile.client.board()
        boards.append(prompt(board))
        fragile.client.enter(entered, board["seq"])
    played.append("undisturbed")
    return [*boards, prompt(fragile.client.board())]


def play_through(fragile: Fragile, expected: list[Prompt], place: int, kill: Callable[[], None]) -> None:
    """One round, in which something is killed while its input ``at`` is under way."""
    client = fragile.client
    for number, entered in enumerate(ROUND):
        board = client.board()
        if number:  # before a round the bets of the round before are still on the screen
            assert prompt(board) == expected[number]
        if number != place:
            assert client.enter(entered, board["seq"])["seq"] == board["seq"] + 1
            continue
        with ThreadPoolExecutor(1) as thread:
            pending = thread.submit(client.enter, entered, board["seq"])
            wait([pending], timeout=DELAYS[place])
            kill()
            resumed = prompt(client.board())
            answer = pending.result()
        assert not number or resumed in expected[number : number + 2]
        assert answer["entry"] == answer["seq"] == board["seq"] + 1
    assert prompt(client.board()) == expected[-1]


@pytest.mark.parametrize("place", range(len(ROUND)))
def test_the_web_process_is_killed(fragile: Fragile, expected: list[Prompt], place: int) -> None:
    """Harm: an input that a dealer saw acknowledged is gone, or a bet that was sent again counts twice."""
    play_through(fragile, expected, place, fragile.kill_web)
    played.append(f"web {place}")


@pytest.mark.parametrize("place", range(len(ROUND)))
def test_postgresql_is_killed(fragile: Fragile, expected: list[Prompt], place: int) -> None:
    """Harm: an acknowledged input is gone with the database; or the web process never finds the database again."""
    play_through(fragile, expected, place, fragile.kill_postgres)
    played.append(f"postgres {place}")


def test_nothing_acknowledged_is_lost_and_nothing_is_doubled(fragile: Fragile, expected: list[Prompt]) -> None:
    """Harm: a log that looks right on the screen, and is not; chips that came from nowhere."""
    client = fragile.client
    rows = fragile.sql("SELECT key::text, seq FROM ledger_logentry WHERE subject = 'round' ORDER BY seq")
    assert len(rows) == len(ROUND) * len(played)
    assert dict(rows) == client.acknowledged
    assert len(client.acknowledged) == len(rows)
    ((moved,),) = fragile.sql("SELECT count(*) FROM ledger_transfer WHERE kind IN ('stake', 'loss', 'win', 'return')")
    assert moved == TRANSFERS * len(played)
    ((net,),) = fragile.sql(
        "SELECT sum(CASE WHEN target_place = 'rack' THEN amount_cents ELSE -amount_cents END)"
        " FROM ledger_transfer WHERE kind IN ('loss', 'win')"
    )
    assert net == HOUSE_NET_CENTS * len(played)
    verdict = fragile.manage("verify").stdout
    assert f"{len(played)} rounds replayed" in verdict
    assert client.failures, "nothing was ever killed in the middle of a request: this proved little"
