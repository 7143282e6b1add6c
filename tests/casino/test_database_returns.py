"""A database outage, as in a failover, under a web process with pools: requests that waited in vain must not block
later ones."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import PoolTimeout, TooManyRequests

from casino.database.base import LanePool
from casino.web.pool_sizes import pool_sizes
from tests import load, processes
from tests.database import database_url
from tests.load import Dealer
from tests.patience import eventually

pytestmark = pytest.mark.django_db(transaction=True)

SOCKET: Final = ".s.PGSQL.5432"


class Cable:
    """A proxy in front of a database's socket that can be cut and joined again. It refuses connections while cut."""

    def __init__(self, database: Path, near_end: Path) -> None:
        self._database = database
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(near_end))
        self._listening.listen()
        self._lines: list[socket.socket] = []
        self._is_cut = False
        self._serving = threading.Thread(target=self._serve, daemon=True)
        self._serving.start()

    def _serve(self) -> None:
        while (near := self._accepted()) is not None:
            if self._is_cut:
                near.close()
                continue
            far = socket.socket(socket.AF_UNIX)
            far.connect(str(self._database))
            self._lines += [near, far]
            for line, other in ((near, far), (far, near)):
                threading.Thread(target=_carry, args=(line, other), daemon=True).start()

    def _accepted(self) -> socket.socket | None:
        with suppress(OSError):
            return self._listening.accept()[0]
        return None

    def cut(self) -> None:
        self._is_cut = True
        for line in self._lines:
            _end(line)
        self._lines.clear()

    def join(self) -> None:
        self._is_cut = False

    def end(self) -> None:
        self.cut()
        _end(self._listening)
        self._serving.join()
        self._listening.close()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with source:
        with suppress(OSError):
            while part := source.recv(65_536):
                target.sendall(part)
        _end(target)


def _end(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def cable(process_environment: dict[str, str], tmp_path: Path) -> Iterator[Cable]:
    folder = unquote(urlsplit(process_environment["DATABASE_URL"]).netloc.rpartition("@")[2])
    cable = Cable(Path(folder, SOCKET), tmp_path / SOCKET)
    yield cable
    cable.end()


@pytest.fixture
def dora(
    cable: Cable, process_environment: dict[str, str], tmp_path: Path, own_web: Callable[..., processes.Web]
) -> Dealer:
    """A dealer at work, whose web process reaches its database through the cable."""
    parts = urlsplit(process_environment["DATABASE_URL"])
    role = parts.netloc.rpartition("@")[0]
    url = urlunsplit(parts._replace(netloc=f"{role}@{quote(str(tmp_path), safe='')}"))
    return load.two_tables(own_web(DATABASE_URL=url).url)[0]


def test_an_outage_under_a_full_floor_ends_with_the_outage(dora: Dealer, cable: Cable) -> None:
    """Harm: after a failover of ten seconds under fifty tables, the web processes answer that they are busy until
    somebody restarts them."""
    assert dora.input().status == 200
    cable.cut()
    crowd = 2 * pool_sizes(1)["dealers"].queue + 20
    with ThreadPoolExecutor(60) as screens:
        answers = list(screens.map(lambda _: dora.input().status, range(crowd)))
    assert set(answers) == {503}
    cable.join()
    eventually(lambda: dora.input().status == 200)


def test_requests_that_gave_up_leave_the_queue(tmp_path: Path) -> None:
    """Harm: in an outage of an hour 240,000 requests stay in memory, each with its body and all that it had read, and
    the process is killed for it just as the database returns."""
    pool = LanePool(f"host={tmp_path}", min_size=0, max_size=1, max_waiting=1, timeout=0.5, reconnect_timeout=0.1)
    with pool:
        for _ in range(5):
            with pytest.raises(PoolTimeout):
                pool.getconn()
            assert pool.get_stats()["requests_waiting"] == 0


def test_a_house_whose_connections_are_all_in_use_is_busy_and_its_database_is_not_away() -> None:
    """Harm: under a full floor a dealer reads that the database does not answer, and somebody restarts it."""
    pool = LanePool(database_url("casino_app"), min_size=0, max_size=1, timeout=0.1)
    with pool, pool.connection(timeout=5), pytest.raises(TooManyRequests):
        pool.getconn()


def test_a_database_that_came_back_as_a_request_gave_up_was_away(tmp_path: Path) -> None:
    """Harm: at the end of every outage some dealers read that the house is busy, and look for the crowd."""
    address = make_conninfo(database_url("casino_app"), host=str(tmp_path))
    server = Path(str(conninfo_to_dict(database_url("casino_app"))["host"]), SOCKET)
    pool = LanePool(address, min_size=0, max_size=1, reconnect_timeout=0)
    with pool, ThreadPoolExecutor(2) as requests:
        first = requests.submit(pool.getconn, 10)
        eventually(lambda: pool.last_refusal > 0)
        late = requests.submit(pool.getconn, 2)
        eventually(lambda: pool.get_stats()["requests_waiting"] == 2)
        refused = pool.last_refusal
        with pytest.raises(PoolTimeout):  # another request makes the pool try once more, while the late one waits
            pool.getconn(0.1)
        eventually(lambda: pool.last_refusal > refused)
        (tmp_path / SOCKET).symlink_to(server)
        with pytest.raises(TooManyRequests):  # since the database is back, the first has the only connection
            pool.getconn(0.5)
        connection = first.result()
        with pytest.raises(PoolTimeout):
            late.result()
        pool.putconn(connection)


def test_a_database_that_accepts_a_line_and_says_nothing_is_away(tmp_path: Path) -> None:
    """Harm: while a database starts after a crash, dealers read that the house is busy, and nobody is called."""
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / SOCKET))
        silent.listen()
        pool = LanePool(f"host={tmp_path} connect_timeout=2", min_size=0, max_size=1, timeout=0.2)
        with pool, pytest.raises(PoolTimeout):
            pool.getconn()
