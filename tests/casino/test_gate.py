"""In front of the real web process: what is too large, or in no encoding that we read, is refused before Django."""

import http.client
import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from casino.gate import MOST_BYTES
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


def test_nor_is_one_that_does_not_say(house: http.client.HTTPConnection) -> None:
    """Harm: the same, by a client that streams."""
    try:
        house.request("POST", "/sign-in/", pieces(2_000), {"Content-Type": FORM}, encode_chunked=True)
    except (BrokenPipeError, ConnectionResetError):
        pass  # refused while it was still being sent
    else:
        assert answer(house)[0] == 413


@pytest.mark.parametrize("length", ["-1", "1e9", "9" * 5_000])
def test_nor_one_whose_length_is_nonsense(house: http.client.HTTPConnection, length: str) -> None:
    """Harm: a number that nobody can read is taken for a small one."""
    house.putrequest("POST", "/sign-in/")
    house.putheader("Content-Length", length)
    house.endheaders()
    assert answer(house)[0] in (400, 413)


@pytest.mark.parametrize("charset", ["utf-16", "nonsense", "utf-7", '"'])
def test_a_form_in_another_encoding_is_refused(house: http.client.HTTPConnection, charset: str) -> None:
    """Harm: a form is read as something else than was typed, or not at all, with a failure."""
    house.request("POST", "/sign-in/", b"a=b", {"Content-Type": f"{FORM}; charset={charset}"})
    assert answer(house) == (415, "Send text in UTF-8.")


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", '"utf-8"', "utf8"])
def test_utf_8_by_any_of_its_names_is_not(house: http.client.HTTPConnection, charset: str) -> None:
    """Harm: browsers and clients that say so are locked out."""
    house.request("POST", "/sign-in/", b"a=b", {"Content-Type": f"{FORM}; charset={charset}"})
    assert answer(house)[0] == 403, "the form's token is missing, which is another matter"
