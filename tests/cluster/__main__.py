"""`./run cluster [--faults primary,web] [--rounds 2] [--tables 50]`: a house on three database hosts and two
application hosts, all on this machine, where dealers deal while its parts die.

faults.py has the faults, docs/high-availability.md the layout and the results. The last line of output is JSON. The
exit code is 1 if an acknowledged input is lost, the log does not verify, or the cluster did not become whole again, and
3 if this machine lacks what a cluster needs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from casino.embedded.keeper import die_with_parent
from casino.embedded.servers import LOCAL
from tests.cluster import hosts, packages, report
from tests.cluster.cluster import APPLICATION_HOSTS, FRONT_PORT, Broken, Cluster
from tests.cluster.faults import FAULTS
from tests.cluster.lines import open_lines
from tests.cluster.report import Record, Round

FOLDER: Final = LOCAL / "cluster" / "house"
PACE_SECONDS: Final = 3.0
"""Between two inputs at each table."""
HELD_SECONDS: Final = 10.0
"""A fault lasts at least this long, and until every table deals again."""
PATIENCE_SECONDS: Final = 60.0
ROUND_SECONDS: Final = 60.0
"""More than a staged fault takes; inputs are planned for this time."""
INPUTS_A_ROUND: Final = 20
"""The fewest inputs of a dealt round with six seats."""


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run cluster", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--faults", type=fault_names, default=list(FAULTS), help=f"of {','.join(FAULTS)}; default: all")
    parser.add_argument("--rounds", type=int, default=20, help="rounds of each fault")
    parser.add_argument("--tables", type=int, default=50)
    return parser.parse_args(words)


def fault_names(text: str) -> list[str]:
    faults = text.split(",")
    if unknown := [name for name in faults if name not in FAULTS]:
        raise argparse.ArgumentTypeError(f"there is no fault {unknown[0]}: choose from {', '.join(FAULTS)}")
    return faults


class Trial:
    """A floor at work in a cluster."""

    def __init__(self, cluster: Cluster, tables: int, seconds: float) -> None:
        self.cluster = cluster
        self.record = Record(cluster.folder / "record.jsonl")
        rounds = 2 + math.ceil(seconds / PACE_SECONDS / INPUTS_A_ROUND)
        self.places = lay(cluster, tables, rounds)
        self.tables = [place["table"] for place in self.places]

    def begin(self) -> None:
        folder = self.cluster.folder
        self.record.path.touch()
        plan = {
            "places": self.places,
            "houses": list(APPLICATION_HOSTS.values()),
            "port": FRONT_PORT,
            "seconds_apart": PACE_SECONDS,
            "record": str(self.record.path),
            "over": str(folder / "over"),
        }
        (folder / "plan.json").write_text(json.dumps(plan))
        with (folder / "dealing.log").open("wb") as log:
            self.dealing = subprocess.Popen(
                [sys.executable, "-m", "tests.cluster.dealing", str(folder / "plan.json")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent,
            )  # fmt: skip
        self.deal_on(time.monotonic())

    def end(self) -> None:
        """Stop the screens; kill those that still wait for an answer after a minute."""
        (self.cluster.folder / "over").touch()
        with suppress(subprocess.TimeoutExpired):
            self.dealing.wait(timeout=60)
        self.dealing.kill()
        self.record.read()

    def deal_on(self, since: float) -> None:
        """Wait until every table deals again. Raises Broken."""
        while waiting := self.waiting(since):
            if self.dealing.poll() is not None:
                raise Broken(f"The screens ended: {(self.cluster.folder / 'dealing.log').read_text()[-2000:]}")
            if time.monotonic() > since + PATIENCE_SECONDS:
                raise Broken(f"{len(waiting)} tables have not dealt on for {PATIENCE_SECONDS:.0f} s.")
            time.sleep(0.1)

    def waiting(self, since: float) -> set[int]:
        """The tables without an answer since a moment, or for longer than two inputs take."""
        latest = max(since, time.monotonic() - 2 * PACE_SECONDS)
        return set(self.tables) - {
            note["table"] for note in self.record.read() if report.is_answer(note) and note["t"] > latest
        }

    def stage(self, fault: str, turn: int) -> Round:
        """Stage a fault once, and measure it. Raises Broken."""
        self.cluster.become_whole()
        began = time.monotonic()
        standstill = ""
        with FAULTS[fault](self.cluster, turn) as way:
            time.sleep(max(0.0, began + HELD_SECONDS - time.monotonic()))
            try:
                self.deal_on(began)
            except Broken as broken:  # some tables deal again only after the repair
                standstill = str(broken)
        repaired = time.monotonic()
        self.deal_on(repaired)
        self.cluster.become_whole()
        ended = time.monotonic()
        staged = Round(fault, way, began, ended, round(ended - repaired, 1))
        self.print_round(staged, standstill)
        return staged

    def print_round(self, staged: Round, standstill: str) -> None:
        notes = self.record.read()
        lost = report.sentences([staged], notes)
        print(
            f"  {staged.way:40} held up {max(staged.held_up(notes, self.tables)):5.1f} s,"
            f" nothing recorded for {staged.standstill_s(notes):5.1f} s, whole {staged.whole_s:5.1f} s after;"
            f" {sum(lost.values())} inputs unanswered{'; until it was repaired: ' + standstill if standstill else ''}",
            flush=True,
        )

    def missing(self) -> list[str]:
        """The keys of acknowledged inputs that are not in the primary's log."""
        keys = self.record.acknowledged()
        with self.cluster.connection() as connection:
            rows = connection.execute("SELECT key::text FROM ledger_logentry WHERE key = ANY(%s::uuid[])", [keys])
            return sorted(set(keys) - {key for (key,) in rows.fetchall()})


