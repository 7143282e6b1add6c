"""The screens of a floor as HTTP clients: they send what dealers' and pit bosses' browsers send, at the same times.

They act like the scripts of both screens (dealer/inputs.js, pit/live.js). They use only the standard library, and
understand only as much HTTP as the house's answers need, because they share the processor with what is measured. They
run as a process of their own (`python -m tests.bench.screens`), which reads a plan from standard input and prints the
measurements.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from html import escape
from time import perf_counter
from typing import Any, Final
from urllib.parse import urlencode

LOOPBACK = "127.0.0.1"
CALM_SECONDS = 1.0
CONNECTIONS = 5
"""Without HTTP/2 a browser opens six connections to a house, and the stream occupies one of them."""
PATIENCE_SECONDS = 8
OPENED_AT_ONCE = 8


@dataclass
class Answer:
    """An HTTP response."""

    status: int
    headers: dict[str, str]
    body: str


BUSY: Final = 503
OPENING_SECONDS: Final = 60.0


class Connection:
    """One keep-alive connection, as a browser's; it is opened again after the house has closed it."""

    def __init__(self, port: int, cookies: str, address: str = "", house: str = LOOPBACK) -> None:
        self.port, self.cookies, self.house = port, cookies, house
        self.local = (address, 0) if address else None
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, headers: dict[str, str], form: dict[str, str] | None = None) -> Answer:
        """Send one request; once more if the house has closed the idle connection meanwhile, as browsers do."""
        is_new = self.streams is None
        try:
            return await self._exchange(method, path, headers, form)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            if is_new:
                raise
            return await self._exchange(method, path, headers, form)

    async def page(self, path: str) -> Answer:
        """Load a page; again while the house is busy, because a whole floor opens its screens at once."""
        begun = perf_counter()
        while True:
            answer = await self.ask("GET", path, {"Accept": "text/html"})
            if answer.status != BUSY or perf_counter() - begun > OPENING_SECONDS:
                return answer
            await asyncio.sleep(1)

    async def _exchange(self, method: str, path: str, headers: dict[str, str], form: dict[str, str] | None) -> Answer:
        if self.streams is None:
            self.streams = await self._connect()
        reader, writer = self.streams
        body = urlencode(form).encode() if form is not None else b""
        writer.write(self._head(method, path, headers, body, form is not None) + body)
        status, received = await read_head(reader)
        answer = Answer(status, received, (await read_body(reader, received)).decode())
        if received.get("connection") == "close":
            self.close()
        return answer

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self.house, self.port, limit=2**20, local_addr=self.local)

    def _head(self, method: str, path: str, headers: dict[str, str], body: bytes, posts: bool) -> bytes:
        fields = {"Host": f"{self.house}:{self.port}", "Cookie": self.cookies, "User-Agent": "bench"} | headers
        if posts:
            fields |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body))}
            fields |= {"Origin": f"http://{self.house}:{self.port}"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()

    @asynccontextmanager
    async def events(self, path: str) -> AsyncIterator[AsyncIterator[tuple[str, str]]]:
        """An EventSource: yields the names and data of its events."""
        async with self.bytes(path) as reader:
            yield read_events(reader)

    @asynccontextmanager
    async def bytes(self, path: str) -> AsyncIterator[asyncio.StreamReader]:
        """The same stream, unparsed."""
        reader, writer = await self._connect()
        writer.write(self._head("GET", path, {"Accept": "text/event-stream"}, b"", False))
        status, _ = await read_head(reader)
        if status != 200:
            raise ConnectionError(f"{path} answered {status}")
        try:
            yield reader
        finally:
            writer.close()

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines[1:] if line)
    return int(lines[0].split(" ", 2)[1]), {name.lower(): value.strip() for name, _, value in pairs}


async def read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    parts = []
    while chunk := await read_chunk(reader):
        parts.append(chunk)
    return b"".join(parts)


async def read_chunk(reader: asyncio.StreamReader) -> bytes:
    size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
    return (await reader.readexactly(size + 2))[:size]


async def read_events(reader: asyncio.StreamReader) -> AsyncIterator[tuple[str, str]]:
    rest = ""
    while chunk := await read_chunk(reader):
        *events, rest = (rest + chunk.decode(errors="replace")).split("\n\n")
        for event in events:
            lines = [line.partition(": ")[::2] for line in event.split("\n")]
            data = "\n".join(value for name, value in lines if name == "data")
            if data:
                yield dict(lines).get("event", "message"), data


