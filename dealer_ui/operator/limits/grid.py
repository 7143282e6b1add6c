"""The grid: limits and options of all tables on one page, edited together, previewed, and saved all or none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from dealer_ui.guards import viewer_of
from dealer_ui.operator.limits import files as limit_files
from dealer_ui.operator.limits.grid_forms import GridForm, LimitFileForm, TakesEffectForm, cell_name, edit_of
from dealer_ui.operator.pages import OperatorPage
from tables.approvals import proposals
from tables.games.catalog import GAMES
from tables.limits import cells as limit_cells
from tables.limits.cells import COLUMNS, LimitCell, Preview, TableRow, Typed
from tables.models import Table
from tables.refusals import Refused

NO_PIT: Final = "none"
FOLDED: Final = ("wager_limits", "options")
"""The cells with longer texts, which are below their row."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as the page draws it."""

    column: str
    title: str
    name: str
    """The name of its field."""
    text: str
    present: str
    """The text of the value in force."""
    fault: str
    planned: str
    differs: bool

    @property
    def is_folded(self) -> bool:
        return self.column in FOLDED

    @property
    def is_changed(self) -> bool:
        return self.text != self.present


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A table as the page draws it."""

    row: TableRow
    cells: list[ShownCell]
    folded: list[ShownCell]
    """The cells below the row."""
    seen: str
    """The texts that the editor saw, as JSON, to be sent back."""
    is_chosen: bool

    @property
    def more(self) -> str:
        """A summary of the cells below the row."""
        wagers, options = (len(list(filter(None, cell.present.split(";")))) for cell in self.folded)
        return f"{wagers or 'no'} wager{'' if wagers == 1 else 's'}, {options} option{'' if options == 1 else 's'}"

    @property
    def is_open(self) -> bool:
        """True if a cell below the row is changed or wrong, and has to be visible."""
        return any(cell.fault or cell.is_changed for cell in self.folded)


class LimitEdit(OperatorPage):
    """A page that edits limits of several tables: the grid, or the import of a file."""

    @property
    def grid_url(self) -> str:
        """The address of the grid, with its filter."""
        chosen = {name: self.request.GET[name] for name in ("pit", "game") if self.request.GET.get(name)}
        return reverse("limit-grid") + (f"?{urlencode(chosen)}" if chosen else "")

    def preview(self, form: TakesEffectForm, typed: Typed, basis: Typed, preview: Preview) -> HttpResponse:
        """The changes before they are saved, with the edit in hidden fields."""
        changed = {change.cell.table for change in preview.changes}
        keys = dict(Table.objects.filter(name__in=changed).values_list("name", "pk"))
        fields = [
            *((cell_name(keys[name], column), text) for name in changed for column, text in typed[name].items()),
            *((f"s-{keys[name]}", json.dumps(basis.get(name, {}))) for name in changed),
            *((name, form[name].value() or "") for name in TakesEffectForm.base_fields),
        ]
        waits = any(change.takes_two or change.timing.is_later for change in preview.changes)
        self.template_name = "dealer_ui/operator/limits/grid_preview.html"
        return self.page(title="Before and after", shown=preview, fields=fields, waits=waits, ends=form.timing().ends)


class GridPage(LimitEdit):
    """The grid; with a form sent, its next step."""

    template_name = "dealer_ui/operator/limits/grid.html"
    title = "Limits of all tables"

    def get_permission_required(self) -> tuple[str, ...]:
        return ("tables.change_table" if self.request.method == "POST" else "tables.view_table",)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.grid(GridForm(), {}, {})

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Fill cells in, preview the changes, or save them."""
        form, (typed, basis) = GridForm(request.POST), edit_of(request.POST)
        form.full_clean()
        match form.cleaned_data.get("do"):
            case "fill":
                filled, faults = form.filled(typed)
                return self.grid(form, filled, basis, faults)
            case "preview":
                return self.previewed(form, typed, basis)
            case "save":
                return self.saved(form, typed, basis)
        return self.grid(form, typed, basis)

    def previewed(self, form: GridForm, typed: Typed, basis: Typed) -> HttpResponse:
        """The changes before they are saved; the grid again if a cell is wrong or nothing changes."""
        preview = limit_cells.preview(typed, basis, form.timing())
        is_wrong = bool(preview.faults or form.moment_errors())
        if preview.changes and not is_wrong:
            return self.preview(form, typed, basis, preview)
        if not is_wrong:
            sentence = "Nothing is changed yet: type something else in a cell."
            messages.info(self.request, sentence, extra_tags="unchanged")
        return self.grid(form, typed, basis, preview.faults, status=422 if is_wrong else 200)

    def saved(self, form: GridForm, typed: Typed, basis: Typed) -> HttpResponse:
        """Save the changes that were previewed."""
        if form.moment_errors():
            return self.grid(form, typed, basis, status=422)
        timing, (digest, reason) = form.timing(), (form.cleaned_data.get(name, "") for name in ("digest", "why"))
        try:
            saved = limit_cells.save(typed, basis, timing, digest=digest, reason=reason, by=viewer_of(self.request))
        except Refused as refused:
            messages.error(self.request, refused.sentence, extra_tags=refused.code)
            faults = limit_cells.preview(typed, basis, timing).faults
            return self.grid(form, typed, basis, faults, status=refused.status)
        if saved.tables:
            sentence = f"{saved.tables} table{'s are' if saved.tables > 1 else ' is'} set otherwise."
            messages.success(self.request, sentence, extra_tags="limits_set")
        for proposal in saved.proposals:
            sentence = f"{proposal.about}: {proposals.entered(proposal)}"
            messages.success(self.request, sentence, extra_tags="proposed")
        return redirect(self.grid_url)

    def grid(
        self, form: GridForm, typed: Typed, basis: Typed, faults: Mapping[LimitCell, str] | None = None,
        *, status: int = 200,
    ) -> HttpResponse:  # fmt: skip
        """The grid with an edit in it, and the faults of its cells."""
        every = limit_cells.rows(list(Table.objects.in_use()))
        pit, game = self.request.GET.get("pit", ""), self.request.GET.get("game", "")
        rows = [row for row in every if pit in ("", row.place.pit or NO_PIT) and game in ("", row.table.game)]
        chosen = set(form["row"].value() or ())
        faults = faults or {}
        return self.page(
            status=status,
            form=form,
            rows=[_shown_row(row, typed, basis, faults, chosen) for row in rows],
            columns=[title for name, title in COLUMNS.items() if name not in FOLDED],
            pits=list(dict.fromkeys(row.place.pit for row in every if row.place.pit)),
            has_others=any(not row.place.pit for row in every),
            games=sorted({(row.table.game, GAMES[row.table.game].title) for row in every}, key=lambda pair: pair[1]),
            pit=pit,
            game=game,
            faults=[(cell.table, COLUMNS[cell.column], sentence) for cell, sentence in faults.items()],
        )


