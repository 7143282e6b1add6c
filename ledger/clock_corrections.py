"""Times that were false and were mended: which entries of a book they are of, and where a moment falls in it.

A poisoned book is mended by a further entry, signed by the house's key; the entries stay as they are. Whatever asks
when something was written asks here, or by the same SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import connection

from ledger.log import CONTENT, LAST_SEQ, entries
from ledger.models import LogEntry
from ledger.proof.chain import Mend, mends_in

# The entries that mend are few and found by an index, so that a book without any pays next to nothing.
_SPANS: Final = f"""(
        SELECT m.seq AS entry, (span ->> 0)::bigint AS first, (span ->> 1)::bigint AS last,
            (span ->> 2)::timestamptz AS since
        FROM ledger_logentry AS m, jsonb_array_elements(
            {CONTENT.format(body="m.body")} #> '{{{{document,spans}}}}') AS span
        WHERE m.book_id = {{book}} AND m.subject = 'clock' AND m.kind = 'mended') AS mend"""  # noqa: S608

TRUE_TIME: Final = f"""coalesce((
    SELECT mend.since FROM {_SPANS} WHERE {{entry}}.seq BETWEEN mend.first AND mend.last LIMIT 1), {{entry}}.at)"""  # noqa: S608
"""When an entry of a book was written."""

_NOT_MENDED: Final = f"""NOT coalesce((SELECT true FROM {_SPANS}
    WHERE mend.entry <= {{head}} AND {{entry}}.seq BETWEEN mend.first AND mend.last LIMIT 1), false)"""  # noqa: S608

# Times that were not mended never step back, so they are in the order of the numbers. The index has every 64th
# entry: the last of those before the moment, and the first that is not, bound what is read. For execute(), "%%" is "%".
_MARK: Final = f"""
    SELECT mark.seq FROM ledger_logentry AS mark WHERE mark.book_id = {{book}} AND mark.seq %% 64 = 0
        AND mark.at {{side}} {{moment}} AND mark.seq <= {{head}} AND {_NOT_MENDED.replace("{entry}", "mark")}
    ORDER BY mark.at {{order}}, mark.seq {{order}} LIMIT 1"""  # noqa: S608
_BELOW: Final = _MARK.replace("{side}", "<").replace("{order}", "DESC")
_ABOVE: Final = _MARK.replace("{side}", ">=").replace("{order}", "ASC")

# Numbers begin at 1, so the pair is below (moment, 0) where the time is. The index of times, which knows no pairs,
# would be read whole for each book where the planner takes few entries to be as old.
LAST_BEFORE: Final = f"""
    SELECT greatest(
        (SELECT e.seq FROM ledger_logentry AS e WHERE e.book_id = {{book}} AND (e.at, e.seq) < ({{moment}}, 0)
            AND e.seq >= coalesce(({_BELOW}), 0) AND e.seq <= least(({_ABOVE}), {{head}})
            AND {_NOT_MENDED.replace("{entry}", "e")} ORDER BY e.seq DESC LIMIT 1),
        (SELECT max(mend.last) FROM {_SPANS} WHERE mend.entry <= {{head}} AND mend.since < {{moment}})) AS seq"""  # noqa: S608
"""The last entry of a book, as it was through a head, that was written before a moment; NULL for none."""


def last_before(book_id: int, moment: datetime) -> int:
    """The last entry of a book that was written before a moment; 0 for none."""
    with connection.cursor() as cursor:
        cursor.execute(
            LAST_BEFORE.format(book="%(book)s", head="%(head)s", moment="%(moment)s"),
            {"book": book_id, "head": LAST_SEQ, "moment": moment},
        )
        return int(cursor.fetchone()[0] or 0)


def of(book_id: int, first: int = 1, last: int = LAST_SEQ) -> Sequence[Mend]:
    """The mends that touch any entry from the first to the last, in the order in which they were written."""
    entries = LogEntry.objects.filter(book_id=book_id, subject="clock", kind="mended").order_by("seq")
    written_mends = (mend for seq in entries.values_list("seq", flat=True) for mend in _mends_of(book_id, seq))
    return [mend for mend in written_mends if mend.first <= last and first <= mend.last]


def _mends_of(book_id: int, seq: int) -> tuple[Mend, ...]:
    return mends_in(next(entries(book_id, seq - 1, seq)))


def time_of(book_id: int, seq: int) -> datetime:
    """When an entry was written: as it says, unless a mend says otherwise."""
    mends = of(book_id, seq, seq)
    entry_time: datetime = LogEntry.objects.values_list("at", flat=True).get(book_id=book_id, seq=seq)
    return mends[0].moment if mends else entry_time
