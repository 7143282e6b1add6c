"""Reconciliation: variances with their findings, and the scheduled checks that find them, with their times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from dealer_ui.guards import permitted, viewer_of
from dealer_ui.numbers import number
from ledger import clock, discrepancies, runs
from ledger.models import Discrepancy, Run
from ledger.proof.chips import RACK, money
from ledger.proof.slip_name import SlipName
from tables.audit import watch
from tables.log.slip_types import SLIP_TYPES
from tables.models import Staff, Table
from tables.reports.report import Column, Report, newest_first

PAGE: Final = 50
DAY: Final = timedelta(days=1)
LONGEST: Final = 2_000


class FindingForm(forms.Form):
    """The finding that closes a variance."""

    finding = forms.CharField(max_length=LONGEST, required=False)


@dataclass(frozen=True, slots=True)
class Case:
    """A variance on its page."""

    discrepancy: Discrepancy
    viewer: Staff
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of staff members, by user name."""
    tables: Mapping[int, int] = field(default_factory=dict)
    """The table of each log."""

    @property
    def involved(self) -> list[str]:
        """The persons with a part in it, by name."""
        return [self.names.get(name, name) for name in self.discrepancy.involved]

    @property
    def evidence(self) -> list[tuple[str, Any]]:
        """The evidence, as pairs of name and value. The slip is linked separately."""
        return [
            ("entry" if name == "seq" else name, value)
            for name, value in self.discrepancy.evidence.items()
            if name != "slip"
        ]

    @property
    def slip(self) -> str:
        """The slip that it was found on: "Closer 1 of 2026"; nothing where it was found without one."""
        name = self._slip
        return f"{SLIP_TYPES[name.series].title} {name.number} of {name.year}" if name else ""

    @property
    def slip_url(self) -> str | None:
        """The paper of that slip, for those who may see it."""
        name = self._slip
        if name is None or self.viewer.role not in SLIP_TYPES[name.series].seen_by:
            return None
        return reverse("slips:slip", args=[self._table, name.series, name.year, name.number])

    @property
    def finder_url(self) -> str | None:
        """The payout-error search for a variance counted in a rack; None for others."""
        name = self._slip
        if name is None or not SLIP_TYPES[name.series].counts(RACK) or "seq" not in self.discrepancy.evidence:
            return None
        query = urlencode(
            {"variance": money(self.discrepancy.amount_cents), "through": self.discrepancy.evidence["seq"]}
        )
        return f"{reverse('pit:mispays', args=[self._table])}?{query}"

    @property
    def _slip(self) -> SlipName | None:
        spelled = self.discrepancy.evidence.get("slip")
        return SlipName.parse(spelled) if spelled else None

    @property
    def _table(self) -> int:
        return self.tables.get(self.discrepancy.book_id, 0)

    @property
    def level(self) -> str:
        """Its severity, as a word."""
        return discrepancies.LEVELS[self.discrepancy.level]

    @property
    def owner(self) -> str | None:
        """The person who investigates it; None if none does."""
        owner = discrepancies.owner_of(self.discrepancy)
        return owner.name if owner else None

    @property
    def closed(self) -> bool:
        """Whether there is a finding."""
        return hasattr(self.discrepancy, "finding")

    @property
    def may_close(self) -> bool:
        """Whether the viewer may write the finding: not a person with a part in the variance."""
        has = self.viewer.has_perm("ledger.acknowledge_alert")
        return not self.closed and has and self.viewer.username not in self.discrepancy.involved

    @property
    def may_take(self) -> bool:
        """Whether the viewer may take over the investigation."""
        owner = discrepancies.owner_of(self.discrepancy)
        owns = owner is not None and owner.owner == self.viewer.username
        return not self.closed and not owns and self.viewer.has_perm("ledger.acknowledge_alert")

    @property
    def is_barred(self) -> bool:
        """Whether the viewer could close it, had they no part in it."""
        return not self.closed and not self.may_close and self.viewer.has_perm("ledger.acknowledge_alert")


@require_GET
def discrepancies_page(request: HttpRequest) -> HttpResponse:
    """The open ones, the gravest first, and those that were closed."""
    before, viewer = number(request.GET.get("before")), viewer_of(request)
    closed = discrepancies.all_of_them().filter(finding__isnull=False)
    page = list((closed.filter(pk__lt=before) if before else closed)[:PAGE])
    names = dict(Staff.objects.values_list("username", "name"))
    tables = dict(Table.objects.values_list("book_id", "pk"))
    waiting = [] if before else discrepancies.open_ones()[:PAGE]
    context = {
        "open": [Case(row, viewer, names, tables) for row in waiting],
        "closed": [Case(row, viewer) for row in page],
        "older": page[-1].pk if len(page) == PAGE else None,
        "paged": before is not None,
    }
    return render(request, "dealer_ui/pit/discrepancies.html", context)


