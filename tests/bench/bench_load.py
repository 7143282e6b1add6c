"""`./run bench load [--tables 1000] [--watchers 200] [--seconds 60] [--behind ROUNDS] [--until-it-breaks]`: measures a
floor at work through the deployed web.

It runs PostgreSQL, Valkey, and every unit of deploy/systemd with its own command. Each table has a dealer with their
own terminal and address. screens.py acts like the scripts of the dealer's screen: it opens the page and the stream,
sends an input that the board offers with the board's key, and reads the board in the answer. An input is due every
three seconds at each table, even if the last one is late, and its time counts from that moment. Watchers are screens of
the pit: a tenth of them show the whole floor, the others one table each.

The tables are made by tests/floor.py, in as many processes as there are cores, and sessions by the functions that a
sign-in calls. Some dealers (`--sign-ins`) really sign in, by link, badge and PIN. The work that a new house has to do
at once, such as the nightly proofs, is finished before the floor begins.

With `--until-it-breaks` the rate then grows by the factor `--step` until one answer in a hundred takes a second or goes
wrong; the result says which, and names the busiest part of the house. If the floor's own pace is too much already, the
rate falls instead. Watchers beyond two hundred follow one table's number, as players' screens do, and the floor is
first measured without them. `--behind` puts a history of that many rounds behind half of the tables, and compares their
inputs with the other half's. The screens share the machine, so their processor time is reported separately. Results:
docs/load.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import django

django.setup()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from casino import celery  # noqa: E402
from casino.embedded import servers  # noqa: E402
from ledger import runs  # noqa: E402
from tables import tasks  # noqa: E402
from tables.audit.watch import PLANS  # noqa: E402
from tables.roles import Role  # noqa: E402
from tests.bench import open_house  # noqa: E402
from tests.bench.deployed import Deployed, deployed  # noqa: E402
from tests.bench.laid_floor import lay_floor, sign_in_bosses  # noqa: E402
from tests.bench.open_house import Place, begin_all, hear, line  # noqa: E402
from tests.bench.watched_past import watch_past  # noqa: E402

PACE_SECONDS: Final = 3.0
"""Between two inputs at each table."""
WARM_UP_SECONDS: Final = 5.0
WATCH_SECONDS: Final = 1_800.0
INPUTS_A_ROUND: Final = 20
"""The fewest inputs of a round with six seats."""
WHOLE_FLOOR: Final = 10
"""Every tenth watcher shows the whole floor."""
SLOW_MS: Final = 1_000.0
WRONG_SHARE: Final = 0.01
SHIFTS: Final = 20
"""The number of pit bosses among whom the watchers' screens are divided."""
PIT_SCREENS: Final = 200
"""The number of watchers that show the floor or a table's card."""
SCREENS_EACH: Final = 15
"""The most screens of one person. A further one would end their oldest."""


Screen = dict[str, str | int]
"""The plan of one screen, for its process."""


# --- The house -------------------------------------------------------------------------------------------------


def watcher(number: int, house: Deployed, bosses: list[str], places: list[Place]) -> Screen:
    """A screen of the pit, for the whole floor or one table; beyond ``PIT_SCREENS`` one that only follows a table."""
    table = places[number % len(places)].table.pk
    if number >= PIT_SCREENS:
        follower = {"cookies": bosses[number % len(bosses)], "page": "", "path": f"/live/?table={table}"}
        return follower | {"host": host(number, 2)} | at_ports(number, house)
    whole = number % WHOLE_FLOOR == 0
    return {
        "cookies": bosses[number % len(bosses)],
        "page": "/pit/" if whole else f"/pit/tables/{table}/",
        "path": "/live/" if whole else f"/live/?card={table}",
        "host": host(number, 2),
    } | at_ports(number, house)


def at_ports(number: int, house: Deployed) -> dict[str, int]:
    """The ports for a screen's pages and stream, distributed over the processes as nginx would."""
    pages, streams = house.ports("web"), house.ports("streams")
    return {"port": pages[number % len(pages)], "stream_port": streams[number % len(streams)]}


def host(number: int, network: int) -> str:
    """The screen's own loopback address; empty on systems that have only one."""
    return f"127.{network}.{number // 250}.{number % 250 + 1}" if sys.platform == "linux" else ""


# --- Measuring -------------------------------------------------------------------------------------------------


