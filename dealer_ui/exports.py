"""Reports on the screens: the addresses of a report, its page, and the one view that answers with its file.

``tables/audit/downloads.py`` streams the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils import timezone
from django.views.decorators.http import require_GET

from dealer_ui import dates
from dealer_ui.guards import View, permitted
from dealer_ui.replica_pages import reads_replica
from tables.audit import downloads
from tables.models import Staff
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.reports.report import Item, Query, Report
from tables.reports.spreadsheets import Row


def addresses(
    route: str, name: str, report: Report[Query, Item], read: Callable[..., Query], page: View | None = None
) -> list[URLPattern]:
    """The addresses of a report: the page at ``route/``, unless it has neither columns for one nor a view of its own,
    and the file at ``route.csv``. Both require the permissions of the report.

    ``read`` takes the request and the parts of the address, and returns the query. It raises Refused for values that
    cannot be read, and PermissionDenied.
    """
    file_address = path(f"{route}.csv", _guarded(report, _file_view(report, read)), name=f"{name}-csv")
    if page is None and report.page_columns:
        page = _page_view(report, read)
    return [file_address] if page is None else [path(f"{route}/", _guarded(report, page), name=name), file_address]


def _guarded(report: Report[Query, Item], view: View) -> View:
    """A view for signed-in staff with the permissions of the report, which tests read from its ``report``."""
    guarded = permitted(*report.permission)(view)
    guarded.report = report  # type: ignore[attr-defined]
    return guarded


def _file_view(report: Report[Query, Item], read: Callable[..., Query]) -> View:
    @require_GET
    def file_of_report(request: HttpRequest, **address: Any) -> HttpResponseBase:
        return _answered(lambda: answer(request, *report.file(read(request, **address))))

    return reads_replica(file_of_report) if report.reads_replica else file_of_report


def _page_view(report: Report[Query, Item], read: Callable[..., Query]) -> View:
    @require_GET
    def page_of_report(request: HttpRequest, **address: Any) -> HttpResponse:
        context: dict[str, Any] = {
            "report": report,
            "file": f"{request.path.removesuffix('/')}.csv",
            **report.context(),
        }
        items: Iterable[Item] = ()
        status = 200
        try:
            query = read(request, **address)
        except Refused as refused:
            context["refused"], status = refused, refused.status
        else:
            items = chain.from_iterable(report.pages(query))
            if read is dates.gaming_day:
                context |= dates.with_neighbours(cast(date, query), gaming_hours.day_of(timezone.now()))
        return render(request, report.template, context | {"table": report.table(items)}, status=status)

    return reads_replica(page_of_report) if report.reads_replica else page_of_report


def answer(request: HttpRequest, name: str, header: Row, pages: Iterator[Iterable[Row]]) -> HttpResponseBase:
    """A list as CSV, or as a workbook (``as=xlsx``). Raises PermissionDenied where the site permits the viewer's role
    no exports."""
    as_book = request.GET.get("as") == "xlsx"
    return _answered(lambda: downloads.answer(cast(Staff, request.user), name, header, pages, as_book=as_book))


def file(request: HttpRequest, path: Path, kind: str) -> HttpResponseBase:
    """A file, from the disk as it is read."""
    return _answered(lambda: downloads.file(cast(Staff, request.user), path, kind))


def _answered(stream: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """A stream, or the sentence of its refusal."""
    try:
        return stream()
    except Refused as refused:
        response = HttpResponse(refused.sentence, content_type="text/plain; charset=utf-8", status=refused.status)
        if "retry_after" in refused.facts:
            response["Retry-After"] = str(refused.facts["retry_after"])
        response["Cache-Control"] = "no-store"
        return response