@permitted("ledger.acknowledge_alert")
@require_POST
def take(request: HttpRequest, pk: int) -> HttpResponse:
    """The sender takes over the investigation of a variance."""
    discrepancy, viewer = get_object_or_404(Discrepancy, pk=pk), viewer_of(request)
    discrepancies.assign(discrepancy, viewer.username, viewer.name, by=viewer.signature)
    messages.success(request, f"{viewer.name} looks into it: {discrepancy.message}", extra_tags="discrepancy_taken")
    return redirect("pit:discrepancies")


@permitted("ledger.acknowledge_alert")
@require_POST
def close(request: HttpRequest, pk: int) -> HttpResponse:
    """Close a variance with a finding in writing."""
    discrepancy, viewer = get_object_or_404(Discrepancy, pk=pk), viewer_of(request)
    form = FindingForm(request.POST)
    try:
        if not form.is_valid():
            raise discrepancies.NotClosed(f"Say it in at most {LONGEST:,} plain characters.")
        discrepancies.close(discrepancy, form.cleaned_data["finding"], username=viewer.username, by=viewer.signature)
        messages.success(request, f"Closed: {discrepancy.message}", extra_tags="discrepancy_closed")
    except discrepancies.NotClosed as refused:
        messages.error(request, str(refused), extra_tags="not_closed")
    return redirect("pit:discrepancies")


DISCREPANCIES: Final = Report[Staff, Case](
    name="discrepancies",
    columns=(
        Column("number", "discrepancy.pk"), Column("at", "discrepancy.at"), Column("book", "discrepancy.book.name"),
        Column("message", "discrepancy.message"), Column("amount_cents", "discrepancy.amount_cents"), Column("level"),
        Column("involved", lambda case: " ".join(case.discrepancy.involved)), Column("owner"),
        Column("finding", lambda case: case.discrepancy.finding.text if case.closed else ""),
        Column("by", lambda case: case.discrepancy.finding.by if case.closed else ""),
        Column("closed_at", lambda case: case.discrepancy.finding.at if case.closed else ""),
    ),
    pages=lambda viewer: ([Case(row, viewer) for row in page] for page in newest_first(discrepancies.all_of_them())),
)  # fmt: skip


# --- Runs ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tick:
    """One run on the picture of a day: its position and width (thousandths of the day), and its result."""

    x: float
    width: float
    run: Run

    @property
    def state(self) -> str:
        """ "begun" for a run without an end, "found" for one with findings, else "done"."""
        if not hasattr(self.run, "end"):
            return "begun"
        return "found" if self.run.end.found else "done"


@dataclass(frozen=True, slots=True)
class Lane:
    """A scheduled check with its runs of a day."""

    state: runs.PlanState
    ticks: tuple[Tick, ...]


def _lane(state: runs.PlanState, since: datetime) -> Lane:
    ticks = []
    for run in state.runs:
        x = (run.slot - since) / DAY * 1_000
        ticks.append(Tick(round(max(0.0, x), 1), round(max(2.0, state.plan.every / DAY * 1_000 - 1), 1), run))
    return Lane(state, tuple(ticks))


@require_GET
def runs_page(request: HttpRequest) -> HttpResponse:
    """The scheduled checks of the last 24 hours as a picture, with those that are late."""
    reading = clock.read()
    moment = reading.database
    since = moment - DAY
    lanes = [_lane(state, since) for state in runs.states(watch.PLANS, since, moment)]
    hours = [(round(hour * 1_000 / 24), since + timedelta(hours=hour)) for hour in range(0, 24, 4)]
    return render(request, "dealer_ui/pit/runs.html", {"lanes": lanes, "hours": hours, "clock": reading})


RUNS: Final = Report[Staff, Run](
    name="runs",
    columns=(
        Column("task"), Column("slot"), Column("begun_at"),
        Column("ended_at", lambda run: run.end.at if hasattr(run, "end") else ""),
        Column("found", lambda run: run.end.found if hasattr(run, "end") else ""), Column("missed"),
    ),
    pages=lambda _: newest_first(Run.objects.select_related("end")),
)  # fmt: skip