def _shown_row(
    row: TableRow, typed: Typed, basis: Typed, faults: Mapping[LimitCell, str], chosen: set[str]
) -> ShownRow:
    texts, seen = typed.get(row.name, {}), basis.get(row.name)
    cells = [
        ShownCell(
            column=column,
            title=title,
            name=cell_name(row.table.pk, column),
            text=texts.get(column, row.texts[column]),
            present=row.texts[column],
            fault=faults.get(LimitCell(row.name, column), ""),
            planned=row.planned(column),
            differs=row.differs(column),
        )
        for column, title in COLUMNS.items()
    ]
    # The page shows the editor the present value of a wrong cell, so the next edit is judged against that value.
    shown = {cell.column: cell.present for cell in cells if cell.fault}
    in_row = [cell for cell in cells if cell.column not in FOLDED]
    folded = [cell for cell in cells if cell.column in FOLDED]
    return ShownRow(row, in_row, folded, json.dumps({**(seen or row.texts), **shown}), str(row.table.pk) in chosen)


# --- Files -----------------------------------------------------------------------------------------------------


class GridFile(OperatorPage):
    """The grid as a file, to be changed and imported again."""

    permission_required = ("tables.view_table", "tables.export_lists")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        rows = limit_cells.rows(list(Table.objects.in_use()))
        return limit_files.download("limits.csv", limit_files.file_of(rows))


class LimitImport(LimitEdit):
    """The import of a file: a dry run that shows every change or every wrong cell. It is saved like the grid."""

    permission_required = ("tables.change_table",)
    template_name = "dealer_ui/operator/limits/grid_import.html"
    title = "Limits from a file"
    extra_context = {"header": limit_files.HEADER}

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.page(form=LimitFileForm())

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Try the file."""
        form = LimitFileForm(request.POST, request.FILES)
        form.full_clean()
        if errors := form.moment_errors() or form.errors.get("file"):
            messages.error(request, " ".join(map(str, errors)), extra_tags="no_file")
            return self.page(form=form, status=422)
        file = form.cleaned_data["file"]
        trial = limit_files.dry_run(file.read(), form.timing())
        if trial.wrong or not trial.shown.changes:
            return self.page(form=form, trial=trial, file_name=file.name, status=422 if trial.wrong else 200)
        return self.preview(form, trial.typed, trial.seen, trial.shown)
