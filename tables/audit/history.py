"""The read side of what is over: a table's rounds, one round input by input, and its log. Nothing here writes.

A table's rounds are numbered without gaps and its log likewise, so a page is a range of numbers: it costs the same
on a table's first day and after years.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, Final

import msgspec
from django.db import connection

from ledger import mends
from ledger.log import COLUMNS, entries
from ledger.models import Book
from ledger.proof.chain import Entry, Fault, Head, Mend, verify_chain
from ledger.proof.spelling import PAYOUT, PAYOUT_WITH_SCORE
from tables.audit import proofs
from tables.audit.proofs import Report
from tables.board import secrecy
from tables.board.secrecy import Veiled
from tables.games.catalog import GAMES
from tables.games.felt import DEALER, Opening, Payout, SeatView, View
from tables.games.record import record_of
from tables.log import catalog
from tables.log.catalog import event_of, fold
from tables.log.entries.rounds import Paid, Played, TakenBack
from tables.log.event import Event
from tables.log.fold import UNREADABLE, Round, Standing
from tables.log.kinds import GameKind, kind_of
from tables.models import Table

PAGE: Final = 25
LOG_PAGE: Final = 50
SEARCHED: Final = 500
"""How many rounds one search looks through: what it costs must not grow with history either."""


@dataclass(frozen=True, slots=True)
class RoundLine:
    """One round in a list."""

    number: int
    first_seq: int
    last_seq: int
    began: datetime | None
    ended: datetime | None
    """When its last card was entered; None while it goes on."""
    dealers: tuple[str, ...]
    """Who entered it: more than one when a relief took over."""
    shoe: int
    seats: tuple[SeatView, ...]
    """The seats that played, with what became of them."""
    staked_cents: int
    """What they bet; in a game for a pot, what they paid in it."""
    house_net_cents: int | None
    """What the house won (positive) or lost, or raked; None while the round goes on."""
    taken_back: int
    """How many inputs were taken back."""
    refused: int
    """How many cards were keyed that the shoe cannot hold."""
    dated: datetime | None = None
    """What its first entry was dated by a wrong clock, where that was mended: it began, at the earliest, at the time
    that is said here."""
    fault: str | None = None
    """Why the round cannot be played again from the log."""

    @property
    def over(self) -> bool:
        return self.ended is not None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search looks for. Empty: every round."""

    outcome: str | None = None
    seat: int | None = None
    corrected: bool = False

    def __bool__(self) -> bool:
        return bool(self.outcome or self.seat or self.corrected)

    def admits(self, line: RoundLine) -> bool:
        """Whether a round, as it stands after its corrections, is one that is looked for. One that cannot be played
        again is never left out."""
        if line.fault:
            return True
        if self.corrected and not line.taken_back:
            return False
        if not (self.outcome or self.seat):
            return True
        seats = (seat for seat in line.seats if self.seat in (None, seat.seat))
        return any(self.outcome is None or (seat.payout and seat.payout.outcome == self.outcome) for seat in seats)


@dataclass(frozen=True, slots=True)
class Page:
    """Rounds, newest first, and where the next older page begins."""

    lines: tuple[RoundLine, ...]
    through: int
    """The newest round that was looked at."""
    since: int
    """The oldest one."""

    @property
    def older(self) -> int | None:
        """The round at which the next page begins."""
        return self.since - 1 if self.since > 1 else None


# --- A table's rounds ------------------------------------------------------------------------------------------


def rounds(book_id: int, *, through: int, count: int = PAGE) -> Page:
    """``count`` rounds up to and including ``through``, the newest first."""
    since = max(through - count + 1, 1)
    return Page(tuple(_lines(book_id, range(since, through + 1))), through, since)


def search(table: Table, wanted: Wanted, *, through: int, count: int = PAGE) -> Page:
    """At most ``count`` of the rounds that are looked for, among the SEARCHED that end with ``through``."""
    oldest, book_id = max(through - SEARCHED + 1, 1), table.book_id
    candidates = _candidates(book_id, wanted, oldest, through, count, kind=kind_of(GAMES[table.game]))
    lines = tuple(line for line in _lines(book_id, candidates) if wanted.admits(line))
    return Page(lines, through, candidates[-1] if len(candidates) == count else oldest)


