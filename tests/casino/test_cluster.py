"""A house on several hosts: the configurations that ship, the figures that are told, and a primary that dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from casino.embedded.servers import BASE_DIR
from tests.cluster import cluster, hosts, packages, report
from tests.cluster.report import Record, Round

COMMAND = [sys.executable, "-m", "tests.cluster"]


TLS = Path("/etc/casino/tls")


def patroni() -> str:
    programs = Path("/usr/lib/postgresql/15/bin")
    return cluster.patroni("db2", Path("/var/lib/postgresql"), TLS, programs, cluster.Passwords())


def figure(text: str, name: str) -> int:
    line = next(line for line in text.splitlines() if line.strip().startswith(f"{name}:"))
    return int(line.partition(":")[2])


# --- What ships --------------------------------------------------------------------------------------------------


def test_nothing_is_acknowledged_that_one_host_alone_has() -> None:
    """Harm: the primary dies, and with it inputs that dealers were told are recorded."""
    text = patroni()
    for setting in ("synchronous_mode: true", "synchronous_mode_strict: true", 'synchronous_commit: "on"'):
        assert setting in text


def test_a_lost_host_is_given_up_in_time_and_a_slow_member_of_etcd_costs_no_primary() -> None:
    """Harm: a lost host holds the floor up for longer than ten seconds; or a primary loses its lock while it turns from
    one member of etcd to the next."""
    text = patroni()
    ttl, loop, retry = (figure(text, name) for name in ("ttl", "loop_wait", "retry_timeout"))
    assert loop + retry < ttl < 5


def test_every_blank_of_a_configuration_is_filled() -> None:
    """Harm: a host starts with a setting that nobody chose."""
    members = cluster.etcd("etcd1", Path("/var/lib/etcd"), TLS)
    for text in (patroni(), cluster.haproxy("app1", TLS), json.dumps(members)):
        assert "${" not in text
    assert members["ETCD_INITIAL_CLUSTER"].count("=https://") == 3


def test_whoever_is_connected_to_a_primary_that_is_none_any_more_is_cut_off() -> None:
    """Harm: a web process goes on with the old primary, which answers nothing or writes what nobody has."""
    primary = cluster.haproxy("app1", TLS).partition("listen primary")[2].partition("listen replicas")[0]
    assert "OPTIONS /primary" in primary
    assert "on-marked-down shutdown-sessions" in primary
    assert primary.count("check port 8008 check-ssl ca-file ca.pem verify required verifyhost db") == 3


def test_every_unit_of_patroni_is_pinned_where_a_stale_primary_takes_no_lock_back() -> None:
    """Harm: Patroni 3.0.2 lets a primary that hung overwrite its successor's lock, and what was acknowledged since is
    lost; 3.2 and newer raise ttl to 20 seconds."""
    assert "patroni==3.1." in packages.PINNED.read_text()


STALE_PRIMARY = """
import importlib.util, sys
from types import SimpleNamespace
spec = importlib.util.spec_from_file_location("casino_patroni", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from patroni.dcs import SyncState

def may_take_the_lock(name, sync):
    server = SimpleNamespace(name=name, is_leader=lambda: True, get_primary_timeline=lambda: 4)
    return module.is_healthiest_node(SimpleNamespace(
        cluster=SimpleNamespace(sync=sync, timeline=4, failover=None), state_handler=server,
        dcs=SimpleNamespace(ttl=4), _released_leader_key_timestamp=0,
        is_synchronous_mode=lambda: True, is_paused=lambda: False,
    ))

successor = SyncState(1, "db2", None)
nobody = SyncState.empty()
print(may_take_the_lock("db1", successor), may_take_the_lock("db2", successor), may_take_the_lock("db1", nobody))
"""


def test_a_primary_that_comes_back_takes_no_lock_that_its_successor_lost() -> None:
    """Harm: a primary that hung wakes up while its successor's lock has run out, everybody follows it, and what the
    successor acknowledged is lost, as 163 inputs were in a trial."""
    if not (packages.PATRONI / "installed").exists():
        pytest.skip("./run cluster was never run here: it fetches Patroni")
    script = BASE_DIR / "deploy" / "patroni" / "casino_patroni.py"
    command = [str(packages.PATRONI / "bin" / "python"), "-c", STALE_PRIMARY, str(script)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.stdout.split() == ["False", "True", "True"], answer.stderr


def certificates(folder: Path, *hosts: str) -> subprocess.CompletedProcess[str]:
    command = [str(BASE_DIR / "deploy" / "certificates"), str(folder), *hosts]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def is_accepted(folder: Path, name: str, purpose: str) -> bool:
    check = ["openssl", "verify", "-x509_strict", "-purpose", purpose, "-CAfile", str(folder / "ca.pem")]
    return subprocess.run([*check, str(folder / name / "host.pem")], capture_output=True, check=False).returncode == 0


def test_a_host_is_server_and_client_by_one_certificate_and_a_new_one_keeps_the_authority(tmp_path: Path) -> None:
    """Harm: etcd refuses its own members; or a host that was added makes all others strangers."""
    assert certificates(tmp_path, "db1=10.0.0.11", "db2=fd00::12").returncode == 0
    authority = (tmp_path / "ca.pem").read_bytes()
    first = (tmp_path / "db1" / "host.pem").read_bytes()
    assert certificates(tmp_path, "db1=10.0.0.11").returncode == 0
    assert (tmp_path / "db1" / "host.pem").read_bytes() != first
    assert (tmp_path / "ca.pem").read_bytes() == (tmp_path / "db2" / "ca.pem").read_bytes() == authority
    for name in ("db1", "db2"):
        assert is_accepted(tmp_path, name, "sslserver")
        assert is_accepted(tmp_path, name, "sslclient")
        assert not is_accepted(tmp_path, name, "crlsign"), "a host that is taken over signs for no other"
        assert (tmp_path / name / "host.pem.key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("host", ["db1", "db1=", "../db1=10.0.0.11", "db1=10.0.0.11,DNS:db2", "=10.0.0.11"])
def test_a_host_that_cannot_be_one_gets_no_certificate(tmp_path: Path, host: str) -> None:
    """Harm: a slip of the pen writes outside the folder, or certifies a host under another's name."""
    refusal = certificates(tmp_path / "tls", "db2=10.0.0.12", host)
    assert (refusal.returncode, "Usage" in refusal.stderr) == (2, True)
    assert not (tmp_path / "tls").exists()


def test_a_certificate_that_cannot_be_made_leaves_the_old_one(tmp_path: Path) -> None:
    """Harm: half a certificate lies where the next reload finds it, and a host is a stranger to all others."""
    certificates(tmp_path, "db1=10.0.0.11")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.pem*")}
    refusal = certificates(tmp_path, "db1=1.2.3")
    assert (refusal.returncode, "bad ip address" in refusal.stderr) == (1, True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.pem*")} == before


# --- What is told ------------------------------------------------------------------------------------------------


def note(t: float, table: int, **facts: object) -> dict[str, object]:
    return {"t": t, "table": table, "key": f"{table}-{t}"} | facts


ROUND = Round("primary", "primary, server killed", 100.0, 120.0, 2.0)
NOTES = [
    note(99.0, 1, due=98.9, tries=1),  # before the fault
    note(101.0, 1, lost="503: The database does not answer."),
    note(107.0, 1, due=100.5, tries=3),
    note(104.0, 2, due=99.5, tries=2),
    note(118.0, 2, due=117.9, tries=1),
]


def test_a_table_is_held_up_from_the_fault_or_from_when_its_input_was_due() -> None:
    """Harm: a floor that stood still is told as one that dealt on."""
    assert ROUND.held_up(NOTES, [1, 2]) == [6.5, 4.0]
    assert ROUND.held_up(NOTES, [1, 2, 3])[2] == 20.0, "a table without any answer waited to the end"
    assert ROUND.standstill_s(NOTES) == 11.0


def test_the_last_line_says_for_each_fault_how_long_dealing_stood() -> None:
    """Harm: whoever reads the line by program finds another shape than the one that was agreed on."""
    figures = report.figures([ROUND], NOTES, [1, 2])
    assert figures == {"rounds": 1, "worst_s": 6.5, "p99_s": 6.5, "standstill_s": 11.0, "whole_s": 2.0}
    result = json.loads(report.line(4, 0, {"primary": figures}, verified=True))
    assert (result["acknowledged"], result["lost"], result["faults"]["primary"]["rounds"]) == (4, 0, 1)
    assert report.sentences([ROUND], NOTES) == {"503: The database does not answer.": 1}


def test_what_was_refused_counts_as_no_acknowledged_input(tmp_path: Path) -> None:
    """Harm: an input that was never recorded is looked for, or one that was is not."""
    path = tmp_path / "record.jsonl"
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in [*NOTES, note(119, 1, due=118, refused="stale")]) + '{"t"'
    )
    record = Record(path)
    assert len(record.read()) == 6, "a line that is still being written is read later"
    assert record.acknowledged() == [line["key"] for line in NOTES if "lost" not in line]
    assert record.refused() == {"stale": 1}


