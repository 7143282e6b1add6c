"""Alerts over the API: the caller's inbox, and acknowledging alerts in words."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from rest_framework.response import Response

from ledger.models import Alert
from tables.alerts import inbox
from tables.alerts.alert_raising import Heard, heard_all, repeats_of
from tables.alerts.alert_types import LEVELS, Severity, sort_of
from tables.alerts.inbox import AlertFilter
from tables.api import repeats
from tables.api.access import role_of
from tables.api.forms import form_of
from tables.api.operations import Call, Write, operation
from tables.api.pagination import Page, PageQuery
from tables.api.views import FloorViewSet
from tables.models import Table

_STATES: Final = {"open": inbox.OPEN, "acknowledged": inbox.ACKNOWLEDGED, "all": ""}


class AlertForm(msgspec.Struct, frozen=True):
    """An alert, and what it came to."""

    id: int
    at: datetime
    table: int | None
    kind: str
    title: str
    severity: str
    level: str
    """How far it goes by now."""
    message: str
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    note: str | None
    repeats: int
    """Number of repeats of its condition while it was open."""
    last_at: datetime
    """Time of the last repeat."""
    last_message: str
    """Message of the last repeat."""


class AlertsQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the list of alerts."""

    state: Literal["open", "acknowledged", "all"] = "open"
    severity: Literal["", "notice", "attention", "urgent"] = ""
    kind: Annotated[str, Meta(max_length=40)] = ""
    table: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    hearer: Annotated[str, Meta(max_length=20)] = ""
    """The role that hears of them: the caller's own, or any for auditors and the surveillance."""
    text: Annotated[str, Meta(max_length=80)] = ""


class NoteTaken(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Taking note of alerts, with one word about them all."""

    alerts: Annotated[list[Annotated[int, Meta(ge=1, le=2**31 - 1)]], Meta(min_length=1, max_length=200)]
    note: Annotated[str, Meta(max_length=400)]


class Taken(msgspec.Struct, frozen=True):
    """What became of them."""

    acknowledged: list[int]
    before: list[int]
    """Those that another user had acknowledged before."""


class Alerts(FloorViewSet):
    """The inbox of the caller."""

    @operation(
        "list_alerts",
        "Alerts.",
        tag="Alerts",
        query=AlertsQuery,
        answers=Page[AlertForm],
        may=("tables.watch_floor",),
        scope="read:alerts",
    )
    def list(self, call: Call[AlertsQuery, Any]) -> Response:
        """The newest first. People see what their role hears of; auditors and the surveillance may see all."""
        query = call.query
        books = None
        if query.table is not None:
            books = frozenset(Table.objects.filter(pk=query.table).values_list("book_id", flat=True))
        alerts = inbox.chosen(
            AlertFilter(
                state=_STATES[query.state],
                hearer=inbox.may_hear(role_of(call.caller), query.hearer),
                severity=Severity[query.severity.upper()] if query.severity else None,
                kind=query.kind,
                books=books,
                text=query.text,
            )
        )
        rows = self.paginator.paginate_queryset(alerts.order_by("-pk"))
        levels = heard_all(rows) if rows else {}
        return self.get_paginated_response([alert_form(alert, levels[alert.pk]) for alert in rows])

    @operation(
        "acknowledge_alerts",
        "Take note of alerts.",
        tag="Alerts",
        body=NoteTaken,
        answers=Taken,
        may=("tables.acknowledge",),
    )
    def acknowledge(self, call: Call[Any, NoteTaken]) -> Taken:
        """By name and in words, as on the inbox. Those that the caller does not hear of are passed over."""

        def act() -> Taken:
            taken = inbox.acknowledge(call.body.alerts, call.body.note, by=call.by)
            return Taken([alert.pk for alert in taken.alerts], [alert.pk for alert in taken.before])

        return repeats.once(call, act, Taken)


def alert_form(alert: Alert, heard: Heard) -> AlertForm:
    """An alert with its escalation level."""
    note, sort = getattr(alert, "acknowledgement", None), sort_of(alert.kind)
    table = getattr(alert.book, "table", None) if alert.book else None
    count, newest = repeats_of(alert)
    return form_of(
        AlertForm,
        alert,
        table=table.pk if table else None,
        title=sort.title,
        severity=sort.severity.name.lower(),
        level=LEVELS[heard.level],
        acknowledged_by=note.by if note else None,
        acknowledged_at=note.at if note else None,
        note=note.note if note else None,
        repeats=count,
        last_at=newest.at if newest else alert.at,
        last_message=newest.says if newest else alert.message,
    )
