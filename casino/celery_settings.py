"""Celery configuration: queues, limits, schedule. Separate from casino/settings, so that only workers and beat import
Celery."""

from datetime import timedelta

from celery.schedules import crontab
from django.conf import settings
from kombu import Queue

CELERY_BROKER_URL = settings.CELERY_BROKER_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A task longer than the visibility timeout would be delivered twice, so no task may run that long.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 6 * 3600}
CELERY_TASK_TIME_LIMIT = 5 * 3600
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_TASK_QUEUES = tuple(map(Queue, settings.QUEUES))
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_ROUTES = {
    f"tables.tasks.{task}": {"queue": "alerts"} for task in ("follow_books", "look_after_alerts", "deliver")
} | {f"tables.tasks.{task}": {"queue": "events"} for task in ("tell_events", "have_witnessed", "hand_over_days")}
CELERY_BEAT_SCHEDULER = "casino.ops.beat:Scheduler"
# A run whose slot is done does nothing, so beat schedules them more often than tables/audit/watch.py plans.
CELERY_BEAT_SCHEDULE = {
    "watch the floor": {"task": "tables.tasks.watch", "schedule": timedelta(minutes=1)},
    "follow the books": {
        "task": "tables.tasks.follow_books",
        "schedule": timedelta(seconds=2),
        "options": {"expires": 4},  # without a worker, only the newest task is worth keeping
    },
    "look after alerts": {
        "task": "tables.tasks.look_after_alerts",
        "schedule": timedelta(seconds=20),
        "options": {"expires": 20},
    },
    "bring into force": {
        "task": "tables.tasks.bring_into_force",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60},
    },
    "have the books witnessed": {
        "task": "tables.tasks.have_witnessed",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60},
    },
    "clear sessions": {"task": "tables.tasks.clear_sessions", "schedule": crontab(hour=5, minute=30)},
}
if settings.BACKUP_STATUS_FILE:
    CELERY_BEAT_SCHEDULE["restore a backup"] = {  # tables/audit/drill.py decides whether a drill is due
        "task": settings.DRILL_TASK,
        "schedule": timedelta(minutes=10),
        "options": {"queue": settings.DRILLS, "expires": 600},
    }
if settings.HEAD_OFFICE:
    CELERY_BEAT_SCHEDULE["look after houses"] = {
        "task": "casino.office.tasks.look_after_houses",
        "schedule": timedelta(minutes=10),
        "options": {"expires": 600},
    }
