"""The grid: limits and options of all tables on one page, edited together, looked at before and after, saved all or
none; from the next round, the next shoe or a moment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from dealer_ui.operator.limits import files as limit_files
from tables.admin.forms import EffectiveField
from tables.approvals import proposals
from tables.games.catalog import GAMES
from tables.limits import cell_texts
from tables.limits import cells as limit_cells
from tables.limits.cell_texts import Spelling
from tables.limits.cells import AMOUNTS, COLUMNS, MAY_BE_EMPTY, Holds, LimitCell, Preview, TableRow, Typed
from tables.log.limit_plans import Takes
from tables.models import Staff, Table
from tables.refusals import Refused

NO_PIT: Final = "none"
WAYS: Final[Mapping[str, str]] = {"to": "to", "up": "up by", "down": "down by"}
FOLDED: Final = ("wager_limits", "options")
"""The cells of many words: they lie below their row."""
TAKES: Final[Mapping[str, str]] = {"round": "the next round", "shoe": "the next shoe"}


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as the page draws it."""

    column: str
    title: str
    name: str
    """Of its field."""
    text: str
    stands: str
    """What stands there now."""
    fault: str
    planned: str
    differs: bool

    @property
    def is_folded(self) -> bool:
        return self.column in FOLDED

    @property
    def is_changed(self) -> bool:
        return self.text != self.stands


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A table as the page draws it."""

    row: TableRow
    cells: list[ShownCell]
    folded: list[ShownCell]
    """Those that lie below the row."""
    seen: str
    """What stood in its cells when the editor looked, to be sent back."""
    is_chosen: bool

    @property
    def more(self) -> str:
        """What lies below the row, in a few words."""
        wagers, options = (len(list(filter(None, cell.stands.split(";")))) for cell in self.folded)
        return f"{wagers or 'no'} wager{'' if wagers == 1 else 's'}, {options} option{'' if options == 1 else 's'}"

    @property
    def width(self) -> int:
        """In columns of the page, ticks, names and the button counted."""
        return len(self.cells) + 3

    @property
    def is_open(self) -> bool:
        """Whether something below the row is typed or wrong, and has to be in sight."""
        return any(cell.fault or cell.is_changed for cell in self.folded)


def _viewer(request: HttpRequest, permission: str) -> Staff:
    viewer = request.user
    if not isinstance(viewer, Staff) or not viewer.has_perm(permission):
        raise PermissionDenied
    return viewer


# --- The page --------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def grid(request: HttpRequest) -> HttpResponse:
    """The grid; with a form sent, the next step of it."""
    if request.method == "GET":
        _viewer(request, "tables.view_table")
        return _grid(request)
    by = _viewer(request, "tables.change_table")
    typed, basis = _cells_of(request.POST)
    start, moment_fault = _start_of(request.POST)
    match request.POST.get("do"):
        case "fill":
            filled, faults = _filled(request.POST, typed)
            return _grid(request, filled, basis, Preview((), faults))
        case "preview":
            preview = limit_cells.preview(typed, basis, start)
            if moment_fault:
                return _grid(request, typed, basis, preview, wrong_moment=moment_fault, status=422)
            if preview.faults or not preview.changes:
                if not preview.faults:
                    messages.info(
                        request, "Nothing is changed yet: type something else in a cell.", extra_tags="unchanged"
                    )
                return _grid(request, typed, basis, preview, status=422 if preview.faults else 200)
            return _preview(request, typed, basis, preview)
        case "save" if moment_fault:
            return _grid(request, typed, basis, wrong_moment=moment_fault, status=422)
        case "save":
            return _saved(request, typed, basis, start, by)
    return _grid(request, typed, basis)


def _start_of(form: QueryDict) -> tuple[Holds, str]:
    """From when the edit holds, and what is wrong with it."""
    typed = form.get("effective", "").strip()
    takes: Takes = "shoe" if form.get("takes") == "shoe" else "round"
    if not typed:
        return Holds(takes), ""
    try:
        return Holds(takes, EffectiveField().clean(typed)), ""
    except ValidationError as wrong:
        return Holds(takes), " ".join(wrong.messages)


def _saved(request: HttpRequest, typed: Typed, basis: Typed, start: Holds, by: Staff) -> HttpResponse:
    digest, reason = request.POST.get("digest", ""), request.POST.get("why", "")
    try:
        saved = limit_cells.save(typed, basis, start, digest=digest, reason=reason, by=by)
    except Refused as refused:
        messages.error(request, refused.sentence, extra_tags=refused.code)
        return _grid(request, typed, basis, limit_cells.preview(typed, basis, start), status=refused.status)
    if saved.tables:
        messages.success(
            request,
            f"{saved.tables} table{'s are' if saved.tables > 1 else ' is'} set otherwise.",
            extra_tags="limits_set",
        )
    for proposal in saved.proposals:
        messages.success(request, f"{proposal.about}: {proposals.entered(proposal)}", extra_tags="proposed")
    return redirect(_address(request))


def _grid(
    request: HttpRequest, typed: Typed | None = None, basis: Typed | None = None, preview: Preview | None = None,
    *, wrong_moment: str = "", status: int = 200,
) -> TemplateResponse:  # fmt: skip
    every = limit_cells.rows(list(Table.objects.in_use()))
    pit, game = request.GET.get("pit", ""), request.GET.get("game", "")
    chosen = set(request.POST.getlist("row"))
    rows = [row for row in every if pit in ("", row.place.pit or NO_PIT) and game in ("", row.table.game)]
    faults = preview.faults if preview else {}
    context = {
        "rows": [_shown_row(row, typed or {}, basis or {}, faults, chosen) for row in rows],
        "columns": [title for name, title in COLUMNS.items() if name not in FOLDED],
        "wrong_moment": wrong_moment,
        "amounts": AMOUNTS,
        "ways": WAYS,
        "pits": list(dict.fromkeys(row.place.pit for row in every if row.place.pit)),
        "has_others": any(not row.place.pit for row in every),
        "games": sorted({(row.table.game, GAMES[row.table.game].title) for row in every}, key=lambda pair: pair[1]),
        "pit": pit,
        "game": game,
        "may_change": request.user.has_perm("tables.change_table"),
        "may_export": request.user.has_perm("tables.export_lists"),
        "faults": [(cell.table, COLUMNS[cell.column], sentence) for cell, sentence in faults.items()],
        "fill": {name: request.POST.get(name, "") for name in ("column", "way", "amount")},
    }
    return _page(request, "grid", "Limits of all tables", status=status, **context, **_typed_holds(request))


def _typed_holds(request: HttpRequest) -> dict[str, Any]:
    """The fields that say from when it holds, as they were typed."""
    return {"takes": TAKES, "holds": {name: request.POST.get(name, "") for name in ("takes", "effective")}}


def _shown_row(
    row: TableRow, typed: Typed, basis: Typed, faults: Mapping[LimitCell, str], chosen: set[str]
) -> ShownRow:
    texts, stood = typed.get(row.name, {}), basis.get(row.name)
    cells = [
        ShownCell(
            column=column,
            title=title,
            name=f"c-{row.table.pk}-{column}",
            text=texts.get(column, row.texts[column]),
            stands=row.texts[column],
            fault=faults.get(LimitCell(row.name, column), ""),
            planned=row.planned(column),
            differs=row.differs(column),
        )
        for column, title in COLUMNS.items()
    ]
    # Of a cell that somebody else changed the editor has now been told: what they type next is upon that.
    standings = {cell.column: cell.stands for cell in cells if cell.fault}
    in_row = [cell for cell in cells if cell.column not in FOLDED]
    folded = [cell for cell in cells if cell.column in FOLDED]
    return ShownRow(row, in_row, folded, json.dumps({**(stood or row.texts), **standings}), str(row.table.pk) in chosen)


def _preview(request: HttpRequest, typed: Typed, basis: Typed, preview: Preview) -> TemplateResponse:
    changed = {change.cell.table for change in preview.changes}
    keys = dict(Table.objects.filter(name__in=changed).values_list("name", "pk"))
    fields = [
        *((f"c-{keys[name]}-{column}", text) for name in changed for column, text in typed[name].items()),
        *((f"s-{keys[name]}", json.dumps(basis.get(name, {}))) for name in changed),
        *((name, request.POST.get(name, "")) for name in ("takes", "effective")),
    ]
    waits = any(change.takes_two or change.holds.is_later for change in preview.changes)
    return _page(request, "grid_preview", "Before and after", shown=preview, fields=fields, waits=waits)


def _page(request: HttpRequest, template: str, title: str, *, status: int = 200, **context: Any) -> TemplateResponse:
    shared = {**admin.site.each_context(request), "title": title, "grid_url": _address(request)}
    return TemplateResponse(request, f"dealer_ui/operator/limits/{template}.html", shared | context, status=status)


def _address(request: HttpRequest) -> str:
    chosen = {name: request.GET[name] for name in ("pit", "game") if request.GET.get(name)}
    query = QueryDict(mutable=True)
    query.update(chosen)
    return reverse("limit-grid") + (f"?{query.urlencode()}" if chosen else "")


# --- What was sent ---------------------------------------------------------------------------------------------

LONGEST: Final = 400


def _cells_of(form: QueryDict) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    """What was typed, and what had stood there, by tables' names."""
    names = {str(pk): name for pk, name in Table.objects.values_list("pk", "name")}
    typed: dict[str, dict[str, str]] = {}
    basis: dict[str, dict[str, str]] = {}
    for field, text in form.items():
        mark, _, cell = field.partition("-")
        key, _, column = cell.partition("-")
        if key not in names or not isinstance(text, str):
            continue
        if mark == "c" and column in COLUMNS:
            typed.setdefault(names[key], {})[column] = text[:LONGEST].replace("\x00", "")
        elif mark == "s":
            basis[names[key]] = _texts(text)
    return typed, basis