def test_no_line_between_hosts_is_plain() -> None:
    """Harm: whoever has a cable to the hosts' network reads the chips, or decides which database takes writes. That it
    is so is tried by `./run cluster`; this names the setting that somebody took out."""
    text = patroni()
    assert not [line for line in text.splitlines() if line.strip().startswith("- host ")], "hostssl alone"
    assert text.count("sslmode: verify-ca") == 3
    for setting in ("verify_client: optional", "protocol: https", 'ssl: "on"'):
        assert setting in text
    members = cluster.etcd("etcd1", Path("/var/lib/etcd"), TLS)
    assert members["ETCD_CLIENT_CERT_AUTH"] == members["ETCD_PEER_CLIENT_CERT_AUTH"] == "true"
    assert "http://" not in json.dumps(members)
    binds = [line for line in cluster.haproxy("app1", TLS).splitlines() if ":8200" in line]
    assert all("verify required" in line for line in binds)


# --- What happens ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("own_processes")
@pytest.mark.timeout(900)
def test_a_primary_that_dies_costs_no_acknowledged_input() -> None:
    """Harm: high availability that was never tried. What it takes, `./run cluster` fetches: no test waits for a mirror
    of Debian's."""
    local = Path(os.environ.get("CASINO_LOCAL", BASE_DIR / ".local"))
    if not (local / "cluster" / "patroni" / "installed").exists():
        pytest.skip("./run cluster was never run here: it fetches etcd, HAProxy and Patroni")
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        environment = dict(os.environ) | {"CASINO_LOCAL": folder, "DJANGO_SETTINGS_MODULE": "casino.settings"}
        (Path(folder) / "cluster").mkdir()
        for part in ("packages", "patroni"):  # what was fetched before is not fetched again
            (Path(folder) / "cluster" / part).symlink_to((local / "cluster" / part).resolve())
        trial = subprocess.run(
            [*COMMAND, "--faults", "primary", "--rounds", "1", "--tables", "2"],
            cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if trial.returncode == hosts.CANNOT:
        pytest.skip(trial.stderr.strip().splitlines()[-1])
    assert trial.returncode == 0, trial.stdout + trial.stderr
    result = json.loads(trial.stdout.splitlines()[-1])
    assert (result["lost"], result["verified"], result["faults"]["primary"]["rounds"]) == (0, True, 1)
    assert result["acknowledged"] > 0