# --- Measurements ----------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """The measurements of this process's screens. It counts only while it is open."""

    seconds: list[float] = field(default_factory=list)
    """Latencies, from when an action was due until its answer was read."""
    errors: list[str] = field(default_factory=list)
    groups: dict[str, list[float]] = field(default_factory=dict)
    """Latencies by the dealers' groups."""
    requests: int = 0
    events: int = 0
    bytes: int = 0
    is_open: bool = False

    def count(self, name: str) -> None:
        if self.is_open:
            setattr(self, name, getattr(self, name) + 1)

    def wrong(self, message: str) -> None:
        if self.is_open:
            self.errors.append(message[:200])


# --- The dealer's screen ---------------------------------------------------------------------------------------

DRAWN = re.compile(
    r'name="csrfmiddlewaretoken" value="(\w+)".*?name="key" value="([\w-]+)".*?name="seq" value="(\d+)"', re.S
)
REFUSED = re.compile(r'data-refused="(\w+)"')


@dataclass
class Dealer:
    """A dealer's screen (dealer/inputs.js): posts an input that its board offers, and shows the board in the answer."""

    port: int
    table: int
    cookies: str
    forms: list[dict[str, str]]
    tally: Tally
    stream_port: int = 0
    """The port for streams, if it is not that for pages."""
    host: str = ""
    """The screen's own address."""
    group: str = "new"
    drawn: tuple[str, str, int] = ("", "", 0)
    """The shown board's token, key and sequence number."""
    board: str = field(default="", repr=False)
    newest: int = 0
    """The newest sequence number from the stream."""
    is_flying: bool = False
    unanswered: dict[str, str] | None = None
    """An input without an answer. It is sent again with its key, as a browser does."""

    def __post_init__(self) -> None:
        self.connection = Connection(self.port, self.cookies, self.host)
        self.beside = Connection(self.port, self.cookies, self.host)
        self.stream = Connection(self.stream_port or self.port, self.cookies, self.host)
        self.address = f"/tables/{self.table}/"

    async def open(self) -> None:
        self.show(await self.connection.page(self.address))

    def show(self, answer: Answer) -> None:
        drawing = DRAWN.search(answer.body)
        if answer.status >= 500 or drawing is None:
            raise ValueError(f"table {self.table}: {answer.status} {answer.body[:100]!r}")
        self.drawn, self.board = (drawing[1], drawing[2], int(drawing[3])), answer.body

    async def follow(self) -> None:
        """Follow the stream. An event newer than the board has it fetched, unless an input is on its way."""
        async with self.stream.events(f"/live/?table={self.table}") as events:
            async for name, data in events:
                if name == "table":
                    self.tally.count("events")
                    self.newest = max(self.newest, int(data))
                    await self.look()

    async def look(self) -> None:
        if self.newest > self.drawn[2] and not self.is_flying:
            self.tally.count("requests")
            answer = await self.beside.ask("GET", f"{self.address}board", self.htmx("live"))
            if not self.is_flying:
                self.show(answer)

    def htmx(self, trigger: str) -> dict[str, str]:
        page = f"http://127.0.0.1:{self.port}{self.address}"
        return {
            "HX-Request": "true",
            "HX-Target": "board",
            "HX-Trigger": trigger,
            "HX-Current-URL": page,
            "Accept": "*/*",
        }

    def offers(self, form: dict[str, str]) -> bool:
        """Whether the board has the button, or the field for the amount."""
        if "input" in form:
            return escape(form["input"]) in self.board
        return 'name="amount"' in self.board and f'name="seat" value="{form["seat"]}"' in self.board

    def next_form(self) -> dict[str, str]:
        """The next planned input, with the shown board's key."""
        token, key, seq = self.drawn
        form = self.forms.pop(0)
        if not self.offers(form):
            self.tally.wrong(f"table {self.table}: the board does not offer {form}")
        return {"csrfmiddlewaretoken": token, "key": key, "seq": str(seq)} | form

    async def act(self, due: float) -> None:
        """One action, due at a scheduled moment. Its latency includes any wait for the action before it."""
        form = self.unanswered or self.next_form()
        self.unanswered = form
        self.is_flying = True
        self.tally.count("requests")
        try:
            post = self.connection.ask("POST", f"{self.address}input", self.htmx("entry"), form)
            answer = await asyncio.wait_for(post, PATIENCE_SECONDS)
            self.show(answer)
            self.unanswered = None
            if refused := REFUSED.search(answer.body):
                self.tally.wrong(f"table {self.table}: {refused[1]}")
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
            self.connection.close()
            self.tally.wrong(f"table {self.table}: {error!r}")
        finally:
            self.is_flying = False
        if self.tally.is_open:
            self.tally.seconds.append(perf_counter() - due)
            self.tally.groups.setdefault(self.group, []).append(perf_counter() - due)
        await self.look()

    async def deal(self, first: float, seconds_apart: float, stopped: Callable[[], bool]) -> None:
        """Act at regular times; with ``seconds_apart`` 0 each action follows the last answer at once."""
        due = first
        while not stopped() and self.forms:
            await asyncio.sleep(max(0.0, due - perf_counter()))
            await self.act(due)
            due = due + seconds_apart if seconds_apart else perf_counter()


