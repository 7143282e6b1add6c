"""Receivers of alerts and events for tests: a webhook that fails on demand, and a mail server."""

import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Receiver(ThreadingHTTPServer):
    """A receiver of webhooks that sends the given status codes in turn, then 200."""

    def __init__(self, *answers: int) -> None:
        super().__init__(("127.0.0.1", 0), Received)
        self.answers = list(answers)
        self.got: list[tuple[dict[str, str], bytes, str]] = []
        self.holds = threading.Event()
        self.holds.set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"


class Received(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), body, self.path))
        self.server.holds.wait(30)
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        if status in (301, 302, 307):
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_: Any) -> None:
        """Log no request."""


class Mail(socketserver.StreamRequestHandler):
    """The part of a mail server that one message needs."""

    def handle(self) -> None:
        self._say("220 a test")
        while line := self.rfile.readline().decode().strip():
            word = line.split()[0].upper()
            if word == "DATA":
                self._say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.got.append(b"".join(lines).decode())  # type: ignore[attr-defined]
            if word == "RCPT" and "nobody" in line:
                self._say("550 no such person")
                continue
            self._say("221 bye" if word == "QUIT" else "250 fine")
            if word == "QUIT":
                return

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


class MailServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Mail)
        self.got: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    yield server
    server.holds.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def mail_server(settings: Any) -> Iterator[MailServer]:
    server = MailServer()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.server_address[1]
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    yield server
    server.shutdown()
    server.server_close()
