"""Generates the typed API client as source text from the OpenAPI description: see deploy/client/README.md.

``FRAME`` has the code that does not depend on the description; schemas become ``TypedDict`` classes and operations
methods.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

FRAME: Final = '''"""A client of the casino's API, made from its description by `python -m casino.api_files --client`.

It is copied to other systems, and needs Python 3.11 with its standard library. Forms are typed as they are sent and
answered; money is whole cents.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException
from http.cookiejar import Cookie, CookieJar
from typing import Any, Literal, NotRequired, TypedDict, Unpack
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener
from uuid import uuid4

VERSION = "{version}"
TRIES = 3
"""Attempts in all while the site is busy or away (429, 5xx, no answer). A write has the same key each time."""


class Refused(Exception):
    """Problem details (RFC 9457): nothing was done."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{{problem.get('code')}}: {{problem.get('detail')}}")
        self.problem = problem
        self.status = int(problem.get("status", 0))
        self.code = str(problem.get("code", ""))
        self.detail = str(problem.get("detail", ""))


class Connection:
    """How a request reaches the house: by a token, or by the session of somebody who signed in."""

    def __init__(
        self, house: str, *, token: str = "", timeout: float = 30.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.house, self.token, self.timeout, self._sleep = house.rstrip("/"), token, timeout, sleep
        self.cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self.cookies))

    def sign_in(self, username: str, password: str) -> None:
        """By name and password, as at the door of the screens."""
        self._opener.open(f"{{self.house}}/sign-in/", timeout=self.timeout).close()
        form = {{"username": username, "password": password, "csrfmiddlewaretoken": self._cookie("csrftoken")}}
        request = Request(f"{{self.house}}/sign-in/", urlencode(form).encode(), {{"Referer": f"{{self.house}}/"}})
        try:
            self._opener.open(request, timeout=self.timeout).close()
        except HTTPError as refused:
            problem = {{"status": refused.code, "code": "not_signed_in", "detail": "Name or password is wrong."}}
            raise Refused(problem) from None
        if not self._cookie("sessionid"):
            raise Refused({{"status": 401, "code": "not_signed_in", "detail": "Name or password is wrong."}})

    def keep(self, name: str, value: str) -> None:
        """Send a cookie with every request: that of an enrolled terminal, for one."""
        host = urlsplit(self.house).hostname or ""
        host = host if "." in host else f"{{host}}.local"
        rest: dict[str, Any] = {{}}
        self.cookies.set_cookie(
            Cookie(0, name, value, None, False, host, False, False, "/", True, False, None, False, None, None, rest)
        )

    def ask(self, method: str, path: str, query: Mapping[str, Any], body: Mapping[str, Any] | None) -> Any:
        """One request, sent again while the site is busy or away. Raises Refused."""
        headers = {{"Accept": "application/json, application/problem+json"}}
        text = None
        if body is not None:
            body = {{"key": str(uuid4()), **body}}
            text = json.dumps(body).encode()
            headers |= {{"Content-Type": "application/json", "X-CSRFToken": self._cookie("csrftoken")}}
            headers["Referer"] = f"{{self.house}}/"
        return json.loads(self._send(method, path, query, text, headers))

    def file(self, path: str, query: Mapping[str, Any]) -> bytes:
        """A download, whole. Raises Refused."""
        return self._send("GET", path, query, None, {{"Accept": "*/*"}})

    def _send(
        self, method: str, path: str, query: Mapping[str, Any], text: bytes | None, headers: dict[str, str]
    ) -> bytes:
        parameters = {{name: _spelled(value) for name, value in query.items() if value is not None}}
        address = f"{{self.house}}{{path}}" + (f"?{{urlencode(parameters)}}" if parameters else "")
        if self.token:
            headers["Authorization"] = f"Bearer {{self.token}}"
        for attempt in range(1, TRIES + 1):
            wait = 2**attempt * random.uniform(0.5, 1.0)
            try:
                with self._opener.open(Request(address, text, headers, method=method), timeout=self.timeout) as answer:
                    whole: bytes = answer.read()
                    return whole
            except HTTPError as refused:
                if (refused.code != 429 and refused.code < 500) or attempt == TRIES:
                    raise Refused(_problem(refused)) from None
                seconds = refused.headers.get("Retry-After") or ""
                wait = max(wait, float(seconds) if seconds.isdecimal() else 0.0)
            except (OSError, HTTPException):
                if attempt == TRIES:
                    raise
            self._sleep(wait)
        raise AssertionError("not reached")

    def _cookie(self, name: str) -> str:
        return next((cookie.value or "" for cookie in self.cookies if cookie.name == name), "")


def _problem(refused: HTTPError) -> dict[str, Any]:
    try:
        problem: dict[str, Any] = json.loads(refused.read())
    except ValueError:
        problem = {{"status": refused.code, "code": "no_problem_details", "detail": refused.reason}}
    return problem


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def every(ask: Callable[..., Any], *path: Any, **query: Any) -> Iterator[Any]:
    """All of a list, page by page: ``every(house.list_rounds, 1, limit=100)``."""
    while True:
        page = ask(*path, **query)
        yield from page["items"]
        if not page["next"]:
            return
        query["cursor"] = page["next"]
'''

_PLAIN: Final = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}


def source(described: Schema) -> str:
    """The source text of the whole client module."""
    frame = FRAME.format(version=described["info"]["version"])
    forms = "\n\n".join(_forms(described["components"]["schemas"]))
    methods = "\n".join(_methods(described))
    client = 'class Casino(Connection):\n    """Every operation of the API, by its name."""\n'
    return f"{frame}\n\n# --- Forms {'-' * 107}\n\n\n{forms}\n\n\n# --- Operations {'-' * 102}\n\n\n{client}\n{methods}"


def _forms(schemas: Mapping[str, Schema]) -> Iterator[str]:
    for name in sorted(schemas):
        schema = schemas[name]
        if "properties" not in schema:
            yield f"{_class(name)} = {_quoted(_type(schema))}"
            continue
        yield _typed_dict(_class(name), schema)


def _typed_dict(name: str, schema: Schema) -> str:
    required = set(schema.get("required", ()))
    fields = {
        field: _type(form) if field in required else f"NotRequired[{_type(form)}]"
        for field, form in schema["properties"].items()
    }
    says = _sentence(schema.get("description", ""))
    if any(not field.isidentifier() or keyword.iskeyword(field) for field in fields):
        lines = ", ".join(f'"{field}": {_quoted(form)}' for field, form in fields.items())
        return f'{name} = TypedDict("{name}", {{{lines}}})'
    lines = "\n".join(f"    {field}: {form}" for field, form in fields.items()) or "    pass"
    return f'\nclass {name}(TypedDict):\n    """{says}"""\n\n{lines}\n'


def _methods(described: Schema) -> Iterator[str]:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            yield _method(path, method, operation)


def _method(path: str, method: str, operation: Schema) -> str:
    places = [part for part in operation["parameters"] if part["in"] == "path"]
    queries = [part for part in operation["parameters"] if part["in"] == "query"]
    arguments = ["self", *(f"{_argument(part['name'])}: {_type(part['schema'])}" for part in places)]
    body = operation.get("requestBody")
    if queries:
        arguments += ["*", *(_asked(part) for part in queries)]
    if body:
        form = _type(body["content"]["application/json"]["schema"])
        arguments.append(f"**body: Unpack[{form}]")
    answers = [response for status, response in operation["responses"].items() if status.startswith("2")]
    schemas = [media["schema"] for answer in answers for media in answer["content"].values()]
    if schemas[0].get("format") == "binary":
        return _file(operation, path, arguments, queries)
    spelled, query = _address(path), _query(queries)
    sent = "dict(body)" if body else "None"
    says, kinds = _sentence(operation["summary"]), " | ".join(dict.fromkeys(map(_type, schemas)))
    return (
        f"    def {operation['operationId']}({', '.join(arguments)}) -> {kinds}:\n"
        f'        """{says}"""\n'
        f'        answer: Any = self.ask("{method.upper()}", {spelled}, {query}, {sent})\n'
        f"        return answer  # type: ignore[no-any-return]\n"
    )


def _file(operation: Schema, path: str, arguments: list[str], queries: list[Schema]) -> str:
    return (
        f"    def {operation['operationId']}({', '.join(arguments)}) -> bytes:\n"
        f'        """{_sentence(operation["summary"])}"""\n'
        f"        return self.file({_address(path)}, {_query(queries)})\n"
    )


def _address(path: str) -> str:
    address = re.sub(r"\{(\w+)\}", lambda match: "{quote(str(" + _argument(match[1]) + "), safe='')}", path)
    return f'f"{address}"' if "{" in address else f'"{address}"'


def _query(parameters: list[Schema]) -> str:
    return "{" + ", ".join(f'"{part["name"]}": {_argument(part["name"])}' for part in parameters) + "}"


def _asked(parameter: Schema) -> str:
    kind, name = _type(parameter["schema"]), _argument(parameter["name"])
    if parameter["required"]:
        return f"{name}: {kind}"
    return f"{name}: {kind if 'None' in kind else f'{kind} | None'} = None"


def _type(schema: Schema | bool) -> str:
    if isinstance(schema, bool) or not schema:
        return "Any"
    if "$ref" in schema:
        return _class(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " | ".join(dict.fromkeys(map(_type, choices)))
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items", {})
        return f"list[{_type(items)}]" if items else "list[Any]"
    if kind == "object":
        return f"dict[str, {_type(schema.get('additionalProperties', {}))}]"
    return _PLAIN.get(str(kind), "Any")


def _class(name: str) -> str:
    words = [word for word in re.split(r"\W|_", name) if word]
    return "".join(word[:1].upper() + word[1:] for word in words)


def _argument(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "'") + '"' if "|" in text or "[" in text else text


def _sentence(text: str) -> str:
    first = " ".join(text.split()).replace('"', "'")
    return first.partition(". ")[0].rstrip(".") + "." if first else "A form of the API."
