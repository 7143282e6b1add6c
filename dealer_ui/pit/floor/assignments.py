"""The pit bosses of each pit, on the floor's page, with taking over another pit temporarily and returning it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from dealer_ui.entry_forms import render_form
from dealer_ui.guards import runs, viewer_of, watches
from dealer_ui.pit.floor.cards import Seen
from tables.form_fields import InputForm
from tables.log.pit_assignments import LONGEST_COVER, Duty
from tables.models import Staff
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.setup import pit_assignments, pits
from tables.setup.pit_assignments import Runner

HOURS: Final = (1, 2, 4, 8, 12)
SHIFT: Final = "shift"


@dataclass(frozen=True, slots=True)
class PitRow:
    """A pit, with those who run it."""

    pit: str
    tables: int
    runners: list[Runner]
    covers: list[tuple[Runner, datetime, str]]
    """Temporary assignments: pit boss, end and reason."""
    is_own: bool
    is_covered: bool
    """Whether the viewer took it over temporarily."""


class CoverForm(InputForm):
    """A pit to take over or to give back."""

    pit = forms.CharField(required=False)
    span = forms.CharField(required=False)
    reason = forms.CharField(required=False)

    def add_prefix(self, field_name: str) -> str:
        """The name in the page: "for" is a keyword of Python."""
        return super().add_prefix("for" if field_name == "span" else field_name)

    def clean_span(self) -> datetime:
        """The end of the assignment. For an unknown span that is now, which is refused."""
        span, moment = self.cleaned_data["span"], timezone.now()
        if span == SHIFT:
            return min(gaming_hours.shift_of(moment).end, moment + LONGEST_COVER)
        return moment + timedelta(hours=int(span)) if span in map(str, HOURS) else moment


@watches
@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """All pits, with the viewer's assignments."""
    return _draw(request)


def _draw(request: HttpRequest, refused: Refused | None = None) -> HttpResponse:
    viewer, moment, typed = viewer_of(request), timezone.now(), CoverForm(request.POST).data
    everyone, held = pit_assignments.everyone(moment), pit_assignments.own(viewer)
    context = {
        "lines": _lines(everyone, held),
        "whole_floor": [runner for runner in everyone if runner.duty.whole_floor],
        "without": [runner for runner in everyone if not (runner.duty.whole_floor or runner.duty.pits)],
        "own": held,
        "own_pits": sorted(held.pits, key=pits.natural) if held else [],
        "may_cover": held is not None and not held.whole_floor,
        "shift_ends": gaming_hours.shift_of(moment).end,
        "hours": HOURS,
        "chosen": typed.get("pit") or request.GET.get("pit", ""),
        "typed": typed,
    }
    return render_form(request, "dealer_ui/pit/posts.html", context, refused)


def _lines(everyone: list[Runner], held: Duty | None) -> list[PitRow]:
    counts: dict[str, int] = {}
    for row in pits.sections():
        counts[row.pit] = counts.get(row.pit, 0) + len(row.tables)
    return [
        PitRow(
            pit=pit,
            tables=count,
            runners=[runner for runner in everyone if pit in runner.duty.pits - runner.duty.covered],
            covers=[(runner, *runner.covers[pit]) for runner in everyone if pit in runner.covers],
            is_own=held is not None and held.runs(pit),
            is_covered=held is not None and pit in held.covered,
        )
        for pit, count in counts.items()
    ]


@runs
@require_POST
def cover(request: HttpRequest) -> HttpResponse:
    """Take a pit over."""
    try:
        values = CoverForm(request.POST).values()
        row = pit_assignments.take_over(values["pit"], values["span"], values["reason"], by=viewer_of(request))
    except Refused as refused:
        return _draw(request, refused)
    messages.success(request, f"You run {row.pit} until {timezone.localtime(row.until):%H:%M}.", extra_tags="cover_set")
    return redirect("pit:floor")


@runs
@require_POST
def give_back(request: HttpRequest) -> HttpResponse:
    """Give a pit back before the time is over."""
    try:
        pit = CoverForm(request.POST).values()["pit"]
        pit_assignments.give_back(pit, by=viewer_of(request))
    except Refused as refused:
        return _draw(request, refused)
    messages.success(request, f"You gave {pit} back.", extra_tags="cover_ended")
    return redirect("pit:posts")


def elsewhere(viewer: Staff, card: Seen) -> Refused | None:
    """Why the viewer may not act at a table of another pit; None where they may, and for roles without pits."""
    try:
        pit_assignments.refuse(viewer, card.table.name)
    except Refused as refused:
        return refused
    return None
