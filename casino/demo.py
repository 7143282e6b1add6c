"""`./run demo`: a whole house on one machine, and a supervisor that leaves nothing behind when it goes."""

import argparse
import contextlib
import fcntl
import functools
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

from casino import embedded, keeper

NAME = "demo"
FOLDER = embedded.LOCAL / NAME
HALF_MADE = FOLDER / "half-made"
"""There while a house's past is made, and after that was cut short."""
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
PATIENCE = 60  # seconds that the first page may take
GRACE = 12  # seconds that a child may take to stop


class Refused(RuntimeError):
    """The demo cannot start; the message is the one sentence to say."""


class Stopped(Exception):
    """Ctrl-C or SIGTERM."""


def say(text: str) -> None:
    print(text, flush=True)


@dataclass
class Child:
    """One of the house's processes, in a process group of its own; its output goes to a file."""

    name: str
    command: list[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started: float = 0
    quick_deaths: int = field(default=0)
    due: float | None = None
    """When one that died is started again."""

    def start(self) -> None:
        self.started = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=embedded.BASE_DIR,
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
    is_live: bool
    has_reader: bool = True
    children: list[Child] = field(default_factory=list)
    house: embedded.House | None = None  # None: configured servers, which are not ours to revive

    @property
    def url(self) -> str:
        address = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104
        return f"http://[{address}]:{self.port}/" if ":" in address else f"http://{address}:{self.port}/"

    def run(self) -> None:
        embedded.LOCAL.mkdir(exist_ok=True)
        with self.alone():
            self.refuse_a_busy_port()
            if self.fresh or HALF_MADE.exists():
                self.clear()
            with self.servers():
                logins = self.prepare()
                try:
                    self.open_house(logins)
                finally:
                    self.close_house()
        say("Stopped.")

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        try:
            descriptor = embedded.lock(embedded.LOCAL / f"{NAME}.lock", fcntl.LOCK_EX | fcntl.LOCK_NB)
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
        if users.exists() and not embedded.is_free(users, fcntl.LOCK_EX):
            raise Refused("Another command is using the demo's database: let it finish, then start over.")
        shutil.rmtree(FOLDER, ignore_errors=True)

    @contextlib.contextmanager
    def servers(self) -> Iterator[None]:
        configured = {"DATABASE_URL", "REDIS_URL"} <= os.environ.keys()
        say("Using the configured servers" if configured else "Starting PostgreSQL and Valkey")
        house = embedded.House(FOLDER)
        house.prepare()
        os.environ.setdefault("CASINO_ENV", "demo")
        os.environ.setdefault("SECRET_KEY", house.secret_key())
        os.environ.setdefault("AUDIT_KEY_FILE", str(house.audit_key))
        os.environ.setdefault("AUDIT_FOLDER", str(FOLDER / "audits"))
        os.environ.setdefault("PEPPER_FILE", str(house.pepper()))
        os.environ.setdefault("ARGON2_MEMORY_MIB", "8")  # everybody knows these PINs
        os.environ.setdefault("STATIC_ROOT", str(FOLDER / "static"))
        if self.host not in LOOPBACK:
            say("Careful: a demo's logins are public knowledge, and it will listen beyond this machine.")
            os.environ.setdefault("ALLOWED_HOSTS", "*")
        with contextlib.nullcontext() if configured else embedded.provide(NAME) as self.house:
            yield

    def prepare(self) -> str:
        say("Migrating the database")
        statics = begin("-m", "casino.statics")
        finish(begin("manage.py", "migrate", "--verbosity", "0"))
        finish(begin("manage.py", "pepper"))
        if self.house is not None and self.days and not self.house.audit_key.exists():
            self.make_the_past()
        say("Seeding the pit")
        logins = finish(begin("manage.py", "seed_demo", "--address", self.url))
        if self.tables:
            say(f"Opening tables until there are {self.tables}")
            run("-m", "casino.demo_house.more_tables", str(self.tables))
        if not Path(os.environ["AUDIT_KEY_FILE"]).exists():
            finish(begin("manage.py", "audit", "key"))
        finish(statics)
        return logins

    def make_the_past(self) -> None:
        """Of a new house. Should this be stopped, the next run starts over: half a past cannot be gone on with."""
        HALF_MADE.touch()
        run("-m", "casino.demo_house", "--days", str(self.days), "--seed", str(self.seed))
        HALF_MADE.unlink()

    def open_house(self, logins: str) -> None:
        python = [sys.executable, "-m"]
        web = [*python, "casino.web", "--host", self.host, "--port", str(self.port), "--no-proxy-headers"]
        beat = [*_CELERY, "beat", "--schedule", str(FOLDER / "beat"), "--pidfile", "", "--loglevel", "INFO"]
        commands = {
            "web": web,
            "worker": worker("celery", "house", processes=1, level="INFO"),
            "alerts": worker("alerts", "alerts", processes=2, level="WARNING"),
            "events": worker("events", "events", processes=1, level="WARNING"),
            "beat": beat,
        }
        self.children = [Child(name, command, FOLDER / f"{name}.log") for name, command in commands.items()]
        if self.is_live:
            command = [*python, "casino.demo_house.live", "--seed", str(self.seed)]
            self.children.append(Child("live", command, FOLDER / "live.log"))
        say("Starting web, worker and beat")
        for child in self.children:
            child.log.unlink(missing_ok=True)
            child.start()
        self.wait_for_the_first_page()
        if self.has_reader:
            self.start_the_reader()
        say(f"\n{logins.strip()}\n\nThe house is open at {self.url} (Ctrl-C closes it)")
        while True:
            self.revive_the_dead()
            time.sleep(0.2)

    def start_the_reader(self) -> None:
        """Once the house is open: nobody waits for it."""
        reader = [sys.executable, "-m", "casino.demo_house.card_reader", "--url", self.url, "--seed", str(self.seed)]
        child = Child("reader", [*reader, "--token-file", str(FOLDER / "reader-token")], FOLDER / "reader.log")
        child.log.unlink(missing_ok=True)
        self.children.append(child)
        child.start()

    def revive_the_dead(self) -> None:
        if self.house is not None and embedded.revive(self.house):
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
    """A worker for one queue alone: what waits in one of them holds up no other."""
    options = ["--queues", queue, "--concurrency", str(processes), "--hostname", f"{name}@%h", "--loglevel", level]
    return [*_CELERY, "worker", *options]


def run(*arguments: str) -> None:
    """A step whose lines are said as they come."""
    finish(begin(*arguments, output=None))


def begin(*arguments: str, output: int | None = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=embedded.BASE_DIR,
        stdin=subprocess.DEVNULL,
        stdout=output,
        text=True,
        process_group=0,
        preexec_fn=functools.partial(keeper.die_with_parent, signal.SIGTERM),
    )


def finish(step: subprocess.Popen[str]) -> str:
    """What a step printed; its failure is ours, and if we are stopped meanwhile it stops too."""
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
    parser.add_argument("--live", action="store_true", help="dealers deal at most tables by themselves")
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
            is_live=options.live,
            has_reader=options.reader,
        ).run()
    except Stopped:
        say("Stopped.")
    except (Refused, embedded.CannotStart) as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
