"""Files over the API: a table's rounds and its log as lists, and the bundle of a sealed day."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final, Literal

from django.http import HttpResponseBase
from django.utils.text import slugify
from msgspec import Meta

from tables.api.operations import Call, OperationQuery, operation
from tables.api.views import FloorViewSet, IgnoreClientContentNegotiation, reach
from tables.audit import downloads, jobs
from tables.audit.downloads import LOG, ROUNDS, TableQuery
from tables.log.scopes import EXPORTS
from tables.refusals import Refused
from tables.reports.log_search import SUBJECTS

_LIST: Final = (downloads.CSV, downloads.XLSX)


class FileQuery(OperationQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of a file."""

    form: Literal["csv", "xlsx"] = "csv"


class LogFileQuery(FileQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the log as a file; without a subject, entries of all subjects."""

    subject: Annotated[str, Meta(max_length=40)] = ""


class Files(FloorViewSet):
    """Downloads. A file has one media type, whatever is accepted."""

    content_negotiation_class = IgnoreClientContentNegotiation

    @operation(
        "download_rounds",
        "The rounds of a table as CSV or as a workbook.",
        tag="Files",
        query=FileQuery,
        answers=bytes,
        media_type=_LIST,
        may=ROUNDS.permission,
        scope=EXPORTS,
        reads_replica=True,
    )
    def rounds(self, call: Call[FileQuery, Any], pk: int) -> HttpResponseBase:
        """From the newest down to the first. For those who may take lists out of the house; two files at a time.
        A CSV file begins with a byte order mark."""
        table, state = reach(call.caller, pk)
        query = TableQuery(table, slugify(table.name), state.round.number if state.round else 0)
        return downloads.answer(call.caller, *ROUNDS.file(query), as_book=call.query.form == "xlsx")

    @operation(
        "download_log",
        "The log of a table as CSV or as a workbook.",
        tag="Files",
        query=LogFileQuery,
        answers=bytes,
        media_type=_LIST,
        may=LOG.permission,
        scope=EXPORTS,
        reads_replica=True,
    )
    def log(self, call: Call[LogFileQuery, Any], pk: int) -> HttpResponseBase:
        """The newest entry first, with the bytes that its hash is made of. What a game still hides is in none.
        A CSV file begins with a byte order mark."""
        subject = call.query.subject
        if subject and subject not in SUBJECTS:
            raise Refused("bad_input", f"Subject: one of {', '.join(SUBJECTS)}.", 400)
        table, _ = reach(call.caller, pk)
        query = TableQuery(table, slugify(table.name), subject=subject)
        return downloads.answer(call.caller, *LOG.file(query), as_book=call.query.form == "xlsx")

    @operation(
        "download_bundle",
        "The bundle of a sealed day.",
        tag="Files",
        answers=bytes,
        media_type=(downloads.ZIP,),
        may=("ledger.view_logentry",),
        scope=EXPORTS,
        refuses=(422,),
    )
    def bundle(self, call: Call[Any, Any], day: date) -> HttpResponseBase:
        """Made by the worker (`start_export`), and kept for 31 days' bundles. Who takes it is noted."""
        downloads.refuse_role(call.caller)
        path = jobs.note_taking(day, call.caller.signature)
        return downloads.file(call.caller, path, downloads.ZIP)
