"""The demo's past: made by the floor's own functions, so that everything that proves a house proves it."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from casino.demo import clock
from casino.embedded import servers
from tests.casino.demo.test_demo import CONFIGURED, Demo
from tests.processes import free_port

FACTS = """
import json
from ledger.models import Alert, DayRoot, Discrepancy, LogEntry
from tables.audit import keys
from tables.disputes import cases
from tables.models import Certificate, DayClose, Table
sealed = [str(day) for day in DayRoot.objects.order_by("number").values_list("day", flat=True)]
closed = [str(day) for day in DayClose.objects.order_by("day").values_list("day", flat=True)]
print("FACTS", json.dumps({
    "sealed": sealed, "closed": closed, "key": keys.published_key(),
    "certificates": Certificate.objects.count(),
    "short": Discrepancy.objects.filter(amount_cents__lt=0).count(),
    "disputes": [case.dispute.state for case in cases.cases()],
    "open": sum(1 for _ in Table.objects.all()),
    "rounds": LogEntry.objects.filter(kind="opened", subject="round").count(),
}))
"""


def manage(local: Path, *arguments: str, **options: Any) -> str:
    """A command in the demo's house."""
    clean = {key: value for key, value in os.environ.items() if key not in CONFIGURED}
    environment = clean | {"CASINO_LOCAL": str(local), "DJANGO_SETTINGS_MODULE": "casino.settings"}
    answer = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=servers.BASE_DIR, env=environment, text=True,
        capture_output=True, check=False, **options,
    )  # fmt: skip
    assert answer.returncode == 0, f"{answer.stdout}{answer.stderr}"
    return answer.stdout


def facts_of(local: Path) -> dict[str, Any]:
    """What the house has."""
    output = manage(local, "shell", "--no-imports", "-c", FACTS)
    facts: dict[str, Any] = json.loads(output[output.index("FACTS ") + 6 :].splitlines()[0])
    return facts


def is_proved(local: Path, facts: dict[str, Any]) -> None:
    """The house's own proof, and the bundle of a day at a stranger's."""
    proved = manage(local, "verify")
    assert "DOES NOT HOLD" not in proved
    assert "the database is as its migrations make it" in proved, "its clock is its own again"
    manage(local, "audit", "export", "--day", facts["sealed"][0], "--out", str(local / "bundle.zip"))
    outside = manage(local, "audit", "verify", str(local / "bundle.zip"), "--key", facts["key"])
    assert outside.splitlines()[-1] == "HOLDS  bundle.zip"


@pytest.mark.usefixtures("own_processes")
@pytest.mark.timeout(600)
def test_the_two_weeks_that_ship_are_sealed_closed_and_proved(tmp_path: Path) -> None:
    """Harm: a demo whose past was painted on: nothing in it can be proved, or its last day was weeks ago."""
    with Demo(tmp_path, port=free_port()) as demo:
        demo.opened(seconds=300)
        facts = facts_of(tmp_path)
        yesterday = (datetime.now(UTC) - timedelta(days=1, hours=6)).date()
        days = [str(yesterday - timedelta(days=ago)) for ago in range(13, 0, -1)]
        assert facts["closed"] == days
        assert facts["sealed"][:13] == days, "the worker seals the last one"
        assert (facts["certificates"], facts["short"]) == (1, 2)
        assert sorted(facts["disputes"]) == ["closed", "opened"]
        assert demo.child("casino.demo.live"), "dealers are at work"
        is_proved(tmp_path, facts)


@pytest.mark.usefixtures("own_processes")
@pytest.mark.timeout(600)
def test_a_house_has_a_past_that_is_sealed_closed_and_proved(tmp_path: Path) -> None:
    """Harm: a demo whose past was painted on: nothing in it can be proved, or it shows what no house could write."""
    with Demo(tmp_path, "--days", "2", port=free_port()) as demo:
        demo.opened(seconds=300)
        assert len(re.findall(r" \w{3} \d\d \w{3}: \d+ rounds$", demo.said, re.MULTILINE)) == 2
        facts = facts_of(tmp_path)
        assert len(facts["closed"]) == 1, "the last day is ready to be closed"
        assert facts["sealed"][:1] == facts["closed"]
        assert facts["certificates"] == 1
        assert facts["short"] == 1
        assert facts["disputes"] == ["opened"]
        is_proved(tmp_path, facts)


@pytest.mark.usefixtures("own_processes")
@pytest.mark.timeout(600)
def test_a_past_that_was_cut_short_is_begun_again(tmp_path: Path) -> None:
    """Harm: Ctrl-C while the house is made, and every later start opens half a house, under another clock than its
    own."""
    demo = Demo(tmp_path, "--days", "2", port=free_port())
    demo.hear("Dealing the last 2 days", seconds=300)
    demo.process.terminate()
    assert demo.ends() in (0, 1)
    assert (tmp_path / "demo" / "half-made").exists()
    again = Demo(tmp_path, "--days", "0", port=free_port()).opened(seconds=300)
    again.process.terminate()
    assert again.ends() == 0
    assert "the database is as its migrations make it" in manage(tmp_path, "verify")


def test_no_clock_is_set_in_a_house_that_is_no_demo() -> None:
    """Harm: what makes a demo's past writes one into a real house's log."""
    long_ago = clock.set_back(datetime.fromisoformat("2026-01-01T00:00Z"))
    with override_settings(CASINO_ENV="production"), pytest.raises(clock.PastRefused, match="Only a demo"):
        long_ago.__enter__()
