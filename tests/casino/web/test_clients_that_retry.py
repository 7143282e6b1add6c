"""The clients that ship, at a site that refuses them or is away: when they stop, and how long they wait."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from casino.embedded.servers import BASE_DIR
from tables.management.commands import shoe_reader
from tests.generated_client import casino_client, module_of

CUT_OFF = "cut off"
"""An answer whose body ends too early."""
PAGE: dict[str, Any] = {"events": [], "cursor": "end", "more": False, "items": [], "next": None, "state": "none"}
PROBLEM = {"title": "Token unknown", "detail": "This site issued no such token.", "code": "token_unknown"}
Answer = tuple[int, dict[str, str]] | str


class Stopped(Exception):
    """Raised in place of a wait, to end an endless loop."""


@dataclass
class Site:
    """A server that gives the answers of a list in order, and the last one for ever."""

    answers: list[Answer] = field(default_factory=lambda: [(200, {})])
    requests: int = 0
    waits: list[float] = field(default_factory=list)
    most_waits: int = 50
    url: str = ""

    def next_answer(self) -> Answer:
        answer = self.answers[min(self.requests, len(self.answers) - 1)]
        self.requests += 1
        return answer

    def note_wait(self, seconds: float) -> None:
        """What a client calls instead of time.sleep."""
        self.waits.append(seconds)
        if len(self.waits) >= self.most_waits:
            raise Stopped


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = site.next_answer()
            status, headers = (200, {"Content-Length": "9999"}) if isinstance(answer, str) else answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(json.dumps(PAGE if status == 200 else PROBLEM | {"status": status}).encode())

        do_GET = do_POST = answer

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as served:
        yield served


@pytest.fixture
def follow(site: Site, tmp_path: Path) -> Callable[..., None]:
    """The example of player tracking, by cursor."""
    example = module_of(BASE_DIR / "deploy" / "examples" / "player_tracking.py")

    def run(*, once: bool = False) -> None:
        with closing(example.opened(str(tmp_path / "play.db"))) as database:
            example.follow(site.url, "casino_x", database, once=once, sleep=site.note_wait)

    return run


def list_tables(site: Site) -> Any:
    return casino_client().Casino(site.url, token="casino_x", sleep=site.note_wait).list_tables()


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_client_that_is_refused_stops_at_the_first_refusal(site: Site, follow: Any, status: int) -> None:
    """Harm: an API client with a revoked token asks every second for ever, until its address is locked out and an alert
    is raised."""
    site.answers = [(status, {})]
    for once in (True, False):
        with pytest.raises(SystemExit, match=f"{status} Token unknown: This site issued no such token"):
            follow(once=once)
    with pytest.raises(Exception, match="token_unknown"):
        list_tables(site)
    with pytest.raises(shoe_reader.RefusedMessage):
        shoe_reader.MessageQueue(site.url, "casino_x", sleep=site.note_wait).ask()
    assert site.requests == 4
    assert site.waits == []


@pytest.mark.parametrize("answer", [(429, {}), (500, {}), (503, {}), (502, {"Retry-After": "soon"}), CUT_OFF])
def test_a_client_waits_longer_and_longer_for_a_site_that_is_away(site: Site, follow: Any, answer: Answer) -> None:
    """Harm: all API clients ask a site that restarts at the same moments, every second, and hold it down; or a lost
    connection ends a client for good."""
    site.answers = [answer] * 8 + [(200, {})]
    site.most_waits = 9
    with pytest.raises(Stopped):
        follow()
    for number, seconds in enumerate(site.waits[:8]):
        longest = min(60.0, 2.0**number)
        assert longest / 2 <= seconds <= longest
    assert site.waits[8] == 1.0


def test_a_client_waits_at_least_as_long_as_it_is_asked_to(site: Site, follow: Any) -> None:
    """Harm: a client over its limit asks again too soon, and stays over it."""
    site.answers = [(429, {"Retry-After": "90"}), (200, {})]
    for ask in (
        lambda: follow(),
        lambda: list_tables(site),
        lambda: shoe_reader.MessageQueue(site.url, "x", sleep=site.note_wait).ask(),
    ):
        site.requests, site.waits, site.most_waits = 0, [], 2
        try:
            ask()
        except Stopped:
            assert site.waits[1] == 1.0  # at the end of the feed
        assert site.waits[0] == 90.0


@pytest.mark.parametrize("answer", [(429, {}), (503, {"Retry-After": "1"}), CUT_OFF])
def test_once_makes_no_second_attempt(site: Site, follow: Any, answer: Answer) -> None:
    """Harm: a job that is started every night hangs in its first loop, and no scheduler reports it."""
    site.answers = [answer]
    with pytest.raises(SystemExit, match="is away"):
        follow(once=True)
    assert (site.requests, site.waits) == (1, [])


def test_once_ends_at_a_feed_that_does_not_move(site: Site, follow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a feed that repeats its cursor keeps a nightly job in a loop without a pause."""
    monkeypatch.setitem(PAGE, "more", True)
    follow(once=True)
    assert (site.requests, site.waits) == (2, [])


def test_the_client_library_gives_up_after_three_attempts(site: Site) -> None:
    """Harm: a call to a site that is away never returns, or a site that restarts is an error at once."""
    site.answers = [(503, {}), CUT_OFF, (200, {})]
    assert list_tables(site)["items"] == []
    first, second = site.waits
    assert 1.0 <= first <= 2.0 <= second <= 4.0
    site.answers, site.requests = [(503, {})], 0
    with pytest.raises(Exception, match="token_unknown"):
        list_tables(site)
    assert site.requests == 3
