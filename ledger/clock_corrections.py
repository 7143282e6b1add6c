"""Corrected times: which entries of a log have a false time, and which entry was the last before a time.

A log with false times is corrected by a further entry, signed with the site's key; the entries themselves never change.
All code that needs the time of an entry uses this module or its SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from ledger.log import CONTENT, LAST_SEQ, entries
from ledger.models import LogEntry
from ledger.proof.chain import Mend, mends_in
from ledger.raw_rows import fetch_row, fetch_rows

# Clock-correction entries are few and indexed, so a log without any costs almost nothing.
_SPANS: Final = f"""(
        SELECT m.seq AS entry, (span ->> 0)::bigint AS first, (span ->> 1)::bigint AS last,
            (span ->> 2)::timestamptz AS since
        FROM ledger_logentry AS m, jsonb_array_elements(
            {CONTENT.format(body="m.body")} #> '{{{{document,spans}}}}') AS span
        WHERE m.book_id = {{book}} AND m.subject = 'clock' AND m.kind = 'mended') AS mend"""  # noqa: S608

TRUE_TIME: Final = f"""coalesce((
    SELECT mend.since FROM {_SPANS} WHERE {{entry}}.seq BETWEEN mend.first AND mend.last LIMIT 1), {{entry}}.at)"""  # noqa: S608
"""The corrected time of an entry, in SQL."""

_NOT_MENDED: Final = f"""NOT coalesce((SELECT true FROM {_SPANS}
    WHERE mend.entry <= {{head}} AND {{entry}}.seq BETWEEN mend.first AND mend.last LIMIT 1), false)"""  # noqa: S608

# Uncorrected times never decrease, so they are in the order of the numbers. The index has every 64th entry: the last of
# those before the moment, and the first that is not, bound the range to read. For execute(), "%%" is "%".
_MARK: Final = f"""
    SELECT mark.seq FROM ledger_logentry AS mark WHERE mark.book_id = {{book}} AND mark.seq %% 64 = 0
        AND mark.at {{side}} {{moment}} AND mark.seq <= {{head}} AND {_NOT_MENDED.replace("{entry}", "mark")}
    ORDER BY mark.at {{order}}, mark.seq {{order}} LIMIT 1"""  # noqa: S608
_BELOW: Final = _MARK.replace("{side}", "<").replace("{order}", "DESC")
_ABOVE: Final = _MARK.replace("{side}", ">=").replace("{order}", "ASC")

# Numbers begin at 1, so the pair is below (moment, 0) exactly where the time is below the moment. Without the bounds,
# the planner might expect few such entries and read the whole index of times for each log.
LAST_BEFORE: Final = f"""
    SELECT greatest(
        (SELECT e.seq FROM ledger_logentry AS e WHERE e.book_id = {{book}} AND (e.at, e.seq) < ({{moment}}, 0)
            AND e.seq >= coalesce(({_BELOW}), 0) AND e.seq <= least(({_ABOVE}), {{head}})
            AND {_NOT_MENDED.replace("{entry}", "e")} ORDER BY e.seq DESC LIMIT 1),
        (SELECT max(mend.last) FROM {_SPANS} WHERE mend.entry <= {{head}} AND mend.since < {{moment}})) AS seq"""  # noqa: S608
"""The number of the last entry of a log, up to a head, that was written before a time, in SQL; NULL for none."""


def last_before(book_id: int, moment: datetime) -> int:
    """The number of the last entry of a log that was written before a time; 0 for none."""
    row = fetch_row(
        LAST_BEFORE.format(book="%(book)s", head="%(head)s", moment="%(moment)s"),
        {"book": book_id, "head": LAST_SEQ, "moment": moment},
    )
    return int(row[0] or 0)


_LAST_BEFORE_EACH: Final = f"""
    SELECT s.book, coalesce(last.seq, 0)
    FROM unnest(%(books)s::bigint[], %(heads)s::bigint[], %(moments)s::timestamptz[]) AS s (book, head, moment)
    LEFT JOIN LATERAL ({LAST_BEFORE.format(book="s.book", head="s.head", moment="s.moment")}) AS last ON true
"""  # noqa: S608


def last_before_each(heads: Mapping[int, int], moments: Mapping[int, datetime]) -> dict[int, int]:
    """By log, up to its head: the number of the last entry that was written before a time of its own; 0 for none."""
    columns = {"books": list(heads), "heads": list(heads.values()), "moments": [moments[book] for book in heads]}
    return dict(fetch_rows(_LAST_BEFORE_EACH, columns))


def of(book_id: int, first: int = 1, last: int = LAST_SEQ) -> Sequence[Mend]:
    """The corrections that affect any entry from ``first`` to ``last``, in the order in which they were written."""
    entries = LogEntry.objects.filter(book_id=book_id, subject="clock", kind="mended").order_by("seq")
    written_mends = (mend for seq in entries.values_list("seq", flat=True) for mend in _mends_of(book_id, seq))
    return [mend for mend in written_mends if mend.first <= last and first <= mend.last]


def _mends_of(book_id: int, seq: int) -> tuple[Mend, ...]:
    return mends_in(next(entries(book_id, seq - 1, seq)))


def time_of(book_id: int, seq: int) -> datetime:
    """The time when an entry was written: its own, unless a correction replaces it."""
    mends = of(book_id, seq, seq)
    entry_time: datetime = LogEntry.objects.values_list("at", flat=True).get(book_id=book_id, seq=seq)
    return mends[0].moment if mends else entry_time
