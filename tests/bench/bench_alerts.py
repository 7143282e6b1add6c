"""`./run bench alerts [--alerts N] [--beat-alone]`: from a dealer's input to the alert on a pit boss's screen.

A real house as `./run demo` starts it: PostgreSQL, Valkey, the web, the worker of the queue `alerts`, and beat. Dealers
post bets as their screens do, at terminals of their own, each after a pause by chance, so that no two come at the same
moment of beat's two seconds; a pit boss looks at the floor's page in a real Chromium, which notes by itself when the
alert stands there. Each alert is then acknowledged. What was found: docs/alerts.md.

``--beat-alone``: the worker serves both queues, and so does not hear the commits: how it was before it did.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import product
from typing import Any, Final

import django

django.setup()

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright keeps an event loop in this thread

from playwright.sync_api import sync_playwright  # noqa: E402

from casino.embedded import servers  # noqa: E402
from ledger import alerts  # noqa: E402
from ledger.models import Alert  # noqa: E402
from tables.alerts import log_followers, rules_in_force  # noqa: E402
from tests import chromium, floor  # noqa: E402
from tests.bench.bench_floor_screens import Browser, Place, lay_tables, opened, sign_in_dealer  # noqa: E402
from tests.bench.screens import DRAWN  # noqa: E402
from tests.floor import Role  # noqa: E402
from tests.processes import Served, worker_process  # noqa: E402

SEATS: Final = (1, 2, 3, 4, 5)
FOLDER: Final = servers.LOCAL / "bench"
SEEN: Final = """words => {
  window.seenAt = 0;
  const shown = () => document.querySelector("#alerts")?.innerText.includes(words);
  const watch = new MutationObserver(() => { if (!window.seenAt && shown()) {
    window.seenAt = Date.now(); watch.disconnect(); } });
  watch.observe(document.body, { childList: true, subtree: true, characterData: true });
}"""
"""The page notes by itself when the words stand among its alerts: nothing has to ask it meanwhile."""


CALM_SECONDS: Final = 1.0
"""Between two bets, and up to as much as beat waits besides."""


def bet(url: str, place: Place, seat: int) -> float:
    """A bet as the dealer's screen posts it; the moment at which it was sent."""
    browser = Browser(url)
    browser.opener.addheaders = [("Cookie", place.cookies)]
    path = f"/tables/{place.table.pk}/"
    page = browser.get(path)
    drawn = DRAWN.search(page)
    assert drawn, page[:500]
    moment = time.time()
    browser.post(f"{path}input", page, key=drawn[2], seq=drawn[3], seat=str(seat), amount="50")
    return moment


@contextmanager
def running(*processes: Served) -> Iterator[None]:
    """The worker and beat, until it is measured."""
    try:
        for process in processes:
            process.start(seconds=180)
        yield
    finally:
        for process in processes:
            process.stop()


def workers(beat_alone: bool) -> tuple[Served, Served]:
    """As `./run demo` starts them."""
    environment = dict(os.environ)
    queues = "alerts,celery" if beat_alone else "alerts"
    worker = worker_process(environment, FOLDER / "alerts.log", "--queues", queues, "--concurrency", "2")
    command = [sys.executable, "-m", "celery", "--app", "casino", "beat", "--pidfile", "", "--loglevel", "INFO"]
    command += ["--schedule", str(FOLDER / "beat")]
    return worker, Served(command, environment, FOLDER / "beat.log", lambda beat: "Starting" in beat.output())


def measured(stack: ExitStack, count: int, beat_alone: bool) -> dict[str, list[float]]:
    """Seconds from the post to the alert in the database, and on the screen."""
    places = lay_tables(math.ceil(count / len(SEATS)))
    boss, operator = floor.staff(Role.PIT_BOSS, "bettina", "209"), floor.staff(Role.OPERATOR, "olga")
    rules_in_force.set_rule(replace(rules_in_force.in_force()["large_bet"], threshold=5_000), by=boss)
    log_followers.follow()  # what opened the tables
    web = stack.enter_context(opened(servers.BASE_DIR, None))
    for place in places:
        sign_in_dealer(web.url, place, operator)
    stack.enter_context(running(*workers(beat_alone)))
    page = stack.enter_context(pit_screen(web.url, boss))
    took: dict[str, list[float]] = {"stored": [], "shown": []}
    for place, seat in list(product(places, SEATS))[:count]:
        time.sleep(CALM_SECONDS + random.uniform(0, 2))
        words = f"Large bet at {place.table.name}: seat {seat} "
        page.evaluate(SEEN, words)
        moment = bet(web.url, place, seat)
        deadline = time.monotonic() + 60
        while not page.evaluate("window.seenAt"):
            assert time.monotonic() < deadline, f"{words} never came"
            page.wait_for_timeout(100)
        raised = Alert.objects.get(message__startswith=words)
        took["stored"].append(raised.at.timestamp() - moment)
        took["shown"].append(page.evaluate("window.seenAt") / 1_000 - moment)
        alerts.acknowledge(raised, boss.signature, "seen")
    return took


@contextmanager
def pit_screen(url: str, boss: Any) -> Iterator[Any]:
    """The floor's page of a pit boss, live, in a browser of their own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.ARGUMENTS))
        page = browser.new_page(base_url=url)
        page.goto("/sign-in/")
        page.context.add_cookies(floor.cookies_of(boss, url))
        page.goto("/pit/")
        page.wait_for_selector("#live[data-state=live]")
        yield page
        browser.close()


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--alerts", type=int, default=50)
    parser.add_argument("--beat-alone", action="store_true")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        took = measured(stack, chosen.alerts, chosen.beat_alone)
    label = "beat alone" if chosen.beat_alone else "the worker hears commits"
    for stage in ("stored", "shown"):
        print(f"| {label} | {stage} | {len(took[stage])} | {summary(took[stage])} |", flush=True)
    slow = [f"number {number}: {seconds:.1f} s" for number, seconds in enumerate(took["shown"], 1) if seconds > 2]
    print(f"Longer than two seconds: {', '.join(slow) or 'none'}; load {os.getloadavg()[0]:.1f}")


def summary(seconds: list[float]) -> str:
    """Median, 95th percentile and the longest."""
    cuts = sorted(seconds)
    p50, p95 = (cuts[math.ceil(len(cuts) * part) - 1] for part in (0.5, 0.95))
    return f"{p50:.2f} s | {p95:.2f} s | {cuts[-1]:.2f} s"


if __name__ == "__main__":
    main()
