"""The lines between the hosts, tried as a stranger would who has a cable to their network, and no certificate."""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress

import psycopg

from casino.embedded.servers import APPLICATION, DATABASE
from tests.cluster.cluster import APPLICATION_HOSTS, BROKER, ETCD_HOSTS, Cluster

SECONDS = 3.0
QUESTIONS = {
    2379: b"GET /health HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n",
    2380: b"GET /members HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n",
    8201: b"PING\r\n",
    8200: b"GET /static/dealer_ui/icon.svg HTTP/1.1\r\nHost: casino.cluster.test\r\nConnection: close\r\n\r\n",
}
"""By port: what is answered with success to whoever is let in."""


def open_lines(cluster: Cluster) -> list[str]:
    """What a stranger can reach, or read on its way, in a cluster that is whole; empty if nothing."""
    return [*_without_a_certificate(cluster), *_database(cluster), *_patroni(cluster)]


def _without_a_certificate(cluster: Cluster) -> Iterator[str]:
    trust, member = cluster.trust(), cluster.trust()
    member.load_cert_chain(cluster.tls / "app1" / "host.pem", cluster.tls / "app1" / "host.pem.key")
    places = [(name, address, port) for name, address in ETCD_HOSTS.items() for port in (2379, 2380)]
    places += [(name, address, 8200) for name, address in APPLICATION_HOSTS.items()]
    places.append((BROKER, APPLICATION_HOSTS[BROKER], 8201))
    for name, address, port in places:
        if not _is_answered(address, port, member):
            yield f"{name} does not answer on port {port}, so nothing was learned there"
        if _is_answered(address, port, None):
            yield f"{name} answers on port {port} without TLS"
        if _is_answered(address, port, trust):
            yield f"{name} answers on port {port} to whoever has no certificate"


def _is_answered(address: str, port: int, tls: ssl.SSLContext | None) -> bool:
    with suppress(OSError):
        line: socket.socket = socket.create_connection((address, port), SECONDS)
        if tls:
            line = tls.wrap_socket(line, server_hostname=address)
        with line:
            line.sendall(QUESTIONS[port])
            return line.recv(4096).startswith((b"HTTP/1.1 2", b"+PONG"))
    return False


def _database(cluster: Cluster) -> Iterator[str]:
    with cluster.connection() as connection:
        plain = connection.execute(
            "SELECT coalesce(usename, backend_type), client_addr FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)"
            " WHERE client_addr IS NOT NULL AND NOT ssl"
        ).fetchall()
    yield from (f"{user} speaks to the database from {address} without TLS" for user, address in plain)
    for name, node in cluster.nodes.items():
        place = {"host": node.host.address, "dbname": DATABASE, "user": APPLICATION}
        with suppress(psycopg.OperationalError):
            password = cluster.passwords.role
            psycopg.connect(**place, password=password, sslmode="disable", connect_timeout=3).close()
            yield f"{name}'s database takes a connection without TLS"


def _patroni(cluster: Cluster) -> Iterator[str]:
    for name, node in cluster.nodes.items():
        line = http.client.HTTPSConnection(node.host.address, 8008, timeout=SECONDS, context=cluster.trust())
        line.request("PATCH", "/config", '{"loop_wait": 1}', {"Authorization": _basic(cluster.passwords.api)})
        if line.getresponse().status < 400:
            yield f"{name}'s Patroni lets whoever has only the password change how the cluster runs"
        line.close()


def _basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"patroni:{password}".encode()).decode()
