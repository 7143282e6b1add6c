"""`./run bench floor [--transfers N] [--tables N] [--repeats N] [--whole]`: a house with a month behind it.

Ten million transfers over 500 tables are laid by COPY (month.py), and what a house does every day is measured beside
the same thing on an empty house, or beside plain SQL over the same rows, in one run and in turn; the medians' ratios
count. What is measured and what was found: docs/scale.md. It needs some 15 GB of disk, and drops its databases at the
end.

A round's plays stand in one log entry unless `--whole` is given, which lays every input as an entry of its own, as
record() does (four times the log; the transfers are the same). The size of a round in the log is therefore measured
on rounds that record() wrote.

Partitioning: copies of the transfers, parted by ranges of books and by day, with the same unique keys (a parted table's
unique keys contain what parts it, so by day every row needs the day of its entry, and (book, seq, leg) alone is no
longer unique). 30 parts by day of one month stand for 30 months parted by month.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final
from uuid import uuid4

import django

django.setup()

import psycopg  # noqa: E402
from django.db import connection, connections, transaction  # noqa: E402

from casino.embedded import servers  # noqa: E402
from ledger import inspection, log, recount, site_log  # noqa: E402
from ledger.log import read_head  # noqa: E402
from ledger.models import LogEntry, Transfer  # noqa: E402
from tables.audit import proofs, watch  # noqa: E402
from tables.floor import recorder  # noqa: E402
from tables.log.entries.days import DayClosed  # noqa: E402
from tables.models import DayClose, Staff, Table  # noqa: E402
from tables.reports import day_close, figures, gaming_hours, to_date_figures  # noqa: E402
from tables.roles import Role  # noqa: E402
from tests import floor  # noqa: E402
from tests.bench.keyed_rounds import plan  # noqa: E402
from tests.bench.month import DAYS, Month, lay_month, say  # noqa: E402
from tests.floor import Hand  # noqa: E402

EMPTY: Final = "empty"
"""The database of a house that only has the table that is measured."""
NEW_TRANSFERS: Final = 100


# --- databases -----------------------------------------------------------------------------------------------------


def superuser(statement: str) -> None:
    """Outside every transaction, and outside the databases that are measured."""
    house = servers.ServerSet(servers.LOCAL / "bench")
    with psycopg.connect(house.database_url(servers.SUPERUSER, "postgres"), autocommit=True) as server:
        server.execute(statement)


def sql(statement: str, *values: str) -> Any:
    """The first column of the first row, as the application reads it."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
    return row[0]


def timed(do: Callable[[], object], repeats: int) -> float:
    """The median of so many times, after one that is not counted."""
    seconds = []
    for _ in range(repeats + 1):
        began = perf_counter()
        do()
        seconds.append(perf_counter() - began)
    return median(seconds[1:])


def processor(do: Callable[[], object]) -> float:
    """What this process and its session in the database work, in seconds, whatever else the machine does."""
    session = Path(f"/proc/{sql('SELECT pg_backend_pid()')}/stat")
    ticks, began = _ticks(session), process_time()
    do()
    return (_ticks(session) - ticks) / os.sysconf("SC_CLK_TCK") + process_time() - began


def _ticks(stat: Path) -> int:
    return sum(map(int, stat.read_text().rsplit(")", 1)[1].split()[11:13])) if stat.exists() else 0


def ratio(label: str, seconds: float, base_seconds: float, beside: str) -> None:
    """A line of the result."""
    print(
        f"{label:<58} {seconds * 1e3:10.1f} ms  {seconds / base_seconds:6.2f} x {beside} ({base_seconds * 1e3:.1f} ms)",
        flush=True,
    )


# --- a table at work -----------------------------------------------------------------------------------------------


@dataclass
class Stint:
    """What a table's process measured in one turn."""

    inputs: list[float]
    inspected: float
    faults: int


