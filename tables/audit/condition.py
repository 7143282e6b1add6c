"""How the house is: each part in one sentence, with what to do about what is not well. For people and programs.

A part that cannot be looked at is not well, and says so; no part keeps another from being looked at.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import redis
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from ledger import clock, grants, replica, runs
from ledger.proof import seals
from tables import pepper
from tables.alerting import delivery, following, subscriptions
from tables.audit import checkpoints, handing_over, letter_box, sealing, watch, witnessing
from tables.feed import order
from tables.refusals import sentence

log = logging.getLogger(__name__)

LONG_QUEUE: Final = 200
"""So many tasks wait only where no worker takes them."""
FAR_BEHIND: Final = 500
"""So many entries that nobody looked at wait only where nobody looks."""
LEAST_FREE_BYTES: Final = 1_000_000_000
LEAST_FREE_PERCENT: Final = 10


class State(StrEnum):
    """How a part is."""

    WELL = "well"
    WATCH = "watch"
    """The house goes on, and somebody should look today."""
    WRONG = "wrong"
    """Somebody has to look now."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the house, how it is in one sentence, and what to do."""

    name: str
    state: State
    says: str
    do: str = ""


def parts() -> list[Part]:
    """All of them, what is wrong first."""
    every = [_looked_at(name, look) for name, look in LOOKS.items()]
    return sorted(every, key=lambda part: (State.WRONG, State.WATCH, State.WELL).index(part.state))


def _looked_at(name: str, look: Callable[[], Part]) -> Part:
    try:
        return look()
    except Exception:
        log.exception("%s could not be looked at", name)
        do = "The log of the web process says why."
        return Part(name, State.WRONG, f"{name} could not be looked at.", do)


def _part(name: str, wrong: str, well: str, do: str, *, state: State = State.WRONG) -> Part:
    """A part that is well unless something is wrong with it."""
    return Part(name, state, wrong, do) if wrong else Part(name, State.WELL, well)


# --- The database ----------------------------------------------------------------------------------------------


def _database() -> Part:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), pg_is_in_recovery()")
        version, standby = cursor.fetchone()
    wrong = "The database is a standby: nothing can be written." if standby else ""
    do = "Point DATABASE_URL at the primary, or promote this one."
    return _part("Database", wrong, f"PostgreSQL {version} answers.", do)


def _role() -> Part:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        role = str(cursor.fetchone()[0])
        more = grants.standing(cursor, role)
    wrong = f"The application works as a role that may too much: {more[0]}." if more else ""
    do = "Give it the role of deploy/README.md, then run manage.py grants as the tables' owner."
    return _part("Role and grants", wrong, f"The application works as {role}, which may add and not rewrite.", do)


def _migrations() -> Part:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    missing = f"{len(plan)} migrations were not run, the first is {plan[0][0]}." if plan else ""
    do = "Run manage.py migrate and manage.py grants as the tables' owner, then start the processes anew."
    return _part("Migrations", missing, "The tables are as this release wants them.", do)


def _clock() -> Part:
    drift = clock.read().drift
    wrong = ""
    if abs(drift) > settings.CLOCK_DRIFT:
        wrong = f"This host's clock is {clock.spelled(drift)} off the database's: nothing is written."
    return _part("Clock", wrong, "This host's clock agrees with the database's.", "Set it by NTP.")


def _replica() -> Part:
    if not replica.is_set():
        return Part("Replica", State.WELL, "None is set: reports are read where dealers write.")
    do = "Start it, or put DATABASE_REPLICA_URL right (docs/replica.md); until then nobody reads reports."
    try:
        state = replica.state()
    except replica.Unread as unread:
        return Part("Replica", State.WRONG, unread.sentence, do)
    if state.age.total_seconds() > settings.REPLICA_LATEST_SECONDS:
        return Part("Replica", State.WRONG, f"The replica is {state.seconds} s behind: reports are refused.", do)
    late = "" if state.is_level else f"The replica is {state.seconds} s behind."
    well = "A standby of this house, in recovery, and level with it."
    return _part("Replica", late, well, "See what holds its replay up.", state=State.WATCH)


