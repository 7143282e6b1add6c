"""``manage.py doctor``: faults of a host, for its administrators. It makes all checks of ``condition.py``, and those
that only work on the host itself.

It must work when nothing else does: without a database, without a broker, with unreadable keys. Checks that need the
database are skipped if it does not answer. No line repeats a secret.
"""

from __future__ import annotations

import json
import ssl
import stat
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from celery import Celery
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from ledger import shape
from ledger.models import Run
from ledger.raw_rows import fetch_row
from tables.alerts import outbound, overdue
from tables.audit import condition, day_delivery, drill, protections
from tables.audit.condition import ConditionPart, Urgency
from tables.refusals import sentence

LEAST_SECRET: Final = 50
"""Characters of a SECRET_KEY, as in Django's own check."""
LEAST_LEFT: Final = timedelta(days=14)
"""A certificate that ends sooner should have been renewed already."""
WORKERS_ANSWER_SECONDS: Final = 2.0
HOUSE_ANSWERS_SECONDS: Final = 5.0
BEAT_SILENT: Final = timedelta(minutes=5)
BACKUP_AGE: Final = timedelta(hours=26)
"""One backup a day, and two hours to make it."""
ARCHIVE_AGE: Final = timedelta(hours=1)
"""Scheduled checks write every few minutes, so there is always something new to archive."""
WITHOUT_DATABASE: Final = {"Broker", "Keys", "Static files", "Disk"}
NO_DATABASE: Final = "Not checked: the database does not answer."
NO_BROKER: Final = "Not checked: the broker does not answer."
REPAIR_FIRST: Final = "Repair that first."


def parts() -> Iterator[ConditionPart]:
    """Each component as soon as it has been checked; those that others depend on come first."""
    yield from (_checked(name, check) for name, check in ON_HOST.items())
    database = _checked("Database", condition.CHECKS["Database"])
    yield database
    has_database = database.state == Urgency.WELL
    broker = _checked("Broker", condition.CHECKS["Broker"])
    for name, check in (condition.CHECKS | IN_DATABASE).items():
        if name == "Broker":
            yield broker
        elif name != "Database":
            can_check = has_database or name in WITHOUT_DATABASE
            yield _checked(name, check) if can_check else _skipped(name, NO_DATABASE)
    has_broker = not broker.says.startswith("The broker does not answer")
    workers = _checked("Workers", _workers) if has_broker else _skipped("Workers", NO_BROKER)
    yield workers
    yield _checked("Beat", lambda: _beat(workers)) if has_database else _skipped("Beat", NO_DATABASE)


def _skipped(name: str, reason: str) -> ConditionPart:
    return ConditionPart(name, Urgency.WRONG, reason, REPAIR_FIRST)


def _checked(name: str, check: Callable[[], ConditionPart]) -> ConditionPart:
    """A check that fails shows the error: its reader has a shell, and may be the one to repair it."""
    try:
        return check()
    except Exception as fault:
        reason = (str(fault).strip().splitlines() or [type(fault).__name__])[0]
        return ConditionPart(name, Urgency.WRONG, sentence(without_secrets(reason)), REMEDIES.get(name, REPAIR_FIRST))


REMEDIES: Final[Mapping[str, str]] = {
    "Database": "Start PostgreSQL, or correct DATABASE_URL.",
    "Keys": "Correct PEPPER_FILE, or restore the file from its copy: without it nobody can sign in.",
    "Settings": "Correct it in the environment: /etc/casino.env, if deploy/install made it.",
}


def without_secrets(text: str) -> str:
    """The text with the environment's secrets replaced by asterisks."""
    for secret in _secrets():
        text = text.replace(secret, "***")
    return text


def _secrets() -> Iterator[str]:
    # Not settings.SECRET_KEY: reading it raises if it is empty.
    values = [getattr(settings._wrapped, "SECRET_KEY", ""), settings.EMAIL_HOST_PASSWORD]
    values += [
        str(database.get("PASSWORD", "")) for database in (settings.DATABASES["default"], settings.DATABASE_REPLICA)
    ]
    values += [urlsplit(url).password or "" for url in (settings.DATABASE_OWNER_URL, settings.REDIS_URL)]
    yield from (value for value in values if value)


# --- Checks of this host ---------------------------------------------------------------------------------------


