"""The embedded servers: started by the first, stopped after the last, whatever dies in between."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from casino.embedded import servers
from casino.embedded.servers import APPLICATION, OWNER, ServerSet
from tests.patience import eventually
from tests.tiers import Tier, belongs_to

# A process that uses the servers in its folder until it is told to go, or killed.
USER = """
import pathlib, sys
from casino.embedded import servers
with servers.provide("house", within=pathlib.Path(sys.argv[1])):
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
@belongs_to(Tier.TRIALS)
def house(tmp_path: Path) -> ServerSet:
    return ServerSet(tmp_path / "house")


@pytest.fixture
@belongs_to(Tier.TRIALS)
def start_user(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    started = []

    def start() -> subprocess.Popen[str]:
        user = subprocess.Popen(
            [sys.executable, "-c", USER, str(tmp_path)],
            cwd=servers.BASE_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(user)
        assert user.stdout is not None
        assert user.stdout.readline() == "ready\n"
        return user

    yield start
    for user in started:
        user.kill()
        user.communicate()


def postmaster(house: ServerSet) -> int:
    return int((house.data / "postmaster.pid").read_text().split()[0])


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""  # a zombie has no command line left
    except FileNotFoundError:
        return False


def query(house: ServerSet, sql: str, role: str = APPLICATION, database: str = servers.DATABASE) -> object:
    with psycopg.connect(house.database_url(role, database), autocommit=True) as connection:
        cursor = connection.execute(sql)
        row = cursor.fetchone() if cursor.description else None
        return row and row[0]


def leave(user: subprocess.Popen[str]) -> None:
    user.communicate()
    assert user.returncode == 0


def test_durable_private_and_with_two_unprivileged_roles(house: ServerSet, start_user) -> None:
    start_user()
    assert query(house, "SHOW fsync") == "on"
    assert query(house, "SHOW synchronous_commit") == "on"
    assert query(house, "SHOW listen_addresses") == ""
    assert query(house, "SHOW server_encoding") == "UTF8"
    assert int(str(query(house, "SHOW server_version_num"))) >= 180000
    powers = "SELECT string_agg(rolname || rolsuper::text || rolcreaterole::text, ',' ORDER BY rolname)"
    assert query(house, f"{powers} FROM pg_roles WHERE rolname LIKE 'casino%'") == (
        "casino_appfalsefalse,casino_ownerfalsefalse"
    )
    owner = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"
    assert query(house, owner) == OWNER
    valkey = redis.Redis.from_url(house.redis_url)
    assert valkey.config_get("appendonly", "port") == {"appendonly": "yes", "port": "0"}
    for folder in (house.folder, house.sockets, house.data):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert (house.folder / "secret-key").stat().st_mode & 0o777 == 0o600


def test_the_last_user_stops_them_and_not_the_first(house: ServerSet, start_user) -> None:
    first, second = start_user(), start_user()
    pid = postmaster(house)
    leave(first)
    third = start_user()  # has to wait for all that the first's leaving did
    assert postmaster(house) == pid
    assert query(house, "SELECT 1") == 1
    leave(third)
    leave(second)
    assert not is_running(pid)
    assert not (house.data / "postmaster.pid").exists()


def test_data_outlives_the_servers(house: ServerSet, start_user) -> None:
    user = start_user()
    query(house, "CREATE TABLE t AS SELECT 7 AS n", role=OWNER)
    redis.Redis.from_url(house.redis_url).set("n", 7)
    leave(user)
    start_user()
    assert query(house, "SELECT n FROM t", role=OWNER) == 7
    assert redis.Redis.from_url(house.redis_url).get("n") == b"7"


def test_a_user_that_is_killed_leaves_no_server_behind(house: ServerSet, start_user) -> None:
    user = start_user()
    pid = postmaster(house)
    user.kill()
    eventually(lambda: not is_running(pid))
    assert not servers.is_ready(house)


def test_postgres_comes_back_after_kill_with_everything_acknowledged(house: ServerSet, start_user) -> None:
    start_user()
    query(house, "CREATE TABLE t (n int)", role=OWNER)
    for n in range(20):
        query(house, f"INSERT INTO t VALUES ({n}) RETURNING n", role=OWNER)
    killed = postmaster(house)
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: is_up_again(house, killed))
    assert query(house, "SELECT count(*) FROM t", role=OWNER) == 20


def is_up_again(house: ServerSet, killed: int) -> bool:
    try:
        return postmaster(house) != killed and query(house, "SELECT 1") == 1
    except (OSError, IndexError, ValueError, psycopg.OperationalError):
        return False


def test_a_killed_keeper_takes_the_servers_along_and_can_be_revived(house: ServerSet, start_user) -> None:
    start_user()
    keeper, pid = int(house.keeper.read_text()), postmaster(house)
    os.kill(keeper, signal.SIGKILL)
    eventually(lambda: not is_running(pid))
    assert not servers.is_ready(house)
    assert servers.revive(house)
    eventually(lambda: servers.is_ready(house))
    assert query(house, "SELECT 1") == 1


def test_a_stale_pid_that_is_somebody_elses_by_now(house: ServerSet, start_user) -> None:
    """PostgreSQL itself would refuse to start, and a careless supervisor would kill the wrong process."""
    leave(start_user())
    (house.data / "postmaster.pid").write_text(f"{os.getppid()}\n{house.data}\n")
    start_user()
    assert query(house, "SELECT 1") == 1
    assert is_running(os.getppid())


def test_a_half_made_database_is_made_again(house: ServerSet, start_user) -> None:
    house.prepare()
    half = house.folder / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18")
    start_user()
    assert query(house, "SELECT 1") == 1


def test_many_at_once_share_one_pair_of_servers(house: ServerSet, tmp_path: Path) -> None:
    command = [sys.executable, "-c", USER, str(tmp_path)]
    users = [
        subprocess.Popen(command, cwd=servers.BASE_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [user.stdout.readline() for user in users if user.stdout] == ["ready\n"] * 4
    assert query(house, "SELECT 1") == 1
    for user in users:
        leave(user)
    assert not servers.is_ready(house)


def test_a_path_too_long_for_a_socket_and_a_configured_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a checkout in a deep folder cannot start; or a command uses other servers than the configured ones."""
    monkeypatch.setenv("REDIS_URL", "redis://elsewhere/0")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    deep = tmp_path / ("d" * 100)
    with servers.provide("house", within=deep) as house:
        assert not house.sockets.is_relative_to(deep)
        assert house.sockets.stat().st_mode & 0o777 == 0o700
        assert os.environ["REDIS_URL"] == "redis://elsewhere/0"
        assert os.environ["DATABASE_URL"] == house.database_url(APPLICATION)
        assert query(house, "SELECT 1") == 1


def test_sockets_in_a_folder_of_somebody_elses_making_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    house = ServerSet(tmp_path / ("d" * 100))
    (tmp_path / "elsewhere").mkdir()
    house.sockets.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(servers.CannotStart, match="belongs to somebody else"):
        house.prepare()


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    house = ServerSet(tmp_path / "house")
    house.prepare()
    house.data.mkdir(mode=0o700)
    reason = pytest.raises(servers.CannotStart, match=r"postgres|PG_VERSION|configuration")
    with reason, servers.provide("house", within=tmp_path):
        pass
    assert not servers.keeper_lives(house)
