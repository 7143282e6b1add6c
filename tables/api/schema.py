"""The API described as OpenAPI 3.1: each form by the type that reads or writes it, each operation as declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from http import HTTPStatus
from typing import Any, Final

import msgspec
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry
from uritemplate import variables

from tables.api import examples, problems, versions, webhooks
from tables.api.operations import KEY_HEADER, OPERATIONS, Operation
from tables.api.pagination import SpanQuery
from tables.api.problems import Problem
from tables.api.versions import ROOTS, UNVERSIONED, V1, Version
from tables.audit.downloads import AS_OF
from tables.floor.inputs import Sent
from tables.log.publication import FORMS as EVENTS
from tables.models import Table

_REF: Final = "#/components/schemas/{name}"
VERSIONS: Final[Mapping[Version, str]] = {UNVERSIONED: "1.0.0", V1: "1.1.0"}
SITE: Final = "https://tables.example"
"""A site in examples."""
SERVERS: Final = [
    {"url": "/", "description": "The site that serves this description."},
    {"url": "https://{host}", "description": "A site.", "variables": {"host": {"default": "tables.example"}}},
]
SECURITY_SCHEMES: Final[dict[str, dict[str, str]]] = {
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "The session of the screens. Writes send its CSRF token too, as the header X-CSRFToken.",
    },
    "terminal": {
        "type": "apiKey",
        "in": "cookie",
        "name": "terminal",
        "description": "The cookie of an enrolled terminal; over TLS its name is `__Host-terminal`.",
    },
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token of an API client: casino_... It needs the scope that the operation lists.",
    },
}
ABOUT: Final = """API clients read with a token, and act as card readers. Every other write is for people, \
by the same rules, permissions and log as on the screens. Each operation lists what it takes: a session, an enrolled \
terminal, or a token with a scope.

**Version.** {version} Within it members may be added to answers, optional members to bodies, operations, \
codes of problems, and values to lists that are not said to be closed. Nothing is taken away, renamed or given \
another meaning; what would have to be gets an address of its own, and the old one stays for a year. Programs pass \
over members that they do not know.

**Lists** come in pages. `next` is the cursor of the page after; it names a place in the log's order, so nothing is \
repeated or left out because something was written meanwhile.

**Writes** have a key, a UUID: `Idempotency-Key`, or `key` in the body. The same key with the same body is answered as \
before and not done again; with another body it is refused (`key_reused`).

**Problems** are RFC 9457: `application/problem+json`, whose `type` leads to a page about its `code`.

**How often.** A person may ask 600 times a minute unless the house sets another number (`API_REQUESTS_A_MINUTE`), a \
program as often as the house's terms say (`program_requests_a_minute`); dealers are not counted. Beyond that the \
answer is 429, `throttled`, with `Retry-After`.

**Money** is whole cents of the house's currency."""
ABOUT_VERSION: Final[Mapping[Version, str]] = {
    UNVERSIONED: "`/api/` is version 1.",
    V1: "This is `/api/v1/`. `/api/` is an alias for clients that are older, and answers as it did before.",
}
_ALWAYS: Final = (401, 403, 406, 429, 500, 503)
_OF_WRITES: Final = (400, 409, 413, 415, 422)


def _security(declared: Operation) -> list[dict[str, list[str]]]:
    """The alternatives that ``access.OperationPermission`` accepts. The role of a token is its scope."""
    ways: list[dict[str, list[str]]] = []
    if declared.for_people:
        ways.append({"session": [], "terminal": []} if declared.is_signed else {"session": []})
    if declared.scope:
        ways.append({"token": [declared.scope]})
    return ways


def _access_words(declared: Operation) -> str:
    if not declared.scope:
        return "People only: the token of an API client is refused (`not_for_programs`)."
    sentence = f"An API client needs the scope `{declared.scope}`."
    return sentence if declared.for_people else f"{sentence} A session is refused."


def _refusals(declared: Operation, version: Version) -> list[int]:
    statuses = {*_ALWAYS, *declared.refuses}
    if declared.body is not None:
        statuses |= set(_OF_WRITES)
    if declared.path:
        statuses |= {400, 404}
    if declared.query.__struct_fields__:
        statuses.add(400)
    if version == V1 and issubclass(declared.query, SpanQuery):
        statuses.add(422)  # a moment outside the supported years
    return sorted(statuses)


