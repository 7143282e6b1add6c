"""The worker for restore drills: `celery --app casino.drills worker --queues drills --concurrency 1`.

It runs on the backup host as the database's user, the only one who may read the backups. It is an app of its own with a
single task, so access to the broker allows running a drill as that user and nothing else. The task is acknowledged when
it starts: a drill that was killed is still due, and beat schedules it again.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

from celery import Celery

from casino.ops import worker_meters  # noqa: F401 -- counts this worker's tasks too

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

log = logging.getLogger(__name__)

LONGEST_SECONDS: Final = 24 * 3600
"""Enough for any database that can be restored, replayed and verified within a day."""

app = Celery("casino.drills")
app.config_from_object("casino.celery_settings", namespace="CELERY")


@app.task(name="casino.drills.drill", acks_late=False, reject_on_worker_lost=False, time_limit=LONGEST_SECONDS)
def drill(*, asked: bool = False) -> None:
    """Run a restore drill if one is due, or if it was requested by hand (``asked``)."""
    from django.conf import settings  # imported late: Django is set up by now

    from ledger import alerts
    from ledger.clock import WrongClock
    from tables.audit import drill as drills

    programs = Path(settings.DRILL_PROGRAMS) if settings.DRILL_PROGRAMS else None
    backup = drills.Backup(settings.DRILL_STANZA, Path(settings.DRILL_FOLDER), programs)
    try:
        report = drills.run_drill(backup, by_hand=asked)
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
        return
    if report is not None:
        faults = () if report.failed else report.faults[:3]
        log.log(logging.ERROR if report.faults else logging.INFO, "%s", " ".join([report.summary, *faults]))
