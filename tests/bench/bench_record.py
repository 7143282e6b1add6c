"""`./run bench record`: dealing.record() of whole Rocket rounds, beside the same rows written by hand-written SQL.

Six seats and keyed six-deck shoes, shuffled when the cut card has come out; every table has a process of its own. In
each repeat the tables deal through record(); then plain psycopg writes the same rows to tables of their own: the same
entries, transfers and heads in as many transactions, under the same lock. Bodies and hashes are made beforehand, so
that side is the database's time alone. The median of the repeats' ratios counts. Last, a table with 100,000 rounds
behind it takes turns with a new one. fsync and synchronous_commit are on.
"""

import multiprocessing
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Any

import django

django.setup()

import psycopg  # noqa: E402
from django.db import connection  # noqa: E402

from ledger.cage import chart  # noqa: E402
from ledger.log import Draft, entries, read_head, seal  # noqa: E402
from ledger.models import Transfer  # noqa: E402
from tables.floor import recorder  # noqa: E402
from tables.models import Staff, Table  # noqa: E402
from tests import floor  # noqa: E402
from tests.bench.keyed_rounds import plan  # noqa: E402
from tests.bench.long_history import lay_history  # noqa: E402
from tests.floor import Hand  # noqa: E402

TABLES, ROUNDS, REPEATS = 8, int(os.environ.get("ROUNDS", 10)), int(os.environ.get("REPEATS", 5))
OLD_ROUNDS = int(os.environ.get("OLD_ROUNDS", "100000"))


@dataclass
class Phase:
    """What one table's process measured."""

    began: float
    ended: float
    inputs: list[float]
    """Seconds of each input, one transaction."""
    worked: float
    """Seconds of this process's own processor time, which others at work on the machine change least."""


# --- record() -------------------------------------------------------------------------------------------------


@dataclass
class Dealt:
    """A table, and the rounds that are still to be dealt there."""

    table: Table
    dealer: Staff
    rounds: list[list[Any]]

    def deal(self, rounds: int, ready: Barrier | None = None) -> Phase:
        inputs = [one for _ in range(rounds) for one in self.rounds.pop(0)]
        seq, seconds = read_head(self.table.book_id).seq, []
        if ready:
            ready.wait()
        worked, began = process_time(), perf_counter()
        last = began
        for made in inputs:
            seq = recorder.record(self.table, made, by=self.dealer, key=uuid.uuid4(), expected_seq=seq).seq
            now = perf_counter()
            seconds.append(now - last)
            last = now
        return Phase(began, last, seconds, process_time() - worked)


def open_table(name: str, seed: int, rounds: int) -> Dealt:
    """A table with its shoe ready, its dealer and its plan."""
    made = floor.table(name, options={"decks": 6})
    Hand(made, floor.staff(floor.Role.PIT_BOSS, f"boss of {name}"))("open_table")
    badge = str(100 + Staff.objects.count())  # entries are signed with it, as on a floor
    dealer = Hand(made, floor.staff(floor.Role.DEALER, f"dealer of {name}", badge))
    recorder.sign_in(made, dealer.by)
    dealer.ready_shoe()
    return Dealt(made, dealer.by, plan(rounds, seed))


# --- by hand --------------------------------------------------------------------------------------------------

LOCK = "SELECT head_seq, head_hash FROM ledger_book WHERE id = %s FOR NO KEY UPDATE"
ENTRY = """INSERT INTO ledger_logentry
    (book_id, seq, at, subject, kind, round, by, key, legs, body, hash)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
TRANSFER = """INSERT INTO ledger_transfer
    (book_id, seq, leg, legs, kind, source_id, source_place, target_id, target_place, amount_cents)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
HEAD = "UPDATE ledger_book SET head_seq = %s, head_hash = %s WHERE id = %s"


@dataclass
class Transaction:
    """The rows of one input."""

    entries: list[tuple[Any, ...]] = field(default_factory=list)
    transfers: list[tuple[Any, ...]] = field(default_factory=list)


@dataclass
class ByHand:
    """Another table, to which the rows that record() wrote at the first are written by hand."""

    table: Table
    source: Table
    url: str
    written: int

    def write(self, ready: Barrier) -> Phase:
        transactions = list(self._same_rows())
        seconds = []
        with psycopg.connect(self.url) as plain, plain.cursor() as cursor:
            ready.wait()
            worked, began = process_time(), perf_counter()
            last = began
            for rows in transactions:
                cursor.execute(LOCK, [self.table.book_id])
                cursor.fetchone()
                for entry in rows.entries:
                    cursor.execute(ENTRY, entry)
                if rows.transfers:
                    cursor.executemany(TRANSFER, rows.transfers)
                cursor.execute(HEAD, [rows.entries[-1][1], rows.entries[-1][-1], self.table.book_id])
                plain.commit()
                now = perf_counter()
                seconds.append(now - last)
                last = now
        return Phase(began, last, seconds, process_time() - worked)

    def _same_rows(self) -> Iterator[Transaction]:
        """What record() has written since the last time, chained onto this table's log."""
        head, here, there = read_head(self.table.book_id), chart(self.table.book_id), chart(self.source.book_id)
        account = {there.ids[place]: here.ids[place] for place in there.ids}
        moved = Transfer.objects.filter(book_id=self.source.book_id, seq__gt=self.written).order_by("seq", "leg")
        legs = {seq: list(rows) for seq, rows in groupby(moved, key=lambda row: row.seq)}
        rows = Transaction()
        for entry in entries(self.source.book_id, since=self.written):
            if entry.key and rows.entries:  # an input's first entry carries its key
                yield rows
                rows = Transaction()
            moves = legs.get(entry.seq, [])
            draft = Draft(
                entry.subject, entry.kind, entry.by, entry.content, round=entry.round, key=entry.key, at=entry.at
            )
            sealed = seal(head, draft, entry.moves)
            head, self.written = sealed.head, entry.seq
            rows.entries.append(sealed.row)
            rows.transfers += [
                (
                    self.table.book_id, head.seq, row.leg, row.legs, row.kind, account[row.source_id],
                    row.source_place, account[row.target_id], row.target_place, row.amount_cents,
                )
                for row in moves
            ]  # fmt: skip
        yield rows


