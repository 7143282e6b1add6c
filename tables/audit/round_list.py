"""A table's rounds in lists: a page of them, a search in them, and the first round since a time.

Rounds are numbered without gaps, so a page is a range of numbers: its cost does not grow with history. Nothing here
writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Final

from ledger import clock_corrections
from ledger.log import COLUMNS
from ledger.proof.chain import Entry, Mend
from ledger.proof.spelling import PAYOUT, PAYOUT_WITH_SCORE
from ledger.raw_rows import fetch_rows
from tables.games.catalog import GAMES
from tables.games.protocol import SeatView
from tables.log.catalog import event_of, fold
from tables.log.entries.rounds import Played
from tables.log.event import Event
from tables.log.game_kinds import GameKind, kind_of
from tables.log.state import UNREADABLE, Round, TableState
from tables.models import Table

PAGE: Final = 25
SEARCHED: Final = 500
"""The number of rounds that one search examines: its cost must not grow with history."""


@dataclass(frozen=True, slots=True)
class RoundLine:
    """One round in a list: its dealers, its handle and its result. Amounts are in cents."""

    number: int
    first_seq: int
    last_seq: int
    began: datetime | None
    ended: datetime | None
    """The time of its last input; None while it is in progress."""
    dealers: tuple[str, ...]
    """The signatures of its dealers: more than one after a relief."""
    shoe: int
    seats: tuple[SeatView, ...]
    """The seats that played, with their results."""
    staked_cents: int
    """The sum of the bets; in a game with a pot, the sum paid into it."""
    house_net_cents: int | None
    """The casino's win (positive), loss (negative) or rake; None while the round is in progress."""
    taken_back: int
    """The number of undone inputs."""
    refused: int
    """The number of keyed cards that the shoe cannot contain."""
    dated: datetime | None = None
    """The false time of its first entry, where that was corrected; ``began`` is then the earliest true time."""
    voided: str = ""
    """The reason for voiding it; empty if it has a result."""
    fault: str | None = None
    """Why the round cannot be replayed from the log; None if it can."""

    @property
    def over(self) -> bool:
        return self.ended is not None


@dataclass(frozen=True, slots=True)
class RoundFilter:
    """The criteria of a search. Empty: all rounds."""

    outcome: str | None = None
    seat: int | None = None
    corrected: bool = False

    def __bool__(self) -> bool:
        return bool(self.outcome or self.seat or self.corrected)

    def admits(self, line: RoundLine) -> bool:
        """Whether a round, after its corrections, matches. A round that cannot be replayed always matches."""
        # A fault may hide the very round that is searched for.
        if line.fault:
            return True
        if self.corrected and not line.taken_back:
            return False
        if not (self.outcome or self.seat):
            return True
        seats = (seat for seat in line.seats if self.seat in (None, seat.seat))
        return any(self.outcome is None or (seat.payout and seat.payout.outcome == self.outcome) for seat in seats)


@dataclass(frozen=True, slots=True)
class RoundPage:
    """Rounds, newest first, and the start of the next older page."""

    lines: tuple[RoundLine, ...]
    through: int
    """The newest round that was examined."""
    since: int
    """The oldest round that was examined."""

    @property
    def older(self) -> int | None:
        """The round at which the next page begins; None on the last page."""
        return self.since - 1 if self.since > 1 else None


def rounds(book_id: int, *, through: int, count: int = PAGE) -> RoundPage:
    """``count`` rounds up to and including ``through``, newest first."""
    since = max(through - count + 1, 1)
    return RoundPage(tuple(_lines(book_id, range(since, through + 1))), through, since)


def search(table: Table, criteria: RoundFilter, *, through: int, count: int = PAGE) -> RoundPage:
    """At most ``count`` matching rounds among the SEARCHED that end with ``through``, newest first."""
    oldest, book_id = max(through - SEARCHED + 1, 1), table.book_id
    candidates = _candidates(book_id, criteria, oldest, through, count, kind=kind_of(GAMES[table.game]))
    lines = tuple(line for line in _lines(book_id, candidates) if criteria.admits(line))
    return RoundPage(lines, through, candidates[-1] if len(candidates) == count else oldest)


def _candidates(
    book_id: int, criteria: RoundFilter, since: int, through: int, count: int, *, kind: GameKind
) -> list[int]:
    """Rounds with an entry that may match: cheap to find, still to be replayed.

    Bodies are canonical JSON, so a fragment is found as bytes, without parsing. Each fragment is searched in both
    formats of entries.
    """
    written, pieces = "play", list[bytes]()
    if criteria.corrected:
        written = "take_back"
    elif criteria.outcome:
        pieces = [f'"outcome":"{criteria.outcome}"'.encode(), *_payouts(criteria.outcome, criteria.seat)]
    else:
        pieces = kind.traces(criteria.seat)
    rows = fetch_rows(
        "SELECT DISTINCT round FROM ledger_logentry WHERE book_id = %s AND round BETWEEN %s AND %s"
        " AND subject = 'round' AND kind = %s AND (cardinality(%s::bytea[]) = 0 OR EXISTS ("
        "SELECT FROM unnest(%s::bytea[]) AS piece WHERE position(piece IN body) > 0))"
        " ORDER BY round DESC LIMIT %s",
        [book_id, since, through, written, pieces, pieces, count],
    )
    return [number for (number,) in rows]


