"""What is installed on servers: units that systemd takes as they are, scripts that refuse before they change any."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from casino.embedded.servers import BASE_DIR

DEPLOY = BASE_DIR / "deploy"
UNITS = sorted(path.name for path in (DEPLOY / "systemd").glob("*.service"))
INSTANCES = [unit.replace("@.", "@8000.") for unit in UNITS]
MOST_EXPOSED = 20
"""Tenths of systemd's scale of ten, where a unit without any line of hardening stands at 9.6 and these below 2."""

analyze = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze is not here: Debian's package systemd has it"
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host's files as deploy/install lays them: the units, what they start, and systemd's own targets."""
    root = tmp_path_factory.mktemp("host")
    shutil.copytree(DEPLOY / "systemd", root / "etc/systemd/system")
    started = root / "opt/casino/current/deploy/start"
    started.parent.mkdir(parents=True)
    shutil.copy(DEPLOY / "start", started)
    (root / "bin").mkdir()
    shutil.copy("/bin/sh", root / "bin/sh")
    (root / "etc/casino.env").touch()
    (root / "etc/passwd").write_text(
        "root:x:0:0::/:/bin/sh\ncasino:x:990:990::/:/bin/sh\npostgres:x:991:991::/:/bin/sh\n"
    )
    (root / "etc/group").write_text("root:x:0:\ncasino:x:990:\npostgres:x:991:\n")
    targets = next(path for path in map(Path, ("/usr/lib/systemd/system", "/lib/systemd/system")) if path.exists())
    (root / "usr/lib/systemd").mkdir(parents=True)
    shutil.copytree(targets, root / "usr/lib/systemd/system", symlinks=True)
    return root


def analyzed(host: Path, *question: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", "--root", str(host), "--no-pager", *question], capture_output=True, text=True, check=False
    )


@analyze
def test_systemd_takes_the_units_as_they_are(host: Path) -> None:
    """Harm: a line that systemd does not know is left out, and with it what it should have forbidden."""
    verified = analyzed(host, "--man=no", "verify", *(str(host / "etc/systemd/system" / unit) for unit in INSTANCES))
    names = [unit.partition("@")[0].removesuffix(".service") for unit in UNITS]
    complaints = [line for line in verified.stderr.splitlines() if any(name in line for name in names)]
    assert (verified.returncode, complaints) == (0, []), verified.stderr


@analyze
def test_a_process_may_do_little_on_its_host(host: Path) -> None:
    """Harm: whoever breaks into a web process has the machine."""
    for unit in INSTANCES:
        analysis = analyzed(host, "security", "--offline=true", f"--threshold={MOST_EXPOSED}", unit)
        assert analysis.returncode == 0, analysis.stdout + analysis.stderr
        assert "exposure level" in analysis.stdout
    (host / "etc/systemd/system/casino-.service.d").rename(host / "aside")
    bare = analyzed(host, "security", "--offline=true", f"--threshold={MOST_EXPOSED}", "casino-beat.service")
    (host / "aside").rename(host / "etc/systemd/system/casino-.service.d")
    assert bare.returncode != 0, "the unit passes without the file that hardens it"


@pytest.mark.parametrize("file", [*(f"systemd/{unit}" for unit in UNITS), "compose.yml"])
def test_clients_reach_a_web_process_through_the_proxy_alone(file: str) -> None:
    """Harm: a web process on a public address, where half a request is waited for without a time-out."""
    lines = [line for line in (DEPLOY / file).read_text().splitlines() if "casino.web" in line]
    assert all(re.search(r"--host,? 127\.0\.0\.1,? ", line) for line in lines), lines
    assert bool(lines) == file.endswith(("casino-web@.service", "casino-streams.service", "compose.yml"))


@pytest.mark.parametrize(
    ("file", "directive", "number"),
    [
        ("nginx/casino.conf", "client_header_timeout 10s;", 3),  # in each server, or a half request lasts a minute
        ("nginx/casino.conf", "client_body_timeout 10s;", 1),
        ("nginx/casino-proxy.conf", "proxy_request_buffering on;", 1),
        ("nginx/casino.conf", "limit_conn casino_streams 2000;", 2),  # of players and of staff, from one address
        ("haproxy/haproxy.cfg", "timeout http-request 10s", 1),
    ],
)
def test_the_proxy_limits_what_a_web_process_leaves_to_it(file: str, directive: str, number: int) -> None:
    """Harm: a directive is taken out of a proxy's file, and nothing else limits what it limited."""
    text = (DEPLOY / file).read_text()
    assert len(re.findall(rf"^\s*{re.escape(directive)}", text, re.M)) == number


@pytest.mark.parametrize("script", ["install", "casino", "start"])
def test_a_script_can_be_read_by_its_shell(script: str) -> None:
    """Harm: an upgrade stops half-way at a line that nobody ran."""
    shell = "bash" if script == "install" else "sh"
    assert subprocess.run([shell, "-n", DEPLOY / script], capture_output=True, check=False).stderr == b""
    assert os.access(DEPLOY / script, os.X_OK)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--certificate", "/nowhere/chain.pem"], "There is no certificate at /nowhere/chain.pem."),
        (["--certificate", "/dev/null", "--key", "/nowhere/key.pem"], "There is no key at /nowhere/key.pem."),
        (["--help"], "deploy/install --name casino.example.org --trial"),
    ],
)
def test_what_cannot_be_installed_is_refused_before_anything_is_changed(options: list[str], says: str) -> None:
    done = subprocess.run([DEPLOY / "install", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert says in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("name", "days", "serves"),
    [("casino.trial.test", 90, True), ("casino.trial.test", 20, False), ("other.trial.test", 90, False)],
)
def test_a_certificate_is_kept_as_long_as_it_serves(tmp_path: Path, name: str, days: int, serves: bool) -> None:
    """Harm: each upgrade gives the terminals another certificate; or one runs out that nobody renewed."""
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    make += ["-days", str(days), "-subj", "/CN=casino", "-addext", "subjectAltName=DNS:casino.trial.test"]
    make += ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "fullchain.pem")]
    subprocess.run(make, check=True, capture_output=True)
    function = re.search(r"^serves\(\) \{.*?^\}$", (DEPLOY / "install").read_text(), re.M | re.S)
    assert function
    script = f"set -euo pipefail; CERTIFICATES={tmp_path} NAME={name}\n{function[0]}\nif serves; then echo kept; fi"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout == "kept\n") is serves


def test_what_the_installation_needs_is_in_the_repository() -> None:
    """Harm: a file is renamed, and the next house cannot be installed."""
    text = (DEPLOY / "install").read_text()
    for name in ("nginx/casino.conf", "nginx/casino-proxy.conf", "nginx/casino-upstream.conf", "rolling", "casino"):
        assert f"/{Path(name).name}" in text, name
        assert (DEPLOY / name).exists(), name
    for folder in ("casino", "ledger", "tables", "dealer_ui", "deploy", "requirements"):
        assert (BASE_DIR / folder).is_dir()
