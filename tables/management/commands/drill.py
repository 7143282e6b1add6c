"""``manage.py drill``: restore the last backup into a scratch server, verify it there and record the result."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from celery import Celery
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from tables.audit import drill


class Command(BaseCommand):
    """Without a folder, asks the worker on the backup host for a drill. With one, runs the drill on this host, prints
    what was restored, and exits 1 if the drill found faults."""

    help = "Restore the last backup into a scratch server, verify the log there, compare it with the site's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--folder", type=Path, help="run it on this host, in an empty folder with room for the database"
        )
        parser.add_argument("--stanza", default="casino", help="the site's pgBackRest stanza (default: casino)")
        parser.add_argument(
            "--programs",
            type=Path,
            help="the folder of PostgreSQL's programs (default: Debian's)",
        )

    def handle(self, *args: Any, folder: Path | None, stanza: str, programs: Path | None, **options: Any) -> None:
        if folder is None:
            self._ask()
            return
        report = drill.run_drill(drill.Backup(stanza, folder.absolute(), programs), by_hand=True)
        if report is None:
            raise CommandError("A drill is already under way. It reports its result to the house.")
        if report.failed:
            raise CommandError(report.failed)
        self.stdout.write(report.summary)
        for fault in report.faults:
            self.stdout.write(f"DOES NOT HOLD  {fault}")
        if report.faults:
            sys.exit(1)

    def _ask(self) -> None:
        sender = Celery("drill", broker=settings.CELERY_BROKER_URL, set_as_current=False)
        sender.send_task(settings.DRILL_TASK, kwargs={"asked": True}, queue=settings.DRILLS, expires=600)
        self.stdout.write("The worker on the backup host was asked. Follow it there: journalctl -fu backup-drill")
