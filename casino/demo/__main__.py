"""`./run demo`: a whole site on one machine, under a supervisor that stops every process it started."""

import argparse
import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

from casino.embedded import keeper, servers

NAME = "demo"
FOLDER = servers.LOCAL / NAME
HALF_MADE = FOLDER / "half-made"
"""Exists while the history is being made, and after that was interrupted."""
PREPARED = FOLDER / "prepared"
"""Names the checkout that migrated the database last, and collected the static files."""
PACKAGES = ("casino", "dealer_ui", "ledger", "tables", "requirements")
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
PATIENCE = 60  # seconds that the first page may take
GRACE = 12  # seconds that a child may take to stop
MIGRATED, LOGINS = "The database is migrated", "Logins:"
"""Lines that the preparation prints (casino/demo/preparation.py)."""
WITNESS_OPTIONS = FOLDER / "witness-options"
"""Command of the demo's witness (casino/demo/witness.py)."""
RECORDED_DAYS, RECORDED_SEED = 14, 1
"""The past that ships as a recording (casino/demo/recording.py); any other is dealt."""


class Refused(RuntimeError):
    """The demo cannot start; the message is one sentence with the reason."""


class Stopped(Exception):
    """Ctrl-C or SIGTERM."""


def say(text: str) -> None:
    print(text, flush=True)


