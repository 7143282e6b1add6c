"""`python -m casino.demo.recorder [--check]`: records the demo's two weeks, as they are dealt in a new site.

With --check it compares the stored recording with a new one. All randomness is seeded, also the operating system's,
and the days are fixed: two runs give equal bytes.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from casino.embedded import servers

LEFT_OUT: Final = (
    "django_migrations", "django_content_type", "auth_permission", "ledger_logentry", "ledger_transfer",
    "ledger_bookroot", "ledger_dayroot",
)  # fmt: skip
"""Tables left out: filled by migrations, by entries, or by each site itself."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m casino.demo.recorder", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if dealing gives another")
    options = parser.parse_args()
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "TIME_ZONE"):
        os.environ.pop(name, None)
    os.environ |= {"DJANGO_SETTINGS_MODULE": "casino.settings", "ARGON2_MEMORY_MIB": "8"}
    with tempfile.TemporaryDirectory() as folder, servers.provide(within=Path(folder)) as house:
        os.environ |= house.environment() | known_keys(Path(folder))
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=servers.BASE_DIR, check=True)
        text = dealt(lambda line: print(line, flush=True))
    return _check(text) if options.check else _keep(text)


def known_keys(folder: Path) -> dict[str, str]:
    """The environment that names keys which are the same in every recording: log entries hold digests of one-time codes
    that are sealed with them. No site uses them."""
    pepper = folder / "known-pepper"
    pepper.write_text(base64.b64encode(bytes(32)).decode())
    pepper.chmod(0o600)
    return {"SECRET_KEY": "of a recording", "PEPPER_FILE": str(pepper)}


def dealt(say: Callable[[str], None]) -> str:
    """The recording of a site that is dealt here, in the empty database that the settings name."""
    import django

    django.setup()
    from casino.demo import recording, site_history

    _compile()
    with seeded_chance(recording.SEED):
        site_history.deal(recording.days(), recording.SEED, say)
    return "".join(f"{_spelled(line)}\n" for line in lines())


def _compile() -> None:
    """Compile the valuation of games before chance is seeded. The compiler draws random file names for its cache, so a
    recording would depend on whether an earlier process had filled it."""
    from tables.maths import providers

    for game in providers.SLOW:
        providers.full_shoe(game, providers.rules_type(game)())


def _keep(text: str) -> int:
    from casino.demo import recording

    recording.write(text)
    print(f"{recording.FILE.name}: {len(text):,} characters in {recording.FILE.stat().st_size:,} bytes")
    return 0


def _check(text: str) -> int:
    from casino.demo import recording

    is_same = recording.digest(text.encode()) == recording.stamp().content
    message = (
        "is what dealing gives" if is_same else f"is not what dealing gives now: make it again (`{recording.MAKE}`)"
    )
    print(f"{recording.FILE.name} {message}")
    return 0 if is_same else 1


@contextmanager
def seeded_chance(seed: int) -> Iterator[None]:
    """Replace all randomness, also the operating system's, by a seeded generator.

    For a recording only: it has no secrets.
    """
    chance = random.Random(seed)  # noqa: S311
    real = os.urandom, random._urandom  # type: ignore[attr-defined]
    os.urandom = random._urandom = chance.randbytes  # type: ignore[attr-defined]
    try:
        yield
    finally:
        os.urandom, random._urandom = real  # type: ignore[attr-defined]


# --- The lines of a recording ----------------------------------------------------------------------------------


def _spelled(line: Any) -> str:
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def lines() -> Iterator[Any]:
    """The content of the database in loading order: the header, rows, entries, and the seals of days."""
    from django.db import connection

    from casino.demo import recording

    with connection.cursor() as cursor:
        marks = _marks(cursor)
        entries, kinds = _entries(cursor, marks)
        alone, of_entries = _tables(cursor)
        yield recording.Header(
            recording.FORMAT,
            recording.FIRST_DAY.isoformat(),
            sorted(alone + of_entries),
            sorted(kinds),
            _slips(cursor),
        )._asdict()
        for table in alone:
            yield _rows(cursor, table, marks)
        waiting = {table: _rows_of_entries(cursor, table, marks) for table in of_entries}
    written: set[tuple[int, int]] = set()
    for entry in entries:
        if entry[0] == "seal":
            yield from _ready(waiting, written)
        else:
            written.add((entry[1], entry.pop(2)))
        yield entry
    yield from _ready(waiting, written)


def _marks(cursor: Any) -> dict[str, str]:
    """The values that differ at another site or time, with the placeholders that the recording has for them.

    They are hashes of entries, digests of rows, the site's key, and the hashes and digests of people's secrets.
    """
    from ledger.findings import JOURNALS
    from ledger.site_log import digest_of
    from tables.audit import keys
    from tables.models import Staff
    from tables.models.staff import SECRETS

    marks = {str(keys.published_key()): "{{key}}"}
    cursor.execute("SELECT encode(hash, 'hex'), book_id, seq FROM ledger_logentry")
    marks |= {digest: f"{{{{hash {book} {seq}}}}}" for digest, book, seq in cursor.fetchall()}
    for journal in JOURNALS:
        cursor.execute(f"SELECT r.id, {journal.row} FROM {journal.table} AS r")  # noqa: S608
        for number, row in cursor.fetchall():
            digests = {name: value for name, value in json.loads(row).items() if name.endswith("_sha256")}
            marks |= {value: f"{{{{row {journal.table} {number} {name}}}}}" for name, value in digests.items()}
    for staff in Staff.objects.order_by("pk"):
        for secret in SECRETS:
            kept = getattr(staff, secret)
            marks[kept] = f"{{{{kept {staff.username} {secret}}}}}"
            marks[digest_of(kept)] = f"{{{{digest {staff.username} {secret}}}}}"
    return marks


