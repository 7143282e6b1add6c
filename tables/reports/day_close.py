"""Closing a gaming day: once, by two people, after all its counts and slips are complete.

A pit boss signs the day's figures first; an operator signs second and closes the day. Entries that arrive later are
adjustments to that day: it is shown as closed, and as it is now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import msgspec
from django.db import transaction
from django.utils import timezone
from msgspec import structs

from ledger import cage, clock, clock_corrections, log, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book, LogEntry
from ledger.proof.chain import Entry
from ledger.proof.chips import VAULT, called
from ledger.proof.spelling import canonical
from ledger.raw_rows import fetch_row, fetch_rows
from tables.approvals import signing
from tables.approvals.signing import SigningStage
from tables.floor import signature_checks
from tables.floor.handlers import checks
from tables.log.attestation import Attestation
from tables.log.catalog import read_as
from tables.log.entries.days import DayClosed, DayFigures, DayProposed
from tables.log.event import AuditFailure
from tables.log.signatory import Signatory, with_badge_from
from tables.models import DayClose, Staff, Table
from tables.refusals import Refused
from tables.reports import cash, cash_shifts, figures, gaming_hours
from tables.reports.cash_shifts import ShiftCash
from tables.reports.figures import LEDGER, Figures, Late, SpanFigures
from tables.setup import cash_policies
from tables.state import table_state
from tables.state.round_history import last_count

COUNT_BEFORE: Final = gaming_hours.SHORTEST
"""The earliest count, before the end of the day, that is valid for a table that stays open."""


@dataclass(frozen=True, slots=True)
class DayProposal:
    """A day's figures with their first signature, waiting for the second."""

    day: date
    seq: int
    signer: Signatory
    signed_at: datetime
    digest: str
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed day: the signed figures, the present figures, and the adjustments in between."""

    close: DayClose
    as_closed: Sequence[Mapping[str, Any]]
    current: SpanFigures
    adjustments: Sequence[Late]
    cash: Sequence[Mapping[str, Any]] = ()
    """The site's cash as signed; empty for days closed before cash was included."""
    cash_by_shift: Sequence[Mapping[str, Any]] = ()
    """The site's cash by shift as signed."""


# --- Reading ---------------------------------------------------------------------------------------------------


def closed(day: date) -> Closed | None:
    """A closed day with its adjustments; None while the day is open."""
    close = DayClose.objects.filter(day=day).first()
    if close is None:
        return None
    start, end = gaming_hours.span(day)
    [event] = signed([close])
    arrivals = [late for late in late_since(close) if start <= late.belongs_at < end]
    return Closed(close, event.figures, figures.day(day), arrivals, event.cash or (), event.cash_by_shift or ())


_FIRST_SIGNATURES: Final = """
    SELECT DISTINCT ON (day) seq, at, by, body FROM (
        SELECT seq, at, by, body,
            encode(substring(body from position('"day":"'::bytea IN body) + 7 for 10), 'escape') AS day
        FROM ledger_logentry
        WHERE book_id = %(house)s AND subject = 'day' AND kind = 'proposed' AND seq > %(since)s
    ) AS proposed
    WHERE CASE WHEN %(day)s::text IS NULL
        THEN NOT EXISTS (SELECT FROM tables_dayclose AS c WHERE to_char(c.day, 'YYYY-MM-DD') = proposed.day)
        ELSE proposed.day = %(day)s END
    ORDER BY day DESC, seq DESC
"""
"""The newest first signature under a day's figures, or of each open day.

The body is searched for its day and not decoded: it contains the figures of all tables.
"""


def proposal(day: date) -> DayProposal | None:
    """The newest first signature under a day's figures; None if there is none."""
    return next(iter(_first_signatures(day)), None)


def half_signed() -> list[DayProposal]:
    """The newest first signature under the figures of each open day, the latest day first."""
    return _first_signatures()


def _first_signatures(day: date | None = None) -> list[DayProposal]:
    """Newest first signatures: of one day, or of each open day, the latest day first."""
    book = Book.objects.filter(name=HOUSE).values_list("pk", flat=True).first()
    if book is None:
        return []
    since = clock_corrections.last_before(book, gaming_hours.span(day).start) if day else 0
    rows = fetch_rows(_FIRST_SIGNATURES, {"house": book, "since": since, "day": day and day.isoformat()})
    return [_proposal_of(read_as(DayProposed, body), seq, moment, by) for seq, moment, by, body in rows]


