"""A house that was made ready a moment ago is put back by its rows: its making takes two hundred statements.

Nothing is invented: the rows are those that the house wrote when it was made ready for an earlier test, through the
same functions as on the floor. They are put back only where nobody could tell: into an empty database, with the
settings and the clocks as they are, and within two minutes: a house of two and a half is late with its watch. Where a
test's clocks stand, the house is one of that moment.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

from django.conf import Settings, settings
from django.db import connection, transaction
from django.utils import timezone
from psycopg import sql

from tables.floor import command_context
from tables.state import table_state
from tests import clock
from tests.database import MIGRATED

P = ParamSpec("P")
T = TypeVar("T")
FRESH_SECONDS: Final = 120
"""Less than the patience of the watch's shortest plan (``ledger.runs.WatchPlan.patience``: 150 seconds)."""
NOW: Final = timezone.now
EMPTY: Final = " AND ".join(
    f"NOT EXISTS (SELECT FROM {table})"
    for table in ("ledger_book", "tables_staff", "tables_denomination", "tables_terminal")
)


@dataclass
class House:
    """What making it ready gave back, and what it left in the database."""

    outcome: Any
    """As the function that makes it ready returned it; each test gets a copy of its own."""
    script: str
    """One statement after the other, which writes every row of it."""
    standings: dict[int, Any]
    ready_at: float = field(default_factory=time.monotonic)


beside_processes = False
"""Whether the running test uses a web process or a worker: these processes cache books by number."""
_houses: Final[dict[str, House]] = {}
_columns: Final[dict[str, list[str]]] = {}


def ready_made(make: Callable[P, T]) -> Callable[P, T]:
    """Decorate a fixture, below `@pytest.fixture`, or a function of simple values: the next test gets its rows again.

    The function must neither set a clock nor keep state outside the database.
    """

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        if not _nobody_could_tell():
            return make(*args, **kwargs)
        moment = clock.stands_at()
        key = f"{make.__module__}.{make.__name__} {args} {kwargs} {moment}"
        house = _houses.get(key)
        if house and (moment or time.monotonic() - house.ready_at < FRESH_SECONDS):
            return cast(T, put_back(house))
        outcome = make(*args, **kwargs)
        _houses[key] = keep(outcome)
        return outcome

    return made


def keep(outcome: Any) -> House:
    """Keep all rows of the database and the outcome of the function that wrote them."""
    standings = {book: table_state.cache.newest(book) for book in table_state.cache.items}
    return House(copy.deepcopy(outcome), _script(), standings)


def _nobody_could_tell() -> bool:
    if beside_processes or type(settings._wrapped) is not Settings:
        return False
    if (timezone.now is not NOW or clock.is_set()) and not clock.stands_at():
        return False
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {EMPTY}")
        return bool(cursor.fetchone()[0])


def put_back(house: House) -> Any:
    """Write its rows into an empty database, and return a copy of the outcome."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(house.script)
    outcome = copy.deepcopy(house.outcome)
    # What this process keeps of a book by its number is of another test's house, which had the same number.
    table_state.cache.clear()
    command_context.accounts.cache_clear()
    for book, newest in house.standings.items():
        table_state.cache.put(book, newest)
    return outcome


# --- rows as a script -------------------------------------------------------------------------------------------


def _script() -> str:
    """Statements that write every row that is there, in an order in which none refers to a later one."""
    with connection.cursor() as cursor:
        inserts = [_insert(cursor, table) for table in _in_order(cursor)]
        heads = _heads(cursor)
    return "\n".join([*filter(None, inserts), heads])


def _in_order(cursor: Any) -> list[str]:
    cursor.execute(
        "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        " AND relname <> ALL (%s) ORDER BY 1",
        [["django_migrations", *MIGRATED]],
    )
    names = [name for (name,) in cursor.fetchall()]
    cursor.execute(
        "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint"
        " WHERE contype = 'f' AND conrelid <> confrelid AND conname <> 'ledger_book_head'"
    )
    refers: dict[str, set[str]] = {name: set() for name in names}
    for table, referred in cursor.fetchall():
        if table in refers and referred in refers:
            refers[table].add(referred)
    ordered: list[str] = []
    while len(ordered) < len(names):
        ordered.append(next(name for name in names if name not in ordered and refers[name] <= set(ordered)))
    return ordered


def _insert(cursor: Any, table: str) -> str:
    """A value is as PostgreSQL spells it. A book begins without a head, as its entries come after it."""
    if table not in _columns:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = %s"
            " AND is_generated = 'NEVER' ORDER BY ordinal_position",
            [table],
        )
        _columns[table] = [name for (name,) in cursor.fetchall()]
    columns = _columns[table]
    names = ", ".join(f'"{name}"' for name in columns)
    headless = {"head_seq": "'0'", "head_hash": "NULL"} if table == "ledger_book" else {}
    texts = ", ".join(headless.get(name, f'"{name}"::text') for name in columns)
    cursor.execute(f"SELECT {texts} FROM {table} ORDER BY {'id' if 'id' in columns else '1'}")
    if not (rows := cursor.fetchall()):
        return ""
    values = ",\n".join(f"({', '.join(map(_literal, row))})" for row in rows)
    return f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE VALUES {values};"


def _heads(cursor: Any) -> str:
    cursor.execute("SELECT id::text, head_seq::text, head_hash::text FROM ledger_book WHERE head_hash IS NOT NULL")
    return "\n".join(
        f"UPDATE ledger_book SET head_seq = {seq}, head_hash = {_literal(digest)} WHERE id = {book};"
        for book, seq, digest in cursor.fetchall()
    )


def _literal(value: str | None) -> str:
    return sql.Literal(value).as_string(connection.connection)
