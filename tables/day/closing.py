"""Closing a gaming day: once, by two people, and only when all that belongs to it was counted and signed.

A pit boss proposes the day's figures with a first signature; an operator closes the day with a second. What arrives
afterwards is an adjustment to that day: the day is shown as it was closed, and as it is now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import msgspec
from django.db import connection, transaction

from ledger import house, log, mends
from ledger.log import Draft
from ledger.models import HOUSE, LogEntry
from ledger.proof.chain import Entry, canonical
from tables import standing
from tables.day import figures, hours
from tables.day.figures import COLUMNS, LEDGER, Figures, Late, Report
from tables.handlers import checks
from tables.log.catalog import read_as
from tables.log.entries.days import DayClosed, DayFigures, DayProposed
from tables.log.event import Misconduct
from tables.models import DayClose, Staff, Table
from tables.past import last_count
from tables.refusals import Refused

COUNT_BEFORE: Final = hours.SHORTEST
"""A table that stays open over the end of the day is counted not earlier than this before it."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The figures of a day that somebody signed first, and that wait for the second signature."""

    day: date
    seq: int
    username: str
    name: str
    at: datetime
    digest: str
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed day: its figures as they were signed, as they are now, and what came in between."""

    close: DayClose
    as_closed: Sequence[Mapping[str, Any]]
    now: Report
    adjustments: Sequence[Late]


# --- Reading ---------------------------------------------------------------------------------------------------


def closed(day: date) -> Closed | None:
    """A day that was closed, with its adjustments; None while it is not."""
    close = DayClose.objects.filter(day=day).first()
    if close is None:
        return None
    start, end = hours.span(day)
    [made] = signed([close])
    late = [one for one in late_since(close) if start <= one.belongs_at < end]
    return Closed(close, made.figures, figures.day(day), late)


def proposal(day: date) -> Proposal | None:
    """The newest first signature under a day's figures."""
    found = LogEntry.objects.filter(book__name=HOUSE, subject="day", kind="proposed").order_by("-seq")
    for seq, at, body in found.values_list("seq", "at", "body")[:50]:
        event = read_as(DayProposed, body)
        if event.day == day.isoformat():
            return Proposal(day, seq, event.username, event.name, at, event.digest, event.figures)
    return None


def adjustments(day: date) -> Sequence[Late]:
    """What arrived for a day after it was closed."""
    found = closed(day)
    return () if found is None else found.adjustments


def closed_figures(*, before: date, count: int) -> list[Sequence[Mapping[str, Any]]]:
    """The figures of so many closed days before one, as they were signed; the newest first."""
    seqs = list(DayClose.objects.filter(day__lt=before).order_by("-day").values_list("seq", flat=True)[:count])
    bodies = LogEntry.objects.filter(book__name=HOUSE, seq__in=seqs).order_by("-seq").values_list("body", flat=True)
    return [read_as(DayClosed, body).figures for body in bodies]


def signed(closes: Sequence[DayClose]) -> list[DayClosed]:
    """What these closes signed, in the order in which they were written."""
    return [read_as(DayClosed, body) for body in _bodies(closes)]


def adjusted(close: DayClosed) -> list[Late]:
    """What had arrived by a close for days that were closed before."""
    return msgspec.convert(close.adjusts or (), list[Late])


def late_since(first: DayClose) -> list[Late]:
    """What arrived for days after they were closed, since a close: what later closes say, and what came after them."""
    closes = list(DayClose.objects.filter(seq__gte=first.seq).order_by("seq"))
    return [late for close in signed(closes) for late in adjusted(close)] + _arrived(closes[-1].seq)


def _bodies(closes: Sequence[DayClose]) -> list[bytes]:
    seqs = [one.seq for one in closes]
    entries = LogEntry.objects.filter(book__name=HOUSE, subject="day", kind="closed", seq__in=seqs).order_by("seq")
    return [bytes(body) for body in entries.values_list("body", flat=True)]


