"""The cluster: three hosts with etcd, three with the database (Patroni, PostgreSQL), two with the application (HAProxy,
a web process), and the broker, workers and beats. Each uses the configuration or unit that deploy/ ships.
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any, Final, TypeVar

import psycopg

from casino.embedded.keeper import ROLES, give, unprivileged
from casino.embedded.servers import APPLICATION, BASE_DIR, DATABASE, OWNER, SUPERUSER
from tests.bench import deployed
from tests.bench.processor import family
from tests.cluster import hosts
from tests.cluster.hosts import Host
from tests.cluster.packages import Programs
from tests.cluster.units import Unit, Units

DEPLOY: Final = BASE_DIR / "deploy"
DATABASE_HOSTS: Final = {"db1": "10.77.0.11", "db2": "10.77.0.12", "db3": "10.77.0.13"}
ETCD_HOSTS: Final = {"etcd1": "10.77.0.21", "etcd2": "10.77.0.22", "etcd3": "10.77.0.23"}
"""Separate from the database hosts, so that losing one of those loses no member of etcd. If etcd's leader were lost as
well, the new leader would give every lock its full time once more."""
APPLICATION_HOSTS: Final = {"app1": "10.77.0.1", "app2": "10.77.0.2"}
BROKER: Final = "app1"
BROKER_PORT: Final = 6379
BROKER_FRONT_PORT: Final = 6380
WEB_PORT: Final = 8000
FRONT_PORT: Final = 8100
PRIMARY_PORT: Final = 5000
ASK_SECONDS: Final = 1.0
STEADY_SECONDS: Final = 120.0
BACK_AT_ONCE: Final = 0.5
"""Seconds until a dead unit of etcd or HAProxy restarts: Debian's do so at once, Patroni's within seconds."""
DISK: Final = "2g"
"""The size of each database host's disk. They are in memory, because real hosts' disks do not slow each other down."""
WAL_KEPT: Final = "512MB"
"""Less than the disk, which a fault fills. Real hosts keep gigabytes."""
VERIFIED: Final = "ca-file ca.pem verify required verifyhost"
"""What HAProxy asks of a host that it speaks TLS with; the host's name follows."""
Thing = TypeVar("Thing")


class Broken(RuntimeError):
    """The cluster does not reach a state that it must reach. The message says which."""


def filled(template: str, **values: str) -> str:
    """A configuration template of deploy/, filled as by envsubst."""
    return Template((DEPLOY / template).read_text()).substitute(values)


def own_web_server(name: str, address: str) -> str:
    return f"    server {name} {address}:{WEB_PORT} check"


def other_host(name: str, address: str) -> str:
    return f"    server {name} {address}:8200 check ssl crt host.pem {VERIFIED} {name}"


def database_server(name: str, address: str) -> str:
    return f"    server {name} {address}:5432 check port 8008 check-ssl {VERIFIED} {name}"


def haproxy(name: str, tls: Path) -> str:
    """Each host of this network has one address, so its own processes reach it there as well."""
    others = {other: address for other, address in APPLICATION_HOSTS.items() if other != name}
    return filled(
        "haproxy/haproxy.cfg",
        ADDRESS=APPLICATION_HOSTS[name],
        LOCAL=APPLICATION_HOSTS[name],
        TLS=str(tls),
        BROKER=BROKER,
        BROKER_ADDRESS=APPLICATION_HOSTS[BROKER],
        HOST="casino.cluster.test",
        DATABASE_SERVERS="\n".join(database_server(*host) for host in DATABASE_HOSTS.items()),
        OWN_WEB_SERVERS=own_web_server(name, APPLICATION_HOSTS[name]),
        OTHER_HOSTS="\n".join(other_host(*host) for host in others.items()),
    )


