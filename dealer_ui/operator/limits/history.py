"""The changes of the limits of tables, the newest first, with their authors; as a page and as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from dealer_ui.operator.limits.files import download
from dealer_ui.operator.pages import OperatorPage
from ledger.models import LogEntry
from tables.approvals import proposals
from tables.limits import cells
from tables.limits.cells import LIMITS
from tables.log.catalog import read_as
from tables.log.entries.settings import TableSet
from tables.models import LimitPlan, Table
from tables.reports.log_search import PagePosition
from tables.reports.spreadsheets import csv_file, spell

PAGE: Final = 100
"""Entries of settings that are read for a page; those of them that change a limit are shown."""


class PastLimit(NamedTuple):
    """A change of one limit: a line of the page and of the file."""

    moment: datetime
    table: str
    limit: str
    before: str
    after: str
    by: str
    proposal: int | None


def _position(entry: LogEntry) -> PagePosition:
    return PagePosition(entry.at, entry.book_id, entry.seq)


def _entries(table: str, before: PagePosition | None) -> list[LogEntry]:
    """A page of the settings of tables, the newest first."""
    chosen = Table.objects.filter(name=table) if table else Table.objects.all()
    rows = LogEntry.objects.filter(book_id__in=list(chosen.values_list("book_id", flat=True)), subject="table")
    rows = rows.filter(kind="settings_changed").select_related("book").order_by("-at", "-book_id", "-seq")
    if before:
        earlier = Q(book_id__lt=before.book) | Q(book_id=before.book, seq__lt=before.seq)
        rows = rows.filter(Q(at__lt=before.moment) | (Q(at=before.moment) & earlier))
    return list(rows[:PAGE])


def _changes(entries: list[LogEntry]) -> Iterator[PastLimit]:
    events = [read_as(TableSet, entry.body) for entry in entries]
    plans = _plans(events)
    for entry, event in zip(entries, events, strict=True):
        for name in LIMITS:
            if name in event.after and event.before.get(name) != event.after[name]:
                before, after = (proposals.spelled(name, of.get(name)) for of in (event.before, event.after))
                by, proposal = _author(entry, event, name, plans)
                yield PastLimit(entry.at, entry.book.name, LIMITS[name], before, after, by, proposal)


def _plans(events: list[TableSet]) -> dict[str, LimitPlan]:
    """The versions of limit plans that entries name, by their names."""
    named = {layer for event in events if event.plans for layer in event.plans.layers.values() if layer}
    rows = LimitPlan.objects.filter(name__in={layer.rpartition(", version ")[0] for layer in named})
    return {str(row): row for row in rows if str(row) in named}


def _author(entry: LogEntry, event: TableSet, column: str, plans: Mapping[str, LimitPlan]) -> tuple[str, int | None]:
    """The author of a change and the proposal. For a limit plan, the author of its version."""
    if event.plans is None:
        return entry.by, event.proposal
    layers = {layer for name, layer in event.plans.layers.items() if cells.column_of(name) == column}
    rows = [plans[layer] for layer in sorted(layers) if layer in plans]
    authors = [f"{row.by} (limit plan {row})" for row in rows]
    authors += [f"{entry.by} (a limit plan ended)"] if "" in layers else []
    return "; ".join(authors) or entry.by, next((row.proposal for row in rows if row.proposal), None)


class LimitHistory(OperatorPage):
    """The changes of one table's limits or of all, a page at a time."""

    permission_required = ("tables.view_table",)
    template_name = "dealer_ui/operator/limits/history.html"
    title = "History of limits"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        table = request.GET.get("table", "")
        entries = _entries(table, PagePosition.read(request.GET.get("before")))
        return self.page(
            past=list(_changes(entries)),
            older=_position(entries[-1]) if len(entries) == PAGE else None,
            tables=sorted(Table.objects.values_list("name", flat=True)),
            table=table,
        )


class LimitHistoryFile(OperatorPage):
    """The whole history as a file."""

    permission_required = ("tables.view_table", "tables.export_lists")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Not streamed: the event loop would read the whole of a synchronous iterator first, and warn of it.
        return download("history-of-limits.csv", "".join(_lines(request.GET.get("table", ""))))


def _lines(table: str) -> Iterator[str]:
    """The lines of the file, from the entries of one page at a time."""
    yield csv_file(("When", "Table", "Limit", "From", "To", "By", "Proposal"))
    before = None
    while entries := _entries(table, before):
        yield spell((f"{timezone.localtime(past.moment):%Y-%m-%d %H:%M:%S}", *past[1:]) for past in _changes(entries))
        before = _position(entries[-1])
