"""The live stream: who may watch what, that no commit is missed, and that it costs the database one connection."""

import asyncio
import json
import re
import select
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.test import AsyncClient, Client

from dealer_ui import live
from dealer_ui.live import News, Screen, Watch
from ledger import alerts
from tables import dealing
from tables.models import Staff
from tables.roles import Role
from tests import floor, processes
from tests.floor import Hand, dealt

pytestmark = pytest.mark.django_db(transaction=True)


def session(staff: Staff) -> str:
    client = Client()
    client.force_login(staff, backend="django.contrib.auth.backends.ModelBackend")
    return f"sessionid={client.cookies['sessionid'].value}"


class Stream:
    """A browser's end of the stream, read from the socket as it comes."""

    def __init__(
        self, web: processes.Web, who: Staff | None, query: str = "", last: str | None = None, path: str = "/live/"
    ) -> None:
        address = urlsplit(web.url)
        self.socket = socket.create_connection((address.hostname, address.port), timeout=10)
        headers = [f"GET {path}{query} HTTP/1.1", f"Host: {address.netloc}"]
        headers += [f"Cookie: {session(who)}"] if who else []
        headers += [f"Last-Event-ID: {last}"] if last else []
        self.socket.sendall("\r\n".join([*headers, "", ""]).encode())
        self.text = ""
        self.read_until("\r\n\r\n")
        self.head, _, self.text = self.text.partition("\r\n\r\n")

    @property
    def status(self) -> int:
        return int(self.head.split()[1])

    def read_until(self, end: str) -> None:
        while end not in self.text:
            came = self.socket.recv(65536).decode()
            assert came, f"the server closed the stream after {self.text!r}"
            self.text += came

    def event(self) -> dict[str, str]:
        """The next event; comments and the retry line are passed over."""
        while True:
            match = re.search(r"(event: .*?)\n\n", self.text, re.DOTALL)
            if match:
                self.text = self.text[match.end() :]
                lines = [line.split(": ", 1) for line in match[1].splitlines()]
                return dict(lines)
            came = self.socket.recv(65536).decode()
            assert came, "the server closed the stream"
            self.text += came

    def news(self) -> Any:
        return json.loads(self.event()["data"])

    def begins(self, tables: int) -> list[Any]:
        """How the floor's stream begins: where so many tables stand; and, before or after, that alerts are to be
        looked at."""
        events = [self.event() for _ in range(tables + 1)]
        events.remove({"event": "alert", "data": '{"table": null}'})
        return [json.loads(event["data"]) for event in events]

    def is_quiet(self, seconds: float = 0.3) -> bool:
        time.sleep(seconds)
        while select.select([self.socket], [], [], 0)[0]:
            self.text += self.socket.recv(65536).decode()
        return "event:" not in self.text

    def close(self) -> None:
        self.socket.close()


Watching = Callable[..., Stream]


@pytest.fixture
def watching(web: processes.Web) -> Iterator[Watching]:
    """``watching(staff, "?table=1")``: an open stream, closed after the test."""
    streams: list[Stream] = []

    def watch(who: Staff | None, query: str = "", **options: Any) -> Stream:
        streams.append(Stream(web, who, query, **options))
        return streams[-1]

    yield watch
    for stream in streams:
        stream.close()


def own(hand: Hand) -> str:
    return f"?table={hand.table.pk}"


# --- What is told ---------------------------------------------------------------------------------------------


def test_the_floor_is_told_where_every_table_stands_and_then_what_moves(watching: Watching) -> None:
    dealer, boss = dealt()
    other = floor.table("Rocket 2")
    stream = watching(boss.by)
    first = stream.begins(tables=2)
    assert {"table": dealer.table.pk, "seq": dealer.now.seq} in first
    assert {"table": other.pk, "seq": Hand(other, boss.by).now.seq} in first
    dealer("bet", seat=1, amount_cents=1_000)
    assert stream.event() == {"event": "table", "data": json.dumps({"table": dealer.table.pk, "seq": dealer.now.seq})}


def test_the_stream_of_one_table_is_its_bare_sequence_number(watching: Watching) -> None:
    dealer, _ = dealt()
    stream = watching(dealer.by, own(dealer))
    seq = dealer.now.seq
    assert stream.event() == {"event": "table", "id": str(seq), "data": str(seq)}
    dealer("bet", seat=1, amount_cents=1_000)
    assert stream.event() == {"event": "table", "id": str(seq + 1), "data": str(seq + 1)}


def test_other_tables_are_not_heard_on_the_stream_of_one(watching: Watching) -> None:
    dealer, boss = dealt()
    other = floor.table("Rocket 2")
    stream = watching(dealer.by, own(dealer))
    stream.event()
    Hand(other, boss.by)("open_table")
    assert stream.is_quiet()


def test_who_comes_back_is_told_only_what_they_missed(watching: Watching) -> None:
    dealer, boss = dealt()
    seq = dealer.now.seq
    stream = watching(boss.by, own(dealer), last=str(seq))
    assert stream.is_quiet()
    dealer("bet", seat=1, amount_cents=1_000)
    assert stream.news() == seq + 1
    stream.close()
    dealer("close_bets")
    assert watching(boss.by, own(dealer), last=str(seq + 1)).news() == seq + 2


