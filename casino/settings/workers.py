"""The broker and the queues of workers. casino/celery_settings.py has how workers run."""

from casino.settings.audit import BACKUP_STATUS_FILE
from casino.settings.base import env

REDIS_URL = env.str("REDIS_URL", "")


def broker(url: str) -> str:
    """A Redis URL in kombu's syntax, which differs for a Unix socket."""
    if not url.startswith("unix://"):
        return url
    path, _, query = url.removeprefix("unix://").partition("?")
    return f"redis+socket://{path}?virtual_host={query.removeprefix('db=') or 0}"


CELERY_BROKER_URL = broker(REDIS_URL)
# Alerts must not wait for a verification, and slow receivers of events must delay neither counts nor alerts: each has a
# queue and a worker of its own. A worker without a named queue serves all.
QUEUES = ("celery", "alerts", "events")
# Not among them, because only the database's user may read the backups. A site without backups has no such worker.
DRILLS, DRILL_TASK = "drills", "casino.drills.drill"
SERVED_QUEUES = (*QUEUES, *([DRILLS] if BACKUP_STATUS_FILE else []))
