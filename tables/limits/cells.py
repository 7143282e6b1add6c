"""The limits and options of many tables as cells of one grid: preview and save of changes, all or none.

The editor sends the cells as they were displayed. A cell that was changed meanwhile is reported, and nothing is saved.
A change under dual control becomes a proposal. A change that ends becomes a limit plan for its tables, so the layers
below apply again afterwards.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from itertools import count
from typing import Any, Final, NamedTuple

import msgspec
from django.db import transaction
from django.utils import timezone

from ledger import site_log
from tables.approvals import proposals
from tables.games.catalog import GAMES
from tables.limits import cell_texts, plans, resolver
from tables.limits.cell_texts import CUT_PART, CellError
from tables.limits.resolver import TableLimits
from tables.log import dual_control
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.game_kinds import kind_of
from tables.log.limit_plans import LIMIT_KINDS, WAGER, Occasion, Takes, Value
from tables.log.state import TableState
from tables.log.terms import game_title, rules_of
from tables.models import LimitPlan, Proposal, Staff, Table
from tables.refusals import Refused
from tables.setup import pits, policies, table_settings
from tables.setup.dual_control import ProposalDraft
from tables.setup.pits import NOWHERE, TablePlace
from tables.state import table_state

AMOUNTS: Final = {name: kind.heading for name, kind in LIMIT_KINDS.items()}
LIMITS: Final = AMOUNTS | {"wager_limits": "Per wager"}
"""The limits that are cells, by the names of settings."""
OF_THE_SHOE: Final = {"penetration": "Dealt of a shoe (%)", "options": "Options"}
"""The cells whose change takes effect with the next shoe."""
COLUMNS: Final = LIMITS | OF_THE_SHOE
MAY_BE_EMPTY: Final = frozenset(field.name for field in Table._meta.fields if field.null and field.name in AMOUNTS)

Texts = Mapping[str, str]
"""The text of the cells of a table, by column."""


class LimitCell(NamedTuple):
    """A cell: which table's, and which limit."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table in the grid."""

    table: Table
    place: TablePlace
    texts: Texts
    limits: TableLimits

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def game(self) -> str:
        return game_title(self.table)

    def planned(self, column: str) -> str:
        """The plans that set a limit, with their values; empty if the table itself sets it."""
        parts = []
        for name, layer in self.limits.outcome.layers.items():
            if column_of(name) == column and layer.plan is not None:
                wager = f"{name.removeprefix(WAGER)}: " if name.startswith(WAGER) else ""
                waits = ", and does not hold yet" if name in self.limits.differs else ""
                parts.append(f"{wager}{cell_texts.limit_text(layer.value)} by {layer.why}{waits}")
        return "; ".join(parts)

    def differs(self, column: str) -> bool:
        """Whether the limit of the next round differs from that of the plans."""
        return any(column_of(name) == column for name in self.limits.differs)


@dataclass(frozen=True, slots=True)
class Timing:
    """When an edit applies."""

    takes: Takes = "round"
    effective: datetime | None = None
    """The moment from which it applies; None for the next round, or the next shoe."""
    ends: datetime | None = None
    """The moment at which it ends; None for a change that stays."""

    @property
    def description(self) -> str:
        start, end = (
            f"{timezone.localtime(edge):%Y-%m-%d %H:%M}" if edge else "" for edge in (self.effective, self.ends)
        )
        shoe = "with the next shoe" if self.takes == "shoe" else ""
        starts = ", ".join(filter(None, (f"from {start}" if start else "", shoe))) or "with the next round"
        return f"{starts}, until {end}" if end else starts

    @property
    def is_later(self) -> bool:
        return self.takes == "shoe" or self.effective is not None or self.ends is not None


@dataclass(frozen=True, slots=True)
class CellChange:
    """One cell of one table, before and after."""

    cell: LimitCell
    before: str
    after: str
    value: Any
    """As settings have it; of options, those that are others."""
    timing: Timing
    takes_two: bool = False

    @property
    def title(self) -> str:
        return COLUMNS[self.cell.column]


@dataclass(frozen=True, slots=True)
class Preview:
    """The changes that typed cells make, and the faults of cells."""

    changes: Sequence[CellChange]
    faults: Mapping[LimitCell, str]

    @property
    def digest(self) -> str:
        """A digest of exactly these changes: the changes that are saved are those that were displayed."""
        cells = [(*change.cell, change.before, change.after, change.timing.description) for change in self.changes]
        return sha256(msgspec.json.encode(cells)).hexdigest()

    @property
    def takes_two(self) -> int:
        """The number of tables with changes that wait for a second person."""
        return len({change.cell.table for change in self.changes if change.takes_two})


