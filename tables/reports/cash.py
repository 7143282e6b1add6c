"""The house's cash over a span: what lay in the cage and in the vault, what came and went, and what was counted.

Opening + movements = what should be there; a count that differs is a discrepancy, and its difference one of the
movements (``cash_over``, ``cash_short``). A place counts as counted where two people agreed on what lies there after
the last movement of the span, be it after its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple

from django.db.models import QuerySet

from ledger import cage, clock_corrections
from ledger.models import HOUSE, Account, Book, LogEntry
from ledger.proof.chips import called
from ledger.proof.spelling import timestamp
from ledger.raw_rows import fetch_rows
from tables.log.catalog import read_as
from tables.log.entries.slips import HouseSlipSigned
from tables.log.slip_types import CASH_COUNTED, HOUSE_COUNTS
from tables.reports import figure_records, gaming_hours

PLACES: Final = tuple(record.count.place for record in CASH_COUNTED if record.count is not None)

_MOVED: Final = """
    SELECT s.book, m.kind, m.cents, m.last FROM unnest(%(books)s::bigint[], %(lows)s::bigint[], %(highs)s::bigint[])
        AS s (book, low, high)
    CROSS JOIN LATERAL (SELECT kind,
            sum(CASE WHEN target_place = %(place)s THEN amount_cents ELSE -amount_cents END) AS cents, max(seq) AS last
        FROM ledger_transfer WHERE book_id = s.book AND seq > s.low AND seq <= s.high
            AND (source_place = %(place)s OR target_place = %(place)s) GROUP BY kind) AS m
    ORDER BY m.kind
