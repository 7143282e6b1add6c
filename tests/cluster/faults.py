"""What is done to the cluster: each fault strikes when it is entered and is mended when it is left. Rounds of one fault
take turns between its ways: killed or stopped, this host or that.
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
"""Strikes a cluster in the way that the round's number says, and tells which way that was."""
HOUR: Final = "+3600\n"
RIGHT: Final = "+0\n"


# --- Database hosts ----------------------------------------------------------------------------------------------


@contextmanager
def primary(cluster: Cluster, turn: int) -> Iterator[str]:
    with database_host(cluster.primary(), turn) as way:
        yield f"primary, {way}"


@contextmanager
def replica(cluster: Cluster, turn: int) -> Iterator[str]:
    """First the one that acknowledges commits, then the other."""
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
    """Patroni starts it again, or lets another host take over."""
    send(signal.SIGKILL, node.postgres())
    yield


@contextmanager
def server_stopped(node: Node) -> Iterator[None]:
    """A server that is there, keeps its connections, and answers nothing."""
    with stopped(node.postgres()):
        yield


@contextmanager
def host_killed(node: Node) -> Iterator[None]:
    """Patroni and PostgreSQL at once, as a host that loses power; it comes back later."""
    node.patroni.is_held = True
    send(signal.SIGKILL, node.everything())
    yield
    node.patroni.start()


@contextmanager
def host_stopped(node: Node) -> Iterator[None]:
    """As a virtual machine that its hypervisor pauses."""
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
    """The cable of a database host: of the primary, then of a replica."""
    node = cluster.primary() if turn % 2 == 0 else cluster.replicas()[turn // 2 % 2]
    node.host.cut_off()
    try:
        yield "primary cut off" if turn % 2 == 0 else "replica cut off"
    finally:
        node.host.join()


@contextmanager
def disk(cluster: Cluster, turn: int) -> Iterator[str]:
    """The primary's disk is full to the last byte, and it is made to need another file of its log."""
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
    """One member of three; killed ones come back by themselves."""
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
    """A broker that is killed comes back with nothing in it."""
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
    """An hour ahead: of a replica's server, of the primary's."""
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