def _arrived(through_close: int, through: Mapping[str, int] | None = None) -> list[Late]:
    """What came for closed days since a close (the newest one through an entry of the house's book), through entries
    of the tables' books, or until now."""
    closes = list(DayClose.objects.filter(seq__lte=through_close).order_by("seq"))
    if not closes:
        return []
    known, days = hours.calendar(), {one.day for one in closes}
    [last] = signed(closes[-1:])
    heads = through or dict(Table.objects.values_list("name", "book__head_seq"))
    return [one for one in figures.arrived(last.through, heads) if known.day_of(one.belongs_at) in days]


# --- Closing ---------------------------------------------------------------------------------------------------


def refuse_proposal(day: date, *, by: Staff, moment: datetime) -> DaysFigures:
    """Raises what refuses somebody's first signature under a day's figures, or returns these."""
    if not by.has_perm("tables.run_floor"):
        raise Refused("not_permitted", "A pit boss signs a day's figures first.", 403)
    _refuse_closed(day, moment)
    return _figures(day)


def propose(day: date, *, by: Staff) -> Proposal:
    """Sign a day's figures first. The same figures by the same person again are the same proposal. Raises Refused."""
    _await_writers()
    with transaction.atomic():
        head = house.lock()
        content = refuse_proposal(day, by=by, moment=head.moment)
        known = proposal(day)
        if known and known.digest == content.digest and known.username == by.username:
            return known
        event = DayProposed(**content._asdict(), **_person(by))
        log.append(head, Draft.of(event, by.signature))
    made = proposal(day)
    assert made is not None  # noqa: S101 -- it was just written
    return made


def refuse_close(day: date, *, by: Staff, digest: str, moment: datetime) -> tuple[Proposal, DaysFigures] | None:
    """Raises what refuses somebody's second signature, or returns what it is put under; None where it is there."""
    if not by.has_perm("tables.close_day"):
        raise Refused("not_permitted", "An operator signs second, after a pit boss.", 403)
    if DayClose.objects.filter(day=day, closed_by=by.username).exists():
        return None
    _refuse_closed(day, moment)
    first = proposal(day)
    if first is None:
        raise Refused("not_proposed", f"No pit boss has signed the figures of {day} yet.", 409)
    if first.username == by.username:
        raise Refused("signed_already", f"{by.name} signed first: another person has to sign.", 403)
    content = _figures(day)
    if not content.digest == first.digest == digest:
        says = f"The figures of {day} have changed since they were signed: a pit boss has to sign them again."
        raise Refused("figures_changed", says, 409)
    return first, content


def close(day: date, *, by: Staff, digest: str) -> DayClose:
    """Sign a day's figures second, which closes it for good. ``digest`` names the figures that the signer saw.

    By the same person again it is answered as before. Raises Refused."""
    _await_writers()
    with transaction.atomic():
        head = house.lock()
        signed_first = refuse_close(day, by=by, digest=digest, moment=head.moment)
        if signed_first is None:
            return DayClose.objects.get(day=day)
        first, content = signed_first
        event = DayClosed(
            **content._asdict(),
            **_person(by),
            proposal=first.seq,
            proposed_by=first.username,
            adjusts=tuple(msgspec.to_builtins(_arrived(head.seq, content.through))),
        )
        written = log.append(head, Draft.of(event, by.signature))
        return DayClose.objects.create(
            day=day, seq=written.seq, proposed_by=first.username, closed_by=by.username, at=written.at or first.at
        )


def _person(by: Staff) -> dict[str, Any]:
    return {"username": by.username, "name": by.name, "role": str(by.role)}


class DaysFigures(NamedTuple):
    """What is signed of a day."""

    day: str
    figures: tuple[dict[str, Any], ...]
    digest: str
    through: dict[str, int]


