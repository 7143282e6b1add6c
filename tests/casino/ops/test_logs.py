"""What the logs say of a request: who, from where and what; and never a secret that its address holds."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from celery.signals import before_task_publish, task_postrun, task_prerun
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from casino.ops import task_request_ids  # noqa: F401 -- connects to the signals of Celery
from casino.ops.log_lines import Json, Text
from casino.web import request_ids
from casino.web.access_log import AccessLog
from tables.roles import Role
from tables.staff import terminals
from tests import floor
from tests.patience import eventually
from tests.processes import Web

HARMLESS = {"day", "object_id", "content_type_id", "string"}


@contextmanager
def heard(name: str) -> Iterator[io.StringIO]:
    """All that a logger says, by a handler that is none of ours."""
    stream, logger = io.StringIO(), logging.getLogger(name)
    handler = logging.StreamHandler(stream)
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO)
    yield stream
    logger.setLevel(level)
    logger.removeHandler(handler)


# --- Secrets --------------------------------------------------------------------------------------------------


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for one in patterns:
        route = before + str(one.pattern)
        yield from routes(one.url_patterns, route) if isinstance(one, URLResolver) else [route]


def test_every_address_with_a_text_in_it_is_redacted_or_harmless() -> None:
    """Harm: somebody adds a link with a token in it, and every log has it from then on."""
    from casino.web.redaction import redacted

    for route in routes(get_resolver().url_patterns):
        for name in re.findall(r"<(?:str|path):(\w+)>", route):
            path = "/" + re.sub(r"<[^>]+>", "sEcr3t-_:x", route)
            assert name in HARMLESS or "sEcr3t" not in redacted(path), route


def test_the_servers_own_loggers_are_redacted_too() -> None:
    """Harm: whoever reads the web server's log, or gets it by post, opens the hands of a table."""
    with heard("uvicorn.access") as said:
        logger = logging.getLogger("uvicorn.access")
        logger.info('%s - "%s %s HTTP/%s" %d', "127.0.0.1:5", "GET", "/seat/secret-_Token/board?a=b", "1.1", 200)
        logger.info("Not Found: /enrol/secret/")
        logger.warning("refused: %s", ValueError("no /seat/secret/ here"))
    assert "secret" not in said.getvalue()
    assert '"GET /seat/***/board?a=b HTTP/1.1" 200' in said.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/enrol/{}/", "/enrol/{}/?a=1", "/seat/{}/choose"])
def test_a_post_without_its_token_leaves_no_live_code_in_the_log(path: str) -> None:
    """The attack: a form that was opened too long ago is refused, with the code still good and its address logged."""
    operator = floor.staff(Role.OPERATOR, "omar")
    code = terminals.link_for(terminals.add("Tablet 1", None, by=operator), by=operator).split("/")[2]
    referer = f"http://elsewhere/enrol/{code}/"
    with heard("django") as django, heard("django.security.csrf") as csrf, heard("django.request") as request:
        Client(enforce_csrf_checks=True).post(path.format(code), headers={"Referer": referer})
        Client(enforce_csrf_checks=True).post(path.format(code), secure=True, headers={"Referer": referer})
    said = django.getvalue() + csrf.getvalue() + request.getvalue()
    assert code[:20] not in said
    assert "***" in said
    assert terminals.read_link(code).name == "Tablet 1"


# --- Access ---------------------------------------------------------------------------------------------------


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"time"')]


