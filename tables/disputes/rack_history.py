"""What moved a rack: the settled rounds and the exchanges of chips in a span of a table's log, in a few queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from ledger.models import Bookmark, LogEntry
from ledger.raw_rows import fetch_row, fetch_rows
from tables.games.game import Game
from tables.games.protocol import Action, Opening, Payout
from tables.log.catalog import read, read_as
from tables.log.entries.disputes import DisputeOpened
from tables.log.entries.rounds import Played, TakenBack, Voided
from tables.log.entries.shoes import CardRefused
from tables.log.game_kinds import kind_of
from tables.log.settlement import paid_in_full

_AT_ONCE: Final = 500
"""Rounds that one query reads."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """A settled round, as far as the mispay finder needs it."""

    number: int
    seq: int
    """The entry that settled it."""
    game: Game[Any, Any]
    rules: Any
    opening: Opening
    actions: tuple[Action, ...]
    payouts: tuple[Payout, ...]
    """None of a game for a pot: the house has no part in what its seats pay each other."""
    troubled: bool = False
    """Whether a key was taken back in it, or a card refused."""
    is_marked: bool = False
    """Whether its commission was marked, and its winnings were paid without it."""
    dealer: str = ""
    """Who entered what settled it, by their signature."""
    marks: frozenset[str] = frozenset()
    """Who looked twice: round_evidence.py has the words."""

    def paid(self, payouts: Sequence[Payout]) -> tuple[Payout, ...]:
        """Payouts of its game as chips changed hands for them at once."""
        return tuple(map(paid_in_full, payouts)) if self.is_marked else tuple(payouts)


@dataclass(frozen=True, slots=True)
class Exchange:
    """Chips that came into a rack or left it otherwise than by a round: what the log says of them."""

    seq: int
    kind: str
    """buy_in, brought, rake, time_charge or commission."""
    amount_cents: int
    seat: int | None = None
    round: int | None = None


# --- Rounds ----------------------------------------------------------------------------------------------------


def entry_before(book_id: int, number: int) -> int:
    """The entry before a round's first one."""
    row = fetch_row("SELECT min(seq) FROM ledger_logentry WHERE book_id = %s AND round = %s", [book_id, number])
    return int(row[0]) - 1


def rounds_between(book_id: int, since_seq: int, through_seq: int) -> tuple[int, int]:
    """The first and the last round with an entry in a span; (1, 0) where there is none."""
    span = "SELECT round FROM ledger_logentry WHERE book_id = %s AND subject = 'round' AND seq > %s AND seq <= %s"
    first, last = fetch_row(
        f"SELECT ({span} ORDER BY seq LIMIT 1), ({span} ORDER BY seq DESC LIMIT 1)",
        [book_id, since_seq, through_seq] * 2,
    )
    return (1, 0) if first is None else (first, last)


_ROUNDS: Final = """
    SELECT round, seq, subject, kind, legs, body, by FROM ledger_logentry
    WHERE book_id = %s AND round BETWEEN %s AND %s AND seq <= %s ORDER BY round, seq
"""


def dealt_rounds(book_id: int, first: int, last: int, since_seq: int, through_seq: int) -> Iterator[Dealt]:
    """The rounds from one number to another that were settled in a span, as they stand after their corrections."""
    for start in range(first, last + 1, _AT_ONCE):
        rows = fetch_rows(_ROUNDS, [book_id, start, min(start + _AT_ONCE - 1, last), through_seq])
        for number, entries in groupby(rows, key=lambda row: row[0]):
            round_ = _round(number, [entry[1:] for entry in entries])
            if round_ is not None and round_.seq > since_seq:
                yield round_


