"""The real web process, without a proxy, and clients that send headers without an end or read nothing."""

import contextlib
import http.client
import resource
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests import load, processes
from tests.dealer_ui.live.test_streams import Stream
from tests.floor import dealt
from tests.patience import eventually
from tests.tiers import Tier, belongs_to

pytestmark = pytest.mark.django_db(transaction=True)

FILES = 4_096
HALF = b"GET /healthz HTTP/1.1\r\nHost: local"


@pytest.fixture(scope="module")
@belongs_to(Tier.TRIALS)
def narrow(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[processes.Web]:
    """A web process with few files, and two seconds for a client to read."""
    environment = process_environment | {"READING_SECONDS": "2"}
    web = processes.web_process(environment, tmp_path_factory.mktemp("narrow") / "log")
    web.command = ["prlimit", f"--nofile={FILES}:{FILES}", *web.command]
    web.start()
    yield web
    web.stop()


def connect(web: processes.Web, sent: bytes = b"") -> socket.socket:
    address = urlsplit(web.url)
    line = socket.create_connection((address.hostname, address.port), timeout=10)
    line.sendall(sent)
    return line


def answers(web: processes.Web) -> int:
    connection = http.client.HTTPConnection(urlsplit(web.url).netloc, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/sign-in/")
        return connection.getresponse().status


def test_a_thousand_half_requests_keep_no_dealer_out(narrow: processes.Web) -> None:
    """Harm: an anonymous client opens a thousand connections to a site without a proxy, sends half a line on each,
    and the floor stops."""
    with contextlib.ExitStack() as held:
        for count in range(1, 1_025):
            held.enter_context(contextlib.closing(connect(narrow, HALF if count % 2 else b"")))
            if count % 256 == 0:
                began = time.monotonic()
                assert answers(narrow) == 200
                assert time.monotonic() - began < 3, "half requests are waited for"
    assert "Too many open files" not in narrow.output()


CHUNKED = b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"


@pytest.mark.parametrize(
    "beginning",
    [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", CHUNKED],
    ids=["head", "headers after a body"],
)
def test_headers_that_do_not_end_are_cut_off(narrow: processes.Web, beginning: bytes) -> None:
    """Harm: a few clients send headers without an end, and the web process grows until the system kills it."""
    with contextlib.closing(connect(narrow, beginning)) as line:
        sent = 0
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 50_000_000:
                sent += line.send(b"X-Filling: " + b"x" * 10_000 + b"\r\n")
        assert sent < 20_000_000, "it went on reading"
    assert answers(narrow) == 200


def test_a_connection_that_is_used_again_and_again_is_kept(narrow: processes.Web) -> None:
    connection = http.client.HTTPConnection(urlsplit(narrow.url).netloc, timeout=10)
    with contextlib.closing(connection):
        connection.connect()
        for pause in (0, 0.5, 4):
            assert select.select([connection.sock], [], [], pause)[0] == [], "it was closed"
            connection.request("GET", "/sign-in/")
            response = connection.getresponse()
            response.read()
            assert response.status == 200
            assert response.headers["Connection"] != "close"


def test_an_open_stream_is_not_taken_for_half_a_request(narrow: processes.Web) -> None:
    dealer, boss = dealt()
    with contextlib.closing(Stream(narrow, boss.by, f"?table={dealer.table.pk}")) as stream:
        assert stream.news() == dealer.now.seq
        assert not stream.is_over(seconds=4)
        dealer("bet", seat=1, amount_cents=1_000)
        assert stream.news() == dealer.now.seq


def test_a_reader_who_takes_nothing_is_cut_off(narrow: processes.Web) -> None:
    """Harm: two downloads that their reader never takes keep that person from every further one."""
    dora, _, boss = load.two_tables(narrow.url)
    dora.seq = load.write_much(dora.table, megabytes=8)
    browser, path = load.signed_in(narrow.url, boss), f"/pit/tables/{dora.table.pk}/log.csv"
    with contextlib.ExitStack() as lines:
        slow = [lines.enter_context(browser.slow(path)) for _ in range(2)]
        assert [line.recv(12) for line in slow] == [b"HTTP/1.1 200"] * 2
        assert browser.send("GET", "/pit/alerts.csv").status == 429
        began = time.monotonic()
        eventually(lambda: browser.send("GET", "/pit/alerts.csv").status == 200)
        assert time.monotonic() - began < 20


@pytest.mark.usefixtures("own_processes")
def test_the_process_takes_all_the_files_that_it_may_have(process_environment: dict[str, str], tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    web = processes.web_process(process_environment, tmp_path / "log")
    web.command = ["prlimit", "--nofile=512:", *web.command]
    web.start()
    try:
        assert web.process is not None
        limits = Path(f"/proc/{web.process.pid}/limits").read_text()
        soft = next(line.split()[3] for line in limits.splitlines() if line.startswith("Max open files"))
        assert int(soft) == min(hard, 65_536)
    finally:
        web.stop()