# --- Reading ---------------------------------------------------------------------------------------------------


def rows(tables: Sequence[Table]) -> list[TableRow]:
    """Tables in the order of their places, in the same queries however many there are."""
    places = pits.places()
    limits = resolver.at_tables(tables, timezone.now())
    lines = [TableRow(table, places.get(table.name, NOWHERE), texts_of(table), limits[table.name]) for table in tables]
    return sorted(lines, key=lambda row: row.place.order(row.name))


def texts_of(table: Table) -> dict[str, str]:
    """The text of a table's cells."""
    return {name: cell_texts.amount_text(getattr(table, name)) for name in AMOUNTS} | {
        "wager_limits": cell_texts.wagers_text(table.wager_limits),
        "penetration": cell_texts.dealt_of(GAMES[table.game], rules_of(table)),
        "options": cell_texts.options_text(table.game, _options(table)),
    }


def _options(table: Table) -> dict[str, Any]:
    return table_settings.options_of(rules_of(table))


def column_of(name: str) -> str:
    """The column that has a limit, by the name that plans give it."""
    return "wager_limits" if name.startswith(WAGER) else name


def read(table: Table, column: str, text: str) -> Any:
    """The value of a cell as a setting; of options, those that differ. Raises CellError."""
    match column:
        case "wager_limits":
            return cell_texts.parse_wagers(text)
        case "penetration":
            return cell_texts.parse_dealt(GAMES[table.game], rules_of(table), text)
        case "options":
            return cell_texts.parse_options(table.game, _options(table), text)
    return None if column in MAY_BE_EMPTY and not text.strip() else cell_texts.parse_amount(text)


# --- Judging ---------------------------------------------------------------------------------------------------

Typed = Mapping[str, Texts]
"""The typed texts, by table and column."""


def preview(typed: Typed, basis: Typed, timing: Timing = Timing()) -> Preview:
    """The changes that typed cells would make, and their faults. ``basis``: the cells as the editor saw them."""
    tables = list(Table.objects.in_use().filter(name__in=typed).select_related("book"))
    lines = {row.name: row for row in rows(tables)}
    standings = table_state.at_all([table_state.head_of(table) for table in tables])
    changes: list[CellChange] = []
    faults: dict[LimitCell, str] = {}
    for name in sorted(typed, key=pits.natural):
        if name in lines:
            row = lines[name]
            state = standings[row.table.book_id]
            of_table, wrong = _judged(row, typed[name], basis.get(name, {}), timing, state)
            changes += of_table
            faults |= wrong
        else:
            faults[LimitCell(name, "min_cents")] = f"There is no table {name[:40]} on the floor any more."
    return Preview(changes, faults)


def _judged(
    row: TableRow, typed: Texts, basis: Texts, timing: Timing, state: TableState
) -> tuple[list[CellChange], dict[LimitCell, str]]:
    values, faults = _read_all(row, typed)
    changes: list[CellChange] = []
    for column, value in values.items():
        after = _text(row, column, value)
        if after in (row.texts[column], basis.get(column)):
            continue  # unchanged; or not typed by the editor, and changed by another person meanwhile
        cell = LimitCell(row.name, column)
        obstacle = _endless(row, column, value) if timing.ends else _by_a_plan(row, column)
        if sentence := _meanwhile(row, column, basis) or obstacle:
            faults[cell] = sentence
        changes.append(CellChange(cell, row.texts[column], after, value, _timing_of(row, column, timing)))
    if changes and not faults:
        faults |= _settings_faults(row, changes, state)
    return changes if faults else [replace(change, takes_two=_takes_two(row, changes)) for change in changes], faults


def _read_all(row: TableRow, typed: Texts) -> tuple[dict[str, Any], dict[LimitCell, str]]:
    values: dict[str, Any] = {}
    faults: dict[LimitCell, str] = {}
    for column in COLUMNS:
        if column in typed:
            try:
                values[column] = read(row.table, column, typed[column])
            except CellError as wrong:
                faults[LimitCell(row.name, column)] = str(wrong)
    return values, faults


def _meanwhile(row: TableRow, column: str, basis: Texts) -> str:
    if column not in basis or basis[column] == row.texts[column]:
        return ""
    present, earlier = row.texts[column] or "empty", basis[column] or "empty"
    return f"Somebody changed it meanwhile, from {earlier} to {present}. Keep theirs, or type yours again."


