"""Rate limits: a runaway client is refused beyond its share, and nobody else is."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, Final

import pytest
from django.http import HttpResponse

from casino.embedded.servers import BASE_DIR
from casino.web import access_log, buckets
from casino.web.access_log import AccessLog
from casino.web.body_limits import HEALTH, BodyLimits
from casino.web.throttle import CLIENT, Throttle
from ledger import meters
from ledger.models import LogEntry
from tables.models import Staff
from tables.staff import terminals
from tests import load, processes
from tests.dealer_ui.live.test_streams import Stream, own
from tests.floor import Hand, dealt
from tests.load import Dealer
from tests.patience import eventually

pytestmark = pytest.mark.slow("counts a crowd's requests one by one")

SHIPPED = {"CLIENT": (200, 20), "ADDRESS": (1_000, 100)}
"""The shipped limits: requests at once, and requests a second after that."""
PAGE = 60
"""Requests of a browser that first opens a dealer's screen: the page, its stream and all static files."""


@pytest.fixture
def clock(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Sets the shipped limits, and stops the buckets' clock; a test moves it by changing the list's number."""
    for who, (at_once, a_second) in SHIPPED.items():
        setattr(settings, f"REQUESTS_PER_{who}", at_once)
        setattr(settings, f"REQUESTS_PER_{who}_A_SECOND", a_second)
    moment = [1_000.0]
    monkeypatch.setattr(buckets, "monotonic", lambda: moment[0])
    return moment


def test_the_tested_limits_are_the_shipped_ones() -> None:
    text = (BASE_DIR / "casino" / "settings" / "security.py").read_text()
    for who, (at_once, a_second) in SHIPPED.items():
        assert f'env("REQUESTS_PER_{who}", whole, {at_once})' in text
        assert f'env("REQUESTS_PER_{who}_A_SECOND", whole, {a_second})' in text


@pytest.fixture
def ask(clock: list[float]) -> Iterator[Callable[..., int]]:
    """Sends a request from an address and returns its status."""

    async def house(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    application = AccessLog(BodyLimits(Throttle(house)))

    def ask(address: str = "10.0.0.1", cookie: str = "", path: str = "/", token: str = "") -> int:
        headers = [(b"cookie", cookie.encode())] if cookie else []
        headers += [(b"authorization", token.encode())] if token else []
        scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "client": (address, 1)}
        statuses: list[int] = []

        async def send(event: Any) -> None:
            statuses.append(event.get("status", 0))

        runner.run(application(scope, None, send))  # type: ignore[arg-type]
        return statuses[0]

    with asyncio.Runner() as runner:
        yield ask


def terminal() -> str:
    """The cookie of a newly enrolled device, as its browser sends it."""
    response = HttpResponse()
    terminals.remember(response, secrets.token_urlsafe(32))
    return f"terminal={response.cookies['terminal'].value}"


# --- Buckets ----------------------------------------------------------------------------------------------------


def test_a_runaway_client_is_refused_and_its_neighbours_are_not(ask: Callable[..., int], clock: list[float]) -> None:
    """Harm: one runaway screen slows down every other dealer."""
    wild, calm = terminal(), terminal()
    at_once, a_second = SHIPPED["CLIENT"]
    assert [ask(cookie=wild) for _ in range(300)].count(200) == at_once
    clock[0] += 1
    assert [ask(cookie=f"{wild}; sessionid={number}") for number in range(100)].count(200) == a_second
    assert [ask(cookie=calm) for _ in range(at_once)] == [200] * at_once
    assert [ask() for _ in range(at_once)] == [200] * at_once, "the terminals used up their address's bucket"


def test_a_program_is_counted_by_its_token_and_a_browser_by_its_session(ask: Callable[..., int]) -> None:
    at_once, _ = SHIPPED["CLIENT"]
    assert [ask(token="Bearer casino_a") for _ in range(300)].count(200) == at_once
    assert ask(token="Bearer casino_b") == 200
    assert [ask(cookie="csrftoken=x; sessionid=a") for _ in range(300)].count(200) == at_once
    assert ask(cookie="csrftoken=x; sessionid=b") == 200


@pytest.mark.parametrize("beside", [{"token": "{}"}, {"cookie": "sessionid={}; sessionid=mine"}])
def test_an_invented_credential_does_not_hide_the_real_one(ask: Callable[..., int], beside: dict[str, str]) -> None:
    """Harm: somebody who is signed in invents a token for each request, and only the address's limit holds."""
    at_once, _ = SHIPPED["CLIENT"]
    requests = (
        {"cookie": "sessionid=mine"} | {key: text.format(number) for key, text in beside.items()}
        for number in range(300)
    )
    assert [ask(**request) for request in requests].count(200) == at_once


@pytest.mark.parametrize("address", ["{}", "::ffff:{}"])
def test_strangers_of_two_ipv4_addresses_have_two_buckets(ask: Callable[..., int], address: str) -> None:
    """Harm: a server that listens on IPv6 sees IPv4 addresses as parts of one network, and one guest shuts out all."""
    while ask(address=address.format("192.0.2.1")) == 200:
        pass
    assert ask(address=address.format("192.0.2.2")) == 200


def test_invented_cookies_share_their_addresss_bucket(ask: Callable[..., int], clock: list[float]) -> None:
    """Harm: a client that invents a cookie for each request gets a new bucket each time, and there is no limit."""
    at_once, a_second = SHIPPED["ADDRESS"]
    cookies = [f"sessionid={number}; terminal=made-up-{number}:1abcde:signature" for number in range(1_200)]
    assert [ask(cookie=cookie) for cookie in cookies].count(200) == at_once
    assert ask(address="10.0.0.2", cookie="sessionid=another") == 200
    assert ask(cookie=terminal()) == 200, "a dealer's terminal at that address is shut out"
    clock[0] += 1
    assert [ask(cookie=f"sessionid=later-{number}") for number in range(200)].count(200) == a_second


def test_a_network_of_ipv6_is_one_address(ask: Callable[..., int]) -> None:
    at_once, _ = SHIPPED["ADDRESS"]
    assert [ask(address=f"2001:db8::{number:x}") for number in range(1_100)].count(200) == at_once
    assert ask(address="2001:db8:0:1::1") == 200


def test_a_crowd_does_not_make_the_house_look_ill(ask: Callable[..., int]) -> None:
    """Harm: the proxy's health check is refused because of the crowd behind the same proxy, and the process is taken
    out of service while dealers use it."""
    while ask(cookie=f"sessionid={uuid.uuid4()}") == 200:
        pass
    assert ask(path=HEALTH) == 200
    assert any(ask(path=HEALTH) == 429 for _ in range(2_000)), "health checks have no limit"


# --- A floor at work ----------------------------------------------------------------------------------------------


def test_a_floor_behind_one_address_is_never_refused(ask: Callable[..., int], clock: list[float]) -> None:
    """Harm: the terminals of a house, all behind one proxy, are counted as one runaway client. Here all of them open
    their screens at once, as after an outage; then each sends an input and fetches the board every three seconds."""
    devices = [terminal() for _ in range(50)]
    refusals = sum(ask(cookie=device) != 200 for device in devices for _ in range(PAGE))
    assert len(devices) * PAGE > SHIPPED["ADDRESS"][0]
    for _ in range(10):
        clock[0] += 3
        refusals += sum(ask(cookie=device) != 200 for device in devices for _ in range(2))
    assert not refusals


def test_the_fastest_hand_is_never_refused(ask: Callable[..., int], clock: list[float]) -> None:
    """Ten keys a second for a minute, each followed by a fetch of the board, on a screen that has just been opened."""
    device = terminal()
    assert [ask(cookie=device) for _ in range(PAGE)] == [200] * PAGE
    for _ in range(600):
        clock[0] += 0.1
        assert [ask(cookie=device), ask(cookie=device)] == [200, 200]


# --- Logging ------------------------------------------------------------------------------------------------------


def test_refusals_are_counted_and_summed_up_in_the_log(
    ask: Callable[..., int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Harm: a runaway client fills the disk with log lines."""
    moment = [0.0]
    monkeypatch.setattr(access_log.time, "monotonic", lambda: moment[0])
    lines: list[dict[str, Any]] = []
    monkeypatch.setattr(access_log.log, "info", lambda line: lines.append(json.loads(line)))
    before = meters.THROTTLED.labels("client")._value.get()
    wild = terminal()
    for _ in range(700):
        ask(cookie=wild)
    moment[0] = access_log.QUIET_SECONDS
    ask(cookie=wild)
    refusals = [line for line in lines if line["status"] == 429]
    assert [(line["limit"], line["refused"], line["address"]) for line in refusals] == [
        ("client", 1, "10.0.0.1"),
        ("client", 500, "10.0.0.1"),
    ]
    assert len(lines) == 200 + 2, "every answered request has a line of its own"
    assert meters.THROTTLED.labels("client")._value.get() - before == 501
    assert not any(part in json.dumps(lines) for part in wild.split(":")), "the cookie is in the log"


# --- Real processes -----------------------------------------------------------------------------------------------


SHIPPED_LIMITS: Final = dict.fromkeys(processes.UNTHROTTLED)


@pytest.mark.django_db(transaction=True)
def test_a_dealer_who_floods_their_table_gets_nobody_else_refused(
    own_web: Callable[..., processes.Web],
) -> None:
    """Harm: one terminal that never stops sending delays the others' inputs; or a refused input is lost, or recorded
    twice when it is sent again."""
    tight = {"REQUESTS_PER_CLIENT": "40", "REQUESTS_PER_CLIENT_A_SECOND": "1"}
    web = own_web(**SHIPPED_LIMITS | tight)
    dora, dan, _ = load.two_tables(web.url)
    key = uuid.uuid4()
    with ThreadPoolExecutor(4) as threads:
        flood = [threads.submit(dora.sends, uuid.uuid4(), 1_000) for _ in range(400)]
        steps = [dan.input() for _ in range(20)]
        answers = [answer.result() for answer in flood]
    assert [step.status for step in steps] == [200] * 20
    refused = [answer for answer in answers if answer.status == 429]
    assert len(refused) >= 300, "nothing stops the flood"
    problem = json.loads(refused[0].text)
    assert (problem["code"], problem["detail"]) == ("throttled", CLIENT.sentence)
    assert refused[0].headers["retry-after"] == "1"
    _assert_recorded_once(dora, key)


def _assert_recorded_once(dealer: Dealer, key: uuid.UUID) -> None:
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
def test_streams_and_inputs_do_not_wait_for_each_other(own_web: Callable[..., processes.Web]) -> None:
    """Harm: a crowd of open streams, or a hanging process for streams, keeps a dealer from dealing; or a hanging web
    process keeps the pit from seeing what is recorded."""
    web, streams = own_web(**SHIPPED_LIMITS), own_web("--streams", **SHIPPED_LIMITS, STREAMS_IN_ALL="2")
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
