"""The site's export database: sealed days in pieces, which a head office reads by PostgreSQL's logical replication.

It is a small separate server, because a role that may replicate can copy its whole server. Its own contents show how
far it is filled: an empty one is filled from the first day on.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from hashlib import file_digest
from io import SEEK_END, BufferedIOBase
from tempfile import TemporaryFile
from typing import Final

import psycopg
from django.conf import settings

from ledger import alerts, runs
from ledger.models import DayRoot
from tables.audit import export
from tables.audit.day_delivery import PIECE_BYTES
from tables.audit.export import NotYet

log = logging.getLogger(__name__)

KEPT_DAYS: Final = 30
"""Days that stay after they were fetched: a head office that restored a backup reads them again."""
MOST_DAYS: Final = 60
"""The maximum number of days that wait to be fetched; at most twice as many are stored. Further days wait in the site's
log, where they remain in any case."""
DAYS_PER_TURN: Final = 30
SECONDS: Final = 3
"""The time-out for connecting and for reading the state: the page of the site's condition waits for it too."""
FILLING_SECONDS: Final = 60
"""The time-out for a statement that inserts days."""


def fill() -> int:
    """Insert the sealed days that are due, unless another worker is doing it. Returns the number of days."""
    if not settings.LETTER_BOX_URL:
        return 0
    with runs.alone("the letter box") as is_alone:
        try:
            return _fill() if is_alone else 0
        except psycopg.Error as failure:
            log.warning("sealed days do not reach the letter box: %s", failure)
            _alert("Sealed days do not reach the letter box.")
        except NotYet as reason:
            log.info("the letter box waits for a sealed day: %s", reason)
    return 0


def _fill() -> int:
    count = 0
    with _box(FILLING_SECONDS) as box:
        _delete_old(box)
        while count < DAYS_PER_TURN and (root := _next(box)) is not None:
            with TemporaryFile() as file:
                export.export(root.day, root.day, file)
                put_in(box, root.number, file)
            count += 1
    return count


def _box(seconds: int) -> psycopg.Connection:
    """A connection that gives up after ``seconds``, also if the network or the server hangs."""
    return psycopg.connect(
        settings.LETTER_BOX_URL, autocommit=True, connect_timeout=SECONDS, tcp_user_timeout=seconds * 1_000,
        options=f"-c statement_timeout={seconds}s",
    )  # fmt: skip


def _next(box: psycopg.Connection) -> DayRoot | None:
    """The next day to insert, if it is sealed and there is room; otherwise None."""
    contents = _contents(box)
    root = DayRoot.objects.filter(number=contents.last + 1).first()
    if root is None or not contents.fault:
        return root
    _alert(contents.fault)
    return None


@dataclass(frozen=True, slots=True)
class Contents:
    """The days in the export database."""

    last: int
    days: int
    waiting: int
    """Days that some head office may not have fetched yet."""

    @property
    def fault(self) -> str:
        """Why no further day is inserted; empty while there is room."""
        if self.waiting >= MOST_DAYS:
            return f"{self.waiting} sealed days wait in the letter box: no head office fetches them."
        if self.days >= 2 * MOST_DAYS:
            return (
                f"{self.days} sealed days fill the letter box: a head office's slot is too new for any to be removed."
            )
        return ""


_FETCHED: Final = """
    (SELECT min(confirmed_flush_lsn) FROM pg_replication_slots WHERE database = current_database() AND NOT temporary)"""


def _contents(box: psycopg.Connection) -> Contents:
    row = box.execute(
        "SELECT coalesce(max(number), 0), count(DISTINCT number),"  # noqa: S608
        f" count(DISTINCT number) FILTER (WHERE coalesce(written >= {_FETCHED}, true)) FROM office_piece"
    ).fetchone()
    return Contents(*(row or (0, 0, 0)))


def _alert(message: str) -> None:
    alerts.raise_lasting(None, "not_delivered", "letter box", message, {"channel": "letter box"})


def put_in(box: psycopg.Connection, number: int, file: BufferedIOBase) -> None:
    """Insert a day's bundle in pieces, all of it or nothing."""
    file.seek(0)
    digest = file_digest(file, "sha256").hexdigest()
    size = file.seek(0, SEEK_END)
    with box.transaction():
        for start in range(0, size, PIECE_BYTES):
            file.seek(start)
            box.execute(
                "INSERT INTO office_piece (bundle, start, number, size, content) VALUES (%s, %s, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                (digest, start, number, size, file.read(PIECE_BYTES)),
            )


# A slot's position shows what a head office has read since the slot was created, but not the initial copy of older
# rows. That copy has a slot of its own while it runs (pg_..._sync_...). So nothing is deleted before each slot is at
# least KEPT_DAYS old, by the time in seconds at the end of its name. A day that may not be fetched also keeps the day
# before it: a row's position is before that of its commit, by which slots count.
_DELETE: Final = f"""
    WITH slot AS (
        SELECT to_timestamp(substring(slot_name FROM '^house_.*_([0-9]{{10}})$')::bigint) AS made, confirmed_flush_lsn
        FROM pg_replication_slots WHERE database = current_database()),
    reading AS (SELECT bool_and(coalesce(made < now() - %(kept)s * interval '1 day', false)) AS is_settled FROM slot),
    fetched AS (SELECT coalesce(min(number) FILTER (WHERE written >= {_FETCHED}), max(number) + 1) AS before
        FROM office_piece)
    DELETE FROM office_piece WHERE (SELECT is_settled FROM reading)
        AND number <= (SELECT max(number) FROM office_piece) - %(kept)s AND number < (SELECT before - 1 FROM fetched)
"""  # noqa: S608


def _delete_old(box: psycopg.Connection) -> None:
    """Delete old days that all head offices have fetched; without a head office, none."""
    box.execute(_DELETE, {"kept": KEPT_DAYS})


# --- State -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutboxStatus:
    """A fault of the export database and its remedy; ``says`` is empty if there is none."""

    says: str
    do: str = ""


def status() -> OutboxStatus:
    """Check that days are inserted, and that a head office fetches them."""
    try:
        with _box(SECONDS) as box:
            last = _contents(box).last
            slots = box.execute(
                "SELECT wal_status, active FROM pg_replication_slots WHERE database = current_database()"
                " AND NOT temporary"
            ).fetchall()
    except psycopg.Error:
        return OutboxStatus(
            "The letter box does not answer.",
            "Start its server (systemctl start letter-box), or correct LETTER_BOX_URL.",
        )
    return _of_days(last) or _of_slots(slots)


def _of_days(last: int) -> OutboxStatus | None:
    newest = DayRoot.objects.order_by("-number").values_list("number", flat=True).first() or 0
    # Days that this database never sealed mean that it was restored to an earlier state, or is a copy.
    if last > newest:
        do = "If this database was restored, tell the head office; if not, empty the box: it is filled again."
        return OutboxStatus(f"The letter box has day {last}, but this house has sealed only {newest}.", do)
    if newest > last + 1:
        return OutboxStatus(
            f"{newest - last} sealed days are not in the letter box.", "The log of casino-events shows why."
        )
    return None


def _of_slots(slots: list[tuple[str, bool]]) -> OutboxStatus:
    if any(status == "lost" for status, _ in slots):
        do = "Have the head office run deploy/subscription.sql again: it copies what the box holds."
        return OutboxStatus("A head office was away for so long that its replication slot is lost.", do)
    if not any(is_active for _, is_active in slots):
        do = "Ask the head office to check its line and its subscription (deploy/subscription.sql)."
        return OutboxStatus("The letter box answers, but no head office reads it.", do)
    return OutboxStatus("")
