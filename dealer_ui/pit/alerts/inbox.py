"""The inbox of alerts: open ones and acknowledged ones, with similar alerts in one line, acknowledged together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from dealer_ui import dates
from dealer_ui.entry_forms import ListField
from dealer_ui.guards import permitted, viewer_of
from dealer_ui.numbers import number
from dealer_ui.pit.alerts import links
from ledger.alerts import open_alerts
from ledger.models import Acknowledgement, Alert, AlertRepeat
from tables.alerts import alert_raising, inbox
from tables.alerts.alert_raising import Heard, heard_all, with_steps
from tables.alerts.alert_types import LEVELS, AlertType, Severity, sort_of
from tables.alerts.inbox import ACKNOWLEDGED, OPEN, OVERSEERS, AlertFilter
from tables.alerts.rules import HEARERS
from tables.audit import downloads
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.reports.report import Column, Report, newest_first
from tables.roles import Role
from tables.setup import pit_assignments, pits
from tables.setup.pit_assignments import YOURS

MOST_OPEN: Final = 500
"""More open alerts than anybody reads: the newest of them are looked at, and older ones come as those are closed."""
GROUPS_SHOWN: Final = 50
PANEL_SHOWN: Final = 20
HISTORY_PAGE: Final = 50
LONGEST_TEXT: Final = 80


# --- What is shown ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShownAlert:
    """An alert, and how far it goes by now."""

    alert: Alert
    heard: Heard

    def is_for(self, role: str) -> bool:
        """Whether people of a role hear of it. Auditors see everything."""
        return role == Role.AUDITOR or self.heard.is_heard_by(role)

    @property
    def sort(self) -> AlertType:
        return sort_of(self.alert.kind)

    @property
    def level(self) -> str:
        """Its level of escalation, as a word."""
        return LEVELS[self.heard.level]

    @property
    def escalations(self) -> int:
        return len(self.heard.steps)

    @property
    def repeats(self) -> int:
        """The number of repeats before its acknowledgement."""
        return alert_raising.repeats_of(self.alert)[0]

    @property
    def latest(self) -> AlertRepeat | None:
        """The latest repeat of the alert; None without any."""
        return alert_raising.repeats_of(self.alert)[1]


Notes = Mapping[str, Sequence[str]]
"""For each kind of alert, suggested notes."""


@dataclass(frozen=True, slots=True)
class AlertGroup:
    """A line of the inbox: alerts that are alike, the newest first."""

    alerts: tuple[ShownAlert, ...]
    address: str
    """Where the newest of them happened."""
    notes: Sequence[str] = ()
    """Suggested notes for the acknowledgement."""

    @property
    def newest(self) -> ShownAlert:
        return self.alerts[0]

    @property
    def first(self) -> ShownAlert:
        return self.alerts[-1]

    @property
    def numbers(self) -> list[int]:
        return [shown_alert.alert.pk for shown_alert in self.alerts]

    @property
    def level(self) -> str:
        """The furthest that any of them goes."""
        return LEVELS[max(shown_alert.heard.level for shown_alert in self.alerts)]

    @property
    def escalations(self) -> int:
        return max(shown_alert.escalations for shown_alert in self.alerts)

    @property
    def gravity(self) -> tuple[int, int]:
        """Sort key of lines by severity."""
        return self.newest.sort.severity, max(shown_alert.heard.level for shown_alert in self.alerts)


def open_now() -> list[ShownAlert]:
    """The open alerts, the newest first."""
    return shown(list(with_steps(open_alerts())[:MOST_OPEN]))


def shown(chosen: Sequence[Alert]) -> list[ShownAlert]:
    """Alerts that were read with their steps."""
    state = heard_all(chosen) if chosen else {}
    return [ShownAlert(alert, state[alert.pk]) for alert in chosen]


def lines_of(viewer: Staff, alerts: Sequence[ShownAlert], notes: Notes | None = None) -> list[AlertGroup]:
    """Alerts, the newest first, with those together that are alike; with notes, or else those that are usual."""
    shown_alerts = {shown_alert.alert.pk: shown_alert for shown_alert in alerts}
    reads_house = viewer.has_perm("ledger.view_logentry")
    return [
        AlertGroup(
            tuple(shown_alerts[alert.pk] for alert in group),
            links.address(group[0], reads_house=reads_house),
            sort_of(group[0].kind).notes if notes is None else notes[group[0].kind],
        )
        for group in inbox.groups(shown_alert.alert for shown_alert in alerts)
    ]


def panel(viewer: Staff, alerts: Sequence[ShownAlert]) -> dict[str, Any]:
    """The open alerts that the floor shows to a viewer, by role, the most severe first."""
    own = lines_of(viewer, [alert for alert in alerts if alert.is_for(viewer.role)])
    gravest_first = sorted(own, key=lambda line: line.gravity, reverse=True)
    return {
        "lines": gravest_first[:PANEL_SHOWN],
        "most": PANEL_SHOWN,
        "may_acknowledge": viewer.has_perm("tables.acknowledge"),
    }


def count_for(viewer: Staff, alerts: Sequence[ShownAlert]) -> int:
    """The number of lines of the open alerts for the viewer's role: alike alerts share a line."""
    return count(alert for alert in alerts if alert.is_for(viewer.role))


