"""The floor at work through the deployed web (`./run bench load`), small: that it works, not how fast."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from casino.embedded.servers import BASE_DIR
from tests.processes import UNTHROTTLED

SMALL = ["--tables", "4", "--watchers", "2", "--seconds", "5", "--sign-ins", "1"]


@pytest.mark.usefixtures("own_processes")
@pytest.mark.timeout(900)
def test_every_unit_that_is_shipped_starts_and_a_small_floor_deals_without_an_error() -> None:
    """Harm: a unit's command that does not start, a form that the house refuses, or a stream that ends is found by the
    first house that installs a release. The limits are those that are shipped: a floor at work reaches none."""
    with tempfile.TemporaryDirectory(prefix="load-") as folder:
        shipped = {name: text for name, text in os.environ.items() if name not in UNTHROTTLED}
        environment = shipped | {"CASINO_LOCAL": folder, "DJANGO_SETTINGS_MODULE": "casino.settings"}
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench", "load", *SMALL],
            cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        logs = "\n".join(path.read_text()[-2000:] for path in (Path(folder) / "bench").glob("deployed/*.log"))
    assert done.returncode == 0, f"{done.stderr}\n{logs}"
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["tables"], result["errors"]) == (4, 0), f"{done.stderr}\n{logs}"
    assert result["inputs"] > 0
    assert result["events_a_second"] > 0, "the watchers were told nothing"
