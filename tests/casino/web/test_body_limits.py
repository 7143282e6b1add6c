"""Requests that are too large or in an unsupported encoding are refused before Django, also by the real web process."""

import http.client
import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from casino.web import body_limits
from casino.web.body_limits import MOST_BYTES
from tests import processes

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def house(web: processes.Web) -> Iterator[http.client.HTTPConnection]:
    """A connection of our own."""
    connection = http.client.HTTPConnection(urlsplit(web.url).netloc, timeout=30)
    yield connection
    connection.close()


def answer(house: http.client.HTTPConnection) -> tuple[int, str]:
    response = house.getresponse()
    return response.status, response.read().decode()


def pieces(count: int) -> Iterator[bytes]:
    yield from (b"a" * 10_000 for _ in range(count))


def test_a_body_that_says_it_is_too_large_is_not_even_read(house: http.client.HTTPConnection) -> None:
    """Harm: a few of them fill the memory, or the disk, of the machine that every dealer waits for."""
    house.putrequest("POST", "/sign-in/")
    house.putheader("Content-Type", FORM)
    house.putheader("Content-Length", str(MOST_BYTES + 1))
    house.endheaders()
    assert answer(house) == (413, "The request is too large: the house reads at most a megabyte.")


def test_a_program_is_told_in_its_own_form(house: http.client.HTTPConnection) -> None:
    """Harm: a client reads ten megabytes' refusal as text that it has no form for, and takes it for another failure."""
    house.putrequest("POST", "/api/tables/1/inputs/")
    house.putheader("Content-Type", "application/json")
    house.putheader("Content-Length", str(10 * MOST_BYTES))
    house.endheaders()
    response = house.getresponse()
    refused = json.loads(response.read())
    assert (response.status, response.getheader("Content-Type")) == (413, "application/problem+json")
    assert (refused["code"], refused["instance"]) == ("too_large", "/api/tables/1/inputs/")


def test_a_body_of_unknown_length_is_refused_once_it_is_too_large(house: http.client.HTTPConnection) -> None:
    """Harm: a client that streams its body fills the memory of the machine that serves every dealer."""
    try:
        house.request("POST", "/sign-in/", pieces(2_000), {"Content-Type": FORM}, encode_chunked=True)
    except (BrokenPipeError, ConnectionResetError):
        pass  # refused while it was still being sent
    else:
        assert answer(house)[0] == 413


def refusal_of(headers: dict[bytes, bytes]) -> body_limits.RefusedRequest | None:
    try:
        body_limits.check_headers(headers)
    except body_limits.RefusedRequest as refusal:
        return refusal
    return None


@pytest.mark.parametrize("length", [b"-1", b"1e9", b"9" * 5_000, b"\xb2", b"", b"1 2", b"1_0", b"1, 1", b"%d" % 2**64])
def test_a_length_that_is_no_number_is_refused(web: processes.Web, length: bytes) -> None:
    """Harm: an unreadable content length is taken for a small one, or fails in the web process."""
    address = urlsplit(web.url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as line:
        line.sendall(b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length + b"\r\n\r\n")
        assert line.recv(12) == b"HTTP/1.1 400"


@pytest.mark.parametrize(
    ("charset", "refusal"),
    [*((name, body_limits.NOT_UTF8) for name in (b"utf-16", b"nonsense", b"utf-7", b'"')),
     *((name, None) for name in (b"utf-8", b"UTF-8", b'"utf-8"', b"utf8"))],
)  # fmt: skip
def test_a_form_is_read_in_utf_8_and_in_no_other_encoding(
    charset: bytes, refusal: body_limits.RefusedRequest | None
) -> None:
    """Harm: a form is decoded as other text than was typed, or fails with an error; or browsers and clients that name
    UTF-8 are refused."""
    assert refusal_of({b"content-type": FORM.encode() + b"; charset=" + charset}) is refusal
