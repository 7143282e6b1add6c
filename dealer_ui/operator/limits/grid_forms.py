"""Forms of the grid: the cells of each table, its buttons, the effective time of an edit, and an imported file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from django import forms
from django.http import QueryDict
from django.utils import timezone

from tables.admin.forms import EffectiveField, MomentField
from tables.limits import cell_texts
from tables.limits.cell_texts import CellError
from tables.limits.cells import AMOUNTS, COLUMNS, MAY_BE_EMPTY, LimitCell, Timing, Typed
from tables.models import Table

CLOCK: Final = "%Y-%m-%d %H:%M"
LONGEST: Final = 400
"""The longest text of a cell; the rest is cut off."""


class TakesEffectForm(forms.Form):
    """When an edit takes effect and, for a temporary one, when it ends."""

    takes = forms.ChoiceField(
        choices=(("round", "the next round"), ("shoe", "the next shoe")), required=False,
        widget=forms.Select({"aria-label": "Holds from"}),
    )  # fmt: skip
    effective = EffectiveField()
    ends = MomentField(label="Until", required=False)

    def clean(self) -> dict[str, Any]:
        """An edit ends in the future, and after it takes effect."""
        cleaned = self.cleaned_data
        starts = max(cleaned.get("effective") or timezone.now(), timezone.now())
        if cleaned.get("ends") and cleaned["ends"] <= starts:
            self.add_error("ends", f"It would end before it holds: end it after {timezone.localtime(starts):{CLOCK}}.")
        return cleaned

    def timing(self) -> Timing:
        """The times of the edit, with the default for a field in error."""
        cleaned = self.cleaned_data
        return Timing(cleaned.get("takes") or "round", cleaned.get("effective"), cleaned.get("ends"))

    def moment_errors(self) -> list[str]:
        """The errors of the times, for the page."""
        return [str(error) for name in ("effective", "ends") for error in self.errors.get(name, ())]


class LimitFileForm(TakesEffectForm):
    """A file of limits to import."""

    file = forms.FileField(
        allow_empty_file=True, widget=forms.FileInput({"accept": ".csv,text/csv,text/plain"}),
        error_messages={"required": "Choose a file: the grid as it was exported, with other amounts."},
    )  # fmt: skip


class GridForm(TakesEffectForm):
    """The fields of the grid outside its cells."""

    do = forms.CharField(required=False)
    row = forms.ModelMultipleChoiceField(Table.objects.all(), required=False)
    column = forms.ChoiceField(choices=tuple(AMOUNTS.items()), required=False)
    way = forms.ChoiceField(
        choices=(("to", "to"), ("up", "up by"), ("down", "down by")), required=False,
        widget=forms.Select({"aria-label": "How"}),
    )  # fmt: skip
    amount = forms.CharField(
        required=False, strip=False,
        widget=forms.TextInput({"inputmode": "decimal", "autocomplete": "off", "aria-label": "Amount", "size": 8}),
    )  # fmt: skip
    digest = forms.CharField(required=False, widget=forms.HiddenInput)
    why = forms.CharField(required=False, widget=forms.TextInput({"autocomplete": "off", "size": 30, "maxlength": 500}))

    def filled(self, typed: Typed) -> tuple[dict[str, dict[str, str]], dict[LimitCell, str]]:
        """The typed cells with one limit of the ticked rows set, raised or lowered, and the faults of cells that
        cannot be."""
        filled = {name: dict(texts) for name, texts in typed.items()}
        faults: dict[LimitCell, str] = {}
        column = self.cleaned_data.get("column")
        if not column or not self.cleaned_data.get("way"):
            return filled, faults
        for table in self.cleaned_data.get("row", ()):
            if table.name in filled:
                try:
                    filled[table.name][column] = self._filled(filled[table.name].get(column, ""))
                except CellError as wrong:
                    faults[LimitCell(table.name, column)] = str(wrong)
        return filled, faults

    def _filled(self, text: str) -> str:
        column, way, amount = (self.cleaned_data.get(name, "") for name in ("column", "way", "amount"))
        if way == "to":
            if amount.strip() or column not in MAY_BE_EMPTY:
                cell_texts.parse_amount(amount)
            return str(amount.strip())
        step = cell_texts.parse_amount(amount)
        after = cell_texts.parse_amount(text) + (step if way == "up" else -step)
        if after <= 0:
            raise CellError(f"{text} down by {amount} leaves nothing: a limit is more than 0.")
        return cell_texts.amount_text(after)


class CellField(forms.CharField):
    """The text of a cell, cut to its longest length."""

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "")[:LONGEST].replace("\x00", "")


class RowForm(forms.Form):
    """The cells of one table: the typed texts, and as JSON the texts that the editor saw. ``prefix`` is its key."""

    seen = forms.CharField(required=False)

    def __init__(self, data: QueryDict, *, prefix: str) -> None:
        super().__init__(data, prefix=prefix)
        self.fields |= {column: CellField(required=False, strip=False) for column in COLUMNS}

    def add_prefix(self, field_name: str) -> str:
        """The names of fields: s-1 and c-1-min_cents."""
        return f"s-{self.prefix}" if field_name == "seen" else cell_name(self.prefix, field_name)

    def clean_seen(self) -> dict[str, str]:
        """The texts by their columns; none for invalid JSON."""
        try:
            texts = msgspec.json.decode(self.cleaned_data["seen"] or "{}", type=dict[str, str])
        except msgspec.MsgspecError:
            return {}
        return {column: text for column, text in texts.items() if column in COLUMNS}

    def texts(self) -> dict[str, str]:
        """The typed texts. A column that was not sent is left out: it stays as it is."""
        self.full_clean()
        return {column: self.cleaned_data[column] for column in COLUMNS if self.add_prefix(column) in self.data}


def cell_name(key: Any, column: str) -> str:
    """The name of a cell's field."""
    return f"c-{key}-{column}"


def edit_of(data: QueryDict) -> tuple[Typed, Typed]:
    """The typed texts, and those that the editor saw, by tables' names."""
    typed: dict[str, Mapping[str, str]] = {}
    basis: dict[str, Mapping[str, str]] = {}
    for key, name in Table.objects.values_list("pk", "name"):
        form = RowForm(data, prefix=str(key))
        if texts := form.texts():
            typed[name] = texts
        if form.add_prefix("seen") in data:
            basis[name] = form.cleaned_data.get("seen", {})
    return typed, basis