def serve(pipe: Connection, url: str, name: str, rounds: int) -> None:
    """A table's process: opens it, new if it is not there, then deals and is inspected whenever it is told."""
    os.environ["DATABASE_URL"] = url
    connections.settings["default"]["NAME"] = connection.settings_dict["NAME"] = url.rsplit("/", 1)[1]
    table = Table.objects.filter(name=name).first() or floor.table(name, options={"decks": 6})
    boss, dealer = (_staff(role, f"{role} of {name}") for role in (Role.PIT_BOSS, Role.DEALER))
    Hand(table, boss)("open_table")
    recorder.sign_in(table, dealer)
    Hand(table, dealer).ready_shoe()
    planned = plan(rounds, seed=7)
    pipe.send(None)
    while pipe.recv():
        pipe.send(_stint(table, dealer, planned))


def _staff(role: Role, username: str) -> Staff:
    return Staff.objects.filter(username=username).first() or floor.staff(role, username)


def _stint(table: Table, dealer: Staff, planned: list[list[Any]]) -> Stint:
    head, seconds = read_head(table.book_id), []
    seq = head.seq
    while Transfer.objects.filter(book_id=table.book_id, seq__gt=head.seq).count() < NEW_TRANSFERS:
        for entered in planned.pop(0):
            began = perf_counter()
            seq = recorder.record(table, entered, by=dealer, key=uuid4(), expected_seq=seq).seq
            seconds.append(perf_counter() - began)
    began = perf_counter()
    faults = inspection.inspect_book(table.book_id)
    return Stint(seconds, perf_counter() - began, len(faults))


def at_work(month: Month, repeats: int) -> None:
    """A table with a month behind it, a new one beside it, and one in an empty house, in turn."""
    month_url = os.environ["DATABASE_URL"]
    empty_url = month_url.rsplit("/", 1)[0] + f"/{EMPTY}"
    sides = {"month": (month_url, month.tables[0].name), "new": (month_url, "New"), "empty": (empty_url, "New")}
    spawn = multiprocessing.get_context("spawn")
    pipes = {}
    for side, (url, name) in sides.items():
        pipes[side], theirs = spawn.Pipe()
        spawn.Process(target=serve, args=(theirs, url, name, 15 * (repeats + 1)), daemon=True).start()
        theirs.close()
        pipes[side].recv()
    stints: dict[str, list[Stint]] = {side: [] for side in sides}
    for _ in range(repeats + 1):
        for side, pipe in pipes.items():
            pipe.send(True)
            stints[side].append(pipe.recv())
    for pipe in pipes.values():
        pipe.send(False)
    _say_at_work({side: turns[1:] for side, turns in stints.items()})


def _say_at_work(stints: Mapping[str, list[Stint]]) -> None:
    if any(stint.faults for turns in stints.values() for stint in turns):
        sys.exit("The inspection found something: the rows are wrong.")
    inspected = {side: median(stint.inspected for stint in turns) for side, turns in stints.items()}
    inputs = {side: median(median(stint.inputs) for stint in turns) for side, turns in stints.items()}
    for beside in ("empty", "new"):
        base = "an empty house" if beside == "empty" else "a new table of the same house"
        ratio(f"reconciling a table, {NEW_TRANSFERS} new transfers", inspected["month"], inspected[beside], base)
        ratio("record(), the median input", inputs["month"], inputs[beside], base)


# --- the house as a whole ------------------------------------------------------------------------------------------


def whole_house(repeats: int) -> None:
    """The full check beside one plain sum, and the day's report of all tables."""
    began = perf_counter()
    for book in watch.all_books():
        recount.recount(book, "bench")
    say("every book recounted", began)
    if watch.prove_sums() or watch.reconcile():
        sys.exit("The house does not add up: the rows are wrong.")
    plain = timed(lambda: sql("SELECT sum(amount_cents) FROM ledger_transfer"), repeats)
    ratio("the full check: every transfer added up by place", timed(watch.prove_sums, repeats), plain, "one plain sum")
    ratio("the hourly check: from the last recounts", timed(watch.reconcile, repeats), plain, "one plain sum")


