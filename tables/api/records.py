"""The log searched over the API, and what the worker proves and exports of it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from rest_framework.response import Response

from ledger.models import Run
from tables.api import repeats
from tables.api.forms import form_of
from tables.api.operations import Address, Call, Write, operation
from tables.api.pagination import Page, PageQuery
from tables.api.views import FloorViewSet
from tables.audit import jobs
from tables.audit.jobs import AuditJob, JobState
from tables.log.moments import Moment
from tables.log.scopes import EXPORTS
from tables.refusals import Refused
from tables.reports import log_search
from tables.reports.log_search import LONGEST, Hit, LogQuery, PagePosition

_WHOLE: Final = "ledger.view_logentry"
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class EntryForm(msgspec.Struct, frozen=True):
    """An entry of the log with its words: those that the log's own page shows."""

    table: int | None
    """Null: it is in the house's book."""
    seq: int
    at: datetime
    by: str
    subject: str
    kind: str
    round: int | None
    says: str
    transfers: int
    hash: str


class LogSearchQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of a search: criteria that are left out match every entry."""

    person: Annotated[str, Meta(max_length=LONGEST)] = ""
    subject: Annotated[str, Meta(max_length=40)] = ""
    kind: Annotated[str, Meta(max_length=40)] = ""
    table: Number | None = None
    house: bool = False
    """Only the house's own book."""
    round: Number | None = None
    seat: Annotated[int, Meta(ge=0, le=100)] | None = None
    entry: Number | None = None
    since: Moment | None = None
    until: Moment | None = None
    text: Annotated[str, Meta(max_length=LONGEST)] = ""
    cents: Annotated[int, Meta(ge=0, le=10**15)] | None = None
    rounds: bool = False
    """Inputs of rounds too, where a person, a word or an amount is looked for."""


class ExportForm(msgspec.Struct, frozen=True):
    """A proof or a bundle that was requested of the worker."""

    id: int
    deed: str
    day: date | None
    asked_at: datetime
    asked_by: str
    state: str
    """`waits`, `running`, `holds`, `found` faults, or `gone`: its worker is."""
    reached: str
    lines: list[str]


class ExportAsked(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked for: a bundle of a day is an `export`."""

    deed: Literal["verify", "export", "keys"]
    day: date | None = None


class Log(FloorViewSet):
    """The log."""

    @operation(
        "search_log",
        "Search the log.",
        tag="Log",
        query=LogSearchQuery,
        answers=Page[EntryForm],
        may=("tables.watch_floor",),
        refuses=(422,),
        reads_replica=True,
    )
    def list(self, call: Call[LogSearchQuery, Any]) -> Response:
        """The newest first; by person, subject, kind, table, round, seat, time, words or amount. Pit bosses
        search the tables' books, operators and auditors the house's as well. A page may have fewer lines than
        requested, or none, while `next` leads on: a page searches a fixed number of entries."""
        query = call.query
        criteria = LogQuery(
            person=query.person,
            subject=query.subject,
            kind=query.kind,
            table=query.table,
            in_house=query.house,
            round=query.round,
            seat=query.seat,
            entry=query.entry,
            since=query.since,
            until=query.until,
            text=query.text,
            cents=query.cents,
            with_rounds=query.rounds,
        )
        before = PagePosition.read(self.paginator.place)
        hits = log_search.search(criteria, before=before, whole=call.by.has_perm(_WHOLE), count=query.limit)
        self.paginator.next_place = str(hits.older) if hits.older else None
        return self.get_paginated_response([entry_form(hit) for hit in hits.hits])


class Exports(FloorViewSet):
    """Proofs and bundles that the worker makes."""

    @operation(
        "list_exports",
        "Proofs and bundles.",
        tag="Log",
        query=PageQuery,
        answers=Page[ExportForm],
        may=(_WHOLE,),
        scope=EXPORTS,
    )
    def list(self, call: Call[PageQuery, Any]) -> Response:
        """Those that were asked for last come first."""
        runs = jobs.asked_for(self.paginator.place, call.query.limit + 1)
        rows = self.paginator.paginate(runs, lambda state: state.run.pk)
        return self.get_paginated_response([export_form(state) for state in rows])

    @operation(
        "start_export",
        "Ask for a proof or a bundle.",
        tag="Log",
        body=ExportAsked,
        answers=ExportForm,
        status=202,
        creates=lambda export: Address("export", {"number": export.id}),
        may=(_WHOLE,),
    )
    def start(self, call: Call[Any, ExportAsked]) -> ExportForm:
        """The worker does one at a time: while another is under way, that one is answered."""
        job = AuditJob.read(call.body.deed, call.body.day)
        if job is None:
            raise Refused("bad_input", "Day: an export is of a day, and the key is the whole house's.", 400)

        def act() -> ExportForm:
            return export_form(jobs.state_of(jobs.ask(job, call.by.signature)))

        return repeats.once(call, act, ExportForm)

    @operation("read_export", "One proof or bundle.", tag="Log", answers=ExportForm, may=(_WHOLE,), scope=EXPORTS)
    def retrieve(self, call: Call[Any, Any], number: int) -> ExportForm:
        """How far it is, and what it came to."""
        run = Run.objects.filter(pk=number, task__startswith=jobs.PREFIX).select_related("end").first()
        if run is None:
            raise Refused("not_found", "There is no such export.", 404)
        return export_form(jobs.state_of(run))


def entry_form(hit: Hit) -> EntryForm:
    """An entry of the log with its description."""
    return form_of(
        EntryForm,
        hit.entry,
        table=hit.table.pk if hit.table else None,
        at=hit.moment,
        says=hit.says,
        transfers=hit.entry.legs,
        hash=bytes(hit.entry.hash).hex(),
    )


def export_form(state: JobState) -> ExportForm:
    """The state of a job."""
    return ExportForm(
        id=state.run.pk,
        deed=state.errand.deed,
        day=state.errand.day,
        asked_at=state.run.begun_at,
        asked_by=state.account.by,
        state=state.name,
        reached=state.account.reached,
        lines=state.account.lines,
    )