@dataclass
class Child:
    """A process of the demo, in a process group of its own, with its output in a file."""

    name: str
    command: list[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started: float = 0
    quick_deaths: int = field(default=0)
    due: float | None = None
    """When a process that died is started again."""

    def start(self) -> None:
        self.started = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=servers.BASE_DIR,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                preexec_fn=functools.partial(keeper.die_with_parent, signal.SIGTERM),
            )

    def signal(self, number: int) -> None:
        """To the group: a child's own children must not outlive it."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def ask_to_stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def wait_until_stopped(self, deadline: float) -> None:
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=max(0.0, deadline - time.monotonic()))
            self.signal(signal.SIGKILL)
            self.process.wait()

    def revive(self) -> None:
        """Start it again if it died. One that keeps dying is started ever less often, and no other waits for it."""
        if self.process is None or (code := self.process.poll()) is None:
            return
        if self.due is None:
            self.signal(signal.SIGKILL)
            self.quick_deaths = self.quick_deaths + 1 if time.monotonic() - self.started < 10 else 0
            how = f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
            say(f"{self.name} {how}; starting it again (its log: {self.log})")
            self.due = time.monotonic() + min(10, 0.5 * self.quick_deaths**2)
        if time.monotonic() >= self.due:
            self.due = None
            self.start()


@dataclass
class Demo:
    host: str
    port: int
    fresh: bool
    days: int
    seed: int
    tables: int
    is_dealt: bool
    is_live: bool
    has_reader: bool = True
    children: list[Child] = field(default_factory=list)
    house: servers.ServerSet | None = None  # None: configured servers, which are not ours to revive
    owns_database: bool = True
    began: float = field(default_factory=time.monotonic)

    @property
    def url(self) -> str:
        address = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104
        return f"http://[{address}]:{self.port}/" if ":" in address else f"http://{address}:{self.port}/"

    def run(self) -> None:
        with servers.writing(FOLDER):
            servers.LOCAL.mkdir(parents=True, exist_ok=True)
            self.run_alone()
        say("Stopped.")

    def run_alone(self) -> None:
        with self.alone():
            self.refuse_a_busy_port()
            if self.fresh or HALF_MADE.exists():
                self.clear()
            self.announce()
            self.set_environment()
            preparing = self.begin_to_prepare()
            try:
                self.progress("Starting PostgreSQL and Valkey" if self.house else "Using the configured servers")
                with servers.provide(NAME) if self.house else contextlib.nullcontext():
                    try:
                        self.open_house(self.finish_preparing(preparing))
                    finally:
                        self.close_house()
            finally:
                preparing.stop()

    def progress(self, step: str) -> None:
        say(f"{time.monotonic() - self.began:5.1f} s  {step}")

    @property
    def is_new(self) -> bool:
        """Whether this is the first start with this folder."""
        return not (FOLDER / "audit-key.pem").exists()

    def announce(self) -> None:
        """Print the steps that follow, and their approximate duration on two cores."""
        past = f"{self.days} days of history" if self.days else "no history"
        if not self.is_new:
            say("Opening the demo with the data of before: about 6 seconds.")
        elif self.is_dealt or (self.days and self.days != RECORDED_DAYS):
            seconds = 20 + 3 * self.days
            say(f"Making a demo: database, {past}, dealt anew, staff and tables. This takes about {seconds} seconds.")
        else:
            say(f"Making a demo: database, {past}, staff and tables. This takes about 15 seconds.")

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        try:
            descriptor = servers.lock(servers.LOCAL / f"{NAME}.lock", fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused("A demo of this checkout is already running: stop it first (Ctrl-C there).") from None
        try:
            yield
        finally:
            os.close(descriptor)

    def refuse_a_busy_port(self) -> None:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except (OSError, OverflowError) as error:
                raise Refused(
                    f"Cannot listen on {self.host} port {self.port} ({error}): choose another with --port."
                ) from None

    def clear(self) -> None:
        if "DATABASE_URL" in os.environ:
            raise Refused("--fresh clears only the embedded database, and DATABASE_URL names another.")
        users = FOLDER / "users.lock"
        if users.exists() and not servers.is_free(users, fcntl.LOCK_EX):
            raise Refused("Another command is using the demo's database: let it finish, then start over.")
        shutil.rmtree(FOLDER, ignore_errors=True)

    def set_environment(self) -> None:
        """Set the environment of the demo's processes: the configured servers, or else the embedded ones."""
        house = servers.ServerSet(FOLDER)
        house.prepare()
        self.owns_database = "DATABASE_URL" not in os.environ
        if not self.owns_database:
            os.environ.setdefault("DATABASE_OWNER_URL", os.environ["DATABASE_URL"])
        if self.owns_database or "REDIS_URL" not in os.environ:
            self.house = house
            for name, value in house.environment().items():
                os.environ.setdefault(name, value)
        os.environ.setdefault("CASINO_ENV", "demo")
        os.environ.setdefault("SECRET_KEY", house.secret_key())
        os.environ.setdefault("AUDIT_KEY_FILE", str(house.audit_key))
        os.environ.setdefault("CHECKPOINT_KEY_FILE", str(FOLDER / "checkpoint-key.pem"))
        os.environ.setdefault("AUDIT_FOLDER", str(FOLDER / "audits"))
        os.environ.setdefault("PEPPER_FILE", str(house.pepper()))
        os.environ.setdefault("ARGON2_MEMORY_MIB", "8")  # everybody knows these PINs
        os.environ.setdefault("STATIC_ROOT", str(FOLDER / "static"))
        if self.host not in LOOPBACK:
            say("Careful: a demo's logins are public knowledge, and it will listen beyond this machine.")
            os.environ.setdefault("ALLOWED_HOSTS", "*")

    def begin_to_prepare(self) -> "Preparation":
        """Start the preparation before the servers are ready: its imports take half of the time."""
        options = ["--address", self.url, "--days", str(self.days), "--seed", str(self.seed)]
        options += ["--tables", str(self.tables), *(["--deal"] if self.is_dealt else [])]
        checkout = fingerprint()
        if self.house is not None:
            options += ["--folder", str(FOLDER)]
        if self.owns_database and self.days and self.is_new:
            HALF_MADE.touch()
            options.append("--past")
        is_done = self.owns_database and PREPARED.exists() and PREPARED.read_text() == checkout
        statics = None if is_done else begin("-m", "casino.web.static_files")
        options += ["--is-migrated"] if is_done else []
        return Preparation(begin("-m", "casino.demo.preparation", *options), statics, checkout)

    def finish_preparing(self, preparing: "Preparation") -> str:
        """The database is ready, and the web process began to start as soon as its tables were; the logins."""
        for line in preparing.said():
            if line == MIGRATED:
                preparing.collect_statics()
                self.start("web", self.web())
            else:
                self.progress(line)
        if self.owns_database:
            PREPARED.write_text(preparing.checkout)
        HALF_MADE.unlink(missing_ok=True)
        return preparing.logins

    def web(self) -> list[str]:
        python = [sys.executable, "-m"]
        return [*python, "casino.web", "--host", self.host, "--port", str(self.port), "--no-proxy-headers"]

    def start(self, name: str, command: list[str]) -> None:
        child = Child(name, command, FOLDER / f"{name}.log")
        child.log.unlink(missing_ok=True)
        self.children.append(child)
        child.start()

    def open_house(self, logins: str) -> None:
        self.progress("Waiting for the first page")
        self.wait_for_the_first_page()
        beat = [*_CELERY, "beat", "--schedule", str(FOLDER / "beat"), "--pidfile", "", "--loglevel", "INFO"]
        python = [sys.executable, "-m"]
        commands = {
            "worker": worker("celery", "house", processes=2, level="INFO"),  # the watch may compute for a minute
            "alerts": worker("alerts", "alerts", processes=2, level="WARNING"),
            "events": worker("events", "events", processes=1, level="WARNING"),
            "beat": beat,
        }
        if witness := self.witness():
            commands["witness"] = witness
        if self.is_live:
            commands["live"] = [*python, "casino.demo.live", "--seed", str(self.seed)]
        if self.has_reader:
            reader = [*python, "casino.demo.card_reader", "--url", self.url, "--seed", str(self.seed)]
            commands["reader"] = [*reader, "--token-file", str(FOLDER / "reader-token")]
        for name, command in commands.items():
            self.start(name, command)
        self.progress("Open. The worker, the beat, the dealers and the card reader follow in some seconds.")
        say(f"\n{logins.strip()}\n\nThe house is open at {self.url} (Ctrl-C closes it)")
        while True:
            self.revive_the_dead()
            time.sleep(0.2)

    def witness(self) -> list[str]:
        """The command of the demo's witness; empty where it cannot run."""
        if self.house is None or not WITNESS_OPTIONS.exists():
            return []
        options = WITNESS_OPTIONS.read_text().split("\n")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", int(options[-1]))) == 0:
                say(f"Another program uses port {options[-1]}: the demo's witness does not start.")
                return []
        return [sys.executable, "manage.py", "witness", "serve", *options]

    def revive_the_dead(self) -> None:
        if self.house is not None and servers.revive(self.house):
            say("PostgreSQL and Valkey lost their keeper; starting them again")
        for child in self.children:
            child.revive()

    def wait_for_the_first_page(self) -> None:
        deadline = time.monotonic() + PATIENCE
        is_late = False
        while not answers(f"{self.url}healthz"):
            self.revive_the_dead()
            if time.monotonic() > deadline and not is_late:
                say(f"The web process does not answer yet: see {self.children[0].log}")
                is_late = True
            time.sleep(0.1)

    def close_house(self) -> None:
        say("\nClosing the house")
        for child in self.children:
            child.ask_to_stop()
        deadline = time.monotonic() + GRACE
        for child in self.children:
            child.wait_until_stopped(deadline)