def _proposal_of(event: DayProposed, seq: int, moment: datetime, by: str) -> DayProposal:
    return DayProposal(
        day=date.fromisoformat(event.day),
        seq=seq,
        signer=with_badge_from(by, event.username, event.name, event.role),
        signed_at=moment,
        digest=event.digest,
        rows=event.figures,
    )


def closed_figures(*, before: date, count: int) -> list[Sequence[Mapping[str, Any]]]:
    """The figures, as they were signed, of the last ``count`` closed days before a day; the newest first."""
    seqs = list(DayClose.objects.filter(day__lt=before).order_by("-day").values_list("seq", flat=True)[:count])
    bodies = LogEntry.objects.of_site().filter(seq__in=seqs).order_by("-seq").values_list("body", flat=True)
    return [read_as(DayClosed, body).figures for body in bodies]


def signed(closes: Sequence[DayClose]) -> list[DayClosed]:
    """The entries of these closes, in log order."""
    return [read_as(DayClosed, body) for body in _bodies(closes)]


def adjusted(close: DayClosed) -> list[Late]:
    """The adjustments to earlier days that a close includes."""
    return msgspec.convert(close.adjusts or (), list[Late])


def late_since(first: DayClose) -> list[Late]:
    """All adjustments to closed days since a close: those in later closes, and those after the last."""
    closes = list(DayClose.objects.filter(seq__gte=first.seq).order_by("seq"))
    return [late for close in signed(closes) for late in adjusted(close)] + _arrivals(closes[-1].seq)


def _bodies(closes: Sequence[DayClose]) -> list[bytes]:
    seqs = [close.seq for close in closes]
    entries = LogEntry.objects.of_site().filter(subject="day", kind="closed", seq__in=seqs).order_by("seq")
    return [bytes(body) for body in entries.values_list("body", flat=True)]


def _arrivals(through_close: int, through: Mapping[str, int] | None = None) -> list[Late]:
    """The entries for closed days since a close, up to these entries of the tables' logs, or to the latest.

    ``through_close``: the latest entry of the site's log that the last close may have.
    """
    closes = list(DayClose.objects.filter(seq__lte=through_close).order_by("seq"))
    if not closes:
        return []
    calendar, days = gaming_hours.calendar(), {close.day for close in closes}
    [last] = signed(closes[-1:])
    heads = through or dict(Table.objects.values_list("name", "book__head_seq"))
    return [late for late in figures.arrived(last.through, heads) if calendar.day_of(late.belongs_at) in days]


# --- Closing ---------------------------------------------------------------------------------------------------

FIRST: Final = SigningStage(
    may=signing.with_permission("tables.run_floor"), refusal="A pit boss signs a day's figures first."
)
SECOND: Final = SigningStage(
    may=signing.with_permission("tables.close_day"),
    refusal="An operator signs second, after a pit boss.",
    did="signed first",
)


@dataclass(frozen=True, slots=True)
class DaySignature:
    """A signature under a day's figures: the first, or, with the digest of the figures seen, the second.

    The second signature closes the day. A repeated signature by one person is not recorded again.
    """

    day: date
    digest: str = ""
    attested: Attestation | None = None

    def rehearse(self, by: Staff) -> None:
        """Run the checks of the signature before the PIN is checked. Raises Refused."""
        # Without the lock of the log: the figures take long, and a wrong PIN must not let other writers wait.
        if (event := self._event(by, clock.agreed())) is not None:
            signature_checks.signed(event, self.attested, log.read_head(cage.open_house().pk), by.signature)

    def give(self, by: Staff) -> None:
        """Sign the figures. Raises Refused; then nothing is recorded."""
        # Outside the transaction: in it, the tables' locks would be held until the commit.
        _await_writers()
        with transaction.atomic():
            head = site_log.lock()
            event = self._event(by, head.moment)
            if event is None:
                return
            if isinstance(event, DayClosed):
                # Adjustments are read up to the same entries as the figures, so that none is lost between two closes.
                adjusts = tuple(msgspec.to_builtins(_arrivals(head.seq, event.through)))
                event = structs.replace(event, adjusts=adjusts)
            event = signature_checks.signed(event, self.attested, head, by.signature)
            entry = log.append(head, Draft.of(event, by.signature))
            if isinstance(event, DayClosed):
                DayClose.objects.create(
                    day=self.day,
                    seq=entry.seq,
                    proposed_by=event.proposed_by,
                    closed_by=by.username,
                    at=entry.at or head.moment,
                )

    def _event(self, by: Staff, moment: datetime) -> DayProposed | DayClosed | None:
        """The entry of the signature; None where this person gave it before. Raises Refused."""
        return self._second(by, moment) if self.digest else self._first(by, moment)

    def _first(self, by: Staff, moment: datetime) -> DayProposed | None:
        FIRST.refuse(by)
        _refuse_closed(self.day, moment)
        content, earlier = _figures(self.day), proposal(self.day)
        if earlier and earlier.digest == content.digest and earlier.signer.is_same_person(by.signatory):
            return None
        return DayProposed(**content._asdict(), **by.signatory.unbadged)

    def _second(self, by: Staff, moment: datetime) -> DayClosed | None:
        SECOND.refuse(by)
        if DayClose.objects.filter(day=self.day, closed_by=by.username).exists():
            return None
        _refuse_closed(self.day, moment)
        first = proposal(self.day)
        if first is None:
            raise Refused("not_proposed", f"No pit boss has signed the figures of {self.day} yet.", 409)
        SECOND.refuse(by, first.signer, first.signed_at)
        content = _figures(self.day)
        if not content.digest == first.digest == self.digest:
            sentence = (
                f"The figures of {self.day} have changed since they were signed: a pit boss has to sign them again."
            )
            raise Refused("figures_changed", sentence, 409)
        signers = {**by.signatory.unbadged, "proposal": first.seq, "proposed_by": first.signer.username}
        return DayClosed(**content._asdict(), **signers)