def _candidates(book_id: int, wanted: Wanted, since: int, through: int, count: int, *, kind: GameKind) -> list[int]:
    """Rounds with an entry that looks like what is wanted: cheap to find, still to be played.

    Bodies are canonical JSON, so a piece of one is found as bytes: nothing has to be parsed, whatever stands there.
    Each piece is looked for as it is spelled in either format.
    """
    written, pieces = "play", list[bytes]()
    if wanted.corrected:
        written = "take_back"
    elif wanted.outcome:
        pieces = [f'"outcome":"{wanted.outcome}"'.encode(), *_payouts(wanted.outcome, wanted.seat)]
    else:
        pieces = kind.traces(wanted.seat)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT round FROM ledger_logentry WHERE book_id = %s AND round BETWEEN %s AND %s"
            " AND subject = 'round' AND kind = %s AND (cardinality(%s::bytea[]) = 0 OR EXISTS ("
            "SELECT FROM unnest(%s::bytea[]) AS piece WHERE position(piece IN body) > 0))"
            " ORDER BY round DESC LIMIT %s",
            [book_id, since, through, written, pieces, pieces, count],
        )
        return [number for (number,) in cursor.fetchall()]


def _payouts(outcome: str, seat: int | None) -> list[bytes]:
    places = () if seat is None else (seat,)
    return [shape.piece(outcome, *places) for shape in (PAYOUT, PAYOUT_WITH_SCORE)]


def _lines(book_id: int, numbers: Sequence[int]) -> Iterable[RoundLine]:
    if not numbers:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {COLUMNS} FROM ledger_logentry WHERE book_id = %s AND round BETWEEN %s AND %s"  # noqa: S608
            " AND round = ANY(%s) ORDER BY round, seq",
            [book_id, min(numbers), max(numbers), list(numbers)],
        )
        entries = [Entry(*row) for row in cursor.fetchall()]
    lines = [line_of(number, list(stretch)) for number, stretch in groupby(entries, key=lambda entry: entry.round or 0)]
    return reversed(truly_timed(book_id, lines))


def truly_timed(book_id: int, lines: Sequence[RoundLine]) -> list[RoundLine]:
    """The same with the times that count, where the log has false ones."""
    house_mends = mends.of(book_id)
    spans = [next((mend for mend in house_mends if mend.first <= line.first_seq <= mend.last), None) for line in lines]
    return [_in_true_time(line, span) for line, span in zip(lines, spans, strict=True)]


def _in_true_time(line: RoundLine, mend: Mend | None) -> RoundLine:
    if mend is None or line.began is None:
        return line
    lasted = line.ended - line.began if line.ended else None
    return replace(line, began=mend.at, ended=None if lasted is None else mend.at + lasted, dated=line.began)


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
        fault=fault,
    )


def folded(current: Round | None, entry: Entry) -> Round | None:
    """The round after one more of its entries."""
    return _round_after(current, event_of(entry), entry)


def _round_after(current: Round | None, event: Event, entry: Entry) -> Round | None:
    return fold(Standing(round=current), event, seq=entry.seq, round=entry.round).round


_BISECT: Final = f"""
    WITH RECURSIVE search (book, low, high) AS (
        SELECT book, 1, latest + 1 FROM unnest(%(books)s::bigint[], %(latest)s::int[]) AS of (book, latest)
        UNION ALL
        SELECT search.book, CASE WHEN began.at < %(moment)s THEN (low + high) / 2 + 1 ELSE low END,
            CASE WHEN began.at < %(moment)s THEN high ELSE (low + high) / 2 END
        FROM search CROSS JOIN LATERAL (
            SELECT {mends.TRUE_TIME.format(book="e.book_id", entry="e")} AS at FROM ledger_logentry AS e
            WHERE e.book_id = search.book AND e.round = (low + high) / 2 ORDER BY e.seq LIMIT 1) AS began
        WHERE low < high)
    SELECT book, low FROM search WHERE low = high
"""  # noqa: S608