def etcd(name: str, folder: Path, tls: Path) -> dict[str, str]:
    text = filled(
        "etcd/etcd.env",
        NAME=name,
        ADDRESS=ETCD_HOSTS[name],
        FOLDER=str(folder),
        TLS=str(tls),
        MEMBERS=",".join(f"{host}=https://{address}:2380" for host, address in ETCD_HOSTS.items()),
    )
    lines = (line.partition("=") for line in text.splitlines() if line and not line.startswith("#"))
    return {key: value for key, _, value in lines}


@dataclass(frozen=True)
class Passwords:
    """Random passwords for one run."""

    superuser: str = field(default_factory=lambda: secrets.token_hex(16))
    replication: str = field(default_factory=lambda: secrets.token_hex(16))
    rewind: str = field(default_factory=lambda: secrets.token_hex(16))
    api: str = field(default_factory=lambda: secrets.token_hex(16))
    role: str = field(default_factory=lambda: secrets.token_hex(16))


def patroni(name: str, folder: Path, tls: Path, programs: Path, passwords: Passwords) -> str:
    return filled(
        "patroni/patroni.yml",
        NAME=name,
        ADDRESS=DATABASE_HOSTS[name],
        ETCD=",".join(f"{address}:2379" for address in ETCD_HOSTS.values()),
        NETWORK=hosts.NETWORK,
        TLS=str(tls),
        DATA=str(folder / "data"),
        SOCKETS=str(folder),
        PROGRAMS=str(programs),
        WAL_KEPT=WAL_KEPT,
        SUPERUSER_PASSWORD=passwords.superuser,
        REPLICATION_PASSWORD=passwords.replication,
        REWIND_PASSWORD=passwords.rewind,
        API_PASSWORD=passwords.api,
    )


@dataclass
class Node:
    """A database host."""

    host: Host
    folder: Path
    patroni: Unit
    clock: Path
    trust: ssl.SSLContext

    @property
    def name(self) -> str:
        return self.host.name

    def postgres(self) -> list[int]:
        """PostgreSQL's processes. They are not Patroni's children: they outlive it."""
        with suppress(OSError, ValueError, IndexError):
            postmaster = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
            return list(family([postmaster]))
        return []

    def everything(self) -> list[int]:
        alive = [self.patroni.pid] if self.patroni.is_alive else []
        return [*family(alive), *self.postgres()]

    def answers(self, path: str) -> bool:
        """Whether Patroni's health check at a path, such as /primary, succeeds for this host."""
        request = urllib.request.Request(f"https://{self.host.address}:8008{path}", method="OPTIONS")
        with suppress(OSError), urllib.request.urlopen(request, timeout=ASK_SECONDS, context=self.trust) as answer:
            return bool(answer.status == 200)
        return False

    def followers(self) -> dict[str, str]:
        """The hosts that replicate from this one, with their sync state. This comes from PostgreSQL, because Patroni's
        notes in etcd may be out of date."""
        url = f"https://{self.host.address}:8008/patroni"
        try:
            with urllib.request.urlopen(url, timeout=ASK_SECONDS, context=self.trust) as answer:
                copies = json.load(answer).get("replication", [])
        except (OSError, ValueError):
            return {}
        return {copy["application_name"]: copy["sync_state"] for copy in copies if copy["state"] == "streaming"}