def _round(number: int, entries: Sequence[tuple[int, str, str, int, bytes, str]]) -> Dealt | None:
    """A round from its entries; None for one that goes on, that was taken back, or that is void."""
    plays: dict[int, tuple[int, Played]] = {}
    authors: dict[int, str] = {}
    troubled, pinned = False, None
    for seq, subject, kind, legs, body, by in entries:
        authors[seq] = by
        match read(subject, kind, body):
            case Played() as event:
                pinned = event.opening or pinned
                plays[seq] = legs, event
            case TakenBack(corrects=seq_taken_back):
                troubled = True
                plays.pop(seq_taken_back, None)
            case CardRefused():
                troubled = True
            case Voided():
                return None
    if pinned is None or not plays:
        return None
    settling_seq, (legs, _) = max(plays.items())
    game, rules, opening = pinned.read()
    events = [event for _, event in plays.values()]
    actions = tuple(action for event in events for action in event.actions)
    decided = tuple(sorted((payout for event in events for payout in event.decided), key=lambda payout: payout.seat))
    payouts = kind_of(game).payouts(legs, decided)
    if payouts is None:
        return None
    round_ = Dealt(
        number=number,
        seq=settling_seq,
        game=game,
        rules=rules,
        opening=opening,
        actions=actions,
        payouts=payouts,
        troubled=troubled,
        is_marked=pinned.marks is not None,
        dealer=authors[settling_seq],
    )
    return replace(round_, payouts=round_.paid(payouts))


# --- Who looked twice ------------------------------------------------------------------------------------------


def marked(rounds: Sequence[Dealt], book_id: int, since_seq: int, with_bookmarks: bool) -> list[Dealt]:
    """Add dispute marks and, if requested, surveillance bookmarks to the rounds. Takes at most two queries."""
    if not rounds:
        return []
    marks: dict[int, set[str]] = {round_.number: set() for round_ in rounds}
    opened = LogEntry.objects.filter(book_id=book_id, subject="dispute", kind="opened", seq__gt=since_seq)
    for body in opened.values_list("body", flat=True):
        marks.get(read_as(DisputeOpened, body).dispute.round, set()).add("disputed")
    if with_bookmarks:
        bookmarks = Bookmark.objects.filter(book_id=book_id, round__range=(rounds[0].number, rounds[-1].number))
        for number in bookmarks.values_list("round", flat=True):
            marks.get(number or 0, set()).add("bookmarked")
    return [replace(round_, marks=frozenset(marks[round_.number])) for round_ in rounds]


# --- Exchanges -------------------------------------------------------------------------------------------------


_EXCHANGES: Final = """
    SELECT t.seq, e.round, t.kind, coalesce(s.seat, g.seat), t.amount_cents
    FROM ledger_transfer AS t
    JOIN ledger_logentry AS e ON e.book_id = t.book_id AND e.seq = t.seq
    JOIN ledger_account AS s ON s.id = t.source_id JOIN ledger_account AS g ON g.id = t.target_id
    WHERE t.book_id = %s AND t.seq > %s AND t.seq <= %s AND t.kind = ANY(%s)
        AND NOT EXISTS (SELECT FROM ledger_transfer AS r WHERE r.reverses_id = t.id)
    ORDER BY t.seq, t.leg
"""
_EXCHANGED: Final = ["buy_in", "sit_down", "rake", "time_charge", "commission"]


def exchanges(book_id: int, since_seq: int, through_seq: int) -> Iterator[Exchange]:
    """What came into a rack or left it otherwise than by a round, in a span."""
    rows = fetch_rows(_EXCHANGES, [book_id, since_seq, through_seq, _EXCHANGED])
    for seq, legs in groupby(rows, key=lambda row: row[0]):
        yield from _exchanges_of(seq, list(legs))


def _exchanges_of(seq: int, legs: Sequence[tuple[int, int | None, str, int | None, int]]) -> Iterator[Exchange]:
    """The exchanges of one entry: a seat that sits down with chips from the rack is one, not two."""
    kinds = {kind for _, _, kind, _, _ in legs}
    seats = {seat for *_, seat, _ in legs if seat}
    for _, number, kind, seat, amount in legs:
        if kind == "sit_down":
            if "buy_in" not in kinds:
                yield Exchange(seq, "brought", amount, seat, number)
        else:
            yield Exchange(seq, kind, amount, seat or (min(seats) if kind == "buy_in" and seats else None), number)
    charged = [amount for *_, kind, _, amount in legs if kind == "time_charge"]
    if len(charged) > 1:
        yield Exchange(seq, "time_charge", sum(charged))
