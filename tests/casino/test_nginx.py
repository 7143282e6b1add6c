"""The nginx configuration that is shipped, in a real nginx of an unprivileged user, before a real web process."""

import http.client
import os
import pwd
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.conf import settings
from django.test import Client

from casino.embedded.keeper import die_with_parent
from casino.web import body_limits, streams
from tests import nginx, processes
from tests.floor import dealt
from tests.patience import eventually
from tests.tiers import Tier, belongs_to

pytestmark = pytest.mark.django_db(transaction=True)

SHIPPED = Path(settings.BASE_DIR) / "deploy" / "nginx"
SECRET = "kSecretOfASeat7"
CONNECTIONS = 512
MAIN = """
daemon off;
pid {here}/pid;
error_log {here}/error.log notice;
events {{ worker_connections {connections}; }}
http {{
    types {{ text/css css; application/javascript js; }}
    client_body_temp_path {here}/body; proxy_temp_path {here}/proxy; fastcgi_temp_path {here}/f;
    uwsgi_temp_path {here}/u; scgi_temp_path {here}/s;
    include {here}/casino.conf;
}}
"""


def write_certificate(folder: Path) -> None:
    """A certificate of our own for localhost."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    start = datetime.now(UTC) - timedelta(days=1)
    certificate = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    certificate = certificate.serial_number(x509.random_serial_number())
    certificate = certificate.not_valid_before(start).not_valid_after(start + timedelta(days=9))
    certificate = certificate.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    (folder / "fullchain.pem").write_bytes(
        certificate.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "privkey.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))


def configure(folder: Path, web: processes.Web, streams: processes.Web, port: int, plain: int) -> None:
    """What is shipped, with the names, ports and folders of this machine, and less patience."""
    text = (SHIPPED / "casino.conf").read_text()
    for shipped, ours in (
        ("include casino-upstream.conf;", f"server {web.url.removeprefix('http://')};"),
        ("server 127.0.0.1:8010 ", f"server {streams.url.removeprefix('http://')} "),
        ("server 127.0.0.1:8000 backup;", f"server {web.url.removeprefix('http://')} backup;"),
        ("server 127.0.0.1:8001 backup;", ""),
        ("casino.example.org", "localhost"),
        ("listen 80 default_server", f"listen 127.0.0.1:{plain} default_server"),
        ("listen [::]:80 default_server;", ""),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("listen [::]:443 ssl http2 default_server;", ""),
        ("listen [::]:443 ssl http2;", ""),
        ("/etc/nginx/casino/", f"{folder}/"),
        ("/var/log/nginx/", f"{folder}/"),
        ("include casino-proxy.conf", f"include {SHIPPED}/casino-proxy.conf"),
        ("root /opt/casino;", f"root {folder};"),
        ("client_header_timeout 10s", "client_header_timeout 1s"),
        ("client_body_timeout 10s", "client_body_timeout 1s"),
    ):
        assert shipped in text, f"{shipped!r} is not in the configuration any more"
        text = text.replace(shipped, ours)
    (folder / "casino.conf").write_text(text)
    (folder / "nginx.conf").write_text(MAIN.format(here=folder, connections=CONNECTIONS))


@dataclass
class House:
    """nginx in front of a web process, and of one for streams."""

    web: processes.Web
    streams: processes.Web
    folder: Path
    port: int
    plain: int

    def connection(self, **options: Any) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=str(self.folder / "fullchain.pem"))
        return http.client.HTTPSConnection("localhost", self.port, context=context, timeout=60, **options)

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[http.client.HTTPResponse, str]:
        connection = self.connection()
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response, text

    def logs(self) -> str:
        return "".join(path.read_text() for path in self.folder.glob("*.log"))


@pytest.fixture(scope="module")
@belongs_to(Tier.TRIALS)
def tls_web(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[processes.Web]:
    """A web process as it is behind TLS. By default it believes a proxy on this machine, and no other."""
    environment = process_environment | {"TLS": "true", "ALLOWED_HOSTS": "localhost,127.0.0.1"}
    web = processes.web_process(environment, tmp_path_factory.mktemp("tls") / "log")
    web.start()
    yield web
    web.stop()


@pytest.fixture(scope="module")
@belongs_to(Tier.TRIALS)
def tls_streams(
    process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[processes.Web]:
    """The process for streams beside it."""
    environment = process_environment | {"TLS": "true", "ALLOWED_HOSTS": "localhost,127.0.0.1"}
    web = processes.web_process(environment, tmp_path_factory.mktemp("streams") / "log", "--streams")
    web.start()
    yield web
    web.stop()


@pytest.fixture(scope="module")
def house(tls_web: processes.Web, tls_streams: processes.Web) -> Iterator[House]:
    folder = Path(tempfile.mkdtemp(prefix="casino-nginx-"))
    house = House(tls_web, tls_streams, folder, processes.free_port(), processes.free_port())
    write_certificate(folder)
    configure(folder, tls_web, tls_streams, house.port, house.plain)
    command = [str(nginx.path()), "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    somebody: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        somebody = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, nobody.pw_uid, nobody.pw_gid)
    tried = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False, **somebody)
    assert tried.returncode == 0, tried.stderr
    assert "[warn]" not in tried.stderr, tried.stderr
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent, **somebody)
    try:
        wait_for(house.port)
        yield house
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=10)
        shutil.rmtree(folder)


def wait_for(port: int) -> None:
    def listens() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    eventually(listens, "nginx does not listen")


# --- TLS ------------------------------------------------------------------------------------------------------


def test_the_house_is_reached_by_tls_alone_and_by_its_name_alone(house: House) -> None:
    response, text = house.ask("/sign-in/")
    assert response.status == 200
    assert "Sign in" in text
    assert response.headers["Strict-Transport-Security"].startswith("max-age=31536000")
    assert "Secure" in response.headers["Set-Cookie"]
    assert "nginx/" not in str(response.headers), "it tells its version"
    plain = http.client.HTTPConnection("127.0.0.1", house.plain, timeout=10)
    plain.request("GET", f"/seat/{SECRET}/", headers={"Host": "evil.example"})
    answer = plain.getresponse()
    assert (answer.status, answer.headers["Location"]) == (301, f"https://localhost/seat/{SECRET}/")
    plain.close()
    blind = ssl.create_default_context()
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", house.port)) as raw,
        pytest.raises(ssl.SSLError),
        blind.wrap_socket(raw, server_hostname="other.example"),
    ):
        pass


# --- Streams --------------------------------------------------------------------------------------------------


def test_an_event_comes_through_at_once_and_nobody_lies_about_their_address(house: House) -> None:
    """Harm: a proxy that gathers what it is sent keeps the floor from the pit; one that believes what clients say of
    their address lets one client be a thousand."""
    dealer, boss = dealt()
    client = Client()
    client.force_login(boss.by, backend="django.contrib.auth.backends.ModelBackend")
    headers = {"Cookie": f"sessionid={client.cookies['sessionid'].value}", "X-Forwarded-For": "6.6.6.6"}
    headers |= {"X-Real-IP": "6.6.6.6", "Forwarded": "for=6.6.6.6", "X-Forwarded-Proto": "http"}
    connection = house.connection()
    connection.request("GET", f"/live/?table={dealer.table.pk}", headers=headers)
    response = connection.getresponse()
    assert response.status == 200
    read: list[str] = []

    def until(seq: int) -> None:
        while f"data: {seq}" not in read:
            read.append(response.readline().decode().rstrip("\n"))

    until(dealer.now.seq)
    for seat in (1, 2, 3):
        dealer("bet", seat=seat, amount_cents=1_000)
        began = time.monotonic()
        until(dealer.now.seq)
        assert time.monotonic() - began < streams.HEARTBEAT, "it came with the next sign of life"
    connection.close()
    assert '"address": "127.0.0.1", "method": "GET", "path": "/live/"' in house.streams.output()
    assert "6.6.6.6" not in house.streams.output()
    assert '"path": "/live/"' not in house.web.output(), "who watches takes the time of who deals"


def test_a_process_for_streams_serves_nothing_else(house: House) -> None:
    """Harm: pages asked of it would take the one process that every screen of the floor follows the tables by."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{house.streams.url}/sign-in/", timeout=10)
    refused.value.close()
    assert refused.value.code == 404


