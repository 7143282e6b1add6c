"""Dealers deal on through the proxy while both web processes are replaced: no input is refused, and none is lost."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connections

from casino.embedded.keeper import die_with_parent
from ledger.models import LogEntry
from tables.state import table_state
from tests import load, nginx, processes
from tests.casino import test_nginx
from tests.load import Answer, Browser, Dealer
from tests.patience import eventually
from tests.server import dealing
from tests.tiers import Tier, belongs_to

pytestmark = pytest.mark.django_db(transaction=True)

ROLLING = Path(settings.BASE_DIR) / "deploy" / "rolling"


class Screen(Browser):
    """A screen that keeps its connection."""

    line: http.client.HTTPSConnection
    context: ssl.SSLContext

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        heads = self._heads() | {"Referer": "https://localhost/"} | headers
        began = time.perf_counter()
        answer = dealing.ask(self.line, method, path, body, heads)
        text = answer.read().decode()
        return Answer(answer.status, text, time.perf_counter() - began, dict(answer.getheaders()))


@dataclass
class Shift:
    """A dealer who goes on until told to stop, and what became of it."""

    dealer: Dealer
    acknowledged: list[uuid.UUID] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def deal(self) -> None:
        while not self.over.is_set():
            key = uuid.uuid4()
            try:
                answer = self.dealer.input(key)
            except (OSError, http.client.HTTPException) as broken:
                self.refused.append(repr(broken))
                self.dealer.browser.line.close()  # type: ignore[attr-defined]
            else:
                self.note(key, answer)
            self.over.wait(0.04)  # both together are as much as a hundred tables

    def note(self, key: uuid.UUID, answer: Answer) -> None:
        if answer.status == 200:
            self.acknowledged.append(key)
        else:
            self.refused.append(f"{answer.status} {answer.text[:80]}")


@dataclass
class House:
    """nginx before two web processes."""

    webs: dict[int, processes.Web]
    folder: Path
    port: int
    nginx: list[str]

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    def screen(self, dealer: Dealer) -> Dealer:
        context = ssl.create_default_context(cafile=str(self.folder / "fullchain.pem"))
        screen = Screen(self.url, dealer.browser.cookies)
        screen.line = http.client.HTTPSConnection("localhost", self.port, context=context, timeout=30)
        dealer.browser = screen
        return dealer

    def replace_all(self) -> subprocess.CompletedProcess[str]:
        """As deploy/install does it; what systemd would do to a process is done here when a file asks for it."""
        for port in self.webs:
            os.mkfifo(self.folder / f"restarted-{port}")
        ask = f"touch {self.folder}/restart-{{port}}; cat {self.folder}/restarted-{{port}}"
        command = [sys.executable, str(ROLLING), *map(str, self.webs), "--host", "localhost", "--restart", ask]
        command += [
            "--upstream",
            str(self.folder / "upstream.conf"),
            "--reload",
            " ".join([*self.nginx, "-s", "reload"]),
        ]
        rolling = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        eventually(lambda: self._restarts() and rolling.poll() is not None, seconds=200)
        out, err = rolling.communicate()
        return subprocess.CompletedProcess(command, rolling.returncode, out, err)

    def _restarts(self) -> bool:
        """Restart the processes that are asked for."""
        for port, web in self.webs.items():
            if (asked := self.folder / f"restart-{port}").exists():
                asked.unlink()
                web.restart()
                (self.folder / f"restarted-{port}").write_text("")
        return True


@pytest.fixture
@belongs_to(Tier.TRIALS)
def house(process_environment: dict[str, str], transactional_db: None) -> Iterator[House]:
    folder = Path(tempfile.mkdtemp(prefix="casino-rolling-"))
    environment = process_environment | {"ALLOWED_HOSTS": "localhost,127.0.0.1"}
    webs = [processes.web_process(environment, folder / f"web-{number}") for number in range(2)]
    by_port = {int(web.url.rpartition(":")[2]): web for web in webs}
    port = processes.free_port()
    test_nginx.write_certificate(folder)
    test_nginx.configure(folder, webs[0], webs[1], port, processes.free_port())
    shipped = (folder / "casino.conf").read_text()
    first = f"server {webs[0].url.removeprefix('http://')};"
    assert first in shipped
    (folder / "casino.conf").write_text(shipped.replace(first, f"include {folder}/upstream.conf;"))
    (folder / "upstream.conf").write_text("".join(f"server 127.0.0.1:{port};\n" for port in by_port))
    command = [str(nginx.path()), "-e", f"{folder}/error.log", "-p", str(folder), "-c", f"{folder}/nginx.conf"]
    for path in (folder, *folder.iterdir()):
        path.chmod(path.stat().st_mode | 0o055)
    proxy = subprocess.Popen(
        [*command, "-g", "user root;"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_parent
    )
    try:
        for web in webs:
            web.start()
        test_nginx.wait_for(port)
        yield House(by_port, folder, port, command)
    finally:
        proxy.send_signal(signal.SIGTERM)
        proxy.wait(timeout=20)
        for web in webs:
            web.stop()
        shutil.rmtree(folder, ignore_errors=True)


def shifts(house: House) -> Iterator[Shift]:
    first, second, _ = load.two_tables(house.url)
    yield from (Shift(house.screen(dealer)) for dealer in (first, second))


def dealing_through(house: House, deed: Callable[[], Any]) -> tuple[list[Shift], Any]:
    """Keep two dealers dealing during an operation on the site."""
    every = list(shifts(house))
    threads = [threading.Thread(target=shift.deal) for shift in every]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: all(shift.acknowledged for shift in every))
        came = deed()
    finally:
        for shift in every:
            shift.over.set()
        for thread in threads:
            thread.join()
        for shift in every:
            shift.dealer.browser.line.close()  # type: ignore[attr-defined]
        connections.close_all()
    return every, came


def test_no_input_is_refused_or_lost_while_every_web_process_is_replaced(house: House) -> None:
    """Harm: an upgrade waits for the night in which no table is open, or costs a dealer an input."""
    served = {port: web.process.pid for port, web in house.webs.items() if web.process}
    every, rolled = dealing_through(house, house.replace_all)
    assert rolled.returncode == 0, rolled.stderr
    assert not set(served.values()) & {web.process.pid for web in house.webs.values() if web.process}
    assert (house.folder / "upstream.conf").read_text().count("server") == 2
    assert " down" not in (house.folder / "upstream.conf").read_text()
    for shift in every:
        assert shift.refused == []
        assert len(shift.acknowledged) > 100
        book = shift.dealer.table.book_id
        kept = LogEntry.objects.filter(book_id=book, key__in=shift.acknowledged).count()
        assert kept == len(shift.acknowledged), "an input that was acknowledged is nowhere"
        assert table_state.of(shift.dealer.table).seq == shift.dealer.seq


def test_a_process_that_does_not_come_back_ends_it_with_the_other_one_serving(house: House) -> None:
    """Harm: a release that cannot start takes the whole floor down, one process after the other."""
    first, second = house.webs
    command = [sys.executable, str(ROLLING), str(first), str(second), "--host", "localhost", "--seconds", "1"]
    command += ["--upstream", str(house.folder / "upstream.conf"), "--reload", " ".join([*house.nginx, "-s", "reload"])]
    house.webs[first].stop()
    rolled = subprocess.run([*command, "--restart", "true"], capture_output=True, text=True, check=False)
    assert rolled.returncode == 1
    assert f"port {first} does not answer" in rolled.stderr
    assert f"server 127.0.0.1:{first} down;" in (house.folder / "upstream.conf").read_text()
    with closing(http.client.HTTPConnection("127.0.0.1", second, timeout=10)) as line:
        line.request("GET", "/healthz", headers={"Host": "localhost"})
        assert line.getresponse().status == 200
