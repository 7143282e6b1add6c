"""Closes of a gaming day that two people sign, with figures that the log does not support."""

from datetime import date
from typing import Any

from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book
from tables.audit import proofs
from tables.models import DayClose, Staff
from tables.reports import day_close


def fault_of_close(day: date, content: dict[str, Any], first: Staff, second: Staff) -> str:
    """Append both signatures of a close with these figures, and return the fault that the proof finds."""
    figures = (content["figures"], content.get("cash"), content.get("cash_by_shift"))
    content = content | {"digest": day_close.digest_of(content["day"], *figures)}
    log.append(site_log.lock(), Draft("day", "proposed", first.signature, content | first.signatory.unbadged))
    proposal = day_close.proposal(day)
    assert proposal is not None
    content |= second.signatory.unbadged
    content |= {"proposal": proposal.seq, "proposed_by": first.username, "adjusts": []}
    close = log.append(site_log.lock(), Draft("day", "closed", second.signature, content))
    DayClose.objects.create(
        day=day, seq=close.seq, proposed_by=first.username, closed_by=second.username, at=timezone.now()
    )
    fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
    assert fault is not None
    return fault.what
