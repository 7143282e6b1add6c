"""Reads from the log which chips lie where: the last count of each place, the papers since, and amounts without paper.

Every statement begins at a place's last count, so what is asked costs what happened since, however long the house has
dealt. What is known of the pieces, and how: ``tables/log/pieces.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ledger.models import HOUSE, Book
from ledger.proof.chips import ISSUE, RACK, Denomination
from ledger.raw_rows import fetch_rows
from tables.log.catalog import read, read_as
from tables.log.entries.chips import AtTheCounter, ChipsChanged, ChipsSold, SaleUndone
from tables.log.entries.seats import BoughtIn
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.pieces import NOTHING, Amounts, Holding, counted, handed_out
from tables.log.slip_types import SLIPS, Chips, total


class Base(NamedTuple):
    """Where the pieces of a place were known last: by a count, or at the beginning."""

    holding: Holding
    through: Mapping[int, int]
    """How far each book had come; a book that is not named begins at its first entry."""
    seq: int
    """The entry of the count, in the book that it is written in; 0 where there was none yet."""


@dataclass(frozen=True, slots=True)
class Shift:
    """Movements into a place and out of it in one entry that says which chips they were, or may say it."""

    subject: str
    kind: str
    body: bytes
    of_the_house: bool
    amounts: Sequence[int]
    """In cents, below zero where chips left."""


# The subjects of entries that may say which chips moved. Whatever else moves chips tells their amount alone.
_PAPERS: Final = ["slip", "chips", BoughtIn.subject]

# A place of the house is moved by every book, so its accounts are told by the place's name in the transfer itself.
# The aggregates inside make the planner look up each span by its numbers, and never read the whole ledger.
_ON_PAPER: Final = """
    SELECT s.book, moved.subject, moved.kind, moved.body, s.book = %(house)s, moved.amounts
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[]) AS s (book, low, high)
    CROSS JOIN LATERAL (
        SELECT t.seq, e.subject, e.kind, e.body, array_agg(
            CASE WHEN t.target_place = %(place)s THEN t.amount_cents ELSE -t.amount_cents END ORDER BY t.leg) AS amounts
        FROM ledger_transfer AS t JOIN ledger_logentry AS e ON e.book_id = t.book_id AND e.seq = t.seq
        WHERE t.book_id = s.book AND t.seq > s.low AND t.seq <= s.high AND e.subject = ANY(%(papers)s)
            AND (t.source_place = %(place)s) <> (t.target_place = %(place)s)
        GROUP BY t.seq, e.subject, e.kind, e.body) AS moved
    ORDER BY s.book, moved.seq
"""
_BY_AMOUNT: Final = """
    SELECT s.book, moved.* FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        AS s (book, low, high)
    CROSS JOIN LATERAL (
        SELECT t.target_place = %(place)s, t.amount_cents, count(*)
        FROM ledger_transfer AS t JOIN ledger_logentry AS e ON e.book_id = t.book_id AND e.seq = t.seq
        WHERE t.book_id = s.book AND t.seq > s.low AND t.seq <= s.high AND NOT e.subject = ANY(%(papers)s)
            AND (t.source_place = %(place)s) <> (t.target_place = %(place)s)
        GROUP BY 1, 2) AS moved
"""
_CHANGES: Final = """
    SELECT s.book, e.body
    FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[]) AS s (book, low, high)
    JOIN ledger_logentry AS e ON e.book_id = s.book AND e.seq > s.low AND e.seq <= s.high
        AND e.subject = 'chips' AND e.kind = 'changed'
    ORDER BY s.book, e.seq
"""
_COUNTS: Final = f"""
    SELECT s.book, w.seq, w.body FROM unnest(%(books)s::bigint[], %(highs)s::bigint[]) AS s (book, high)
    CROSS JOIN LATERAL (
        SELECT e.seq, e.body FROM ledger_slipsignature AS g
        JOIN ledger_slip AS p ON p.id = g.slip_id AND p.series = ANY(%(series)s)
        JOIN ledger_logentry AS e ON e.book_id = g.book_id AND e.seq = g.seq
        WHERE g.book_id = s.book AND g.seq <= s.high AND g.stage LIKE 'recounted%%'
        ORDER BY g.seq DESC LIMIT {12}) AS w
    ORDER BY s.book, w.seq DESC
"""  # noqa: S608
"""The latest counts of each book, the newest first: two that differ come to nothing, so the one before is asked too."""


def racks(heads: Mapping[int, int], kinds: Mapping[int, Sequence[Denomination]]) -> dict[int, Holding]:
    """What lies in the rack of each of these tables' books once it had come to an entry."""
    bases = _bases(RACK, heads)
    spans = {book: (base.seq, heads[book]) for book, base in bases.items()}
    on_paper, by_amount, changes = _on_paper(RACK, spans), _by_amount(RACK, spans), _exchanged(spans)
    holdings = {}
    for book, base in bases.items():
        holding = _moved(base.holding, on_paper.get(book, ()), kinds[book])
        holding = _after_changes(holding, changes.get(book, ()), kinds[book])
        holdings[book] = holding.moved_by_amount(by_amount.get(book, ()), kinds[book])
    return holdings


def shared(place: str, heads: Mapping[int, int], kinds: Sequence[Denomination]) -> Holding:
    """What lies in a place of the house once each book had come to an entry."""
    house = _house()
    base = _bases(place, {house: heads.get(house, 0)})[house]
    spans = {book: (base.through.get(book, 0), seq) for book, seq in heads.items()}
    holding = base.holding
    for shifts in _on_paper(place, spans).values():
        holding = _moved(holding, shifts, kinds)
    for amounts in _by_amount(place, spans).values():
        holding = holding.moved_by_amount(amounts, kinds)
    return holding


