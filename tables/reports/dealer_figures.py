"""Each dealer's day compared with the casino's: rounds, pace, take-backs, corrections and rack variances.

A stint is a dealer's uninterrupted time at an open table. Its number of rounds follows from the numbers of the last
rounds before its start and its end, so the cost of a day depends on its stints, not on its rounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Final

from django.utils import timezone

from ledger import clock_corrections
from ledger.log import CONTENT
from ledger.raw_rows import fetch_rows
from tables.floor.voiding import VOID_OF
from tables.log import catalog
from tables.log.entries.slips import SlipSigned
from tables.log.entries.tables import DealerSignedIn, DealerSignedOut, Door, TableOpened
from tables.log.event import Event
from tables.log.slip_types import RACK_COUNTS
from tables.log.state import UNREADABLE
from tables.models import Table
from tables.reports import ordinary_bands
from tables.reports.figure_records import BookSpan, bounds_by_column
from tables.reports.gaming_hours import Span
from tables.reports.ordinary_bands import Band

FEWEST_ROUNDS: Final = 60
"""Minimum rounds of the dealer, and of the other dealers, for a comparison: an hour of dealing."""
FEWEST_STINTS: Final = 8
"""Of fewer stints of others at the same game, no pace is held against them."""
FEWEST_COUNTS: Final = 10
"""Of fewer counts in the house, nothing is claimed about whose are off."""
SHORTEST: Final = timedelta(minutes=5)
"""A stint that is shorter has no pace."""


@dataclass(frozen=True, slots=True)
class Stint:
    """A dealer's time at an open table."""

    book: int
    game: str
    username: str
    first: int
    """The entry after which it begins."""
    last: int
    start: datetime
    end: datetime

    @property
    def hours(self) -> float:
        return (self.end - self.start) / timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class RackCount:
    """A rack that was counted, by what was it off, and who dealt there since the count before."""

    variance_cents: int
    dealers: frozenset[str]
    is_whole: bool
    """Whether the count before is of the same day, so that all who dealt since are known."""


@dataclass(frozen=True, slots=True)
class Held:
    """A number with its expected band."""

    value: float
    band: Band | None

    @property
    def is_odd(self) -> bool:
        return self.band is not None and self.band.places(self.value) != 0


@dataclass(slots=True)
class DealerLine:
    """One dealer's day."""

    username: str
    name: str
    tables: list[str] = field(default_factory=list)
    rounds: int = 0
    """Without those that are void."""
    void: int = 0
    """Their rounds that are void."""
    hours: float = 0.0
    pace: Held = field(default_factory=lambda: Held(0.0, None))
    take_backs: Held = field(default_factory=lambda: Held(0, None))
    corrections: Held = field(default_factory=lambda: Held(0, None))
    counts: int = 0
    """Racks that were counted after they had dealt."""
    counts_off: Held = field(default_factory=lambda: Held(0, None))
    variance_cents: int = 0
    """Variance of counts for which this was the only dealer since the previous count."""
    shared_cents: int = 0
    """Of counts since which others had dealt as well: not added to anybody's own."""

    @property
    def take_backs_per_hundred(self) -> float | None:
        return 100 * self.take_backs.value / self.rounds if self.rounds else None

    @property
    def usual_take_backs(self) -> tuple[float, float] | None:
        """The band, in a hundred of their rounds."""
        band = self.take_backs.band
        return None if band is None else (100 * band.low / self.rounds, 100 * band.high / self.rounds)

    @property
    def says(self) -> str:
        """What is unusual, in a sentence; or that nothing is, or that there is too little to say so."""
        odd = [
            f"{name}: {held.value:.0f}, usually {held.band.low:.0f} to {held.band.high:.0f}"
            for name, held in (
                ("rounds an hour", self.pace),
                ("take-backs", self.take_backs),
                ("corrections", self.corrections),
                ("counts that were off", self.counts_off),
            )
            if held.band is not None and held.is_odd
        ]
        if odd:
            return f"{'; '.join(odd)}."
        if any(held.band for held in (self.pace, self.take_backs)):
            return "As usual."
        return "Too few rounds to say."