def test_a_rolled_back_input_is_never_announced(watching: Watching) -> None:
    dealer, boss = dealt()
    stream = watching(boss.by, own(dealer))
    seq = stream.news()
    with transaction.atomic():
        dealer("bet", seat=1, amount_cents=1_000)
        transaction.set_rollback(True)
    assert stream.is_quiet()
    assert stream.text.count("event:") == 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT head_seq FROM ledger_book WHERE id = %s", [dealer.table.book_id])
        assert cursor.fetchone() == (seq,)


def test_alerts_are_announced_when_they_open_and_when_somebody_takes_note(watching: Watching) -> None:
    dealer, boss = dealt()
    stream, alone = watching(boss.by), watching(boss.by, own(dealer))
    stream.begins(tables=1), alone.news()
    alert = alerts.raise_alert(dealer.table.book, "negative", "The rack holds less than nothing")
    assert stream.event() == {"event": "alert", "data": json.dumps({"table": dealer.table.pk})}
    alerts.acknowledge(alert, boss.by.signature, "seen")
    assert stream.event()["event"] == "alert"
    alerts.raise_alert(None, "unbalanced", "The chips do not add up")
    assert stream.event() == {"event": "alert", "data": '{"table": null}'}
    assert alone.is_quiet()


def test_an_announcement_that_is_not_ours_is_passed_over(watching: Watching) -> None:
    dealer, boss = dealt()
    stream = watching(boss.by, own(dealer))
    stream.event()
    with connection.cursor() as cursor:
        for payload in ("", "no JSON", "[]", "{}", "7", '{"book": 10000000}'):
            cursor.execute("SELECT pg_notify('floor', %s)", [payload])
    dealer("bet", seat=1, amount_cents=1_000)
    assert stream.news() == dealer.now.seq


# --- Who may --------------------------------------------------------------------------------------------------


def test_each_role_watches_what_concerns_it(watching: Watching) -> None:
    dealer, boss = dealt()
    other = floor.table("Rocket 2")
    idle = floor.staff(Role.DEALER, "dan", "102")
    watchers = [boss.by, floor.staff(Role.OPERATOR, "olga"), floor.staff(Role.AUDITOR, "aude")]
    for somebody in watchers:
        assert watching(somebody).status == 200
        assert watching(somebody, own(dealer)).status == 200
        assert watching(somebody, "?table=99999").status == 404
        assert watching(somebody, "?table=" + "9" * 40).status == 404
        assert watching(somebody, "?table=x").status == 404
    for query in ("", own(dealer), "?table=99999"):
        assert watching(None, query).status == 401
        assert watching(idle, query).status == 403
    assert watching(dealer.by, own(dealer)).status == 200
    for query in ("", f"?table={other.pk}", "?table=99999", "?table=x"):
        assert watching(dealer.by, query).status == 403


def test_a_dealer_who_taps_out_watches_no_longer(watching: Watching) -> None:
    dealer, _ = dealt()
    dealing.sign_out(dealer.table, dealer.by)
    assert watching(dealer.by, own(dealer)).status == 403


def chunks_of(who: Staff, query: str, act: Callable[[list[str]], Awaitable[bool]]) -> list[str]:
    """The stream in this process: what it says until ``act``, called after each chunk, is done with it."""

    async def read() -> list[str]:
        client = AsyncClient()
        await client.aforce_login(who, backend="django.contrib.auth.backends.ModelBackend")
        response = await client.get(f"/live/{query}")
        said: list[str] = []
        async for chunk in response.streaming_content:  # type: ignore[attr-defined]
            said.append(chunk.decode())
            if await act(said):
                break
        await response.streaming_content.aclose()  # type: ignore[attr-defined]
        return said

    return async_to_sync(read)()


def test_signs_of_life_come_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEARTBEAT", 0.05)
    _, boss = dealt()

    async def until_three_beats(said: list[str]) -> bool:
        return said.count(":\n\n") == 3

    assert chunks_of(boss.by, "", until_three_beats)[0] == "retry: 1000\n\n"