def issued(heads: Mapping[int, int], kinds: Sequence[Denomination]) -> Holding:
    """Every chip that there is: received, and not destroyed or written off since."""
    house = _house()
    return -shared(ISSUE, {house: heads.get(house, 0)}, kinds)


def on_the_way(heads: Mapping[int, int]) -> dict[int, Holding]:
    """What was on its way between the cage and each table: the slips in progress say the chips."""
    statement = """
        SELECT s.book, e.body FROM unnest(%(books)s::bigint[], %(highs)s::bigint[]) AS s (book, high)
        CROSS JOIN LATERAL (SELECT body FROM ledger_logentry WHERE book_id = s.book AND subject = 'slip'
            AND seq <= s.high ORDER BY seq DESC LIMIT 1) AS e
    """
    holdings = dict.fromkeys(heads, NOTHING)
    for book, body in fetch_rows(statement, {"books": list(heads), "highs": list(heads.values())}):
        for slip in read_as(SlipSigned, body).waiting:
            if slip.moves_on:
                holdings[book] = holdings[book].moved(slip.chips)
    return holdings


def last_counts(heads: Mapping[int, int]) -> dict[int, int]:
    """The latest entry of an agreed count of each rack, up to these entries; racks without a count are left out."""
    bases = _bases(RACK, heads) if heads else {}
    return {book: base.seq for book, base in bases.items() if base.seq}


# --- Where it begins -------------------------------------------------------------------------------------------


def _bases(place: str, heads: Mapping[int, int]) -> dict[int, Base]:
    series = [record.name for record in SLIPS.values() if record.counts(place)]
    bases = {book: Base(NOTHING, {}, 0) for book in heads}
    parameters = {"books": list(heads), "highs": list(heads.values()), "series": series}
    for book, seq, body in fetch_rows(_COUNTS, parameters) if series else ():
        event = read_as(HouseSlipSigned if place != RACK else SlipSigned, body)
        if bases[book].seq or event.after.agreed is None:
            continue
        bases[book] = Base(counted(event.after.agreed), _through(event, book, seq), seq)
    return bases


def _through(event: SlipSigned, book: int, seq: int) -> dict[int, int]:
    """How far the books had come when a place was counted: those of the tables were read for it."""
    names = event.through or {}
    tables = Book.objects.filter(name__in=names).values_list("pk", "name") if names else ()
    return {pk: names[name] for pk, name in tables} | {book: seq}


# --- What moved since ------------------------------------------------------------------------------------------


def _on_paper(place: str, spans: Mapping[int, tuple[int, int]]) -> dict[int, list[Shift]]:
    shifts: dict[int, list[Shift]] = {}
    for book, *row in fetch_rows(_ON_PAPER, _parameters(place, spans)):
        shifts.setdefault(book, []).append(Shift(*row))
    return shifts


def _by_amount(place: str, spans: Mapping[int, tuple[int, int]]) -> dict[int, list[Amounts]]:
    amounts: dict[int, list[Amounts]] = {}
    for book, arrives, cents, times in fetch_rows(_BY_AMOUNT, _parameters(place, spans)):
        amounts.setdefault(book, []).append(Amounts(cents if arrives else -cents, times))
    return amounts


def _moved(holding: Holding, shifts: Iterable[Shift], kinds: Sequence[Denomination]) -> Holding:
    """After movements of which a paper may say the chips: each amount that the paper's chips make is those chips."""
    for shift in shifts:
        chips = _chips_of(shift)
        for cents in shift.amounts:
            if chips and total(chips) == abs(cents):
                holding = holding.moved(chips, 1 if cents > 0 else -1)
            else:
                holding = holding.moved_by_amount([Amounts(cents)], kinds)
    return holding


def _chips_of(shift: Shift) -> Chips:
    """Which chips an entry says that it moved; none where it does not say it."""
    if shift.subject == "slip":
        return read_as(SlipSigned, shift.body).after.moved_pieces
    event = read(shift.subject, shift.kind, shift.body, house=shift.of_the_house)
    return event.chips if isinstance(event, ChipsSold | SaleUndone | AtTheCounter | BoughtIn) else ()


def _exchanged(spans: Mapping[int, tuple[int, int]]) -> dict[int, list[ChipsChanged]]:
    """The chips that were changed at tables for others of the same worth: no transfer tells of them."""
    changes: dict[int, list[ChipsChanged]] = {}
    for book, body in fetch_rows(_CHANGES, _parameters(RACK, spans)):
        changes.setdefault(book, []).append(read_as(ChipsChanged, bytes(body)))
    return changes


def _after_changes(holding: Holding, changes: Iterable[ChipsChanged], kinds: Sequence[Denomination]) -> Holding:
    """The holding after chip changes. Unrecorded chips are estimated: the fewest on one side, smaller on the other."""
    for event in changes:
        large = handed_out(event.amount_cents, tuple(kinds))
        small = handed_out(event.amount_cents, tuple(kinds), smaller=True)
        holding = holding.exchanged(event.takes, event.gives, (small, large) if event.up else (large, small))
    return holding


def _parameters(place: str, spans: Mapping[int, tuple[int, int]]) -> dict[str, Any]:
    return {
        "place": place,
        "house": _house(),
        "papers": _PAPERS,
        "books": list(spans),
        "lows": [low for low, _ in spans.values()],
        "highs": [high for _, high in spans.values()],
    }


def _house() -> int:
    pk: int = Book.objects.values_list("pk", flat=True).get(name=HOUSE)
    return pk
