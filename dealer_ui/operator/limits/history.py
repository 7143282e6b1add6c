"""What the limits of tables were and who changed them, the newest first; as a page and as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from ledger.models import LogEntry
from tables.approvals import proposals
from tables.limits import cells
from tables.limits.cells import LIMITS
from tables.log.catalog import read_as
from tables.log.entries.settings import TableSet
from tables.log.moments import is_possible
from tables.models import LimitPlan, Staff, Table
from tables.reports.spreadsheets import csv_file, spell

PAGE: Final = 100
"""Entries of settings that are read for a page; those of them that change a limit are shown."""


@dataclass(frozen=True, slots=True)
class PastLimit:
    """One limit as it was changed."""

    moment: datetime
    table: str
    limit: str
    before: str
    after: str
    by: str
    proposal: int | None


def _permit(request: HttpRequest, permission: str) -> None:
    if not (isinstance(request.user, Staff) and request.user.has_perm(permission)):
        raise PermissionDenied


Place = tuple[datetime, int, int]
"""Where an entry stands in the history: its moment, and of several at once its book and number."""


def _place(entry: LogEntry) -> str:
    return f"{entry.at.isoformat()}~{entry.book_id}~{entry.seq}"


def _read(spelled: str) -> Place | None:
    """A place as an address has it; None for nonsense, which asks for the newest."""
    try:
        moment, book, seq = spelled.split("~")
        place = datetime.fromisoformat(moment), int(book), int(seq)
    except ValueError:
        return None
    return place if place[0].tzinfo and is_possible(place[0]) and max(place[1:]) < 2**31 else None


def _entries(table: str, before: Place | None) -> list[LogEntry]:
    """A page of what tables were set to, the newest first."""
    chosen = Table.objects.filter(name=table) if table else Table.objects.all()
    rows = LogEntry.objects.filter(book_id__in=list(chosen.values_list("book_id", flat=True)), subject="table")
    rows = rows.filter(kind="settings_changed").select_related("book").order_by("-at", "-book_id", "-seq")
    if before:
        moment, book, seq = before
        later = Q(book_id__lt=book) | Q(book_id=book, seq__lt=seq)
        rows = rows.filter(Q(at__lt=moment) | (Q(at=moment) & later))
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
    """The versions of limit plans that entries name, by that name."""
    named = {layer for event in events if event.plans for layer in event.plans.layers.values() if layer}
    rows = LimitPlan.objects.filter(name__in={layer.rpartition(", version ")[0] for layer in named})
    return {str(row): row for row in rows if str(row) in named}


def _author(entry: LogEntry, event: TableSet, column: str, plans: Mapping[str, LimitPlan]) -> tuple[str, int | None]:
    """Who changed a limit, and by which proposal. For a limit plan: who set that version of it."""
    if event.plans is None:
        return entry.by, event.proposal
    layers = {layer for name, layer in event.plans.layers.items() if cells.column_of(name) == column}
    rows = [plans[layer] for layer in sorted(layers) if layer in plans]
    authors = [f"{row.by} (limit plan {row})" for row in rows]
    authors += [f"{entry.by} (a limit plan ended)"] if "" in layers else []
    return "; ".join(authors) or entry.by, next((row.proposal for row in rows if row.proposal), None)


@require_GET
def history(request: HttpRequest) -> HttpResponse:
    """A page of it, of one table or of all."""
    _permit(request, "tables.view_table")
    table = request.GET.get("table", "")
    entries = _entries(table, _read(request.GET.get("before", "")))
    context = {
        **admin.site.each_context(request),
        "title": "History of limits",
        "past": list(_changes(entries)),
        "older": _place(entries[-1]) if len(entries) == PAGE else None,
        "tables": sorted(Table.objects.values_list("name", flat=True)),
        "table": table,
        "may_export": request.user.has_perm("tables.export_lists"),
        "file": reverse("limit-history-csv"),
    }
    return TemplateResponse(request, "dealer_ui/operator/limits/history.html", context)


@require_GET
def history_csv(request: HttpRequest) -> HttpResponse:
    """All of it, read a page at a time."""
    _permit(request, "tables.view_table")
    _permit(request, "tables.export_lists")
    lines = _lines(request.GET.get("table", ""))
    # Not streamed: the event loop would read the whole of a synchronous iterator first, and warn of it.
    answer = HttpResponse("".join(lines), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="history-of-limits.csv"'
    return answer


def _lines(table: str) -> Iterator[str]:
    yield csv_file(("When", "Table", "Limit", "From", "To", "By", "Proposal"))
    before = None
    while entries := _entries(table, before):
        yield spell(map(_cells, _changes(entries)))
        before = _read(_place(entries[-1]))


def _cells(past: PastLimit) -> tuple[str, ...]:
    stamp = f"{timezone.localtime(past.moment):%Y-%m-%d %H:%M:%S}"
    return stamp, past.table, past.limit, past.before, past.after, past.by, str(past.proposal or "")
