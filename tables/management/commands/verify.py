"""``manage.py verify``: prove the log, the rounds and the chips again, from the first entry on."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tables.audit import proofs
from tables.audit.rows import comparing


class Command(BaseCommand):
    """Prints what it checked; exits 1 and names the first entry that does not hold."""

    help = "Re-hash every chain, replay every round, recompute every transfer, hold every row against the log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """--table."""
        parser.add_argument("--table", metavar="NAME", help="only this table (default: the house and every table)")

    def handle(self, *args: Any, table: str | None, **options: Any) -> None:
        """Check book by book, stop at the first fault."""
        try:
            books = proofs.books(table)
        except LookupError as unknown:
            raise CommandError(str(unknown)) from None
        for book in books:
            report = proofs.verify(book)
            if report.fault:
                self.stdout.write(self.style.ERROR(f"DOES NOT HOLD  {report.fault}"))
                sys.exit(1)
            self.stdout.write(
                f"holds  {book.name}: {report.entries:,} entries re-hashed, {report.rounds:,} rounds replayed,"
                f" {report.transfers:,} transfers recomputed"
            )
        if table is None:
            self._verify_rows()

    def _verify_rows(self) -> None:
        """The rows beside the log, and the database itself: every difference is named."""
        compared = comparing.compare()
        faults = compared.faults + comparing.shape_faults()
        for says in faults:
            self.stdout.write(self.style.ERROR(f"DOES NOT HOLD  {says}"))
        if faults:
            sys.exit(1)
        self.stdout.write(
            f"holds, beside the log: {compared.rows:,} rows of {compared.kinds} kinds are what it says,"
            " and the database is as its migrations make it"
        )
