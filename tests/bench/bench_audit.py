"""`./run bench audit`: sealing, exporting and verifying a day, per 10,000 entries.

One table deals Rocket to six seats through record() until its log has ENTRIES entries; then its day is sealed and
exported, and the bundle verified in a process of its own by the one file that an auditor has.
"""

import os
import subprocess
import sys
import tempfile
import uuid
from datetime import timedelta
from pathlib import Path
from time import perf_counter

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.utils import timezone  # noqa: E402

from ledger.log import read_head  # noqa: E402
from ledger.models import LogEntry  # noqa: E402
from ledger.proof import seals  # noqa: E402
from tables.audit import day_seals, export, proofs  # noqa: E402
from tables.audit.outside import zipapp  # noqa: E402
from tables.floor import recorder  # noqa: E402
from tables.models import Table  # noqa: E402
from tables.roles import Role  # noqa: E402
from tests import floor  # noqa: E402
from tests.bench.keyed_rounds import plan  # noqa: E402
from tests.clock import Clock  # noqa: E402
from tests.floor import Hand  # noqa: E402

ENTRIES = int(os.environ.get("ENTRIES", "10000"))


def deal() -> Table:
    """A day at one table."""
    table = floor.table("Rocket 1", options={"decks": 6})
    hand = Hand(table, floor.staff(Role.DEALER, "dora", "101"))
    Hand(table, floor.staff(Role.PIT_BOSS, "bella"))("open_table")
    recorder.sign_in(table, hand.by)
    hand.ready_shoe()
    seq = read_head(table.book_id).seq
    for entered in (key_press for planned in plan(ENTRIES // 20, 1) for key_press in planned):
        if seq >= ENTRIES:
            break
        seq = recorder.record(table, entered, by=hand.by, key=uuid.uuid4(), expected_seq=seq).seq
    return table


def timed(label: str, began: float) -> None:
    """A line of the result."""
    seconds, entries = perf_counter() - began, LogEntry.objects.count()
    print(f"{label:<40} {seconds:8.2f} s  {seconds * 10_000 / entries:8.2f} s per 10,000 entries")


def main() -> None:
    """Measure."""
    table = deal()
    print(f"{LogEntry.objects.count():,} entries, {sum(LogEntry.objects.values_list('legs', flat=True)):,} transfers")
    with tempfile.TemporaryDirectory() as folder:
        settings.AUDIT_KEY_FILE = str(Path(folder, "audit.pem"))
        seals.make_key(Path(folder, "audit.pem"))
        Clock(settings.DATABASE_OWNER_URL).pass_until(timezone.now() + timedelta(days=1))
        began = perf_counter()
        (day,) = day_seals.seal_finished()[:1]
        timed("sealed", began)
        bundle, application = Path(folder, "day.zip"), Path(folder, "verifier.pyz")
        began = perf_counter()
        with bundle.open("wb") as file:
            export.export(day.day, day.day, file)
        timed(f"exported, {bundle.stat().st_size / 1e6:.1f} MB", began)
        zipapp.build(application)
        began = perf_counter()
        subprocess.run([sys.executable, str(application), str(bundle)], check=True)
        timed("verified, a process of its own", began)
        began = perf_counter()
        fault = proofs.verify(table.book).fault
        timed("for comparison: the house's own proof", began)
        if fault is not None:
            sys.exit(str(fault))


if __name__ == "__main__":
    main()