@pytest.mark.parametrize("how", ["taps out", "leaves the house", "signs out"])
def test_a_stream_ends_soon_after_its_viewer_may_no_longer_watch(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEARTBEAT", 0.05)
    dealer, _ = dealt()

    def lose_the_right() -> None:
        if how == "taps out":
            dealing.sign_out(dealer.table, dealer.by)
        elif how == "leaves the house":
            Staff.objects.filter(pk=dealer.by.pk).update(is_active=False)
        else:
            Session.objects.all().delete()

    async def then_wait(said: list[str]) -> bool:
        if len(said) == 2:
            await sync_to_async(lose_the_right)()
        assert len(said) < 100, "the stream goes on"
        return False

    assert len(chunks_of(dealer.by, own(dealer), then_wait)) >= 2


def test_an_outage_does_not_end_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the database is away nobody can tell whether the viewer still may watch; there is no news either."""
    monkeypatch.setattr(live, "HEARTBEAT", 0.05)
    _, boss = dealt()

    def away(*_: object) -> None:
        raise live.DatabaseError("the database is away")

    async def then_an_outage(said: list[str]) -> bool:
        if len(said) == 3:
            monkeypatch.setattr(live, "_watch", away)
        return len(said) == 6

    assert chunks_of(boss.by, "", then_an_outage)[-1] == ":\n\n"


# --- What it costs --------------------------------------------------------------------------------------------


def test_a_screen_that_reads_slowly_has_one_number_a_table_waiting() -> None:
    async def slow() -> News:
        screen = Screen({})
        for seq in range(10_000):
            screen.tell(1, seq)
            screen.tell(2, seq)
            screen.alert(None)
        return await screen.news(0)

    assert asyncio.run(slow()) == News({1: 9_999, 2: 9_999}, {None})


def test_what_a_viewer_was_told_is_not_told_again() -> None:
    watch, told = Watch({7: 70}, alone=True), {7: 5}
    assert watch.spell(News({7: 5, 8: 9}, {7}), told) == ""
    assert watch.spell(News({7: 6}, set()), told) == "event: table\nid: 6\ndata: 6\n\n"
    assert told == {7: 6}


@contextmanager
def listening(superuser: psycopg.Connection) -> Iterator[Callable[[], list[int]]]:
    """The backends that listen for this database's web process."""
    name = connection.settings_dict["NAME"]

    def pids() -> list[int]:
        rows = superuser.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = %s AND application_name = %s", [name, live.NAME]
        )
        return [pid for (pid,) in rows.fetchall()]

    yield pids


def eventually(found: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not found():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_fifty_streams_share_one_connection_and_leave_none_behind(
    watching: Watching, superuser_connection: psycopg.Connection
) -> None:
    """More streams than the pool has connections: none may hold one. When the last has gone, nobody listens."""
    dealer, boss = dealt()

    def backends() -> int:
        name = connection.settings_dict["NAME"]
        rows = superuser_connection.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = %s", [name])
        (count,) = rows.fetchone() or (0,)
        return int(count)

    with listening(superuser_connection) as pids:
        assert eventually(lambda: not pids())
        first = watching(boss.by)
        first.begins(tables=1)
        before = backends()
        streams = [watching(boss.by) for _ in range(50)]
        for stream in streams:
            stream.begins(tables=1)
        assert len(pids()) == 1
        assert backends() <= before + 16, "streams hold connections of the pool"
        dealer("bet", seat=1, amount_cents=1_000)
        assert {stream.news()["seq"] for stream in streams} == {dealer.now.seq}
        for stream in [first, *streams]:
            stream.close()
        assert eventually(lambda: not pids()), "somebody still listens"


def test_a_lost_listening_connection_is_replaced_and_nothing_is_missed(
    watching: Watching, superuser_connection: psycopg.Connection
) -> None:
    dealer, boss = dealt()
    stream, whole = watching(boss.by, own(dealer)), watching(boss.by)
    stream.event(), whole.begins(tables=1)
    with listening(superuser_connection) as pids:
        (before,) = pids()
        superuser_connection.execute("SELECT pg_terminate_backend(%s)", [before])
        dealer("bet", seat=1, amount_cents=1_000)  # while nobody listens
        alerts.raise_alert(None, "unbalanced", "The chips do not add up")
        assert stream.news() == dealer.now.seq
        assert whole.begins(tables=1) == [{"table": dealer.table.pk, "seq": dealer.now.seq}]
        assert eventually(lambda: pids() not in ([], [before]))
    dealer("close_bets")
    assert stream.news() == dealer.now.seq


def test_a_web_process_that_was_killed_tells_all_that_happened_meanwhile(
    watching: Watching, web: processes.Web
) -> None:
    dealer, boss = dealt()
    stream = watching(boss.by, own(dealer))
    seen = stream.event()["id"]
    web.kill()
    dealer("bet", seat=1, amount_cents=1_000)
    dealer("close_bets")
    web.start()
    assert watching(boss.by, own(dealer), last=seen).news() == dealer.now.seq


# --- A seat's page ---------------------------------------------------------------------------------------------


def test_a_seats_stream_says_how_far_the_table_has_moved_and_nothing_else(watching: Watching) -> None:
    """Harm: a player's browser is told of cards, of other tables, or of alerts."""
    dealer, _ = floor.for_pot("hawthorn", seats={1: 5_000, 2: 5_000}, source="house")
    players = [floor.player(dealer, seat) for seat in (1, 2)]
    stream = watching(None, path=f"/seat/{players[0].token}/live")
    assert stream.status == 200
    assert "no-referrer" in stream.head
    assert stream.event() == {"event": "table", "id": str(dealer.now.seq), "data": str(dealer.now.seq)}
    alerts.raise_alert(dealer.table.book, "test", "An alert that no player hears of")
    dealer("start_game")
    players[1].chooses(players[1].choices[0])
    while (told := stream.event())["data"] != str(dealer.now.seq):
        assert told == {"event": "table", "id": told["data"], "data": told["data"]}
    assert watching(None, path="/seat/nobody/live").status == 404
