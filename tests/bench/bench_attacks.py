"""`./run bench attacks [--seconds N]`: what a dealer's step takes while somebody slow, many or in the way is there.

A real web process on loopback, with its settings as they are delivered, and four attacks that once stopped every table
(tests/casino/web/test_under_load.py has them as tests). Two dealers change a bet again and again; the same is measured
before each attack and during it, in one run, and the ratio counts. Everything is bounded: twenty downloads, forty
strangers, twenty inputs, twenty sign-ins, each again a second after its answer, for so many seconds. The crowd runs on
this machine, too: on few cores it takes some of what is measured.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any, Final
from uuid import uuid4

os.environ["CASINO_ENV"] = "demo"
os.environ["LOG_LEVEL"] = "ERROR"
os.environ["SECRET_KEY"] = "only for a benchmark, where nobody signs in but it"

import django

from casino.embedded import servers

os.environ["STATIC_ROOT"] = str(servers.LOCAL / "bench" / "static")
django.setup()

import psycopg  # noqa: E402

from casino.web.static_files import collect_if_changed  # noqa: E402
from ledger.models import HOUSE  # noqa: E402
from tables.models import Staff  # noqa: E402
from tables.roles import Role  # noqa: E402
from tests import floor, load, processes  # noqa: E402
from tests.load import Dealer  # noqa: E402

DOWNLOADS: Final = 20
STRANGERS: Final = 40
RELIEFS: Final = 20


@dataclass
class Steps:
    """What the dealers' steps took, and how they were answered."""

    seconds: list[float] = field(default_factory=list)
    answers: Counter[int] = field(default_factory=Counter)

    def __str__(self) -> str:
        cuts = quantiles(self.seconds, n=100)
        wrong = {status: count for status, count in self.answers.items() if status != 200}
        errors = f"errors {wrong}" if wrong else "no errors"
        return f"{len(self.seconds):5} steps, p50 {cuts[49] * 1e3:7.0f} ms, p99 {cuts[98] * 1e3:7.0f} ms, {errors}"

    @property
    def median(self) -> float:
        return quantiles(self.seconds, n=2)[0]


def deal(dealers: list[Dealer], seconds: float) -> Steps:
    """Each dealer makes a step, looks up for a tenth of a second, and makes the next."""
    steps, guard, end = Steps(), threading.Lock(), time.monotonic() + seconds

    def table(dealer: Dealer) -> None:
        while time.monotonic() < end:
            answer = dealer.input()
            with guard:
                steps.seconds.append(answer.seconds)
                steps.answers[answer.status] += 1
            time.sleep(0.1)

    with ThreadPoolExecutor(len(dealers)) as threads:
        list(threads.map(table, dealers))
    return steps


@contextmanager
def again_and_again(number: int, call: Callable[[int], Any]) -> Iterator[Counter[str]]:
    """So many who each do something, and again a second after they were answered; and what they were answered."""
    over, answers = threading.Event(), Counter[str]()

    def repeat(place: int) -> None:
        while not over.is_set():
            try:
                answers[str(call(place).status)] += 1
            except OSError as broken:
                answers[type(broken).__name__] += 1
            over.wait(1)

    with ThreadPoolExecutor(number) as threads:
        for place in range(number):
            threads.submit(repeat, place)
        try:
            yield answers
        finally:
            over.set()


def measure(label: str, dealers: list[Dealer], seconds: float, attack: Callable[[], Any]) -> None:
    """One attack: before, during, and the ratio of the medians."""
    before = deal(dealers, seconds)
    with attack() as attack_answers:
        time.sleep(1)
        during = deal(dealers, seconds)
    print(
        f"{label}\n  before  {before}\n  during  {during}\n  {during.median / before.median:.2f} x as long", flush=True
    )
    if attack_answers:
        print(f"  the attack itself was answered {dict(attack_answers)}", flush=True)


# --- The four --------------------------------------------------------------------------------------------------


@contextmanager
def slow_readers(url: str, bosses: list[Staff], table: int) -> Iterator[Counter[str]]:
    browsers = [load.signed_in(url, boss) for boss in bosses]
    with ExitStack() as lines:
        slow = [
            lines.enter_context(browsers[number % len(bosses)].slow(f"/pit/tables/{table}/log.csv"))
            for number in range(DOWNLOADS)
        ]
        yield Counter(line.recv(12).decode()[-3:] for line in slow)


@contextmanager
def strangers(url: str) -> Iterator[Counter[str]]:
    crowd = load.Browser(url)
    with again_and_again(STRANGERS, lambda _: crowd.form("/sign-in/", username=uuid4().hex, password="x")) as answers:
        yield answers


@contextmanager
def holding_book(
    name: str, intruder: psycopg.Connection[Any], number: int, call: Callable[[int], Any]
) -> Iterator[Counter[str]]:
    load.hold(name, intruder)
    try:
        with again_and_again(number, call) as answers:
            yield answers
    finally:
        intruder.execute("ROLLBACK")


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench attacks")
    parser.add_argument("--seconds", type=float, default=10)
    seconds = min(parser.parse_args().seconds, 60)
    house = servers.ServerSet(servers.LOCAL / "bench")
    collect_if_changed()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        web = processes.web_process(dict(os.environ) | processes.UNTHROTTLED, folder / "log")
        web.start()
        stack.callback(web.stop)
        superuser = house.database_url(servers.SUPERUSER)
        intruder = stack.enter_context(psycopg.connect(superuser, autocommit=True))
        dora, dan, boss = load.two_tables(web.url)
        dora.seq = load.write_much(dora.table, megabytes=8)
        dealers, operator = [dora, dan], floor.staff(Role.OPERATOR, "omar")
        bosses = [boss, *(floor.staff(Role.PIT_BOSS, f"boss{number}") for number in range(4))]
        tablet = load.enrolled(web.url, operator)
        reliefs = [floor.staff(Role.DEALER, f"relief{number}", f"3{number:02}") for number in range(RELIEFS)]
        deal(dealers, 2)

        measure(
            f"a) {DOWNLOADS} slow downloads of log.csv by {len(bosses)} pit bosses",
            dealers, seconds, lambda: slow_readers(web.url, bosses, dora.table.pk),
        )  # fmt: skip
        measure(f"b) {STRANGERS} strangers who sign in", dealers, seconds, lambda: strangers(web.url))
        key = uuid4()
        measure(
            "c) the other table's book held, 20 inputs there again and again",
            [dan], seconds, lambda: holding_book(dora.table.book.name, intruder, 20, lambda _: dora.sends(key, 1_000)),
        )  # fmt: skip
        measure(
            f"d) the house's book held, {RELIEFS} dealers signing in by badge",
            dealers, seconds,
            lambda: holding_book(
                HOUSE, intruder, RELIEFS,
                lambda number: tablet.form("/sign-in/", badge=str(reliefs[number].badge), pin=floor.PIN),
            ),
        )  # fmt: skip


if __name__ == "__main__":
    main()