# --- processes ------------------------------------------------------------------------------------------------


def serve(pipe: Connection, ready: Barrier, name: str, seed: int) -> None:
    """One table's process: does what it is told, and answers with what it measured."""
    dealt = open_table(f"Dealt {name}", seed, ROUNDS * 2 * (REPEATS + 1))
    written = read_head(dealt.table.book_id).seq
    by_hand = ByHand(open_table(f"Plain {name}", seed, 0).table, dealt.table, os.environ["DATABASE_URL"], written)
    pipe.send(None)
    while order := pipe.recv():
        pipe.send(dealt.deal(ROUNDS, ready) if order == "record" else by_hand.write(ready))


Measured = dict[str, list[list[Phase]]]
"""For each side, in each repeat, what each table's process measured."""


def measure(tables: int, tag: str = "") -> Measured:
    """Both sides in turn, so many tables at once. The first turn warms up and is not counted."""
    spawn = multiprocessing.get_context("spawn")
    ready, pipes, processes = spawn.Barrier(tables), [], []
    for number in range(tables):
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=serve, args=(theirs, ready, f"{tag}{tables}.{number}", number), daemon=True)
        process.start()
        theirs.close()
        pipes.append(ours)
        processes.append(process)
        ours.recv()
    measured: Measured = {"record": [], "by hand": []}
    for _ in range(REPEATS + 1):
        for side in measured:
            for pipe in pipes:
                pipe.send(side)
            measured[side].append([pipe.recv() for pipe in pipes])
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send("")
        process.join()
    return {side: repeats[1:] for side, repeats in measured.items()}


def rate(phases: Sequence[Phase]) -> float:
    """Rounds a second, over all tables."""
    return ROUNDS * len(phases) / (max(one.ended for one in phases) - min(one.began for one in phases))


def describe(title: str, measured: Measured) -> None:
    print(f"\n{title}")
    for side, repeats in measured.items():
        inputs = [seconds for phases in repeats for one in phases for seconds in one.inputs]
        cuts = quantiles(inputs, n=100)
        rounds = median(rate(phases) for phases in repeats)
        worked = sum(one.worked for phases in repeats for one in phases) / len(inputs)
        a_round = len(inputs) / sum(ROUNDS * len(phases) for phases in repeats)
        print(
            f"  {side:<10} {rounds:7.1f} rounds/s  {rounds * a_round:8.0f} inputs/s"
            f"   p50 {cuts[49] * 1e3:6.2f} ms   p99 {cuts[98] * 1e3:6.2f} ms"
            f"   {worked * 1e3:5.2f} ms of Python's processor"
        )
    print({side: round(median(rate(p) for p in reps), 1) for side, reps in measured.items()})
    first, second = list(measured)[:2]
    ratios = [rate(one) / rate(other) for one, other in zip(measured[first], measured[second], strict=True)]
    print(f"  {first} / {second}: {median(ratios):.2f} of the rate ({min(ratios):.2f} to {max(ratios):.2f})")


def beside_a_long_history() -> Measured:
    """A new table and one that has dealt for years, in turn, in one process."""
    new, old = (open_table(name, seed=7, rounds=ROUNDS * (REPEATS + 1)) for name in ("New", "Old"))
    lay_history(old.table, old.dealer, OLD_ROUNDS)
    sides = {"old table": old, "new table": new}
    measured: Measured = {side: [] for side in sides}
    for _ in range(REPEATS + 1):
        for side, dealt in sides.items():
            measured[side].append([dealt.deal(ROUNDS)])
    return {side: repeats[1:] for side, repeats in measured.items()}


def main() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('fsync'), current_setting('synchronous_commit'), version()")
        print("fsync {}, synchronous_commit {}, {}".format(*cursor.fetchone()))
    for tables in map(int, os.environ.get("TABLES", "1,8").split(",")):
        describe(f"{tables} table{'s' * (tables > 1)} at once", measure(tables))
    describe(f"A table with {OLD_ROUNDS:,} rounds behind it", beside_a_long_history())


if __name__ == "__main__":
    main()
