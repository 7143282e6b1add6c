"""``manage.py clock``: the clocks as they are, what to do about them, and books that a wrong one poisoned."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger import clock
from ledger.clock import WrongClock
from ledger.seals import BadKey
from tables import people, witness


class Command(BaseCommand):
    """status, confirm."""

    help = "Compare this server's clock with the database's; confirm that the house stood still."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command each."""
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser("status", help="both clocks, books that are ahead of them, and stretches without a trace")
        confirm = commands.add_parser("confirm", help="the house stood still as long as the clocks say: seal again")
        confirm.add_argument("--by", required=True, metavar="USER", help="who looked; asked for the PIN")
        confirm.add_argument("--reason", required=True, help="why nothing was written and nothing ran")

    def handle(self, *args: Any, command: str, **options: Any) -> None:
        """Do what was asked; a sentence instead of a traceback."""
        try:
            getattr(self, f"_{command}")(**options)
        except (BadKey, WrongClock) as wrong:
            raise CommandError(str(wrong)) from None

    def _status(self, **_: Any) -> None:
        reading = clock.read()
        self.stdout.write(f"this server   {reading.after:%Y-%m-%d %H:%M:%S.%f} UTC")
        self.stdout.write(f"the database  {reading.database:%Y-%m-%d %H:%M:%S.%f} UTC")
        self.stdout.write(f"apart         {reading.drift.total_seconds():+.3f} s")
        wrong = reading.differs
        for name, latest in witness.ahead(reading.database):
            wrong = True
            self.stdout.write(f"AHEAD   {name}: its last entry is of {latest:%Y-%m-%d %H:%M:%S} UTC")
        for start, end in witness.unexplained(reading.database):
            wrong = True
            self.stdout.write(
                f"LEAP    nothing was written and nothing ran from {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"
            )
        if wrong:
            sys.exit(1)

    def _confirm(self, *, by: str, reason: str, **_: Any) -> None:
        leaps = witness.confirm(people.who_signs(by), reason)
        self.stdout.write(
            f"Confirmed: {len(leaps)}. The watch seals what is over." if leaps else "There was nothing to confirm."
        )