def lay(cluster: Cluster, tables: int, rounds: int) -> list[dict[str, object]]:
    began = time.monotonic()
    floor = subprocess.run(
        [sys.executable, "-m", "tests.cluster.floor", str(tables), str(rounds)],
        env=cluster.environment("app1"), stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    print(f"{tables} tables laid in {time.monotonic() - began:.0f} s", flush=True)
    places: list[dict[str, object]] = json.loads(floor.stdout.splitlines()[-1])
    return places


def run(cluster: Cluster, options: argparse.Namespace) -> int:
    cluster.start()
    trial = Trial(cluster, options.tables, ROUND_SECONDS * options.rounds * len(options.faults))
    cluster.start_house()
    if strangers := open_lines(cluster):
        raise Broken(f"The lines between the hosts are open: {'; '.join(strangers)}.")
    trial.begin()
    print(f"{options.tables} tables deal; each fault {options.rounds} times; load {os.getloadavg()[0]:.1f}", flush=True)
    rounds: list[Round] = []
    broken = ""
    try:
        for fault in options.faults:
            print(fault, flush=True)
            rounds += [trial.stage(fault, turn) for turn in range(options.rounds)]
    except Broken as error:
        broken = str(error)
    trial.end()
    return conclude(trial, rounds, broken)


def conclude(trial: Trial, rounds: list[Round], broken: str) -> int:
    missing, notes = trial.missing(), trial.record.notes
    try:
        trial.cluster.manage("verify", "--verbosity", "0")
        verified = True
    except Broken as error:
        verified, broken = False, broken or str(error)
    faults = {}
    for fault in dict.fromkeys(staged.fault for staged in rounds):
        of_fault = [staged for staged in rounds if staged.fault == fault]
        faults[fault] = report.figures(of_fault, notes, trial.tables)
        print(f"{fault}: what screens got instead of an answer")
        for sentence, count in report.sentences(of_fault, notes).most_common():
            print(f"  {count:6} {sentence}")
    for key in missing[:10]:
        print(f"lost: {key}", file=sys.stderr)
    if broken:
        print(broken, file=sys.stderr)
    acknowledged = len(trial.record.acknowledged())
    more = {"refused": dict(trial.record.refused()), "verified": verified, "load": round(os.getloadavg()[0], 1)}
    print(report.line(acknowledged, len(missing), faults, **more), flush=True)
    return 1 if missing or broken else 0


def main() -> int:
    words = [word for word in sys.argv[1:] if word != hosts.INSIDE]
    options = parse_arguments(words)
    try:
        programs = packages.programs()
        if hosts.INSIDE not in sys.argv:
            hosts.enter("tests.cluster", words)
    except (packages.NoPackages, hosts.NoNamespaces) as reason:
        print(reason, file=sys.stderr)
        return hosts.CANNOT
    hosts.reap()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True, mode=0o700)
    cluster = Cluster(FOLDER, programs, with_clocks="clock" in options.faults)
    try:
        return run(cluster, options)
    except Broken as broken:
        print(broken, file=sys.stderr)
        return 1
    finally:
        cluster.units.end()


if __name__ == "__main__":
    sys.exit(main())
