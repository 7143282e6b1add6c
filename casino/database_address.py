"""Parses a database URL into Django's settings with PostgreSQL's own parser: several hosts, sockets, every option.

django-environ's ``db_url`` loses the folder of a socket and the port of one host among several, accepts misspelled
options, and quotes a part of the password in its errors.
"""

from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

NAMES = {
    "dbname": "NAME",
    "user": "USER",
    "password": "PASSWORD",  # pragma: allowlist secret
    "host": "HOST",
    "port": "PORT",
}
PATIENCE = {
    "connect_timeout": "3",
    "tcp_user_timeout": "5000",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
}
"""Time-outs for an unreachable host: in seconds, tcp_user_timeout in milliseconds. A URL may override them."""


READ_ONLY = "-c default_transaction_read_only=on"
"""A safeguard for a replica URL that names a server which accepts writes."""


def settings_of(name: str, url: str, *, is_read_only: bool = False) -> dict[str, Any]:
    """Django's settings for a database URL. ``name``: the environment variable that has it.

    Raises ImproperlyConfigured for an invalid URL. The message never quotes it, because it contains a password.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        fault = f"{name} is no address of a database: write postgresql://user:...@host:5432/casino"
        raise ImproperlyConfigured(f"{fault}, with several hosts as host1:5432,host2:5432") from None
    address = {setting: str(parts.pop(part, "")) for part, setting in NAMES.items()}
    if is_read_only:
        parts["options"] = f"{parts.get('options', '')} {READ_ONLY}".strip()
    return address | {"ENGINE": "casino.database", "CONN_HEALTH_CHECKS": True, "OPTIONS": PATIENCE | parts}
