"""The versions of the API: `/api/v1/`, and `/api/`, an alias that answers as before v1.

Views work with one set of forms. This module derives from them the forms that each version reads and writes, so that a
difference between versions is declared once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Final, Literal, Union, cast, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, UnsetType
from msgspec.structs import FieldInfo, StructConfig
from rest_framework.request import Request

Version = Literal["api", "v1"]
V1: Final[Version] = "v1"
UNVERSIONED: Final[Version] = "api"
"""The alias without a version in its address. Both names are URL namespaces (``casino/urls.py``)."""
ROOTS: Final[Mapping[Version, str]] = {V1: "/api/v1/", UNVERSIONED: "/api/"}

RENAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "AlertForm": {"at": "raised_at"},
    "CoverForm": {"until": "ends_at"},
    "CoverTaken": {"until": "ends_at"},
    "DayForm": {"start": "starts_at", "end": "ends_at"},
    "DisputeOpened": {"happened": "happened_at"},
    "DisputeWord": {"at": "written_at"},
    "EntryForm": {"at": "recorded_at"},
    "EntryLine": {"at": "recorded_at"},
    "Envelope": {"at": "recorded_at"},
    "FiguresPart": {"start": "starts_at", "end": "ends_at"},
    "OnDuty": {"since": "signed_in_at"},
    "Paper": {"happened": "happened_at"},
    "PlanForm": {"effective": "effective_at", "at": "set_at"},
    "PlanProposed": {"effective": "effective_at"},
    "PlanSet": {"effective": "effective_at"},
    "PostForm": {"effective": "effective_at"},
    "PostWanted": {"effective": "effective_at"},
    "ProposalForm": {"effective": "effective_at", "expires": "expires_at"},
    "RoundSummary": {"began": "began_at", "ended": "ended_at"},
    "SettingsProposed": {"effective": "effective_at"},
    "SlipStep": {"at": "signed_at"},
}
"""Members with another name in v1, by form: there, the name of each time ends in `_at`."""


class FieldError(msgspec.Struct, frozen=True):
    """What is wrong with one field."""

    pointer: str
    """JSON Pointer (RFC 6901) into the body; for a query, a slash and the name of the parameter."""
    detail: str


ADDED: Final[Mapping[str, Mapping[str, tuple[Any, Any]]]] = {
    "DisputeForm": {"id": (str, NODEFAULT)},
    "DisputeLine": {"id": (str, NODEFAULT)},
    "Problem": {"errors": (list[FieldError] | UnsetType, UNSET)},
    "SlipForm": {"id": (str, NODEFAULT)},
}
"""Members of v1 alone, by form: type and default. A property of the form has the value."""
ONLY_V1: Final[Mapping[str, frozenset[str]]] = {
    "RoundsQuery": frozenset({"since", "until"}),
    "SlipsQuery": frozenset({"since", "until"}),
}
"""Members that the unversioned alias does not have, by form."""


@cache
def wire_type(version: Version, form: Any) -> Any:
    """The form that a version reads or writes for a form of the views; the form itself if there is no difference."""
    origin, parts = get_origin(form), get_args(form)
    kind = origin or form
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _struct(version, form, kind.__struct_config__)
    own = tuple(wire_type(version, part) for part in parts)
    if own == parts:
        return form
    return Union[own] if origin in (UnionType, Union) else origin[own]  # noqa: UP007 -- of a tuple of types


def _struct(version: Version, form: Any, config: StructConfig) -> Any:
    name = "_".join([form.__name__, *(f"{part.__name__}_" for part in get_args(form))])  # as components are named
    renamed, added = (RENAMED.get(name, {}), ADDED.get(name, {})) if version == V1 else ({}, {})
    dropped = ONLY_V1.get(name, frozenset()) if version == UNVERSIONED else frozenset()
    fields = [field for field in msgspec.structs.fields(form) if field.name not in dropped]
    types = [wire_type(version, field.type) for field in fields]
    if not (renamed or added or dropped) and types == [field.type for field in fields]:
        return form
    members = [(name, kind, default) for name, (kind, default) in added.items()]
    members += [(field.name, kind, _default(field)) for field, kind in zip(fields, types, strict=True)]
    return msgspec.defstruct(
        name,
        [(member, kind) if default is NODEFAULT else (member, kind, default) for member, kind, default in members],
        namespace={"__doc__": form.__doc__},
        rename=dict(renamed),
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=config.forbid_unknown_fields,
        omit_defaults=config.omit_defaults,
    )


def _default(field: FieldInfo) -> Any:
    if field.default_factory is not NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return field.default


def to_wire(version: Version, form: Any, value: Any) -> Any:
    """An answer of a view, of ``form`` or its JSON data, in the form of a version."""
    wire = wire_type(version, form)
    if wire is form:
        return value
    if isinstance(value, Mapping):
        value = msgspec.convert(value, form)
    return msgspec.convert(value, wire, from_attributes=True)


def from_wire(form: Any, value: msgspec.Struct) -> Any:
    """The form of the views for data that were read in the form of a version."""
    return value if type(value) is form else msgspec.convert(value, form, from_attributes=True)


def of_request(request: Request) -> Version:
    """The version that a request is of."""
    return cast(Version, request.version)


def of_path(path: str) -> Version:
    """The version of an address of the API."""
    return V1 if path.startswith(ROOTS[V1]) else UNVERSIONED
