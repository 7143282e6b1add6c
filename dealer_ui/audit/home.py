"""The auditors' home: sealed days with their proofs and bundles, open cases, keys, and the verification of each log.

Proofs and bundles are made by the worker (``tables/audit/jobs.py``). Users with access to the site's log may request
them, because they change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from dealer_ui import dates, exports
from dealer_ui.guards import reads_the_house, viewer_of
from dealer_ui.pit.alerts.inbox import count, open_now
from ledger import discrepancies
from ledger.models import HOUSE, Book, DayRoot
from tables.audit import downloads, jobs, keys
from tables.audit.jobs import AuditJob, JobState
from tables.disputes import cases
from tables.form_fields import DayField
from tables.log.entries.disputes import CLOSED
from tables.refusals import Refused
from tables.reports import exceptions, gaming_hours

DAYS: Final = 31
"""Sealed days on one page."""
LATEST: Final = 5
"""Number of recent jobs shown."""
TAKEN: Final = 20
EXCEPTION_DAYS: Final = 3
DISPUTES: Final = 5


@dataclass(frozen=True, slots=True)
class SealedDay:
    """A line of the sealed days."""

    root: DayRoot
    entries: int
    verified: JobState | None
    bundle: Path | None

    @property
    def bundle_bytes(self) -> int:
        return self.bundle.stat().st_size if self.bundle else 0


@dataclass(frozen=True, slots=True)
class BookLine:
    """The state of a log, and how far it was verified."""

    book: Book
    proved: int
    proved_at: datetime | None

    @property
    def name(self) -> str:
        return "The house" if self.book.name == HOUSE else self.book.name


@reads_the_house
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """All of it."""
    before = dates.day(request.GET.get("before"))
    days = list(_roots(before)[: DAYS + 1])
    context = {
        "under_way": jobs.under_way(),
        "latest": jobs.latest(LATEST),
        "days": _days(days[:DAYS]),
        "older": days[DAYS - 1].day if len(days) > DAYS else None,
        "paged": before is not None,
        "has_folder": bool(settings.AUDIT_FOLDER),
        "keys": keys.lines(),
        "takings": jobs.takings(TAKEN),
        "books": _books(),
        "kept": jobs.KEPT_BUNDLES,
    }
    return render(request, "dealer_ui/pit/auditors.html", context | _open_matters())


def _roots(before: date | None) -> Any:
    roots = DayRoot.objects.order_by("-number")
    return roots.filter(day__lt=before) if before else roots


def _days(roots: Sequence[DayRoot]) -> list[SealedDay]:
    days = [root.day for root in roots]
    verified, entries = jobs.verified(days), jobs.entries_of(days)
    bundles: Mapping[date, Path] = jobs.bundles(days) if settings.AUDIT_FOLDER else {}
    return [SealedDay(root, entries[root.day], verified.get(root.day), bundles.get(root.day)) for root in roots]


def _open_matters() -> dict[str, Any]:
    """Open cases, as numbers that link to their lists."""
    today = gaming_hours.day_of(timezone.now())
    last_days = [today - timedelta(days=ago) for ago in range(EXCEPTION_DAYS)]
    lines, _ = cases.listed(DISPUTES)
    return {
        "open_discrepancies": discrepancies.open_ones().count(),
        "open_disputes": [line for line in lines if line.dispute.state != CLOSED],
        "open_alerts": count(open_now()),
        "exceptions": [(day, len(exceptions.of_day(day).lines)) for day in last_days],
    }


def _books() -> list[BookLine]:
    books = Book.objects.filter(head_seq__gt=0).annotate(
        proved=Max("verifications__through_seq"), proved_at=Max("verifications__at")
    )
    by_name: list[Any] = sorted(books, key=lambda book: (book.name != HOUSE, book.name))
    return [BookLine(book, book.proved or 0, book.proved_at) for book in by_name]


class JobForm(forms.Form):
    """A job for the worker, of a day or of the whole site."""

    deed = forms.CharField()
    day = DayField(required=False)


@reads_the_house
@require_POST
def ask(request: HttpRequest) -> HttpResponse:
    """Request a proof or a bundle from the worker; a second request joins the running job."""
    form = JobForm(request.POST)
    job = AuditJob.read(**form.cleaned_data) if form.is_valid() else None
    if job is None:
        raise Http404("There is no such job.")
    try:
        run = jobs.ask(job, viewer_of(request).signature)
    except Refused as refused:
        messages.error(request, refused.sentence, extra_tags=refused.code)
        return redirect("pit:audit")
    if run.task != job.task:
        messages.error(
            request,
            f"{AuditJob.of(run).says} is under way: one at a time. Ask again when it is over.",
            extra_tags="under_way",
        )
    return redirect("pit:audit")


@reads_the_house
@require_GET
def bundle(request: HttpRequest, day: date) -> HttpResponseBase:
    """A day's bundle, from the disk as it is read; who takes it is noted."""
    downloads.refuse_role(viewer_of(request))
    try:
        path = jobs.note_taking(day, viewer_of(request).signature)
    except Refused as refused:
        messages.error(request, refused.sentence, extra_tags=refused.code)
        return redirect("pit:audit")
    return exports.file(request, path, "application/zip")