def report(month: Month, repeats: int) -> None:
    """The report of one day of all tables: of a day long past, and of the newest one. Then the month to date."""
    first_day = month.since.date()
    for label, day in (
        ("the first day's report", first_day),
        ("the last day's report", first_day + timedelta(days=DAYS - 1)),
    ):
        seconds = timed(lambda day=day: figures.day(day), repeats)  # type: ignore[misc]
        worked = processor(lambda day=day: figures.day(day))  # type: ignore[misc]
        lines = figures.day(day).lines
        rounds = sum(line.rounds for line in lines)
        print(
            f"{label}, {len(lines)} tables, {rounds:,} rounds: {seconds:.2f} s, {worked:.2f} s of processor", flush=True
        )
    last_day = first_day + timedelta(days=DAYS - 1)
    span = gaming_hours.span(first_day).start, gaming_hours.span(last_day).end
    began = perf_counter()
    for number in range(DAYS - 1):
        _close(first_day + timedelta(days=number))
    say(f"{DAYS - 1} days closed", began)
    if [line.row() for line in to_date_figures.whole(first_day, last_day).lines] != [
        line.row() for line in figures.between(*span).lines
    ]:
        sys.exit("Closed days and their rows do not say the same.")
    long = timed(lambda: figures.between(*span), repeats)
    label = f"{DAYS} days to date, all but the last one closed"
    ratio(label, timed(lambda: to_date_figures.whole(first_day, last_day), repeats), long, "one report over their rows")
    ratio(
        f"{DAYS - 1} days to date, all closed",
        timed(lambda: to_date_figures.whole(first_day, last_day - timedelta(days=1)), repeats),
        long,
        "the same",
    )


def _close(on: date) -> None:
    """A day's figures signed as two people sign them, but for what they would wait for: these days have no boxes."""
    report = figures.day(on)
    rows = tuple(line.row() for line in report.lines)
    event = DayClosed(
        day=on.isoformat(),
        figures=rows,
        digest=day_close.digest_of(on.isoformat(), rows),
        through=dict(report.through),
        username="olga",
        name="Olga",
        role="operator",
        proposal=0,
        proposed_by="bella",
    )
    with transaction.atomic():
        entry = log.append(site_log.lock(), log.Draft.of(event, "bench"))
    moment = entry.at or report.end
    DayClose.objects.create(day=on, seq=entry.seq, proposed_by="bella", closed_by="olga", at=moment)


# --- bytes ---------------------------------------------------------------------------------------------------------


def bytes_of(table: str) -> tuple[int, int]:
    """The rows of a table, and its indexes."""
    return sql("SELECT pg_table_size(%s)", table), sql("SELECT pg_indexes_size(%s)", table)


def storage(month: Month, owner: psycopg.Connection[Any]) -> None:
    """What the month takes, and what a round takes as record() writes it."""
    for table, rows in (("ledger_transfer", month.transfers), ("ledger_logentry", month.entries)):
        heap, indexes = bytes_of(table)
        print(
            f"{table}: {rows:,} rows, {heap / 1e9:.2f} GB and {indexes / 1e9:.2f} GB of indexes,"
            f" {heap / rows:.0f} + {indexes / rows:.0f} bytes a row"
        )
    total = sum(sum(bytes_of(table)) for table in ("ledger_transfer", "ledger_logentry"))
    print(f"a round as it is laid here: {total / month.rounds:.0f} bytes, tables and indexes")
    book = Table.objects.get(name="New").book_id
    rounds = LogEntry.objects.filter(book_id=book, subject="round").values("round").distinct().count()
    size = entries = 0
    for table in ("ledger_logentry", "ledger_transfer"):
        columns = sql(
            "SELECT string_agg(column_name, ', ' ORDER BY ordinal_position) FROM information_schema.columns"
            " WHERE table_name = %s AND is_generated = 'NEVER'", table,
        )  # fmt: skip
        owner.execute(f"CREATE TABLE weighed (LIKE {table} INCLUDING ALL)")
        owner.execute(
            f"INSERT INTO weighed ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM {table}"
            f" WHERE book_id = {book}" + (" AND subject = 'round'" if table == "ledger_logentry" else "")
        )
        for row in owner.execute("SELECT pg_total_relation_size('weighed'), count(*) FROM weighed").fetchall():
            size, entries = size + row[0], entries + row[1]
        owner.execute("DROP TABLE weighed")
        owner.commit()
    print(f"a round of six seats as record() writes it: {size / rounds:.0f} bytes in {entries / rounds:.1f} rows")


