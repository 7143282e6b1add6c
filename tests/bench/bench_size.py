"""`./run bench size`: the bytes that a six-seat Rocket round takes in the log and the transfers, by table and index.

One table deals whole rounds through record(), keyed, from six decks; the shuffles between them count with the rounds.
What lay there before the first of them is taken off. ROUNDS says how many; fewer than some hundred measure half-filled
pages. VACUUM comes before each measurement, so that free-space and visibility maps are there both times.
"""

import os
import uuid
from typing import Any

import django

django.setup()

import psycopg  # noqa: E402
from django.db import connection  # noqa: E402

from ledger.log import read_head  # noqa: E402
from tables.floor import recorder  # noqa: E402
from tests.bench.bench_record import Dealt, open_table  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "500"))
TABLES = ("ledger_logentry", "ledger_transfer")

SIZES = """
    SELECT t.relname, '(its rows)', pg_table_size(t.oid) FROM pg_class AS t WHERE t.relname = ANY(%(tables)s)
    UNION ALL
    SELECT t.relname, i.relname, pg_relation_size(i.oid) FROM pg_class AS t JOIN pg_index AS x ON x.indrelid = t.oid
    JOIN pg_class AS i ON i.oid = x.indexrelid WHERE t.relname = ANY(%(tables)s)
    ORDER BY 1, 3 DESC"""
BODIES = "SELECT avg(octet_length(body))::float FROM ledger_logentry WHERE book_id = %s"


def rows(sql: str, parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()


def sizes() -> dict[tuple[str, str], int]:
    """Bytes of each table's rows and of each of its indexes."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        for table in TABLES:
            owner.execute(f"VACUUM ANALYZE {table}")
    return {(table, part): size for table, part, size in rows(SIZES, {"tables": list(TABLES)})}


def counts() -> dict[str, int]:
    return {table: rows(f"SELECT count(*) FROM {table}", [])[0][0] for table in TABLES}


def deal(dealt: Dealt, rounds: int) -> None:
    seq = read_head(dealt.table.book_id).seq
    for entered in [key_press for _ in range(rounds) for key_press in dealt.rounds.pop(0)]:
        seq = recorder.record(dealt.table, entered, by=dealt.dealer, key=uuid.uuid4(), expected_seq=seq).seq


def main() -> None:
    dealt = open_table("Rocket", seed=1, rounds=ROUNDS)
    empty, before = sizes(), counts()
    deal(dealt, ROUNDS)
    full, all_of_them = sizes(), counts()
    print(f"\n{ROUNDS:,} rounds of six seats: bytes a round")
    for table in TABLES:
        row_count = all_of_them[table] - before[table]
        parts = {part: full[owner, part] - empty[owner, part] for owner, part in full if owner == table}
        print(f"\n  {table}: {sum(parts.values()) / ROUNDS:,.0f} in {row_count / ROUNDS:.1f} rows")
        for part, size in parts.items():
            print(f"    {part:<34} {size / ROUNDS:8,.0f}   {size / row_count:6.1f} a row")
    print(f"\n  a body: {rows(BODIES, [dealt.table.book_id])[0][0]:.0f}")
    print(f"  everything: {(sum(full.values()) - sum(empty.values())) / ROUNDS:,.0f} bytes a round")


if __name__ == "__main__":
    main()
