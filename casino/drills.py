"""The worker of drills: `celery --app casino.drills worker --queues drills --concurrency 1`, on the host of the backups
and as the database's user, who alone may read them.

An app of its own, which knows this one task: whoever reaches the broker may ask that user for a drill, and for nothing
else. A drill is acknowledged as it begins: one that was killed is still due, and beat asks again.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

from celery import Celery

from casino import worker_meters  # noqa: F401 -- its tasks are counted like others

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

log = logging.getLogger(__name__)

LONGEST_SECONDS: Final = 24 * 3600
"""More than a database takes that is restored, played back and proved in a day."""

app = Celery("casino.drills")
app.config_from_object("django.conf:settings", namespace="CELERY")


@app.task(acks_late=False, reject_on_worker_lost=False, time_limit=LONGEST_SECONDS)
def drill(*, asked: bool = False) -> None:
    """Have the last backup back where that is due, or ``asked`` for by hand."""
    from django.conf import settings  # Django is set up by now

    from ledger import alerts
    from ledger.clock import WrongClock
    from tables.audit import drill as drills

    programs = Path(settings.DRILL_PROGRAMS) if settings.DRILL_PROGRAMS else None
    backup = drills.Backup(settings.DRILL_STANZA, Path(settings.DRILL_FOLDER), programs)
    try:
        report = drills.have_back(backup, asked=asked)
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
        return
    if report is not None:
        log.log(logging.ERROR if report.faults else logging.INFO, "%s", " ".join([report.says, *report.faults[:3]]))