# --- What works beside the web ---------------------------------------------------------------------------------


def queue_lengths() -> dict[str, int]:
    """How many tasks wait in each queue. Raises redis.RedisError."""
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as broker:
        return {queue: int(broker.llen(queue)) for queue in settings.SERVED_QUEUES}


def _broker() -> Part:
    try:
        lengths = queue_lengths()
    except (redis.RedisError, ValueError):
        says = "The broker does not answer: tables deal, but nothing is watched and nothing leaves the house."
        return Part("Broker", State.WRONG, says, "Start Valkey or Redis, or put REDIS_URL right.")
    long = [f"{count:,} tasks wait in {queue}" for queue, count in lengths.items() if count > LONG_QUEUE]
    do = "Start the worker of that queue: casino-worker, casino-alerts, casino-events or backup-drill."
    return _part("Broker", "; ".join(long) + "." if long else "", "It answers, and no queue is long.", do)


def _watch() -> Part:
    late = runs.late(watch.PLANS)
    wrong = f"{late[0].says} has stopped, and {len(late) - 1} more." if late else ""
    return _part("Watch", wrong, "Every piece of the watch ran when it was due.", "Start the worker and casino-beat.")


def _alerts() -> Part:
    behind = following.behind()
    wrong = f"{behind:,} entries wait for the rules of alerts." if behind > FAR_BEHIND else ""
    return _part("Alerts", wrong, "The rules have looked at what happened.", "Start casino-alerts.")


def _webhooks() -> Part:
    failing = [state for state in (*subscriptions.states(), *handing_over.states()) if state.failures]
    dead = delivery.dead().count()
    do = "Alerts → Delivery says what came of each attempt; send dead letters again once that is put right."
    if dead:
        return Part("Webhooks", State.WATCH, f"{dead} deliveries failed for good.", do)
    if failing:
        names = ", ".join(state.channel.name for state in failing)
        return Part("Webhooks", State.WATCH, f"{names} did not take the last message; it is tried again.", do)
    unfed = order.unfed()
    wrong = f"{unfed:,} entries are not in the feed." if unfed > FAR_BEHIND else ""
    return _part("Webhooks", wrong, "Whatever was to leave the house did.", "Start casino-alerts.", state=State.WATCH)


def _replication() -> Part:
    if settings.LETTER_BOX_URL:
        standing = letter_box.standing()
        well = "The letter box answers, it has the sealed days, and a head office reads it."
        return _part("Replication", standing.says, well, standing.do, state=State.WATCH)
    with connection.cursor() as cursor:
        cursor.execute(_SUBSCRIPTIONS)
        lines = dict(cursor.fetchall())
    still = ", ".join(name for name, works in lines.items() if not works)
    wrong = f"Nothing is read by {still}." if still else ""
    well = f"{len(lines)} letter boxes of houses are read." if lines else "No day goes or comes by replication."
    do = "The database's log says why; deploy/subscription.sql makes it anew (docs/head-office.md)."
    return _part("Replication", wrong, well, do, state=State.WATCH)


_SUBSCRIPTIONS: Final = """
    SELECT subname, EXISTS (SELECT FROM pg_stat_subscription AS s WHERE s.subid = p.oid AND s.pid IS NOT NULL)
    FROM pg_subscription AS p
    WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY subname
"""


# --- Keys, days, files -----------------------------------------------------------------------------------------


def _keys() -> Part:
    pepper.keys()
    if not settings.AUDIT_KEY_FILE:
        says = "No key is set to seal days with."
        return Part("Keys", State.WATCH, says, "Make one by manage.py audit key, and set AUDIT_KEY_FILE.")
    try:
        seals.load_key(Path(settings.AUDIT_KEY_FILE))
    except seals.BadKey as bad:
        return Part("Keys", State.WRONG, sentence(str(bad)), "Put its copy back: no day is sealed without it.")
    return Part("Keys", State.WELL, "The pepper and the key that seals days are there.")


