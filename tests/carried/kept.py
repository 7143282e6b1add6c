"""A house's database as it was kept at a release, in one file: written once, put back for ever after.

A gzip of JSON lines, so that `zcat` and `diff` show what is in it. The first line is the header: at which migrations it
was kept, its gaming days, and the house's files (keys and the note beside them). Then for each table a line with its
columns, and a line for each row. A value is as PostgreSQL spells it, null, or bytes: {"utf8": ...} where they are text,
as the bodies of entries are, and {"hex": ...} elsewhere. Nothing is left out but what is gone within the hour.

The keys are in it because a house goes on sealing and signing with its keys. They are of a house that never was, and
guard nothing.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import psycopg
from django.apps import apps
from django.conf import settings
from psycopg import sql

from casino.embedded.servers import APPLICATION, BASE_DIR, OWNER
from ledger.proof import spelling
from tests.settings import HOUSE as SERVERS
from tests.templates import database

FORMAT: Final = "carried-house/1"
HOUSES: Final = Path(__file__).parent / "houses"
APPS: Final = ("ledger", "tables")
NOT_KEPT: Final = frozenset({"tables_attemptcount"})
"""Counts of wrong tries: they end with the hour, and are dated by a clock that no test sets."""
KEYS: Final = "Keys of a house that never was: they guard nothing, and are no secret of anybody's."

Value = str | dict[str, str] | None


@dataclass(frozen=True)
class Kept:
    """What the file has."""

    header: Mapping[str, Any]
    tables: Mapping[str, tuple[Sequence[str], Sequence[Sequence[Value]]]]
    """The columns and rows of each table, in an order in which no row refers to a later table."""

    def rows(self, table: str) -> Iterator[dict[str, Value]]:
        columns, rows = self.tables[table]
        return (dict(zip(columns, row, strict=True)) for row in rows)


# --- the file ----------------------------------------------------------------------------------------------------


def write(path: Path, house: Kept) -> None:
    with gzip.GzipFile(path, "wb", compresslevel=9, mtime=0) as file:
        for line in (house.header, *_lines(house)):
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _lines(house: Kept) -> Iterator[Any]:
    for table, (columns, rows) in house.tables.items():
        yield {"table": table, "columns": columns}
        yield from rows


def read(path: Path) -> Kept:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        header, *lines = map(json.loads, file)
    assert header["format"] == FORMAT, header["format"]
    tables: dict[str, tuple[Sequence[str], list[Sequence[Value]]]] = {}
    for line in lines:
        if isinstance(line, dict):
            rows: list[Sequence[Value]] = []
            tables[line["table"]] = line["columns"], rows
        else:
            rows.append(line)
    return Kept(header, tables)


# --- from a database ---------------------------------------------------------------------------------------------


def take(database: psycopg.Connection, folder: Path, days: Sequence[str]) -> Kept:
    """What a database and the house's folder have now."""
    database.execute("SET TIME ZONE 'UTC'")
    header = {
        "format": FORMAT,
        "migrations": {app: _last_migration(database, app) for app in APPS},
        "days": list(days),
        "note": KEYS,
        "files": {path.name: path.read_text() for path in sorted(folder.iterdir())},
    }
    return Kept(header, {table: _rows(database, table) for table in _in_order(database)})


def _last_migration(database: psycopg.Connection, app: str) -> str:
    [[name]] = database.execute("SELECT max(name) FROM django_migrations WHERE app = %s", [app]).fetchall()
    return str(name)


def _in_order(database: psycopg.Connection) -> list[str]:
    """The tables of our apps, each after those that it refers to; a book's head is put in place in the end."""
    models = [model for app in APPS for model in apps.get_app_config(app).get_models(include_auto_created=True)]
    names = sorted({model._meta.db_table for model in models} - NOT_KEPT)
    refers: dict[str, set[str]] = {name: set() for name in names}
    for table, referred in database.execute(
        "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint"
        " WHERE contype = 'f' AND conrelid <> confrelid AND conname <> 'ledger_book_head'"
    ):
        if table in refers and referred in refers:
            refers[table].add(referred)
    refers["ledger_transfer"] |= {"ledger_logentry", "ledger_account"}  # by a trigger, which no catalogue lists
    ordered: list[str] = []
    while len(ordered) < len(names):
        ordered.append(next(name for name in names if name not in ordered and refers[name] <= set(ordered)))
    return ordered


def _rows(database: psycopg.Connection, table: str) -> tuple[list[str], list[list[Value]]]:
    columns = database.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'"
        " AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position",
        [table],
    ).fetchall()
    selection = sql.SQL(", ").join(
        sql.SQL("{}" if kind == "bytea" else "{}::text").format(sql.Identifier(name)) for name, kind in columns
    )
    records = database.execute(sql.SQL("SELECT {} FROM {}").format(selection, sql.Identifier(table)))
    names = [name for name, _ in columns]
    rows = sorted(([_spelled(value) for value in row] for row in records), key=_by_number(table, names))
    return names, rows


NUMBERS: Final = {"ledger_logentry": ("book_id", "seq"), "tables_feedsheet": ("first",)}
"""By what rows are told apart that have no number of their own."""


def _by_number(table: str, names: Sequence[str]) -> Callable[[Sequence[Value]], tuple[int, ...]]:
    """In the order of their own numbers; entries of the log by their books' and theirs there."""
    places = [names.index(name) for name in NUMBERS.get(table, ("id",))]
    return lambda row: tuple(int(str(row[place])) for place in places)


def _spelled(value: str | bytes | None) -> Value:
    if not isinstance(value, bytes):
        return value
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return {"hex": value.hex()}
    return {"utf8": text} if text.isprintable() else {"hex": value.hex()}