def _by_a_plan(row: TableRow, column: str) -> str:
    """The obstacle to a change of a limit that a plan sets, which would set it back; empty if there is none."""
    cause = row.planned(column)
    return f"It is {cause}: change the plan, or set one for this table." if cause else ""


def _endless(row: TableRow, column: str, value: Any) -> str:
    """Why a change of a cell cannot end by itself; empty if it can. A plan sets limits, and cannot remove one."""
    if column in OF_THE_SHOE:
        return f"{COLUMNS[column]}: a change that ends sets limits alone. Change this without an end."
    if value is None or (column == "wager_limits" and row.table.wager_limits.keys() - value.keys()):
        return "A change that ends sets another amount, and removes none: write how much it is until then."
    return ""


def _timing_of(row: TableRow, column: str, timing: Timing) -> Timing:
    """A shoe in play keeps its settings; a table without shoes has none to wait for."""
    has_shoe = not kind_of(GAMES[row.table.game]).is_by_count
    return replace(timing, takes="shoe") if column in OF_THE_SHOE and has_shoe else timing


def _parts(changes: Sequence[CellChange]) -> dict[Timing, list[CellChange]]:
    """The changes of one table, by the time at which they apply: each part is saved by itself."""
    parts: dict[Timing, list[CellChange]] = {}
    for change in changes:
        parts.setdefault(change.timing, []).append(change)
    return parts


def _settings(table: Table, changes: Sequence[CellChange]) -> dict[str, Any]:
    """Changed cells as settings."""
    settings = {change.cell.column: change.value for change in changes if change.cell.column in LIMITS}
    options = [change.value for change in changes if change.cell.column in OF_THE_SHOE]
    return settings | ({"options": table.options | dict(ChainMap(*options))} if options else {})


def _settings_faults(row: TableRow, changes: Sequence[CellChange], state: TableState) -> dict[LimitCell, str]:
    faults: dict[LimitCell, str] = {}
    for timing, part in _parts(changes).items():
        if timing.takes == "shoe" and kind_of(GAMES[row.table.game]).is_by_count:
            sentence = f"No shoe is dealt at {row.name}: let it hold from the next round, or from a moment."
            return {change.cell: sentence for change in part}
        columns = [change.cell.column for change in part]
        if timing.ends:
            wrong = plans.faults(_plan([row.name], _limits_until(row.table, part), timing), timezone.now())
            sentences = {column_of(name): sentence for name, sentence in wrong.items()}
        else:
            settings = _settings(row.table, part)
            sentences = table_settings.change_faults(row.table, settings, TableState() if timing.is_later else state)
        for name, sentence in sentences.items():
            faults[LimitCell(row.name, name if name in columns else columns[0])] = sentence
    return faults


def _takes_two(row: TableRow, changes: Sequence[CellChange]) -> bool:
    drafts = [_draft(row.table, timing, part) for timing, part in _parts(changes).items()]
    return any(draft is not None and proposals.takes_two(draft, timezone.now()) for draft in drafts)


def _draft(table: Table, timing: Timing, part: Sequence[CellChange]) -> ProposalDraft | None:
    """The proposal of changes of a table that apply at one time; None if one person makes them at once."""
    if timing.ends:
        return plans.draft_of(_plan([table.name], _limits_until(table, part), timing), expected_version=0)
    return table_settings.draft_of(table, _settings(table, part), takes=timing.takes, effective=timing.effective)


def _text(row: TableRow, column: str, value: Any) -> str:
    match column:
        case "wager_limits":
            return cell_texts.wagers_text(value)
        case "penetration":
            return cell_texts.dealt_text(value[CUT_PART]) if value else row.texts[column]
        case "options":
            return cell_texts.options_text(row.table.game, _options(row.table) | value)
    return cell_texts.amount_text(value)


# --- Saving ----------------------------------------------------------------------------------------------------


class Saved(NamedTuple):
    """The outcome of a save."""

    tables: int
    """The number of tables with changes that need no second person and no later time."""
    proposals: Sequence[Proposal]
    """The changes that wait for a second person, their time, or a shoe."""