# --- parts ---------------------------------------------------------------------------------------------------------

A_DAY: Final = "a day of all tables, by kind"
"""Asked as suits each: by the entries of each table, or by time where that is what parts the rows."""
COLUMNS: Final = "id, book_id, seq, leg, legs, kind, source_id, source_place, target_id, target_place, amount_cents"
PARTED: Final = {
    "one table, as it is": "",
    "parted by ranges of books": "PARTITION BY RANGE (book_id)",
    "parted by day": "PARTITION BY RANGE (at)",
}


def parts(month: Month, owner: psycopg.Connection[Any], repeats: int) -> None:
    """The same queries on copies of the transfers, parted in two ways and not at all."""
    book = month.tables[len(month.tables) // 2].book_id
    since = read_head(book).seq - 100
    queries = {
        "what followed a recount (100 entries)": f"SELECT sum(amount_cents) FROM copied WHERE book_id = {book}"
        f" AND seq > {since}",
        "a whole book in order": f"SELECT count(*) FROM (SELECT seq, leg, amount_cents FROM copied"
        f" WHERE book_id = {book} ORDER BY seq, leg OFFSET 0) AS rows",
        "the full check": "SELECT leg.place, sum(leg.cents) FROM copied AS t, LATERAL (VALUES (t.source_place,"
        " -t.amount_cents), (t.target_place, t.amount_cents)) AS leg (place, cents) GROUP BY leg.place",
    }
    day = month.since.date() + timedelta(days=DAYS // 2)
    start, end = gaming_hours.span(day)
    by_name = {table.name: table.book_id for table in month.tables}
    spans = [(by_name[name], *span) for name, span in figures.day(day).entries.items() if name in by_name]
    of_a_book = (
        "SELECT kind, sum(amount_cents) FROM copied WHERE book_id = s.book AND seq > s.low AND seq <= s.high GROUP BY 1"
    )
    of_a_day = {
        True: "SELECT book_id, kind, sum(amount_cents) FROM copied"
        f" WHERE at >= '{start}' AND at < '{end}' GROUP BY book_id, kind",
        False: f"SELECT s.book, m.* FROM (VALUES {', '.join(map(str, spans))}) AS s (book, low, high),"
        f" LATERAL ({of_a_book}) AS m",
    }
    columns = [*queries, A_DAY, "an entry with 3 transfers"]
    print(f"{'partitioning (ms)':<30}" + "".join(f"{column:>40}" for column in columns))
    for scheme, parted in PARTED.items():
        _copy(month, owner, parted)
        times = [timed(lambda query=query: owner.execute(query).fetchall(), repeats) for query in queries.values()]  # type: ignore[misc]
        times.append(timed(lambda query=of_a_day["(at)" in parted]: owner.execute(query).fetchall(), repeats))  # type: ignore[misc]
        times.append(timed(lambda: _insert(owner, book, month), 20 * repeats))
        print(f"{scheme:<30}" + "".join(f"{seconds * 1e3:>40.2f}" for seconds in times), flush=True)
        owner.execute("DROP TABLE copied")
        owner.commit()


def _copy(month: Month, owner: psycopg.Connection[Any], parted: str) -> None:
    began = perf_counter()
    owner.execute(
        "CREATE TABLE copied (id bigint, book_id bigint, seq bigint, leg smallint, legs smallint, kind text,"
        " source_id bigint, source_place text, target_id bigint, target_place text, amount_cents bigint,"
        f" at timestamptz) {parted}"
    )
    books = sorted(table.book_id for table in month.tables)
    edges: list[str] = []
    if "book_id" in parted:
        edges = [str(book) for book in books[:: max(1, len(books) // 30)]]
    elif parted:
        rows = owner.execute("SELECT generate_series(%s, %s + interval '31 days', interval '1 day')::text",
                             [month.since, month.since]).fetchall()  # fmt: skip
        edges = [f"'{row[0]}'" for row in rows]
    bounds = list(zip(["MINVALUE", *edges], [*edges, "MAXVALUE"], strict=True)) if edges else []
    for number, (start, end) in enumerate(bounds):
        owner.execute(f"CREATE TABLE copied_{number} PARTITION OF copied FOR VALUES FROM ({start}) TO ({end})")
    owner.execute(
        f"INSERT INTO copied SELECT {', '.join('t.' + column for column in COLUMNS.split(', '))}, e.at"
        " FROM ledger_transfer AS t JOIN ledger_logentry AS e ON e.book_id = t.book_id AND e.seq = t.seq ORDER BY t.id"
    )
    unique = ", at" if "(at)" in parted else ""
    owner.execute(f"ALTER TABLE copied ADD UNIQUE (book_id, seq, leg{unique})")
    owner.execute(f"ALTER TABLE copied ADD UNIQUE (id, {'book_id' if not unique else 'at'})")
    owner.commit()
    owner.autocommit = True
    owner.execute("VACUUM ANALYZE copied")
    owner.autocommit = False
    say(f"copied: {parted or 'not parted'}", began)


def _insert(owner: psycopg.Connection[Any], book: int, month: Month) -> None:
    """Three transfers of one entry, taken back at once."""
    owner.execute(
        f"INSERT INTO copied ({COLUMNS}, at) SELECT -leg, %s, 1000000000, leg, 3, 'stake', 1, 'a', 2, 'b', 1, %s"
        " FROM generate_series(1, 3) AS leg",
        [book, month.since],
    )
    owner.rollback()


# --- all of it -----------------------------------------------------------------------------------------------------


def machine(owner: psycopg.Connection[Any]) -> str:
    """What it ran on."""
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 1e6 if Path("/proc/meminfo").exists() else 0
    version = owner.execute("SHOW server_version").fetchall()[0][0]
    return f"{os.cpu_count()} cores, {memory:.0f} GB of memory, load {os.getloadavg()[0]:.1f}, PostgreSQL {version}"


def arguments() -> argparse.Namespace:
    """From the command line."""
    parser = argparse.ArgumentParser(prog="./run bench floor")
    parser.add_argument("--transfers", type=int, default=10_000_000, help="about so many are laid")
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--whole", action="store_true", help="every input is an entry, as record() writes it")
    parser.add_argument("--skip-parts", action="store_true", help="without the copies that are partitioned")
    return parser.parse_args()


def main() -> None:
    """Lay the month, measure, and take it away again."""
    chosen = arguments()
    connection.close()
    superuser(f"CREATE DATABASE {EMPTY} TEMPLATE {servers.DATABASE} OWNER {servers.OWNER}")
    try:
        with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner:
            print(machine(owner), flush=True)
            owner.rollback()
            month = lay_month(chosen.tables, chosen.transfers, chosen.whole)
            laid = f"{month.transfers:,} transfers, {month.entries:,} entries, {month.rounds:,} rounds"
            print(f"{laid}, {chosen.tables} tables", flush=True)
            sample = proofs.verify(month.tables[-1].book) if chosen.whole else None
            fault = sample.fault if sample else recount.first_fault(month.tables[-1].book_id)
            if fault:
                sys.exit(f"What was laid does not hold: {fault}")
            print("the proof of one table that was laid: no fault", flush=True)
            superuser("CHECKPOINT")  # what was laid is not to be written out while something else is measured
            whole_house(chosen.repeats)
            report(month, chosen.repeats)
            at_work(month, chosen.repeats)
            storage(month, owner)
            if not chosen.skip_parts:
                parts(month, owner, chosen.repeats)
    finally:
        connection.close()
        for database in (EMPTY, servers.DATABASE):
            superuser(f"DROP DATABASE {database} WITH (FORCE)")


if __name__ == "__main__":
    main()
