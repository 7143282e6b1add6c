"""What the tables won, over the API: figures of spans, gaming days, and the two signatures that close one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from django.utils import timezone
from msgspec import Meta
from rest_framework.response import Response

from tables.api import signing
from tables.api.access import role_of
from tables.api.operations import Call, OperationQuery, operation
from tables.api.pagination import Page, PageQuery
from tables.api.signing import Signed
from tables.api.views import FloorViewSet
from tables.models import DayClose, Table
from tables.refusals import Refused
from tables.reports import blind_figures, day_close, figures, gaming_hours, to_date_figures
from tables.reports.day_close import DaySignature
from tables.reports.figures import Figures, SpanFigures
from tables.setup import pits


class FiguresLine(msgspec.Struct, frozen=True):
    """Figures of one table, or of several together. What a rack should hold now is null for those who count it."""

    name: str
    game: str
    opener_cents: int | None
    opener_is: str
    """`counted` by people, or as the `ledger` has it."""
    fills_cents: int
    credits_cents: int
    between_cents: int
    closer_cents: int | None
    closer_is: str
    drop_cents: int
    drop_is: str
    corrections_cents: int
    win_cents: int
    hold_permille: int | None
    handle_cents: int
    theoretical_cents: int | None
    audited_cents: int
    rounds: int
    open_seconds: int


class FiguresPart(msgspec.Struct, frozen=True):
    """One stretch of time: a shift, or the whole span."""

    name: str
    start: datetime
    end: datetime
    tables: list[FiguresLine]
    games: list[FiguresLine]
    together: FiguresLine


class FiguresForm(msgspec.Struct, frozen=True):
    """The figures of a span."""

    day: date
    span: str
    parts: list[FiguresPart]
    unseen: list[str]
    """Tables that the caller's role is counting: their figures are withheld today."""


