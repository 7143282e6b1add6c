"""`./run bench floor_screens`: thirty tables at one action a second, with and without four pit screens.

A real house: PostgreSQL, Valkey, and the web processes that `./run demo` would start. Every dealer signs in by badge
and PIN at a terminal of their own and takes a table; the screens are those of tests/bench/screens.py. An action is due
by the clock, whatever became of the one before, and its time counts from that moment. Last, each dealer enters as
fast as the answers come. The screens' own processor time is told apart, for they share the machine.

    ./run bench floor_screens                       this checkout
    ./run bench floor_screens --beside PATH         in turn with another checkout, whose environment is installed
    ./run bench floor_screens --tables 10 --seconds 10 --processes 1
"""

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import django

django.setup()

from casino.embedded import servers  # noqa: E402
from tests import floor  # noqa: E402
from tests.bench.open_house import (  # noqa: E402
    Place,
    begin_all,
    hear,
    lay_tables,
    line,
    sign_in_boss,
    sign_in_dealer,
)
from tests.bench.processor import worked  # noqa: E402
from tests.floor import Role  # noqa: E402
from tests.processes import UNTHROTTLED, Web, web_process  # noqa: E402

PITS = 4
WARM_UP_SECONDS = 3


# --- Phases ----------------------------------------------------------------------------------------------------


@dataclass
class Phase:
    """What was measured while the screens did one thing."""

    title: str
    wall: float
    web: float
    database: float
    screens: float
    latencies: list[float] = field(repr=False)
    errors: list[str]
    dealers_requests: int
    pits_requests: int
    events: int

    def as_json(self) -> dict[str, Any]:
        """As JSON, times in milliseconds."""
        actions = len(self.latencies)
        cuts = sorted(self.latencies)
        percentiles = {
            f"p{q}_ms": round(cuts[min(math.ceil(actions * q / 100), actions) - 1] * 1e3, 1) for q in (50, 95, 99)
        }
        processor = {
            f"{process}_ms_an_action": round(getattr(self, process) / actions * 1e3, 2)
            for process in ("web", "database", "screens")
        }
        return {
            "phase": self.title, "actions": actions, "actions_a_second": round(actions / self.wall, 1), **percentiles,
            "errors": len(self.errors), **processor,
            "web_cores": round(self.web / self.wall, 2), "database_cores": round(self.database / self.wall, 2),
            "screens_cores": round(self.screens / self.wall, 2),
            "pit_requests_an_action": round(self.pits_requests / actions, 2),
            "board_refetches": self.dealers_requests - actions,
        }  # fmt: skip


@dataclass
class House:
    """A web that runs on the bench's servers, and whoever is signed in there."""

    web: Web
    places: list[Place]
    pits: list[str]
    seconds: float

    def measure(self, title: str, *, pits: bool, seconds_apart: float) -> Phase:
        port = int(self.web.url.rsplit(":", 1)[1])
        shared = {
            "port": port, "seconds": self.seconds, "seconds_apart": seconds_apart, "warm_up_seconds": WARM_UP_SECONDS,
        }  # fmt: skip
        dealers = [{"table": place.table.pk, "cookies": place.cookies, "forms": place.forms} for place in self.places]
        plans = [shared | {"dealers": dealers}, *([shared | {"pits": self.pits}] if pits else [])]
        processes = begin_all(plans)
        began, before = time.monotonic(), self._worked()
        for process in processes:
            hear(process, "measured")
        wall, after = time.monotonic() - began, self._worked()
        reports = [json.loads(line(process)) for process in processes]
        for place, forms in zip(self.places, reports[0]["forms"], strict=True):
            place.forms = forms
        return Phase(
            title,
            wall=wall,
            web=after[0] - before[0],
            database=after[1] - before[1],
            screens=sum(report["processor"] for report in reports),
            latencies=reports[0]["seconds"],
            errors=[error for report in reports for error in report["errors"]],
            dealers_requests=reports[0]["requests"],
            pits_requests=reports[1]["requests"] if pits else 0,
            events=sum(report["events"] for report in reports),
        )

    def _worked(self) -> tuple[float, float]:
        master = int((servers.ServerSet(servers.LOCAL / "bench").data / "postmaster.pid").read_text().split()[0])
        assert self.web.process is not None
        return worked([self.web.process.pid]), worked([master])


