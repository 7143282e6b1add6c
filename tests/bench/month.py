"""A month of a whole house, laid by COPY: every table has the same day, day after day, as record() wrote it once.

One table, the pattern, deals a real day through record(): opener, fill, rounds of one seat, chips sold, credit, closer,
each slip signed. Every table's day is that day again with the numbers, times, keys, accounts and hashes of its own, and
rows for its slips and signatures. Rows lie on disk as a floor writes them: by time, all tables mixed. The pattern's day
leaves the rack as it found it, so that counts hold every day.

As a restore does, rows come in under all CHECKs (the hash of every entry is one of them), and indexes, unique and
foreign keys are made again afterwards, which proves them over all rows.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

import psycopg
from django.db import connection, transaction

from ledger import cage, log
from ledger.cage import chart
from ledger.log import Draft, read_head
from ledger.models import LogEntry, Slip, SlipSignature
from ledger.proof import spelling
from ledger.proof.moves import Chart, Place
from ledger.proof.spelling import canonical, timestamp
from tables.floor import inputs, recorder
from tables.models import Table
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.bench.keyed_rounds import plan
from tests.floor import Hand

DAYS: Final = 30
NULL: Final = "\\N"
FLOAT_CENTS: Final = 2_000_000
ENTRY: Final = """COPY ledger_logentry
    (book_id, seq, at, subject, kind, round, by, key, legs, body, hash) FROM STDIN"""
TRANSFER: Final = """COPY ledger_transfer
    (book_id, seq, leg, legs, kind, source_id, source_place, target_id, target_place, amount_cents) FROM STDIN"""
SLIP: Final = "COPY ledger_slip (id, series, year, number, previous, book_id, seq, total_cents) FROM STDIN"
SIGNATURE: Final = "COPY ledger_slipsignature (slip_id, stage, username, role, book_id, seq) FROM STDIN"


# --- the pattern: one real day -------------------------------------------------------------------------------------


@dataclass
class Line:
    """One entry of the pattern, with blanks for what differs from table to table and from day to day."""

    subject: str
    kind: str
    by: str
    has_key: bool
    heading: bytes
    body: bytes
    in_round: int
    moves: list[tuple[str, Place, Place, int]]
    slip: tuple[str, int, int] | None = None
    """The series, year and cents of the slip that begins here."""
    signature: tuple[str, str, str, str] | None = None
    """The series of the slip signed here, the step, and who signed in which role."""


@dataclass
class Pattern:
    """What a table writes before its first day, and on each of its days."""

    prologue: list[Line]
    day: list[Line]
    rounds: int
    as_dealt: list[int] = field(default_factory=list)
    """The sequence numbers of the pattern table's own entries of rounds."""


def deal_pattern(rounds: int, whole: bool) -> tuple[Table, Pattern]:
    """A day at a table, dealt by record(). Unless the log is to be `whole`, a round's plays stand in one entry."""
    table = floor.table("Pattern", options={"decks": 6})
    before = read_head(table.book_id).seq
    boss, dora = (
        Hand(table, floor.staff(role, name, badge))
        for role, name, badge in ((Role.PIT_BOSS, "bella", None), (Role.DEALER, "dora", "101"))
    )
    begins = rack(table)
    boss("open_table")
    recorder.sign_in(table, dora.by)
    dora.ready_shoe()
    slip(table, dora, "fill", FLOAT_CENTS)
    seq = read_head(table.book_id).seq
    for entered in (key for planned in plan(rounds, 1, (1,)) for key in planned):
        seq = recorder.record(table, entered, by=dora.by, key=uuid4(), expected_seq=seq).seq
    dora("sell_chips", amount_cents=10_000)
    slip(table, dora, "credit", rack(table) - begins)
    dora("retire_shoe")
    recorder.sign_out(table, dora.by)
    boss("close_table")
    entries = list(LogEntry.objects.filter(book_id=table.book_id).order_by("seq"))
    lines = _lines(table, entries[:before], 0), _lines(table, entries[before:], before, whole)
    return table, Pattern(*lines, rounds, [entry.seq for entry in entries if entry.subject == "round"])


