"""`./run bench log_search [--transfers N] [--tables N] [--repeats N]`: a month's log searched, and a day's exceptions.

The month is laid as for `./run bench floor` (month.py). For each search: the median time of its first page, how many
entries it has, and the indexes of the log that its plan goes by. What was found: docs/exceptions.md.
"""

from __future__ import annotations

import argparse
import os
import re
from datetime import timedelta
from statistics import median
from time import perf_counter
from typing import Any, Final

import django

django.setup()

import psycopg  # noqa: E402
from django.db import connection  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from django.utils import timezone  # noqa: E402

from ledger import alerts  # noqa: E402
from tables.floor import recorder  # noqa: E402
from tables.reports import exceptions, gaming_hours, log_search  # noqa: E402
from tables.reports.log_search import LogQuery  # noqa: E402
from tests import floor  # noqa: E402
from tests.bench.month import Month, lay_month  # noqa: E402
from tests.floor import Hand, Role  # noqa: E402


def searches(month: Month) -> dict[str, LogQuery]:
    """What is measured, by name."""
    table = month.tables[len(month.tables) // 2].pk
    late = month.since + timedelta(days=20)
    return {
        "nothing named": LogQuery(),
        "a subject of all tables": LogQuery(subject="slip"),
        "a kind that is rare": LogQuery(subject="slip", kind="fill_confirmed"),
        "a person": LogQuery(person="bella"),
        "a round": LogQuery(table=table, round=3),
        "a day of one table": LogQuery(table=table, since=late, until=late + timedelta(days=1)),
        "a person and a kind": LogQuery(person="bella", subject="slip", kind="fill_confirmed"),
        "a person, in rounds of a day": LogQuery(
            person="bella", with_rounds=True, since=late, until=late + timedelta(days=1)
        ),
        "a word, 2,000 read": LogQuery(text="no such word"),
        "an amount, 2,000 read": LogQuery(cents=1_234_567),
        "an amount in rounds of a day": LogQuery(
            cents=1_234_567, with_rounds=True, since=late, until=late + timedelta(days=1)
        ),
    }


def timed(do: Any, repeats: int) -> float:
    """The median of so many, in milliseconds, after one that is not counted."""
    do()
    seconds = []
    for _ in range(repeats):
        began = perf_counter()
        do()
        seconds.append(perf_counter() - began)
    return 1_000 * median(seconds)


LOG: Final = re.compile(r"(ledger_logentry_\w+|Seq Scan on ledger_logentry)")


def indexes_of(filters: LogQuery) -> list[str]:
    """The indexes of the log in the plans of a search."""
    plans: list[str] = []

    def explained(execute: Any, sql: str, params: Any, is_many: bool, context: Any) -> Any:
        if "ledger_logentry" in sql and sql.lstrip().startswith("SELECT e.*"):
            with connection.connection.cursor() as cursor:
                cursor.execute("EXPLAIN " + sql, params)
                plans.extend(str(row) for row in cursor.fetchall())
        return execute(sql, params, is_many, context)

    with connection.execute_wrapper(explained):
        log_search.search(filters, whole=True)
    return sorted({name for plan in plans for name in LOG.findall(plan)})


def busy_day(tables: int, inputs: int) -> None:
    """Today, as it ought not to be: at some tables bets are taken back all day, and alerts that nobody acknowledges."""
    boss = floor.staff(Role.PIT_BOSS, "busy boss", "2001")
    for nth in range(1, tables + 1):
        dealer = floor.staff(Role.DEALER, f"busy{nth}", str(3000 + nth))
        hand = Hand(floor.table(f"Busy {nth}", options={"decks": 6}), dealer)
        floor.counted(Hand(hand.table, boss), "opener")
        recorder.sign_in(hand.table, dealer)
        hand.ready_shoe()
        for number in range(inputs):
            hand("bet", seat=1, amount_cents=1_000)
            hand("take_back")
            alerts.raise_alert(hand.table.book, "test", f"Number {number} of {hand.table.name}")


def main() -> None:
    """Lay a month, and search it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--transfers", type=int, default=1_000_000)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    month = lay_month(chosen.tables, chosen.transfers, whole=True)
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("ANALYZE")
    print(f"{month.entries:,} entries of {chosen.tables} tables in 30 days")
    for name, filters in searches(month).items():
        page = log_search.search(filters, whole=True)
        took = timed(lambda query=filters: log_search.search(query, whole=True), chosen.repeats)
        print(f"| {name} | {took:.0f} ms | {len(page.hits)} | {', '.join(indexes_of(filters))} |", flush=True)
    busy_day(tables=5, inputs=50)
    newest, oldest = (gaming_hours.day_of(month.since + timedelta(days=30 - ago, hours=12)) for ago in (2, 28))
    for name, day in (("newest", newest), ("oldest", oldest), ("busy", gaming_hours.day_of(timezone.now()))):
        took = timed(lambda day=day: exceptions.of_day(day), chosen.repeats)
        with CaptureQueriesContext(connection) as queries:
            lines = len(exceptions.of_day(day).lines)
        print(f"| exceptions of the {name} day | {took:.0f} ms | {lines} | {len(queries)} statements |", flush=True)


if __name__ == "__main__":
    main()