def _figures(day: date) -> DaysFigures:
    """What is signed: every table's figures, and how far its book was read. Raises Refused while something is open."""
    report = figures.day(day)
    if reasons := open_matters(day, report):
        raise Refused("day_open", " ".join(reasons), 409, reasons=reasons)
    rows = tuple(line.row() for line in report.lines)
    return DaysFigures(day.isoformat(), rows, digest_of(day.isoformat(), rows), dict(report.through))


def digest_of(day: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Names a day's figures: SHA-256, in hex."""
    return sha256(canonical({"day": day, "figures": rows})).hexdigest()


def _refuse_closed(day: date, moment: datetime) -> None:
    if moment < hours.span(day).end:
        raise Refused("day_goes_on", f"{day} goes on until {hours.span(day).end:%Y-%m-%d %H:%M} UTC.", 409)
    if DayClose.objects.filter(day=day).exists():
        raise Refused("day_closed", f"{day} is closed already: what comes later is an adjustment to it.", 409)


def open_matters(day: date, report: Report | None = None) -> list[str]:
    """Why a day cannot be closed yet, and what to do: one sentence for each table and matter."""
    report = report or figures.day(day)
    tables = {table.name: table for table in Table.objects.select_related("book")}
    heads = {table.book_id: log.read_head(table.book_id) for table in tables.values()}
    now = standing.at_all(list(heads.values()))
    found: list[str] = []
    for line in report.lines:
        table = tables[line.name]
        if line.closer_is == LEDGER and not _counted(table, report):
            found.append(f"{table.name} was open at the end of {day}: count its rack, or close it with a closer.")
        for slip in now[table.book_id].slips:
            if _began(table, slip.signed[0].seq) < report.end:
                found.append(f"{slip.name} at {table.name} is in progress: finish it, or make it void.")
        if line.drop_is != figures.COUNTED:
            found.append(f"A drop box of {table.name} is not counted: remove it, and have it counted twice.")
    return found


def _began(table: Table, seq: int) -> datetime:
    return mends.time_of(table.book_id, seq)


def _counted(table: Table, report: Report) -> bool:
    """Whether an open table's rack was counted at the end of the day, or since."""
    seq = last_count(table.book_id, table.book.head_seq)
    return seq > 0 and _began(table, seq) >= report.end - COUNT_BEFORE


def _await_writers() -> None:
    """Wait for whoever was writing at a table when the day ended: what they write belongs to it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM ledger_book WHERE id NOT IN (SELECT id FROM ledger_book FOR SHARE SKIP LOCKED)")
        held = [book for (book,) in cursor.fetchall()]
        for book in held:
            with transaction.atomic():
                cursor.execute("SELECT 1 FROM ledger_book WHERE id = %s FOR SHARE", [book])


# --- Proving ---------------------------------------------------------------------------------------------------


WITHOUT_PROOF: Final = ("theoretical_cents", "audited_cents")


@checks(DayProposed)
def check_proposal(event: DayProposed, entry: Entry) -> None:
    """Figures are signed first by somebody who runs the floor, once the day is over and before it is closed."""
    _refuse_signer(event, entry, "tables.run_floor")
    _refuse_figures(event)
    day = date.fromisoformat(event.day)
    if entry.at is None or entry.at < hours.calendar(before_seq=entry.seq).span(day).end:
        raise Misconduct("it signs the figures of a day that goes on")
    if DayClose.objects.filter(day=day, seq__lt=entry.seq).exists():
        raise Misconduct("it signs the figures of a day that was closed before")


@checks(DayClosed)
def check_close(event: DayClosed, entry: Entry) -> None:
    """A day was closed by two people, over the figures that the first one signed, as the row beside the log has it."""
    row = DayClose.objects.filter(seq=entry.seq).first()
    people = (event.day, event.username, event.proposed_by)
    if row is None or (row.day.isoformat(), row.closed_by, row.proposed_by) != people:
        raise Misconduct("the day's close, as it is kept beside the log, is another")
    first = LogEntry.objects.filter(book_id=entry.book_id, seq=event.proposal, seq__lt=entry.seq).first()
    if first is None or (first.subject, first.kind) != (DayProposed.subject, *DayProposed.kinds):
        raise Misconduct("it closes a day that nobody proposed")
    proposed = read_as(DayProposed, first.body)
    if proposed.username != event.proposed_by or event.proposed_by == event.username:
        raise Misconduct("its two signatures are not of two people")
    if (event.digest, event.day) != (proposed.digest, proposed.day):
        raise Misconduct("its figures are not those that were signed first")
    _refuse_signer(event, entry, "tables.close_day")
    _refuse_figures(event)
    if entry.at is None or entry.at < hours.calendar().span(row.day).end:
        raise Misconduct("it closes a day that goes on")
    if says := misstated(entry.seq, event):
        raise Misconduct(f"its figures are not those of the day: {says}")


def _refuse_signer(event: DayFigures, entry: Entry, permission: str) -> None:
    """Whoever an entry says signed it wrote it, and may."""
    if not entry.by.endswith(f" {event.name}"):
        raise Misconduct(f"it is signed by {event.name}, and {entry.by} wrote it")
    if not Staff(username=event.username, role=event.role).has_perm(permission):
        raise Misconduct(f"{event.name} may not sign it as {event.role}")


_WON: Final = ("closer_cents", "credits_cents", "drop_cents", "corrections_cents")
_GIVEN: Final = ("opener_cents", "fills_cents", "between_cents")


def _refuse_figures(event: DayFigures) -> None:
    """A day's figures are what their digest names, each table's once, and each win is what its parts come to."""
    if event.digest != digest_of(event.day, event.figures):
        raise Misconduct("its figures are not those that its digest names")
    if sorted(row["name"] for row in event.figures) != sorted(event.through):
        raise Misconduct("its figures are not those of the books that it read")
    for row in event.figures:
        won = sum(row[name] for name in _WON) - sum(row[name] for name in _GIVEN)
        if won != row["win_cents"]:
            raise Misconduct(f"{row['name']} won {row['win_cents']} by it, its parts come to {won}")


def misstated(seq: int, close: DayClosed) -> str | None:
    """The first thing that a close signed and the tables' logs do not bear out; None where all holds.

    The theoretical win goes by a table's rules, which may be others by now, and by shoes audited since: rounds and
    handle stand for it."""
    start, end = hours.span(date.fromisoformat(close.day))
    if says := _unread(seq, close, end):
        return says
    rows = [line.row() for line in figures.as_of(start, end, close.through).lines]
    for row, signed_row in zip_longest(rows, close.figures):
        if row is None or signed_row is None:
            return "a table is missing, or one is told that there was not"
        proven = (column for column in COLUMNS if column not in WITHOUT_PROOF)
        wrong = next((column for column in proven if row[column] != signed_row.get(column)), None)
        if wrong:
            return f"{row['name']}: its {wrong} is {signed_row.get(wrong)}, and the log has {row[wrong]}"
    if _arrived(seq - 1, close.through) != adjusted(close):
        return "the adjustments to days before are not those that the log has"
    return None


def _unread(seq: int, made: DayClosed, end: datetime) -> str | None:
    """A table that the close left out, or of which it read less than a close before it."""
    before = DayClose.objects.filter(seq__lt=seq).order_by("-seq").first()
    known = signed([before])[0].through if before else {}
    less = sorted(name for name, through in known.items() if made.through.get(name, 0) < through)
    others = Table.objects.exclude(name__in=list(made.through))
    silent = LogEntry.objects.filter(book_id__in=others.values("book_id"), at__lt=end).values_list("book__name")
    name = less[0] if less else next((found for (found,) in silent[:1]), None)
    return None if name is None else f"the log of {name} was not read to the end of the day"


def rows(lines: Sequence[Figures]) -> list[dict[str, Any]]:
    """As a CSV file has them."""
    return [line.row() for line in lines]
