"""A crowd at a web process: a dealer who goes on dealing, and those who would stop it. For tests and the benchmark."""

from __future__ import annotations

import http.client
import json
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from asgiref.sync import async_to_sync
from django.db import transaction
from django.test import Client

from ledger.log import Draft, append, lock
from tables.floor import recorder
from tables.models import Staff, Table
from tables.roles import Role
from tables.staff import terminals
from tests import floor
from tests.floor import Hand

TOKEN = "t" * 32


@dataclass(frozen=True)
class Answer:
    """What came back, and how long it took."""

    status: int
    text: str
    seconds: float
    headers: dict[str, str]


@dataclass
class Browser:
    """Somebody's cookies, and one connection for each request."""

    url: str
    cookies: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        address = urlsplit(self.url)
        line = http.client.HTTPConnection(str(address.hostname), address.port or 80, timeout=30)
        began = time.perf_counter()
        line.request(method, path, body, self._heads() | headers)
        answer = line.getresponse()
        text = answer.read().decode(errors="replace")
        line.close()
        return Answer(answer.status, text, time.perf_counter() - began, dict(answer.getheaders()))

    def form(self, path: str, **fields: str) -> Answer:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.send("POST", path, urlencode(fields).encode(), **kind)

    def _heads(self) -> dict[str, str]:
        cookies = self.cookies | {"csrftoken": TOKEN}
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()), "X-CSRFToken": TOKEN}

    @contextmanager
    def slow(self, path: str) -> Iterator[socket.socket]:
        """A download whose reader takes the head and then nothing more."""
        address = urlsplit(self.url)
        with socket.socket() as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.settimeout(30)
            line.connect((address.hostname, address.port))
            heads = "".join(f"{name}: {value}\r\n" for name, value in self._heads().items())
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n{heads}\r\n".encode())
            yield line


def whole(answer: Any) -> bytes:
    """What a test client's download holds."""
    if not answer.streaming:
        return bytes(answer.content)

    async def read() -> bytes:
        return b"".join([part async for part in answer.streaming_content])

    return async_to_sync(read)()


def signed_in(url: str, person: Staff) -> Browser:
    """A browser on a terminal for any table, with a session of theirs."""
    cookies = floor.client(person).cookies
    return Browser(url, {name: cookies[name].value for name in ("sessionid", "terminal")})


def enrolled(url: str, operator: Staff, name: str = "Tablet") -> Browser:
    """A device on which badge and PIN work."""
    client = Client(SERVER_NAME="localhost")
    client.post(terminals.link_for(terminals.add(name, None, by=operator), by=operator))
    return Browser(url, {"terminal": client.cookies["terminal"].value})


@dataclass
class Dealer:
    """Changes one bet again and again, each time on the newest sequence number."""

    browser: Browser
    table: Table
    seq: int
    bet_cents: int = 1_000

    def input(self, key: uuid.UUID | None = None) -> Answer:
        self.bet_cents = 3_000 - self.bet_cents
        return self.sends(key or uuid.uuid4(), self.bet_cents)

    def sends(self, key: uuid.UUID, amount_cents: int) -> Answer:
        entered = {"do": "bet", "seat": 1, "amount_cents": amount_cents}
        body = json.dumps({"key": str(key), "expected_seq": self.seq, "input": entered}).encode()
        kind = {"Content-Type": "application/json"}
        answer = self.browser.send("POST", f"/api/tables/{self.table.pk}/inputs/", body, **kind)
        if answer.status == 200:
            self.seq = json.loads(answer.text)["seq"]
        return answer


def dealing_at(url: str, table: Table, boss: Staff, person: Staff) -> Dealer:
    """A table that is open, with a dealer at it who takes bets."""
    Hand(table, boss)("open_table")
    recorder.sign_in(table, person)
    hand = Hand(table, person)
    hand.ready_shoe()
    return Dealer(signed_in(url, person), table, hand.now.seq)


def two_tables(url: str) -> tuple[Dealer, Dealer, Staff]:
    """Two dealers at work, and their pit boss."""
    boss = floor.staff(Role.PIT_BOSS, "bella")
    dealers = [
        dealing_at(url, floor.table(name=name), boss, floor.staff(Role.DEALER, username, badge))
        for name, username, badge in (("Rocket 1", "dora", "101"), ("Rocket 2", "dan", "102"))
    ]
    return dealers[0], dealers[1], boss


def write_much(table: Table, megabytes: int) -> int:
    """Entries that make the table's log longer than whatever lies between a server and its reader; the last one."""
    with transaction.atomic():
        head = lock(table.book_id)
        for number in range(megabytes * 2):
            head = append(head, Draft("table", "noted", "test", {"number": number, "text": "x" * 500_000}))
    return head.seq


def at_once(number: int, call: Callable[[int], Any], meanwhile: Callable[[], Any] = lambda: None) -> list[Any]:
    """So many calls at the same time, and what each returned; ``meanwhile`` is done once they are under way."""
    with ThreadPoolExecutor(number) as threads:
        calls = [threads.submit(call, place) for place in range(number)]
        meanwhile()
        return [pending.result() for pending in calls]


def hold(name: str, connect: Any) -> None:
    """What somebody does who forgot to commit: a session that holds a book."""
    connect.execute("BEGIN")
    connect.execute("SELECT 1 FROM ledger_book WHERE name = %s FOR NO KEY UPDATE", [name])
