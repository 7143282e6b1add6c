"""What a host of the house lacks, for who runs it: what ``condition.py`` looks at, and what only a host can tell.

It has to work where nothing else does: without a database, without a broker, with keys that cannot be read. What is
looked at in the database is not asked of one that does not answer, and no line repeats a secret.
"""

from __future__ import annotations

import http.client
import json
import ssl
import stat
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from celery import Celery
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from ledger import shape
from ledger.models import Run
from tables.alerting import minute
from tables.audit import condition, drill
from tables.audit.condition import Part, State
from tables.refusals import sentence

LEAST_SECRET: Final = 50
"""Characters of a SECRET_KEY, as Django's own check asks for."""
LEAST_LEFT: Final = timedelta(days=14)
"""So long before a certificate ends, somebody should look why it was not renewed."""
WORKERS_ANSWER_SECONDS: Final = 2.0
HOUSE_ANSWERS_SECONDS: Final = 5.0
BEAT_SILENT: Final = timedelta(minutes=5)
BACKUP_AGE: Final = timedelta(hours=26)
"""A backup a day, and two hours for it to be made in."""
ARCHIVE_AGE: Final = timedelta(hours=1)
"""The watch writes every few minutes, so there is always something to archive."""
WITHOUT_DATABASE: Final = {"Broker", "Keys", "Static files", "Disk"}
AWAY: Final = "Not looked at: the database does not answer."
DUMB: Final = "Not looked at: the broker does not answer."


def parts() -> Iterator[Part]:
    """Each part as soon as it was looked at, what others rest on first."""
    yield from (_looked_at(name, look) for name, look in HERE.items())
    database = _looked_at("Database", condition.LOOKS["Database"])
    yield database
    there = database.state == State.WELL
    broker = _looked_at("Broker", condition.LOOKS["Broker"])
    for name, look in (condition.LOOKS | IN_DATABASE).items():
        if name == "Broker":
            yield broker
        elif name != "Database":
            yield _looked_at(name, look) if there or name in WITHOUT_DATABASE else _not_asked(name, AWAY)
    answers = not broker.says.startswith("The broker does not answer")
    workers = _looked_at("Workers", _workers) if answers else _not_asked("Workers", DUMB)
    yield workers
    yield _looked_at("Beat", lambda: _beat(workers)) if there else _not_asked("Beat", AWAY)


def _not_asked(name: str, says: str) -> Part:
    return Part(name, State.WRONG, says, "Mend that first.")


def _looked_at(name: str, look: Callable[[], Part]) -> Part:
    """A look that fails says why: its reader has the shell, and may be the one who has to mend it."""
    try:
        return look()
    except Exception as fault:
        reason = (str(fault).strip().splitlines() or [type(fault).__name__])[0]
        return Part(name, State.WRONG, sentence(without_secrets(reason)), WHERE_IT_FAILS.get(name, "Mend that first."))


WHERE_IT_FAILS: Final[Mapping[str, str]] = {
    "Database": "Start PostgreSQL, or put DATABASE_URL right.",
    "Keys": "Put PEPPER_FILE right, or its copy back: without it nobody can sign in.",
    "Settings": "Put it right in the environment, /etc/casino.env where deploy/install made it.",
}


def without_secrets(text: str) -> str:
    """A text without whatever the environment holds that nobody should read over a shoulder."""
    for secret in _secrets():
        text = text.replace(secret, "***")
    return text


def _secrets() -> Iterator[str]:
    # Not settings.SECRET_KEY alone: reading an empty one raises.
    values = [getattr(settings._wrapped, "SECRET_KEY", ""), settings.EMAIL_HOST_PASSWORD]
    values += [
        str(database.get("PASSWORD", "")) for database in (settings.DATABASES["default"], settings.DATABASE_REPLICA)
    ]
    values += [urlsplit(url).password or "" for url in (settings.DATABASE_OWNER_URL, settings.REDIS_URL)]
    yield from (value for value in values if value)


# --- What this host alone can tell -----------------------------------------------------------------------------


