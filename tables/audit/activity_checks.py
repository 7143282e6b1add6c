"""Checks that time really passed: entries and runs of scheduled checks reveal a jump that all clocks share.

No day is sealed across a period without any entry or run, unless a user confirms that the site was closed for so long.
Nor while a log ends with an entry of the future: its gaming day is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import transaction
from django.db.models import Min

from ledger import clock, log, site_log
from ledger.clock import WrongClock
from ledger.log import Draft
from ledger.models import DayRoot, LogEntry, RunEnd
from ledger.proof import seals
from ledger.proof.spelling import timestamp
from ledger.raw_rows import fetch_rows
from tables.log.catalog import read_as
from tables.log.entries.clocks import ClockConfirmed, Confirmation
from tables.models import Staff

CONFIRMED: Final = "clock-confirmed/1"

Period = tuple[datetime, datetime]


def refuse_day(over: datetime, present: datetime) -> None:
    """Raise WrongClock unless a day with this end is over by the clocks, the logs and the runs."""
    if present < over:
        raise WrongClock(
            "day_goes_on",
            f"The day goes on until {over:%Y-%m-%d %H:%M} UTC: it is sealed after that.",
            alert="A day that is not over was to be sealed.",
        )
    # A log that ends in the future would pin all later entries to that time.
    for name, latest in ahead(present):
        clock.refuse_ahead(name, latest, present)
    if leaps := unexplained(present):
        raise _leap(*leaps[0])


def ahead(present: datetime) -> list[tuple[str, datetime]]:
    """The logs whose last entry is dated in the future by more than ``settings.CLOCK_DRIFT``, with that time."""
    return fetch_rows(
        "SELECT b.name, e.at FROM ledger_book AS b JOIN ledger_logentry AS e ON e.book_id = b.id"
        " AND e.seq = b.head_seq WHERE e.at > %s ORDER BY b.name",
        [present + settings.CLOCK_DRIFT],
    )


def unexplained(present: datetime) -> list[Period]:
    """The periods without any activity since the last day was sealed that no user has confirmed."""
    since = DayRoot.objects.order_by("-number").values_list("at", flat=True).first()
    since = min(since or LogEntry.objects.filter(seq=1).aggregate(at=Min("at"))["at"] or present, present)
    confirmations = list(_confirmations())
    return [
        (start, end)
        for start, end in _silences(since, present)
        if not any(first <= start and end <= last for first, last in confirmations)
    ]


def _silences(since: datetime, present: datetime) -> list[Period]:
    run_ends = RunEnd.objects.filter(at__gt=since, at__lt=present).values_list("at", flat=True)
    entry_times = LogEntry.objects.of_site().filter(at__gt=since, at__lt=present).values_list("at", flat=True)
    silences = _gaps([since, *run_ends, *entry_times, present])
    return [leap for start, end in silences for leap in _gaps([start, *_hours_written(start, end), end])]


def _gaps(moments: Sequence[datetime]) -> list[Period]:
    return [(start, end) for start, end in pairwise(sorted(moments)) if end - start > settings.CLOCK_JUMP]


def _hours_written(start: datetime, end: datetime) -> Iterable[datetime]:
    """The hours in which any log has an entry. Read only for a period without runs, because it is costly."""
    rows = fetch_rows(
        "SELECT DISTINCT date_trunc('hour', e.at) FROM ledger_book AS b CROSS JOIN LATERAL ("
        " SELECT at FROM ledger_logentry WHERE book_id = b.id AND at > %s AND at < %s) AS e",
        [start, end],
    )
    # An hour is enough: only gaps longer than settings.CLOCK_JUMP matter.
    return [max(hour, start) for (hour,) in rows]


def _confirmations() -> Iterable[Period]:
    entries = LogEntry.objects.of_site().filter(subject="clock", kind="confirmed").order_by("seq")
    for body in entries.values_list("body", flat=True):
        document = read_as(ClockConfirmed, body).document
        yield datetime.fromisoformat(document.since), datetime.fromisoformat(document.until)


def _leap(start: datetime, end: datetime) -> WrongClock:
    span = f"from {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"
    says = (
        f"Nothing was written and nothing ran {span}: either the house stood still for {clock.spelled(end - start)}, or"
        " the clocks leapt. No day is sealed until the clocks are set right, or `manage.py clock confirm` says so."
    )
    # The end of the period may be the present: the alert names only its start, so that it is opened once.
    alert = (
        f"Nothing was written and nothing ran for hours after {start:%Y-%m-%d %H:%M} UTC: either the house stood still,"
        " or the clocks leapt. No day is sealed until the clocks are set right, or `manage.py clock confirm` says so."
    )
    return WrongClock("clock_leapt", says, alert=alert, start=start.isoformat(), end=end.isoformat())


def confirm(by: Staff, reason: str, key: Ed25519PrivateKey) -> list[Period]:
    """Record in the site log, signed with the site's key, that the time of these periods really passed. Returns them.
    Raises WrongClock."""
    with transaction.atomic():
        # Read under the lock, so that each period is confirmed by one entry.
        head = site_log.lock()
        leaps = unexplained(head.moment)
        for start, end in leaps:
            document = Confirmation(
                format=CONFIRMED,
                since=timestamp(start),
                until=timestamp(end),
                by=by.signature,
                reason=reason,
                key=seals.public_of(key),
            )
            signature = seals.sign(key, msgspec.to_builtins(document)).hex()
            head = log.append(head, Draft.of(ClockConfirmed(document=document, signature=signature), by.signature))
    return leaps
