"""What the log knows of a rack by worth: what counts found, and what moved otherwise than by rounds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from ledger.models import LogEntry
from ledger.proof.chips import RACK
from ledger.raw_rows import fetch_rows
from tables.log.catalog import read, read_as
from tables.log.entries.slips import SlipSigned
from tables.log.entries.tables import Door
from tables.log.slip_types import Chips
from tables.log.state import UNREADABLE

_BY_ROUNDS: Final = ["stake", "loss", "win", "return", "rake"]
_BY_COUNTS: Final = ["over", "short", "count"]


@dataclass(frozen=True, slots=True)
class RackMoves:
    """What came to a rack in a span, below zero what left it."""

    chips: Chips
    """By slips, which say it by worth."""
    amounts_cents: tuple[int, ...]
    """By everything else that is no round, of which only the amounts are known."""


def counted_at(book_id: int, seq: int) -> Chips | None:
    """What was counted in a rack by the entry of this number; None where it is no count that two people agreed on."""
    row = LogEntry.objects.filter(book_id=book_id, seq=seq, subject__in=("table", "slip")).values_list(
        "subject", "kind", "body"
    )
    for subject, kind, body in row:
        try:
            event = read(subject, kind, body)
        except UNREADABLE:
            return None
        if isinstance(event, Door):
            return event.chips
        if isinstance(event, SlipSigned) and event.after.series.counts(RACK):
            return event.after.agreed
    return None


_MOVERS: Final = """
    SELECT e.subject, e.kind, e.body, CASE WHEN t.target_place = 'rack' THEN t.amount_cents ELSE -t.amount_cents END
    FROM ledger_transfer AS t JOIN ledger_logentry AS e ON e.book_id = t.book_id AND e.seq = t.seq
    WHERE t.book_id = %(book)s AND t.seq > %(since)s AND t.seq <= %(through)s AND NOT e.subject = 'round'
        AND 'rack' IN (t.source_place, t.target_place) AND NOT t.kind = ANY(%(not_these)s)
    ORDER BY t.seq, t.leg
"""


def moved(book_id: int, since_seq: int, through_seq: int) -> RackMoves | None:
    """Rack movements other than rounds and counts. None if a slip was voided: returned chips are not tracked."""
    params: dict[str, Any] = {
        "book": book_id,
        "since": since_seq,
        "through": through_seq,
        "not_these": [*_BY_ROUNDS, *_BY_COUNTS],
    }
    rows = fetch_rows(_MOVERS, params)
    chips: Counter[int] = Counter()
    amounts = []
    for subject, _, body, cents in rows:
        if subject != "slip":
            amounts.append(int(cents))
            continue
        slip = read_as(SlipSigned, body).after
        if slip.is_void:
            return None
        for value, count in slip.chips:
            chips[value] += count if cents > 0 else -count
    return RackMoves(tuple(sorted(chips.items())), tuple(amounts))
