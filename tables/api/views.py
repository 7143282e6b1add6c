"""The API's views: who may ask, and whom to ask. What is read and answered is in forms.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ledger.models import Book
from ledger.proof.chain import Head
from tables import dealing, standing
from tables.api import errors, forms, schema
from tables.audit import history
from tables.board import picture
from tables.log.fold import Standing
from tables.models import Staff, Table
from tables.play import doors
from tables.refusals import Refused
from tables.staff import terminals


class SignedIn(SessionAuthentication):
    """The session of the screens, with its CSRF token."""

    def authenticate_header(self, request: Request) -> str:
        """So that nobody signed in is a 401 and not a 403."""
        return "Session"

    def enforce_csrf(self, request: Request) -> None:
        """The refusal has a code of its own, for the client can do something about it."""
        try:
            # The plain request looks for a token in forms alone, and parses no other body before it is found.
            super().enforce_csrf(_django_request(request))  # type: ignore[arg-type]
        except errors.exceptions.PermissionDenied as denied:
            raise Refused("csrf_failed", f"{denied.detail}", 403) from None


class IsStaff(BasePermission):
    """Somebody who works here."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether anybody is signed in."""
        return isinstance(request.user, Staff) and request.user.is_active


class FloorView(APIView):
    """What every view here has in common."""

    authentication_classes = (SignedIn,)
    permission_classes = (IsStaff,)
    parser_classes = ()  # bodies are read by forms.read alone, once it is known who asks
    metadata_class = None

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        """One form for every refusal."""
        return errors.answer


def _answers(status: int, form: dict[str, Any]) -> dict[Any, Any]:
    return {status: form, "4XX": schema.ref(forms.Problem), 503: schema.ref(forms.Problem)}


class Tables(FloorView):
    """The tables that the caller may see: all of them, or the one that a dealer deals at."""

    @extend_schema(
        operation_id="list_tables", responses=_answers(200, {"type": "array", "items": schema.ref(forms.TableLine)})
    )
    def get(self, request: Request) -> Response:
        """List them."""
        tables = _visible_tables(_staff(request))
        standings = standing.at_all([_head(table.book) for table in tables])
        return Response([msgspec.to_builtins(forms.table_line(table, standings[table.book_id])) for table in tables])


class OneTable(FloorView):
    """One table as its screen shows it."""

    @extend_schema(operation_id="read_board", responses=_answers(200, schema.ref(picture.Board)))
    def get(self, request: Request, pk: int) -> Response:
        """Its board."""
        staff = _staff(request)
        table, state = _reach(staff, pk)
        return Response(forms.board_form(picture.board(table, staff, state)))


class Inputs(FloorView):
    """What is entered at a table."""

    @extend_schema(
        operation_id="enter",
        request={"application/json": schema.ref(forms.Entered)},
        responses=_answers(200, schema.ref(forms.Acknowledged)),
    )
    def post(self, request: Request, pk: int) -> Response:
        """Make one input durable. Sent again with its key, it is answered again and not recorded again."""
        staff = _staff(request)
        if not (staff.has_perm("tables.deal") or staff.has_perm("tables.run_floor")):
            raise Refused("not_permitted", "Only a dealer or a pit boss enters anything at a table.", 403)
        entered, input_ = forms.read(_django_request(request))
        table = _table(staff, pk)
        if staff.has_perm("tables.deal"):
            terminals.for_dealing(_django_request(request), table)
        answer = dealing.record(table, input_, by=staff, key=entered.key, expected_seq=entered.expected_seq)
        return Response(msgspec.to_builtins(forms.Acknowledged(answer.entry, answer.seq, answer.again)))


class OneRound(FloorView):
    """A round that was dealt, or is being dealt."""

    @extend_schema(operation_id="read_round", responses=_answers(200, schema.ref(forms.RoundForm)))
    def get(self, request: Request, pk: int, number: int) -> Response:
        """As a record that anyone can replay."""
        table, state = _reach(_staff(request), pk)
        story = history.story(table, number) if number <= (state.round.number if state.round else 0) else None
        if story is None:
            raise Refused("no_such_round", f"There is no round {number} at {table.name}.", 404)
        return Response(msgspec.to_builtins(forms.round_form(table, story)))


class Nowhere(FloorView):
    """Every other address under the API's."""

    @extend_schema(exclude=True)
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Whatever the method."""
        return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse, once it is known who asks."""
        super().initial(request, *args, **kwargs)
        raise Refused("not_found", "There is nothing at this address.", 404)


class Watches(IsStaff):
    """Somebody who may see the whole floor."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Not a dealer."""
        return super().has_permission(request, view) and bool(request.user.has_perm("tables.watch_floor"))


class Schema(FloorView, SpectacularAPIView):
    """The OpenAPI description."""

    renderer_classes = [JSONRenderer]
    permission_classes = (Watches,)
    custom_settings = {"APPEND_COMPONENTS": schema.components(), "POSTPROCESSING_HOOKS": []}


# --- who sees which table --------------------------------------------------------------------------------------


def _staff(request: Request) -> Staff:
    assert isinstance(request.user, Staff)  # noqa: S101 -- the permission classes saw to it
    return request.user


def _visible_tables(staff: Staff) -> list[Table]:
    tables = Table.objects.filter(retired_at=None).select_related("book")
    if staff.has_perm("tables.watch_floor"):
        return list(tables)
    own = doors.table_of(staff) if staff.has_perm("tables.deal") else None
    return list(tables.filter(pk=own.pk)) if own else []


def _head(book: Book) -> Head:
    return Head(book.pk, book.name, book.head_seq, bytes(book.head_hash) if book.head_hash else None)


def _table(staff: Staff, pk: int) -> Table:
    """A table by its number; somebody who may not see the floor is not told which ones there are."""
    table = Table.objects.filter(pk=pk).first()
    if table is not None:
        return table
    if staff.has_perm("tables.watch_floor"):
        raise Refused("no_such_table", f"There is no table {pk}.", 404)
    raise _other_table()


def _reach(staff: Staff, pk: int) -> tuple[Table, Standing]:
    """A table that this member of staff may see, as it stands."""
    table = _table(staff, pk)
    state = standing.of(table)
    deals_here = state.dealer is not None and state.dealer.username == staff.username and staff.has_perm("tables.deal")
    if not (deals_here or staff.has_perm("tables.watch_floor")):
        raise _other_table()
    return table, state


def _other_table() -> Refused:
    return Refused("not_your_table", "You are not signed in at this table.", 403)


def _django_request(request: Request) -> HttpRequest:
    plain: HttpRequest = request._request
    return plain
