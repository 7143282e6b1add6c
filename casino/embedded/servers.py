"""Real PostgreSQL and Valkey from Python wheels, for a machine without configured servers.

Only the programs inside the wheels are used. Data and sockets are in one private folder, `.local/<name>/`; nothing
listens on a network; durability is on, except for the tests' own servers. A small keeper process owns the servers. Each
user holds a shared lock (`provide`); when the last one releases it, even by a crash, the keeper stops the servers and
itself.
"""

import base64
import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

BASE_DIR = Path(__file__).resolve().parents[2]
LOCAL = Path(os.environ.get("CASINO_LOCAL", BASE_DIR / ".local"))  # where the data of the embedded servers is
LONGEST_SOCKET_PATH = 103  # bytes; Linux allows 107, macOS 103
LONGEST_LOG = 10_000_000  # bytes, when the servers start
SUPERUSER, OWNER, APPLICATION, DATABASE = "postgres", "casino_owner", "casino_app", "casino"
REDIS_DATABASES = 1024
POSTGRESQL, VALKEY = "PostgreSQL", "Valkey"


class CannotStart(RuntimeError):
    """The servers could not be started; the message is the reason, for the user."""


_UNWRITABLE = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENOSPC, errno.EDQUOT,
}  # fmt: skip


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Raises CannotStart, with the path and a remedy, if the data folder cannot be written."""
    try:
        yield
    except OSError as error:
        path = Path(error.filename) if isinstance(error.filename, str | Path) else None
        is_ours = path is not None and (path.is_relative_to(folder) or folder.is_relative_to(path))
        if not is_ours or error.errno not in _UNWRITABLE:
            raise
        raise CannotStart(
            f"{path} cannot be written ({error.strerror}). Make it writable for this user, or name another folder for"
            f" the data: CASINO_LOCAL=/path/to/folder."
        ) from None


def lock(path: Path, kind: int) -> int:
    """A descriptor that holds the lock. Raises BlockingIOError if it is taken and ``kind`` forbids waiting."""
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
class ServerSet:
    """One set of servers: its data, sockets and locks."""

    folder: Path
    servers: tuple[str, ...] = (POSTGRESQL, VALKEY)
    durable: bool = True
    """Whether committed data survive a power failure. The tests' data need not, and are faster without."""

    @property
    def sockets(self) -> Path:
        """The folder of the sockets: next to the data, or in the temp folder if the path would be too long for a
        socket."""
        in_folder = self.folder / "run"
        if len(os.fsencode(in_folder / ".s.PGSQL.5432")) <= LONGEST_SOCKET_PATH:
            return in_folder
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
        """The log of the keeper; each server has one of its own (`log_of`)."""
        return self.folder / "servers.log"

    def log_of(self, server: str) -> Path:
        return self.folder / f"{server.lower()}.log"

    def database_url(self, role: str, database: str = DATABASE) -> str:
        return f"postgresql://{role}@{quote(str(self.sockets), safe='')}/{database}"

    @property
    def boot(self) -> Path:
        """The file with the boot id under which non-durable data were written."""
        return self.folder / "boot"

    def data_are_of(self, boot: str) -> bool:
        return self.boot.exists() and self.boot.read_text() == boot

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
            "AUDIT_KEY_FILE": str(self.audit_key),
            "PEPPER_FILE": str(self.pepper()),
        }

    @property
    def audit_key(self) -> Path:
        return self.folder / "audit-key.pem"

    def secret_key(self) -> str:
        return self._secret("secret-key", secrets.token_urlsafe(48)).read_text()

    def pepper(self) -> Path:
        return self._secret("pepper", base64.b64encode(secrets.token_bytes(32)).decode())

    def _secret(self, name: str, fresh: str) -> Path:
        """The path of a file that is written once and completely: concurrent callers read the same content."""
        path, draft = self.folder / name, self.folder / f"{name}.{os.getpid()}"
        if not path.exists():
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(fresh)
            with contextlib.suppress(FileExistsError):
                # A link fails if the file exists, so the first of several callers decides and none reads half a file.
                os.link(draft, path)
            draft.unlink()
        return path

    def prepare(self) -> None:
        for path in (self.folder, self.sockets):
            with writing(path):
                path.mkdir(parents=path is self.folder, exist_ok=True, mode=0o700)
                status = path.lstat()
                if status.st_uid != os.getuid() or path.is_symlink():
                    raise CannotStart(f"{path} belongs to somebody else: remove it, or run as its owner.")
                path.chmod(0o700)


@contextlib.contextmanager
def provide(name: str = "demo", *, within: Path = LOCAL) -> Iterator[ServerSet]:
    """Use the servers of `name`, and set the environment variables that name them.

    Variables that are set already stay, so a configured server is never replaced by this one.
    """
    with attached(ServerSet(within / name)) as house:
        with writing(house.folder):
            environment = house.environment()
        for key, value in environment.items():
            os.environ.setdefault(key, value)
        yield house


@contextlib.contextmanager
def attached(house: ServerSet) -> Iterator[ServerSet]:
    """Attach to the servers if they run, or start them; the last user stops them. Raises CannotStart."""
    house.prepare()
    with writing(house.folder):
        use = lock(house.users, fcntl.LOCK_SH)  # waits while a keeper that lost its last user is shutting down
    try:
        with writing(house.folder):
            wait_until_ready(house)
        yield house
    finally:
        leave(house, use)


def wait_until_ready(house: ServerSet, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    started = False
    while not is_ready(house):
        if not keeper_lives(house):
            if started:
                raise CannotStart(last_line(house.log))
            start_keeper(house)
            started = True
        if time.monotonic() > deadline:
            raise CannotStart(f"The servers did not start within {seconds:.0f} s: see {house.log}")
        time.sleep(0.02)


def is_ready(house: ServerSet) -> bool:
    """Whether the servers are ready. The sign is a lock and not a file's content: it ends at once when the keeper is
    killed."""
    return not is_free(house.ready, fcntl.LOCK_SH)


def revive(house: ServerSet) -> bool:
    """Start the keeper again if it was killed. Returns whether it was."""
    if keeper_lives(house):
        return False
    start_keeper(house)
    return True


def start_keeper(house: ServerSet) -> None:
    """Start a keeper, and return when it holds its lock. It is detached, so that it outlives the calling process."""
    with open_log(house.log) as log:
        command = [sys.executable, "-m", "casino.embedded.keeper", str(house.folder), "--servers", *house.servers]
        command += [] if house.durable else ["--not-durable"]
        # A session of its own, so that Ctrl-C in the terminal does not reach the database.
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, check=False)


def open_log(path: Path) -> BinaryIO:
    """A log file opened for appending, or emptied if it is too long."""
    is_long = path.exists() and path.stat().st_size > LONGEST_LOG
    return path.open("wb" if is_long else "ab")


def last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"The servers did not start: see {log}"


def leave(house: ServerSet, use: int) -> None:
    try:
        fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # others still use the servers
    finally:
        os.close(use)
    deadline = time.monotonic() + 15
    while keeper_lives(house) and not (time.monotonic() > deadline or is_in_use(house)):
        time.sleep(0.02)


def keeper_lives(house: ServerSet) -> bool:
    return not is_free(house.keeper, fcntl.LOCK_SH)


def is_in_use(house: ServerSet) -> bool:
    """Whether a new user arrived at the last moment. A keeper that shuts down holds the same lock, but soon is no
    longer ready."""
    if is_free(house.users, fcntl.LOCK_EX):
        return False
    time.sleep(0.02)
    return is_ready(house)
