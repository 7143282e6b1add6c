"""What a dispute at a table without rounds rests on: its moment, and the table's log from the last count on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from ledger.models import LogEntry
from tables.floor.command_context import CommandContext
from tables.log.entries.disputes import Dispute
from tables.refusals import Refused
from tables.state import round_history

LONG_AGO: Final = timedelta(days=7)
"""So long after it happened a moment is still disputed: cameras keep as much."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of a table's log that a dispute without a round goes by."""

    first_seq: int
    last_seq: int
    last_hash: str
    record_hash: None = None


def stretch(scene: CommandContext) -> Stretch:
    """From the last count of the rack on, up to what the log has now."""
    book_id, last_seq = scene.table.book_id, scene.standing.seq
    return Stretch(round_history.last_count(book_id, last_seq) or 1, last_seq, hash_of(book_id, last_seq))


def hash_of(book_id: int, seq: int) -> str:
    """The hash of an entry, in hex; empty where there is none."""
    digest = LogEntry.objects.filter(book_id=book_id, seq=seq).values_list("hash", flat=True).first()
    return bytes(digest).hex() if digest else ""


def holds(book_id: int, dispute: Dispute) -> bool:
    """Whether the log is, up to the last entry of the evidence, what it was when the dispute was opened."""
    return hash_of(book_id, dispute.last_seq) == dispute.last_hash


def happened(scene: CommandContext, typed: str) -> str:
    """The moment as the log keeps it: to the minute, with its zone, which is the house's if none was typed. Raises
    Refused."""
    try:
        moment = datetime.fromisoformat(typed.strip())
    except ValueError:
        raise Refused("bad_moment", "Say when it happened: 2026-11-22 21:40, by the house's clock.", 422) from None
    local = moment if timezone.is_aware(moment) else timezone.make_aware(moment)
    if not scene.moment - LONG_AGO <= local <= scene.moment + timedelta(minutes=1):
        sentence = f"It happened in the last {LONG_AGO.days} days, and not in time to come: check the day and the hour."
        raise Refused("bad_moment", sentence, 422)
    return local.isoformat(timespec="minutes")
