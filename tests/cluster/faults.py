"""The faults: each strikes when its context is entered and is repaired when it is left. The rounds of a fault alternate
between its variants: killed or stopped, one host or another.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final

import psycopg

from tests.cluster.cluster import APPLICATION_HOSTS, Cluster, Node
from tests.cluster.units import Unit, send

Fault = Callable[[Cluster, int], AbstractContextManager[str]]
"""Strikes a cluster in the variant for the round's number, and yields that variant's name."""
HOUR: Final = "+3600\n"
RIGHT: Final = "+0\n"


# --- Database hosts ----------------------------------------------------------------------------------------------


@contextmanager
def primary(cluster: Cluster, turn: int) -> Iterator[str]:
    with database_host(cluster.primary(), turn) as way:
        yield f"primary, {way}"


@contextmanager
def replica(cluster: Cluster, turn: int) -> Iterator[str]:
    """Alternates between the replica that acknowledges commits and the other one."""
    number = turn // 4 % 2
    with database_host(cluster.replicas()[number], turn) as way:
        yield f"{('synchronous', 'other')[number]} replica, {way}"


@contextmanager
def database_host(node: Node, turn: int) -> Iterator[str]:
    ways = (server_killed, server_stopped, host_killed, host_stopped)
    way = ways[turn % len(ways)]
    with way(node):
        yield way.__name__.replace("_", " ")


@contextmanager
def server_killed(node: Node) -> Iterator[None]:
    """Patroni starts the server again, or lets another host take over."""
    send(signal.SIGKILL, node.postgres())
    yield


@contextmanager
def server_stopped(node: Node) -> Iterator[None]:
    """The server hangs: it keeps its connections but does not answer."""
    with stopped(node.postgres()):
        yield


@contextmanager
def host_killed(node: Node) -> Iterator[None]:
    """Patroni and PostgreSQL die at once, as when a host loses power; it returns later."""
    node.patroni.is_held = True
    send(signal.SIGKILL, node.everything())
    yield
    node.patroni.start()


@contextmanager
def host_stopped(node: Node) -> Iterator[None]:
    """Patroni and PostgreSQL hang, as when a hypervisor pauses a virtual machine."""
    with stopped(node.everything()):
        yield


@contextmanager
def stopped(pids: list[int]) -> Iterator[None]:
    send(signal.SIGSTOP, pids)
    try:
        yield
    finally:
        send(signal.SIGCONT, pids)


@contextmanager
def partition(cluster: Cluster, turn: int) -> Iterator[str]:
    """Cuts a database host off the network: alternately the primary and a replica."""
    node = cluster.primary() if turn % 2 == 0 else cluster.replicas()[turn // 2 % 2]
    node.host.cut_off()
    try:
        yield "primary cut off" if turn % 2 == 0 else "replica cut off"
    finally:
        node.host.join()


@contextmanager
def disk(cluster: Cluster, turn: int) -> Iterator[str]:
    """Fills the primary's disk to the last byte, then forces it to begin another file of its log."""
    node = cluster.primary()
    filling = node.folder / "filling"
    with filling.open("wb") as file, suppress(OSError):
        while True:
            os.write(file.fileno(), bytes(2**20))
    need_room(cluster, node)
    try:
        yield "primary's disk full"
    finally:
        filling.unlink()


def need_room(cluster: Cluster, node: Node) -> None:
    url = f"postgresql://postgres@{node.host.address}/postgres"
    with (
        suppress(psycopg.Error),
        psycopg.connect(url, password=cluster.passwords.superuser, autocommit=True, connect_timeout=2) as connection,
    ):
        for _ in range(8):
            connection.execute("SELECT pg_logical_emit_message(false, 'full', 'full'), pg_switch_wal()")


# --- Everything else ---------------------------------------------------------------------------------------------


@contextmanager
def etcd(cluster: Cluster, turn: int) -> Iterator[str]:
    """Strikes one of three members; a killed one restarts by itself."""
    with unit(cluster.etcds[turn // 2 % len(cluster.etcds)], turn) as way:
        yield way


@contextmanager
def haproxy(cluster: Cluster, turn: int) -> Iterator[str]:
    with unit(cluster.units[f"haproxy-{application_host(turn)}"], turn) as way:
        yield way


@contextmanager
def web(cluster: Cluster, turn: int) -> Iterator[str]:
    with unit(cluster.units[f"web-{application_host(turn)}"], turn) as way:
        yield way


@contextmanager
def broker(cluster: Cluster, turn: int) -> Iterator[str]:
    """A killed broker restarts empty."""
    with unit(cluster.units["valkey"], turn) as way:
        yield way


def application_host(turn: int) -> str:
    return list(APPLICATION_HOSTS)[turn // 2 % 2]


@contextmanager
def unit(unit: Unit, turn: int) -> Iterator[str]:
    if turn % 2 == 0:
        unit.kill()
        yield f"{unit.name} killed"
        return
    unit.stop()
    try:
        yield f"{unit.name} stopped"
    finally:
        unit.go_on()


@contextmanager
def clock(cluster: Cluster, turn: int) -> Iterator[str]:
    """Sets a server's clock an hour ahead: alternately a replica's and the primary's."""
    name, node = ("replica", cluster.replicas()[0]) if turn % 2 == 0 else ("primary", cluster.primary())
    file = node.clock
    file.write_text(HOUR)
    try:
        yield f"clock of the {name}"
    finally:
        file.write_text(RIGHT)


FAULTS: Final[dict[str, Fault]] = {
    "primary": primary,
    "replica": replica,
    "etcd": etcd,
    "haproxy": haproxy,
    "web": web,
    "broker": broker,
    "partition": partition,
    "disk": disk,
    "clock": clock,
}