@dataclass
class Load:
    """The measurements of a floor at work at one rate of inputs."""

    rate: float
    """Inputs due in a second."""
    seconds: float
    latencies: list[float]
    errors: list[str]
    events: int
    megabytes_streamed: float
    worked: dict[str, float]
    megabytes: dict[str, float]
    connections: dict[str, int]
    screens: dict[str, float]
    """Processor seconds of the bench's own processes."""
    groups: dict[str, list[float]]
    """Latencies in seconds at tables with a history (old), and at the others (new)."""

    def percentile(self, part: int, group: str = "") -> float:
        """A percentile of the latencies, in milliseconds."""
        ordered = sorted(self.groups[group] if group else self.latencies)
        return round(ordered[min(math.ceil(len(ordered) * part / 100), len(ordered)) - 1] * 1e3, 1) if ordered else 0.0

    @property
    def is_broken(self) -> bool:
        return bool(self.breach)

    @property
    def breach(self) -> str:
        """The limit that was exceeded, as a sentence; empty if none was."""
        if len(self.errors) > WRONG_SHARE * max(len(self.latencies), 1):
            return f"{len(self.errors)} of {len(self.latencies)} inputs went wrong: {max(self.errors)}"
        if self.percentile(99) > SLOW_MS:
            return f"an input in a hundred takes {self.percentile(99):.0f} ms"
        return ""

    @property
    def flatness(self) -> dict[str, float]:
        """Latencies at tables with a history compared with those at tables without."""
        if len(self.groups) < 2:
            return {}
        middle, slow = ({group: self.percentile(part, group) or 1 for group in ("old", "new")} for part in (50, 99))
        return {
            "old_p50_ms": middle["old"], "new_p50_ms": middle["new"],
            "p50_ratio": round(middle["old"] / middle["new"], 2),
            "old_p99_ms": slow["old"], "new_p99_ms": slow["new"],
            "p99_ratio": round(slow["old"] / slow["new"], 2),
        }  # fmt: skip

    def figures(self) -> dict[str, Any]:
        inputs, house = len(self.latencies), sum(self.worked.values())
        return {
            "inputs": inputs,
            "inputs_a_second": round(inputs / self.seconds, 1),
            "asked_a_second": round(self.rate, 1),
            "errors": len(self.errors),
            **{f"p{part}_ms": self.percentile(part) for part in (50, 95, 99)},
            "inputs_per_core_second": round(inputs / house, 1),
            "cores": {part: round(worked / self.seconds, 2) for part, worked in self.worked.items()},
            "client_cores": {part: round(worked / self.seconds, 2) for part, worked in self.screens.items()},
            "megabytes": {part: round(held) for part, held in self.megabytes.items()},
            "connections": self.connections,
            "events_a_second": round(self.events / self.seconds),
            "streamed_megabytes_a_second": round(self.megabytes_streamed / self.seconds, 1),
        }


def measure(house: Deployed, places: list[Place], watchers: list[Screen], rate: float, seconds: float) -> Load:
    """Open all screens, then send inputs at a rate. Inputs count after the warm-up."""
    shared = {
        "seconds": seconds,
        "seconds_apart": len(places) / rate, "warm_up_seconds": WARM_UP_SECONDS,
    }  # fmt: skip
    dealers = [
        {
            "table": place.table.pk,
            "cookies": place.cookies,
            "forms": place.forms,
            "group": place.group,
            "host": host(number, 1),
        }
        | at_ports(number, house)
        for number, place in enumerate(places)
    ]
    plans = [shared | {"dealers": dealers}, *([shared | {"watchers": watchers}] if watchers else [])]
    processes = begin_all(plans)
    began, before = time.monotonic(), house.read()
    time.sleep(seconds / 2)
    sessions = database_sessions()
    for process in processes:
        hear(process, "measured")
    lasted, after = time.monotonic() - began, house.read()
    reports = [json.loads(line(process)) for process in processes]
    for place, forms in zip(places, reports[0]["forms"], strict=True):
        place.forms = forms
    return Load(
        rate=rate,
        seconds=lasted,
        latencies=reports[0]["seconds"],
        errors=[error for report in reports for error in report["errors"]],
        events=sum(report["events"] for report in reports),
        megabytes_streamed=reports[-1]["bytes"] / 1e6,
        worked={part: worked - before.seconds.get(part, 0.0) for part, worked in after.seconds.items()},
        megabytes=after.megabytes,
        connections=sessions,
        groups=reports[0]["groups"],
        screens=dict(zip(("dealers", "watchers"), (report["processor"] for report in reports), strict=False)),
    )


