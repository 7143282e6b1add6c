"""After an older database was put back: each table with what was acknowledged beyond its end, until it is confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from dealer_ui import signatures
from dealer_ui.entry_forms import EntryForm, render_form
from dealer_ui.guards import runs
from ledger import log
from ledger.models import LogEntry
from tables.floor import recorder
from tables.floor.inputs import ConfirmRestored
from tables.log.catalog import read_as
from tables.log.entries.restored import SUBJECT, RestoreConfirmed
from tables.log.state import HOUSE_SHOE, Restored, TableState
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports.report import Report, fields_of
from tables.state import table_state as standings

LATEST: Final = 50
"""Number of confirmations shown."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A table that waits to be confirmed."""

    table: Table
    restored: Restored
    seq: int
    ends_at: datetime | None
    """When the last entry before the loss was written."""
    deals_again: bool
    """Whether an electronic shoe is there, which would deal cards again that were already seen."""

    @property
    def missing(self) -> int:
        """The number of acknowledged entries that are missing, as far as reported."""
        return self.restored.reach - self.restored.ended


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A table that deals on since."""

    table: str
    event: RestoreConfirmed
    moment: datetime


def waiting() -> list[Waiting]:
    """All tables that wait: the standings in one query, the times of their ends in another."""
    tables = list(Table.objects.select_related("book").order_by("name"))
    standing_of = standings.at_all([standings.head_of(table) for table in tables])
    behind = [(table, standing_of[table.book_id]) for table in tables if _waits(standing_of[table.book_id])]
    moments = _moments([(table.book_id, state.restored.ended) for table, state in behind if state.restored])
    return [
        Waiting(
            table,
            state.restored,
            state.seq,
            moments.get((table.book_id, state.restored.ended)),
            state.shoe is not None and state.shoe.source == HOUSE_SHOE,
        )
        for table, state in behind
        if state.restored
    ]


def _waits(state: TableState) -> bool:
    return state.restored is not None and state.restored.waits


def _moments(places: list[tuple[int, int]]) -> dict[tuple[int, int], datetime | None]:
    return {(entry.book_id, entry.seq): entry.at for entry in log.picked(places)}


class ConfirmForm(EntryForm):
    """The confirmation of a table, with a note on the hands."""

    note = forms.CharField(required=False)


@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """The tables that wait to be confirmed, and the latest confirmations."""
    return _draw(request, ConfirmForm())


def _draw(request: HttpRequest, form: ConfirmForm, refused: Refused | None = None) -> HttpResponse:
    rows = LogEntry.objects.filter(subject=SUBJECT, kind=RestoreConfirmed.kinds[0]).order_by("-pk")
    confirmed = [
        Confirmed(name, read_as(RestoreConfirmed, body), moment)
        for name, body, moment in rows.values_list("book__name", "body", "at")[:LATEST]
    ]
    context = {
        "waiting": waiting(),
        "confirmed": confirmed,
        "key": uuid4(),
        "typed": form.data,
    }
    return render_form(request, "dealer_ui/pit/restored.html", context, refused)


@runs
@sensitive_post_parameters("pin")
@require_POST
def confirm(request: HttpRequest, pk: int) -> HttpResponse:
    """A pit boss confirms a table by badge and PIN, with a note on the hands."""
    table, form = get_object_or_404(Table.objects.select_related("book"), pk=pk), ConfirmForm(request.POST)

    def act(staff: Staff) -> recorder.Receipt:
        entered = ConfirmRestored(values["note"])
        return recorder.record(table, entered, by=staff, key=values["key"], expected_seq=values["seq"])

    try:
        values = form.values()
        by, _ = signatures.sign(request, act)
    except Refused as refusal:
        return _draw(request, form, refusal)
    messages.success(request, f"{table.name} is confirmed by {by.name}, and deals on.", extra_tags="restore_confirmed")
    return redirect("pit:restored")


class RestoredLine(NamedTuple):
    """The tables that wait as a CSV file: a row for each report, or for a table that was declared restored."""

    table: str
    ends_at_entry: int
    ends_at: datetime | None
    shown_by: str
    acknowledged_entry: int | str = ""
    hash: str = ""
    missing: int | str = ""
    kept: str = ""


def _lines(_: Staff) -> Iterator[list[RestoredLine]]:
    for line in waiting():
        head = (line.table.name, line.restored.ended, line.ends_at)
        beyond = [
            RestoredLine(*head, b.by, b.seq, b.hash, b.seq - line.restored.ended, "; ".join(b.words))
            for b in line.restored.beyond
        ]
        yield beyond or [RestoredLine(*head, line.restored.declared)]


RESTORED: Final = Report[Staff, RestoredLine](
    name="restored", reads_replica=False, columns=fields_of(RestoredLine), pages=_lines
)