def _settings() -> ConditionPart:
    if not settings.DATABASES["default"].get("NAME"):
        raise ImproperlyConfigured("DATABASE_URL is not set")
    if len(settings.SECRET_KEY) < LEAST_SECRET:
        return _wrong_setting(f"SECRET_KEY is shorter than {LEAST_SECRET} characters: sessions can be forged.")
    if settings.DEBUG:
        return _wrong_setting("DEBUG is set: error pages show code and data to anybody.")
    if not settings.ALLOWED_HOSTS:
        return _wrong_setting("ALLOWED_HOSTS is not set: every request is refused.")
    if settings.LETTER_BOX_IS_SET:
        return ConditionPart("Settings", Urgency.WATCH, day_delivery.NO_LETTER_BOX, day_delivery.INSTEAD)
    if settings.SET_IN_VAIN:
        names = ", ".join(settings.SET_IN_VAIN)
        do = "Enter them as house terms, and remove them from the environment."
        return ConditionPart("Settings", Urgency.WATCH, f"Set without effect: {names}.", do)
    if settings.DEMO:
        return ConditionPart(
            "Settings", Urgency.WATCH, "This house is a demo.", "Unset CASINO_ENV before real chips are moved."
        )
    return ConditionPart("Settings", Urgency.WELL, f"Set for production at {settings.ALLOWED_HOSTS[0]}.")


def _wrong_setting(fault: str) -> ConditionPart:
    return ConditionPart("Settings", Urgency.WRONG, fault, REMEDIES["Settings"])


def _files() -> ConditionPart:
    """Check the permissions of the key files: with the keys, any user of the host could forge a day's seal, or search
    for PINs."""
    names = ("PEPPER_FILE", "AUDIT_KEY_FILE")
    paths = [Path(getattr(settings, name)) for name in names if getattr(settings, name)]
    exposed = [path for path in paths if path.exists() and path.stat().st_mode & (stat.S_IRWXO | stat.S_IWGRP)]
    if not exposed:
        return ConditionPart("Files of keys", Urgency.WELL, "Nobody else on this machine can read them.")
    do = f"chmod 600 {exposed[0]}, and change the key if somebody else may have read it."
    return ConditionPart("Files of keys", Urgency.WRONG, f"Others on this machine can read or write {exposed[0]}.", do)


def _tls() -> ConditionPart:
    """Connect as a terminal does: to the site's address, through the proxy."""
    if not settings.TLS:
        return ConditionPart(
            "TLS", Urgency.WATCH, "TLS is off: sessions travel in the clear.", "Only a demo may do without TLS."
        )
    address = urlsplit(settings.HOUSE_ADDRESS)
    host, port = address.hostname or "", address.port or 443
    try:
        return _site_over_tls(host, port)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as failure:
        fault = outbound.root_cause(failure)
    if isinstance(fault, ssl.SSLCertVerificationError):
        do = "Renew the certificate. If a private authority signed it, name that in HOUSE_CA_FILE."
        return ConditionPart("TLS", Urgency.WRONG, f"The certificate of {host} is refused: {fault.verify_message}.", do)
    do = "Start nginx (nginx -t checks its configuration), or correct HOUSE_ADDRESS."
    reason = getattr(fault, "strerror", None) or fault
    return ConditionPart("TLS", Urgency.WRONG, f"Nothing speaks TLS at {host}:{port}: {reason}.", do)


def _site_over_tls(host: str, port: int) -> ConditionPart:
    """Raises httpx.HTTPError."""
    url = httpx.URL(scheme="https", host=host, port=port, path="/healthz")
    with (
        outbound.client(HOUSE_ANSWERS_SECONDS, settings.HOUSE_CA_FILE) as client,
        client.stream("GET", url) as answer,
    ):
        certificate = answer.extensions["network_stream"].get_extra_info("ssl_object").getpeercert()
    until = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    if until - datetime.now(UTC) <= LEAST_LEFT:
        do = "Renew it, and reload nginx."
        return ConditionPart("TLS", Urgency.WATCH, f"The certificate ends on {until:%Y-%m-%d}.", do)
    if answer.status_code != 200:
        do = "Start casino-web; journalctl -u 'casino-web*' shows why it stopped."
        fault = f"{host} answers with {answer.status_code}: no web process is serving."
        return ConditionPart("TLS", Urgency.WRONG, fault, do)
    return ConditionPart("TLS", Urgency.WELL, f"{host} answers with a trusted certificate.")


# --- Checks in the database ------------------------------------------------------------------------------------