def _texts(text: str) -> dict[str, str]:
    try:
        stood = json.loads(text[: len(COLUMNS) * LONGEST])
    except ValueError:
        return {}
    items: Iterator[tuple[Any, Any]] = iter(stood.items()) if isinstance(stood, dict) else iter(())
    return {column: value for column, value in items if column in COLUMNS and isinstance(value, str)}


def _filled(form: QueryDict, typed: Typed) -> tuple[dict[str, dict[str, str]], dict[LimitCell, str]]:
    """The rows that were chosen, with one limit set, raised or lowered; and the cells that could not be."""
    column, way = form.get("column", ""), form.get("way", "")
    chosen = set(form.getlist("row"))
    names = {name for pk, name in Table.objects.values_list("pk", "name") if str(pk) in chosen}
    filled = {name: dict(texts) for name, texts in typed.items()}
    faults: dict[LimitCell, str] = {}
    if column not in AMOUNTS or way not in WAYS:
        return filled, faults
    for name in names & filled.keys():
        try:
            filled[name][column] = _moved(filled[name].get(column, ""), way, form.get("amount", ""), column)
        except Spelling as wrong:
            faults[LimitCell(name, column)] = str(wrong)
    return filled, faults


def _moved(text: str, way: str, amount: str, column: str) -> str:
    if way == "to":
        if amount.strip() or column not in MAY_BE_EMPTY:
            cell_texts.cents(amount)
        return amount.strip()
    present, step = cell_texts.cents(text), cell_texts.cents(amount)
    after = present + step if way == "up" else present - step
    if after <= 0:
        raise Spelling(f"{text} down by {amount} leaves nothing: a limit is more than 0.")
    whole, part = divmod(after, 100)
    return f"{whole}.{part:02}" if part else str(whole)


