"""The forms of a slip: the fields of a step by the declaration of its type, and the notes that a count sets aside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import cached_property

from dealer_ui.entry_forms import KeyForm, TypedAmountField
from ledger.proof.chips import money
from tables.cage import cage_desk, chip_series, slip_fields
from tables.form_fields import InputForm
from tables.log.slip_types import CHIP_SERIES, DAY, KEPT_APART, MOMENT, SLIP, SlipField, SlipType, Stage

_INPUTS: Final = {DAY: "date", MOMENT: "datetime-local"}
_NOTES_APART: Final = 3
"""The number of lines for notes in question on one form."""


class StepForm(KeyForm):
    """The fields of every signature on a slip, and of a void."""

    message = "This form was incomplete: look at the slip, then sign again."
    stage = forms.CharField(required=False)
    box = forms.CharField(required=False)
    void = forms.CharField(required=False)
    reason = forms.CharField(required=False)


class PasskeyForm(InputForm):
    """The slip and the badge for which a page asks for passkeys."""

    slip = forms.CharField(required=False)
    badge = forms.CharField(required=False)


class FactField(forms.CharField):
    """One field of a step of a slip. ``slip_fields.read`` checks its text, of this form as of the API."""

    def __init__(self, fact: SlipField, series: SlipType) -> None:
        message = f"Fill in “{fact.label}”."
        super().__init__(required=not fact.is_optional, label=fact.label, error_messages={"required": message})
        self.fact, self.series = fact, series
        self.input_type = _INPUTS.get(fact.kind, "text")

    @cached_property
    def choices(self) -> list[tuple[str, str]] | None:
        """The options, as value and label; None for a field that is typed."""
        kind, series = self.fact.kind, self.series
        if kind == CHIP_SERIES:
            wants_retired = series.chip_series == "expired"
            rows = [
                row
                for row in chip_series.all_of_them()
                if not series.chip_series or (chip_series.last_day_of(row) is not None) is wants_retired
            ]
            return [(row.name, f"{row.name}, {row.manufacturer} {row.year}") for row in rows]
        if kind == SLIP:
            waiting = slip_fields.left_of(series)
            return [(slip.name, f"{slip.label}, {slip.facts['place']}: {money(cents)}") for slip, cents in waiting]
        return [(name, name) for name in sorted(cage_desk.choices(kind))] if kind in KEPT_APART else None


class FactsForm(InputForm):
    """The fields of a step of a slip other than chips. The name of a field in HTML is fact-series."""

    code = "bad_fact"
    prefix = "fact"

    def __init__(self, data: QueryDict, series: SlipType, stage: Stage) -> None:
        super().__init__(data)
        self.fields |= {fact.name: FactField(fact, series) for fact in stage.fields}

    def facts(self) -> dict[str, str]:
        """The text of the fields, without empty ones. Raises Refused."""
        return {name: text for name, text in self.values().items() if text}


class QuestionedNoteForm(InputForm):
    """A line for a note that is counted as worth nothing. All of its fields are empty, or none is."""

    code = "bad_apart"
    kind = forms.CharField(required=False)
    worth = TypedAmountField(required=False)
    envelope = forms.CharField(required=False)

    def clean(self) -> None:
        is_empty = {self.cleaned_data.get(name, "") in (None, "") for name in self.fields}
        if len(is_empty) > 1:
            raise ValidationError("A note that is put apart has a kind, a worth and an envelope: give all.")


def questioned_note_forms(data: QueryDict) -> list[QuestionedNoteForm]:
    """The lines for notes in question on one form. The name of a field in HTML is apart-1-kind."""
    return [QuestionedNoteForm(data, prefix=f"apart-{line}") for line in range(1, _NOTES_APART + 1)]


def questioned_notes(lines: Iterable[QuestionedNoteForm]) -> tuple[tuple[str, int, str], ...]:
    """The kind, claimed cents and envelope of each note that is set aside. Raises Refused for an incomplete line."""
    notes = [line.values() for line in lines]
    return tuple((note["kind"], note["worth"], note["envelope"]) for note in notes if note["kind"])