# --- Statements ------------------------------------------------------------------------------------------------

_WATCHES: Final = f"""
    SELECT s.book, e.seq, {clock_corrections.TRUE_TIME.format(book="s.book", entry="e")}, e.subject, e.kind, e.body
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[]) AS s (book, low, high)
    CROSS JOIN LATERAL (
        (SELECT seq, at, subject, kind, body FROM ledger_logentry WHERE book_id = s.book AND subject = 'dealer'
            AND seq <= s.low ORDER BY seq DESC LIMIT 1)
        UNION ALL
        (SELECT seq, at, subject, kind, body FROM ledger_logentry WHERE book_id = s.book AND subject = 'table'
            AND kind IN ('opened', 'closed') AND seq <= s.low ORDER BY seq DESC LIMIT 1)
        UNION ALL
        SELECT seq, at, subject, kind, body FROM ledger_logentry WHERE book_id = s.book AND seq > s.low
            AND seq <= s.high AND (subject = 'dealer' OR subject = 'table' AND kind IN ('opened', 'closed')
            OR subject = 'slip' AND kind = ANY(%(counts)s))) AS e
    ORDER BY s.book, e.seq
"""  # noqa: S608
# A round that is void is taken off the stint in which it began, whoever stood there when it was made void.
_ROUNDS: Final = f"""
    SELECT s.place, till.round - since.round, {
    VOID_OF.format(book="s.book", after="s.first", through="s.high", first="since.round", last="till.round")
}
    FROM unnest(%(books)s::bigint[], %(firsts)s::bigint[], %(lasts)s::bigint[], %(highs)s::bigint[])
        WITH ORDINALITY AS s (book, first, last, high, place)
    CROSS JOIN LATERAL (SELECT coalesce((SELECT round FROM ledger_logentry WHERE book_id = s.book
        AND subject = 'round' AND seq <= s.last ORDER BY seq DESC LIMIT 1), 0) AS round) AS till
    CROSS JOIN LATERAL (SELECT coalesce((SELECT round FROM ledger_logentry WHERE book_id = s.book
        AND subject = 'round' AND seq <= s.first ORDER BY seq DESC LIMIT 1), 0) AS round) AS since
"""  # noqa: S608
# A correction is of the dealer who stood at the table when its round was settled, however long ago.
_CORRECTED: Final = f"""
    SELECT s.book, dealer.body FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        AS s (book, low, high)
    JOIN ledger_logentry AS e ON e.book_id = s.book AND e.seq > s.low AND e.seq <= s.high
        AND e.subject = 'correction' AND e.kind = 'signed'
    CROSS JOIN LATERAL (SELECT max(r.seq) AS seq FROM ledger_logentry AS r WHERE r.book_id = s.book
        AND r.subject = 'round' AND r.legs > 0
        AND r.round = ({CONTENT.format(body="e.body")} #>> '{{correction,round}}')::int) AS settled
    CROSS JOIN LATERAL (SELECT body FROM ledger_logentry WHERE book_id = s.book AND subject = 'dealer'
        AND kind = 'signed_in' AND seq <= settled.seq ORDER BY seq DESC LIMIT 1) AS dealer
"""  # noqa: S608


# --- A day -----------------------------------------------------------------------------------------------------


def dealer_lines(
    spans: Mapping[int, BookSpan], tables: Mapping[int, Table], span: Span, take_backs: Sequence[tuple[int, int]]
) -> list[DealerLine]:
    """Everybody who dealt in a span, by name. ``take_backs``: the entries, as (book, seq), that took inputs back."""
    stints, counts, names = _watches(spans, tables, span)
    if not stints:
        return []
    parameters = {"books": [stint.book for stint in stints], "firsts": [stint.first for stint in stints]}
    parameters |= {"lasts": [stint.last for stint in stints], "highs": [spans[stint.book].last for stint in stints]}
    dealt = {place: (int(rounds - void), int(void)) for place, rounds, void in fetch_rows(_ROUNDS, parameters)}
    day = _Day(
        stints=[(stint, dealt[place][0]) for place, stint in enumerate(stints, 1)],
        void=_void(stints, [void for _, (_, void) in sorted(dealt.items())]),
        counts=counts,
        backs=_backs(stints, take_backs),
        corrected=_corrected(spans, tables, names),
    )
    lines = [_line(day, username, names[username], tables) for username in sorted({stint.username for stint in stints})]
    return sorted(lines, key=lambda line: line.name)