def _shape() -> ConditionPart:
    """Check that grants, triggers and constraints match the migrations and deploy/grants.sql."""
    faults = list(shape.faults())
    if not faults:
        return ConditionPart(
            "Grants and guards", Urgency.WELL, "All are as the migrations and deploy/grants.sql make them."
        )
    more = f" And {len(faults) - 1} more." if len(faults) > 1 else ""
    do = "manage.py shape lists all. Run migrate, then grants, as the owner, and find out who changed it."
    return ConditionPart("Grants and guards", Urgency.WRONG, sentence(faults[0]) + more, do)


def _backups() -> ConditionPart:
    do = "docs/deploying.md shows how to set up pgBackRest; `pgbackrest --stanza=casino check` finds its faults."
    if fault := _archive_fault() or _backup_fault():
        state = Urgency.WATCH if settings.DEMO else Urgency.WRONG
        return ConditionPart("Backups", state, fault, do)
    if fault := drill.overdue():
        do = "Ask for a drill with `manage.py drill`; journalctl -u backup-drill shows its result."
        return ConditionPart("Backups", Urgency.WATCH, fault, do)
    well = "Archiving works, the last backup was made within a day, and one was restored this week."
    return ConditionPart("Backups", Urgency.WELL, well)


def _archive_fault() -> str:
    archived, failed, moment, segment = fetch_row(
        "SELECT last_archived_time, last_failed_time, now(), last_failed_wal FROM pg_stat_archiver"
    )
    if not protections.is_archived():
        return "Archiving is off: everything since the last backup is lost if this server is."
    if failed and (not archived or failed > archived):
        return f"Archiving last failed at {failed:%Y-%m-%d %H:%M}, for {segment}."
    if not archived or moment - archived > ARCHIVE_AGE:
        return "Nothing was archived in the last hour."
    return ""


def _backup_fault() -> str:
    if not settings.BACKUP_STATUS_FILE:
        return "BACKUP_STATUS_FILE is not set: it is unknown when the last backup was made."
    newest = newest_backup(json.loads(Path(settings.BACKUP_STATUS_FILE).read_text()))
    if newest is None:
        return "There is no backup."
    if datetime.now(UTC) - newest > BACKUP_AGE:
        return f"The last backup was made on {newest:%Y-%m-%d %H:%M} UTC."
    return ""


def newest_backup(stanzas: list[dict[str, Any]]) -> datetime | None:
    """The end of the newest complete backup, from the output of `pgbackrest info --output=json`; None without one."""
    ends = [
        backup["timestamp"]["stop"]
        for stanza in stanzas
        for backup in stanza.get("backup", [])
        if not backup.get("error")
    ]
    return datetime.fromtimestamp(max(ends), UTC) if ends else None


# --- Workers and beat ------------------------------------------------------------------------------------------


def _workers() -> ConditionPart:
    """Check that every queue has a worker."""
    celery = Celery("doctor", broker=settings.CELERY_BROKER_URL, set_as_current=False)
    answers = celery.control.inspect(timeout=WORKERS_ANSWER_SECONDS).active_queues() or {}
    served = {queue["name"] for queues in answers.values() for queue in queues}
    if unserved := [queue for queue in settings.SERVED_QUEUES if queue not in served]:
        names = "casino-worker, casino-alerts and casino-events"
        names += ", and backup-drill on the backup host" if settings.DRILLS in unserved else ""
        do = f"Start {names}; journalctl shows why one stopped."
        return ConditionPart("Workers", Urgency.WRONG, f"No worker answers for {', '.join(unserved)}.", do)
    return ConditionPart("Workers", Urgency.WELL, f"{len(answers)} answer, and every queue has one.")


def _beat(workers: ConditionPart) -> ConditionPart:
    if workers.state != Urgency.WELL:
        return ConditionPart("Beat", Urgency.WATCH, "Not checked: this needs the workers.", workers.do)
    last = Run.objects.filter(task=overdue.PLAN.task).order_by("-slot").first()
    (moment,) = fetch_row("SELECT clock_timestamp()")
    if last is None or moment - last.slot > BEAT_SILENT:
        do = "Start casino-beat, on one host or on several: only one of them schedules tasks at a time."
        return ConditionPart("Beat", Urgency.WRONG, "Workers answer, but nobody schedules their tasks.", do)
    return ConditionPart("Beat", Urgency.WELL, "It schedules the workers' tasks.")


ON_HOST: Final[dict[str, Callable[[], ConditionPart]]] = {"Settings": _settings, "Files of keys": _files, "TLS": _tls}
IN_DATABASE: Final[dict[str, Callable[[], ConditionPart]]] = {"Grants and guards": _shape, "Backups": _backups}
