"""The limits of many tables as cells of one grid: how they are written, what a change comes to, and saving all or none.

Whoever changes cells says what stood there when they looked. What somebody else changed since is told cell by cell, and
nothing is saved. Where a change takes two people it becomes a proposal, beside those that one person makes at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec
from django.db import transaction
from django.utils import timezone

from ledger import house
from ledger.proof.chips import money
from tables.games.catalog import GAMES
from tables.log.fold import Standing
from tables.log.kinds import kind_of
from tables.log.limit_plans import WAGER
from tables.log.terms import game_title, rules_of
from tables.models import Proposal, Staff, Table
from tables.refusals import Refused
from tables.setup import limit_plans, pits, proposals, table_settings
from tables.setup.limit_plans import TableLimits
from tables.setup.pits import NOWHERE, Place

COLUMNS: Final[Mapping[str, str]] = {
    "min_cents": "Minimum",
    "max_cents": "Maximum",
    "seat_max_cents": "Seat maximum",
    "cap_cents": "Exposure",
    "wager_limits": "Per wager",
}
"""The limits that are cells, by the names of settings."""
MAY_BE_EMPTY: Final = frozenset({"seat_max_cents", "cap_cents", "wager_limits"})

Texts = Mapping[str, str]
"""What stands in the cells of a table, by their columns."""


class Cell(NamedTuple):
    """A cell: which table's, and which limit."""

    table: str
    column: str


class Spelling(ValueError):
    """What was typed is no such limit; the message says what would be."""


@dataclass(frozen=True, slots=True)
class Row:
    """A table in the grid."""

    table: Table
    place: Place
    texts: Texts
    told: TableLimits
    penetration: str
    """How much of a shoe is dealt, in per cent; empty where there is no cut card."""

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def game(self) -> str:
        return game_title(self.table)

    def planned(self, column: str) -> str:
        """Why a limit is what it is, or is to be another, where a plan sets it; empty where the table's own holds."""
        says = []
        for name, layer in self.told.outcome.layers.items():
            if _column_of(name) == column and layer.plan is not None:
                wager = f"{name.removeprefix(WAGER)}: " if name.startswith(WAGER) else ""
                waits = ", and does not hold yet" if name in self.told.differs else ""
                says.append(f"{wager}{_said(layer.value)} by {layer.why}{waits}")
        return "; ".join(says)

    def differs(self, column: str) -> bool:
        """Whether what the next round is opened under is not what the plans say."""
        return any(_column_of(name) == column for name in self.told.differs)


@dataclass(frozen=True, slots=True)
class Change:
    """One limit of one table, before and after, as cells have it."""

    cell: Cell
    before: str
    after: str
    takes_two: bool = False

    @property
    def title(self) -> str:
        return COLUMNS[self.cell.column]


@dataclass(frozen=True, slots=True)
class Preview:
    """What typed cells come to: the changes, and what is wrong, cell by cell."""

    changes: Sequence[Change]
    faults: Mapping[Cell, str]

    @property
    def digest(self) -> str:
        """Names exactly these changes: what is saved is what was shown."""
        spelled = msgspec.json.encode([(*change.cell, change.before, change.after) for change in self.changes])
        return sha256(spelled).hexdigest()

    @property
    def takes_two(self) -> int:
        """How many tables' changes wait for a second person."""
        return len({change.cell.table for change in self.changes if change.takes_two})


# --- Reading ---------------------------------------------------------------------------------------------------


def rows(tables: Sequence[Table]) -> list[Row]:
    """Tables in the order of their places, in the same queries however many there are."""
    places = pits.places()
    limits = limit_plans.outcomes(tables, timezone.now())
    lines = [
        Row(table, places.get(table.name, NOWHERE), texts_of(table), limits[table.name], _penetration(table))
        for table in tables
    ]
    return sorted(lines, key=lambda row: row.place.order(row.name))


def texts_of(table: Table) -> dict[str, str]:
    """What stands in a table's cells."""
    amounts = {name: _amount(getattr(table, name)) for name in COLUMNS if name != "wager_limits"}
    wagers = (f"{wager} {_amount(low)} to {_amount(high)}" for wager, (low, high) in sorted(table.wager_limits.items()))
    return amounts | {"wager_limits": "; ".join(wagers)}