# --- The pit's screen ------------------------------------------------------------------------------------------

CARD = re.compile(r'class="(?:table-card|tile) [^>]*?data-live="(\d+)" data-seq="(\d+)"(?: data-src="([^"]+)")?')
STRIP = re.compile(r'data-live-floor data-src="([^"]+)"')
FLOOR = "/pit/"


@dataclass
class Pit:
    """The pit's floor (pit/live.js). An event with a table's card needs nothing more. One with only a table's number
    has the card and the floor's line fetched if the page names their addresses, as older releases' pages did; else the
    whole page. Each is fetched once at a time, and again if another event came meanwhile."""

    port: int
    cookies: str
    tally: Tally
    seqs: dict[int, int] = field(default_factory=dict)
    sources: dict[int, str] = field(default_factory=dict)
    strip: str = ""
    under_way: dict[str, bool] = field(default_factory=dict)
    """The paths being fetched, and whether each must be fetched again."""
    fetches: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self) -> None:
        self.idle: asyncio.Queue[Connection] = asyncio.Queue()
        for _ in range(CONNECTIONS):
            self.idle.put_nowait(Connection(self.port, self.cookies))
        page = await self.fetch(FLOOR, {"Accept": "text/html"})
        self.show(page)
        if not self.seqs:
            raise ValueError(f"this is no floor: {page[:300]!r}")
        self.sources = {int(table): source for table, _, source in CARD.findall(page) if source}
        strip = STRIP.search(page)
        self.strip = strip[1] if strip else ""

    def show(self, html: str) -> bool:
        """Show the cards in a page; whether there was any."""
        cards = CARD.findall(html)
        for table, seq, _ in cards:
            self.seqs[int(table)] = max(int(seq), self.seqs.get(int(table), 0))
        return bool(cards)

    async def fetch(self, path: str, headers: dict[str, str]) -> str:
        connection = await self.idle.get()
        try:
            answer = await connection.ask("GET", path, headers)
        finally:
            self.idle.put_nowait(connection)
        if answer.status != 200:
            self.tally.wrong(f"pit: {path} answered {answer.status}")
        return answer.body

    async def follow(self) -> None:
        async with Connection(self.port, self.cookies).events("/live/") as events:
            async for name, data in events:
                self.tally.count("events")
                self.handle(name, json.loads(data))

    def handle(self, name: str, event: dict[str, Any]) -> None:
        if name != "table" or self.show(event.get("card", "")) or self.seqs.get(event["table"], 0) >= event["seq"]:
            return
        source = self.sources.get(event["table"])
        for path in (source, self.strip) if source else (FLOOR,):
            self.refresh(path)

    def refresh(self, source: str) -> None:
        if source in self.under_way:
            self.under_way[source] = True
            return
        self.under_way[source] = False
        task = asyncio.create_task(self._refresh(source))
        self.fetches.add(task)
        task.add_done_callback(self.fetches.discard)

    async def _refresh(self, source: str) -> None:
        self.tally.count("requests")
        with suppress(OSError, asyncio.IncompleteReadError):
            self.show(await self.fetch(source, {"X-Requested-With": "fetch", "Accept": "*/*"}))
        if source in (self.strip, FLOOR):
            await asyncio.sleep(CALM_SECONDS)
        if self.under_way.pop(source):
            self.refresh(source)


# --- A crowd of watchers ---------------------------------------------------------------------------------------