@contextlib.contextmanager
def opened(checkout: Path, processes: str | None) -> Iterator[Web]:
    """The web of a checkout, on this bench's servers; each checkout says itself how its web is started."""
    environment = dict(os.environ) | UNTHROTTLED | ({"WEB_PROCESSES": processes} if processes else {})
    environment["STATIC_ROOT"] = str(servers.LOCAL / "bench" / "static" / checkout.name)
    web = web_process(environment, servers.LOCAL / "bench" / "web.log")
    if checkout != servers.BASE_DIR:
        port = web.command[web.command.index("--port") + 1]
        web.command = ["env", "-C", str(checkout), *said_by(checkout, environment, COMMAND.format(port=port))]
    said_by(checkout, environment, COLLECT)
    web.start(seconds=180)
    try:
        yield web
    finally:
        web.stop()


COLLECT = "from casino.web import static_files; import django; django.setup(); static_files.collect_if_changed()"
COMMAND = """
import json, pathlib
from tests import processes  # noqa: E402
command = processes.web_process({{}}, pathlib.Path("log")).command
command[command.index("--port") + 1] = "{port}"
print(json.dumps(command))
"""


def said_by(checkout: Path, environment: dict[str, str], script: str) -> list[str]:
    """What a script prints in a checkout, as JSON."""
    python = str(checkout / ".venv" / "bin" / "python")
    run = subprocess.run(
        [python, "-c", script], cwd=checkout, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(run.stdout or "[]")


PHASES = (("dealers alone", False, 1.0), ("with four pit screens", True, 1.0), ("as fast as it goes", False, 0.0))


def show(about: dict[str, Any]) -> None:
    print(
        f"  {about['phase']:<24} {about['actions_a_second']:6.1f} actions/s   p50 {about['p50_ms']:7.1f}"
        f"   p95 {about['p95_ms']:7.1f}   p99 {about['p99_ms']:7.1f} ms   errors {about['errors']:<3}"
        f"   processor ms an action: web {about['web_ms_an_action']:6.2f}"
        f" database {about['database_ms_an_action']:5.2f}"
        f" screens {about['screens_ms_an_action']:5.2f}   pit requests an action {about['pit_requests_an_action']:.2f}",
        flush=True,
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run bench floor_screens")
    parser.add_argument("--tables", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--processes", help="web processes, instead of one a core")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--beside", type=Path, action="append", default=[])
    return parser.parse_args()


def main() -> None:
    options = arguments()
    places = lay_tables(range(1, options.tables + 1))
    operator = floor.staff(Role.OPERATOR, "operator")
    with opened(servers.BASE_DIR, options.processes) as web:
        for place in places:
            sign_in_dealer(web.url, place, operator)
        bosses = [sign_in_boss(web.url, number) for number in range(PITS)]
    load = os.getloadavg()[0]
    print(f"{options.tables} tables, {PITS} pit screens, {len(os.sched_getaffinity(0))} cores; load {load:.1f}")
    results = []
    for _ in range(options.repeats):
        for checkout in (*(path.resolve() for path in options.beside), servers.BASE_DIR):
            print(checkout.name if checkout != servers.BASE_DIR else "this checkout")
            with opened(checkout, options.processes) as web:
                house = House(web, places, bosses, options.seconds)
                for title, pits, apart in PHASES:
                    phase = house.measure(title, pits=pits, seconds_apart=apart)
                    results.append({"checkout": checkout.name} | phase.as_json())
                    show(results[-1])
                    for error in phase.errors[:3]:
                        print(f"    {error}", file=sys.stderr)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
