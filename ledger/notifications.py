"""How to hear what the database announces: LISTEN needs a session of its own, which no pool gives."""

from __future__ import annotations

from typing import Any

from django.db import connection


def parameters(name: str) -> dict[str, Any]:
    """How to reach the database itself, for psycopg; ``name`` is what the database calls the connection. One that died
    quietly is found out."""
    direct: dict[str, Any] = connection.get_connection_params()
    for django_only in ("cursor_factory", "context", "prepare_threshold"):
        direct.pop(django_only, None)
    patience = {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    return patience | direct | {"application_name": name}