class SpanFiguresQuery(OperationQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of figures: the span and the tables."""

    day: date | None = None
    """The gaming day; without one, today's."""
    span: Literal["day", "shifts", "month", "year"] = "day"
    """A month and a year are told up to the day."""
    table: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    pit: Annotated[str, Meta(max_length=40)] = ""


class DayLine(msgspec.Struct, frozen=True):
    """A gaming day that was closed."""

    day: date
    seq: int
    """The entry of the house's book."""
    proposed_by: str
    closed_by: str
    closed_at: datetime


class DayForm(msgspec.Struct, frozen=True):
    """Where a gaming day stands."""

    day: date
    start: datetime
    end: datetime
    state: str
    """`open`, `signed` by the first, or `closed`."""
    digest: str | None
    """Names the figures that were signed first; the second signature says it."""
    signed_by: str | None
    signed_at: datetime | None
    closed_by: str | None
    closed_at: datetime | None
    open_matters: list[str]
    """Why it cannot be closed yet; asked only of a day that is not."""


class DaySigned(Signed, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A signature under a day's figures."""

    digest: Annotated[str, Meta(max_length=64)] = ""
    """Of the figures that the second signer saw; empty for the first signature."""


class FiguresOfSpan(FloorViewSet):
    """Win, drop and hold."""

    @operation(
        "read_figures",
        "What the tables won.",
        tag="Figures",
        query=SpanFiguresQuery,
        answers=FiguresForm,
        refuses=(422,),
        may=("tables.watch_floor",),
        scope="read:figures",
        reads_replica=True,
    )
    def retrieve(self, call: Call[SpanFiguresQuery, Any]) -> FiguresForm:
        """Of a gaming day, of each of its shifts, or of a month or a year up to it; of all tables, one, or a pit."""
        query, today = call.query, gaming_hours.day_of(timezone.now())
        day = min(query.day or today, today)
        tables, unseen = blind_figures.tables_for(role_of(call.caller), day, _among(query))
        hides_racks = blind_figures.hides_racks(role_of(call.caller), day)
        parts = [_part(name, report, hides_racks=hides_racks) for name, report in _reports(query.span, day, tables)]
        return FiguresForm(day, query.span, parts, unseen)


class Days(FloorViewSet):
    """Gaming days, and the two signatures under the figures of one."""

    @operation(
        "list_days",
        "Closed gaming days.",
        tag="Figures",
        query=PageQuery,
        answers=Page[DayLine],
        may=("tables.watch_floor",),
        scope="read:figures",
        reads_replica=True,
    )
    def list(self, call: Call[PageQuery, Any]) -> Response:
        """Those that were closed last come first."""
        rows = self.paginator.paginate_queryset(DayClose.objects.order_by("-seq"))
        return self.get_paginated_response([_day_line(close) for close in rows])

    @operation(
        "read_day",
        "One gaming day.",
        tag="Figures",
        answers=DayForm,
        may=("tables.watch_floor",),
        scope="read:figures",
        reads_replica=True,
    )
    def retrieve(self, call: Call[Any, Any], day: date) -> DayForm:
        """Whether it is closed, who signed, and what is in the way."""
        return day_form(day, role_of(call.caller))

    @operation(
        "sign_day",
        "Sign a day's figures.",
        tag="Figures",
        body=DaySigned,
        answers=DayForm,
        may=("tables.watch_floor",),
    )
    def sign(self, call: Call[Any, DaySigned], day: date) -> DayForm:
        """A pit boss signs first; an operator signs second with the `digest` of those figures, which closes the day.
        By the same person again it is answered as before."""
        signature = DaySignature(day, call.body.digest, signing.attested(call))
        signing.sign(call, signature.give, signature.rehearse)
        return day_form(day, role_of(call.caller))


_SPANS: Final[dict[str, Callable[[date, Sequence[Table] | None], SpanFigures]]] = {
    "day": figures.day,
    "month": to_date_figures.month,
    "year": to_date_figures.year,
}


def _reports(span: str, day: date, tables: Sequence[Table] | None) -> Iterable[tuple[str, SpanFigures]]:
    if span != "shifts":
        yield span, _SPANS[span](day, tables)
        return
    begun = {shift.name for shift in gaming_hours.shifts_of(day) if shift.start <= timezone.now()}
    yield from ((name, report) for name, report in figures.by_shift(day, tables).items() if name in begun)


def _among(query: SpanFiguresQuery) -> list[Table] | None:
    if query.table is None and not query.pit:
        return None
    tables = Table.objects.select_related("book").order_by("name")
    if query.table is not None:
        tables = tables.filter(pk=query.table)
    if query.pit:
        tables = tables.filter(name__in=[name for name, place in pits.places().items() if place.pit == query.pit])
    return list(tables)


def _part(name: str, report: SpanFigures, *, hides_racks: bool) -> FiguresPart:
    def lines(of: Iterable[Figures]) -> list[FiguresLine]:
        return [FiguresLine(**blind_figures.row(line, hides_racks=hides_racks)) for line in of]

    [together] = lines([report.pit])
    return FiguresPart(name, report.start, report.end, lines(report.lines), lines(report.games), together)


def _day_line(close: DayClose) -> DayLine:
    return DayLine(close.day, close.seq, close.proposed_by, close.closed_by, close.at)


def day_form(day: date, role: str) -> DayForm:
    """Where a day stands, for people of a role that may watch the floor."""
    if not 2000 <= day.year <= 2999:
        raise Refused("not_found", "There is no such gaming day.", 404)
    span, close, first = gaming_hours.span(day), DayClose.objects.filter(day=day).first(), day_close.proposal(day)
    _, unseen = blind_figures.tables_for(role, day)
    return DayForm(
        day=day,
        start=span.start,
        end=span.end,
        state="closed" if close else "signed" if first else "open",
        digest=first.digest if first else None,
        signed_by=first.signer.name if first else None,
        signed_at=first.signed_at if first else None,
        closed_by=close.closed_by if close else None,
        closed_at=close.at if close else None,
        open_matters=[] if close or unseen else day_close.open_matters(day),
    )
