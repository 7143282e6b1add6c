"""System checks of a head office for ``manage.py check --database default`` and ``migrate``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.core.checks import CheckMessage, Warning
from django.db import connections

_SUBSCRIPTIONS: Final = """
    SELECT subname FROM pg_subscription JOIN pg_database AS own ON own.oid = subdbid
    WHERE datname = current_database() AND subname LIKE 'house\\_%%' ORDER BY subname
"""


def check_subscriptions(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Warn of subscriptions to sites' letter boxes, which earlier releases had: they go on filling the disk."""
    if not databases or "default" not in databases:
        return []
    with connections["default"].cursor() as cursor:
        cursor.execute(_SUBSCRIPTIONS)
        names = [name for (name,) in cursor.fetchall()]
    drop = " ".join(f"DROP SUBSCRIPTION {name};" for name in names)
    hint = f"Run as a superuser: {drop} docs/head-office.md, Upgrading, says how these sites send their days now."
    text = f"This database subscribes to letter boxes, from which this release takes no days: {', '.join(names)}."
    return [Warning(text, hint=hint, id="office.W001")] if names else []