def _success(declared: Operation, version: Version) -> dict[str, Any]:
    is_file = declared.answers is bytes
    schema = {"type": "string", "format": "binary"} if is_file else _schema(declared.answers, version)
    content: dict[str, Any] = {"schema": schema}
    if not is_file:
        content["example"] = examples.answer(declared, version)
    success = {
        "description": HTTPStatus(declared.success(version)).phrase,
        "content": dict.fromkeys(declared.media_type, content),
    }
    headers = {AS_OF: _AGE} if declared.reads_replica else {}
    if version == V1 and declared.creates:
        headers = headers | {"Location": _LOCATION | {"description": "The URL of what was created."}}
    return success | ({"headers": headers} if headers else {})


_AGE: Final[dict[str, Any]] = {
    "required": False,
    "schema": {"type": "string", "format": "date-time"},
    "description": "Of when the answer is, where the house reads a replica for it.",
}
_LOCATION: Final[dict[str, Any]] = {"required": True, "schema": {"type": "string"}}


def _acceptance(declared: Operation, version: Version) -> dict[str, Any]:
    description = "It takes two people, and is proposed: `Location` is where the proposal is looked at."
    headers = {"Location": _LOCATION | {"description": "Of the proposal."}}
    content = {"application/json": {"schema": _schema(declared.accepts, version)}}
    return {"description": description, "headers": headers, "content": content}


def _parameters(declared: Operation, path: str, version: Version) -> Iterable[dict[str, Any]]:
    for name in variables(path):
        # OpenAPI's generator calls the row of an address so.
        kind = declared.path.get("pk" if name == "id" else name)
        yield {"name": name, "in": "path", "required": True, "schema": _OF_PATHS[kind or name]}
    query = versions.wire_type(version, declared.query)
    _, components = msgspec.json.schema_components([query], ref_template=_REF)
    form = components[query.__name__]
    for name, schema in form["properties"].items():
        about = {"description": schema.pop("description")} if "description" in schema else {}
        yield {"name": name, "in": "query", "required": name in form["required"], "schema": schema, **about}
    if declared.body is not None:
        description = "The key of this write, unless the body has one."
        schema = {"type": "string", "format": "uuid"}
        yield {"name": KEY_HEADER, "in": "header", "required": False, "schema": schema, "description": description}


