"""`./run bench demo`: how long a demo of its own takes to open, the first time and with its data there."""

import tempfile
from pathlib import Path
from time import perf_counter

from tests.casino.demo.test_demo import Demo, free_port

RUNS = ("the first time", "with its data there", "once more")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for run in RUNS:
            began = perf_counter()
            demo = Demo(Path(folder), port=free_port()).opened()
            print(f"  {run:<20} {perf_counter() - began:5.1f} s", flush=True)
            demo.process.terminate()
            demo.ends()


if __name__ == "__main__":
    main()
