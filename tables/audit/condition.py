"""The condition of the site: each component in one sentence, with the remedy for a fault. For pages and monitoring.

A check that raises counts as a fault of its component, and the other components are still checked.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from ledger import broker, clock, grants, replica, runs
from ledger.broker import BrokerAway
from ledger.proof import seals
from ledger.raw_rows import fetch_row, fetch_rows
from tables import pepper
from tables.alerts import delivery, log_followers, streams
from tables.audit import checkpoints, day_seals, protections, watch, witness_delivery
from tables.edge import favour
from tables.feed import order
from tables.models import Table
from tables.refusals import sentence
from tables.setup import payouts

log = logging.getLogger(__name__)

LONG_QUEUE: Final = 200
"""This many waiting tasks mean that no worker takes them."""
FAR_BEHIND: Final = 500
"""This many waiting entries mean that no worker processes them."""
LEAST_FREE_BYTES: Final = 1_000_000_000
LEAST_FREE_PERCENT: Final = 10
_LINE: Final = "Line to the database"


class Urgency(StrEnum):
    """How urgent the condition of a component is."""

    WELL = "well"
    WATCH = "watch"
    """The site works, but the fault should be examined today."""
    WRONG = "wrong"
    """The fault needs attention now."""


@dataclass(frozen=True, slots=True)
class ConditionPart:
    """A component of the site, its condition in one sentence, and the remedy."""

    name: str
    state: Urgency
    says: str
    do: str = ""


def parts() -> list[ConditionPart]:
    """All components, the most urgent first."""
    every = [_checked(name, check) for name, check in CHECKS.items()]
    return sorted(every, key=lambda part: (Urgency.WRONG, Urgency.WATCH, Urgency.WELL).index(part.state))


def _checked(name: str, check: Callable[[], ConditionPart]) -> ConditionPart:
    try:
        return check()
    except Exception:
        log.exception("%s could not be checked", name)
        do = "The log of the web process shows why."
        return ConditionPart(name, Urgency.WRONG, f"{name} could not be checked.", do)


def _part(name: str, wrong: str, well: str, do: str, *, state: Urgency = Urgency.WRONG) -> ConditionPart:
    """A component that is well if ``wrong`` is empty; otherwise it has the given urgency."""
    return ConditionPart(name, state, wrong, do) if wrong else ConditionPart(name, Urgency.WELL, well)


# --- The database ----------------------------------------------------------------------------------------------


def _database() -> ConditionPart:
    version, standby = fetch_row("SELECT current_setting('server_version'), pg_is_in_recovery()")
    wrong = "The database is a read-only standby." if standby else ""
    do = "Point DATABASE_URL at the primary, or promote this one."
    return _part("Database", wrong, f"PostgreSQL {version} answers.", do)


def _line() -> ConditionPart:
    is_encrypted, address = fetch_row(
        "SELECT ssl, host(client_addr) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE pid = pg_backend_pid()"
    )
    return line(is_encrypted, address, str(connection.settings_dict["OPTIONS"].get("sslmode", "")))


def line(is_encrypted: bool, address: str | None, sslmode: str) -> ConditionPart:
    """Whether the connection to the database is readable by others on the network.

    ``address``: the address of this process as the database sees it, also through a proxy; None for a socket.
    ``sslmode``: as in DATABASE_URL, where an explicit "disable" is an accepted decision.
    """
    if is_encrypted:
        return ConditionPart(_LINE, Urgency.WELL, "It is encrypted.")
    if address is None or ip_address(address).is_loopback:
        return ConditionPart(_LINE, Urgency.WELL, "It does not leave this machine.")
    if sslmode == "disable":
        return ConditionPart(_LINE, Urgency.WELL, "It is not encrypted, as DATABASE_URL asks.")
    do = "Add sslmode=verify-ca and sslrootcert to DATABASE_URL; or sslmode=disable if nobody else is on that network."
    return ConditionPart(_LINE, Urgency.WATCH, "What the house writes crosses the network in plain text.", do)


def _role() -> ConditionPart:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        role = str(cursor.fetchone()[0])
        # Such powers let the application rewrite the log in spite of the triggers.
        excess = grants.irrevocable_powers(cursor, role)
    wrong = f"The application's role has too many rights: {excess[0]}." if excess else ""
    do = "Use the role from deploy/README.md, then run manage.py grants as the tables' owner."
    return _part("Role and grants", wrong, f"The application's role is {role}, which may add but not rewrite.", do)


def _migrations() -> ConditionPart:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    missing = f"{len(plan)} migrations were not run, the first is {plan[0][0]}." if plan else ""
    do = "Run manage.py migrate and manage.py grants as the tables' owner, then restart the processes."
    return _part("Migrations", missing, "The tables are as this release needs them.", do)


def _clock() -> ConditionPart:
    drift = clock.read().drift
    wrong = ""
    if abs(drift) > settings.CLOCK_DRIFT:
        wrong = f"This host's clock is {clock.spelled(drift)} off the database's: nothing can be recorded."
    return _part("Clock", wrong, "This host's clock agrees with the database's.", "Set it by NTP.")


def _replica() -> ConditionPart:
    if not replica.is_set():
        return ConditionPart("Replica", Urgency.WELL, "None is set: reports are read from the primary.")
    do = "Start it, or correct DATABASE_REPLICA_URL (docs/replica.md). Until then there are no reports."
    try:
        state = replica.state()
    except replica.Unread as unread:
        return ConditionPart("Replica", Urgency.WRONG, unread.sentence, do)
    if state.age.total_seconds() > settings.REPLICA_LATEST_SECONDS:
        return ConditionPart(
            "Replica", Urgency.WRONG, f"The replica is {state.seconds} s behind: reports are refused.", do
        )
    late = "" if state.is_level else f"The replica is {state.seconds} s behind."
    well = "It is a standby of this house and level with it."
    return _part("Replica", late, well, "Find out what delays its replay.", state=Urgency.WATCH)


# --- Broker, workers, deliveries -------------------------------------------------------------------------------


def queue_lengths() -> dict[str, int]:
    """The number of waiting tasks per queue. Raises BrokerAway."""
    with broker.connected() as client:
        return {queue: int(client.llen(queue)) for queue in settings.SERVED_QUEUES}


def _broker() -> ConditionPart:
    try:
        lengths = queue_lengths()
    except BrokerAway:
        says = "The broker does not answer: tables deal, but nothing is watched and nothing leaves the house."
        return ConditionPart("Broker", Urgency.WRONG, says, "Start Valkey or Redis, or correct REDIS_URL.")
    long = [f"{count:,} tasks wait in {queue}" for queue, count in lengths.items() if count > LONG_QUEUE]
    do = "Start the worker of that queue: casino-worker, casino-alerts, casino-events or backup-drill."
    return _part("Broker", "; ".join(long) + "." if long else "", "It answers, and no queue is long.", do)


def _watch() -> ConditionPart:
    late = runs.late(watch.PLANS)
    if late and (reason := watch.reason_to_wait()):
        behind = f"{len(late)} pieces of the watch are" if len(late) > 1 else "one piece of the watch is"
        return ConditionPart("Watch", Urgency.WATCH, f"{reason}, and {behind} behind.", "Look again soon.")
    more = f", and {len(late) - 1} more" if len(late) > 1 else ""
    wrong = f"{late[0].says} has stopped{more}." if late else ""
    return _part("Watch", wrong, "Every piece of the watch ran on time.", "Start the worker and casino-beat.")


def _alerts() -> ConditionPart:
    behind = log_followers.behind()
    wrong = f"{behind:,} entries wait for the alert rules." if behind > FAR_BEHIND else ""
    return _part("Alerts", wrong, "The alert rules have seen all entries.", "Start casino-alerts.")


def _webhooks() -> ConditionPart:
    failing = [state for content in streams.STREAMS for state in streams.states(content) if state.failures]
    dead = delivery.dead().count()
    do = "Alerts → Delivery shows every attempt. Once the fault is repaired, send the dead letters again."
    if dead:
        return ConditionPart("Webhooks", Urgency.WATCH, f"{dead} deliveries failed for good.", do)
    if failing:
        names = ", ".join(state.channel.name for state in failing)
        return ConditionPart(
            "Webhooks", Urgency.WATCH, f"{names} did not take the last message; it is tried again.", do
        )
    unfed = order.unfed()
    wrong = f"{unfed:,} entries are not in the feed." if unfed > FAR_BEHIND else ""
    return _part("Webhooks", wrong, "Everything was delivered.", "Start casino-alerts.", state=Urgency.WATCH)


# --- Keys, days, files -----------------------------------------------------------------------------------------


def _keys() -> ConditionPart:
    pepper.keys()
    if not settings.AUDIT_KEY_FILE:
        says = "No key for sealing days is set."
        return ConditionPart("Keys", Urgency.WATCH, says, "Make one with manage.py audit key, and set AUDIT_KEY_FILE.")
    try:
        seals.load_key(Path(settings.AUDIT_KEY_FILE))
    except seals.BadKey as bad:
        return ConditionPart(
            "Keys", Urgency.WRONG, sentence(str(bad)), "Restore it from its copy: no day is sealed without it."
        )
    return ConditionPart("Keys", Urgency.WELL, "The pepper and the sealing key can be read.")


def _sealed() -> ConditionPart:
    behind = sum(1 for _ in day_seals.unsealed(timezone.now()))
    wrong = f"{behind} gaming days are over and not sealed." if behind > 1 else ""
    do = "The worker seals them with AUDIT_KEY_FILE; its log shows why it does not."
    return _part("Sealed days", wrong, "Every finished gaming day is sealed, or about to be.", do)


def _witnesses() -> ConditionPart:
    do = "Check that it runs and can be reached; the worker's log shows its answers (docs/witness.md)."
    if checkpoints.current_tree() is None:
        says = "No outside witness follows the books: nobody would notice if the end of a log were cut off."
        return ConditionPart("Witnesses", Urgency.WATCH, says, "docs/witness.md shows how to set one up.")
    statuses = witness_delivery.statuses(timezone.now())
    if not statuses:
        return ConditionPart("Witnesses", Urgency.WATCH, "No witness is named.", "Name one in the house's terms.")
    silent = [status for status in statuses if status.is_silent]
    wrong = "; ".join(f"{status.witness.name} {_silent_since(status)}" for status in silent)
    names = ", ".join(status.witness.name for status in statuses)
    return _part("Witnesses", f"{wrong}." if wrong else "", f"{names} cosigned the books recently.", do)


def _protections() -> ConditionPart:
    missing = protections.off()
    wrong = protections.sentence(missing) if missing else ""
    well = "Every protection is on, or no table was opened yet."
    return _part("Protections", wrong, well, " ".join(protection.do for protection in missing), state=Urgency.WATCH)


def _payouts() -> ConditionPart:
    tables = list(Table.objects.in_use())
    rounding, favoured = payouts.sentence(payouts.underpaying(tables)), favour.sentence(favour.unapproved(tables))
    well = "Every table pays what it posts, and no wager favours the player without an approval."
    do = " ".join(filter(None, [rounding and payouts.DO, favoured and favour.DO]))
    return _part("Payouts", " ".join(filter(None, [rounding, favoured])), well, do, state=Urgency.WATCH)


def _silent_since(status: witness_delivery.WitnessStatus) -> str:
    if not status.size or status.since is None:
        return "has never cosigned the books"
    return f"has not cosigned the books since {status.since:%Y-%m-%d %H:%M} UTC"


def _statics() -> ConditionPart:
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    wrong = "" if manifest.exists() else "The static files were not collected: no page can be shown."
    return _part("Static files", wrong, "They are collected.", "Run manage.py collectstatic.")


def _disk() -> ConditionPart:
    folders = {Path(folder) for folder in (settings.BASE_DIR, settings.AUDIT_FOLDER) if folder}
    shortages = []
    for folder in sorted(folders):
        usage = shutil.disk_usage(folder if folder.exists() else folder.parent)
        if usage.free < LEAST_FREE_BYTES or usage.free * 100 < usage.total * LEAST_FREE_PERCENT:
            shortages.append(f"{usage.free // 1_000_000:,} MB are free at {folder}")
    do = "Make room. The database's disk must be watched on its own host."
    return _part("Disk", "; ".join(shortages) + "." if shortages else "", "There is room.", do, state=Urgency.WATCH)


CHECKS: Final[dict[str, Callable[[], ConditionPart]]] = {
    "Database": _database,
    _LINE: _line,
    "Role and grants": _role,
    "Migrations": _migrations,
    "Clock": _clock,
    "Replica": _replica,
    "Broker": _broker,
    "Watch": _watch,
    "Alerts": _alerts,
    "Webhooks": _webhooks,
    "Keys": _keys,
    "Sealed days": _sealed,
    "Witnesses": _witnesses,
    "Protections": _protections,
    "Payouts": _payouts,
    "Static files": _statics,
    "Disk": _disk,
}


def worst(every: list[ConditionPart]) -> Urgency:
    """The condition of the site as a whole: that of its most urgent component."""
    return every[0].state if every else Urgency.WELL


# --- Figures ---------------------------------------------------------------------------------------------------


def watch_ages() -> Iterator[tuple[str, float]]:
    """For each scheduled check, the seconds since the slot of its last finished run."""
    moment = timezone.now()
    for plan in watch.PLANS:
        row = fetch_row(
            "SELECT r.slot FROM ledger_run AS r JOIN ledger_runend AS e ON e.run_id = r.id"
            " WHERE r.task = %s ORDER BY r.slot DESC LIMIT 1",
            [plan.task],
        )
        if row:
            yield plan.task, (moment - row[0]).total_seconds()


def witness_ages() -> Iterator[tuple[str, float]]:
    """For each outside witness, the seconds since its last cosignature; before the first, since it was configured."""
    moment = timezone.now()
    for status in witness_delivery.statuses(moment):
        if status.since is not None:
            yield status.witness.name, (moment - status.since).total_seconds()


def connections() -> dict[str, int]:
    """The number of database connections of the application's role, by state."""
    rows = fetch_rows(
        "SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND usename = current_user GROUP BY 1"
    )
    return {str(state).replace(" ", "_"): int(count) for state, count in rows}