# --- Files -----------------------------------------------------------------------------------------------------


@require_GET
def grid_csv(request: HttpRequest) -> HttpResponse:
    """The grid as a file, to be changed and taken in again."""
    _viewer(request, "tables.view_table")
    _viewer(request, "tables.export_lists")
    rows = limit_cells.rows(list(Table.objects.in_use()))
    answer = HttpResponse(limit_files.file_of(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="limits.csv"'
    return answer


@require_http_methods(["GET", "POST"])
def take_in(request: HttpRequest) -> HttpResponse:
    """A file is tried; what it would change is shown, or every cell that is wrong. It is saved as the grid is."""
    _viewer(request, "tables.change_table")
    context = {"header": limit_files.HEADER, **_typed_holds(request)}
    if request.method == "GET":
        return _page(request, "grid_import", "Limits from a file", **context)
    upload, (start, moment_fault) = request.FILES.get("file"), _start_of(request.POST)
    if upload is None or moment_fault:
        messages.error(
            request,
            moment_fault or "Choose a file: the grid as it was exported, with other amounts.",
            extra_tags="no_file",
        )
        return _page(request, "grid_import", "Limits from a file", status=422, **context)
    trial = limit_files.tried(upload.read(), start)
    if trial.wrong or not trial.shown.changes:
        status = 422 if trial.wrong else 200
        context |= {"trial": trial, "file_name": upload.name}
        return _page(request, "grid_import", "Limits from a file", status=status, **context)
    return _preview(request, trial.typed, trial.seen, trial.shown)