"""


class PlaceCount(NamedTuple):
    """What two people agreed lies in a place."""

    seq: int
    moment: datetime
    counted_cents: int
    expected_cents: int
    after: bool
    """Whether it was made after the span."""


@dataclass(frozen=True, slots=True)
class CashFigures:
    """One place of cash over a span."""

    place: str
    opening_cents: int
    moved: Mapping[str, int]
    """Net, by the kind of movement: below zero where more went out."""
    last_moved: datetime | None
    count: PlaceCount | None
    """The count that tells what lay there at the end: the newest of the span, or else the first after it."""
    ever_counted: bool

    @property
    def called(self) -> str:
        """In sentences."""
        return called(self.place)

    @property
    def closing_cents(self) -> int:
        """What should be there at the end of the span."""
        return self.opening_cents + sum(self.moved.values())

    @property
    def is_counted(self) -> bool:
        """Whether it was counted after the last movement of the span."""
        return self.count is not None and (self.last_moved is None or self.count.moment >= self.last_moved)

    @property
    def says(self) -> str:
        """That it was not counted since it moved; empty where it was, or where nothing ever moved there."""
        if self.is_counted or (not self.moved and not self.opening_cents):
            return ""
        if not self.ever_counted:
            return f"The {self.called} was never counted."
        since = f" since its last movement ({self.last_moved:%Y-%m-%d %H:%M} UTC)" if self.last_moved else " in the day"
        return f"The {self.called} was not counted{since}: two people count it."

    def beside(self, count: PlaceCount | None) -> dict[str, Any]:
        """The place, its sums and its count, as stored in the log entry of a closed day."""
        return {
            "place": self.place,
            "opening_cents": self.opening_cents,
            "moved": dict(self.moved),
            "closing_cents": self.closing_cents,
            "counted_cents": count.counted_cents if count else None,
            "difference_cents": count.counted_cents - count.expected_cents if count else None,
            "counted_at": timestamp(count.moment) if count else None,
            "counted_by_entry": count.seq if count else None,
        }

    def row(self) -> dict[str, Any]:
        """As the entry of a closed day keeps it."""
        return {
            **self.beside(self.count),
            "counted_after": self.count.after if self.count else False,
            "is_counted": self.is_counted,
            "says": self.says,
        }


def day(gaming_day: date, through: Mapping[str, int] | None = None, house_seq: int | None = None) -> list[CashFigures]:
    """The cash of a gaming day; as the tables' books, and the house's, were written through these entries."""
    start, end = gaming_hours.span(gaming_day)
    return between(start, end, through, house_seq)


def between(
    start: datetime, end: datetime, through: Mapping[str, int] | None = None, house_seq: int | None = None
) -> list[CashFigures]:
    """The cash of any span of time."""
    heads = dict(Book.objects.values_list("name", "head_seq")) | dict(through or {})
    if house_seq is not None:
        heads[HOUSE] = house_seq
    books = dict(Book.objects.filter(name__in=list(heads)).values_list("name", "pk"))
    spans = figure_records.bounds({pk: heads[name] for name, pk in books.items()}, start, end)
    bounds = {pk: (span.first, span.last) for pk, span in spans.items()}
    accounts = {account.place: account for account in Account.objects.filter(place__in=PLACES)}
    house = books.get(HOUSE)
    return [
        _figures(accounts[place], bounds, _counts(place, house, heads[HOUSE], end))
        for place in PLACES
        if place in accounts and house is not None
    ]


def _figures(account: Account, bounds: Mapping[int, tuple[int, int]], counts: Sequence[PlaceCount]) -> CashFigures:
    parameters: dict[str, Any] = {
        "books": list(bounds),
        "lows": [low for low, _ in bounds.values()],
        "highs": [high for _, high in bounds.values()],
        "place": account.place,
    }
    rows = fetch_rows(_MOVED, parameters)
    moved: dict[str, int] = {}
    for _, kind, cents, _ in rows:
        moved[kind] = moved.get(kind, 0) + int(cents)
    moments = figure_records.moments([(book, seq) for book, _, _, seq in rows])
    last_moved = max(moments.values(), default=None)
    before = [count for count in counts if not count.after]
    return CashFigures(
        place=account.place,
        opening_cents=cage.balance_at(account, {book: low for book, (low, _) in bounds.items()}),
        moved=dict(sorted(moved.items())),
        last_moved=last_moved,
        count=_telling(counts, last_moved),
        ever_counted=bool(before),
    )


def _telling(counts: Sequence[PlaceCount], last_moved: datetime | None) -> PlaceCount | None:
    """The newest count up to the end of the span, unless something moved since and the place was counted later on."""
    before = [count for count in counts if not count.after]
    latest = before[-1] if before else None
    if latest is not None and (last_moved is None or latest.moment >= last_moved):
        return latest
    return next((count for count in counts if count.after), latest)


def _counts(place: str, house: int, through: int, end: datetime) -> list[PlaceCount]:
    """The counts of a place that were agreed upon, up to an entry: the newest before the end, and the first after."""
    rows = _count_rows(place, house, through)
    newest = _first_agreed(rows.filter(at__lt=end).order_by("-seq").values_list("seq", "body"), house, end)
    first = _first_agreed(rows.filter(at__gte=end).order_by("seq").values_list("seq", "body"), house, end)
    return [count for count in (newest, first) if count is not None]


def first_count(place: str, since: datetime | None = None, through: int | None = None) -> PlaceCount | None:
    """The first count of a place that was agreed upon, from a moment on, up to an entry of the house's book."""
    house = Book.objects.site()
    rows = _count_rows(place, house.pk, house.head_seq if through is None else through)
    rows = rows if since is None else rows.filter(at__gte=since)
    return _first_agreed(rows.order_by("seq").values_list("seq", "body"), house.pk, since)


def last_count(place: str, before: datetime) -> PlaceCount | None:
    """The newest count of a place of the house, be it of cash or of chips, that was agreed upon before a moment."""
    house = Book.objects.site()
    rows = _count_rows(place, house.pk, house.head_seq).filter(at__lt=before)
    return _first_agreed(rows.order_by("-seq").values_list("seq", "body"), house.pk, before)


def _count_rows(place: str, house: int, through: int) -> QuerySet[LogEntry]:
    """The second counts of a place, up to an entry."""
    kinds = [kind for kind, counted in HOUSE_COUNTS.items() if counted == place]
    return LogEntry.objects.filter(book_id=house, subject=HouseSlipSigned.subject, kind__in=kinds, seq__lte=through)


def _first_agreed(
    rows: Iterable[tuple[int, bytes | memoryview]], house: int, end: datetime | None
) -> PlaceCount | None:
    """The first of these entries with which two counts agreed. ``end``: of the span that it may come after."""
    for seq, body in rows:
        slip = read_as(HouseSlipSigned, bytes(body)).after
        if slip.agreed is None:
            continue
        moment = clock_corrections.time_of(house, seq)
        return PlaceCount(seq, moment, slip.total_cents, slip.expected_cents, end is not None and moment >= end)
    return None
