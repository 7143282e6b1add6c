"""`./run bench houses [--replicated]`: three houses and a head office on this machine, one of them cut off.

Four databases, the head office's web processes, and a process for each errand of a house, as its worker runs it.
Prints one line of JSON.
"""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.houses import CUT_OFF, Https, Replicated, stage


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--replicated", action="store_true", help="days come by logical replication, not over HTTPS")
    way = Replicated if parser.parse_args().replicated else Https
    began = time.monotonic()
    with TemporaryDirectory() as folder:
        staging = stage(Path(folder), way)
    print(f"While {CUT_OFF} was cut off there came {staging.arrived_without_the_cut_off}.")
    print(f"{CUT_OFF} noted: {staging.cut_off_said}")
    print(f"In the end there was {staging.arrived}.")
    print(f"Refused: {[output.strip().splitlines()[-1] for output in staging.refused]}")
    print(f"Who can sign in where: {staging.signs_in}")
    print(json.dumps({name: value for name, value in asdict(staging).items() if name != "refused"}
                     | {"way": way.__name__, "seconds": round(time.monotonic() - began)}))  # fmt: skip


if __name__ == "__main__":
    main()
