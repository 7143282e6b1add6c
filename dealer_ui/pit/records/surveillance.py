"""Bookmarks of surveillance: marked moments, for surveillance and auditors alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import Final
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from dealer_ui import dates
from dealer_ui.guards import permitted, viewer_of
from dealer_ui.numbers import number
from ledger.models import Bookmark
from tables.alerts import bookmarks
from tables.form_fields import InputForm, MomentField, WholeNumberField
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports.report import MOMENT, NUMBER, Column, Report, newest_first

PAGE: Final = 50


@dataclass(frozen=True, slots=True)
class Marked:
    """A bookmark, and where it leads."""

    row: Bookmark
    table: int | None

    @property
    def url(self) -> str | None:
        """The moment in its round, or the entry nearest to it."""
        if self.table is None:
            return None
        asked = urlencode({"t": dates.spelled(self.row.moment)})
        if self.row.round is not None:
            return f"{reverse('pit:round', args=[self.table, self.row.round])}?{asked}"
        return f"{reverse('pit:moment', args=[self.table])}?{asked}"


@require_GET
def bookmarks_page(request: HttpRequest) -> HttpResponse:
    """Every bookmark, the newest first, and a form for a moment that was seen on a camera."""
    viewer, tables = viewer_of(request), dict(Table.objects.values_list("book_id", "pk"))
    page = list(bookmarks.listed(viewer, number(request.GET.get("before")))[: PAGE + 1])
    context = {
        "table": BOOKMARKS.table([Marked(row, tables.get(row.book_id)) for row in page[:PAGE]]),
        "older": page[PAGE - 1].pk if len(page) > PAGE else None,
        "tables": Table.objects.order_by("name"),
        "may_bookmark": viewer.has_perm("tables.bookmark"),
        "moment": timezone.localtime(),
    }
    return render(request, "dealer_ui/pit/bookmarks.html", context)


BOOKMARKS: Final = Report[Staff, Marked](
    name="bookmarks",
    permission=("tables.watch_bookmarks",),
    columns=(
        Column("bookmark", "row.pk"),
        Column("table", "row.book.name", "Table"),
        Column("round", "row.round", "Round", NUMBER),
        Column("moment", "row.moment", "Moment", MOMENT),
        Column("camera", "row.camera", "Camera"),
        Column("note", "row.note", "What is to be seen"),
        Column("by", "row.by", "By"),
        Column("at", "row.at"),
    ),
    pages=lambda viewer: ([Marked(row, None) for row in page] for page in newest_first(bookmarks.listed(viewer, None))),
    title="Bookmarks",
    page_columns=("moment", "table", "round", "camera", "note", "by"),
    link=lambda marked: marked.url,
)


class BookmarkForm(InputForm):
    """A moment at a table and, where the page of a round was open, the round."""

    code = "bad_bookmark"
    message = "Write the moment as 2026-01-31T21:30:05."
    table = WholeNumberField(required=False)
    round = WholeNumberField(required=False)
    moment = MomentField()
    note = forms.CharField(required=False)
    camera = forms.CharField(required=False)

    def mark(self, table: Table, by: Staff) -> Bookmark:
        """Set the bookmark. Raises Refused."""
        values = self.values()
        moment = values["moment"].astimezone(UTC)
        return bookmarks.mark(table, moment, values["note"], by=by, round=values["round"], camera=values["camera"])


@permitted("tables.bookmark")
@require_POST
def mark(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark a moment at a table; of a round, where its page was open."""
    table, form = get_object_or_404(Table, pk=pk), BookmarkForm(request.POST)
    try:
        row = form.mark(table, viewer_of(request))
        messages.success(
            request, f"Bookmarked: {table.name}, {timezone.localtime(row.moment):%H:%M:%S}.", extra_tags="bookmarked"
        )
    except Refused as refused:
        messages.error(request, refused.sentence, extra_tags=refused.code)
    round_number = form.cleaned_data.get("round")
    if round_number is None:
        return redirect("pit:bookmarks")
    asked = urlencode({"t": form["moment"].data or ""})
    return redirect(f"{reverse('pit:round', args=[pk, round_number])}?{asked}")


@permitted("tables.bookmark")
@require_POST
def mark_anywhere(request: HttpRequest) -> HttpResponseBase:
    """Set a bookmark from the page of bookmarks, with a choice of table."""
    form = BookmarkForm(request.POST)
    form.full_clean()
    return mark(request, form.cleaned_data.get("table") or 0)
