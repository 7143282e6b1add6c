"""``manage.py drill``: have the last backup back in a scratch server, prove the whole log there, and tell the house."""

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
    """Asks the worker on the repository's host; or, with a folder, does it here: prints what was had back, and exits 1
    naming what does not hold."""

    help = "Restore the last backup into a scratch server, verify the log there, compare it with the house's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--folder", type=Path, help="do it here, in an empty folder with room for the database")
        parser.add_argument("--stanza", default="casino", help="pgBackRest's name of the house (default: casino)")
        parser.add_argument(
            "--programs", type=Path, help="the folder of PostgreSQL's programs (default: Debian's of that version)"
        )

    def handle(self, *args: Any, folder: Path | None, stanza: str, programs: Path | None, **options: Any) -> None:
        if folder is None:
            self._ask()
            return
        report = drill.have_back(drill.Backup(stanza, folder.absolute(), programs), asked=True)
        if report is None:
            raise CommandError("A drill is under way: it tells the house what came of it.")
        if report.failed:
            raise CommandError(report.failed)
        self.stdout.write(report.says)
        for fault in report.faults:
            self.stdout.write(f"DOES NOT HOLD  {fault}")
        if report.faults:
            sys.exit(1)

    def _ask(self) -> None:
        asker = Celery("drill", broker=settings.CELERY_BROKER_URL, set_as_current=False)
        asker.send_task(settings.DRILL_TASK, kwargs={"asked": True}, queue=settings.DRILLS, expires=600)
        self.stdout.write("The worker on the repository's host is asked; journalctl -u backup-drill says what it does.")
