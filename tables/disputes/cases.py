"""Disputes to be read: the floor's list, and each one with everything that was written about it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ledger.log import LAST_SEQ
from ledger.raw_rows import fetch_rows
from tables.disputes import register
from tables.disputes.register import Register
from tables.log.catalog import read, read_as
from tables.log.entries.disputes import CLOSED, AboutDispute, Dispute, DisputeClosed
from tables.log.state import UNREADABLE


@dataclass(frozen=True, slots=True)
class Word:
    """One entry about a dispute, to be read."""

    seq: int
    written_at: datetime
    by: str
    kind: str
    heard: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A dispute with everything that was written about it."""

    table_id: int
    table: str
    dispute: Dispute
    opened_at: datetime
    words: tuple[Word, ...]
    corrections: tuple[str, ...] = ()

    @property
    def closed_at(self) -> datetime | None:
        """When it was closed; None while it is open."""
        return self.words[-1].written_at if self.dispute.state == CLOSED else None


_OPEN: Final = """
    SELECT t.id, t.name, t.book_id, latest.kind, latest.body FROM tables_table AS t CROSS JOIN LATERAL (
        SELECT kind, body FROM ledger_logentry WHERE book_id = t.book_id AND subject = 'dispute'
        ORDER BY seq DESC LIMIT 1
    ) AS latest ORDER BY t.name
"""
_CLOSED: Final = """
    SELECT t.id, t.name, t.book_id, latest.body, latest.at FROM tables_table AS t CROSS JOIN LATERAL (
        SELECT at, body FROM ledger_logentry WHERE book_id = t.book_id AND subject = 'dispute' AND kind = 'closed'
            AND (%(moment)s::timestamptz IS NULL OR (at, t.id) < (%(moment)s::timestamptz, %(table)s::bigint))
        ORDER BY seq DESC LIMIT %(count)s
    ) AS latest ORDER BY latest.at DESC, t.id DESC LIMIT %(count)s
"""
_OPENED: Final = """
    SELECT opened.at
    FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) WITH ORDINALITY AS one (book, since, piece, line)
    LEFT JOIN LATERAL (
        SELECT at FROM ledger_logentry WHERE book_id = one.book AND subject = 'dispute' AND seq > one.since
            AND kind = 'opened' AND position(convert_to(one.piece, 'UTF8') IN body) > 0 ORDER BY seq LIMIT 1
    ) AS opened ON true ORDER BY one.line
"""
"""A dispute is opened after the entries that are its evidence, and is the last one then."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of the floor's list."""

    table_id: int
    table: str
    dispute: Dispute
    opened_at: datetime | None


def listed(count: int) -> tuple[list[Listed], int]:
    """Up to ``count`` disputes of the floor: the open ones, then the ones that were closed last; and how many there
    ever were. What it costs grows with those listed, not with those that ever were."""
    registers = _registers()
    lines = _dated(_open(registers)[:count])
    lines += [line for line, _ in closed(count - len(lines))]
    return lines, sum(table_register.last for *_, table_register in registers)


def open_ones(after: tuple[int, ...], count: int) -> list[Listed]:
    """Up to ``count`` open disputes, in the order of their tables' numbers and their own, after one of them."""
    rows = sorted(_open(_registers()), key=lambda row: (row[0], row[3].number))
    return _dated([row for row in rows if (row[0], row[3].number) > after][:count])


def closed(count: int, before: tuple[datetime, int] | None = None) -> list[tuple[Listed, datetime]]:
    """Up to ``count`` disputes that are closed, each with when that was, the latest first; those before a moment and,
    of that moment, before a table's number."""
    moment, table = before or (None, None)
    disputes: list[_Row] = []
    moments: list[datetime] = []
    for pk, name, book, body, closed_at in fetch_rows(_CLOSED, {"count": count, "moment": moment, "table": table}):
        with suppress(*UNREADABLE):
            disputes.append((pk, name, book, read_as(DisputeClosed, body).dispute))
            moments.append(closed_at)
    return list(zip(_dated(disputes), moments, strict=True))


_Row = tuple[int, str, int, Dispute]


def _open(registers: Sequence[tuple[int, str, int, Register]]) -> list[_Row]:
    return [
        (pk, name, book, dispute) for pk, name, book, table_register in registers for dispute in table_register.open
    ]