@dataclass
class Cluster:
    """The whole house, with its hosts."""

    folder: Path
    programs: Programs
    with_clocks: bool = False
    passwords: Passwords = field(default_factory=Passwords)
    units: Units = field(default_factory=Units)
    nodes: dict[str, Node] = field(default_factory=dict)
    etcds: list[Unit] = field(default_factory=list)

    # --- State ---

    def primary(self) -> Node:
        """The host that accepts writes. Raises Broken."""
        return self.until(self._primary, "primary")

    def _primary(self) -> Node | None:
        return next((node for node in self.nodes.values() if node.answers("/primary")), None)

    def replicas(self) -> list[Node]:
        """The other hosts; the one that acknowledges commits comes first."""
        replicas = [node for node in self.nodes.values() if not node.answers("/primary")]
        return sorted(replicas, key=lambda node: not node.answers("/sync"))

    def fault(self) -> str:
        """Why the cluster is not whole; empty if it is."""
        leader = self._primary()
        if leader is None:
            return "there is no primary"
        followers = leader.followers()
        if missing := set(self.nodes) - {leader.name, *followers}:
            return f"{', '.join(sorted(missing))} copies nothing from {leader.name}"
        # No replica may take over before Patroni has noted in etcd which one acknowledges commits.
        if "sync" not in followers.values() or not any(node.answers("/sync") for node in self.nodes.values()):
            return "no replica acknowledges commits and may take over"
        for name in APPLICATION_HOSTS:
            if not self.health(name).get("watch"):
                return f"{name} says {self.health(name)}"
        return next((f"{unit.name} is dead" for unit in self.units.values() if not unit.is_alive), "")

    def health(self, name: str) -> dict[str, Any]:
        """A web process's health report."""
        url = f"http://{APPLICATION_HOSTS[name]}:{WEB_PORT}/healthz"
        try:
            with urllib.request.urlopen(url, timeout=3) as answer:
                health: dict[str, Any] = json.load(answer)
                return health
        except (OSError, ValueError) as error:
            return {"error": str(error)}

    def become_whole(self, seconds: float = STEADY_SECONDS) -> None:
        """Wait until the cluster has no fault. Raises Broken."""
        deadline = time.monotonic() + seconds
        while fault := self.fault():
            if time.monotonic() > deadline:
                raise Broken(f"The cluster is not whole after {seconds:.0f} s: {fault}")
            time.sleep(0.2)

    def until(self, find: Callable[[], Thing | None], name: str, seconds: float = STEADY_SECONDS) -> Thing:
        deadline = time.monotonic() + seconds
        while not (thing := find()):
            if time.monotonic() > deadline:
                raise Broken(f"There is no {name} after {seconds:.0f} s: see {self.folder}")
            time.sleep(0.2)
        return thing

    def url(self, role: str, database: str = DATABASE, host: str = "app1") -> str:
        password = self.passwords.superuser if role == SUPERUSER else self.passwords.role
        return f"postgresql://{role}:{password}@{APPLICATION_HOSTS[host]}:{PRIMARY_PORT}/{database}?{self.encrypted}"

    @property
    def encrypted(self) -> str:
        return f"sslmode=verify-ca&sslrootcert={self.tls / 'ca.pem'}"

    @contextmanager
    def connection(self, database: str = DATABASE) -> Iterator[psycopg.Connection]:
        """A connection to the primary as superuser, bypassing HAProxy."""
        primary = self.primary().host.address
        url = f"postgresql://{SUPERUSER}@{primary}:5432/{database}?{self.encrypted}"
        with psycopg.connect(url, password=self.passwords.superuser, autocommit=True, connect_timeout=3) as connection:
            yield connection

    def environment(self, name: str) -> dict[str, str]:
        """The environment of the house's processes on an application host, as deploy/install writes it."""
        return {
            **{key: value for key, value in os.environ.items() if not key.startswith(("CASINO_", "PG"))},
            "DJANGO_SETTINGS_MODULE": "casino.settings",
            "DATABASE_URL": self.url(APPLICATION, host=name),
            "DATABASE_OWNER_URL": self.url(OWNER, host=name),
            "REDIS_URL": f"redis://{APPLICATION_HOSTS[name]}:{BROKER_FRONT_PORT}/0",
            "SECRET_KEY": self._secret_file("secret-key", secrets.token_urlsafe(48)).read_text(),
            "PEPPER_FILE": str(self._secret_file("pepper", base64.b64encode(secrets.token_bytes(32)).decode())),
            "AUDIT_KEY_FILE": str(self.folder / "audit-key.pem"),
            "STATIC_ROOT": str(self.folder / "static"),
            "ACCESS_LOG": str(self.folder / f"access-{name}.log"),
            "ALLOWED_HOSTS": ",".join(("casino.cluster.test", *APPLICATION_HOSTS.values(), "127.0.0.1")),
            "CASINO_ENV": "production",
            "TLS": "no",
            "WEB_PROCESSES": "1",
            "DATABASE_CONNECTIONS": "24",
            "FORWARDED_ALLOW_IPS": ",".join(APPLICATION_HOSTS.values()),
        }

    def _secret_file(self, name: str, fresh: str) -> Path:
        path = self.folder / name
        if not path.exists():
            path.write_text(fresh)
            path.chmod(0o600)
        return path

    # --- Starting ---

    def start(self) -> None:
        """Start everything but the house's own processes. Raises Broken."""
        self.units.keeper.start()
        self._certify()
        hosts.lay_bridge(*APPLICATION_HOSTS.values())
        for name, address in ETCD_HOSTS.items():
            self.etcds.append(self._etcd(hosts.add_host(name, address)))
        self._start(*self.etcds)
        for name, address in DATABASE_HOSTS.items():
            host = hosts.add_host(name, address)
            hosts.set_kernel((DEPLOY / "patroni/sysctl.conf").read_text(), host)
            self.nodes[name] = self._node(host)
        for node in self.nodes.values():  # the first creates the database, the others copy it
            self._start(node.patroni)
            if node.name == "db1":
                self.primary()
        for name in APPLICATION_HOSTS:
            configuration = self.folder / f"haproxy-{name}.cfg"
            configuration.write_text(haproxy(name, self.tls / name))
            command = [str(self.programs.haproxy), "-db", "-f", str(configuration)]
            self._start(self._unit(f"haproxy-{name}", command, self.programs.environment(), BACK_AT_ONCE))
        self._start(self._broker())
        self._make_database()
        self.until(self._all_replicas, "replica")

    def start_house(self) -> None:
        """Start the house's own processes with the commands of their units."""
        commands = deployed.commands()
        for name in APPLICATION_HOSTS:
            self._house_unit(f"web-{name}", commands["web@8000"], name)
        for unit in ("worker", "alerts", "events"):
            self._house_unit(unit, commands[unit], "app1")
        for name in APPLICATION_HOSTS:
            self._house_unit(f"beat-{name}", commands["beat"], name)
        self.become_whole(300)

    def _all_replicas(self) -> bool:
        return all(node.answers("/replica") or node.answers("/primary") for node in self.nodes.values())

    def _start(self, *units: Unit) -> None:
        for unit in units:
            unit.start()

    def _unit(self, name: str, command: list[str], environment: dict[str, str], restart: float) -> Unit:
        return self.units.add(Unit(name, command, environment, self.folder / f"{name}.log", restart))

    @property
    def tls(self) -> Path:
        """The authority's folder, with a folder for each host."""
        return self.folder / "tls"

    def trust(self) -> ssl.SSLContext:
        """What a client needs to know a host by its certificate; it has none of its own."""
        return ssl.create_default_context(cafile=self.tls / "ca.pem")

    def _certify(self) -> None:
        every = DATABASE_HOSTS | ETCD_HOSTS | APPLICATION_HOSTS
        command = [
            str(DEPLOY / "certificates"),
            str(self.tls),
            *(f"{name}={address}" for name, address in every.items()),
        ]
        subprocess.run(command, check=True)

    def _disk(self, folder: Path) -> None:
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0700", folder.name, str(folder)], check=True)

    def _etcd(self, host: Host) -> Unit:
        folder = self.folder / f"{host.name}-data"
        self._disk(folder)
        environment = self.programs.environment() | etcd(host.name, folder, self.tls / host.name)
        return self._unit(host.name, host.command([str(self.programs.etcd)]), environment, BACK_AT_ONCE)

    def _node(self, host: Host) -> Node:
        folder, clock = self.folder / host.name, self.folder / f"clock-{host.name}"
        self._disk(folder)
        clock.write_text("+0\n")
        prefix, owner = unprivileged()
        configuration = folder / "patroni.yml"
        tls = folder / "tls"
        shutil.copytree(self.tls / host.name, tls)
        programs = self._postgres(host.name, clock)
        configuration.write_text(patroni(host.name, folder, tls, programs, self.passwords))
        configuration.chmod(0o600)
        give(folder, owner)
        patroni_unit = self._unit(
            f"patroni-{host.name}",
            host.command([*prefix, *self.programs.patroni, str(configuration)]),
            self.programs.environment(),
            1.0,
        )
        return Node(host, folder, patroni_unit, clock, self.trust())

    def _postgres(self, name: str, clock: Path) -> Path:
        """The folder of PostgreSQL's programs; for clock faults, with a server that reads its clock's offset from a
        file. Only PostgreSQL's clock can be changed: libfaketime breaks sleep in Python."""
        if not self.with_clocks:
            return self.programs.postgres
        folder = self.folder / f"programs-{name}"
        folder.mkdir()
        for program in self.programs.postgres.iterdir():
            (folder / program.name).symlink_to(program)
        server = folder / "postgres"
        server.unlink()
        server.write_text(
            f"#!/bin/sh\nexport LD_PRELOAD={self.programs.faketime} FAKETIME_TIMESTAMP_FILE={clock}"
            " FAKETIME_CACHE_DURATION=1 FAKETIME_DONT_FAKE_MONOTONIC=1\n"
            f'exec {self.programs.postgres / "postgres"} "$@"\n'
        )
        server.chmod(0o755)
        return folder

    def _broker(self) -> Unit:
        """A broker without persistence: everything that matters is in the database."""
        command = [self.programs.valkey, "--bind", "127.0.0.1", "--port", str(BROKER_PORT), "--save", ""]
        return self._unit("valkey", [*command, "--appendonly", "no"], self.programs.environment(), BACK_AT_ONCE)

    def _house_unit(self, unit: str, command: list[str], name: str) -> None:
        command = list(command)
        if "--port" in command:
            command[command.index("--port") + 1] = str(WEB_PORT)
            command[command.index("--host") + 1] = APPLICATION_HOSTS[name]
        if "--schedule" in command:
            command[command.index("--schedule") + 1] = str(self.folder / unit)
        self._start(self._unit(unit, command, self.environment(name), 2.0))

    # --- The database ---

    def _make_database(self) -> None:
        passwords = "".join(f"ALTER ROLE {role} PASSWORD '{self.passwords.role}';" for role in (OWNER, APPLICATION))
        with self.connection("postgres") as connection:
            for statement in re.split(r"(?<=END \$\$;)", ROLES)[:1]:
                connection.execute(statement)  # type: ignore[arg-type]
            connection.execute(passwords)  # type: ignore[arg-type]
            connection.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER}")  # type: ignore[arg-type]
        self.until(self._is_reached, "way to the primary")
        self.manage("collectstatic", "--noinput", "--verbosity", "0")
        self.manage("migrate", "--verbosity", "0", owner=True)
        self.manage("grants", owner=True)
        self.manage("pepper")
        self.manage("audit", "key")

    def _is_reached(self) -> bool:
        """Whether HAProxy has found the primary."""
        with suppress(psycopg.Error), psycopg.connect(self.url(SUPERUSER), connect_timeout=2):
            return True
        return False

    def manage(self, *command: str, owner: bool = False) -> str:
        """The output of a management command. Raises Broken."""
        environment = self.environment("app1") | ({"CASINO_DB_ROLE": "owner"} if owner else {})
        process = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if process.returncode != 0:
            raise Broken(f"manage.py {' '.join(command)} failed:\n{process.stdout}{process.stderr}")
        return process.stdout
