"""The reference page of the API, generated from its OpenAPI description."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any, Final

from tables.api import examples, schema
from tables.api.operations import OPERATIONS, Operation
from tables.api.versions import Version

MOST_SHOWN: Final = 6_000
"""Characters of an example; a longer one, such as a board, is cut."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an address, a query or a header, or a member of a body."""

    name: str
    place: str
    kind: str
    is_required: bool
    says: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One operation as the page shows it."""

    name: str
    method: str
    path: str
    says: str
    about: str
    scope: str
    parameters: tuple[Parameter, ...]
    sent: str
    """An example, as JSON; empty where nothing is sent."""
    status: str
    answer: str
    """An example; empty for a file."""
    kinds: str
    """The kinds of file that it answers; empty for JSON."""
    refusals: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """Operations that belong together."""

    title: str
    anchor: str
    operations: tuple[Shown, ...]


@cache
def chapters(version: Version) -> tuple[Chapter, ...]:
    """All operations of a version, by their tags; made once in each process."""
    described = schema.document(version)
    by_tag: dict[str, list[Shown]] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            shown = _shown(version, method, path, operation, described["components"]["schemas"])
            by_tag.setdefault(operation["tags"][0], []).append(shown)
    return tuple(Chapter(tag, tag.lower(), tuple(shown)) for tag, shown in sorted(by_tag.items()))


def _shown(version: Version, method: str, path: str, operation: Mapping[str, Any], forms: Mapping[str, Any]) -> Shown:
    declared = OPERATIONS[operation["operationId"]]
    return Shown(
        name=declared.name,
        method=method.upper(),
        path=path,
        says=declared.summary,
        about=declared.description,
        scope=declared.scope,
        parameters=(*map(_parameter, operation["parameters"]), *_members(declared, forms)),
        sent="" if declared.body is None else _spelled(examples.body(declared, version)),
        status=_status(str(declared.success(version)))
        + (", or 202 Accepted where it takes two people" * bool(declared.accepts)),
        answer="" if declared.answers is bytes else _spelled(examples.answer(declared, version)),
        kinds=" or ".join(declared.media_type) if declared.answers is bytes else "",
        refusals=tuple((code, _status(code)) for code in sorted(operation["responses"]) if code >= "4"),
    )


def _parameter(parameter: Mapping[str, Any]) -> Parameter:
    places = {"path": "address", "query": "query", "header": "header"}
    description = parameter.get("description", "")
    return Parameter(
        parameter["name"], places[parameter["in"]], _kind(parameter["schema"]), bool(parameter["required"]), description
    )


def _members(declared: Operation, forms: Mapping[str, Any]) -> list[Parameter]:
    """The members of the body that is sent."""
    form = forms[declared.body.__name__] if declared.body else {}
    required = form.get("required", ())
    return [
        Parameter(name, "body", _kind(member), name in required, member.get("description", ""))
        for name, member in form.get("properties", {}).items()
    ]


def _kind(form: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in form:
        return str(form["$ref"]).removeprefix("#/components/schemas/")
    if "enum" in form:
        return ", ".join(str(value) or "empty" for value in form["enum"])
    if choices := form.get("anyOf") or form.get("oneOf"):
        return " or ".join(dict.fromkeys(map(_kind, choices)))
    if parts := form.get("prefixItems"):
        return f"({', '.join(map(_kind, parts))})"
    if form.get("type") == "array":
        return f"list of {_kind(form.get('items') or {})}"
    return str(form.get("format") or form.get("type") or "any")


def _spelled(example: Any) -> str:
    text = json.dumps(example, indent=2, ensure_ascii=False)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN].rpartition(chr(10))[0]}\n…"


def _status(code: str) -> str:
    return f"{code} {HTTPStatus(int(code)).phrase}"
