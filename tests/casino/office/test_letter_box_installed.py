"""A letter box as deploy/install sets it up: runs the script's functions with a real PostgreSQL with TLS (Debian's)."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Final

import psycopg
import pytest

from casino.embedded.keeper import die_with_parent, unprivileged
from casino.embedded.servers import BASE_DIR
from tables.audit import export_database
from tests.letter_boxes import DATABASE, FETCHER, WRITER, psql
from tests.patience import eventually
from tests.tiers import Tier, belongs_to

PROGRAMS: Final = max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=Path("/nowhere")).parent
NAME: Final = "casino.trial.test"

pytestmark = pytest.mark.skipif(
    not PROGRAMS.exists(), reason="the tests' own PostgreSQL has no TLS, and Debian's package postgresql is not here"
)


class Host:
    """A host's folders and the functions of deploy/install, without users and units, which need root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.etc, self.data = folder / "etc", folder / "var" / "data"
        self.environment = folder / "casino.env"
        self.environment.touch()
        self.prefix, self.owner = unprivileged()
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port = free.getsockname()[1]
        self.server: subprocess.Popen[bytes] | None = None

    def run(self, *steps: str, office: str = "") -> subprocess.CompletedProcess[str]:
        script = f"""
            source {BASE_DIR}/deploy/install
            BOX={self.etc} BOX_DATA={self.data} BOX_UNIT={self.folder}/unit
            BOX_SOCKETS={self.folder} BOX_PORT={self.port}
            ENVIRONMENT={self.environment} RELEASE={BASE_DIR} NAME={NAME} OFFICE={office}
            getent() {{ :; }}
            systemctl() {{ :; }}
            install() {{ mkdir -p "${{@: -1}}" && command chown {self.owner} "${{@: -1}}"; }}
            chown() {{ command chown {self.owner} "$2"; }}
            runuser() {{ local program=${{4##*/}}; shift 4; {" ".join(self.prefix)} "{PROGRAMS}/$program" "$@"; }}
            letter_box_wanted
            {"; ".join(steps)}
            echo "new: $BOX_IS_NEW$NEW_SETTINGS"
        """
        return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)

    def files(self) -> dict[str, bytes]:
        paths = [self.environment, *self.etc.iterdir(), *(self.folder / "unit").iterdir()]
        return {path.name: path.read_bytes() for path in paths}

    def start(self) -> None:
        access = self.etc / "pg_hba.conf"  # the test does not run as `letterbox`, so peer would refuse it
        access.write_text(access.read_text().replace(" peer\n", " trust\n"))
        places = {
            "config_file": self.etc / "postgresql.conf", "hba_file": access,
            "ssl_cert_file": self.etc / "certificate.pem", "ssl_key_file": self.etc / "privkey.pem",
            "unix_socket_directories": self.folder, "port": self.port, "fsync": "off",
        }  # fmt: skip
        options = [part for name, value in places.items() for part in ("-c", f"{name}={value}")]
        command = [*self.prefix, str(PROGRAMS / "postgres"), "-D", str(self.data), *options]
        with (self.folder / "log").open("wb") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=die_with_parent)
        eventually(self.is_up)

    def is_up(self) -> bool:
        try:
            self.superuser().close()
        except psycopg.OperationalError:
            return False
        return True

    def superuser(self) -> psycopg.Connection:
        return psycopg.connect(f"host={self.folder} port={self.port} dbname=postgres user=letterbox", autocommit=True)

    def stop(self) -> None:
        if self.server is not None:
            self.server.terminate()
            self.server.wait(30)

    def connect(self, **different: str) -> psycopg.Connection:
        """Connect as the head office does, with the files that were carried there; or with different parameters."""
        parameters = {"hostaddr": "127.0.0.1", "sslrootcert": str(self.etc / "certificate.pem")}
        parameters |= {"connect_timeout": "10"} | different
        return psycopg.connect((self.etc / "connection").read_text(), autocommit=True, **parameters)


@pytest.fixture(scope="module")
@belongs_to(Tier.TRIALS)
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("box"))
    files = host.run("letter_box_files", office="127.0.0.1")
    assert files.stdout.endswith("new: yes\n"), files.stderr
    try:
        host.start()
        server = host.run("letter_box_server")
        assert server.stdout.endswith("new: yes\n"), server.stderr
        yield host
    finally:
        host.stop()


