"""Somebody who owns the database server, for tests that tamper: nothing in the database is in their way."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import connection, transaction

from casino.embedded.servers import APPLICATION, SUPERUSER
from ledger.log import entries
from ledger.proof import spelling
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
        """Change an entry by ``change(document)``, then hash it and everything after it anew."""
        chain = list(entries(book_id, seq - 1))
        document = chain[0].heading.columns() | {"content": chain[0].content, "moves": chain[0].moves}
        change(document)
        moment = datetime.strptime(document["at"], "%Y-%m-%dT%H:%M:%S.%f%z")
        body = spelling.spell(document["subject"], document["content"], document["moves"])
        columns = (moment, document["by"], body)
        sql = "UPDATE ledger_logentry SET at = %s, by = %s, body = %s WHERE book_id = %s AND seq = %s"
        self(sql, *columns, book_id, seq)
        self.rehash(book_id, seq)

    def rehash(self, book_id: int, seq: int, *, only: bool = False) -> bytes:
        """Hash an entry as it stands now, and everything after it, and move the head along; or this entry ``only``."""
        digest = b""
        for entry in list(entries(book_id, seq - 1, seq if only else None)):
            digest = sha256((digest or entry.prev_hash or b"") + entry.line).digest()
            self("UPDATE ledger_logentry SET hash = %s WHERE book_id = %s AND seq = %s", digest, book_id, entry.seq)
        if not only:
            self("UPDATE ledger_book SET head_hash = %s WHERE id = %s", digest, book_id)
        return digest


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