def _dated(disputes: Sequence[_Row]) -> list[Listed]:
    """With when each was opened: one query for all."""
    evidence = [[book for _, _, book, _ in disputes], [dispute.last_seq for *_, dispute in disputes]]
    moments = fetch_rows(_OPENED, [*evidence, [f'"last":{dispute.number},' for *_, dispute in disputes]])
    return [
        Listed(pk, name, dispute, moment) for (pk, name, _, dispute), (moment,) in zip(disputes, moments, strict=True)
    ]


def open_by_book() -> dict[int, int]:
    """How many disputes are open at each table that has any, by its book."""
    return {book: len(table_register.open) for _, _, book, table_register in _registers() if table_register.open}


def _registers() -> list[tuple[int, str, int, Register]]:
    registers = []
    for pk, name, book, kind, body in fetch_rows(_OPEN):
        try:
            table_register = register.carried_by(_event(kind, body))
        except UNREADABLE:
            table_register = _counted_anew(cases(book))
        registers.append((pk, name, book, table_register))
    return registers


def _counted_anew(all_cases: Sequence[Case]) -> Register:
    """The register from every case of a table, where the newest entry cannot be read."""
    open_disputes = [case.dispute for case in all_cases if case.dispute.state != CLOSED]
    return Register(tuple(open_disputes[::-1]), max((case.dispute.number for case in all_cases), default=0))


_ALL: Final = """
    SELECT t.id, t.name, e.seq, e.at, e.by, e.kind, e.body
    FROM tables_table AS t JOIN ledger_logentry AS e ON e.book_id = t.book_id AND e.subject = 'dispute'
    WHERE (%(book)s::bigint IS NULL OR e.book_id = %(book)s) AND e.seq > %(since)s
        AND (%(piece)s::bytea IS NULL OR position(%(piece)s::bytea IN e.body) > 0)
    ORDER BY t.id, e.seq
"""


def cases(book_id: int | None = None, round_: int | None = None) -> list[Case]:
    """Disputes of the floor, of a table, or of one of its rounds; the newest first."""
    candidates = _cases(book_id, None if round_ is None else f'"round":{round_},')
    matches = [case for case in candidates if round_ is None or case.dispute.round == round_]
    return sorted(matches, key=lambda case: (case.opened_at, case.dispute.number), reverse=True)


def case(book_id: int, number: int) -> Case | None:
    """One dispute of a table. Of an open one, only what was written since the round that it is about is looked at."""
    since = 0
    with suppress(*UNREADABLE):
        open_disputes = register.as_of(book_id, LAST_SEQ).open
        since = next((dispute.last_seq for dispute in open_disputes if dispute.number == number), 0)
    candidates = _cases(book_id, f'"number":{number},', since)
    return next((candidate for candidate in candidates if candidate.dispute.number == number), None)


def _cases(book_id: int | None, piece: str | None, since: int = 0) -> list[Case]:
    rows = fetch_rows(_ALL, {"book": book_id, "since": since, "piece": None if piece is None else piece.encode()})
    lines: dict[tuple[int, int], list[_Line]] = {}
    for pk, name, seq, moment, by, kind, body in rows:
        with suppress(*UNREADABLE):
            event = _event(kind, body)
            word = Word(
                seq=seq,
                written_at=moment,
                by=by,
                kind=kind,
                heard=getattr(event, "heard", ""),
                text=getattr(event, "text", ""),
            )
            slips = event.corrections if isinstance(event, DisputeClosed) else ()
            lines.setdefault((pk, event.dispute.number), []).append((name, word, event.dispute, slips))
    return [_case(pk, entries) for (pk, _), entries in lines.items()]


def _event(kind: str, body: bytes) -> AboutDispute:
    event = read(AboutDispute.subject, kind, body)
    assert isinstance(event, AboutDispute)  # noqa: S101 -- the catalog has no other of this subject
    return event


_Line = tuple[str, Word, Dispute, tuple[str, ...]]
"""The table, what was written, the dispute after it, and the corrections that were named with it."""


def _case(pk: int, lines: Sequence[_Line]) -> Case:
    name, first, *_ = lines[0]
    *_, dispute, slips = lines[-1]
    words = tuple(word for _, word, *_ in lines)
    return Case(table_id=pk, table=name, dispute=dispute, opened_at=first.written_at, words=words, corrections=slips)