def first_since(latest: Mapping[int, int], moment: datetime) -> dict[int, int]:
    """For each book, given its latest round: the number of the first one that began at a moment or after it.

    Rounds begin in the order of their numbers, so each book is bisected: a few index look-ups, one query for all.
    """
    with connection.cursor() as cursor:
        cursor.execute(_BISECT, {"books": list(latest), "latest": list(latest.values()), "moment": moment})
        return dict(cursor.fetchall())


# --- One round -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Moved:
    """Chips that an entry moved, from one place to another."""

    kind: str
    source: str
    target: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a round's stretch of the log, and the layout after it."""

    entry: Entry
    words: str
    view: View | None
    """The layout, every amount in cents; None before the first input of a round."""
    dealer_plays: bool
    touched: frozenset[int]
    """The seats that it was about; 0 is the dealer."""
    decided: tuple[Payout, ...] = ()
    moved: tuple[Moved, ...] = ()
    corrects: int | None = None
    corrected_by: int | None = None
    """The entry that takes this one back."""


@dataclass(frozen=True, slots=True)
class Story:
    """A round, input by input, with what it was dealt under and how it came out."""

    line: RoundLine
    steps: tuple[Step, ...]
    game: str
    rules: dict[str, Any]
    opening: Opening | None
    payouts: tuple[Payout, ...]
    record: dict[str, Any] | None
    """The round as a round record, for anyone to replay."""
    coin_cents: int = 0
    """What a coin was worth in a game for a pot."""
    stacks: tuple[tuple[int, int], ...] = ()
    """(seat, cents) of what the seats dealt in had on the table."""
    sealed: bool = False
    """Whether it goes on and holds what nobody may know yet: there is no record before it is over."""


def story(table: Table, number: int) -> Story | None:
    """One round of a table; None when it was never dealt."""
    entries = _stretch(table.book_id, number)
    own = [entry for entry in entries if entry.round == number]
    if not own:
        return None
    chips = _moves(table.book_id, entries[0].seq, entries[-1].seq)
    (line,) = truly_timed(table.book_id, [line_of(number, own)])
    steps: list[Step] = []
    current: Round | None = None
    is_broken = False
    for entry, public in zip(entries, secrecy.veiled(table.book_id, entries), strict=True):
        before = current
        if entry.subject == "round" and not is_broken:
            try:
                current = folded(current, entry)
            except UNREADABLE:
                is_broken = True
        steps.append(_step(public, before, current, chips.get(entry.seq, ())))
    corrections = {step.corrects: step.entry.seq for step in steps if step.corrects}
    marked_steps = tuple(replace(step, corrected_by=corrections.get(step.entry.seq)) for step in steps)
    if current is None:
        return Story(line=line, steps=marked_steps, game="", rules={}, opening=None, payouts=(), record=None)
    sealed = current.secret and not current.over
    actions = [action for play in current.plays for action in play.actions]
    return Story(
        line=line,
        steps=marked_steps,
        game=current.game.name,
        rules=msgspec.to_builtins(current.rules),
        opening=current.opening,
        payouts=current.settled,
        record=None if is_broken or sealed else record_of(current.game, current.rules, current.opening, actions),
        sealed=sealed,
        coin_cents=current.coin_cents,
        stacks=tuple((seat, cents) for seat, cents in current.stacks if seat in current.opening.seats),
    )