def _settings() -> Part:
    if not settings.DATABASES["default"].get("NAME"):
        raise ImproperlyConfigured("DATABASE_URL is not set")
    if len(settings.SECRET_KEY) < LEAST_SECRET:
        return _wrong_setting(f"SECRET_KEY is shorter than {LEAST_SECRET} characters: sessions can be forged.")
    if settings.DEBUG:
        return _wrong_setting("DEBUG is set: faults show the code and its data to whoever asks.")
    if not settings.ALLOWED_HOSTS:
        return _wrong_setting("ALLOWED_HOSTS is not set: every request is refused.")
    if settings.SET_IN_VAIN:
        vain = ", ".join(settings.SET_IN_VAIN)
        return Part(
            "Settings", State.WATCH, f"Set in vain: {vain}.", "Enter them as house terms, and take them out here."
        )
    if settings.DEMO:
        return Part("Settings", State.WATCH, "This is a demo's house.", "Unset CASINO_ENV where real chips are moved.")
    return Part("Settings", State.WELL, f"For {settings.ALLOWED_HOSTS[0]}, as in production.")


def _wrong_setting(says: str) -> Part:
    return Part("Settings", State.WRONG, says, WHERE_IT_FAILS["Settings"])


def _files() -> Part:
    """Whoever reads these can forge a day's seal, or try every PIN."""
    names = ("PEPPER_FILE", "AUDIT_KEY_FILE")
    paths = [Path(getattr(settings, name)) for name in names if getattr(settings, name)]
    bare = [path for path in paths if path.exists() and path.stat().st_mode & (stat.S_IRWXO | stat.S_IWGRP)]
    says = f"{bare[0]} is open to others on this machine." if bare else ""
    do = f"chmod 600 {bare[0]}, and change the key if somebody else may have read it." if bare else ""
    return Part("Files of keys", State.WRONG, says, do) if bare else Part("Files of keys", State.WELL, "Nobody else's.")


def _tls() -> Part:
    """As a terminal would: by the house's name, through whatever stands in front."""
    if not settings.TLS:
        return Part("TLS", State.WATCH, "TLS is switched off: sessions go in plain.", "Only a demo may do that.")
    address = urlsplit(settings.HOUSE_ADDRESS)
    host, port = address.hostname or "", address.port or 443
    context = ssl.create_default_context(cafile=settings.HOUSE_CA_FILE or None)
    house = http.client.HTTPSConnection(host, port, timeout=HOUSE_ANSWERS_SECONDS, context=context)
    try:
        house.connect()
    except ssl.SSLCertVerificationError as fault:
        do = "Renew the certificate; HOUSE_CA_FILE names a private authority."
        return Part("TLS", State.WRONG, f"The certificate of {host} is refused: {fault.verify_message}.", do)
    except OSError as fault:
        do = "Start nginx (nginx -t says what is wrong with it), or put HOUSE_ADDRESS right."
        return Part("TLS", State.WRONG, f"Nothing speaks TLS at {host}:{port}: {fault.strerror or fault}.", do)
    try:
        return _certificate(cast(ssl.SSLSocket, house.sock)) or _house(house, host)
    finally:
        house.close()


def _certificate(connected: ssl.SSLSocket) -> Part | None:
    certificate = connected.getpeercert() or {}
    until = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)
    if until - datetime.now(UTC) > LEAST_LEFT:
        return None
    return Part("TLS", State.WATCH, f"The certificate ends on {until:%Y-%m-%d}.", "Renew it, and reload nginx.")


def _house(house: http.client.HTTPSConnection, host: str) -> Part:
    house.request("GET", "/healthz")
    status = house.getresponse().status
    if status != 200:
        do = "Start casino-web; journalctl -u 'casino-web*' says why it stopped."
        return Part("TLS", State.WRONG, f"{host} answers with {status}: no web process serves.", do)
    return Part("TLS", State.WELL, f"{host} answers by a certificate that is trusted.")


# --- What only the database can tell ---------------------------------------------------------------------------


