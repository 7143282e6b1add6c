"""The base views of the API, and the views of tables, problems and the description."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import msgspec
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import TemplateHTMLRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from tables.api import acknowledgement, forms, problems, reference, schema
from tables.api.access import (
    IsStaffOrApiClient,
    NoActionRequired,
    OperationPermission,
    WatchesFloor,
    django_request,
    refuse_other_table,
)
from tables.api.forms import Acknowledged, Entered, RoundForm, TableLine
from tables.api.operations import DECLARED, Call, Operation, conditional, operation
from tables.api.pagination import LIST_NAMES, Page, PageQuery, SignedCursorPagination
from tables.api.versions import of_request
from tables.audit import round_steps
from tables.board import table_view
from tables.board.table_view import Board
from tables.floor import inputs, recorder, table_opening
from tables.log.state import TableState
from tables.models import ServiceAccount, Staff, Table
from tables.refusals import Refused
from tables.staff import terminals
from tables.state import table_state


class IgnoreClientContentNegotiation(DefaultContentNegotiation):
    """For pages and files, which have one media type."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """The first renderer, whatever the client accepts."""
        return renderers[0], renderers[0].media_type


class FloorView(APIView):
    """Base of the API's views."""

    def check_permissions(self, request: Request) -> None:
        """Count the request first: a refused request uses up its caller's limit, too."""
        super().check_throttles(request)
        super().check_permissions(request)

    def check_throttles(self, request: Request) -> None:
        """Nothing more: ``check_permissions`` has counted the request."""


class FloorViewSet(FloorView, GenericViewSet[Any]):
    """Operations on one kind of resource; ``urls.py`` binds each to a method and an address."""

    permission_classes = (IsStaffOrApiClient, NoActionRequired, OperationPermission)
    call: Call[Any, Any]

    @cached_property
    def paginator(self) -> SignedCursorPagination:
        """The paginator of the request."""
        assert self.operation is not None  # noqa: S101 -- an operation asks for it
        name = LIST_NAMES.get(self.operation.name, self.operation.name)
        return SignedCursorPagination(" ".join([name, *map(str, self.kwargs.values())]), self.call.query)

    @property
    def operation(self) -> Operation | None:
        """The operation of the request; None for a method that is not allowed."""
        return DECLARED.get(getattr(type(self), self.action or "", None))

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """The request with its body, which DRF takes for empty if it is sent in chunks, without a Content-Length."""
        wrapped = super().initialize_request(request, *args, **kwargs)
        wrapped._stream = request  # type: ignore[assignment]  # as DRF does
        return wrapped

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """The response, which gets an ETag once it is rendered."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if isinstance(response, Response) and request.method == "GET":
            response.add_post_render_callback(partial(conditional, django_request(request)))
        return response


class TablesQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the list of tables."""

    retired: bool = False
    """Those that are retired too."""


class Tables(FloorViewSet):
    """Tables: those that the caller may see, the board of one, and its inputs."""

    @operation(
        "list_tables",
        "The tables that the caller may see.",
        tag="Tables",
        query=TablesQuery,
        answers=Page[TableLine],
        scope="read:board",
        narrows=True,
    )
    def list(self, call: Call[TablesQuery, Any]) -> Response:
        """In the order in which they were set up. A dealer sees only the table that they deal at."""
        tables = _visible_tables(call.caller, retired=call.query.retired)
        rows = self.paginator.paginate_queryset(tables.order_by("pk"))
        states = table_state.at_all([table_state.head_of(table) for table in rows])
        return self.get_paginated_response([forms.table_line(table, states[table.book_id]) for table in rows])

    @operation("read_board", "The board of a table.", tag="Tables", answers=Board, scope="read:board")
    def retrieve(self, call: Call[Any, Any], pk: int) -> dict[str, Any]:
        """Sequence number, what is due, the open prompts, the seats, the shoe, the limits. Nothing of what the shoe
        still holds."""
        table, state = reach(call.caller, pk)
        if acknowledgement.heed(call, table):
            table, state = reach(call.caller, pk)
        acknowledgement.keep(call, table, state)
        return forms.board_form(table_view.board(table, call.caller, state))

    @operation(
        "enter",
        "Enter one input.",
        tag="Tables",
        body=Entered,
        answers=Acknowledged,
        may=("tables.deal", "tables.run_floor"),
    )
    def enter(self, call: Call[Any, Entered], pk: int) -> Acknowledged:
        """Make one input durable. What was entered on an older state than `expected_seq` says is refused with the
        current `seq`."""
        staff = call.by
        input_ = inputs.read(bytes(call.body.input))
        table = table_of(staff, pk)
        if staff.has_perm("tables.deal"):
            terminals.for_dealing(call.request, table)
        receipt = acknowledgement.receipt_of(call, table)
        answer = recorder.record(
            table, input_, by=staff, key=call.key, expected_seq=call.body.expected_seq, receipt=receipt
        )
        if answer.after is not None:
            acknowledgement.keep(call, table, answer.after.state)
        return Acknowledged(answer.entry, answer.seq, answer.again)


