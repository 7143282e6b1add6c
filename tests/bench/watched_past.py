"""Marks a table's artificial history as counted and proved, as the workers of the past years would have left it.

Without the marks the bench's house would have the work of years to do on its first day: 0.7 ms of a core for each
round's proof alone. One table's history is really proved here; the others' are made in the same way. The recounts are
real sums of all transfers. The feed of events gets its mark, but no sheets of the past.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from django.utils import timezone

from ledger.log import read_head
from ledger.models import Run, RunEnd, Transfer
from ledger.recount import recount
from tables.alerts.models import BookPosition
from tables.audit import proofs
from tables.audit.watch import PLANS
from tables.edge import shoe_audit
from tables.feed.models import FeedBook
from tables.models import Table, Verification
from tables.state import table_state
from tests.bench.open_house import Place

DAY: Final = timedelta(days=1)
A_SHOE: Final = 400
"""More entries than any two shoes have."""


def watch_past(places: Sequence[Place]) -> None:
    """Prove the first table's history, mark all of them, and record the night's runs as done. Raises SystemExit if the
    proof finds a fault."""
    began = time.monotonic()
    report = proofs.verify_new(places[0].table.book)
    if report.fault:
        raise SystemExit(f"The artificial history does not hold: {report.fault}")
    seconds = time.monotonic() - began
    print(f"{report.rounds:,} rounds of one table proved in {seconds:.0f} s: they hold", flush=True)
    for place in places[1:]:
        _mark_proved(place.table)
    for place in places:
        recount(place.table.book_id, "bench")
        _mark_audited(place.table)
        _mark_followed(place.table)
    _mark_night()
    print(f"all of them recounted and marked in {time.monotonic() - began - seconds:.0f} s", flush=True)


def _mark_proved(table: Table) -> None:
    head = read_head(table.book_id)
    Verification.objects.create(
        book_id=table.book_id,
        through_seq=head.seq,
        head_hash=head.hash,
        rounds=table_state.of(table).next_number - 1,
        transfers=Transfer.objects.filter(book_id=table.book_id).count(),
    )


def _mark_audited(table: Table) -> None:
    *_, last = shoe_audit.finished(table.book_id, read_head(table.book_id).seq - A_SHOE)
    shoe_audit.audit_shoe(last, [])


def _mark_followed(table: Table) -> None:
    """Mark the table as followed by the alerts' worker and by the feed of events."""
    head = read_head(table.book_id)
    for marks in (BookPosition, FeedBook):
        marks.objects.update_or_create(book_id=table.book_id, defaults={"seq": head.seq})


def _mark_night() -> None:
    moment = timezone.now()
    for plan in PLANS:
        if plan.every >= DAY:
            run = Run.objects.create(task=plan.task, slot=plan.slot(moment), begun_at=moment)
            RunEnd.objects.create(run=run, at=moment, found=0)
