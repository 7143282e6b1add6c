"""Operations of the API: a decorator that declares the types which a view's method reads and answers.

The parser, the renderer and the OpenAPI description follow from the declaration.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import wraps
from hashlib import sha256
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from ledger import replica
from tables.api import versions
from tables.api.versions import V1, Version
from tables.audit.downloads import AS_OF
from tables.log import moments
from tables.models import ServiceAccount, Staff
from tables.refusals import Refused, unreadable

KEY_HEADER: Final = "Idempotency-Key"

Query = TypeVar("Query", bound=msgspec.Struct)
Body = TypeVar("Body", bound=msgspec.Struct)


class OperationQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of an operation: none, unless a subclass adds some."""


class Write(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of a write. A write that is repeated under its key is done once."""

    key: UUID | None = None
    """The idempotency key, unless the header ``Idempotency-Key`` has it."""


@dataclass(frozen=True, slots=True)
class Call(Generic[Query, Body]):
    """The request that an operation answers."""

    request: HttpRequest
    version: Version
    caller: Staff | ServiceAccount
    """An API client calls only operations that declare a scope."""
    query: Query
    body: Body
    key: UUID
    """The idempotency key of a write."""
    headers: dict[str, str]
    """Headers of the answer: those of the view."""

    @property
    def by(self) -> Staff:
        """The caller of an operation for people."""
        assert isinstance(self.caller, Staff)  # noqa: S101 -- an operation without a scope admits no API client
        return self.caller


@dataclass(frozen=True, slots=True)
class Address:
    """A URL of the API: the name of its route, its parameters, and its query."""

    route: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    def in_version(self, version: Version) -> str:
        """The path in a version."""
        return reverse(f"{version}:{self.route}", kwargs=dict(self.parameters), query=self.query or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The declaration of an operation."""

    name: str
    summary: str
    description: str
    tag: str
    answers: Any
    status: int = 200
    creates: Callable[[Any], Address] | None = None
    """The address of the created resource, from the answer: v1 answers 201 with ``Location``."""
    accepts: Any = None
    """The form of a proposal, which is answered with 202 and a ``Location`` if the change needs a second person."""
    query: type[msgspec.Struct] = OperationQuery
    body: type[msgspec.Struct] | None = None
    may: tuple[str, ...] = ()
    """The permissions of which a person needs one; empty if the method decides."""
    scope: str = ""
    """The scope that an API client needs (``tables/log/scopes.py``); empty for an operation of people only."""
    for_people: bool = True
    """True if a session is accepted; False if only a token is."""
    narrows: bool = False
    """True if an API client that is limited to tables gets an answer about these, although the address names none."""
    refuses: tuple[int, ...] = ()
    """Statuses of refusals that do not follow from the method, such as 409."""
    media_type: tuple[str, ...] = ("application/json",)
    reads_replica: bool = False
    """True if it may be read from the replica. The header ``AS_OF`` then has the time of the data."""
    path: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of its address, and their types."""

    def success(self, version: Version) -> int:
        """The status of its answer."""
        return 201 if version == V1 and self.creates and self.status == 200 else self.status

    def form(self, status: int) -> Any:
        """The form of an answer with this status."""
        return self.accepts if self.accepts and status == 202 else self.answers

    @property
    def of_all_tables(self) -> bool:
        """True if the answer is about all tables, also to an API client that is limited to some."""
        return "pk" not in self.path and not self.narrows

    @property
    def is_signed(self) -> bool:
        """True if the body contains a badge and a PIN, which only an enrolled terminal can send."""
        return self.body is not None and "pin" in self.body.__struct_fields__


OPERATIONS: Final[dict[str, Operation]] = {}
"""Every operation, by its name."""
DECLARED: Final[dict[Any, Operation]] = {}
"""Every operation, by the view's method that answers it."""


def operation(
    name: str,
    summary: str,
    *,
    tag: str,
    answers: Any,
    body: type[msgspec.Struct] | None = None,
    **facts: Any,
) -> Callable[[Callable[..., Any]], Callable[..., HttpResponseBase]]:
    """Declare a method of a viewset as an operation. Its parameters are a ``Call`` and those of the address; it returns
    the form to answer, or a response."""

    def declare(method: Callable[..., Any]) -> Callable[..., HttpResponseBase]:
        _, _, *parameters = inspect.signature(method, eval_str=True).parameters.values()
        declared = Operation(
            name=name,
            summary=summary,
            description=inspect.getdoc(method) or "",
            tag=tag,
            answers=answers,
            body=body,
            path={parameter.name: parameter.annotation for parameter in parameters},
            **facts,
        )
        OPERATIONS[name] = declared

        @wraps(method)
        def handler(view: Any, request: Request, **path: Any) -> HttpResponseBase:
            call = view.call = _call(declared, view, request)
            path = _parts(path)
            with replica.reading() if declared.reads_replica else nullcontext() as as_of:
                response = _response(declared, call, method(view, call, **path))
            if as_of is not None:
                response[AS_OF] = as_of.moment.isoformat(timespec="milliseconds")
            return response

        DECLARED[handler] = declared
        return handler

    return declare


def _parts(path: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an address. An id that consists of several is read as a mapping of them (``urls.SlipId``)."""
    parts: dict[str, Any] = {}
    for name, value in path.items():
        parts |= value if isinstance(value, Mapping) else {name: value}
    return parts


# --- Reading ---------------------------------------------------------------------------------------------------


def _call(declared: Operation, view: Any, request: Request) -> Call[Any, Any]:
    version, caller = versions.of_request(request), request.user
    assert isinstance(caller, Staff | ServiceAccount)  # noqa: S101 -- the permission classes admit nobody else
    query = versions.from_wire(declared.query, _query(versions.wire_type(version, declared.query), request))
    body, key = (request.data, _key(request)) if declared.body else (None, UUID(int=0))
    return Call(request._request, version, caller, query, body, key, view.headers)


def _query(form: type[msgspec.Struct], request: Request) -> msgspec.Struct:
    parameters = request.query_params.dict()
    if any("\x00" in text for text in parameters.values()):
        raise Refused("bad_input", "The query holds a character that no text of the house has.", 400)
    try:
        query = msgspec.convert(parameters, form, strict=False)
    except msgspec.ValidationError as error:
        raise unreadable(error, "query") from None
    moments.refuse(query)
    return query


def _key(request: Request) -> UUID:
    """The key of a write, from its header or its body. Raises Refused."""
    header, key_of_body = request.headers.get(KEY_HEADER), getattr(request.data, "key", None)
    try:
        key = UUID(header) if header is not None else key_of_body
    except ValueError:
        raise Refused("bad_input", f"{KEY_HEADER}: expected a UUID.", 400) from None
    if key is None:
        sentence = f"A write has a key: send a UUID as {KEY_HEADER}, or as key in the body."
        raise Refused("bad_input", f"Key: {sentence[:1].lower()}{sentence[1:]}", 400).in_field("/key", sentence)
    if key_of_body is not None and key_of_body != key:
        raise Refused("bad_input", f"Key: {KEY_HEADER} and the body name two keys; send one.", 400)
    return UUID(str(key))


# --- Answering -------------------------------------------------------------------------------------------------


def _response(declared: Operation, call: Call[Any, Any], outcome: Any) -> HttpResponseBase:
    if isinstance(outcome, HttpResponseBase):
        return outcome
    response = Response(outcome, status=declared.success(call.version))
    if call.version == V1 and declared.creates:
        response["Location"] = declared.creates(outcome).in_version(V1)
    return response


def conditional(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The answer with its ETag, or 304 to a client that has this answer."""
    tag = f'"{sha256(response.content).hexdigest()[:32]}"'
    if tag in request.headers.get("If-None-Match", ""):
        headers = {name: value for name, value in response.items() if name != "Content-Type"}
        response = HttpResponse(status=304, headers=headers)
    response["ETag"] = tag
    return response