def _amount(cents: int | None) -> str:
    return "" if cents is None else money(cents).replace(",", "")


def _said(value: Any) -> str:
    return " to ".join(_amount(cents) for cents in value) if isinstance(value, tuple) else _amount(value)


def _column_of(name: str) -> str:
    return "wager_limits" if name.startswith(WAGER) else name


def _penetration(table: Table) -> str:
    rules, kind = rules_of(table), kind_of(GAMES[table.game])
    if not (behind := kind.at_cut(rules)):
        return ""
    cards = kind.pack(rules).size * GAMES[table.game].decks(rules)
    return f"{round(100 * (cards - behind) / cards)} %"


# --- Spelling --------------------------------------------------------------------------------------------------

_PLAIN: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?")
_THOUSANDS: Final = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]{1,2})?")
_COMMA: Final = re.compile(r"[0-9]{1,12},[0-9]{1,2}")
_WAGER: Final = re.compile(r"(?P<wager>\w+)\s+(?P<least>\S+)\s*(?:to|-)\s*(?P<most>\S+)")


def read(column: str, text: str) -> Any:
    """A limit as settings have it. Raises Spelling, with what would be right."""
    text = text.strip()
    if column == "wager_limits":
        return _wagers(text)
    if not text and column in MAY_BE_EMPTY:
        return None
    return cents(text)


def cents(text: str) -> int:
    """An amount in minor units, from 25, 2.50, 2,50, 1000 or 1,000. Raises Spelling."""
    text = text.strip().replace("\u00a0", "").replace(" ", "")
    if not text:
        raise Spelling("Write an amount, such as 25 or 2.50: it cannot be empty.")
    if _PLAIN.fullmatch(text) and not re.fullmatch(r"[0-9]{1,3}\.[0-9]{3}", text):
        plain = text
    elif _THOUSANDS.fullmatch(text):
        plain = text.replace(",", "")
    elif _COMMA.fullmatch(text):
        plain = text.replace(",", ".")
    elif re.fullmatch(r"[0-9]{1,3}(\.[0-9]{3})+(,[0-9]{1,2})?", text):
        whole = text.partition(",")[0].replace(".", "")
        raise Spelling(f"{text} may be read in two ways: write {whole}, or {whole}.00.")
    else:
        raise Spelling(f"{text[:40]!r} is no amount: write it as 25, 2.50 or 1,000.")
    whole, _, part = plain.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0") or 0)


