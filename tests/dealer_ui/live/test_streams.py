"""The live stream: who may watch what, that no commit is missed, and that it costs the database one connection."""

import asyncio
import json
import os
import re
import select
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.test import Client, override_settings

from casino.asgi import application
from casino.web import streams
from casino.web.body_limits import RefusedRequest
from dealer_ui.live import admission, notifications
from dealer_ui.live.open_screens import Crowd, Follower
from ledger import alerts
from tables.floor import recorder
from tables.models import SeatPage, Staff
from tables.roles import Role
from tests import floor, processes
from tests.floor import Hand, dealt
from tests.patience import eventually


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
        self.socket = socket.create_connection((address.hostname, address.port), timeout=30)
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
        """How the floor's stream begins: where so many tables stand; and the line and the alerts, once drawn."""
        events = [self.event() for _ in range(tables + 2)]
        assert sorted(event["event"] for event in events) == ["alerts", "strip", *["table"] * tables]
        return [json.loads(event["data"]) for event in events if event["event"] == "table"]

    def card(self) -> tuple[int, int, str]:
        """The next card: of which table, at which sequence number, and how it looks."""
        while (event := self.event())["event"] != "table":
            pass
        news = json.loads(event["data"])
        return news["table"], news["seq"], news["card"]

    def is_quiet(self) -> bool:
        """Whether nothing has come. Asked once another stream has told of what happened later."""
        while select.select([self.socket], [], [], 0)[0]:
            self.text += self.socket.recv(65536).decode()
        return "event:" not in self.text

    def is_over(self, seconds: float = 30) -> bool:
        """Whether the server ended it, within so many seconds."""
        deadline = time.monotonic() + seconds
        while (
            not self.text.endswith("0\r\n\r\n")
            and select.select([self.socket], [], [], max(deadline - time.monotonic(), 0))[0]
        ):
            came = self.socket.recv(65536).decode()
            self.text += came
            if not came:
                return True
        return self.text.endswith("0\r\n\r\n")

    def close(self) -> None:
        self.socket.close()


Watching = Callable[..., Stream]


@pytest.fixture
def watching(web: processes.Web, transactional_db: None) -> Iterator[Watching]:
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
    table, seq, card = stream.card()
    assert (table, seq) == (dealer.table.pk, dealer.now.seq)
    assert f'data-live="{table}" data-seq="{seq}"' in card
    assert "Bets are open" in card


def test_the_stream_of_one_table_sends_its_sequence_number_and_nothing_else(watching: Watching) -> None:
    """Harm: a screen receives the announcement of another table or of an input that was rolled back, or fails at an
    unknown one."""
    dealer, boss = dealt()
    other = Hand(floor.table("Rocket 2"), boss.by)
    stream, beside = watching(dealer.by, own(dealer)), watching(boss.by, own(other))
    seq = dealer.now.seq
    assert stream.event() == {"event": "table", "id": str(seq), "data": str(seq)}
    beside.event()
    with transaction.atomic():
        dealer("bet", seat=1, amount_cents=1_000)
        transaction.set_rollback(True)
    with connection.cursor() as cursor:
        for payload in ("", "no JSON", "[]", "{}", "7", '{"book": 10000000}'):
            cursor.execute("SELECT pg_notify('floor', %s)", [payload])
    other("open_table")
    beside.event()
    assert stream.is_quiet()
    dealer("bet", seat=1, amount_cents=1_000)
    assert stream.event() == {"event": "table", "id": str(seq + 1), "data": str(seq + 1)}


def test_who_comes_back_is_told_only_what_they_missed(watching: Watching) -> None:
    dealer, boss = dealt()
    seq = dealer.now.seq
    stream = watching(boss.by, own(dealer), last=str(seq))
    stream.read_until("retry: ")
    assert stream.is_quiet()
    dealer("bet", seat=1, amount_cents=1_000)
    assert stream.news() == seq + 1
    stream.close()
    dealer("close_bets")
    assert watching(boss.by, own(dealer), last=str(seq + 1)).news() == seq + 2