def propose(day: date, *, by: Staff) -> DayProposal:
    """Give the first signature under a day's figures. Raises Refused."""
    DaySignature(day).give(by)
    newest = proposal(day)
    assert newest is not None  # noqa: S101 -- it was just written
    return newest


def close(day: date, *, by: Staff, digest: str) -> DayClose:
    """Give the second signature under a day's figures, which closes the day. Raises Refused."""
    DaySignature(day, digest).give(by)
    return DayClose.objects.get(day=day)


class DaysFigures(NamedTuple):
    """The content that both people sign, as the log stores it."""

    day: str
    figures: tuple[dict[str, Any], ...]
    digest: str
    through: dict[str, int]
    cash: tuple[dict[str, Any], ...]
    cash_by_shift: tuple[dict[str, Any], ...]


def _figures(day: date) -> DaysFigures:
    """The figures of all tables, their last entries, and the site's cash. Raises Refused while an item is open."""
    report = figures.day(day)
    if reasons := open_matters(day, report):
        raise Refused("day_open", " ".join(reasons), 409, reasons=reasons)
    rows, name = tuple(line.row() for line in report.lines), day.isoformat()
    money, by_shift = cash_of(day, report.through)
    return DaysFigures(name, rows, digest_of(name, rows, money, by_shift), dict(report.through), money, by_shift)


def cash_of(
    day: date, through: Mapping[str, int], house_seq: int | None = None
) -> tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]:
    """The site's cash of a day and of each of its shifts, as log entries store them."""
    whole = tuple(line.row() for line in cash.day(day, through, house_seq))
    return whole, tuple(line.row() for line in cash_shifts.day(day, through, house_seq))