def count(newest_first: Iterable[ShownAlert]) -> int:
    """The number of lines of some alerts: alike alerts share a line."""
    return len(inbox.groups(shown_alert.alert for shown_alert in newest_first))


# --- What is asked for -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """The filter from the form; invalid values are ignored."""

    state: str = OPEN
    hearer: str = ""
    severity: str = ""
    kind: str = ""
    table: int | None = None
    pit: str = ""
    own: frozenset[str] = frozenset()
    """The pits of the viewer, empty for one who has the whole floor."""
    is_mine: bool = False
    day: date | None = None
    text: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str], viewer: Staff) -> Filter:
        own = pit_assignments.bounds(viewer)
        return cls(
            state=query.get("state", OPEN) if query.get("state") in (OPEN, ACKNOWLEDGED, "") else OPEN,
            hearer=inbox.may_hear(viewer.role, query.get("hearer", _hearer_by_default(viewer))),
            severity=query.get("severity", "") if query.get("severity") in _SEVERITIES else "",
            kind=query.get("kind", "") if query.get("kind") in dict(inbox.kinds()) else "",
            table=number(query.get("table")),
            pit=query.get("pit", YOURS if own and "table" not in query else ""),
            own=own,
            is_mine=query.get("mine") == "on",
            day=dates.day(query.get("day")),
            text=query.get("text", "").strip()[:LONGEST_TEXT].replace("\x00", ""),
        )

    def wanted(self, viewer: Staff) -> AlertFilter:
        """The query of the inbox for this filter."""
        span = gaming_hours.span(self.day) if self.day else None
        return AlertFilter(
            state=self.state,
            hearer=self.hearer,
            severity=_SEVERITIES.get(self.severity),
            kind=self.kind,
            books=self._books(),
            not_books=self._elsewhere(),
            by=viewer.signature if self.is_mine else "",
            since=span.start if span else None,
            until=span.end if span else None,
            text=self.text,
        )

    def _books(self) -> frozenset[int] | None:
        if self.table is None and self.pit in ("", YOURS):
            return None
        tables = Table.objects.all()
        if self.table is not None:
            tables = tables.filter(pk=self.table)
        if self.pit not in ("", YOURS):
            tables = tables.filter(name__in=[name for name, place in pits.places().items() if place.pit == self.pit])
        return frozenset(tables.values_list("book_id", flat=True))

    def _elsewhere(self) -> frozenset[int]:
        """The logs of tables in other pits, for a viewer who filters by their own.

        Alerts of the whole site are for all.
        """
        if self.pit != YOURS or not self.own:
            return frozenset()
        names = [name for name, place in pits.places().items() if place.pit not in self.own]
        return frozenset(Table.objects.filter(name__in=names).values_list("book_id", flat=True))

    def spelled(self, **others: Any) -> str:
        """The filter as a query string, with other values for some fields."""
        fields = {
            "state": self.state, "hearer": self.hearer, "severity": self.severity, "kind": self.kind,
            "table": self.table, "pit": self.pit, "mine": "on" if self.is_mine else "", "day": self.day,
            "text": self.text,
        } | others  # fmt: skip
        always = ("state", "hearer", "pit") if self.own else ("state", "hearer")
        return urlencode({name: value for name, value in fields.items() if value or name in always})


_SEVERITIES: Final = {severity.name.lower(): severity for severity in Severity}


def _hearer_by_default(viewer: Staff) -> str:
    """The role whose alerts are shown at first: all for auditors, for others their own."""
    return "" if viewer.role == Role.AUDITOR else str(viewer.role)


# --- The pages -------------------------------------------------------------------------------------------------


@require_GET
def alerts(request: HttpRequest) -> HttpResponse:
    """The inbox: open alerts, or acknowledged ones."""
    viewer = viewer_of(request)
    asked = Filter.read(request.GET.dict(), viewer)
    before = number(request.GET.get("before"))
    is_open = asked.state == OPEN
    context = (_open if is_open else _history)(viewer, asked, before)
    context |= {
        "asked": asked,
        "is_open": is_open,
        "query": asked.spelled(),
        "open_query": asked.spelled(state=OPEN, mine="", day=""),
        "history_query": asked.spelled(state=ACKNOWLEDGED),
        "before": before,
        "may_acknowledge": viewer.has_perm("tables.acknowledge"),
        "severities": list(Severity)[::-1],
        "kinds": inbox.kinds(),
        "tables": sorted(Table.objects.values_list("pk", "name"), key=lambda named: pits.natural(named[1])),
        "pits": [*([YOURS] if asked.own else []), *sorted({row.pit for row in pits.sections()}, key=pits.natural)],
        "hearers": [(role, Role(role).label) for role in HEARERS] if viewer.role in OVERSEERS else [],
    }
    return render(request, "dealer_ui/pit/alerts.html", context)


