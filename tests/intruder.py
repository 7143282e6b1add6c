"""Somebody who owns the database server, for tests that tamper: nothing in the database is in their way."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from django.db import connection, transaction

from casino.embedded import APPLICATION, SUPERUSER
from ledger.proof.chain import canonical
from tests.database import become

TABLES = (
    "ledger_transfer",
    "ledger_recount",
    "ledger_book",
    "ledger_account",
    "ledger_logentry",
    "tables_verification",
)


class Intruder:
    """Changes rows at will; every call must change something, or the test would prove nothing."""

    def __call__(self, sql: str, *values: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            assert cursor.rowcount > 0, "the intruder changed nothing"

    def rewrite(self, book_id: int, seq: int, change: Any) -> None:
        """Change an entry's content by ``change(content)``, then hash it and everything after it anew."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT seq, body, hash FROM ledger_logentry WHERE book_id = %s AND seq >= %s ORDER BY seq",
                [book_id, seq - 1],
            )
            rows = [(row[0], bytes(row[1]), bytes(row[2])) for row in cursor.fetchall()]
        previous = rows[0][2] if seq > 1 else b""
        for number, body, _ in rows if seq == 1 else rows[1:]:
            document = json.loads(body)
            if number == seq:
                change(document)
            body = canonical(document)
            digest = sha256(previous + body).digest()
            self(
                "UPDATE ledger_logentry SET body = %s, prev_hash = %s, hash = %s WHERE book_id = %s AND seq = %s",
                body, previous or None, digest, book_id, number,
            )  # fmt: skip
            previous = digest
        self("UPDATE ledger_book SET head_hash = %s WHERE id = %s", previous, book_id)


@contextmanager
def at_work() -> Iterator[Intruder]:
    """No foreign key, CHECK or unique index holds; the test sees the changes, and all are undone afterwards."""
    become(SUPERUSER)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table in TABLES:
            cursor.execute(
                "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype IN ('c', 'f', 'u')"
                " ORDER BY contype = 'u'",
                [table],
            )
            for (name,) in cursor.fetchall():
                cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name} CASCADE")
        yield Intruder()
        transaction.set_rollback(True)
    become(APPLICATION)