def as_bytes(value: Value) -> bytes:
    """Bytes as the file spells them."""
    assert isinstance(value, dict)
    return value["utf8"].encode() if "utf8" in value else bytes.fromhex(value["hex"])


def documents(house: Kept) -> list[dict[str, Any]]:
    """What each entry says, in whichever format it was written."""
    books = {row["id"]: row["name"] for row in house.rows("ledger_book")}
    return [_document(row, books) for row in house.rows("ledger_logentry")]


def _document(row: Mapping[str, Value], books: Mapping[Value, Value]) -> dict[str, Any]:
    parts = spelling.read(str(row["subject"]), as_bytes(row["body"]))
    names = {"book": books[row["book_id"]], "subject": row["subject"], "kind": row["kind"]}
    return names | {"content": parts.content, "moves": parts.moves}


# --- into a database ---------------------------------------------------------------------------------------------


def load(owner: psycopg.Connection, house: Kept) -> None:
    """Copy every row in, as the owner of the tables, who migrates: the application may not write some of them as they
    are in the end, such as a book's head beside its first entry.

    No constraint and no trigger is switched off: the chain, the places of chips and the numbers of slips have to pass
    all that the database refuses, as a restored copy does. A head alone waits for the entries that it names.
    """
    with owner.transaction():
        copy_rows(owner, house)
        for table, (columns, _) in house.tables.items():
            if "id" in columns:
                _count_on(owner, table)


def copy_rows(database: psycopg.Connection, house: Kept) -> None:
    """Copy the rows of a saved site, in a transaction of the caller. Numbers of later rows are not reserved."""
    for table, (columns, rows) in house.tables.items():
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        copying = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
        with database.cursor().copy(copying) as copied:
            for row in rows:
                copied.write_row(_headless(columns, row) if table == "ledger_book" else list(map(_copied, row)))
    for book in house.rows("ledger_book"):
        if book["head_hash"] is not None:
            database.execute(
                "UPDATE ledger_book SET head_seq = %s, head_hash = %s WHERE id = %s",
                [book["head_seq"], as_bytes(book["head_hash"]), book["id"]],
            )


def _copied(value: Value) -> str | bytes | None:
    return value if not isinstance(value, dict) else "\\x" + as_bytes(value).hex()


def _headless(columns: Sequence[str], row: Sequence[Value]) -> list[str | bytes | None]:
    blank: Mapping[str, str | None] = {"head_seq": "0", "head_hash": None}
    return [blank[name] if name in blank else _copied(value) for name, value in zip(columns, row, strict=True)]


def _count_on(owner: psycopg.Connection, table: str) -> None:
    """The next row gets the number after the last."""
    owner.execute(
        sql.SQL(
            "SELECT setval(pg_get_serial_sequence({}, 'id'), last) FROM (SELECT max(id) AS last FROM {}) AS known"
            " WHERE last IS NOT NULL"
        ).format(sql.Literal(table), sql.Identifier(table))
    )


# --- a house that goes on ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Carried:
    """A kept house in a database of its own, migrated to the present, with its commands."""

    kept: Kept
    name: str
    folder: Path
    bundle: Path
    """What an auditor got of its days then."""

    def url(self, role: str) -> str:
        return SERVERS.database_url(role, self.name)

    @property
    def environment(self) -> dict[str, str]:
        """What a command of this house finds around it."""
        ours = re.compile("CASINO_|PYTEST_|TEST_CLOCK|TIME_ZONE")
        return {name: value for name, value in os.environ.items() if not ours.match(name)} | {
            "DJANGO_SETTINGS_MODULE": "casino.settings",
            "DATABASE_URL": self.url(APPLICATION),
            "DATABASE_OWNER_URL": self.url(OWNER),
            "REDIS_URL": settings.REDIS_URL,
            "SECRET_KEY": settings.SECRET_KEY,
            "AUDIT_KEY_FILE": str(self.folder / "audit.pem"),
            "PEPPER_FILE": str(self.folder / "pepper"),
            "CASINO_ENV": "demo",
        }

    def ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        """What `manage.py` says, and with which code it ends."""
        return self.run("manage.py", *command)

    def run(self, *program: str) -> subprocess.CompletedProcess[str]:
        """The same of another program."""
        command = [sys.executable, *program]
        return subprocess.run(
            command, env=self.environment, cwd=BASE_DIR, capture_output=True, text=True, check=False, timeout=200
        )

    def tell(self, *command: str) -> str:
        """What `manage.py` says, and it ends well."""
        return self.output("manage.py", *command)

    def output(self, *program: str) -> str:
        """What a program writes that ends well."""
        answer = self.run(*program)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    @contextmanager
    def copy(self) -> Iterator[Carried]:
        """The same house once more, to be changed."""
        twin = replace(self, name=f"{self.name}_copy")
        with database(twin.name, self.name):
            yield twin


@contextmanager
def put_back(path: Path, folder: Path) -> Iterator[Carried]:
    """A house from its file: at the migrations of its release, then migrated as an upgrade does."""
    house = read(path)
    carried = Carried(
        house, f"test_{os.getpid()}_carried", folder, path.with_name(path.name.replace(".jsonl.gz", ".zip"))
    )
    for name, text in house.header["files"].items():
        (folder / name).touch(0o600)
        (folder / name).write_text(text)
    with database(carried.name):
        carried.output("-m", "tests.replay", *(f"{app}={name}" for app, name in house.header["migrations"].items()))
        with psycopg.connect(carried.url(OWNER)) as owner:
            load(owner, house)
        carried.output("-m", "tests.carried.upgrade")
        yield carried
