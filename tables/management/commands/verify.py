"""``manage.py verify``: verify the log, the rounds and the chips again, from the first entry on."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.proof import p256
from ledger.proof.note import BadNote, VerifierKey
from tables.audit import proofs, verification_report, witness_delivery
from tables.audit.outside.testimony import Source
from tables.audit.verification_report import Finding


class Command(BaseCommand):
    """Prints what it checked; exits 1 at the first part that does not hold, or (--all) after all of them."""

    every = False
    faults = 0

    help = "Hash every chain again, replay every round, recompute every transfer, compare every row with the log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--table", metavar="NAME", help="only this table (default: the site and every table)")

        parser.add_argument("--all", action="store_true", help="name every fault and count them (default: stop early)")

        parser.add_argument(
            "--terminal-root",
            nargs="+",
            metavar="FINGERPRINT",
            help="the roots that the site has on paper (default: TERMINAL_ROOTS); any other fails",
        )

        parser.add_argument(
            "--witness",
            nargs="+",
            default=[],
            metavar="FILE_OR_URL",
            help="external witnesses whose observations must be present: files, addresses, or stored checkpoints",
        )
        parser.add_argument(
            "--witness-key",
            nargs="+",
            metavar="VKEY",
            help="their keys, from a source of your own (default: the policies)",
        )

    def handle(
        self,
        *args: Any,
        table: str | None,
        terminal_root: list[str] | None,
        witness: list[str],
        witness_key: list[str] | None,
        **options: Any,
    ) -> None:
        """Verify log by log; exit 1 on a fault."""
        self.every, self.faults = options["all"], 0
        try:
            books = proofs.books(table)
            listed = [*map(p256.read_fingerprint, terminal_root)] if terminal_root else proofs.listed_roots()
            keys = tuple(map(VerifierKey.parse, witness_key)) if witness_key else witness_delivery.keys()
        except (LookupError, p256.BadKey, BadNote) as unknown:
            raise CommandError(str(unknown)) from None
        # Witnesses first: of a truncated log the missing entries matter, and not that the rest is valid.
        for place in witness:
            self._say(verification_report.of_witness(Source(place, keys)))
        for book in books:
            self._say(verification_report.of_book(proofs.verify(book, every=self.every)))
        self._say(verification_report.of_roots(listed))
        if table is None:
            self._say(verification_report.of_trees())
            self._say(verification_report.of_rows(every=self.every))
        if self.faults:
            self.stdout.write(self.style.ERROR(f"{self.faults:,} {'fault' if self.faults == 1 else 'faults'}"))
            sys.exit(1)

    def _say(self, proved: Iterable[Finding]) -> None:
        """Print each line; exit 1 after the first fault, unless all were requested."""
        for line in proved:
            self.stdout.write(line.says if line.holds else self.style.ERROR(line.says))
            self.faults += not line.holds
        if self.faults and not self.every:
            sys.exit(1)