def rack(table: Table) -> int:
    """What lies in a table's rack."""
    return next(cents for account, cents in cage.balances(table.book_id).items() if account.place == "rack")


def slip(table: Table, dealer: Hand, series: str, cents: int) -> None:
    """A fill or credit, signed by all who have to."""
    signers = {
        "fill": {"issued": "issued", "carried": "carried", "received": "", "confirmed": "confirmed"},
        "credit": {"issued": "", "confirmed": "confirmed", "carried": "carried", "received": "issued"},
    }
    floor.signs(table, floor.crew("requested"), inputs.BeginSlip(series, ((100, cents // 100),)))
    name = table_state.of(table).slips[-1].name
    for stage, role in signers[series].items():
        floor.signs(table, floor.crew(role) if role else dealer.by, inputs.SignSlip(name, stage))


def _lines(table: Table, entries: Sequence[LogEntry], before: int, whole: bool = True) -> list[Line]:
    documents = [(entry, {"content": entry.content, "moves": entry.parts.moves}) for entry in entries]
    joined: list[tuple[LogEntry, dict[str, Any], set[int]]] = []
    for entry, document in documents:
        latest = joined[-1] if joined else None
        if not whole and latest and entry.kind == "play" == latest[0].kind and entry.round == latest[0].round:
            _join(latest[1], document)
            latest[2].add(entry.seq)
        else:
            joined.append((entry, document, {entry.seq}))
    moved = {
        seq: position for position, (_, _, seqs) in enumerate(joined) for seq in seqs
    }  # where an entry of the pattern stands in the day as it is laid
    slips = {row.seq: row for row in Slip.objects.filter(book_id=table.book_id)}
    signed = {row.seq: row for row in SlipSignature.objects.filter(book_id=table.book_id).select_related("slip")}
    ids = {account: place for place, account in chart(table.book_id).ids.items()}
    return [_line(entry, document, moved, slips=slips, signed=signed, ids=ids) for entry, document, _ in joined]


def _join(earlier: dict[str, Any], document: dict[str, Any]) -> None:
    """Add what a later play of the same round did to the round's first entry."""
    content, added = earlier["content"], document["content"]
    content["actions"] += added["actions"]
    earlier["moves"] += document["moves"]
    if "decided" in added:
        content["decided"] = content.get("decided", []) + added["decided"]


def _line(
    entry: LogEntry,
    document: dict[str, Any],
    moved: dict[int, int],
    slips: dict[int, Slip],
    signed: dict[int, SlipSignature],
    ids: dict[int, Place],
) -> Line:
    moves = []
    for kind, source, target, cents, _ in document["moves"]:
        places = [ids[int(name.split("#")[1])] for name in (source, target)]
        moves.append((kind, places[0], places[1], cents))
    content = document["content"]
    if opening := content.get("opening"):
        opening["shoe"] = "@shoe@"
    spelled = spelling.spell(entry.subject, content, ["@moves@"] if moves else []).decode()
    body = spelled.replace("%", "%%").replace('"@moves@"', "%(moves)s").replace('"@shoe@"', "%(shoe)d")
    position = moved[entry.seq]
    heading = canonical(["@book@", "@seq@", "@at@", entry.subject, entry.kind, "@round@", entry.by, "@key@"]).decode()
    for blank, filled in {
        "@book@": "%(book)s",
        '"@seq@"': "%(seq)d",
        "@at@": "%(at)s",
        '"@round@"': "null" if entry.round is None else "%(round)d",
        '"@key@"': '"%(key)s"' if entry.key else "null",
    }.items():
        heading = heading.replace(blank, filled)
    body = re.sub(r'(\["\w+","\w+","\w+","\w+",)(\d+)\]', lambda m: f"{m[1]}%({moved[int(m[2])] - position})d]", body)
    body = re.sub(r'"ready_seq":([1-9]\d*)', lambda m: f'"ready_seq":%({moved[int(m[1])] - position})d', body)
    body = re.sub(r'"number":\d+,"ready_seq"', '"number":%(shoe)d,"ready_seq"', body)
    body = re.sub(r'"number":\d+,"reason":"","series":"(\w+)"', r'"number":%(\1)d,"reason":"","series":"\1"', body)
    body = re.sub(r'"(\w+)/(\d{4})/\d+"', r'"\1/\2/%(\1)d"', body)
    begun, signature = slips.get(entry.seq), signed.get(entry.seq)
    return Line(
        entry.subject,
        entry.kind,
        entry.by,
        has_key=entry.key is not None,
        heading=heading.encode(),
        body=body.encode(),
        in_round=entry.round or 0,
        moves=moves,
        slip=(begun.series, begun.year, begun.total_cents) if begun else None,
        signature=(signature.slip.series, signature.stage, signature.username, signature.role) if signature else None,
    )


class Blanks(dict[bytes, Any]):
    """What fills the blanks of a line. A number names an entry that stands so far from this one."""

    def __missing__(self, offset: bytes) -> int:
        seq: int = self[b"seq"] + int(offset)
        return seq


# --- the month: that day again, at every table ---------------------------------------------------------------------


@dataclass
class Month:
    """What was laid."""

    tables: list[Table]
    pattern: Table
    since: datetime
    entries: int = 0
    transfers: int = 0
    rounds: int = 0


@dataclass
class Laying:
    """The state of laying a month: numbers that the whole house counts."""

    numbers: dict[str, int]
    slip_id: int
    charts: dict[int, Chart]
    key: Iterator[int] = field(default_factory=count)


def lay_month(tables: int, transfers: int, whole: bool) -> Month:
    """Lay about so many transfers over so many tables."""
    began = perf_counter()
    pattern_table, pattern = deal_pattern(max(1, round(transfers / (tables * DAYS * 2.7))), whole)
    since = datetime.now(UTC).replace(hour=18, minute=0, second=0, microsecond=0) - timedelta(days=DAYS + 1)
    month = Month([], pattern_table, since)
    _fund(tables)
    settings = {name: getattr(pattern_table, name) for name in ("game", "source", "unit_cents", "options", "seats")}
    limits = {name: getattr(pattern_table, name) for name in ("min_cents", "max_cents")}
    for number in range(1, tables + 1):
        name = f"Rocket {number}"
        table = Table.objects.create(name=name, book=cage.open_table_book(name, 6), **settings, **limits)
        table.denominations.set(pattern_table.denominations.all())
        month.tables.append(table)
    say(f"a day of {pattern.rounds} rounds dealt, {tables} tables set up", began)
    laying = Laying(
        _numbers(), Slip.objects.latest("pk").pk, {table.pk: chart(table.book_id) for table in month.tables}
    )
    connection.close()  # what follows locks the tables until it is done
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner, owner.cursor() as cursor:
        taken_off = take_off(cursor)
        began = perf_counter()
        chains = [Chain(table, laying.charts[table.pk]) for table in month.tables]
        for day in range(-1, DAYS):
            _lay_day(cursor, day, chains, pattern, laying=laying, month=month)
        for chain in chains:
            head = [chain.seq, chain.digest, chain.table.book_id]
            cursor.execute("UPDATE ledger_book SET head_seq = %s, head_hash = %s WHERE id = %s", head)
        say(f"{month.entries:,} entries and {month.transfers:,} transfers copied", began)
        began = perf_counter()
        cursor.execute("SET maintenance_work_mem = '512MB'")
        for statement in taken_off:
            cursor.execute(statement)
        prove_guards(cursor)
        cursor.execute("SELECT setval('ledger_slip_id_seq', %s)", [laying.slip_id])
        owner.commit()
        say("indexes, unique and foreign keys made again", began)
        owner.autocommit = True
        began = perf_counter()
        cursor.execute("VACUUM ANALYZE ledger_logentry, ledger_transfer, ledger_slip, ledger_slipsignature")
        say("vacuumed and analyzed", began)
    return month


def say(label: str, began: float) -> None:
    """How far it is."""
    print(f"  {label}: {perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


def _fund(tables: int) -> None:
    """Chips for every table's float and every player's pocket, issued and sold by the house."""
    house = cage.open_house()
    vault = chart(house.pk)
    cents = tables * DAYS * FLOAT_CENTS
    with transaction.atomic():
        moves = [vault.move("issue", "issue", "vault", 3 * cents), vault.move("withdraw", "vault", "cage", 3 * cents)]
        moves += [vault.move("sale", "cage", "players", cents), vault.move("cash_in", "cash", "bank", cents)]
        cage.post(log.lock(house.pk), Draft("chips", "issued", "bench", {}), moves)


def _numbers() -> dict[str, int]:
    numbers: dict[str, int] = {}
    for series, number in Slip.objects.values_list("series", "number"):
        numbers[series] = max(number, numbers.get(series, 0))
    return numbers


def take_off(cursor: psycopg.Cursor[Any]) -> list[str]:
    """Drop the indexes and keys of the big tables; what makes them again."""
    big = ["ledger_logentry", "ledger_transfer", "ledger_slip", "ledger_slipsignature"]
    cursor.execute(
        "SELECT conname, conrelid::regclass::text, contype, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contype IN ('f', 'u', 'p') AND (conrelid::regclass::text = ANY(%s)"
        " OR contype = 'f' AND confrelid::regclass::text = ANY(%s))",
        [big, big],
    )
    keys = sorted(cursor.fetchall(), key=lambda row: row[2] == "f")
    for name, table, _, _ in reversed(keys):
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%s)", [big])
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f"DROP INDEX {name}")
    for table in (*big, "ledger_book"):
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    statements = [
        f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"
        for name, table, kind, definition in keys
        if kind != "f"
    ]
    statements += [definition for _, definition in indexes]
    statements += [
        f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"
        for name, table, kind, definition in keys
        if kind == "f"
    ]
    return statements + [f"ALTER TABLE {table} ENABLE TRIGGER USER" for table in (*big, "ledger_book")]


UNGUARDED: Final = {
    "entries that do not follow the one before": """SELECT count(*) FROM ledger_logentry AS e
        JOIN ledger_book AS b ON b.id = e.book_id
        LEFT JOIN ledger_logentry AS p ON p.book_id = e.book_id AND p.seq = e.seq - 1
        WHERE (e.seq > 1 AND p.seq IS NULL) OR e.hash IS DISTINCT FROM sha256(coalesce(p.hash, '') || convert_to(
            format('[%s,%s,"%s",%s,%s,%s,%s,%s] ', to_json(b.name), e.seq,
                to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), to_json(e.subject),
                to_json(e.kind), coalesce(e.round::text, 'null'), to_json(e.by),
                coalesce('"' || e.key || '"', 'null')), 'UTF8') || e.body)""",
    "transfers without their entry": """SELECT count(*) FROM ledger_transfer AS t
        LEFT JOIN ledger_logentry AS e ON e.book_id = t.book_id AND e.seq = t.seq AND e.legs = t.legs
        WHERE e.seq IS NULL""",
    "books that end elsewhere": """SELECT count(*) FROM ledger_book AS b
        LEFT JOIN ledger_logentry AS e ON e.book_id = b.id AND e.seq = b.head_seq AND e.hash = b.head_hash
        WHERE b.head_seq > 0 AND e.seq IS NULL""",
}
"""What triggers refuse, which saw none of the rows that were laid."""


def prove_guards(cursor: psycopg.Cursor[Any]) -> None:
    """Every row that was laid is one that the triggers would have let in."""
    for rule, statement in UNGUARDED.items():
        cursor.execute(statement)
        assert cursor.fetchone() == (0,), rule


@dataclass
class Rows:
    """The rows of one table, as COPY reads them."""

    entries: list[str] = field(default_factory=list)
    transfers: list[str] = field(default_factory=list)
    slips: list[str] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)


@dataclass
class Chain:
    """How far a table's book is laid."""

    table: Table
    accounts: Chart
    seq: int = 0
    digest: bytes = b""


def _lay_day(
    cursor: psycopg.Cursor[Any], day: int, chains: Sequence[Chain], pattern: Pattern, laying: Laying, month: Month
) -> None:
    """One day of all tables, which have as many rows each: written in turn, as if they were dealt at the same time."""
    laid = [_rows_of(day, chain, pattern, laying, month.since) for chain in chains]
    columns: list[tuple[str, list[list[str]]]] = [
        (ENTRY, [rows.entries for rows in laid]),
        (TRANSFER, [rows.transfers for rows in laid]),
        (SLIP, [rows.slips for rows in laid]),
        (SIGNATURE, [rows.signatures for rows in laid]),
    ]
    for statement, tables in columns:
        with cursor.copy(statement) as copy:
            for rows_at_once in zip(*tables, strict=True):
                copy.write("".join(rows_at_once))
    month.entries += sum(len(rows.entries) for rows in laid)
    month.transfers += sum(len(rows.transfers) for rows in laid)
    month.rounds += pattern.rounds * len(chains) * (day >= 0)


def _rows_of(day: int, chain: Chain, pattern: Pattern, laying: Laying, since: datetime) -> Rows:
    """A table's day; day -1 is what it wrote before its first."""
    rows, blanks = Rows(), Blanks({b"book": chain.table.name.encode(), b"shoe": day + 1})
    lines = pattern.day if day >= 0 else pattern.prologue
    start, step = since + timedelta(days=day), timedelta(hours=9) / len(lines)
    book, slip_ids = chain.table.book_id, dict[str, int]()
    for position, (line, (moves, legs)) in enumerate(zip(lines, _spell(lines, chain.accounts), strict=True)):
        chain.seq += 1
        seq, moment, number = chain.seq, start + step * position, line.in_round + day * pattern.rounds
        key = f"{chain.table.pk:08x}-0000-4000-8000-{next(laying.key):012x}" if line.has_key else NULL
        if line.slip:
            slip_ids[line.slip[0]] = _begin(rows, line.slip, book, seq, laying=laying, blanks=blanks)
        blanks |= {
            b"seq": seq,
            b"round": number,
            b"at": timestamp(moment).encode(),
            b"key": key.encode(),
            b"moves": moves,
        }
        body = line.body % blanks
        chain.digest = sha256(chain.digest + line.heading % blanks + b" " + body).digest()
        in_round = str(number) if line.in_round else NULL
        rows.entries.append(
            f"{book}\t{seq}\t{moment}\t{line.subject}\t{line.kind}\t{in_round}\t{line.by}\t{key}\t{len(legs)}"
            f"\t\\\\x{body.hex()}\t\\\\x{chain.digest.hex()}\n"
        )
        rows.transfers += [f"{book}\t{seq}\t{leg}" for leg in legs]
        if line.signature:
            series, stage, username, role = line.signature
            rows.signatures.append(f"{slip_ids[series]}\t{stage}\t{username}\t{role}\t{book}\t{seq}\n")
    return rows


def _begin(rows: Rows, slip: tuple[str, int, int], book: int, seq: int, laying: Laying, blanks: Blanks) -> int:
    series, year, cents = slip
    latest = laying.numbers.get(series, 0)
    laying.numbers[series] = blanks[series.encode()] = latest + 1
    laying.slip_id += 1
    before = str(latest) if latest else NULL
    rows.slips.append(f"{laying.slip_id}\t{series}\t{year}\t{latest + 1}\t{before}\t{book}\t{seq}\t{cents}\n")
    return laying.slip_id


def _spell(lines: Sequence[Line], accounts: Chart) -> list[tuple[bytes, list[str]]]:
    """The moves of each line between the accounts of one table: as a body has them, and as rows."""
    spelled = []
    for line in lines:
        moves = [accounts.move(kind, source, target, cents) for kind, source, target, cents in line.moves]
        body = spelling.spell("", {}, [move.spelled() for move in moves])[len("[2,{},[") : -2]
        rows = [
            f"{leg}\t{len(moves)}\t{move.kind}\t{move.source_account_id}\t{move.source_place}"
            f"\t{move.target_account_id}\t{move.target_place}\t{move.amount_cents}\n"
            for leg, move in enumerate(moves, 1)
        ]
        spelled.append((body, rows))
    return spelled
