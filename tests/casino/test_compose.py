"""The image and the compose file: as their formats have it, with every unit of a plain server, and with no secret.

The schema is the Compose Specification's own (github.com/compose-spec/compose-spec, Apache-2.0: LICENSE.compose-spec
beside it), as the package check-jsonschema 0.39.0 ships it.
"""

import json
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml

from casino.embedded.servers import BASE_DIR

DEPLOY: Final = BASE_DIR / "deploy"
SCHEMA: Final = Path(__file__).parent / "schemas" / "compose-spec.json"
SERVERS: Final = {"postgres", "valkey", "proxy"}
NO_COUNTERPART: Final = {"backup-casino.service", "backup-drill.service"}
"""Units that work as the database's own user, on its host."""
MADE: Final = (
    "casino.env", "owner.env", "postgres-password", "roles.sql", "valkey.conf", "site.conf", "fullchain.pem",
    "privkey.pem",
)  # fmt: skip


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yml").read_text())
    return read


@pytest.fixture
def services(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    by_name: dict[str, dict[str, Any]] = compose["services"]
    return by_name


def test_the_file_is_what_compose_reads(compose: dict[str, Any]) -> None:
    """Harm: a key is misspelled, compose leaves it out or refuses the file, on the day of the move."""
    schema = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    schema.validate(compose)
    with pytest.raises(jsonschema.ValidationError):
        schema.validate({**compose, "services": {"web": {"imagee": "casino"}}})


def unit_commands() -> set[str]:
    """What the units of a plain server start, after deploy/start."""
    commands = set()
    for unit in (DEPLOY / "systemd").glob("*.service"):
        if unit.name in NO_COUNTERPART:
            continue
        line = re.search(r"^ExecStart=/opt/casino/current/deploy/start (.+)$", unit.read_text(), re.M)
        assert line, unit.name
        ports = ("8000", "8001") if unit.name == "casino-web@.service" else ("",)
        commands |= {line[1].replace("%i", port).replace("%%", "%") for port in ports}
    return commands


def test_every_unit_has_a_service_with_the_same_command(services: dict[str, dict[str, Any]]) -> None:
    """Harm: a process is added to the servers, and a house in containers never runs it."""
    ours = {name: " ".join(service["command"]) for name, service in services.items() if name not in SERVERS}
    assert set(ours.values()) - {"prepare"} == unit_commands()


def test_a_process_may_do_little_on_its_host(services: dict[str, dict[str, Any]]) -> None:
    """Harm: whoever breaks into one process writes to its image, gains rights, or reaches the database's port."""
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not service.get("privileged"), name
        assert "healthcheck" in service, name
        assert bool(service.get("ports")) is (name == "proxy"), name
    for name in services.keys() - SERVERS:
        assert services[name]["user"] == "10001:10001", name
        assert ("owner.env" in services[name]["secrets"]) is (name == "prepare"), name


def test_no_secret_stands_in_the_repository(compose: dict[str, Any]) -> None:
    """Harm: everybody who read the repository knows the password of a house that took it over."""
    text = (DEPLOY / "compose.yml").read_text()
    assert not re.search(r"(PASSWORD|SECRET_KEY|_URL)\s*[:=]\s*\S", text.replace("POSTGRES_PASSWORD_FILE", ""))
    assert all(set(secret) == {"file"} for secret in compose["secrets"].values())
    assert set(compose["secrets"]) == set(MADE)
    assert "deploy/compose/made" in (BASE_DIR / ".dockerignore").read_text()
    assert "/deploy/compose/made/" in (BASE_DIR / ".gitignore").read_text()


def test_what_is_mounted_is_there(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert (DEPLOY / source).exists(), source
            else:
                assert source in compose["volumes"]


def test_the_secrets_are_made_once_and_for_their_reader_alone(tmp_path: Path) -> None:
    """Harm: the second run makes other passwords than the database has; or anybody on the host reads them."""
    for name in ("compose", "nginx"):
        shutil.copytree(DEPLOY / name, tmp_path / name, ignore=shutil.ignore_patterns("made"))
    run = [tmp_path / "compose" / "secrets", "casino.trial.test", "--trial"]
    subprocess.run(run, check=True, capture_output=True)
    secrets = {path.name: path.read_bytes() for path in (tmp_path / "compose" / "made").iterdir()}
    assert secrets.keys() == set(MADE)
    assert {stat.S_IMODE((tmp_path / "compose" / "made" / name).stat().st_mode) for name in secrets} == {0o400}
    password = re.search(rb"casino_app:([0-9a-f]{64})@", secrets["casino.env"])
    assert password
    assert password[1] in secrets["roles.sql"]
    assert b"server_name casino.trial.test" in secrets["site.conf"]
    subprocess.run(run, check=True, capture_output=True)
    assert secrets == {path.name: path.read_bytes() for path in (tmp_path / "compose" / "made").iterdir()}


def test_the_image_has_what_it_starts() -> None:
    """Harm: a room is added, and the image lacks it; or a compiler and a package manager come with it."""
    text = (DEPLOY / "Dockerfile").read_text()
    for room in ("casino", "ledger", "tables", "dealer_ui"):
        assert f"COPY {room} {room}" in text
    assert "COPY LICENSE NOTICE " in text
    assert "--require-hashes" in text
    assert "USER 10001:10001" in text
    assert "HEALTHCHECK" in text
    for script in ("image", "container", "compose/secrets", "compose/roles.sh"):
        shell = "bash" if script in ("image", "compose/secrets") else "sh"
        assert subprocess.run([shell, "-n", DEPLOY / script], capture_output=True, check=False).stderr == b""