_CELERY: Final = (sys.executable, "-m", "celery", "--app", "casino")


def worker(queue: str, name: str, *, processes: int, level: str) -> list[str]:
    """The command of a worker for one queue: a full queue then delays no other."""
    options = ["--queues", queue, "--concurrency", str(processes), "--hostname", f"{name}@%h", "--loglevel", level]
    return [*_CELERY, "worker", *options]


@dataclass
class Preparation:
    """The steps before the demo opens, in a process of their own, and the static files in another."""

    step: subprocess.Popen[str]
    statics: subprocess.Popen[str] | None
    checkout: str
    logins: str = ""

    def said(self) -> Iterator[str]:
        """The lines printed up to the logins."""
        assert self.step.stdout is not None  # noqa: S101 -- it was begun with a pipe
        try:
            for line in self.step.stdout:
                if line.rstrip() == LOGINS:
                    break
                yield line.rstrip()
        except Stopped:
            self.stop()
            raise
        self.logins = finish(self.step)

    def collect_statics(self) -> None:
        if self.statics is not None:
            finish(self.statics)

    def stop(self) -> None:
        for process in (self.step, self.statics):
            if process is not None:
                process.terminate()
                process.wait()


def fingerprint() -> str:
    """Names the files of this checkout, by their sizes and times."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((servers.BASE_DIR / package).rglob("*")):
            if path.suffix != ".pyc" and path.is_file():
                about = path.stat()
                digest.update(f"{path} {about.st_size} {about.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def begin(*arguments: str, output: int | None = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=servers.BASE_DIR,
        stdin=subprocess.DEVNULL,
        stdout=output,
        text=True,
        process_group=0,
        preexec_fn=functools.partial(keeper.die_with_parent, signal.SIGTERM),
    )


def finish(step: subprocess.Popen[str]) -> str:
    """The output of a step.

    Raises Refused where it failed; if the demo is stopped meanwhile, the step is stopped too.
    """
    try:
        printed, _ = step.communicate()
    except Stopped:
        step.terminate()
        step.wait()
        raise
    if step.returncode != 0:
        arguments = step.args[1:] if isinstance(step.args, list) else ()
        raise Refused(
            f"{(printed or '').strip()}\n{' '.join(map(str, arguments))} failed: what it said stands above.".strip()
        )
    return printed or ""


def answers(url: str) -> bool:
    """Whether the demo's own web process answers. The supervisor imports nothing that takes long."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def stop(number: int, frame: FrameType | None) -> None:
    # Once is enough: a second Ctrl-C must not interrupt the stopping.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise Stopped


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run demo", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="throw the demo's data away and start over")
    parser.add_argument("--days", type=int, default=14, help="how many days a new house has behind it (default: 14)")
    parser.add_argument("--seed", type=int, default=1, help="of the chance that its past comes by (default: 1)")
    parser.add_argument("--tables", type=int, default=0, help="open tables until there are so many, in pits of seven")
    parser.add_argument("--deal", action="store_true", help="deal the past of a new house, where it would be loaded")
    parser.add_argument("--still", action="store_true", help="no dealers at work: else some tables deal by themselves")
    parser.add_argument("--live", action="store_true", help="what is so without it, unless --still is given")
    parser.add_argument("--no-reader", dest="reader", action="store_false", help="no table with a card reader")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        Demo(
            options.host,
            options.port,
            fresh=options.fresh,
            days=options.days,
            seed=options.seed,
            tables=options.tables,
            is_dealt=options.deal or options.seed != RECORDED_SEED,
            is_live=not options.still,
            has_reader=options.reader,
        ).run()
    except Stopped:
        say("Stopped.")
    except (Refused, servers.CannotStart) as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