def test_the_worker_puts_in_and_the_head_office_reads(host: Host) -> None:
    [line] = host.environment.read_text().splitlines()
    with psycopg.connect(line.removeprefix("LETTER_BOX_URL="), autocommit=True) as house:
        export_database.put_in(house, 1, BytesIO(b"a sealed day"))
        assert export_database._contents(house) == export_database.Contents(last=1, days=1, waiting=1)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            house.execute("UPDATE office_piece SET content = 'x'")
    with host.connect() as office:
        assert office.execute("SELECT number, content FROM office_piece").fetchall() == [(1, b"a sealed day")]
        assert office.execute("SHOW wal_level").fetchone() == ("logical",)


@pytest.mark.parametrize(
    "different",
    [
        {"sslmode": "disable"},
        {"host": "casino.elsewhere.test"},
        {"password": "another"},  # pragma: allowlist secret
        {"dbname": "postgres"},
        {"replication": "true"},
        {"user": "letterbox"},
        {"user": WRITER, "dbname": "postgres"},
    ],
    ids=lambda different: " ".join(different.values()),
)
def test_nobody_else_can_connect(host: Host, different: dict[str, str]) -> None:
    """Harm: days are read in transit, or the head office's role copies more than the box or becomes its superuser."""
    with pytest.raises(psycopg.OperationalError):
        host.connect(**different)


def test_a_second_installation_changes_nothing(host: Host) -> None:
    """Harm: each upgrade makes a new password or certificate, and the head office can no longer read."""
    access = host.etc / "pg_hba.conf"
    access.write_text(access.read_text().replace(" trust\n", " peer\n"))
    before = host.files()
    again = host.run("letter_box_files", "letter_box_server")
    assert again.stdout.endswith("new: \n"), again.stderr
    assert host.files() == before
    assert (host.etc / "connection").stat().st_mode & 0o777 == 0o600
    with host.connect() as office:
        assert office.execute("SELECT current_user").fetchone() == (FETCHER,)


def test_a_head_office_that_moved_connects_only_from_its_new_address(host: Host) -> None:
    moved = host.run("letter_box_files", office="203.0.113.7")
    assert moved.stdout.endswith("new: yes\n"), moved.stderr
    assert (host.folder / "unit" / "office.conf").read_text() == "[Service]\nIPAddressAllow=203.0.113.7/32\n"
    access = host.etc / "pg_hba.conf"
    access.write_text(access.read_text().replace(" peer\n", " trust\n"))
    with host.superuser() as server:
        server.execute("SELECT pg_reload_conf()")

    def is_refused() -> bool:
        try:
            host.connect().close()
        except psycopg.OperationalError as refusal:
            return f'no pg_hba.conf entry for host "127.0.0.1", user "{FETCHER}", database "{DATABASE}"' in str(refusal)
        return False

    eventually(is_refused)


@pytest.mark.skipif(PROGRAMS.parent.name > "15", reason="Debian's PostgreSQL is new enough for a head office here")
def test_a_head_office_on_an_older_postgresql_is_refused_before_any_change(host: Host) -> None:
    """Harm: the old subscription is dropped, and creating the new one fails with a syntax error."""
    address = f"host={host.folder} port={host.port} dbname=postgres user=letterbox"
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        psql(address, Path("deploy", "subscription.sql"), "--set=house=north", HOUSE_CONNECTION="host=/nowhere")
    assert "This server is PostgreSQL 15." in refusal.value.stderr
    assert refusal.value.stderr.endswith("a head office needs 16 or newer to read letter boxes. Nothing was changed.\n")
    with host.superuser() as server:
        assert server.execute("SELECT FROM pg_roles WHERE rolname = 'casino_subscriber'").fetchall() == []


@pytest.mark.parametrize("address", ["0.0.0.0/0", "::/0", "300.0.0.1", "office.example.org", "10.0.0.1 trust"])
def test_an_address_that_lets_in_anybody_is_refused(tmp_path: Path, address: str) -> None:
    """Harm: a line in pg_hba.conf that nobody intended."""
    host = Host(tmp_path)
    refusal = host.run("letter_box_files", office=f"'{address}'")
    assert refusal.returncode == 1
    assert "is not a head office's address" in refusal.stderr
    assert not host.etc.exists()


def test_a_letter_box_elsewhere_is_left_alone(tmp_path: Path) -> None:
    """Harm: a box that somebody made on another host is no longer filled, and its head office waits for days."""
    host = Host(tmp_path)
    host.environment.write_text("LETTER_BOX_URL=postgresql://casino_letters:x@10.0.0.9:5433/letter_box\n")
    refusal = host.run("letter_box_files", office="10.0.0.1")
    assert refusal.returncode == 1
    assert "names a letter box elsewhere" in refusal.stderr
    assert not host.etc.exists()


def test_a_house_without_a_head_office_gets_no_letter_box(tmp_path: Path) -> None:
    host = Host(tmp_path)
    script = host.run("echo reached")
    assert (script.returncode, script.stdout) == (1, "")