def test_screens_follow_the_floor_while_the_process_for_streams_is_away(house: House) -> None:
    """Harm: one process that dies, and no screen of the floor moves."""
    _, boss = dealt()
    client = Client()
    client.force_login(boss.by, backend="django.contrib.auth.backends.ModelBackend")
    house.streams.stop()
    try:
        connection = house.connection()
        connection.request("GET", "/live/", headers={"Cookie": f"sessionid={client.cookies['sessionid'].value}"})
        response = connection.getresponse()
        assert response.status == 200
        assert response.readline()
        connection.close()
    finally:
        house.streams.start()


# --- Limits ---------------------------------------------------------------------------------------------------


def test_tries_at_the_door_are_limited_by_address(house: House) -> None:
    """Harm: 40 connections that send wrong passwords take every processor, and no dealer is answered."""
    answers = [house.ask("/sign-in/", "POST", b"username=x&password=y") for _ in range(40)]
    refused = [(response, text) for response, text in answers if response.status == 429]
    assert 5 <= len(refused) < 40
    response, text = refused[0]
    assert text.startswith("Too many requests from this address")
    assert response.headers["Retry-After"] == "5"
    assert house.ask("/sign-in/")[0].status == 200, "who only looks is shut out with them"


def test_a_body_that_is_too_large_goes_no_further(house: House) -> None:
    assert f"client_max_body_size {body_limits.MOST_BYTES};" in (SHIPPED / "casino.conf").read_text()
    connection = house.connection()
    connection.putrequest("POST", "/seat/x/choose")
    connection.putheader("Content-Length", str(body_limits.MOST_BYTES + 1))
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 413
    assert b"at most a megabyte" in response.read()
    connection.close()