@dataclass
class Watcher:
    """A screen of the pit that is only watched: opens its page, then reads its stream and counts the events. It parses
    no card, to leave the processor to the house."""

    port: int
    stream_port: int
    cookies: str
    page: str
    path: str
    host: str
    tally: Tally
    stream: AsyncExitStack = field(default_factory=AsyncExitStack)
    reader: asyncio.StreamReader | None = None

    async def open(self) -> None:
        """Open its page, if it has one (a screen that only follows has been open for hours), and its stream. Screens
        open a few at a time, because ten thousand at once would exceed the house's limit of waiting connections."""
        if self.page:
            connection = Connection(self.port, self.cookies, self.host)
            page = await connection.page(self.page)
            connection.close()
            if page.status != 200:
                raise ValueError(f"{self.page}: {page.status} {page.body[:100]!r}")
        source = Connection(self.stream_port, self.cookies, self.host)
        with suppress(OSError, asyncio.IncompleteReadError):
            self.reader = await self.stream.enter_async_context(source.bytes(self.path))

    async def follow(self) -> None:
        if self.reader is None:
            raise ConnectionError(f"{self.path} was refused")
        async with self.stream:
            while chunk := await self.reader.read(2**16):
                if self.tally.is_open:
                    self.tally.events += chunk.count(b"event: ")
                    self.tally.bytes += len(chunk)


# --- A process of screens --------------------------------------------------------------------------------------


async def run(plan: dict[str, Any]) -> dict[str, Any]:
    """Open the screens and let them work until the plan is over; returns what was measured after the warm-up."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    tally, port = Tally(), plan.get("port", 0)
    dealers = [
        Dealer(
            place.get("port", port), place["table"], place["cookies"], place["forms"], tally,
            place.get("stream_port", 0), place.get("host", ""), place.get("group", "new"),
        )
        for place in plan.get("dealers", ())
    ]  # fmt: skip
    pits = [Pit(port, cookies, tally) for cookies in plan.get("pits", ())]
    watchers = [Watcher(**watcher, tally=tally) for watcher in plan.get("watchers", ())]
    await open_all((*dealers, *pits, *watchers))
    following = [asyncio.create_task(screen.follow()) for screen in (*dealers, *pits, *watchers)]
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.readline)  # waits until the screens of all processes are open
    begun, apart = perf_counter() + 0.2, plan["seconds_apart"]
    ended = begun + plan["warm_up_seconds"] + plan["seconds"]
    starts = [begun + number * (apart or 1.0) / max(len(dealers), 1) for number in range(len(dealers))]
    dealing = [
        asyncio.create_task(dealer.deal(first, apart, lambda: perf_counter() >= ended))
        for dealer, first in zip(dealers, starts, strict=True)
    ]
    await asyncio.sleep(begun + plan["warm_up_seconds"] - perf_counter())
    tally.is_open, worked = True, processor()
    print("measuring", flush=True)
    await asyncio.sleep(ended - perf_counter())
    tally.is_open, worked = False, processor() - worked
    print("measured", flush=True)
    if dealing:
        await asyncio.wait(dealing)
    for task in following:
        if task.done():
            tally.errors.append(f"a stream ended: {task.exception()!r}")
        task.cancel()
    remaining = [dealer.forms for dealer in dealers]
    return {
        "seconds": tally.seconds, "groups": tally.groups, "errors": tally.errors,
        "requests": tally.requests, "events": tally.events,
        "bytes": tally.bytes, "processor": worked, "forms": remaining,
    }  # fmt: skip


async def open_all(screens: Sequence[Dealer | Pit | Watcher]) -> None:
    """Open screens, a few at a time as at the start of a day."""
    desk = asyncio.Semaphore(OPENED_AT_ONCE)

    async def open_(screen: Dealer | Pit | Watcher) -> None:
        async with desk:
            await screen.open()

    await asyncio.gather(*(open_(screen) for screen in screens))


def write(report: dict[str, Any]) -> None:
    """Write the whole report. Under uvloop a pipe may take only the first 64 kB of what print() is given."""
    remainder = f"{json.dumps(report)}\n".encode()
    while remainder:
        remainder = remainder[os.write(sys.stdout.fileno(), remainder) :]


def processor() -> float:
    """The processor seconds that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    with suppress(ImportError):
        import uvloop

        uvloop.install()
    write(asyncio.run(run(json.loads(sys.stdin.readline()))))
