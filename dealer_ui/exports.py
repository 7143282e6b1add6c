"""Lists as downloads of the screens: what ``tables/audit/downloads.py`` streams, asked for by a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from tables.audit import downloads
from tables.models import Staff
from tables.refusals import Refused
from tables.reports.spreadsheets import Row


def answer(request: HttpRequest, name: str, header: Row, pages: Iterator[Iterable[Row]]) -> HttpResponseBase:
    """A list as CSV, or as a workbook (``as=xlsx``). Raises PermissionDenied where the house lets the viewer's role
    take none out."""
    try:
        return downloads.answer(_viewer(request), name, header, pages, as_book=request.GET.get("as") == "xlsx")
    except Refused as refused:
        return _in_words(refused)


def file(request: HttpRequest, path: Path, kind: str) -> HttpResponseBase:
    """A file, from the disk as it is read."""
    try:
        return downloads.file(_viewer(request), path, kind)
    except Refused as refused:
        return _in_words(refused)


def _viewer(request: HttpRequest) -> Staff:
    viewer: Staff = request.user  # type: ignore[assignment]  # the views are behind sign-in
    return viewer


def _in_words(refused: Refused) -> HttpResponse:
    response = HttpResponse(refused.sentence, content_type="text/plain; charset=utf-8", status=refused.status)
    response["Retry-After"] = str(refused.facts["retry_after"])
    response["Cache-Control"] = "no-store"
    return response