def _payouts(outcome: str, seat: int | None) -> list[bytes]:
    places = () if seat is None else (seat,)
    return [shape.piece(outcome, *places) for shape in (PAYOUT, PAYOUT_WITH_SCORE)]


def _lines(book_id: int, numbers: Sequence[int]) -> Iterable[RoundLine]:
    if not numbers:
        return []
    rows = fetch_rows(
        f"SELECT {COLUMNS} FROM ledger_logentry WHERE book_id = %s AND round BETWEEN %s AND %s"  # noqa: S608
        " AND round = ANY(%s) ORDER BY round, seq",
        [book_id, min(numbers), max(numbers), list(numbers)],
    )
    entries = [Entry(*row) for row in rows]
    lines = [line_of(number, list(stretch)) for number, stretch in groupby(entries, key=lambda entry: entry.round or 0)]
    return reversed(truly_timed(book_id, lines))


def truly_timed(book_id: int, lines: Sequence[RoundLine]) -> list[RoundLine]:
    """These rounds with corrected times, where the log has false ones."""
    house_mends = clock_corrections.of(book_id)
    spans = [next((mend for mend in house_mends if mend.first <= line.first_seq <= mend.last), None) for line in lines]
    return [_in_true_time(line, span) for line, span in zip(lines, spans, strict=True)]


def _in_true_time(line: RoundLine, mend: Mend | None) -> RoundLine:
    if mend is None or line.began is None:
        return line
    lasted = line.ended - line.began if line.ended else None
    return replace(line, began=mend.moment, ended=None if lasted is None else mend.moment + lasted, dated=line.began)


def line_of(number: int, entries: Sequence[Entry]) -> RoundLine:
    """A round from its entries, in order."""
    current: Round | None = None
    ended, shoe, fault = None, 0, None
    try:
        for entry in entries:
            if entry.subject != "round":
                continue
            event = event_of(entry)
            current = _round_after(current, event, entry)
            shoe = event.opening.shoe if isinstance(event, Played) and event.opening else shoe
            if entry.kind != "paid":
                ended = entry.at if current and current.over else None
    except UNREADABLE as error:
        fault = f"entry {entry.seq}: {error}"
    seats = current.dealt_in if current else ()
    payouts = current.settled if current else ()
    staked = sum(seat.bet_cents for seat in seats) or sum(payout.staked_cents for payout in payouts)
    if current and current.voided:
        staked = 0
    return RoundLine(
        number=number,
        first_seq=entries[0].seq,
        last_seq=entries[-1].seq,
        began=entries[0].at,
        ended=ended,
        dealers=tuple(dict.fromkeys(entry.by for entry in entries if entry.kind == "play")),
        shoe=shoe,
        seats=seats,
        staked_cents=staked,
        house_net_cents=current.house_net_cents if current and ended and not fault else None,
        taken_back=sum(entry.kind == "take_back" for entry in entries),
        refused=sum(entry.subject == "alert" for entry in entries),
        voided=current.voided if current else "",
        fault=fault,
    )


def folded(current: Round | None, entry: Entry) -> Round | None:
    """The round after one more of its entries."""
    return _round_after(current, event_of(entry), entry)


def _round_after(current: Round | None, event: Event, entry: Entry) -> Round | None:
    return fold(TableState(round=current), event, seq=entry.seq, round=entry.round).round


_BISECT: Final = f"""
    WITH RECURSIVE search (book, low, high) AS (
        SELECT book, 1, latest + 1 FROM unnest(%(books)s::bigint[], %(latest)s::int[]) AS of (book, latest)
        UNION ALL
        SELECT search.book, CASE WHEN began.at < %(moment)s THEN (low + high) / 2 + 1 ELSE low END,
            CASE WHEN began.at < %(moment)s THEN high ELSE (low + high) / 2 END
        FROM search CROSS JOIN LATERAL (
            SELECT {clock_corrections.TRUE_TIME.format(book="e.book_id", entry="e")} AS at FROM ledger_logentry AS e
            WHERE e.book_id = search.book AND e.round = (low + high) / 2 ORDER BY e.seq LIMIT 1) AS began
        WHERE low < high)
    SELECT book, low FROM search WHERE low = high
"""  # noqa: S608


def first_since(latest: Mapping[int, int], moment: datetime) -> dict[int, int]:
    """For each log, given its latest round: the number of the first round that began at or after a time.

    Rounds begin in the order of their numbers, so each log is bisected: a few index look-ups, one query for all.
    """
    return dict(fetch_rows(_BISECT, {"books": list(latest), "latest": list(latest.values()), "moment": moment}))