_MARKED: Final = re.compile(r"\b[0-9a-f]{64}\b|peppered\$[0-9a-f]+\$[A-Za-z0-9+/=]+")


def _with_marks(text: str, marks: dict[str, str]) -> str:
    return _MARKED.sub(lambda found: marks.get(found[0], found[0]), text)


# --- Rows ------------------------------------------------------------------------------------------------------


def _tables(cursor: Any) -> tuple[list[str], list[str]]:
    """The tables with rows: those without references to entries, and those with."""
    cursor.execute(
        "SELECT relname, EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = t.oid"
        " AND c.confrelid = 'ledger_logentry'::regclass) FROM pg_class AS t WHERE relkind = 'r'"
        " AND relnamespace = current_schema()::regnamespace AND relname <> ALL(%s) ORDER BY relname",
        [list(LEFT_OUT)],
    )
    tables: tuple[list[str], list[str]] = ([], [])
    for name, names_entries in cursor.fetchall():
        cursor.execute(f'SELECT EXISTS (SELECT FROM "{name}")')  # noqa: S608
        if cursor.fetchone()[0]:
            tables[names_entries].append(name)
    return tables


def _rows(cursor: Any, table: str, marks: dict[str, str]) -> list[Any]:
    """A table as a line of the recording, with its columns and its rows as COPY spells them.

    Logs are recorded without their heads.
    """
    cursor.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " ORDER BY attname <> 'id', attname",
        [table],
    )
    columns = [name for (name,) in cursor.fetchall()]
    values = ", ".join({"head_seq": "0", "head_hash": "NULL"}.get(name, f'"{name}"') for name in columns)
    query = f'COPY (SELECT {values} FROM "{table}" ORDER BY 1) TO STDOUT'  # noqa: S608
    with cursor.copy(query) as copy:
        rows = b"".join(copy).decode()
    return ["rows", table, columns, _with_marks(rows, marks).splitlines()]


def _rows_of_entries(cursor: Any, table: str, marks: dict[str, str]) -> list[tuple[tuple[int, int], list[Any]]]:
    """The lines of a table whose rows name entries, one for each row, each with its entry."""
    _, _, columns, rows = _rows(cursor, table, marks)
    places = [columns.index(name) for name in ("book_id", "seq")]
    split = [row.split("\t") for row in rows]
    return [((int(row[places[0]]), int(row[places[1]])), ["rows", table, columns, ["\t".join(row)]]) for row in split]


def _ready(
    waiting: dict[str, list[tuple[tuple[int, int], list[Any]]]], written: set[tuple[int, int]]
) -> Iterator[list[Any]]:
    """The rows whose entries are written by now, one line for each table."""
    for table, rows in waiting.items():
        ready = [line for place, line in rows if place in written]
        waiting[table] = [(place, line) for place, line in rows if place not in written]
        if ready:
            yield ["rows", table, ready[0][2], [row for line in ready for row in line[3]]]


def _slips(cursor: Any) -> list[tuple[str, int, str]]:
    """Of each slip, when it was begun: in another year it has another number."""
    from ledger.proof.spelling import timestamp

    cursor.execute(
        "SELECT s.series, s.number, e.at FROM ledger_slip AS s JOIN ledger_logentry AS e USING (book_id, seq)"
        " ORDER BY s.series, s.number"
    )
    return [(series, number, timestamp(moment)) for series, number, moment in cursor.fetchall()]


# --- Entries ---------------------------------------------------------------------------------------------------


def _entries(cursor: Any, marks: dict[str, str]) -> tuple[list[list[Any]], set[str]]:
    """Every entry in the order in which they were written, and the names of what they are read as. That order is the
    order of transactions: dealing writes with one connection."""
    from ledger.models import Book
    from ledger.proof import spelling
    from tables.log.catalog import AT_TABLES, IN_THE_HOUSE

    house = Book.objects.site().pk
    cursor.execute(
        "SELECT book_id, seq, at, subject, kind, round, by, key, body FROM ledger_logentry"
        " ORDER BY xmin::text::bigint, book_id, seq"
    )
    entries: list[list[Any]] = []
    kinds: set[str] = set()
    for book, seq, at, subject, kind, round_, by, key, body in cursor.fetchall():
        kinds.add((IN_THE_HOUSE if book == house else AT_TABLES)[subject, kind].__name__)
        parts, moment = spelling.read(subject, bytes(body)), spelling.timestamp(at)
        if (subject, kind) == ("day", "sealed"):
            entries.append(["seal", parts.content["document"]["day"], moment, seq])
            continue
        content = json.loads(_with_marks(_spelled(parts.content), marks))
        if (subject, kind) in (("day", "proposed"), ("day", "closed")):
            content["digest"] = "{{figures}}"
        place = [book, seq, moment, subject, kind, round_, by, str(key) if key else None]
        entries.append(["entry", *place, content, parts.moves])
    return entries, kinds


if __name__ == "__main__":
    sys.exit(main())
