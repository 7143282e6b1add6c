"""Compare the database's schema with the one that the migrations produce, or (--write) store the schema of a freshly
migrated database as the expected one."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from ledger import shape


class Command(BaseCommand):
    help = "Names every trigger, constraint, function and grant that is not as the migrations make it; exits 1 then."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--write", action="store_true", help="for developers: write the shape of this freshly migrated database"
        )

    def handle(self, *args: Any, write: bool, **options: Any) -> None:
        if write:
            shape.FILE.write_text(shape.spelled(shape.present()))
            return
        faults = list(shape.faults())
        for fault in faults:
            self.stdout.write(f"DOES NOT HOLD  {fault}")
        if faults:
            sys.exit(1)
        self.stdout.write(f"holds  {len(shape.due()):,} objects are as the migrations make them")