def _open(viewer: Staff, asked: Filter, before: int | None) -> dict[str, Any]:
    """Lines of open alerts, the newest first."""
    chosen = inbox.chosen(asked.wanted(viewer)).order_by("-pk")[:MOST_OPEN]
    alerts = shown(list(chosen))
    lines = lines_of(viewer, alerts, inbox.usual_notes({shown_alert.alert.kind for shown_alert in alerts}))
    later = [line for line in lines if before is None or line.newest.alert.pk < before]
    page = later[:GROUPS_SHOWN]
    older = page[-1].newest.alert.pk if len(later) > GROUPS_SHOWN else None
    return {"lines": page, "older": older, "count": len(lines), "is_cut": len(alerts) == MOST_OPEN, "most": MOST_OPEN}


def _history(viewer: Staff, asked: Filter, before: int | None) -> dict[str, Any]:
    """Acknowledged alerts, by the gaming day of their acknowledgement, the latest first."""
    chosen = inbox.chosen(asked.wanted(viewer)).order_by("-acknowledgement__pk")
    if before is not None:
        chosen = chosen.filter(acknowledgement__pk__lt=before)
    rows = list(chosen[: HISTORY_PAGE + 1])
    page = shown(rows[:HISTORY_PAGE])
    older = rows[HISTORY_PAGE - 1].acknowledgement.pk if len(rows) > HISTORY_PAGE else None
    reads_house = viewer.has_perm("ledger.view_logentry")
    days = groupby(page, key=lambda row: gaming_hours.day_of(row.alert.acknowledgement.at))
    history = [(day, [(row, links.address(row.alert, reads_house=reads_house)) for row in rows]) for day, rows in days]
    return {"history": history, "older": older}


class AcknowledgementForm(forms.Form):
    """Alerts, and a note: a suggested one (``usual``) or another. A line of the page sends its alerts as one value."""

    alert = ListField(coerce=lambda line: {number(part) for part in line.split()} - {None, 0})
    usual = forms.CharField(required=False)
    note = forms.CharField(required=False)
    back = forms.CharField(required=False)


@permitted("tables.acknowledge")
@require_POST
def acknowledge(request: HttpRequest) -> HttpResponse:
    """Acknowledge the alerts of a line, or all that were chosen, by name and with a note."""
    form = AcknowledgementForm(request.POST)
    form.full_clean()
    values = form.cleaned_data
    try:
        taken = inbox.acknowledge(
            set().union(*values["alert"]), values.get("usual") or values.get("note", ""), by=viewer_of(request)
        )
        if taken.alerts:
            messages.success(request, f"Acknowledged: {_named(taken.alerts)}", extra_tags="acknowledged")
        if taken.before:
            messages.error(
                request,
                f"Somebody else acknowledged this before you: {_named(taken.before)}",
                extra_tags="acknowledged_before",
            )
    except Refused as refusal:
        messages.error(request, refusal.sentence, extra_tags=refusal.code)
    if values.get("back") != "alerts":
        return redirect("pit:floor")
    query = Filter.read(request.GET.dict(), viewer_of(request)).spelled()
    return redirect(f"{reverse('pit:alerts')}?{query}")


def _named(alerts: Sequence[Alert]) -> str:
    return alerts[0].message if len(alerts) == 1 else f"{len(alerts)} alerts"


def read_filter(request: HttpRequest) -> AlertFilter:
    """All that is asked for; without a state in the address, open and acknowledged alerts."""
    viewer = viewer_of(request)
    return Filter.read({"state": "", "pit": ""} | request.GET.dict(), viewer).wanted(viewer)


@dataclass(frozen=True, slots=True)
class ListedAlert:
    """An alert of the file."""

    alert: Alert

    @property
    def sort(self) -> AlertType:
        return sort_of(self.alert.kind)

    @property
    def end(self) -> Acknowledgement | None:
        return getattr(self.alert, "acknowledgement", None)

    @property
    def repeats(self) -> int:
        return alert_raising.repeats_of(self.alert)[0]

    @property
    def last(self) -> tuple[datetime, str]:
        """When it was seen last, and its message then."""
        latest = alert_raising.repeats_of(self.alert)[1]
        return (latest.at, latest.says) if latest else (self.alert.at, self.alert.message)


ALERTS: Final = Report[AlertFilter, ListedAlert](
    name="alerts",
    columns=(
        Column("alert", "alert.pk"), Column("at", "alert.at"),
        Column("table", lambda listed: listed.alert.book.name if listed.alert.book else ""),
        Column("severity", "sort.severity.word"), Column("kind", "alert.kind"), Column("title", "sort.title"),
        Column("message", "alert.message"), Column("acknowledged_by", lambda listed: listed.end and listed.end.by),
        Column("acknowledged_at", lambda listed: listed.end and listed.end.at),
        Column("note", lambda listed: listed.end and listed.end.note), Column("repeats"),
        Column("last_at", lambda listed: listed.last[0]), Column("last_message", lambda listed: listed.last[1]),
    ),
    pages=lambda wanted: (
        map(ListedAlert, page) for page in newest_first(inbox.chosen(wanted), downloads.ENTRIES_AT_ONCE)
    ),
)  # fmt: skip
