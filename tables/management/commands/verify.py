"""``manage.py verify``: prove the log, the rounds and the chips again, from the first entry on."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.proof import p256
from tables.audit import proofs
from tables.audit.rows import comparing


class Command(BaseCommand):
    """Prints what it checked; exits 1 and names the first entry that does not hold."""

    help = "Re-hash every chain, replay every round, recompute every transfer, hold every row against the log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--table", metavar="NAME", help="only this table (default: the house and every table)")

        parser.add_argument(
            "--terminal-root",
            nargs="+",
            metavar="FINGERPRINT",
            help="the roots that the house has on paper (default: TERMINAL_ROOTS): any other does not hold",
        )

    def handle(self, *args: Any, table: str | None, terminal_root: list[str] | None, **options: Any) -> None:
        """Check book by book; exit 1 at the first fault."""
        try:
            books = proofs.books(table)
            listed = [*map(p256.read_fingerprint, terminal_root)] if terminal_root else proofs.listed_roots()
        except (LookupError, p256.BadKey) as unknown:
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
        self._verify_roots(listed)
        if table is None:
            self._verify_rows()

    def _verify_roots(self, listed: list[str]) -> None:
        """The keys that no terminal vouches for: each stands by the house's paper, and is named with its day."""
        if fault := proofs.unlisted_root(listed):
            self.stdout.write(self.style.ERROR(f"DOES NOT HOLD  {fault}"))
            sys.exit(1)
        for says in proofs.roots_in_words():
            on_paper = "is on the house's list" if listed else "hold it against the house's paper"
            self.stdout.write(f"{'holds' if listed else 'note'}  {says}: {on_paper}")

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