HALF = b"GET /sign-in/ HTTP/1.1\r\nHost: local"
SLOW = b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf"


def is_closed_within(line: socket.socket, seconds: float) -> bool:
    line.settimeout(seconds)
    try:
        while line.recv(4096):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize("sent", [b"", HALF, SLOW], ids=["nothing", "half a head", "half a body"])
def test_half_a_request_is_given_up_in_time(sent: bytes, house: House) -> None:
    """Harm: a few clients that never end their requests hold connections for ever; nginx waits a minute by default."""
    with closing(house.connection()) as connection:
        connection.connect()
        connection.sock.sendall(sent)
        began = time.monotonic()
        assert is_closed_within(connection.sock, 30)
        assert time.monotonic() - began > 0.5, "a client is not given its time"


def test_a_trickle_is_no_progress(house: House) -> None:
    """Harm: a byte now and then keeps a connection for ever."""
    with closing(house.connection()) as connection:
        connection.connect()
        connection.sock.sendall(HALF)
        began = time.monotonic()
        with suppress(ConnectionError, ssl.SSLError):
            while not is_closed_within(connection.sock, 0.2) and time.monotonic() - began < 30:
                connection.sock.sendall(b"l")
        assert time.monotonic() - began < 30


def test_more_half_requests_than_there_are_connections_keep_no_dealer_out(house: House) -> None:
    """Harm: an anonymous client opens a thousand connections, sends half a line on each, and the floor stops."""
    with ExitStack() as held:
        for _ in range(2 * CONNECTIONS):
            line = held.enter_context(closing(socket.create_connection(("127.0.0.1", house.plain), timeout=10)))
            with suppress(ConnectionError):
                line.sendall(HALF)
        began = time.monotonic()
        eventually(lambda: answers(house))
        assert time.monotonic() - began < 10, "half requests are not given up"


def answers(house: House) -> bool:
    with suppress(OSError):
        return house.ask("/sign-in/")[0].status == 200
    return False


# --- Secrets and outages --------------------------------------------------------------------------------------


def test_no_log_holds_a_secret_address_not_even_in_an_outage(house: House) -> None:
    """Harm: whoever may read a proxy's logs sees a player's cards, or makes a device of theirs a terminal."""
    asked = [f"/seat/{SECRET}/", f"/seat/{SECRET}/live", f"/enrol/{SECRET}:x", f"/sign-in/?next=/seat/{SECRET}/"]
    asked += [f"/sign-in/?next=%2Fenrol%2F{SECRET}", f"//seat/{SECRET}/", f"/%73eat/{SECRET}/", f"/SEAT/{SECRET}"]
    for path in asked:
        assert house.ask(path, Referer=f"https://localhost/seat/{SECRET}/")[0].status < 500
    connection = house.connection()
    connection.putrequest("POST", f"/seat/{SECRET}/choose")
    connection.putheader("Content-Length", "2000000")
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
    house.web.stop()
    house.streams.stop()
    try:
        for path in asked[:4]:
            response, text = house.ask(path)
            assert response.status == 503
            assert text.startswith("The house does not answer just now.")
            assert response.headers["Retry-After"] == "2"
    finally:
        house.web.start()
        house.streams.start()
    assert '"GET /seat/..." 404' in house.logs()
    assert '"GET /seat/..." 503' in house.logs(), "outages are not logged at all"
    assert SECRET not in house.logs()
