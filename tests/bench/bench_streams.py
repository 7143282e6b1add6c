"""`./run bench streams [--streams N ...] [--actions N] [--same-table]`: a dealer at work while streams are open.

Opens so many streams of seats' pages over loopback, from a process of their own, and lets a dealer deal through the web
process meanwhile: how long an input takes, beside none open, measured in one run. Streams follow other tables than the
dealer's, or with `--same-table` the dealer's own, so that each input is told to all of them. The limits of the house
are lifted for it: with them, nobody opens so many.

Prints the dealer's p50 and p99 and their ratios, memory a stream, and threads. What was found: docs/scale.md.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import os
import resource
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import quantiles
from time import monotonic, perf_counter, sleep
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connections  # noqa: E402

from tables.models import Staff, Table  # noqa: E402
from tests import floor, processes  # noqa: E402

TABLES: Final = 10
SEATS: Final = 8
AT_ONCE: Final = 50
PATIENCE: Final = 300
UNLIMITED: Final = (
    dict.fromkeys(("STREAMS_PER_SEAT", "STREAMS_PER_PERSON", "STREAMS_IN_ALL"), "100000") | processes.UNTHROTTLED
)


# --- the streams, in a process of their own -----------------------------------------------------------------------


def hold(pipe: Connection, host: str, port: int, paths: list[str], cookie: str) -> None:
    """Open as many streams as is asked for, and keep them; say how many events came."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    asyncio.run(_hold(pipe, host, port, paths, cookie))


async def _hold(pipe: Connection, host: str, port: int, paths: list[str], cookie: str) -> None:
    desk, events, readers = asyncio.Semaphore(AT_ONCE), [0], list[asyncio.Task[None]]()

    async def follow(number: int, opened: asyncio.Future[None]) -> None:
        async with desk:
            reader, writer = await asyncio.open_connection(host, port)
            path = paths[number % len(paths)]
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
        opened.set_result(None) if b" 200 " in head else opened.set_exception(ConnectionError(head.decode()))
        while line := await reader.readline():
            events[0] += line.startswith(b"event:")

    while (target := await asyncio.to_thread(pipe.recv)) is not None:
        waiting = []
        while len(readers) < target:
            waiting.append(asyncio.get_running_loop().create_future())
            readers.append(asyncio.create_task(follow(len(readers), waiting[-1])))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*waiting)
        pipe.send(events[0])
    for reader in readers:
        reader.cancel()


# --- the dealer ---------------------------------------------------------------------------------------------------


