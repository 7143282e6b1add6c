"""`manage.py doctor`: each thing is broken for real, and the line that names it is there, with what to do."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from casino.embedded.servers import BASE_DIR, OWNER
from ledger import clock as clocks
from ledger import runs
from tables.audit import condition, doctor, drill
from tables.audit.condition import ConditionPart, Urgency
from tests.database import as_owner
from tests.processes import Served

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("broker")]
SECRETS = ("hunter2", "hunter3", "hunter4", "hunter5")


def part(name: str) -> ConditionPart:
    return next(part for part in doctor.parts() if part.name == name)


def is_wrong(name: str, sentence: str) -> ConditionPart:
    """The part, which is wrong, says so and says what to do."""
    named = part(name)
    assert named.state == Urgency.WRONG, named
    assert sentence in named.says, named
    assert named.do, named
    return named


def test_with_nothing_there_every_line_is_there_and_none_holds_a_secret() -> None:
    """Harm: the command that should say what is broken breaks with it; or its output, pasted into a ticket, lets
    somebody in."""
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": "postgresql://casino_app:hunter2@127.0.0.1:1/casino",  # pragma: allowlist secret
        "DATABASE_OWNER_URL": "postgresql://casino_owner:hunter3@127.0.0.1:1/casino",  # pragma: allowlist secret
        "REDIS_URL": "redis://:hunter4@127.0.0.1:1/0",  # pragma: allowlist secret
        "SECRET_KEY": "hunter5",  # pragma: allowlist secret
        "PEPPER_FILE": "/nowhere/pepper",
        "STATIC_ROOT": "/nowhere",
        "HOUSE_ADDRESS": "https://127.0.0.1:1",
        "ALLOWED_HOSTS": "casino.example",
    }
    command = [sys.executable, "manage.py", "doctor", "--json"]
    run = subprocess.run(command, env=environment, cwd=BASE_DIR, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 1
    assert run.stderr == ""
    assert {line["name"] for line in lines} == {
        *doctor.ON_HOST,
        *condition.CHECKS,
        *doctor.IN_DATABASE,
        "Workers",
        "Beat",
    }
    assert {line["name"] for line in lines if line["state"] != "wrong"} <= {"Disk", "Files of keys"}
    assert all(line["do"] for line in lines if line["state"] != "well")
    assert not any(secret in run.stdout for secret in SECRETS)


def test_an_address_that_cannot_be_read_is_one_sentence() -> None:
    """Harm: a traceback of forty lines at three in the morning."""
    environment = {"PATH": os.environ["PATH"], "DATABASE_URL": "mysql://app:hunter2@h/d"}  # pragma: allowlist secret
    command = [sys.executable, "manage.py", "doctor"]
    run = subprocess.run(command, env=environment, cwd=BASE_DIR, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith("The settings are not right: DATABASE_URL is no address")
    assert "hunter2" not in run.stderr


# --- Settings and files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("SECRET_KEY", "short", "SECRET_KEY is shorter"),
        ("DEBUG", True, "DEBUG is set"),
        ("ALLOWED_HOSTS", [], "ALLOWED_HOSTS is not set"),
    ],
)
def test_a_setting_that_opens_the_house_is_named(settings: Any, name: str, value: Any, sentence: str) -> None:
    settings.SECRET_KEY = "x" * 50
    setattr(settings, name, value)
    is_wrong("Settings", sentence)


def test_a_demo_is_told_from_a_house_with_real_chips(settings: Any) -> None:
    assert part("Settings").state == Urgency.WATCH
    settings.DEMO = False
    assert part("Settings").state == Urgency.WELL


def test_keys_that_others_may_read_are_named(settings: Any, tmp_path: Path) -> None:
    """Harm: anybody with a shell on the host tries every PIN of a stolen dump."""
    pepper = tmp_path / "pepper"
    pepper.write_text("key")
    pepper.chmod(0o644)
    settings.PEPPER_FILE = str(pepper)
    assert str(pepper) in is_wrong("Files of keys", "Others on this machine can read or write").do
    pepper.chmod(0o600)
    assert part("Files of keys").state == Urgency.WELL


# --- The database ------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_the_owner_as_the_application_is_named() -> None:
    """Harm: whoever takes over a web process can rewrite history."""
    with as_owner():
        is_wrong("Role and grants", "too many rights")


def test_a_grant_too_much_and_a_guard_taken_away_are_named(owner_connection: psycopg.Connection) -> None:
    assert part("Grants and guards").state == Urgency.WELL
    owner_connection.execute("GRANT DELETE ON ledger_logentry TO casino_app")
    try:
        is_wrong("Grants and guards", "ledger_logentry")
    finally:
        owner_connection.execute("REVOKE DELETE ON ledger_logentry FROM casino_app")


def test_a_migration_that_was_not_run_is_named(owner_connection: psycopg.Connection) -> None:
    """Harm: new code on an old database fails at the first input instead of before the floor opens."""
    row = owner_connection.execute(
        "DELETE FROM django_migrations WHERE app = 'tables'"
        " AND name = (SELECT max(name) FROM django_migrations WHERE app = 'tables') RETURNING id, app, name, applied"
    ).fetchone()
    try:
        is_wrong("Migrations", "migrations were not run")
    finally:
        owner_connection.execute("INSERT INTO django_migrations (id, app, name, applied) VALUES (%s, %s, %s, %s)", row)


# --- Beside the web ----------------------------------------------------------------------------------------------


def test_without_a_broker_workers_are_not_waited_for(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    is_wrong("Workers", "the broker does not answer")


def test_workers_that_are_there_are_found_and_one_that_is_missing_is_named(celery_worker_process: Served) -> None:
    """Harm: every process that runs is well, and alerts wait for one that nobody started."""
    parts = {part.name: part for part in doctor.parts()}
    assert parts["Workers"].state == Urgency.WELL
    assert (parts["Beat"].state, "nobody schedules their tasks" in parts["Beat"].says) == (Urgency.WRONG, True)
    celery_worker_process.stop()
    is_wrong("Workers", "celery, alerts, events")


# --- TLS ---------------------------------------------------------------------------------------------------------


class Well(BaseHTTPRequestHandler):
    """A house that answers as it is told."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