def _shape() -> Part:
    """Grants, guards, constraints: each as the migrations and deploy/grants.sql make it."""
    faults = list(shape.faults())
    if not faults:
        return Part("Grants and guards", State.WELL, "Each is as the migrations and deploy/grants.sql make it.")
    more = f" And {len(faults) - 1} more." if len(faults) > 1 else ""
    do = "manage.py shape names all; migrate, then grants, as the owner. Find out who changed it."
    return Part("Grants and guards", State.WRONG, sentence(faults[0]) + more, do)


def _backups() -> Part:
    do = "docs/deploying.md sets up pgBackRest; `pgbackrest --stanza=casino check` says what is wrong with it."
    says = _archive_fault() or _backup_fault()
    if says:
        state = State.WATCH if settings.DEMO else State.WRONG
        return Part("Backups", state, says, do)
    if says := drill.overdue():
        do = "`manage.py drill` asks for one; journalctl -u backup-drill says what came of it."
        return Part("Backups", State.WATCH, says, do)
    return Part("Backups", State.WELL, "All is archived, the last backup is of today, and one was had back this week.")


def _archive_fault() -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('archive_mode'), last_archived_time, last_failed_time, now(), last_failed_wal"
            " FROM pg_stat_archiver"
        )
        mode, archived, failed, moment, segment = cursor.fetchone()
    if mode == "off":
        return "Nothing is archived: what was written since the last backup is lost with this server."
    if failed and (not archived or failed > archived):
        return f"Archiving fails since {failed:%Y-%m-%d %H:%M} at {segment}."
    if not archived or moment - archived > ARCHIVE_AGE:
        return "Nothing was archived in the last hour."
    return ""


def _backup_fault() -> str:
    if not settings.BACKUP_STATUS_FILE:
        return "BACKUP_STATUS_FILE is not set: nobody knows when the last backup was made."
    newest = newest_backup(json.loads(Path(settings.BACKUP_STATUS_FILE).read_text()))
    if newest is None:
        return "There is no backup."
    if datetime.now(UTC) - newest > BACKUP_AGE:
        return f"The last backup was made on {newest:%Y-%m-%d %H:%M} UTC."
    return ""


def newest_backup(stanzas: list[dict[str, Any]]) -> datetime | None:
    """When the newest whole backup ended, by what `pgbackrest info --output=json` says."""
    ends = [
        backup["timestamp"]["stop"]
        for stanza in stanzas
        for backup in stanza.get("backup", [])
        if not backup.get("error")
    ]
    return datetime.fromtimestamp(max(ends), UTC) if ends else None


# --- Who works beside the web ----------------------------------------------------------------------------------


def _workers() -> Part:
    """Every queue needs somebody who takes from it."""
    asker = Celery("doctor", broker=settings.CELERY_BROKER_URL, set_as_current=False)
    answers = asker.control.inspect(timeout=WORKERS_ANSWER_SECONDS).active_queues() or {}
    served = {queue["name"] for queues in answers.values() for queue in queues}
    if lacking := [queue for queue in settings.SERVED_QUEUES if queue not in served]:
        names = "casino-worker, casino-alerts and casino-events"
        names += ", and backup-drill where the backups are" if settings.DRILLS in lacking else ""
        do = f"Start {names}; journalctl says why one stopped."
        return Part("Workers", State.WRONG, f"No worker answers for {', '.join(lacking)}.", do)
    return Part("Workers", State.WELL, f"{len(answers)} answer, and every queue has one.")


def _beat(workers: Part) -> Part:
    if workers.state != State.WELL:
        return Part("Beat", State.WATCH, "Nobody can tell without workers.", workers.do)
    last = Run.objects.filter(task=minute.PLAN.task).order_by("-slot").first()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    if last is None or moment - last.slot > BEAT_SILENT:
        says = "Workers answer, and nobody tells them what is due."
        do = "Start casino-beat, on one host or on several: one at a time tells what is due."
        return Part("Beat", State.WRONG, says, do)
    return Part("Beat", State.WELL, "It tells the workers what is due.")


HERE: Final[dict[str, Callable[[], Part]]] = {"Settings": _settings, "Files of keys": _files, "TLS": _tls}
IN_DATABASE: Final[dict[str, Callable[[], Part]]] = {"Grants and guards": _shape, "Backups": _backups}