def test_alerts_are_shown_when_they_open_and_gone_when_somebody_takes_note(watching: Watching) -> None:
    dealer, boss = dealt()
    stream, alone = watching(boss.by), watching(boss.by, own(dealer))
    stream.begins(tables=1), alone.news()
    alert = alerts.raise_alert(dealer.table.book, "negative", "The rack holds less than nothing")
    news = {event["event"]: json.loads(event["data"]) for event in (stream.event() for _ in range(3))}
    assert "Alert: Less than nothing" in news["table"]["card"]
    assert "strip__alert" in news["strip"]["html"]
    assert "The rack holds less than nothing" in news["alerts"]["html"]
    alerts.acknowledge(alert, boss.by.signature, "seen")
    news = {event["event"]: json.loads(event["data"]) for event in (stream.event() for _ in range(3))}
    assert "No alert is open" in news["alerts"]["html"]
    alerts.raise_alert(None, "unbalanced", "The chips do not add up")
    assert {stream.event()["event"], stream.event()["event"]} == {"strip", "alerts"}
    assert alone.is_quiet()


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
    recorder.sign_out(dealer.table, dealer.by)
    assert watching(dealer.by, own(dealer)).status == 403


LOSSES: dict[str, Callable[[Hand], Any]] = {
    "taps out": lambda hand: recorder.sign_out(hand.table, hand.by),
    "leaves the house": lambda hand: Staff.objects.filter(pk=hand.by.pk).update(is_active=False),
    "signs out": lambda hand: Session.objects.all().delete(),
    "is a dealer no more": lambda hand: Staff.objects.filter(pk=hand.by.pk).update(role=Role.PIT_BOSS),
}


@pytest.mark.django_db
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_stream_ends_with_the_permission_for_it(loss: Callable[[Hand], Any]) -> None:
    """Harm: a screen that was left open follows a table that its viewer may no longer watch."""
    dealer, _ = dealt()
    right = admission.SessionRight(session(dealer.by), Role.DEALER, str(dealer.table.pk))
    assert right.holds()
    loss(dealer)
    assert not right.holds()


@pytest.mark.django_db
def test_an_outage_of_the_database_ends_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: all screens lose their streams while the database is unavailable and permissions cannot be checked."""

    def fail(*_: object) -> None:
        raise admission.DatabaseError("the database is away")

    monkeypatch.setattr(admission, "get_user", fail)
    rights = {admission.SessionRight("sessionid=a", Role.PIT_BOSS, None)}
    assert admission.that_hold(rights) == rights


def said_to(who: Staff | None, path: str, act: Callable[[list[str]], Awaitable[bool]]) -> list[str]:
    """The stream in this process: what it says until it ends, or until ``act``, called at each message, is done."""

    cookie = [(b"cookie", session(who).encode())] if who else []

    async def read() -> list[str]:
        left, asked, said = asyncio.Event(), asyncio.Event(), list[str]()

        async def receive() -> dict[str, Any]:
            if not asked.is_set():
                asked.set()
                return {"type": "http.request"}
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(event: Mapping[str, Any]) -> None:
            if body := event.get("body"):
                said.append(body.decode())
                if await act(said):
                    left.set()

        url = urlsplit(path)
        scope = {"type": "http", "method": "GET", "path": url.path, "query_string": url.query.encode()}
        await application(
            scope | {"headers": [(b"host", b"localhost"), *cookie], "client": ("9.9.9.9", 9)}, receive, send
        )
        return said

    return async_to_sync(read)()


@pytest.fixture
def quickly(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A heartbeat is over soon."""
    monkeypatch.setattr(streams, "HEARTBEAT", 0.05)


