"""A worker on a host whose clock is a month ahead: a real process, which runs nothing and seals nothing."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

from ledger.models import Alert, DayRoot, LogEntry, Run
from ledger.proof import seals
from tests.floor import dealt

pytestmark = pytest.mark.django_db(transaction=True)

AHEAD = """
from datetime import timedelta
from django.utils import timezone
right = timezone.now
timezone.now = lambda: right() + timedelta(days=30)
"""
WATCH = "import django; django.setup(); from tables.audit import watch; print(watch.watch())"


@pytest.mark.usefixtures("own_processes")
def test_a_worker_a_month_ahead_seals_nothing(process_environment: dict[str, str], tmp_path: Path) -> None:
    """Harm: thirty days that have not come are signed as empty, and no bundle of the real ones has a round."""
    dealt()
    entries = LogEntry.objects.count()
    (tmp_path / "sitecustomize.py").write_text(AHEAD)
    key = tmp_path / "audit.pem"
    seals.make_key(key)
    environment = process_environment | {"PYTHONPATH": f"{tmp_path}:{settings.BASE_DIR}", "AUDIT_KEY_FILE": str(key)}
    run = subprocess.run(
        [sys.executable, "-c", WATCH], env=environment, capture_output=True, text=True, check=True,
        cwd=settings.BASE_DIR, timeout=60,
    )  # fmt: skip
    assert run.stdout.strip() == "[]"
    assert not DayRoot.objects.exists()
    assert not Run.objects.exists()
    assert LogEntry.objects.count() == entries
    alert = Alert.objects.get()
    assert (alert.kind, round(alert.evidence["drift_seconds"] / 86_400)) == ("clocks_differ", 30)
    assert alert.at < LogEntry.objects.latest("pk").at + timedelta(minutes=5), "it is not dated by the wrong clock"
