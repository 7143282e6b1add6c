"""`./run bench houses`: three houses and a head office on this machine, one of them cut off.

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

from tests.houses import CUT_OFF, stage


def main() -> None:
    ArgumentParser(description=__doc__).parse_args()
    began = time.monotonic()
    with TemporaryDirectory() as folder:
        staging = stage(Path(folder))
    print(f"While {CUT_OFF} was cut off there came {staging.arrived_without_the_cut_off}.")
    print(f"{CUT_OFF} noted: {staging.cut_off_said}")
    print(f"In the end there was {staging.arrived}.")
    print(f"Refused: {[output.strip().splitlines()[-1] for output in staging.refused]}")
    print(f"Who can sign in where: {staging.signs_in}")
    print(json.dumps({name: value for name, value in asdict(staging).items() if name != "refused"}
                     | {"seconds": round(time.monotonic() - began)}))  # fmt: skip


if __name__ == "__main__":
    main()