def _stretch(book_id: int, number: int) -> list[Entry]:
    """The log from a round's first entry to its last: what came between (a relief, the cut card) belongs to it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT min(seq), max(seq) FROM ledger_logentry WHERE book_id = %s AND round = %s", [book_id, number]
        )
        first, last = cursor.fetchone()
        cursor.execute(
            f"SELECT {COLUMNS} FROM ledger_logentry WHERE book_id = %s AND seq BETWEEN %s AND %s ORDER BY seq",  # noqa: S608
            [book_id, first, last],
        )
        return [Entry(*row) for row in cursor.fetchall()]


def _step(entry: Entry, before: Round | None, after: Round | None, moves: tuple[Moved, ...]) -> Step:
    payouts = after.plays[-1].decided if after and after is not before and entry.kind == "play" and after.plays else ()
    return Step(
        entry=entry,
        words=words_of(entry),
        view=after.view(DEALER) if after else None,
        dealer_plays=after is None or after.game.dealer_plays,
        touched=_seats_of(entry),
        decided=tuple(after.in_cents(payout) for payout in payouts) if after else (),
        moved=moves,
        corrects=_corrected_seq(entry),
    )


def words_of(entry: Entry) -> str:
    """An entry in plain words."""
    try:
        return catalog.told(secrecy.event_of(entry))
    except UNREADABLE:
        return f"{entry.subject} {entry.kind}: it cannot be read"


def _seats_of(entry: Entry) -> frozenset[int]:
    with suppress(*UNREADABLE):
        event = secrecy.event_of(entry)
        if isinstance(event, Played | Paid | TakenBack | Veiled):
            return event.seats
    return frozenset()


def _corrected_seq(entry: Entry) -> int | None:
    """The entry that this one takes back."""
    with suppress(*UNREADABLE):
        event = secrecy.event_of(entry)
        return event.corrects if isinstance(event, TakenBack | Veiled) else None
    return None


_MOVED: Final = """
    SELECT t.seq, t.kind, s.place, s.seat, e.place, e.seat, t.amount_cents
    FROM ledger_transfer AS t
    JOIN ledger_account AS s ON s.id = t.source_id JOIN ledger_account AS e ON e.id = t.target_id
    WHERE t.book_id = %s AND t.seq BETWEEN %s AND %s ORDER BY t.seq, t.leg
"""


def _moves(book_id: int, since: int, through: int) -> dict[int, tuple[Moved, ...]]:
    """The transfers of a stretch of the log, by entry."""
    with connection.cursor() as cursor:
        cursor.execute(_MOVED, [book_id, since, through])
        rows = cursor.fetchall()
    return {
        seq: tuple(Moved(row[1], _place(row[2], row[3]), _place(row[4], row[5]), row[6]) for row in group)
        for seq, group in groupby(rows, key=lambda row: row[0])
    }


def _place(place: str, seat: int | None) -> str:
    return place.replace("_", " / ") if seat is None else f"{place} {seat}"


def prove(table: Table, story: Story) -> Report:
    """Prove a round's stretch of the log anew: every hash, every input through the engine, every transfer.

    It must follow from the entry before it, and the entry after it (or the book's head) must follow from it.
    """
    book = Book.objects.get(pk=table.book_id)
    first, last = story.steps[0].entry, story.steps[-1].entry
    after = Head(book.pk, book.name, first.seq - 1, first.prev_hash) if first.prev_hash else None
    end = Head(book.pk, book.name, last.seq, bytes(last.hash))
    report = proofs.prove(book, after, end)
    return report if report.fault else replace(report, fault=_fault_of_follower(book, end))


def _fault_of_follower(book: Book, end: Head) -> Fault | None:
    """Why what comes after an entry does not follow from it: the next entry, or the book's head."""
    following = next(entries(book.pk, end.seq, end.seq + 1), None)
    if following is None:
        return verify_chain([], Head(book.pk, book.name, end.seq, bytes(book.head_hash or b"")), after=end)
    return verify_chain([following], Head(book.pk, book.name, following.seq, following.hash), after=end)


# --- The log ---------------------------------------------------------------------------------------------------


def log(book_id: int, *, before: int | None = None, subject: str = "", count: int = LOG_PAGE) -> list[Entry]:
    """``count`` entries of a table's log before the entry ``before``, the newest first; only of ``subject``, if given.

    Nothing is told of what a game still hides.
    """
    where = "book_id = %(book)s" + " AND seq < %(before)s" * (before is not None)
    where += " AND subject = %(subject)s" * bool(subject)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {COLUMNS} FROM ledger_logentry WHERE {where} ORDER BY seq DESC LIMIT %(count)s",  # noqa: S608
            {"book": book_id, "before": before, "subject": subject, "count": count},
        )
        return secrecy.veiled(book_id, [Entry(*row) for row in cursor.fetchall()])


def games() -> Mapping[str, str]:
    """The games of the house: how they are set, and how they are called."""
    return {name: game.title for name, game in GAMES.items()}
