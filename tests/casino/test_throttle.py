"""Who never stops is refused beyond their own share, and nobody else is."""

from __future__ import annotations

import json
import os
import secrets
import signal
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponse

from casino import access, buckets, origin, streams
from casino.access import AccessLog
from casino.gate import HEALTH, Gate, Refusal
from casino.throttle import ADDRESS, CLIENT, Throttle
from ledger import meters
from ledger.models import LogEntry
from tables.models import Staff
from tables.staff import terminals
from tests import load, processes
from tests.dealer_ui.live.test_streams import Stream, own
from tests.floor import Hand, dealt
from tests.load import Dealer
from tests.patience import eventually

SHIPPED = {"CLIENT": (200, 20), "ADDRESS": (1_000, 100)}
"""At once, and a second."""
PAGE = 60
"""Requests of a browser that opens a dealer's screen for the first time: the page, its stream and all its files."""


@pytest.fixture
def clock(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The limits as they are shipped, and a clock that stands until it is put on."""
    for who, (at_once, a_second) in SHIPPED.items():
        setattr(settings, f"REQUESTS_PER_{who}", at_once)
        setattr(settings, f"REQUESTS_PER_{who}_A_SECOND", a_second)
    moment = [1_000.0]
    monkeypatch.setattr(buckets, "monotonic", lambda: moment[0])
    return moment


def test_what_is_shipped_is_what_is_tried_here() -> None:
    text = (Path(access.__file__).parent / "settings.py").read_text()
    for who, (at_once, a_second) in SHIPPED.items():
        assert f'environ.get("REQUESTS_PER_{who}", "{at_once}")' in text
        assert f'environ.get("REQUESTS_PER_{who}_A_SECOND", "{a_second}")' in text


@pytest.fixture
def ask(clock: list[float]) -> Callable[..., int]:
    """The status that a request from an address gets."""

    async def house(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    application = AccessLog(Gate(Throttle(house)))

    def ask(address: str = "10.0.0.1", cookie: str = "", path: str = "/", token: str = "") -> int:
        headers = [(b"cookie", cookie.encode())] if cookie else []
        headers += [(b"authorization", token.encode())] if token else []
        scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "client": (address, 1)}
        statuses: list[int] = []

        async def send(event: Any) -> None:
            statuses.append(event.get("status", 0))

        async_to_sync(application)(scope, None, send)  # type: ignore[arg-type]
        return statuses[0]

    return ask


def terminal() -> str:
    """The cookie of an enrolled device, as its browser sends it."""
    response = HttpResponse()
    terminals.remember(response, secrets.token_urlsafe(32))
    return f"terminal={response.cookies['terminal'].value}"


# --- Whose bucket -----------------------------------------------------------------------------------------------


def test_who_never_stops_is_refused_and_nobody_beside_them(ask: Callable[..., int], clock: list[float]) -> None:
    """Harm: one screen that went wild takes the time of every other dealer."""
    wild, calm = terminal(), terminal()
    at_once, a_second = SHIPPED["CLIENT"]
    assert [ask(cookie=wild) for _ in range(1_000)].count(200) == at_once
    clock[0] += 1
    assert [ask(cookie=f"{wild}; sessionid={number}") for number in range(1_000)].count(200) == a_second
    assert [ask(cookie=calm) for _ in range(at_once)] == [200] * at_once
    assert [ask() for _ in range(at_once)] == [200] * at_once, "their address is not used up"


def test_a_program_and_a_browser_count_by_what_they_show(ask: Callable[..., int]) -> None:
    at_once, _ = SHIPPED["CLIENT"]
    assert [ask(token="Bearer casino_a") for _ in range(300)].count(200) == at_once
    assert ask(token="Bearer casino_b") == 200
    assert [ask(cookie="csrftoken=x; sessionid=a") for _ in range(300)].count(200) == at_once
    assert ask(cookie="csrftoken=x; sessionid=b") == 200


def test_ever_new_cookies_fall_under_their_address(ask: Callable[..., int], clock: list[float]) -> None:
    """Harm: a cookie made up anew for each request is a bucket of its own, and there is no limit at all."""
    at_once, a_second = SHIPPED["ADDRESS"]
    forged = [f"sessionid={number}; terminal=made-up-{number}:1abcde:signature" for number in range(3_000)]
    assert [ask(cookie=cookie) for cookie in forged].count(200) == at_once
    assert ask(address="10.0.0.2", cookie="sessionid=another") == 200
    assert ask(cookie=terminal()) == 200, "a dealer's terminal at that address is shut out"
    clock[0] += 1
    assert [ask(cookie=f"sessionid=later-{number}") for number in range(3_000)].count(200) == a_second


def test_a_network_of_ipv6_is_one_address(ask: Callable[..., int]) -> None:
    at_once, _ = SHIPPED["ADDRESS"]
    assert [ask(address=f"2001:db8::{number:x}") for number in range(2_000)].count(200) == at_once
    assert ask(address="2001:db8:0:1::1") == 200


def test_a_crowd_does_not_make_the_house_look_ill(ask: Callable[..., int]) -> None:
    """Harm: the proxy's question whether the process is well is refused for the crowd behind the same proxy, and the
    process is taken out of service while it deals."""
    while ask(cookie=f"sessionid={uuid.uuid4()}") == 200:
        pass
    assert ask(path=HEALTH) == 200
    assert 429 in {ask(path=HEALTH) for _ in range(2_000)}, "that question has no limit"


# --- A floor at work ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tables", [50, 1_000])
def test_a_floor_behind_one_address_is_never_refused(ask: Callable[..., int], clock: list[float], tables: int) -> None:
    """Harm: the terminals of a house, all behind one proxy, take each other for one client that never stops. All open
    their screens at once, as after an outage; then each enters something every three seconds, and looks as often."""
    devices = [terminal() for _ in range(tables)]
    refused = sum(ask(cookie=device) != 200 for device in devices for _ in range(PAGE if tables == 50 else 2))
    for _ in range(10 if tables == 50 else 2):
        clock[0] += 3
        refused += sum(ask(cookie=device) != 200 for device in devices for _ in range(2))
    assert not refused


def test_the_fastest_hand_is_never_refused(ask: Callable[..., int], clock: list[float]) -> None:
    """Ten keys a second for a minute, the board fetched after each, at a screen that was opened a moment ago."""
    device = terminal()
    assert [ask(cookie=device) for _ in range(PAGE)] == [200] * PAGE
    for _ in range(600):
        clock[0] += 0.1
        assert [ask(cookie=device), ask(cookie=device)] == [200, 200]


# --- What is told -------------------------------------------------------------------------------------------------


def test_refusals_are_counted_and_told_together(
    ask: Callable[..., int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Harm: a client that never stops fills the disk with lines about it."""
    moment = [0.0]
    monkeypatch.setattr(access.time, "monotonic", lambda: moment[0])
    lines: list[dict[str, Any]] = []
    monkeypatch.setattr(access.log, "info", lambda line: lines.append(json.loads(line)))
    before = meters.THROTTLED.labels("client")._value.get()
    wild = terminal()
    for _ in range(700):
        ask(cookie=wild)
    moment[0] = access.QUIET_SECONDS
    ask(cookie=wild)
    refusals = [line for line in lines if line["status"] == 429]
    assert [(line["limit"], line["refused"], line["address"]) for line in refusals] == [
        ("client", 1, "10.0.0.1"),
        ("client", 500, "10.0.0.1"),
    ]
    assert len(lines) == 200 + 2, "what was answered is told line by line"
    assert meters.THROTTLED.labels("client")._value.get() - before == 501
    assert not any(part in json.dumps(lines) for part in wild.split(":")), "the cookie is in the log"


# --- Real processes -----------------------------------------------------------------------------------------------


@contextmanager
def running(environment: dict[str, str], log: Path, *options: str, **limits: str) -> Iterator[processes.Web]:
    """A process with the limits as they are shipped, but for those that are named."""
    shipped = {name: value for name, value in environment.items() if name not in processes.UNTHROTTLED}
    web = processes.web_process(shipped | limits, log, *options)
    web.start()
    try:
        yield web
    finally:
        if web.process and web.alive:
            os.killpg(web.process.pid, signal.SIGCONT)
        web.stop()


@pytest.mark.django_db(transaction=True)
def test_a_dealer_who_floods_their_table_refuses_nobody_else(
    process_environment: dict[str, str], tmp_path: Path
) -> None:
    """Harm: one terminal that sends without end keeps the others' inputs waiting; or an input that was refused is lost,
    or recorded twice when it comes again."""
    tight = {"REQUESTS_PER_CLIENT": "40", "REQUESTS_PER_CLIENT_A_SECOND": "1"}
    with running(process_environment, tmp_path / "log", **tight) as web:
        dora, dan, _ = load.two_tables(web.url)
        key = uuid.uuid4()
        with ThreadPoolExecutor(4) as threads:
            flood = [threads.submit(dora.sends, uuid.uuid4(), 1_000) for _ in range(400)]
            steps = [dan.input() for _ in range(20)]
            answers = [answer.result() for answer in flood]
        assert [step.status for step in steps] == [200] * 20
        refused = [answer for answer in answers if answer.status == 429]
        assert len(refused) >= 300, "nothing holds the flood"
        problem = json.loads(refused[0].text)
        assert (problem["code"], problem["detail"]) == ("throttled", CLIENT.sentence)
        assert refused[0].headers["retry-after"] == "1"
        _comes_through_once(dora, key)


def _comes_through_once(dealer: Dealer, key: uuid.UUID) -> None:
    dealer.seq = Hand(dealer.table, Staff.objects.get(username="dora")).now.seq
    before = dealer.seq
    statuses: list[int] = []

    def entered() -> bool:
        statuses.append(dealer.sends(key, 2_000).status)
        return statuses[-1] == 200

    eventually(entered)
    assert set(statuses) <= {200, 429}
    assert LogEntry.objects.filter(book=dealer.table.book, seq__gt=before).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_page_that_was_turned_away_comes_by_itself(
    browser: Any, process_environment: dict[str, str], tmp_path: Path
) -> None:
    """Harm: somebody opens the floor in a busy moment and looks at a bare sentence until they think of asking again; or
    a form that was turned away is taken for sent."""
    tight = {"REQUESTS_PER_ADDRESS": "30", "REQUESTS_PER_ADDRESS_A_SECOND": "1"}
    with running(process_environment, tmp_path / "log", **tight) as web, closing(browser.new_page()) as page:
        crowd = load.Browser(web.url)
        while (sent := crowd.send("POST", "/sign-in/", Accept="text/html")).status != 429:
            pass
        assert (sent.headers["retry-after"], sent.headers.get("refresh")) == ("2", None)
        while page.goto(f"{web.url}/sign-in/").status != 429:
            pass
        assert page.inner_text("body") == ADDRESS.sentence
        page.wait_for_selector("h1")


@pytest.mark.django_db(transaction=True)
def test_streams_and_inputs_do_not_wait_for_each_other(process_environment: dict[str, str], tmp_path: Path) -> None:
    """Harm: a crowd that follows the tables, or a process for streams that hangs, keeps a dealer from dealing; or a web
    process that hangs keeps the pit from seeing what is recorded."""
    with (
        running(process_environment, tmp_path / "web") as web,
        running(process_environment, tmp_path / "streams", "--streams", STREAMS_IN_ALL="2") as streams,
    ):
        hand, boss = dealt()
        dealer = Dealer(load.signed_in(web.url, hand.by), hand.table, hand.now.seq)
        with closing(Stream(streams, boss.by, own(hand))) as screen, closing(Stream(streams, boss.by)):
            with closing(Stream(streams, hand.by, own(hand))) as refused:
                assert refused.status == 429
            assert [dealer.input().status for _ in range(5)] == [200] * 5, "streams are full"
            assert streams.process
            os.killpg(streams.process.pid, signal.SIGSTOP)
            assert [dealer.input().status for _ in range(5)] == [200] * 5, "the process for streams hangs"
            os.killpg(streams.process.pid, signal.SIGCONT)
            assert web.process
            os.killpg(web.process.pid, signal.SIGSTOP)
            hand("bet", seat=2, amount_cents=1_000)
            while screen.news() != hand.now.seq:
                pass


def test_streams_of_terminals_behind_one_address_are_each_terminals_own(settings: Any) -> None:
    """Harm: the six hundredth terminal of a house behind one proxy follows its table no more; or one terminal takes the
    streams of all."""
    settings.STREAMS_PER_ADDRESS = 2

    def place(cookie: str) -> str:
        headers = [(b"cookie", cookie.encode())]
        return origin.of({"type": "http", "headers": headers, "client": ("10.0.0.1", 1)}).place

    opened = streams.Open()
    wild = terminal()
    with ExitStack() as held:
        for cookie in (terminal(), terminal(), wild, wild, "sessionid=a", "sessionid=b"):
            held.enter_context(opened.place(place(cookie), player=False))
        for cookie in (wild, "sessionid=c"):
            with pytest.raises(Refusal) as refused, opened.place(place(cookie), player=False):
                pass
            assert refused.value is streams.TOO_MANY_THERE
        held.enter_context(opened.place(place(terminal()), player=False))