@pytest.mark.usefixtures("quickly")
def test_signs_of_life_come_while_nothing_happens() -> None:
    _, boss = dealt()

    async def until_three_beats(said: list[str]) -> bool:
        return said.count(":\n\n") >= 3

    assert said_to(boss.by, "/live/", until_three_beats)[0] == "retry: 1000\n\n"


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("viewer", ["dealer", "player"])
def test_a_stream_ends_soon_after_its_viewer_may_no_longer_watch(viewer: str) -> None:
    dealer, _ = floor.for_pot("hawthorn", seats={1: 5_000}, source="house")
    token = floor.player(dealer, 1).token
    is_player = viewer == "player"

    def lose_the_right() -> None:
        SeatPage.objects.all().delete() if is_player else recorder.sign_out(dealer.table, dealer.by)

    async def then_wait(said: list[str]) -> bool:
        if len(said) == 2:
            await sync_to_async(lose_the_right)()
        assert len(said) < 100, "the stream goes on"
        return False

    path = f"/seat/{token}/live" if is_player else f"/live/{own(dealer)}"
    assert len(said_to(None if is_player else dealer.by, path, then_wait)) >= 2


# --- How many -------------------------------------------------------------------------------------------------


def test_one_seats_address_cannot_hold_more_streams_than_its_share(watching: Watching) -> None:
    """Harm: whoever has one player's QR code opens thousands of streams and starves the floor. And a player who loads
    their page again must never be shut out by what they left behind."""
    dealer, _ = floor.for_pot("hawthorn", seats={1: 5_000, 2: 5_000}, source="house")
    paths = [f"/seat/{floor.player(dealer, seat).token}/live" for seat in (1, 2)]
    neighbour = watching(None, path=paths[1])
    opened = [watching(None, path=paths[0]) for _ in range(settings.STREAMS_PER_SEAT + 2)]
    assert {stream.status for stream in opened} == {200}
    for stream in opened[:2]:
        stream.read_until("retry: 30000\n\n")
        assert stream.is_over()
    dealer("start_game")
    for stream in [*opened[2:], neighbour]:
        while stream.news() != dealer.now.seq:
            pass


def test_one_person_cannot_hold_more_streams_than_their_share(watching: Watching) -> None:
    dealer, boss = dealt()
    opened = [watching(boss.by, own(dealer)) for _ in range(settings.STREAMS_PER_PERSON + 1)]
    assert opened[0].is_over()
    assert opened[-1].news() == dealer.now.seq
    assert not opened[1].is_over(seconds=0)


def test_players_leave_room_for_staff() -> None:
    """Harm: a crowd of players, or one who lies about being many, keeps dealers from following their tables."""
    with override_settings(STREAMS_IN_ALL=8), ExitStack() as held:
        here = streams.Open()
        for _ in range(6):
            held.enter_context(here.place(player=True))
        with pytest.raises(RefusedRequest) as refused, here.place(player=True):
            pass
        assert refused.value is streams.TOO_MANY
        for _ in range(2):
            held.enter_context(here.place(player=False))
        with pytest.raises(RefusedRequest) as refused, here.place(player=False):
            pass
        assert refused.value is streams.TOO_MANY


def test_a_stream_too_many_is_refused_in_a_sentence(
    own_web: Callable[..., processes.Web], transactional_db: None
) -> None:
    dealer, boss = dealt()
    web = own_web(STREAMS_IN_ALL="2")
    with ExitStack() as after:

        def watch() -> Stream:
            return after.enter_context(closing(Stream(web, boss.by, own(dealer))))

        kept, _, refused = watch(), watch(), watch()
        assert refused.status == 429
        assert "retry-after: 10" in refused.head
        assert "no-store" in refused.head
        refused.read_until("Try again soon.")
        kept.close()
        eventually(lambda: watch().status == 200, "a place that was left is not free")


def test_open_streams_cost_no_thread(watching: Watching, web: processes.Web) -> None:
    """Harm: a thread a stream; a few thousand streams and no dealer is answered in time."""
    dealer, _ = floor.for_pot("hawthorn", seats=dict.fromkeys(range(1, 9), 5_000), source="house")
    watching(dealer.by, own(dealer)).event()
    before, seats = threads_of(web), range(1, 9)
    for seat in seats:
        path = f"/seat/{floor.player(dealer, seat).token}/live"
        for _ in range(settings.STREAMS_PER_SEAT):
            watching(None, path=path).event()
    few = len(seats) * settings.STREAMS_PER_SEAT // 2  # requests that overlap take a thread each, and keep it
    eventually(lambda: threads_of(web) < before + few, "streams cost threads")


