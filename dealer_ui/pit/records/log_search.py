"""The search of the log: its form, its page and its file. Pit bosses search the logs of tables, operators and auditors
that of the site too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET

from dealer_ui import dates
from dealer_ui.numbers import cents, number
from dealer_ui.replica_pages import reads_replica
from dealer_ui.reports.exceptions import reads_the_house
from tables.log.moments import is_possible
from tables.models import Table
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.reports import log_search as search
from tables.reports.log_search import KINDS, LONGEST, SUBJECTS, Hit, LogPage, LogQuery, PagePosition
from tables.reports.report import Column, Report

HOUSE: Final = "house"


@dataclass(frozen=True, slots=True)
class Form:
    """What was typed, and what of it cannot be read."""

    typed: Mapping[str, str]
    wanted: LogQuery
    wrong: str = ""
    """A sentence; nothing where all of it can be read."""


def _form(request: HttpRequest) -> Form:
    typed = {name: value.strip() for name, value in request.GET.dict().items() if name not in ("before", "as")}
    wrong = ""
    amount = cents(typed.get("amount"))
    since, until = _moment(typed.get("since"), is_end=False), _moment(typed.get("until"), is_end=True)
    if typed.get("amount") and amount is None:
        wrong = "Write the amount in plain digits: 20, 2.50 or 1,000."
    for name, read in (("since", since), ("until", until)):
        if typed.get(name) and read is None:
            wrong = "Write a time as 2026-11-22 or 2026-11-22 14:30; a day alone is a gaming day."
    if any(len(typed.get(name, "")) > LONGEST or "\x00" in typed.get(name, "") for name in ("person", "text")):
        wrong = f"Search for at most {LONGEST} characters."
    in_house = typed.get("table") == HOUSE
    wanted = LogQuery(
        person=typed.get("person", "") if not wrong else "",
        subject=typed.get("subject", "") if typed.get("subject") in SUBJECTS else "",
        kind=typed.get("kind", "") if typed.get("kind") in KINDS else "",
        table=None if in_house else number(typed.get("table")),
        in_house=in_house,
        round=number(typed.get("round")),
        seat=number(typed.get("seat")),
        entry=number(typed.get("entry")),
        since=since,
        until=until,
        text=typed.get("text", "") if not wrong else "",
        cents=None if amount is None else abs(amount),
        with_rounds=typed.get("rounds") == "on",
    )
    return Form(typed, wanted, wrong)


def _moment(text: str | None, *, is_end: bool) -> datetime | None:
    """A day as the house counts it, whole; or a time by the house's clock."""
    if (day := dates.day(text)) is not None:
        span = gaming_hours.span(day)
        return span.end if is_end else span.start
    try:
        read = parse_datetime((text or "").replace(" ", "T", 1))
    except ValueError:
        return None
    if read is None or not is_possible(read):
        return None
    aware = timezone.make_aware(read) if timezone.is_naive(read) else read
    return aware + timedelta(seconds=1) if is_end else aware


@reads_replica
@require_GET
def log_search(request: HttpRequest) -> HttpResponse:
    """The form, and what it finds, the newest first."""
    form, whole = _form(request), reads_the_house(request.user)
    page, refused = None, form.wrong
    if not refused:
        try:
            page = search.search(form.wanted, before=PagePosition.read(request.GET.get("before")), whole=whole)
        except Refused as refusal:
            refused = refusal.sentence
    asked = request.GET.copy()
    for name in ("before", "as"):
        asked.pop(name, None)
    context = {
        "page": page,
        "refused": refused,
        "typed": form.typed,
        "wanted": form.wanted,
        "tables": Table.objects.order_by("name"),
        "whole": whole,
        "subjects": SUBJECTS,
        "kinds": KINDS,
        "asked": asked.urlencode(),
        "paged": "before" in request.GET,
        "says": _says(page, form.wanted) if page else "",
    }
    return render(request, "dealer_ui/pit/search.html", context, status=422 if refused else 200)


def _says(page: LogPage, wanted: LogQuery) -> str:
    """How far a page of words came."""
    if not wanted.reads_words or page.older is None or len(page.hits) >= search.PAGE:
        return ""
    return (
        f"{page.looked_at:,} entries were read, back to {timezone.localtime(page.older.moment):%d %b %Y, %H:%M}."
        " Older ones are on the next page."
    )


def read_search(request: HttpRequest) -> tuple[LogQuery, bool]:
    """The search of the form, and whether it includes the log of the site. Raises Refused."""
    form, reads_site = _form(request), reads_the_house(request.user)
    if form.wrong:
        raise Refused("unreadable_search", form.wrong, 422)
    search.search(form.wanted, whole=reads_site, count=1)
    return form.wanted, reads_site


FOUND_ENTRIES: Final = Report[tuple[LogQuery, bool], Hit](
    name="log",
    columns=(
        Column("where", lambda hit: hit.table.name if hit.table else "The house"), Column("entry", "entry.seq"),
        Column("at", "moment"), Column("by", "entry.by"), Column("subject", "entry.subject"),
        Column("kind", "entry.kind"), Column("round", "entry.round"), Column("says"), Column("transfers", "entry.legs"),
        Column("hash", "entry.hash"),
    ),
    pages=lambda query: search.everything(query[0], whole=query[1]),
)  # fmt: skip
