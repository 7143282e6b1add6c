"""``manage.py verify``: prove the log, the rounds and the chips again, from the first entry on."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.proof import p256
from tables.audit import lines, proofs
from tables.audit.lines import Line


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
            self._say([lines.of_book(proofs.verify(book))])
        self._say(lines.of_roots(listed))
        if table is None:
            self._say(lines.of_rows())

    def _say(self, proved: Iterable[Line]) -> None:
        """Each line; then the end of it, where one of them does not hold."""
        holds = True
        for line in proved:
            self.stdout.write(line.says if line.holds else self.style.ERROR(line.says))
            holds = holds and line.holds
        if not holds:
            sys.exit(1)
