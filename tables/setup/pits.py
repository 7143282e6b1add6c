"""Pits and their sections: the tables of each, in order. Rows are never changed, and each has its log entry.

A table is in at most one section; at a site without pits all tables are in none. Set a section by
``set_section(PitSectionSet(pit="Pit 1", section="A", tables=("Rocket 1", "Rocket 2")), by=operator)``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction

from ledger import site_log
from ledger.proof.chain import Entry
from tables.log.entries.pits import PitSectionSet
from tables.models import PitSection, Staff, Table
from tables.projections import site_rows
from tables.refusals import Faults, refuse_faults

Natural = tuple[tuple[int, str], ...]
LONGEST: Final = 40
_PARTS: Final = re.compile(r"(\d+)")


def natural(name: str) -> Natural:
    """A key that sorts names as people do: Rocket 2 before Rocket 10."""
    parts = _PARTS.split(name.casefold())
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts if part)


@dataclass(frozen=True, slots=True)
class TablePlace:
    """The pit and the section of a table."""

    pit: str = ""
    section: str = ""
    rank: int = 0
    """Position among the tables listed first in the section; the others follow by name."""

    def order(self, table: str) -> tuple[bool, Natural, Natural, int, Natural]:
        """Sort key of a table by pit and section; tables in no pit come last."""
        return (not self.pit, natural(self.pit), natural(self.section), self.rank, natural(table))


NOWHERE: Final = TablePlace()


def sections(through_seq: int | None = None, moment: datetime | None = None) -> list[PitSection]:
    """The sections with tables, as of an entry of the site's log or of a moment."""
    rows = PitSection.objects.order_by("pit", "section", "-seq").distinct("pit", "section")
    rows = rows if through_seq is None else rows.filter(seq__lte=through_seq)
    rows = rows if moment is None else rows.filter(at__lte=moment)
    current = [row for row in rows if row.tables]
    return sorted(current, key=lambda row: (natural(row.pit), natural(row.section)))


def places(through_seq: int | None = None) -> dict[str, TablePlace]:
    """The place of every table that is in a pit, by name, as of an entry of the site's log."""
    return {
        name: TablePlace(row.pit, row.section, row.first.index(name) if name in row.first else len(row.first))
        for row in sections(through_seq)
        for name in row.tables
    }


def set_section(event: PitSectionSet, *, by: Staff) -> PitSection:
    """Set the tables of a section of a pit; without tables the section ends. Raises Refused."""
    by.require("tables.add_pitsection", "Only an operator sets which tables stand in a pit.")
    with transaction.atomic():
        head = site_log.lock()
        refuse_faults("bad_pit", faults(event))
        # The lock comes before the faults are sought: two operators could otherwise put one table into two sections.
        return site_rows.PIT_SECTIONS.append(head, event, by.signature)


def faults(event: PitSectionSet, before_seq: int | None = None) -> Faults:
    """The faults of a section to be set, by field."""
    wrong: Faults = {}
    if not event.pit or not _is_name(event.pit):
        wrong["pit"] = f"A pit's name has 1 to {LONGEST} characters, and no space before or after it."
    if not _is_name(event.section):
        wrong["section"] = f"A section's name has at most {LONGEST} characters, and no space before or after it."
    present = sections(None if before_seq is None else before_seq - 1)
    if sentence := _tables_fault(event, present):
        wrong["tables"] = sentence
    if stranger := next((name for name in event.first if name not in event.tables), None):
        wrong["first"] = f"{stranger} does not stand in this section."
    elif repeated := _repeated(event.first):
        wrong["first"] = f"{repeated} stands first twice: name a table once."
    return wrong


def _tables_fault(event: PitSectionSet, present: Iterable[PitSection]) -> str:
    if repeated := _repeated(event.tables):
        return f"{repeated} is named twice: name a table once."
    missing = set(event.tables) - set(Table.objects.filter(name__in=event.tables).values_list("name", flat=True))
    if missing:
        return f"There is no table {min(missing)}."
    elsewhere = [row for row in present if (row.pit, row.section) != (event.pit, event.section)]
    sections = {name: str(row) for row in elsewhere for name in row.tables}
    if name := next((name for name in event.tables if name in sections), None):
        return f"{name} stands in {sections[name]}: set that section without it first."
    if not event.tables and not any((row.pit, row.section) == (event.pit, event.section) for row in present):
        return "A section has at least one table. Without any it ends, and there is no such section to end."
    return ""


def _is_name(name: str) -> bool:
    return name == name.strip() and name.isprintable() and len(name) <= LONGEST


def _repeated(names: Iterable[str]) -> str:
    return next((name for name, count in Counter(names).items() if count > 1), "")


def entry_fault(event: PitSectionSet, entry: Entry) -> str:
    """Why an entry of a section is invalid; empty if it is valid."""
    return " ".join(faults(event, entry.seq).values())
