"""Playback of the recording of the demo's two weeks.

Its days become the most recent ones, and its entries are sealed again in order by the log's own code, with this site's
key and this site's hashes of secrets. Every row and entry passes the guards of the database. Days are sealed at the
same moments and positions as in the recording.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, Final
from uuid import UUID

import psycopg
from django.conf import settings
from django.contrib.auth import hashers
from django.db import connection, transaction
from django.utils import timezone

from casino.demo import clock, founding, history, recording
from casino.demo.people import People
from ledger import log
from ledger.batch import Batch
from ledger.findings import JOURNALS
from ledger.log import Draft
from ledger.models import Book
from ledger.models.slips import SERIES
from ledger.proof import seals
from ledger.proof.moves import Move
from ledger.proof.slip_name import SlipName
from ledger.site_log import digest_of
from tables import pepper
from tables.audit import day_seals, keys
from tables.management.commands import seed_demo
from tables.models import Staff
from tables.models.staff import PASSWORD, PIN
from tables.reports import day_close, gaming_hours

_MOMENT: Final = r"(?<![0-9a-f-])(\d{4}-\d\d-\d\d)(?:([T ])(\d\d:\d\d)(?=:\d\d| UTC))?"
_SLIP: Final = rf"({'|'.join(sorted(SERIES, key=len, reverse=True))})/\d{{4}}/(\d+)\b"
_OWN: Final = r"\{\{((?:kept|digest) \w+ \w+|key)\}\}"
_MOVING: Final = re.compile(rf"{_MOMENT}|{_SLIP}|{_OWN}")
_DERIVED: Final = re.compile(r"\{\{(row|hash) ([^}]+)\}\}")


def load(days: Sequence[date], *, through: datetime) -> None:
    """Load the recording into an empty site with these days, and let the hours since then pass.

    Raises Damaged, with nothing loaded.
    """
    text = recording.read()
    header = recording.Header.of(text)
    founding.make_key()
    with clock.set_back(gaming_hours.span(days[0]).start) as present:
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = off")
        moved = MovedText(date.fromisoformat(header.first_day), days[0], header.slips, _own())
        with transaction.atomic():
            _Loader(present, moved).load(moved.text(text.partition("\n")[2]).splitlines())
        _count_on(header.tables)
        keys.publish()
        history.pass_until(present, People(random.Random()), through)  # noqa: S311 -- keys of inputs
    connection.close()


def _count_on(tables: Sequence[str]) -> None:
    """Set the sequences of the loaded tables after their last rows. Only the owner of the database may."""
    with psycopg.connect(settings.DATABASE_OWNER_URL, autocommit=True) as owner:
        for (table,) in owner.execute(_COUNTED, [list(tables)]).fetchall():
            owner.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"  # noqa: S608
            )


_COUNTED: Final = """SELECT table_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name = 'id' AND is_identity = 'YES' AND table_name = ANY(%s)"""


# --- Other days, slips and secrets -----------------------------------------------------------------------------


class MovedText:
    """The recording's text as it reads at this site, with these days in place of its own."""

    def __init__(self, first: date, new_first: date, slips: Sequence[Sequence[Any]], own: Mapping[str, str]) -> None:
        self._first, self._new_first, self._own = first, new_first, own
        self._start = datetime.combine(first, gaming_hours.default().day_starts, UTC)
        self._seen: dict[str, str] = {}
        self._starts: dict[int, datetime] = {}
        self.slips = self._numbered(slips)

    def text(self, text: str) -> str:
        """A text with every day, moment, slip and secret moved."""
        return _MOVING.sub(self._moved, text)

    def _moved(self, found: re.Match[str]) -> str:
        day, separator, minute, series, number, mark = found.groups()
        if day:
            return self._of_day(date.fromisoformat(day)) if minute is None else self._of_minute(day, separator, minute)
        if series:
            name = self.slips.get((series, int(number)))
            return found[0] if name is None else str(name)
        return self._own[mark]

    def _of_day(self, day: date) -> str:
        return (self._new_first + (day - self._first)).isoformat()

    def _of_minute(self, day: str, separator: str, minute: str) -> str:
        text = f"{day}{separator}{minute}"
        if text not in self._seen:
            moment = self.moment(datetime.fromisoformat(f"{day}T{minute}+00:00"))
            self._seen[text] = f"{moment:%Y-%m-%d}{separator}{moment:%H:%M}"
        return self._seen[text]

    def moment(self, moment: datetime) -> datetime:
        """The moment as long after the start of its gaming day as it was: where clocks change, a day stays whole."""
        day, since = divmod(moment - self._start, timedelta(days=1))
        if day not in self._starts:
            self._starts[day] = gaming_hours.span(self._new_first + timedelta(days=day)).start
        return self._starts[day] + since

    def _numbered(self, slips: Sequence[Sequence[Any]]) -> dict[tuple[str, int], SlipName]:
        """The names of the slips: each series counts from one in each year."""
        names: dict[tuple[str, int], SlipName] = {}
        last: dict[tuple[str, int], int] = defaultdict(int)
        for series, number, begun in slips:
            year = timezone.localtime(self.moment(datetime.fromisoformat(begun))).year
            last[series, year] += 1
            names[series, number] = SlipName(series, year, last[series, year])
        return names