def _sealed() -> Part:
    behind = sum(1 for _ in sealing.unsealed(timezone.now()))
    wrong = f"{behind} gaming days are over and not sealed." if behind > 1 else ""
    do = "The worker seals them with AUDIT_KEY_FILE; its log says what keeps it."
    return _part("Sealed days", wrong, "Every gaming day that is over is sealed, or about to be.", do)


def _witnesses() -> Part:
    do = "See that it runs and can be reached; the worker's log says what it answered (docs/witness.md)."
    if checkpoints.current_tree() is None:
        says = "No witness outside of the house sees the books grow: a log that is cut off is found by nobody."
        return Part("Witnesses", State.WATCH, says, "docs/witness.md says how one is set up.")
    standings = witnessing.standings(timezone.now())
    if not standings:
        return Part("Witnesses", State.WATCH, "No witness is named.", "Name one in the house's terms.")
    silent = [standing for standing in standings if standing.is_silent]
    wrong = "; ".join(f"{standing.witness.name} {_silent_since(standing)}" for standing in silent)
    names = ", ".join(standing.witness.name for standing in standings)
    return _part("Witnesses", f"{wrong}." if wrong else "", f"{names} cosigned the books just now.", do)


def _silent_since(standing: witnessing.Standing) -> str:
    if not standing.size or standing.since is None:
        return "has never cosigned the books"
    return f"has not cosigned the books since {standing.since:%Y-%m-%d %H:%M} UTC"


def _statics() -> Part:
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    wrong = "" if manifest.exists() else "The static files were not collected: pages cannot be drawn."
    return _part("Static files", wrong, "They are collected.", "Run manage.py collectstatic.")


def _disk() -> Part:
    folders = {Path(folder) for folder in (settings.BASE_DIR, settings.AUDIT_FOLDER) if folder}
    short = []
    for folder in sorted(folders):
        usage = shutil.disk_usage(folder if folder.exists() else folder.parent)
        if usage.free < LEAST_FREE_BYTES or usage.free * 100 < usage.total * LEAST_FREE_PERCENT:
            short.append(f"{usage.free // 1_000_000:,} MB are free at {folder}")
    do = "Make room. The database's own disk is watched where it stands."
    return _part("Disk", "; ".join(short) + "." if short else "", "There is room.", do, state=State.WATCH)


LOOKS: Final[dict[str, Callable[[], Part]]] = {
    "Database": _database,
    "Role and grants": _role,
    "Migrations": _migrations,
    "Clock": _clock,
    "Replica": _replica,
    "Broker": _broker,
    "Watch": _watch,
    "Alerts": _alerts,
    "Webhooks": _webhooks,
    "Replication": _replication,
    "Keys": _keys,
    "Sealed days": _sealed,
    "Witnesses": _witnesses,
    "Static files": _statics,
    "Disk": _disk,
}


def worst(every: list[Part]) -> State:
    """How the house is as a whole."""
    return every[0].state if every else State.WELL


# --- Figures ---------------------------------------------------------------------------------------------------


def watch_ages() -> Iterator[tuple[str, float]]:
    """Of each piece of the watch, how many seconds ago the slot was due that it ran last."""
    moment = timezone.now()
    with connection.cursor() as cursor:
        for plan in watch.PLANS:
            cursor.execute(
                "SELECT r.slot FROM ledger_run AS r JOIN ledger_runend AS e ON e.run_id = r.id"
                " WHERE r.task = %s ORDER BY r.slot DESC LIMIT 1",
                [plan.task],
            )
            if row := cursor.fetchone():
                yield plan.task, (moment - row[0]).total_seconds()


def witness_ages() -> Iterator[tuple[str, float]]:
    """Of each witness outside, how many seconds ago it cosigned last; or has been the house's without doing so."""
    moment = timezone.now()
    for standing in witnessing.standings(moment):
        if standing.since is not None:
            yield standing.witness.name, (moment - standing.since).total_seconds()


def connections() -> dict[str, int]:
    """How many connections the application's role holds, by what they do."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename = current_user GROUP BY 1"
        )
        return {str(state).replace(" ", "_"): int(count) for state, count in cursor.fetchall()}
