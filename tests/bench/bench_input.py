"""`./run bench input [--beside PATH]`: what an input of a dealer costs a web process, by part, without the HTTP server.

Inputs of whole rounds go through the whole application (tests/bench/input_worker.py), at as many tables as asked for,
one input at each in turn, as on a floor. Told are the processor's seconds of the process, by part, those of the
database, and the texts that went to it. With `--beside`, another checkout takes turns on the same database with tables
of its own, laid from the same plans: its boards have to be the same, byte for byte.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import django

django.setup()

from django.db import connections  # noqa: E402

from casino.embedded import servers  # noqa: E402
from tables.roles import Role  # noqa: E402
from tests.bench import open_house  # noqa: E402
from tests.bench.laid_floor import at_the_table  # noqa: E402
from tests.bench.open_house import Place, line, tell  # noqa: E402
from tests.bench.processor import worked  # noqa: E402
from tests.processes import UNTHROTTLED  # noqa: E402

INPUTS_A_ROUND: Final = 20
WARM_UP: Final = 20
"""Inputs at each table that nobody counts."""


class Side:
    """A checkout's own process, with its tables."""

    def __init__(self, title: str, folder: Path, places: list[Place]) -> None:
        self.title, self.tables = title, len(places)
        self.inputs = self.statements = 0
        self.worked = self.database = 0.0
        self.parts: dict[str, float] = defaultdict(float)
        self.boards = ""
        worker = Path(__file__).with_name("input_worker.py")
        environment = os.environ | {
            "CASINO_ENV": "production", "TLS": "no", "ALLOWED_HOSTS": "127.0.0.1", "ACCESS_LOG": os.devnull,
            "DATABASE_CONNECTIONS": "24", "STATIC_ROOT": str(servers.LOCAL / "bench" / f"static-{title}"),
            **UNTHROTTLED,
        }  # fmt: skip
        collect = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
        subprocess.run(collect, cwd=folder, env=environment, check=True)
        if folder_of_boards := environment.get("BOARDS"):
            environment["BOARDS"] = str(Path(folder_of_boards, title))
            Path(folder_of_boards, title).mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, str(worker)], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        plan = [{"table": place.table.pk, "cookies": place.cookies, "forms": place.forms} for place in places]
        tell(self.process, json.dumps(plan))
        open_house.hear(self.process, "open")

    def turn(self, inputs: int, *, counts: bool = True) -> None:
        before = database_seconds()
        tell(self.process, str(inputs))
        report: dict[str, Any] = json.loads(line(self.process))
        self.boards = report["boards"]
        if not counts:
            return
        self.database += database_seconds() - before
        self.inputs += report["inputs"]
        self.statements += report["statements"]
        self.worked += report["worked"]
        for part, seconds in report["parts"].items():
            self.parts[part] += seconds

    def figures(self) -> dict[str, float]:
        """Milliseconds of a core for each input."""
        each = {part: seconds / self.inputs * 1e3 for part, seconds in self.parts.items()}
        inside = sum(each.get(part, 0.0) for part in ("record()", "what the board says", "templates"))
        ways = each.pop("view", 0.0)
        whole = self.worked / self.inputs * 1e3
        figures = {
            "web_ms": whole, "before and after the view": whole - ways, "view, besides": ways - inside, **each,
            "database_ms": self.database / self.inputs * 1e3, "statements": self.statements / self.inputs,
        }  # fmt: skip
        return {name: round(value, 2) for name, value in figures.items()}


def database_seconds() -> float:
    """What the database's processes have worked; those that ended are counted by their parent."""
    postmaster = servers.ServerSet(servers.LOCAL / "bench").folder / "postgres" / "postmaster.pid"
    return worked([int(postmaster.read_text().split()[0])])


def lay(first: int, tables: int, rounds: int) -> list[Place]:
    """Tables with their dealers at them; those of two sides have the same plans."""
    boss = open_house.somebody(Role.PIT_BOSS, "opener")
    operator = open_house.somebody(Role.OPERATOR, "operator")
    places = [open_house.lay_table(first + number, boss, rounds, seed=number) for number in range(tables)]
    for place in places:
        place.cookies = at_the_table(place, operator)
    return places


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run bench input")
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--inputs", type=int, default=20, help="at each table in each turn")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--beside", type=Path, help="another checkout, with the same migrations")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    folders = {"this": servers.BASE_DIR} | ({"beside": options.beside.resolve()} if options.beside else {})
    rounds = 1 + math.ceil((WARM_UP + options.inputs * options.turns) / INPUTS_A_ROUND)
    laid = {title: lay(1 + 10_000 * number, options.tables, rounds) for number, title in enumerate(folders)}
    connections.close_all()
    sides = [Side(title, folder, laid[title]) for title, folder in folders.items()]
    for side in sides:
        side.turn(WARM_UP, counts=False)
    differ = 0
    for _ in range(options.turns):
        for side in sides:
            side.turn(options.inputs)
        differ += len({side.boards for side in sides}) > 1
    for side in sides:
        tell(side.process, "")
        side.process.wait()
        print(f"{side.title}: {side.figures()}", flush=True)
    if differ:
        print(f"the boards differed after {differ} of {options.turns} turns", file=sys.stderr)
    figures = {side.title: side.figures() for side in sides}
    print(json.dumps({"tables": options.tables, "inputs": sides[0].inputs, **figures, "boards_differ": bool(differ)}))


if __name__ == "__main__":
    main()