def database_sessions() -> dict[str, int]:
    """The number of the database's sessions: open, active, and waiting for a lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(*) FILTER (WHERE state = 'active'),"
            " count(*) FILTER (WHERE wait_event_type = 'Lock')"
            " FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        every, active, waiting = cursor.fetchone()
    return {"open": every, "active": active, "waiting": waiting}


# --- Running ---------------------------------------------------------------------------------------------------


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run bench load")
    parser.add_argument("--tables", type=int, default=1_000)
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--pace", type=float, help="inputs a second on the whole floor, instead of a third a table")
    parser.add_argument("--sign-ins", type=int, default=10, help="the number of dealers who sign in by hand")
    parser.add_argument("--processes", help="processes of each web unit, instead of half the cores")
    parser.add_argument(
        "--behind", type=int, default=0, help="the rounds of history behind half of the tables together"
    )
    parser.add_argument("--until-it-breaks", action="store_true")
    parser.add_argument("--step", type=float, default=1.4, help="the factor between two steps' rates")
    return parser.parse_args()


def show(load: Load) -> None:
    figures = load.figures()
    cores = "  ".join(f"{part} {worked:.2f}" for part, worked in sorted(figures["cores"].items()) if worked >= 0.01)
    print(
        f"  {figures['asked_a_second']:6.1f} inputs/s due, {figures['inputs_a_second']:6.1f} answered"
        f"   p50 {figures['p50_ms']:8.1f}   p95 {figures['p95_ms']:8.1f}   p99 {figures['p99_ms']:8.1f} ms"
        f"   errors {figures['errors']}   {figures['inputs_per_core_second']:.1f} inputs a core's second\n"
        f"    cores: {cores};"
        f" screens {sum(figures['client_cores'].values()):.2f}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    for error in sorted(set(load.errors))[:3]:
        print(f"    {error}", file=sys.stderr)


def await_the_watch() -> float:
    """Have the workers do what is due in a new house, such as the nightly proofs, which a floor at work has behind it;
    returns the seconds it took."""
    began = time.monotonic()
    celery.app.send_task(tasks.watch.name)
    while any(state.never for state in runs.states(PLANS, timezone.now())):
        if time.monotonic() - began > WATCH_SECONDS:
            raise SystemExit(f"The watch has not finished its first runs after {WATCH_SECONDS:.0f} s.")
        time.sleep(0.5)
    return time.monotonic() - began


def until_it_breaks(
    house: Deployed, places: list[Place], watchers: list[Screen], first: Load, options: argparse.Namespace
) -> dict[str, Any]:
    """Raise the rate from the floor's own pace on; lower it instead if that is too much already."""
    load, passed = first, None if first.is_broken else first
    factor = 1 / options.step if first.is_broken else options.step
    for _ in count():
        if load.is_broken and factor > 1:
            break
        rate = load.rate * factor
        if any(len(place.forms) < rate / len(places) * (options.seconds + WARM_UP_SECONDS) + 2 for place in places):
            break
        load = measure(house, places, watchers, rate, options.seconds)
        show(load)
        passed = passed if load.is_broken else load
        if factor < 1 and (passed is not None or rate < 1):
            break
    busiest = max(load.figures()["cores"].items(), key=lambda part: part[1])
    broke = load.breach or "nothing: the tables had no more rounds to deal"
    print(f"What broke first: {broke}; the busiest part was {busiest[0]}, {busiest[1]} cores", flush=True)
    return {
        "holds": passed.figures() if passed else None, "last": load.figures(), "broke": broke, "busiest": list(busiest),
    }  # fmt: skip


def main() -> None:
    options = parse_arguments()
    pace = options.pace or options.tables / PACE_SECONDS
    steps = 6 if options.until_it_breaks else 1
    inputs = steps * (options.step**steps if options.until_it_breaks else 1) * pace / options.tables
    rounds = 2 + math.ceil(inputs * (options.seconds + WARM_UP_SECONDS) / INPUTS_A_ROUND)
    by_hand = min(options.sign_ins, options.tables)
    began = time.monotonic()
    places = lay_floor(options.tables, by_hand, rounds * (2 if options.watchers > PIT_SCREENS else 1), options.behind)
    bosses = sign_in_bosses(max(min(SHIFTS, options.watchers), math.ceil(options.watchers / SCREENS_EACH)))
    behind = f", {options.behind:,} rounds behind half of them" if options.behind else ""
    print(f"{len(places)} tables set up in {time.monotonic() - began:.0f} s{behind}", flush=True)
    if options.behind:
        watch_past([place for place in places if place.group == "old"])
    folder = servers.LOCAL / "bench" / "deployed"
    folder.mkdir()
    environment = {"WEB_PROCESSES": options.processes} if options.processes else {}
    with deployed(folder, environment) as house:
        began, operator = time.monotonic(), open_house.somebody(Role.OPERATOR, "operator")
        for place in places[:by_hand]:
            open_house.sign_in_dealer(house.url, place, operator)
        if by_hand:
            print(f"{by_hand} dealers signed in by hand, {(time.monotonic() - began) / by_hand:.2f} s each", flush=True)
        print(f"the watch's first runs took {await_the_watch():.0f} s", flush=True)
        watchers = [watcher(number, house, bosses, places) for number in range(options.watchers)]
        few = None
        if options.watchers > PIT_SCREENS:
            few = measure(house, places, watchers[:PIT_SCREENS], pace, options.seconds)
            print(f"with {PIT_SCREENS} watchers:")
            show(few)
            print(f"with {options.watchers}:")
        first = measure(house, places, watchers, pace, options.seconds)
        show(first)
        more = until_it_breaks(house, places, watchers, first, options) if options.until_it_breaks else {}
    result = {
        "tables": options.tables,
        "watchers": options.watchers,
        **first.figures(),
        "load": round(os.getloadavg()[0], 1),
    }
    result |= {"behind": options.behind, **first.flatness} if options.behind else {}
    result |= {f"with_{PIT_SCREENS}_watchers": few.figures()} if few else {}
    print(json.dumps(result | ({"until_it_breaks": more} if more else {})), flush=True)


if __name__ == "__main__":
    main()