def _void(stints: Sequence[Stint], void: Sequence[int]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for stint, rounds in zip(stints, void, strict=True):
        sums[stint.username] += rounds
    return sums


@dataclass(frozen=True, slots=True)
class _Day:
    """What all dealers are held against."""

    stints: Sequence[tuple[Stint, int]]
    """Each stint with its number of rounds, excluding void rounds."""
    void: Mapping[str, int]
    """The rounds of each that are void, by user name."""
    counts: Sequence[RackCount]
    backs: Mapping[tuple[str, str], int]
    """Take-backs by (user name, game)."""
    corrected: Mapping[tuple[str, str], int]
    """Corrections by (user name, game)."""

    @property
    def rounds(self) -> dict[tuple[str, str], int]:
        """By (user name, game)."""
        rounds: dict[tuple[str, str], int] = defaultdict(int)
        for stint, dealt in self.stints:
            rounds[stint.username, stint.game] += dealt
        return rounds


def _line(day: _Day, username: str, name: str, tables: Mapping[int, Table]) -> DealerLine:
    own = [(stint, rounds) for stint, rounds in day.stints if stint.username == username]
    counts = [count for count in day.counts if username in count.dealers]
    alone = [count for count in counts if count.is_whole and len(count.dealers) == 1]
    off = sum(count.variance_cents != 0 for count in day.counts)
    return DealerLine(
        username=username,
        name=name,
        tables=sorted({tables[stint.book].name for stint, _ in own}),
        rounds=sum(rounds for _, rounds in own),
        void=day.void[username],
        hours=sum(stint.hours for stint, _ in own),
        pace=_paced(day, username),
        take_backs=_held(day, day.backs, username),
        corrections=_held(day, day.corrected, username),
        counts=len(counts),
        counts_off=Held(
            sum(count.variance_cents != 0 for count in counts),
            ordinary_bands.of_draw(off, len(counts), len(day.counts)) if len(day.counts) >= FEWEST_COUNTS else None,
        ),
        variance_cents=sum(count.variance_cents for count in alone),
        shared_cents=sum(count.variance_cents for count in counts if count not in alone),
    )


def _held(day: _Day, events: Mapping[tuple[str, str], int], username: str) -> Held:
    """A dealer's rate of events, with the rate of all dealers of the same games."""
    rounds = day.rounds
    value = sum(number for (who, _), number in events.items() if who == username)
    parts = []
    for game in {game for who, game in rounds if who == username}:
        own, everybody = rounds[username, game], sum(dealt for (_, other), dealt in rounds.items() if other == game)
        if own >= FEWEST_ROUNDS and everybody - own >= FEWEST_ROUNDS:
            parts.append((sum(number for (_, other), number in events.items() if other == game), own, everybody))
    compared = sum(own for _, own, _ in parts) == sum(dealt for (who, _), dealt in rounds.items() if who == username)
    return Held(value, ordinary_bands.of_share(parts) if parts and compared else None)


def _paced(day: _Day, username: str) -> Held:
    """A dealer's rounds per hour, with those of other dealers at the game dealt longest."""
    timed = [(stint, rounds) for stint, rounds in day.stints if stint.end - stint.start >= SHORTEST]
    own = [(stint, rounds) for stint, rounds in timed if stint.username == username]
    if not own:
        return Held(0.0, None)
    games: dict[str, float] = defaultdict(float)
    for stint, _ in own:
        games[stint.game] += stint.hours
    game = max(games, key=lambda name: games[name])
    mine = [(rounds, stint.hours) for stint, rounds in own if stint.game == game]
    others = [(rounds, stint.hours) for stint, rounds in timed if stint.username != username and stint.game == game]
    value = sum(rounds for rounds, _ in mine) / sum(hours for _, hours in mine)
    enough = len(others) >= FEWEST_STINTS and sum(rounds for rounds, _ in mine) >= FEWEST_ROUNDS
    return Held(value, ordinary_bands.of_pace(mine, others) if enough else None)


# --- Stints and counts -----------------------------------------------------------------------------------------


def _watches(
    spans: Mapping[int, BookSpan], tables: Mapping[int, Table], span: Span
) -> tuple[list[Stint], list[RackCount], dict[str, str]]:
    """Who dealt when at each table, which racks were counted, and everybody's name."""
    ours = {book: bounds for book, bounds in spans.items() if book in tables}
    parameters = bounds_by_column(ours) | {"counts": sorted(RACK_COUNTS)}
    stints: list[Stint] = []
    counts: list[RackCount] = []
    names: dict[str, str] = {}
    for book, rows in groupby(fetch_rows(_WATCHES, parameters), key=itemgetter(0)):
        at_table = _AtTable(book, tables[book].game, ours[book], span)
        for _, seq, moment, subject, kind, body in rows:
            try:
                event = catalog.read(subject, kind, body)
            except UNREADABLE:
                continue
            at_table.hears(seq, moment, event)
        stints += at_table.ended()
        counts += at_table.counts
        names |= at_table.names
    return stints, counts, names


class _AtTable:
    """Follows one table through the entries about its dealers, its doors and its counts."""

    def __init__(self, book: int, game: str, bounds: BookSpan, span: Span) -> None:
        self._book, self._game, self._bounds, self._span = book, game, bounds, span
        self._dealer, self._is_open = "", False
        self._since = bounds.first, span.start
        self._whole = False
        self._dealt: set[str] = set()
        self._stints: list[Stint] = []
        self.counts: list[RackCount] = []
        self.names: dict[str, str] = {}

    def hears(self, seq: int, moment: datetime, event: Event) -> None:
        is_before = seq <= self._bounds.first
        self._cut(seq, moment, is_before)
        match event:
            case DealerSignedIn():
                self._dealer, self.names[event.username] = event.username, event.name
            case DealerSignedOut():
                self._dealer = ""
            case Door():
                self._is_open = isinstance(event, TableOpened)
                if not is_before:
                    self._counted(event.variance_cents)
            case SlipSigned() if event.after.agreed is not None:
                self._counted(event.after.variance_cents)

    def _cut(self, seq: int, moment: datetime, is_before: bool) -> None:
        """Who stood here until now has dealt a stint."""
        if is_before:
            return
        first, start = self._since
        if self._dealer and self._is_open and seq > first:
            self._dealt.add(self._dealer)
            self._stints.append(Stint(self._book, self._game, self._dealer, first, seq, start, moment))
        self._since = seq, moment

    def _counted(self, variance_cents: int) -> None:
        if self._dealt:
            self.counts.append(RackCount(variance_cents, frozenset(self._dealt), self._whole))
        self._dealt, self._whole = set(), True

    def ended(self) -> Iterator[Stint]:
        """All stints, the last one as far as the span or the clock has come."""
        self._cut(self._bounds.last, min(self._span.end, timezone.now()), is_before=False)
        return iter(self._stints)


def _backs(stints: Sequence[Stint], take_backs: Sequence[tuple[int, int]]) -> dict[tuple[str, str], int]:
    backs: dict[tuple[str, str], int] = defaultdict(int)
    by_book: dict[int, list[Stint]] = defaultdict(list)
    for stint in stints:
        by_book[stint.book].append(stint)
    for book, seq in take_backs:
        for stint in by_book[book]:
            if stint.first < seq <= stint.last:
                backs[stint.username, stint.game] += 1
    return backs


def _corrected(
    spans: Mapping[int, BookSpan], tables: Mapping[int, Table], names: Mapping[str, str]
) -> dict[tuple[str, str], int]:
    ours = {book: bounds for book, bounds in spans.items() if book in tables}
    corrected: dict[tuple[str, str], int] = defaultdict(int)
    for book, body in fetch_rows(_CORRECTED, bounds_by_column(ours)):
        username = catalog.read_as(DealerSignedIn, body).username
        if username in names:
            corrected[username, tables[book].game] += 1
    return corrected
