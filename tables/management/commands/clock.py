"""``manage.py clock``: the clocks as they are, what to do about them, and books that a wrong one poisoned."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger import clock
from ledger.clock import WrongClock
from ledger.models import Book
from ledger.proof.seals import BadKey
from tables.audit import activity_checks, clock_correction, keys
from tables.audit.clock_correction import CorrectionRequest, NoMend
from tables.management import dates
from tables.staff import signers


def edge(text: str) -> tuple[int, datetime]:
    """SEQ=MOMENT: an entry, and the time by which it had been written."""
    seq, _, spelling = text.partition("=")
    return int(seq), dates.moment(spelling)


class Command(BaseCommand):
    """status, confirm, mend."""

    help = "Compare the clocks; confirm that the site was idle; correct a log after entries by a wrong clock."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser("status", help="both clocks, books that are ahead of them, and stretches without a trace")
        confirm = commands.add_parser(
            "confirm", help="confirm that the site was idle as long as the clocks show: seal again"
        )
        confirm.add_argument("--by", required=True, metavar="USER", help="who looked; asked for the PIN")
        confirm.add_argument("--reason", required=True, help="why nothing was written and nothing ran")

        mend = commands.add_parser("mend", help="enter the true times of the last entries of a log")
        mend.add_argument("book", metavar="BOOK", help="a table's name, or house")
        mend.add_argument("--by", action="append", required=True, metavar="USER", help="who stands for it; two people")
        mend.add_argument("--reason", required=True, help="the cause, and the source of the true times")
        mend.add_argument("--first", type=int, metavar="SEQ", help="the first false entry, if it is not to come still")
        mend.add_argument(
            "--from", dest="since", type=dates.moment, metavar="MOMENT", help="when that was, at the earliest"
        )
        mend.add_argument(
            "--to", dest="until", type=dates.moment, metavar="MOMENT", help="when the last was, at the latest"
        )
        mend.add_argument(
            "--through", action="append", default=[], type=edge, metavar="SEQ=MOMENT",
            help="the log had been written up to this entry by then: where a gaming day ended",
        )  # fmt: skip

    def handle(self, *args: Any, command: str, **options: Any) -> None:
        """Run the sub-command; what it refuses is a sentence and no traceback."""
        try:
            getattr(self, f"_{command}")(**options)
        except (BadKey, NoMend, WrongClock) as wrong:
            raise CommandError(str(wrong)) from None

    def _status(self, **_: Any) -> None:
        reading = clock.read()
        self.stdout.write(f"this server   {reading.after:%Y-%m-%d %H:%M:%S.%f} UTC")
        self.stdout.write(f"the database  {reading.database:%Y-%m-%d %H:%M:%S.%f} UTC")
        self.stdout.write(f"apart         {reading.drift.total_seconds():+.3f} s")
        is_wrong = reading.differs
        for name, latest in activity_checks.ahead(reading.database):
            is_wrong = True
            self.stdout.write(f"AHEAD   {name}: its last entry is of {latest:%Y-%m-%d %H:%M:%S} UTC")
        for start, end in activity_checks.unexplained(reading.database):
            is_wrong = True
            self.stdout.write(
                f"LEAP    nothing was written and nothing ran from {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"
            )
        if is_wrong:
            sys.exit(1)

    def _mend(self, *, book: str, by: list[str], reason: str, **options: Any) -> None:
        row = Book.objects.filter(name=book).first()
        if row is None:
            raise NoMend(f"There is no book {book!r}: it is called as its table, or house.")
        bounds = CorrectionRequest(**{name: options[name] for name in ("first", "since", "until", "through")})
        for span in clock_correction.mend(row, bounds, by=[signers.who_signs(name) for name in by], reason=reason):
            self.stdout.write(
                f"{book}: entries {span.first} to {span.last} were written from {span.since} to {span.until}"
            )

    def _confirm(self, *, by: str, reason: str, **_: Any) -> None:
        leaps = activity_checks.confirm(signers.who_signs(by), reason, keys.signing_key())
        message = (
            f"Confirmed: {len(leaps)}. The watch seals what is over." if leaps else "There was nothing to confirm."
        )
        self.stdout.write(message)
