"""The outbound HTTP client against hostile receivers: slow, endless, cut off, or with another host's certificate."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tables.alerts import outbound
from tables.alerts.outbound import NotSent
from tests.tables.audit.test_doctor import serve

Answer = Callable[[socket.socket], None]
Address = Callable[[Answer], str]
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture
def address() -> Iterator[Address]:
    """Makes a receiver that answers one connection; its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def receive(answer: Answer) -> str:
        def work() -> None:
            with listener.accept()[0] as connection:
                connection.recv(65_536)
                try:
                    answer(connection)
                except OSError:
                    return  # the client hung up

        threading.Thread(target=work, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/"

    with closing(listener):
        yield receive


def post(address: str, *, seconds: float = 0.5, most: int = 1_000) -> outbound.OutboundResponse:
    return outbound.post(address, b"{}", {}, to_own_host=True, seconds=seconds, most=most)


def trickle(start: bytes, byte: bytes) -> Answer:
    def answer(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(byte)
            threading.Event().wait(0.05)

    return answer


@pytest.mark.parametrize(("start", "byte"), [(b"", b"H"), (OK + b"X: ", b"x"), (OK + b"\r\n", b"x")])
def test_a_receiver_that_sends_single_bytes_is_left_in_time(address: Address, start: bytes, byte: bytes) -> None:
    """Harm: a hostile receiver of one webhook occupies the worker of all alerts for ever."""
    began = time.monotonic()
    with pytest.raises(NotSent, match="could not be reached"):
        post(address(trickle(start, byte)))
    assert time.monotonic() - began < 4


def test_a_silent_receiver_is_left_in_time(address: Address) -> None:
    """Harm: a receiver that accepts the connection and says nothing holds the worker of all alerts."""

    def silent(connection: socket.socket) -> None:
        threading.Event().wait(3)

    with pytest.raises(NotSent, match="TimeoutError"):
        post(address(silent))


def test_no_log_line_has_the_address_of_a_webhook(address: Address, caplog: pytest.LogCaptureFixture) -> None:
    """Harm: the secret in the address of a chat service's webhook is in the log of every worker."""
    assert (
        post(address(lambda connection: connection.sendall(OK + b"Content-Length: 0\r\n\r\n")) + "t0ken").status == 200
    )
    assert "t0ken" not in caplog.text


def test_only_the_beginning_of_an_endless_answer_is_read(address: Address) -> None:
    """Harm: a receiver fills the worker's memory, or unpacks a small answer to gigabytes."""

    def endless(connection: socket.socket) -> None:
        connection.sendall(OK + b"Content-Encoding: gzip\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65_536)

    answer = post(address(endless), seconds=5, most=70_000)
    assert (answer.status, len(answer.body), set(answer.body)) == (200, 70_000, {ord("x")})


def test_no_proxy_of_the_environment_is_used(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: signed alerts go by a proxy that resolves the name again, past the check of its address."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert post(address(lambda connection: connection.sendall(OK + b"Content-Length: 2\r\n\r\nok"))).body == b"ok"


def test_the_certificate_is_verified_for_the_name_and_not_for_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: with the connection pinned to an IP address, another host's certificate is accepted, or none ever is."""
    server = serve(tmp_path, datetime.now(UTC) + timedelta(days=9))
    numeric = socket.getaddrinfo

    def looked_up(host: str, *options: Any, **named: Any) -> Any:
        return numeric("127.0.0.1", *options, **named)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    for name in ("localhost", "hook.example"):
        with pytest.raises(NotSent, match="SSLCertVerificationError"):  # no authority of the system signed it
            post(f"https://{name}:{server.server_port}/", seconds=5)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "chain.pem"))
    assert post(f"https://localhost:{server.server_port}/", seconds=5).status == 501
    with pytest.raises(NotSent, match="SSLCertVerificationError"):
        post(f"https://hook.example:{server.server_port}/", seconds=5)
    server.shutdown()
    server.server_close()