class OneRound(FloorViewSet):
    """A round that was dealt, or is being dealt."""

    @operation(
        "read_round",
        "One round, as a record that anyone can replay.",
        tag="Rounds",
        answers=RoundForm,
        refuses=(409,),
        scope="read:rounds",
    )
    def retrieve(self, call: Call[Any, Any], pk: int, number: int) -> RoundForm:
        """A `round-record/1` document, and the stretch of the table's log that proves it. The record of a game with
        facedown cards opens when it is over."""
        table, state = reach(call.caller, pk)
        story = round_steps.story(table, number) if number <= (state.round.number if state.round else 0) else None
        if story is None:
            raise Refused("no_such_round", f"There is no round {number} at {table.name}.", 404)
        return forms.round_form(table, story)


class OneProblem(FloorView):
    """The public page that explains the code of a refusal."""

    authentication_classes = ()
    permission_classes = ()
    content_negotiation_class = IgnoreClientContentNegotiation
    renderer_classes = (TemplateHTMLRenderer,)
    template_name = "tables/api/problem.html"

    @extend_schema(exclude=True)
    def get(self, request: Request, code: str) -> Response:
        """HTML."""
        statuses = problems.statuses().get(code)
        if statuses is None:
            raise Refused("not_found", "No refusal has this code.", 404)
        advice = [(status, problems.ADVICE.get(status, "")) for status in statuses]
        return Response({"code": code, "title": problems.title(code), "advice": advice})


class Nowhere(FloorView):
    """All other addresses below that of the API."""

    @extend_schema(exclude=True)
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """The answer to any method."""
        return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises Refused, after the permission check."""
        super().initial(request, *args, **kwargs)
        raise Refused("not_found", "There is nothing at this address.", 404)


class Reference(FloorView):
    """The description of the API as a page."""

    permission_classes = (IsStaffOrApiClient, NoActionRequired, WatchesFloor)
    content_negotiation_class = IgnoreClientContentNegotiation
    renderer_classes = (TemplateHTMLRenderer,)
    template_name = "tables/api/reference.html"

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        """HTML, with an example of each operation."""
        version = of_request(request)
        return Response({"chapters": reference.chapters(version), "version": schema.VERSIONS[version]})


class Schema(FloorView):
    """The OpenAPI description."""

    permission_classes = (IsStaffOrApiClient, NoActionRequired, WatchesFloor)

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """As JSON."""
        return HttpResponse(msgspec.json.encode(schema.document(of_request(request))), content_type="application/json")


# --- who sees which table --------------------------------------------------------------------------------------


def _visible_tables(caller: Staff | ServiceAccount, *, retired: bool) -> QuerySet[Table]:
    tables = Table.objects.select_related("book")
    if not retired:
        tables = tables.filter(retired_at=None)
    if isinstance(caller, ServiceAccount):
        return tables.filter(name__in=caller.tables) if caller.tables else tables
    if caller.has_perm("tables.watch_floor"):
        return tables
    own = table_opening.table_of(caller) if caller.has_perm("tables.deal") else None
    return tables.filter(pk=own.pk) if own else tables.none()


def table_of(caller: Staff | ServiceAccount, pk: int) -> Table:
    """A table by its id; for an API client, one of its own. Raises Refused, which does not reveal to a caller that may
    not see the floor which tables there are."""
    table = Table.objects.filter(pk=pk).first()
    if table is None and caller.has_perm("tables.watch_floor"):
        raise Refused("no_such_table", f"There is no table {pk}.", 404)
    if table is None:
        raise _other_table()
    if isinstance(caller, ServiceAccount):
        refuse_other_table(caller, table)
    return table


def reach(caller: Staff | ServiceAccount, pk: int) -> tuple[Table, TableState]:
    """A table that the caller may see, and its state. Raises Refused."""
    table = table_of(caller, pk)
    state = table_state.of(table)
    if isinstance(caller, ServiceAccount) or caller.has_perm("tables.watch_floor"):
        return table, state
    if state.dealer is None or state.dealer.username != caller.username or not caller.has_perm("tables.deal"):
        raise _other_table()
    return table, state


def _other_table() -> Refused:
    return Refused("not_your_table", "You are not signed in at this table.", 403)
