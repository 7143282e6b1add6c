"""The database, its replica, and the pools of connections to them.

There are two roles: the owner migrates; everything else runs as the application's role, which may not rewrite history.
"""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from casino.database_address import settings_of
from casino.environment import choice, number, whole
from casino.settings.base import WEB_PROCESS, env
from casino.web.pool_sizes import REPLICA, WHOLE, pool_sizes


def database() -> dict[str, Any]:
    owner = env("CASINO_DB_ROLE", choice("app", "owner"), "app") == "owner" and "DATABASE_OWNER_URL" in env
    name = "DATABASE_OWNER_URL" if owner else "DATABASE_URL"
    if not (url := env.str(name, "")):
        return {}  # Django's dummy database, whose every use raises an error that names the setting
    return settings_of(name, url)


DATABASES = {"default": database()}
# A standby for reading reports, lists and exports, never written to (ledger/replica.py). Empty: none.
_REPLICA_URL = env.str("DATABASE_REPLICA_URL", "")
DATABASE_REPLICA = settings_of("DATABASE_REPLICA_URL", _REPLICA_URL, is_read_only=True) if _REPLICA_URL else {}
# A replica that is further behind is not read. The second setting limits the connections of all web processes to it.
REPLICA_LATEST_SECONDS = env("REPLICA_LATEST_SECONDS", number(), 60.0)
REPLICA_CONNECTIONS = env("REPLICA_CONNECTIONS", whole, 16)
# The number of web processes that share the database, and the total of their pooled connections. Each process has one
# more for LISTEN and one for the pit's screens; a worker and a command hold one each.
WEB_PROCESSES = env("WEB_PROCESSES", whole, 1)
DATABASE_CONNECTIONS = env("DATABASE_CONNECTIONS", whole, WHOLE)
LANES = pool_sizes(
    DATABASE_CONNECTIONS // WEB_PROCESSES if WEB_PROCESS else 0,
    to_replica=max(1, REPLICA_CONNECTIONS // WEB_PROCESSES) if WEB_PROCESS else 0,
)
_HELD = sum(lane.connections for name, lane in LANES.items() if name != REPLICA)
if WEB_PROCESS and _HELD * WEB_PROCESSES > DATABASE_CONNECTIONS:
    raise ImproperlyConfigured(
        f"DATABASE_CONNECTIONS is {DATABASE_CONNECTIONS}: {WEB_PROCESSES} web processes need {6 * WEB_PROCESSES}"
    )
CASINO_DB_APP_ROLE = env.str("CASINO_DB_APP_ROLE", "casino_app")  # whom deploy/grants.sql is about
DATABASE_OWNER_URL = env.str("DATABASE_OWNER_URL", env.str("DATABASE_URL", ""))
