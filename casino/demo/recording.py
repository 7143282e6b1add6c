"""The recording of the demo's two weeks: the file in the repository, its digest, and the stamp of its sources.

It is JSON lines in the order in which a site wrote them: rows of tables as COPY has them, log entries without their
hashes, and the moments at which days were sealed. Values specific to a site are placeholders in double braces. Days
and slips have their recorded dates, and are moved when it is loaded (``playback.py``).
"""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Iterator
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.apps import apps

from tables.games.catalog import GAMES
from tables.log.catalog import AT_TABLES, IN_THE_HOUSE
from tables.log.digest import rules_version
from tables.management.commands import seed_demo

HERE: Final = Path(__file__).resolve().parent
FILE: Final = HERE / "fortnight.jsonl.gz"
STAMP: Final = HERE / "fortnight.stamp.json"
FORMAT: Final = "demo-recording/1"
FIRST_DAY: Final = date(2026, 1, 5)
"""The first gaming day that the recording is made for: far from the end of a year, and none in which clocks change."""
DAYS: Final = 14
SEED: Final = 1
MAKE: Final = "python -m casino.demo.recorder"
SOURCES: Final = ("founding", "history", "dealer", "people", "incidents", "roulette", "more_tables")
"""The modules that determine the events of the two weeks."""
FACTS: Final = (
    "FILL", "CHIPS", "TABLES", "SERIES_NAME", "DELIVERED", "WITHDRAWN", "SOLD_CENTS", "BETS_IN_A_RACK",
    "MOST_PIECES", "TERMINALS",
)  # fmt: skip
"""The setup of the demo's site, in addition to its staff."""


class Damaged(Exception):
    """The recording is not the one in the repository; the message has the remedy."""


class Stamp(NamedTuple):
    """The digests that are stored with the recording."""

    file: str
    """SHA-256 of the file, in hex."""
    content: str
    """SHA-256 of its text, in hex. The file itself differs between versions of the compressing library."""
    sources: str
    """SHA-256 of the sources from which its content follows, in hex."""


def days() -> list[date]:
    """The gaming days that the recording is made for."""
    return [FIRST_DAY + timedelta(days=number) for number in range(DAYS)]


def is_for(days: int, seed: int) -> bool:
    """Whether the recording has the requested history."""
    return (days, seed) == (DAYS, SEED)


def read() -> str:
    """The text of the recording. Raises Damaged where a byte of it was changed."""
    packed = FILE.read_bytes()
    if digest(packed) != stamp().file:
        raise Damaged(
            f"{FILE.name} is not the recording that ships with this version. Restore the file, or make it again"
            f" (`{MAKE}`). `./run demo --deal` does without it."
        )
    return gzip.decompress(packed).decode()


def write(text: str) -> None:
    """Keep a recording, with its stamp."""
    packed = gzip.compress(text.encode(), mtime=0)
    FILE.write_bytes(packed)
    stamp = Stamp(digest(packed), digest(text.encode()), sources(Header.of(text)))
    STAMP.write_text(json.dumps(stamp._asdict(), indent=1) + "\n")


def stamp() -> Stamp:
    """The stamp of the recording that ships."""
    return Stamp(**json.loads(STAMP.read_text()))


def digest(content: bytes) -> str:
    """SHA-256, in hex."""
    return sha256(content).hexdigest()


class Header(NamedTuple):
    """The first line of a recording."""

    format: str
    first_day: str
    tables: list[str]
    """The tables of the database that it has rows of."""
    kinds: list[str]
    """The names of the structs that its log entries are read as."""
    slips: list[tuple[str, int, str]]
    """Series, number and moment of every slip, in the order of their numbers."""

    @classmethod
    def of(cls, text: str) -> Header:
        """The header of a recording. Raises Damaged where it has another format."""
        header = cls(**json.loads(text.partition("\n")[0]))
        if header.format != FORMAT:
            raise Damaged(f"{FILE.name} has the format {header.format}; this version reads {FORMAT}.")
        return header


# --- What the content follows from -----------------------------------------------------------------------------


def sources(header: Header) -> str:
    """SHA-256, in hex, of everything that the content of the recording follows from.

    It covers the statements that deal it, the setup of its site, the rules of its games, the columns of its rows and
    the fields of its log entries. Comments, docstrings and all other modules are left out, so a change of those leaves
    the recording valid.
    """
    models = apps.get_models(include_auto_created=True)
    structs = {kind.__name__: kind for kind in (*AT_TABLES.values(), *IN_THE_HOUSE.values())}
    facts = {
        "dealing": {name: _statements((HERE / f"{name}.py").read_text()) for name in SOURCES},
        "facts": {name: repr(getattr(seed_demo, name)) for name in FACTS},
        "staff": [repr(login._replace(pin=None)) for login in (seed_demo.OPERATOR, seed_demo.SECOND, *seed_demo.STAFF)],
        "rules": {terms.game: rules_version(GAMES[terms.game]) for terms in seed_demo.TABLES.values()},
        "columns": {model._meta.db_table: _columns(model) for model in models if model._meta.db_table in header.tables},
        "entries": {name: structs[name].__struct_fields__ for name in header.kinds},
    }
    return digest(json.dumps(facts, sort_keys=True).encode())


def _columns(model: Any) -> list[str]:
    return [str(field.column) for field in model._meta.local_concrete_fields]


def _statements(source: str) -> list[str]:
    """The lines of a module without docstrings, comments and blank lines.

    Lines and not the syntax tree, which differs between versions of Python.
    """
    silent = set(_docstring_lines(ast.parse(source)))
    lines = [line.partition("  # ")[0].rstrip() for line in source.splitlines()]
    return [line for number, line in enumerate(lines, 1) if line and number not in silent and line.lstrip()[:1] != "#"]


def _docstring_lines(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
