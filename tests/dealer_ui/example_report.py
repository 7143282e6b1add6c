"""Retired tables, as a report. It is the example of docs/adding-a-report.md, which shows this file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Final

from django import forms
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_noop

from tables.models import Table
from tables.refusals import Refused
from tables.reports.report import MOMENT, NUMBER, Column, Report, single_page


def _retired(since: date | None) -> Iterable[Table]:
    tables = Table.objects.filter(retired_at__isnull=False).order_by("-retired_at")
    return tables.filter(retired_at__date__gte=since) if since else tables


RETIRED: Final = Report[date | None, Table](
    name="retired-tables",
    permission=("tables.watch_floor",),
    columns=(
        Column("table", "name", "Table"),
        Column("game", heading="Game"),
        Column("seats", heading="Seats", kind=NUMBER),
        Column("most_cents", lambda table: table.seats * table.max_cents),
        Column("retired_at", heading="Retired", kind=MOMENT),
    ),
    pages=lambda since: single_page(_retired(since)),
    title=gettext_noop("Retired tables"),
    page_columns=("table", "game", "seats", "retired_at"),
    link=lambda table: reverse("pit:table", args=[table.pk]),
)


class SinceForm(forms.Form):
    """The filter of retired tables."""

    since = forms.DateField(required=False)


def read_since(request: HttpRequest) -> date | None:
    """The first day that is asked for. Raises Refused."""
    form = SinceForm(request.GET)
    if not form.is_valid():
        raise Refused("bad_day", "Write the day as 2026-01-31.", 422)
    since: date | None = form.cleaned_data["since"]
    return since