_OF_PATHS: Final[Mapping[Any, dict[str, Any]]] = {
    int: {"type": "integer", "minimum": 0},
    str: {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"},
    date: {"type": "string", "format": "date"},
    "slip": {"type": "string", "pattern": "^[a-z]{1,16}-[1-9][0-9]{3}-[1-9][0-9]{0,8}$"},
    "dispute": {"type": "string", "pattern": "^[0-9]+-[0-9]+$"},
}


def _schema(form: Any, version: Version) -> dict[str, Any]:
    form = versions.wire_type(version, form)
    (schema,), _ = msgspec.json.schema_components([form], schema_hook=_table, ref_template=_REF)
    return schema


# --- The whole -------------------------------------------------------------------------------------------------


def finish(result: dict[str, Any], generator: SchemaGenerator, **_: Any) -> dict[str, Any]:
    """A postprocessing hook of drf-spectacular: adds the components, which it builds for serializers alone."""
    version: Version = generator.api_version
    result["components"] = {
        "schemas": components(version),
        "responses": {f"Refused{status}": _refusal(status, version) for status in problems.ADVICE},
        "securitySchemes": SECURITY_SCHEMES,
    }
    result["info"] |= {"version": VERSIONS[version], "description": ABOUT.format(version=ABOUT_VERSION[version])}
    return result if version == UNVERSIONED else result | {"servers": SERVERS, "webhooks": webhooks.described()}


def components(version: Version) -> dict[str, Any]:
    """The schema of every form that a version of the API reads or writes."""
    forms = [form for declared in OPERATIONS.values() for form in (declared.answers, declared.accepts, declared.body)]
    types = [*(form for form in forms if form not in (None, bytes)), Problem, *EVENTS.values(), Sent]
    if version == V1:
        types = [*webhooks.FORMS, *types]
    types = [versions.wire_type(version, form) for form in types]
    (*_, entered), schemas = msgspec.json.schema_components(types, schema_hook=_table, ref_template=_REF)
    schemas["Entered"]["properties"]["input"] = entered
    for hidden in ("gone", "decks"):
        del schemas["AskCard"]["properties"][hidden]
        schemas["AskCard"]["required"].remove(hidden)
    _simplify_tuples(schemas)
    properties = schemas["Envelope"]["properties"]
    properties["type"]["enum"] = sorted(EVENTS)
    properties["data"] = {"anyOf": [{"$ref": _REF.format(name=EVENTS[type_].__name__)} for type_ in sorted(EVENTS)]}
    if version == V1:
        for schema in schemas.values():
            _add_time_formats(schema)
    return schemas


def _add_time_formats(form: dict[str, Any]) -> None:
    """Add the format of times in answers, which msgspec writes for request bodies only."""
    for name, member in form.get("properties", {}).items():
        for schema in member.get("anyOf", [member]):
            if name.endswith("_at") and schema.get("type") == "string" and "maxLength" not in schema:
                schema["format"] = "date-time"


def _simplify_tuples(schema: Any) -> None:
    """Describe a tuple of equal parts by ``items``, because some generators do not read ``prefixItems``."""
    if isinstance(schema, list):
        for part in schema:
            _simplify_tuples(part)
    elif isinstance(schema, dict):
        parts = schema.get("prefixItems", ())
        if parts and all(part == parts[0] for part in parts):
            schema["items"] = schema.pop("prefixItems")[0]
        for part in schema.values():
            _simplify_tuples(part)


def _ref_of_refusal(status: int) -> dict[str, Any]:
    return {"$ref": f"#/components/responses/Refused{status}"}


def _refusal(status: int, version: Version) -> dict[str, Any]:
    code = next((code for code, statuses in problems.statuses().items() if status in statuses), "bad_request")
    example = {
        "type": f"{SITE if version == V1 else ''}{ROOTS[version]}problems/{code}/",
        "title": problems.title(code),
        "status": status,
        "detail": problems.ADVICE[status],
        "instance": f"{ROOTS[version]}tables/1/",
        "code": code,
    }
    content = {"schema": {"$ref": _REF.format(name="Problem")}, "example": example}
    response = {"description": problems.ADVICE[status], "content": {problems.CONTENT_TYPE: content}}
    return response | ({"headers": _RATE_LIMIT} if status == 429 and version == V1 else {})


_RATE_LIMIT: Final = {
    "Retry-After": {"required": True, "schema": {"type": "integer"}, "description": "Seconds to wait."},
    "RateLimit-Policy": {
        "required": False,
        "schema": {"type": "string"},
        "description": 'The limit, as `"requests";q=600;w=60`: requests (q) in seconds (w).',
    },
    "RateLimit": {
        "required": False,
        "schema": {"type": "string"},
        "description": 'What is left of it, as `"requests";r=0;t=42`: requests (r), for seconds (t).',
    },
}


@cache
def document(version: Version = UNVERSIONED) -> dict[str, Any]:
    """The description of a version, made once in each process."""
    whole: dict[str, Any] = SchemaGenerator(api_version=version).get_schema(request=None, public=True)
    return whole


class DeclaredSchema(AutoSchema):
    """Hooks of drf-spectacular that describe an operation by its declaration."""

    @property
    def declared(self) -> Operation:
        """The operation of the view's method."""
        declared: Operation = self.view.operation  # type: ignore[attr-defined]  # described views are a FloorViewSet
        return declared

    @property
    def version(self) -> Version:
        """The version of the address."""
        return versions.of_path(self.path)

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: ComponentRegistry
    ) -> dict[str, Any] | None:
        """The operation, with a list of parameters even where it is empty; None for what the description leaves out."""
        operation = super().get_operation(path, path_regex, path_prefix, method, registry)
        return None if operation is None else {"parameters": [], **operation}

    def get_operation_id(self) -> str:
        return self.declared.name

    def get_summary(self) -> str:
        return self.declared.summary

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular calls it
        return f"{self.declared.description}\n\n{_access_words(self.declared)}"

    def get_tags(self) -> list[str]:
        return [self.declared.tag]

    def get_auth(self) -> list[dict[str, list[str]]]:
        return _security(self.declared)

    def _get_parameters(self) -> list[dict[str, Any]]:
        return list(_parameters(self.declared, self.path, self.version))

    def _get_request_body(self, direction: str = "request") -> dict[str, Any] | None:
        declared, version = self.declared, self.version
        if declared.body is None:
            return None
        content = {"schema": _schema(declared.body, version), "example": examples.body(declared, version)}
        return {"required": True, "content": {"application/json": content}}

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        declared, version = self.declared, self.version
        responses: dict[str, Any] = {str(declared.success(version)): _success(declared, version)}
        if declared.accepts is not None:
            responses["202"] = _acceptance(declared, version)
        return responses | {str(status): _ref_of_refusal(status) for status in _refusals(declared, version)}


def _table(kind: type) -> dict[str, Any]:
    if kind is not Table:
        raise NotImplementedError(kind)
    text, number = {"type": "string"}, {"type": "integer"}
    properties = {"id": number, "name": text, "game": text, "seats": number, "source": text}
    return {"type": "object", "properties": properties, "required": list(properties)}