def digest_of(
    day: str,
    rows: Sequence[Mapping[str, Any]],
    money: Sequence[Mapping[str, Any]] | None = None,
    by_shift: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """The digest of a day's figures, and of its cash where there is any: SHA-256, in hex."""
    content: dict[str, Any] = {"day": day, "figures": rows}
    cash_lines = {"cash": money, "cash_by_shift": by_shift}
    return sha256(
        canonical(content | {name: lines for name, lines in cash_lines.items() if lines is not None})
    ).hexdigest()


def _refuse_closed(day: date, moment: datetime) -> None:
    if moment < gaming_hours.span(day).end:
        raise Refused("day_goes_on", f"{day} goes on until {gaming_hours.span(day).end:%Y-%m-%d %H:%M} UTC.", 409)
    if DayClose.objects.filter(day=day).exists():
        raise Refused("day_closed", f"{day} is closed already: what comes later is an adjustment to it.", 409)


def open_matters(day: date, report: SpanFigures | None = None) -> list[str]:
    """The reasons why a day cannot be closed yet, each with its remedy."""
    report = report or figures.day(day)
    tables = {table.name: table for table in Table.objects.select_related("book")}
    heads = {table.book_id: log.read_head(table.book_id) for table in tables.values()}
    standings = table_state.at_all(list(heads.values()))
    matters: list[str] = []
    for line in report.lines:
        table = tables[line.name]
        if line.closer_is == LEDGER and not _is_counted(table, report):
            matters.append(f"{table.name} was open at the end of {day}: count its rack, or close it with a closer.")
        for slip in standings[table.book_id].slips:
            if slip.may_move and _time_of(table, slip.signed[0].seq) < report.end:
                matters.append(f"{slip.name} at {table.name} is in progress: finish it, or make it void.")
        if line.drop_is != figures.COUNTED:
            matters.append(f"A drop box of {table.name} is not counted: remove it, and have it counted twice.")
    return matters + _uncounted(day)


def _uncounted(day: date) -> list[str]:
    """Cash places counted once but not since their last movement, if a policy requires a count before the close."""
    matters = []
    if cash_policies.close_needs_count():
        matters += [line.says for line in cash.day(day) if line.ever_counted and line.says]
    if cash_policies.close_needs_shift_counts():
        missing = [line for line in cash_shifts.day(day) if line.count is None]
        matters += problems(missing)
    return matters + _vault_uncounted(day)


VAULT_COUNTED_EACH: Final = {"day": 1, "week": 7, "month": 31}
"""The values of the term on counting the vault's chips, in days."""


def _vault_uncounted(day: date) -> list[str]:
    """A sentence if the vault's chips were counted once, but longer ago than the policy allows."""
    period = cash_policies.vault_chips_counted_each()
    newest = cash.last_count(VAULT, timezone.now()) if period in VAULT_COUNTED_EACH else None
    due = gaming_hours.span(day).end - VAULT_COUNTED_EACH.get(period, 0) * gaming_hours.DAY
    if newest is None or newest.moment >= due:
        return []
    sentence = f"The vault's chips were last counted {newest.moment:%Y-%m-%d %H:%M} UTC"
    return [f"{sentence}, and are counted each {period}: two people count them."]


def problems(by_shift: Sequence[ShiftCash]) -> list[str]:
    """Warnings that do not block the close: shifts with late or missing cash counts."""
    moment = timezone.now()
    return [line.says for line in by_shift if line.says and line.shift.end <= moment]


def _time_of(table: Table, seq: int) -> datetime:
    return clock_corrections.time_of(table.book_id, seq)


def _is_counted(table: Table, report: SpanFigures) -> bool:
    """Whether an open table's rack was counted at the end of the day or later."""
    seq = last_count(table.book_id, table.book.head_seq)
    return seq > 0 and _time_of(table, seq) >= report.end - COUNT_BEFORE


def _await_writers() -> None:
    """Wait for transactions that were writing at a table when the day ended: their entries belong to the day."""
    locked = "SELECT id FROM ledger_book WHERE id NOT IN (SELECT id FROM ledger_book FOR SHARE SKIP LOCKED)"
    for row in fetch_rows(locked):
        with transaction.atomic():  # the lock is let go at once: it was only waited for
            fetch_row("SELECT 1 FROM ledger_book WHERE id = %s FOR SHARE", row)


# --- Proving ---------------------------------------------------------------------------------------------------


WITHOUT_PROOF: Final = ("theoretical_cents", "audited_cents")
"""Columns that verification skips: they depend on present table rules, and on shoes audited since the close."""


@checks(DayProposed)
def check_proposal(event: DayProposed, entry: Entry) -> None:
    """Figures are signed first by a person with the permission, once the day is over and before it is closed."""
    FIRST.check(event, entry)
    _refuse_figures(event)
    day = date.fromisoformat(event.day)
    if entry.at is None or entry.at < gaming_hours.calendar(before_seq=entry.seq).span(day).end:
        raise AuditFailure("it signs the figures of a day that goes on")
    if DayClose.objects.filter(day=day, seq__lt=entry.seq).exists():
        raise AuditFailure("it signs the figures of a day that was closed before")


@checks(DayClosed)
def check_close(event: DayClosed, entry: Entry) -> None:
    """A day was closed by two people, over the figures that the first one signed, and its row is equal to its entry."""
    row = DayClose.objects.filter(seq=entry.seq).first()
    people = (event.day, event.username, event.proposed_by)
    if row is None or (row.day.isoformat(), row.closed_by, row.proposed_by) != people:
        raise AuditFailure("the day's close, as it is kept beside the log, is another")
    first = (
        LogEntry.objects.filter(book_id=entry.book_id, seq=event.proposal, seq__lt=entry.seq).order_by("seq").first()
    )
    if first is None or (first.subject, first.kind) != (DayProposed.subject, *DayProposed.kinds):
        raise AuditFailure("it closes a day that nobody proposed")
    proposal_event = read_as(DayProposed, first.body)
    if proposal_event.username != event.proposed_by:
        raise AuditFailure("it names another person than the one who signed the figures first")
    SECOND.check(event, entry, proposal_event.signers(first.by)[0], first.seq)
    if (event.digest, event.day) != (proposal_event.digest, proposal_event.day):
        raise AuditFailure("its figures are not those that were signed first")
    _refuse_figures(event)
    if entry.at is None or entry.at < gaming_hours.calendar().span(row.day).end:
        raise AuditFailure("it closes a day that goes on")
    if fault := misstated(entry.seq, event):
        raise AuditFailure(f"its figures are not those of the day: {fault}")


_GAINS: Final = ("closer_cents", "credits_cents", "drop_cents", "corrections_cents")
_COSTS: Final = ("opener_cents", "fills_cents", "between_cents")


def _refuse_figures(event: DayFigures) -> None:
    """Raises AuditFailure unless digest and tables agree with the figures, and each win is the sum of its parts."""
    if event.digest != digest_of(event.day, event.figures, event.cash, event.cash_by_shift):
        raise AuditFailure("its figures are not those that its digest names")
    if sorted(row["name"] for row in event.figures) != sorted(event.through):
        raise AuditFailure("its figures are not those of the books that it read")
    for row in event.figures:
        win = sum(row[name] for name in _GAINS) - sum(row[name] for name in _COSTS)
        if win != row["win_cents"]:
            raise AuditFailure(f"{row['name']} won {row['win_cents']} by it, its parts come to {win}")


def misstated(seq: int, close: DayClosed) -> str | None:
    """The first signed figure of a close that the logs contradict; None if there is none.

    The theoretical win (``WITHOUT_PROOF``) is left out: rounds and handle are verified in its place.
    """
    start, end = gaming_hours.span(date.fromisoformat(close.day))
    if fault := _unread_table(seq, close, end):
        return fault
    rows = [line.row() for line in figures.as_of(start, end, close.through).lines]
    if fault := _differs(rows, close.figures, "a table") or _wrong_cash(seq, close):
        return fault
    if _arrivals(seq - 1, close.through) != adjusted(close):
        return "the adjustments to days before are not those that the log has"
    return None


def _wrong_cash(seq: int, close: DayClosed) -> str | None:
    """The first signed figure of the site's cash that the logs contradict. Old entries have no cash figures."""
    before = DayClose.objects.filter(seq__lt=seq).order_by("-seq").first()
    earlier = signed([before])[0] if before else None
    for name, title in (("cash", "its cash"), ("cash_by_shift", "its cash by shift")):
        if getattr(close, name) is None and earlier is not None and getattr(earlier, name) is not None:
            return f"{title} is missing"
    whole, by_shift = cash_of(date.fromisoformat(close.day), close.through, seq - 1)
    place = "a place of cash"
    return _differs(whole, close.cash, place) or _differs(by_shift, close.cash_by_shift, place)


def _differs(
    rows: Sequence[Mapping[str, Any]], signed_rows: Sequence[Mapping[str, Any]] | None, kind: str
) -> str | None:
    """The first difference between figures and signed ones; None if there is none, or none were signed."""
    for row, signed_row in zip_longest(rows, signed_rows) if signed_rows is not None else ():
        if row is None or signed_row is None:
            return f"{kind} is missing, or one is told that there was not"
        names = (name for name in row if name not in WITHOUT_PROOF)
        if difference := next((name for name in names if row[name] != signed_row.get(name)), None):
            subject = row.get("name") or f"{row.get('shift', '')} {called(row['place'])}".strip()
            return f"{subject}: its {difference} is {signed_row.get(difference)}, and the log has {row[difference]}"
    return None


def _unread_table(seq: int, event: DayClosed, end: datetime) -> str | None:
    """Names a table that the close left out, or read less far than the close before it."""
    before = DayClose.objects.filter(seq__lt=seq).order_by("-seq").first()
    heads = signed([before])[0].through if before else {}
    names = sorted(name for name, head in heads.items() if event.through.get(name, 0) < head)
    tables = Table.objects.exclude(name__in=list(event.through))
    entries = LogEntry.objects.filter(book_id__in=tables.values("book_id"), at__lt=end).values_list("book__name")
    name = names[0] if names else next((book for (book,) in entries[:1]), None)
    return None if name is None else f"the log of {name} was not read to the end of the day"


def rows(lines: Sequence[Figures]) -> list[dict[str, Any]]:
    return [line.row() for line in lines]
