"""Where a moment falls in a book, found by the few entries that the index has."""

from datetime import datetime, timedelta

import pytest
from django.db import transaction

from ledger import clock_corrections, log
from ledger.log import Draft, read_head
from ledger.models import LogEntry
from tests.ledger.conftest import Felt

MOMENT = timedelta(microseconds=1)


@pytest.mark.parametrize("step", [timedelta(milliseconds=80), timedelta(0)])
def test_a_moment_falls_after_the_last_entry_before_it(felt: Felt, step: timedelta) -> None:
    """Harm prevented: a day that begins with rounds of the day before, or lacks some, where an index has only every
    64th entry; also where many entries are of one moment."""
    with transaction.atomic():
        head = log.lock(felt.book.pk)
        start = head.moment
        for number in range(50):
            head = log.append(head, Draft("round", "play", "101 Ann", {}, at=start + number * step))
    times = list(LogEntry.objects.filter(book=felt.book).order_by("seq").values_list("at", flat=True))
    assert len(times) == read_head(felt.book.pk).seq > 3 * 16
    for entry_time in times:
        for moment in (entry_time - MOMENT, entry_time, entry_time + MOMENT):
            assert clock_corrections.last_before(felt.book.pk, moment) == sum(time < moment for time in times)


def test_before_everything_there_is_nothing(felt: Felt) -> None:
    """Harm prevented: a day before the house began that is given its first entry."""
    first_time: datetime = LogEntry.objects.get(book=felt.book, seq=1).at
    assert clock_corrections.last_before(felt.book.pk, first_time) == 0
    assert clock_corrections.last_before(felt.book.pk, first_time + timedelta(days=400)) == read_head(felt.book.pk).seq
