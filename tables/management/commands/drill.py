"""``manage.py drill``: have the last backup back in a scratch server, prove the whole log there, and tell the house."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tables.audit import drill


class Command(BaseCommand):
    """Prints what was had back; exits 1 naming what does not hold, and opens an alert at the pit then."""

    help = "Restore the last backup into a scratch server, verify the log there, compare it with the house's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stanza", default="casino", help="pgBackRest's name of the house (default: casino)")
        parser.add_argument("--folder", type=Path, required=True, help="an empty folder with room for the database")
        parser.add_argument("--programs", type=Path, required=True, help="the folder of PostgreSQL's programs")

    def handle(self, *args: Any, stanza: str, folder: Path, programs: Path, **options: Any) -> None:
        try:
            report = drill.drill(drill.Backup(stanza, folder.absolute(), programs))
        except drill.Failed as failed:
            drill.note(None, str(failed))
            raise CommandError(str(failed)) from None
        drill.note(report)
        self.stdout.write(report.says)
        for fault in report.faults:
            self.stdout.write(f"DOES NOT HOLD  {fault}")
        if report.faults:
            sys.exit(1)