def _own() -> dict[str, str]:
    """The values of this site for the placeholders of the recording.

    They are its key, the sealed hashes of all PINs and passwords, and the digests of these in the log.
    """
    own = {"key": seals.public_of(keys.the_key())}
    for login in seed_demo.STAFF:
        for secret, typed in ((PASSWORD, seed_demo.PASSWORD), (PIN, login.pin)):
            owner = Staff(username=login.username).owner_of(secret)
            sealed = pepper.seal(hashers.make_password(typed), owner) if typed else ""
            own[f"kept {login.username} {secret}"] = sealed
            own[f"digest {login.username} {secret}"] = digest_of(sealed)
    return own


# --- Rows, entries and seals -----------------------------------------------------------------------------------


@dataclass
class _Loader:
    """Loads the lines of a recording, one after the other."""

    clock: clock.Clock
    moved: MovedText
    hashes: dict[str, str] = field(default_factory=dict)
    """Hashes of the loaded entries, by log and number."""
    journal: dict[str, str] = field(default_factory=dict)
    """Digests that entries tell of rows, by table, row and name."""
    batch: Batch | None = None

    @cached_property
    def house(self) -> int:
        """The id of the site's log."""
        return Book.objects.site().pk

    def load(self, lines: Sequence[str]) -> None:
        for line in lines:
            kind, *parts = json.loads(_DERIVED.sub(self._derived, line))
            if kind == "rows":
                self._rows(*parts)
            elif kind == "entry":
                self._entry(*parts)
            else:
                self._seal(*parts)
        self._flush()

    def _derived(self, found: re.Match[str]) -> str:
        """The value of a placeholder that follows from rows and entries loaded before."""
        if found[1] == "hash":
            return self.hashes[found[2]]
        table, number, name = found[2].split()
        if table not in self.journal:
            self.journal |= _digests_of(table)
            self.journal[table] = ""
        return self.journal[f"{table} {number} {name}"]

    # --- rows

    def _rows(self, table: str, columns: list[str], rows: list[str]) -> None:
        self._flush()
        if "year" in columns:
            rows = [self._of_another_year(columns, row.split("\t")) for row in rows]
        names = ", ".join(f'"{name}"' for name in columns)
        with connection.cursor() as cursor:
            if table in _OPENED_BY_ANYBODY:
                with cursor.copy(f'COPY (SELECT {names} FROM "{table}") TO STDOUT') as copy:  # noqa: S608
                    present = set(b"".join(copy).decode().splitlines())
                rows = [row for row in rows if row not in present]
            with cursor.copy(f'COPY "{table}" ({names}) FROM STDIN') as copy:
                copy.write("".join(f"{row}\n" for row in rows).encode())

    def _of_another_year(self, columns: list[str], values: list[str]) -> str:
        """A row with the number that its slip has in another year; a series of chips has the year alone."""
        row = dict(zip(columns, values, strict=True))
        if "number" in row:
            name = self.moved.slips[row["series"], int(row["number"])]
            previous = str(name.number - 1) if name.number > 1 else "\\N"
            row |= {"year": str(name.year), "number": str(name.number), "previous": previous}
        else:
            row["year"] = str(_year(self.clock.moment))
        return "\t".join(row.values())

    # --- entries

    def _entry(
        self, book: int, at: str, subject: str, kind: str, round_: int | None, by: str, key: str | None,
        content: dict[str, Any], moves: list[list[Any]],
    ) -> None:  # fmt: skip
        if self.batch is None:
            self.batch = Batch(Book.objects.order_by("pk").values_list("pk", flat=True))
        moment = datetime.fromisoformat(at)
        if subject in _WITH_YEARS:
            self._move_years(content, moment)
        if content.get("digest") == "{{figures}}":
            money = content["cash"], content["cash_by_shift"]
            content["digest"] = day_close.digest_of(content["day"], content["figures"], *money)
        draft = Draft(subject, kind, by, content, round=round_, key=UUID(key) if key else None, at=moment)
        head = self.batch.add(book, draft, [_move(*move) for move in moves])
        assert head.hash is not None  # noqa: S101 -- it has an entry
        self.hashes[f"{book} {head.seq}"] = head.hash.hex()

    def _move_years(self, value: Any, moment: datetime) -> None:
        """Slips, which count anew in each year, and the year of a series of chips."""
        if isinstance(value, list):
            for item in value:
                self._move_years(item, moment)
        elif isinstance(value, dict) and {"series", "number", "year"} <= value.keys():
            name = self.moved.slips[value["series"], value["number"]]
            value |= {"number": name.number, "year": name.year}
        elif isinstance(value, dict):
            if "year" in value:
                value["year"] = _year(moment)
            for member in value.values():
                self._move_years(member, moment)

    def _seal(self, day: str, at: str, seq: int) -> None:
        """Seal a day as the scheduled check does. Raises Damaged unless its entry has its recorded number."""
        self._flush()
        self.clock.stand(datetime.fromisoformat(at))
        day_seals.seal(date.fromisoformat(day))
        if log.read_head(self.house).seq != seq:
            raise recording.Damaged(f"The seal of {day} is not entry {seq}: make the recording again.")

    def _flush(self) -> None:
        if self.batch is not None:
            self.clock.stand(max(head.at for head in self.batch.heads.values() if head.at))
            self.batch.write()
            self.batch = None


_OPENED_BY_ANYBODY: Final = ("ledger_book", "ledger_account")
"""The site's log and its accounts are created by the first process that needs them, so they may exist already."""
_WITH_YEARS: Final = ("slip", "chip_series")
"""The subjects of entries that contain a year."""


def _year(moment: datetime) -> int:
    return timezone.localtime(moment).year


def _move(kind: str, source: str, target: str, cents: int, reverses: int | None) -> Move:
    """A movement, as entries spell it."""
    (start, _, giver), (end, _, taker) = source.partition("#"), target.partition("#")
    return Move(kind, int(giver), start, int(taker), end, cents, reverses)


def _digests_of(table: str) -> dict[str, str]:
    """The digests of a table's rows that entries record, by placeholder."""
    [journal] = [journal for journal in JOURNALS if journal.table == table]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT r.id, {journal.row} FROM {table} AS r")  # noqa: S608
        rows = [(number, json.loads(row)) for number, row in cursor.fetchall()]
    return {f"{table} {number} {name}": str(value) for number, row in rows for name, value in row.items()}