def threads_of(web: processes.Web) -> int:
    assert web.process is not None
    return len(os.listdir(f"/proc/{web.process.pid}/task"))


# --- What it costs --------------------------------------------------------------------------------------------


def test_a_screen_that_reads_slowly_has_one_message_a_table_waiting() -> None:
    async def slow() -> list[bytes]:
        screen = Follower(last_seq=5)
        for seq in range(6, 10_000):
            screen.tell(seq)
            screen.put("strip", b"strip")
            screen.wake()
        messages = screen.messages()
        waited = [await anext(messages)]
        screen.tell(9_999)
        screen.end(b"the end")
        return waited + [message async for message in messages]

    assert asyncio.run(slow()) == [b"event: table\nid: 9999\ndata: 9999\n\nstrip", b"the end"]


def test_thousands_of_players_screens_are_woken_in_batches() -> None:
    """Harm: one commit at a table with thousands of screens keeps every dealer's answer waiting."""

    async def waves() -> list[int]:
        crowd, screens = Crowd(), [Follower(last_seq=0) for _ in range(350)]
        awake = [0]
        for screen in screens:
            screen.tell(1)
            crowd.wake(screen)
        while awake[-1] < len(screens):
            await asyncio.sleep(0)
            awake.append(sum(screen._awake.is_set() for screen in screens))
        return sorted(set(awake))

    assert asyncio.run(waves()) == [0, 100, 200, 300, 350]


@contextmanager
def listening(superuser: psycopg.Connection) -> Iterator[Callable[[], list[int]]]:
    """The backends that listen for this database's web process."""
    name = connection.settings_dict["NAME"]

    def pids() -> list[int]:
        rows = superuser.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = %s AND application_name = %s", [name, notifications.NAME]
        )
        return [pid for (pid,) in rows.fetchall()]

    yield pids


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
        eventually(lambda: not pids())
        first = watching(boss.by)
        first.begins(tables=1)
        before = backends()
        bosses = [floor.staff(Role.PIT_BOSS, f"boss{number}") for number in range(5)]
        streams = [watching(somebody) for somebody in bosses for _ in range(10)]
        for stream in streams:
            stream.begins(tables=1)
        assert len(pids()) == 1
        assert backends() <= before + 16, "streams hold connections of the pool"
        dealer("bet", seat=1, amount_cents=1_000)
        assert {stream.card()[1] for stream in streams} == {dealer.now.seq}
        for stream in [first, *streams]:
            stream.close()
        eventually(lambda: not pids(), "somebody still listens")


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
        events = [whole.event() for _ in range(3)]
        assert {event["event"] for event in events} == {"table", "strip", "alerts"}
        assert "The chips do not add up" in next(event["data"] for event in events if event["event"] == "alerts")
        eventually(lambda: pids() not in ([], [before]))
    dealer("close_bets")
    assert stream.news() == dealer.now.seq


def test_a_server_that_stops_ends_its_streams_cleanly_and_the_next_sends_what_was_missed(
    watching: Watching, web: processes.Web
) -> None:
    """Harm: a deployment cuts screens off in the middle of a message, waits for them until its timeout, or loses inputs
    entered while no server ran."""
    dealer, boss = dealt()
    opened = [watching(boss.by, own(dealer)), watching(boss.by)]
    latest = opened[0].event()["id"]
    before = len(web.output())  # output of earlier tests, some of which provoke errors
    web.stop()
    farewell = web.output()[before:]
    assert all(stream.is_over() for stream in opened)
    assert all(stream.text.endswith("0\r\n\r\n") for stream in opened), "cut off in the middle"
    assert "Traceback" not in farewell
    assert "exceeded" not in farewell, "it waited for its streams until its timeout"
    dealer("bet", seat=1, amount_cents=1_000)
    dealer("close_bets")
    web.start()
    assert watching(boss.by, own(dealer), last=latest).news() == dealer.now.seq


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