def _wagers(text: str) -> dict[str, tuple[int, int]]:
    limits: dict[str, tuple[int, int]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        match = _WAGER.fullmatch(part)
        if match is None:
            raise Spelling(f"{part[:40]!r} is no wager with its limits: write tie 5 to 100; player_pair 5 to 50.")
        if match["wager"] in limits:
            raise Spelling(f"{match['wager']} stands there twice: name a wager once.")
        limits[match["wager"]] = cents(match["least"]), cents(match["most"])
    return limits


# --- Judging ---------------------------------------------------------------------------------------------------

Typed = Mapping[str, Texts]
"""What was typed, by table and column."""


def preview(typed: Typed, seen: Typed) -> Preview:
    """What typed cells would change, and what is wrong with them. ``seen``: what stood there when somebody looked."""
    lines = {row.name: row for row in rows(list(Table.objects.filter(name__in=typed, retired_at=None)))}
    changes: list[Change] = []
    faults: dict[Cell, str] = {}
    for name in sorted(typed, key=pits.natural):
        if name in lines:
            of_table, wrong = _judged(lines[name], typed[name], seen.get(name, {}))
            changes += of_table
            faults |= wrong
        else:
            faults[Cell(name, "min_cents")] = f"There is no table {name[:40]} on the floor any more."
    return Preview(changes, faults)


def _judged(row: Row, typed: Texts, seen: Texts) -> tuple[list[Change], dict[Cell, str]]:
    values, faults = _read_all(row, typed)
    changed: dict[str, Any] = {}
    for column, value in values.items():
        cell = Cell(row.name, column)
        if value == _value(row, column) or value == _seen(column, seen):
            continue  # as it stands; or nothing that was typed, though somebody else changed it meanwhile
        if says := _meanwhile(row, column, seen) or _by_a_plan(row, column):
            faults[cell] = says
        changed[column] = value
    if changed and not faults:
        faults |= _settings_faults(row, changed)
    takes_two = bool(changed) and not faults and table_settings.draft_of_change(row.table, changed) is not None
    changes = [Change(Cell(row.name, name), row.texts[name], _text(name, changed[name]), takes_two) for name in changed]
    return changes, faults


def _read_all(row: Row, typed: Texts) -> tuple[dict[str, Any], dict[Cell, str]]:
    values: dict[str, Any] = {}
    faults: dict[Cell, str] = {}
    for column in COLUMNS:
        if column in typed:
            try:
                values[column] = read(column, typed[column])
            except Spelling as wrong:
                faults[Cell(row.name, column)] = str(wrong)
    return values, faults


def _value(row: Row, column: str) -> Any:
    return read(column, row.texts[column])


def _seen(column: str, seen: Texts) -> Any:
    try:
        return read(column, seen[column]) if column in seen else _UNSEEN
    except Spelling:
        return _UNSEEN


_UNSEEN: Final = object()


def _meanwhile(row: Row, column: str, seen: Texts) -> str:
    earlier = _seen(column, seen)
    if earlier is _UNSEEN or earlier == _value(row, column):
        return ""
    stands, was = row.texts[column] or "empty", seen[column] or "empty"
    return f"Somebody changed it meanwhile, from {was} to {stands}. Keep theirs, or type yours again."


def _by_a_plan(row: Row, column: str) -> str:
    """A plan would set it back: what a plan sets is changed in the plan."""
    says = row.planned(column)
    return f"It is {says}: change the plan, or set one for this table." if says else ""


def _settings_faults(row: Row, changed: Mapping[str, Any]) -> dict[Cell, str]:
    sentences = table_settings.change_faults(row.table, changed, Standing())  # limits wait for no round
    places = {name: name if name in COLUMNS else next(iter(changed)) for name in sentences}
    return {Cell(row.name, places[name]): says for name, says in sentences.items()}


def _text(column: str, value: Any) -> str:
    if column != "wager_limits":
        return _amount(value)
    return "; ".join(f"{wager} {_said(limits)}" for wager, limits in sorted(value.items()))


# --- Saving ----------------------------------------------------------------------------------------------------


class Saved(NamedTuple):
    """What became of a save."""

    tables: int
    proposals: Sequence[Proposal]


def save(typed: Typed, seen: Typed, *, digest: str, why: str, by: Staff) -> Saved:
    """Do exactly what was shown, all or nothing. Raises Refused; with the faults of cells where something moved on."""
    if not by.has_perm("tables.change_table"):
        raise Refused("not_permitted", "Only an operator sets the limits of tables.", 403)
    with transaction.atomic():
        house.lock()  # every change of settings takes it first: nothing that was judged moves before it is written
        shown = preview(typed, seen)
        if shown.faults:
            raise Refused("cells_wrong", "Nothing was saved: look at the cells that are marked.", 409)
        if shown.digest != digest:
            raise Refused("not_as_shown", "Nothing was saved: what it would change is not what you were shown.", 409)
        if not shown.changes:
            raise Refused("nothing_changes", "Nothing would be changed by that.", 422)
        return _written(shown, why, by)


def _written(shown: Preview, why: str, by: Staff) -> Saved:
    by_table: dict[str, dict[str, Any]] = {}
    for change in shown.changes:
        by_table.setdefault(change.cell.table, {})[change.cell.column] = read(change.cell.column, change.after)
    tables = {table.name: table for table in Table.objects.filter(name__in=by_table).order_by("pk")}
    proposed: list[Proposal] = []
    for name, table in tables.items():  # by their keys, so two saves lock books in one order
        try:
            draft = table_settings.draft_of_change(table, by_table[name])
            if draft is None:
                table_settings.change_table(table, by_table[name], by=by)
            else:
                proposed.append(proposals.propose(draft, why, by=by))
        except Refused as refused:
            raise Refused(refused.code, f"Nothing was saved. {name}: {refused.sentence}", refused.status) from None
    return Saved(len(tables) - len(proposed), proposed)
