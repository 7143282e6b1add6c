"""One web process without its HTTP server, for `./run bench input`: dealers' inputs go through the whole application,
and the processor's seconds are told by part.

Run by path in the folder of the checkout that is measured (`python tests/bench/input_worker.py`), whose own code it
loads. A plan comes in by standard input, and then a line for each turn; what was measured goes out.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

sys.path[0] = os.getcwd()
os.environ["CASINO_WEB_PROCESS"] = "yes"

DRAWN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)".*?name="key" value="([\w-]+)".*?name="seq" value="(\d+)"', re.S)  # noqa: E501  # fmt: skip
REFUSED = re.compile(r'data-refused="(\w+)"')
OWN = re.compile(
    r'(?<=name="csrfmiddlewaretoken" value=")\w+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|Rocket \d+|[Dd]ealer\d+'
    r"|(?<=/tables/)\d+"
)
"""What no two tables have in common, or no two renderings."""


@dataclass
class Parts:
    """Seconds of this process's processor, by what they were spent on."""

    seconds: dict[str, float] = field(default_factory=dict)
    statements: int = 0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        began = time.thread_time()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.thread_time() - began

    def timed(self, module: Any, name: str, part: str) -> None:
        """Count what a function of a module works."""
        function: Callable[..., Any] = getattr(module, name)

        @wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            with self.part(part):
                return function(*arguments, **options)

        setattr(module, name, timed)


@dataclass
class Terminal:
    """A dealer's screen without a network."""

    application: Any
    table: int
    cookies: str
    forms: list[dict[str, str]]
    board: str = ""

    async def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> str:
        body, answered = urlencode(form or {}).encode(), []
        headers = {
            "host": "127.0.0.1", "cookie": self.cookies, "origin": "http://127.0.0.1", "user-agent": "bench",
            "hx-request": "true", "hx-target": "board", "accept": "*/*",
            "content-type": "application/x-www-form-urlencoded", "content-length": str(len(body)),
        }  # fmt: skip
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "state": {},
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 9), "server": ("127.0.0.1", 80),
        }  # fmt: skip
        events = iter([{"type": "http.request", "body": body, "more_body": False}])
        departure = asyncio.get_running_loop().create_future()

        async def receive() -> Any:
            return next(events, None) or await departure

        async def send(event: Any) -> None:
            answered.append(event)

        await self.application(scope, receive, send)
        departure.cancel()
        answer = b"".join(event.get("body", b"") for event in answered).decode()
        if answered[0]["status"] != 200:
            raise SystemExit(f"{method} {path}: {answered[0]['status']} {answer[:300]}")
        return answer

    async def open(self) -> None:
        self.board = await self.ask("GET", f"/tables/{self.table}/")

    async def enter(self) -> None:
        drawn = DRAWN.search(self.board)
        assert drawn, self.board[:300]
        form = {"csrfmiddlewaretoken": drawn[1], "key": drawn[2], "seq": drawn[3]} | self.forms.pop(0)
        self.board = await self.ask("POST", f"/tables/{self.table}/input", form)
        if refused := REFUSED.search(self.board):
            raise SystemExit(f"table {self.table}: {refused[1]}")


async def serve(plan: list[dict[str, Any]]) -> None:
    import django

    django.setup()
    parts = Parts()
    watch(parts)
    from casino.asgi import application  # its addresses take the views as they are then

    terminals = [Terminal(application, **place) for place in plan]
    for terminal in terminals:
        await terminal.open()
    print("open", flush=True)
    while order := (await asyncio.to_thread(sys.stdin.readline)).strip():
        print(json.dumps(await turn(terminals, int(order), parts)), flush=True)


async def turn(terminals: list[Terminal], inputs: int, parts: Parts) -> dict[str, Any]:
    """So many inputs at each table, a table after the other."""
    parts.seconds, parts.statements, boards = {}, 0, sha256()
    worked = time.process_time()
    for _ in range(inputs):
        for terminal in terminals:
            await terminal.enter()
    worked = time.process_time() - worked
    for terminal in terminals:
        boards.update(OWN.sub("", terminal.board).encode())
    figures = {
        "inputs": inputs * len(terminals),
        "worked": worked,
        "statements": parts.statements,
        "parts": parts.seconds,
    }
    if os.environ.get("BOARDS"):
        from pathlib import Path

        for number, terminal in enumerate(terminals):
            Path(os.environ["BOARDS"], f"{number}.html").write_text(OWN.sub("", terminal.board))
    return figures | {"boards": boards.hexdigest()}


def watch(parts: Parts) -> None:
    """Count by part what an input comes to, and every text that goes to the database."""
    import psycopg

    from dealer_ui.dealer import views
    from tables.floor import recorder

    parts.timed(recorder, "record", "record()")
    parts.timed(views, "board", "what the board says")
    parts.timed(views, "render", "templates")
    parts.timed(views, "enter", "view")
    execute = psycopg.Cursor.execute

    def counted(cursor: Any, *arguments: Any, **options: Any) -> Any:
        parts.statements += 1
        return execute(cursor, *arguments, **options)

    psycopg.Cursor.execute = counted  # type: ignore[method-assign]


if __name__ == "__main__":
    if os.environ.get("UVLOOP", "yes") == "yes":
        import uvloop

        uvloop.install()
    asyncio.run(serve(json.loads(sys.stdin.readline())))
