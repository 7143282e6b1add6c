"""`./run bench replay`: `manage.py replay --lines` on 100,000 Rocket records: records a second, and peak memory.

The same command judges a hundredth of them first: memory that grew with the number of records would show between the
two. Records are made beforehand and differ in bets, cards and decisions; every answer must be a whole round.
"""

import json
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from tables.games.catalog import GAMES
from tables.games.protocol import Limits, Opening
from tables.games.record import record_of
from tables.games.rocket import Rules
from tests.games.test_every_game import PlayOut

RECORDS, FEW, MADE = 100_000, 1_000, 2_000
MOST_GROWTH = 2_000
"""Kilobytes by which the peak may differ: what the allocator keeps in hand."""


def records() -> list[str]:
    """Rounds of Rocket at full tables, one a line."""
    lines = []
    for seed in range(MADE):
        opening, chance = Opening((1, 2, 3, 4, 5, 6), Limits()), random.Random(seed)
        round_ = PlayOut(GAMES["rocket"], Rules(), opening, chance, boldness=0.5, kind=False)
        round_.run()
        lines.append(json.dumps(record_of(round_.game, round_.rules, round_.opening, round_.actions)))
    return lines


LAUNCHER = """
import os, sys
_, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, *sys.argv[1:]]), 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Starts the command from a small process: a peak counts from what the process that started it had."""


def judge(source: Path, count: int) -> tuple[float, int]:
    """Seconds, and the peak of the command's memory in kilobytes."""
    answers = source.with_suffix(".answers")
    command = [sys.executable, "-S", "-c", LAUNCHER, "manage.py", "replay", "--lines", str(source)]
    start = perf_counter()
    with answers.open("wb") as out:
        run = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=True)
    seconds = perf_counter() - start
    with answers.open() as read:
        assert sum('"complete": true' in line for line in read) == count, "not every record was a whole round"
    return seconds, int(run.stderr.split()[-1])


def main() -> None:
    lines = records()
    with TemporaryDirectory() as folder:
        peaks = []
        for count in (FEW, RECORDS):
            source = Path(folder) / f"{count}.jsonl"
            with source.open("w") as out:
                out.writelines(f"{lines[number % MADE]}\n" for number in range(count))
            seconds, peak = judge(source, count)
            peaks.append(peak)
            print(
                f"{count:>8,} records in {seconds:6.1f} s with the start of the command: "
                f"{count / seconds:>7,.0f} records/s, peak {peak / 1024:.1f} MB"
            )
    assert peaks[1] - peaks[0] < MOST_GROWTH, f"memory grew by {peaks[1] - peaks[0]} KB: it is not constant"
    print("Memory is the same for a hundred times as many records.")


if __name__ == "__main__":
    main()