async def asked(path: str, *events: dict[str, Any], **scope: Any) -> None:
    """One request to an application that answers with these events."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        for event in events:
            if "raise" in event:
                raise event["raise"]
            await send(event)

    async def nothing(*_: Any) -> None: ...

    request = {"type": "http", "method": "GET", "path": path, "client": ("10.0.0.9", 5), **scope}
    await AccessLog(application)(request, nothing, nothing)  # type: ignore[arg-type]


def starts(status: int = 200, content: bytes = b"text/html") -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": [(b"Content-Type", content)]}


def body(content: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content}


def logged(*events: dict[str, Any], path: str = "/", **scope: Any) -> list[dict[str, Any]]:
    with heard("casino.access") as said, suppress(RuntimeError, asyncio.CancelledError):
        asyncio.run(asked(path, *events, **scope))
    return lines(said.getvalue())


def test_a_line_says_who_asked_for_what_and_how_it_ended() -> None:
    """Harm: an auditor reads every hash, and nobody can tell afterwards."""
    who = {"casino.access": {"person": "101 Dora", "terminal": "Tablet 1"}}
    (line,) = logged(starts(404), body(b"12345"), body(b"678"), path="/admin/", query_string=b"pin__regex=x", **who)
    assert line.pop("time")
    assert re.fullmatch("[0-9a-f]{32}", line.pop("request"))
    assert line.pop("ms") >= 0
    assert line == {
        "person": "101 Dora", "terminal": "Tablet 1", "address": "10.0.0.9", "method": "GET", "path": "/admin/",
        "status": 404, "bytes": 8,
    }  # fmt: skip


def test_a_stream_is_logged_when_it_opens_and_when_it_closes() -> None:
    """Harm: a stream that is open all night stands in no log until it ends."""
    opened, closed = logged(starts(content=b"text/event-stream; charset=utf-8"), body(b":\n\n"), path="/live/")
    assert (opened["stream"], opened["bytes"], closed["stream"], closed["bytes"]) == ("opened", 0, "closed", 3)


def test_what_failed_and_who_left_are_logged() -> None:
    """Harm: a request that brings the server down is the one that the log does not have."""
    assert [line["status"] for line in logged({"raise": RuntimeError("broken")})] == [500]
    assert [line["status"] for line in logged({"raise": asyncio.CancelledError()})] == [499]


@pytest.mark.parametrize("path", ['/a\n{"time": 1}', "/\x1b[2J", "/\x9b\u2028\u202e", '/"},{"', "/seat/secret/\r\n"])
def test_nobody_writes_a_line_of_the_log(path: str) -> None:
    """Harm: a forged line, or one that clears the screen of whoever reads it."""
    with heard("casino.access") as said:
        asyncio.run(asked(path, starts(), body(b"")))
    (line,) = said.getvalue().splitlines()
    assert line.isprintable()
    assert line.isascii()
    assert json.loads(line)["path"] == path.replace("secret", "***")


def lines_after(web: Web, before: int, count: int) -> list[dict[str, Any]]:
    """What was written since, once so many requests are in it: a line comes after its answer."""

    def written() -> list[dict[str, Any]]:
        return [line for line in lines(web.output())[before:] if line["path"] != "/healthz"]

    eventually(lambda: len(written()) >= count, web.output)
    return written()


def test_the_real_thing(web: Web) -> None:
    """Through uvicorn, gate and middleware: the person by name, a stranger by none, a code by nobody."""
    dora = floor.staff(Role.DEALER, "dora", "101")
    client = Client()
    client.force_login(dora, backend="django.contrib.auth.backends.ModelBackend")
    cookie = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
    before = len(lines(web.output()))
    for path, headers in (
        ("/password/?new=hunter2", cookie), ("/enrol/live-code/?a=b", {}), ("/seat/live-token/", {}),
        ("/%0a%1b%5b2J", {}),
    ):  # fmt: skip
        try:
            urllib.request.urlopen(urllib.request.Request(web.url + path, headers=headers)).close()
        except urllib.error.HTTPError as refused:
            refused.close()
    written = lines_after(web, before, count=4)
    assert [(line["person"], line["path"]) for line in written][:4] == [
        ("101 Dora", "/password/"), ("-", "/enrol/***/"), ("-", "/seat/***/"), ("-", "/\n\x1b[2J"),
    ]  # fmt: skip
    assert all(line["address"] == "127.0.0.1" and line["bytes"] > 0 for line in written)
    assert "hunter2" not in str(written)
    for secret in ("live-code", "live-token", "\x1b"):
        assert secret not in web.output()


# --- Which request --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "is_kept"),
    [(b"night-desk-0001", True), (b"short", False), (b"a\nfake line 12345", False), (b"x" * 65, False), (b"", False)],
)
def test_a_request_keeps_a_good_id_and_gets_one_instead_of_a_bad(named: bytes, is_kept: bool) -> None:
    """Harm: what a proxy, the house and a worker write of one request is found by no word; or whoever asks writes lines
    of their own into the log."""
    (line,) = logged(starts(), body(b""), headers=[(b"X-Request-ID", named)])
    assert (line["request"] == named.decode()) is is_kept
    assert re.fullmatch(r"[A-Za-z0-9._-]{8,64}", line["request"])


def test_json_lines_name_the_request_and_no_secret() -> None:
    """Harm: a log for programs breaks at the first traceback, or has what the other one leaves out."""
    request_ids.current.set("night-desk-0001")
    try:
        raise ValueError("no /seat/sEcr3t/ here")
    except ValueError:
        record = logging.LogRecord("a", logging.ERROR, "p", 1, "at %s\nwent wrong", ("/enrol/sEcr3t/",), sys.exc_info())
    for formatter in (Json(), Text("{message}", style="{")):
        text = formatter.format(record)
        assert "sEcr3t" not in text
        assert "night-desk-0001" in text
    line = json.loads(Json().format(record))
    assert (line["level"], line["request"]) == ("ERROR", "night-desk-0001")
    assert "Traceback" in line["error"]
    assert "\n" not in Json().format(record)


def test_a_task_brings_the_id_of_the_request_that_asked_for_it() -> None:
    """Harm: what a worker did for somebody cannot be told from what it did by itself."""
    headers: dict[str, Any] = {}
    request_ids.current.set("night-desk-0001")
    before_task_publish.send("a", headers=headers, body=None)
    request_ids.current.set("")
    task = SimpleNamespace(request=SimpleNamespace(**headers))
    task_prerun.send("a", task=task)
    assert request_ids.current.get() == "night-desk-0001"
    task_postrun.send("a", task=task)
    assert request_ids.current.get() == ""