def serve(folder: Path, until: datetime) -> HTTPServer:
    """A house at localhost whose certificate ends then."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=60))
        .not_valid_after(until)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "chain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    server = HTTPServer(("127.0.0.1", 0), Well)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "chain.pem", folder / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture
def houses(tmp_path: Path, settings: Any) -> Iterator[Any]:
    """Makes houses whose certificates end when a test likes."""
    servers = []

    def house(validity: timedelta) -> None:
        servers.append(serve(tmp_path, datetime.now(UTC) + validity))
        settings.TLS = True
        settings.HOUSE_ADDRESS = f"https://localhost:{servers[-1].server_port}"
        settings.HOUSE_CA_FILE = str(tmp_path / "chain.pem")

    yield house
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_certificate_is_looked_at_as_a_terminal_would(
    houses: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: at midnight every terminal of the floor refuses the house."""
    houses(timedelta(days=90))
    assert part("TLS").state == Urgency.WELL
    monkeypatch.setattr(Well, "status", 503)
    is_wrong("TLS", "answers with 503")
    monkeypatch.undo()
    settings.HOUSE_CA_FILE = ""
    is_wrong("TLS", "refused")
    houses(timedelta(days=3))
    assert part("TLS").state == Urgency.WATCH
    houses(timedelta(days=-1))
    is_wrong("TLS", "expired")
    settings.HOUSE_ADDRESS = "https://localhost:1"
    is_wrong("TLS", "Nothing speaks TLS")


# --- Backups -----------------------------------------------------------------------------------------------------


def test_a_house_that_is_not_archived_is_named(settings: Any) -> None:
    """Harm: the disk fails, and nobody had noticed that there was no backup."""
    assert part("Backups").state == Urgency.WATCH
    settings.DEMO = False
    is_wrong("Backups", "Archiving is off")


@pytest.mark.parametrize(
    ("backups", "sentence"),
    [
        ([], "There is no backup"),
        ([{"timestamp": {"stop": 1_700_000_000}}], "was made on 2023-11-14"),
        ([{"timestamp": {"stop": 4_000_000_000}, "error": True}], "There is no backup"),
    ],
)
def test_a_backup_that_is_old_or_failed_is_named(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backups: list[Any], sentence: str
) -> None:
    monkeypatch.setattr(doctor, "_archive_fault", str)
    settings.DEMO = False
    settings.BACKUP_STATUS_FILE = str(tmp_path / "info.json")
    is_wrong("Backups", "No such file")
    (tmp_path / "info.json").write_text(json.dumps([{"name": "casino", "backup": backups}]))
    is_wrong("Backups", sentence)


def test_a_backup_of_today_is_well(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_archive_fault", str)
    settings.BACKUP_STATUS_FILE = str(tmp_path / "info.json")
    stop = int(datetime.now(UTC).timestamp())
    (tmp_path / "info.json").write_text(json.dumps([{"backup": [{"timestamp": {"stop": stop}}]}]))
    assert "ever restored" in part("Backups").says
    runs.run_between(drill.PLAN, lambda: 0, clocks.agreed(), lambda: True)
    assert part("Backups").state == Urgency.WELL


def test_the_lines_name_no_password_of_the_database(settings: Any) -> None:
    settings.DATABASE_OWNER_URL = f"postgresql://{OWNER}:hunter3@h/d"  # pragma: allowlist secret
    assert doctor.without_secrets("said hunter3 to it") == "said *** to it"