class Dealer:
    """Bets and takes bets back, through the web process, as the screen does."""

    def __init__(self, web: processes.Web, hand: floor.Hand, signed_in: str) -> None:
        self.hand, self.seq, self.bets = hand, hand.now.seq, 0
        self.connection = http.client.HTTPConnection(urlsplit(web.url).netloc, timeout=PATIENCE)
        token = "a" * 32
        self.headers = {
            "Cookie": f"{signed_in}; csrftoken={token}",
            "X-CSRFToken": token,
            "Content-Type": "application/json",
        }

    def act(self) -> float:
        """One input; how long it took until it was answered."""
        self.bets += 1
        entered = {"do": "bet", "seat": self.bets % 6 + 1, "amount_cents": 1_000 * (self.bets // 6 % 9 + 1)}
        body = json.dumps({"input": entered, "key": str(uuid4()), "expected_seq": self.seq})
        began = perf_counter()
        self.connection.request("POST", f"/api/tables/{self.hand.table.pk}/inputs/", body, self.headers)
        answer = self.connection.getresponse()
        answer_body = answer.read()
        took = perf_counter() - began
        if answer.status >= 400:
            sys.exit(f"The dealer's input was refused: {answer.status} {answer_body[:300]!r}")
        self.seq = json.loads(answer_body)["seq"]
        return took


def _signed_in(person: Staff) -> str:
    cookies = floor.client(person).cookies
    return "; ".join(f"{name}={cookies[name].value}" for name in ("sessionid", "terminal"))


def memory_kb(web: processes.Web) -> int:
    return int(_status(web, "VmRSS"))


def threads(web: processes.Web) -> int:
    return int(_status(web, "Threads"))


def _status(web: processes.Web, name: str) -> str:
    assert web.process is not None
    lines = Path(f"/proc/{web.process.pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f"{name}:"))


# --- all of it ----------------------------------------------------------------------------------------------------


def seats() -> list[str]:
    """The addresses of streams of seats' pages, at tables that the dealer does not deal."""
    addresses = []
    for number in range(TABLES):
        hand, _ = floor_of_its_own(f"Hawthorn {number}")
        addresses += [f"/seat/{floor.player(hand, seat).token}/live" for seat in range(1, SEATS + 1)]
    return addresses


def floor_of_its_own(name: str) -> tuple[floor.Hand, Table]:
    """An open table whose seats have pages of their own."""
    limits = {"min_cents": 100, "max_cents": 100_000}
    table = floor.table(name, game="hawthorn", source="house", seats=SEATS, options={}, **limits)
    boss = floor.Hand(table, floor.crew("requested"))
    boss("open_table")
    return boss, table


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run bench streams")
    parser.add_argument("--streams", type=int, nargs="+", default=[500, 2_000, 3_500, 6_000])
    parser.add_argument("--actions", type=int, default=400, help="so many inputs at each number of streams")
    parser.add_argument("--pause", type=float, default=0.03, help="seconds between two inputs")
    parser.add_argument("--same-table", action="store_true", help="the streams follow the dealer's own table")
    return parser.parse_args()


def measured(dealer: Dealer, actions: int, pause: float) -> tuple[float, float]:
    """p50 and p99, in milliseconds."""
    took = []
    for _ in range(actions):
        took.append(dealer.act() * 1e3)
        sleep(pause)
    cuts = quantiles(took, n=100)
    return cuts[49], cuts[98]


def compare(web: processes.Web, dealer: Dealer, pipe: Connection, chosen: argparse.Namespace) -> None:
    """None open, then ever more; each beside none."""
    measured(dealer, 50, 0)
    p50, p99 = measured(dealer, chosen.actions, chosen.pause)
    empty_kb = memory_kb(web)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(" streams    p50 ms    p99 ms   p50 x   p99 x   kB each  threads  opened in")
    print(f"{0:>8}{p50:>10.1f}{p99:>10.1f}{1:>8.2f}{1:>8.2f}{'':>10}{threads(web):>9}", flush=True)
    for count in chosen.streams:
        began = monotonic()
        pipe.send(count)
        pipe.recv()
        opened = monotonic() - began
        middle, tail = measured(dealer, chosen.actions, chosen.pause)
        kb_each = (memory_kb(web) - empty_kb) / count
        print(
            f"{count:>8}{middle:>10.1f}{tail:>10.1f}{middle / p50:>8.2f}{tail / p99:>8.2f}{kb_each:>10.1f}"
            f"{threads(web):>9}{opened:>9.1f} s",
            flush=True,
        )


def main() -> None:
    """Open a house, and ever more streams."""
    chosen = arguments()
    hand, _ = floor.dealt()
    paths = [f"/live/?table={hand.table.pk}"] if chosen.same_table else seats()
    cookie = _signed_in(floor.crew("confirmed")) if chosen.same_table else ""
    environment = dict(os.environ) | UNLIMITED | {"CASINO_ENV": "demo", "SECRET_KEY": settings.SECRET_KEY}
    signed_in = _signed_in(hand.by)
    connections.close_all()
    with tempfile.TemporaryDirectory() as folder:
        web = processes.web_process(environment, Path(folder) / "log")
        web.start()
        address = urlsplit(web.url)
        pipe, theirs = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        holder = spawn.Process(target=hold, args=(theirs, address.hostname, address.port, paths, cookie), daemon=True)
        holder.start()
        theirs.close()
        try:
            compare(web, Dealer(web, hand, signed_in), pipe, chosen)
        finally:
            holder.kill()
            web.stop()


if __name__ == "__main__":
    main()