def save(typed: Typed, basis: Typed, timing: Timing, *, digest: str, reason: str, by: Staff) -> Saved:
    """Save exactly the displayed changes, all or none. Raises Refused."""
    by.require("tables.change_table", "Only an operator sets the limits of tables.")
    preview(typed, basis, timing)  # before the lock of the site's log: the edges of new options may take half a minute
    with transaction.atomic():
        site_log.lock()  # every change of settings takes it first: what was judged cannot change before it is written
        edit = preview(typed, basis, timing)
        if edit.faults:
            raise Refused("cells_wrong", "Nothing was saved: look at the cells that are marked.", 409)
        if edit.digest != digest:
            raise Refused("not_as_shown", "Nothing was saved: what it would change is not what you were shown.", 409)
        if not edit.changes:
            raise Refused("nothing_changes", "Nothing would be changed by that.", 422)
        saved = _write_plans(edit, timing, reason, by) if timing.ends else _write(edit, reason, by)
    for table in {proposal.about for proposal in saved.proposals if proposal.waits_for_shoe}:
        proposals.with_the_shoe(table)  # it may be over already
    return saved


def _by_table(edit: Preview) -> dict[Table, list[CellChange]]:
    """The changes of each table, in the order of keys, so that two saves lock logs in one order."""
    names = {change.cell.table for change in edit.changes}
    tables = Table.objects.filter(name__in=names).order_by("pk")
    return {table: [change for change in edit.changes if change.cell.table == table.name] for table in tables}


def _write(edit: Preview, reason: str, by: Staff) -> Saved:
    saved: set[str] = set()
    waiting: list[Proposal] = []
    for table, changes in _by_table(edit).items():
        name = table.name
        for timing, part in _parts(changes).items():
            try:
                draft = _draft(table, timing, part)
                if draft is None:
                    table_settings.change_table(table, _settings(table, part), by=by)
                    saved.add(name)
                else:
                    waiting.append(proposals.arrange(draft, reason, by=by))
            except Refused as refused:
                raise Refused(refused.code, f"Nothing was saved. {name}: {refused.sentence}", refused.status) from None
    return Saved(len(saved), waiting)


# --- Changes that end ------------------------------------------------------------------------------------------


def _limits_until(table: Table, changes: Sequence[CellChange]) -> dict[str, Value]:
    """The limits that changed cells set, as a plan has them: of single wagers, those that differ."""
    limits: dict[str, Value] = {}
    for change in changes:
        if change.cell.column == "wager_limits":
            present = {wager: tuple(bounds) for wager, bounds in table.wager_limits.items()}
            limits |= {f"{WAGER}{wager}": v for wager, v in change.value.items() if present.get(wager) != v}
        else:
            limits[change.cell.column] = change.value
    return limits


def _plan(tables: Sequence[str], values: Mapping[str, Value], timing: Timing, note: str = "") -> LimitPlanSet:
    """The plan of a change that ends, for tables that get the same limits."""
    assert timing.ends is not None  # noqa: S101 -- only changes that end become plans
    edges = [policies.spelled(edge) for edge in (timing.effective or timezone.now(), timing.ends)]
    of, several = (tables[0], ()) if len(tables) == 1 else ("", tuple(tables))
    return LimitPlanSet(
        name=_free_name(f"Until {timezone.localtime(timing.ends):%Y-%m-%d %H:%M}"),
        version=0,
        scope="table",
        of=of,
        tables=several,
        schedule=Occasion(starts=edges[0], ends=edges[1]),
        values=dict(values),
        note=" ".join(note.split())[: plans.LONGEST_NOTE],
        takes=timing.takes,
        effective="",
    )


def _free_name(name: str) -> str:
    """A name that neither a plan has nor a proposal of one: a change that ends never becomes the next version of
    another plan."""
    proposed = Proposal.objects.filter(matter=dual_control.PLAN, about__startswith=name)
    plans_like = LimitPlan.objects.filter(name__startswith=name)
    taken = {*proposed.values_list("about", flat=True), *plans_like.values_list("name", flat=True)}
    return next(free for number in count(1) if (free := f"{name}, {number}" if number > 1 else name) not in taken)


def _write_plans(edit: Preview, timing: Timing, reason: str, by: Staff) -> Saved:
    """One plan for all tables that get the same limits until the same moment."""
    by_limits: dict[tuple[tuple[str, Value], ...], list[str]] = {}
    for table, changes in _by_table(edit).items():
        limits = _limits_until(table, changes)
        by_limits.setdefault(tuple(sorted(limits.items())), []).append(table.name)
    saved, waiting = 0, list[Proposal]()
    for values, names in by_limits.items():
        event = _plan(names, dict(values), timing, reason)
        draft = plans.draft_of(event, expected_version=0)
        if draft is None:
            plans.set_plan(event, expected_version=0, by=by)
            saved += len(names)
        else:
            waiting.append(proposals.propose(draft, reason, by=by))
    return Saved(saved, waiting)
