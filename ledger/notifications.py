"""Connection parameters for LISTEN, which needs a session of its own instead of a pooled connection."""

from __future__ import annotations

from typing import Any

from django.db import connection


def parameters(name: str) -> dict[str, Any]:
    """Parameters for a direct psycopg connection. ``name`` is the application name that the database shows. Keepalives
    detect a silently lost connection in about 25 seconds."""
    direct: dict[str, Any] = connection.get_connection_params()
    for django_only in ("cursor_factory", "context", "prepare_threshold"):
        direct.pop(django_only, None)
    patience = {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    return patience | direct | {"application_name": name}
