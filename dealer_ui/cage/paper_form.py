"""The paper that an input is entered from: its number, and the time of the event by the paper."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

from dealer_ui.entry_forms import TypedMomentField
from tables.floor.back_entry import FromPaper
from tables.form_fields import InputForm


class PaperForm(InputForm):
    """Both fields are empty for live input."""

    code = "bad_paper"
    message = "What is entered from paper has the paper's number and the time that stands on it: give both, or none."
    paper = forms.CharField(required=False)
    happened = TypedMomentField(required=False)

    def clean(self) -> None:
        if bool(self.cleaned_data.get("paper")) != bool(self.cleaned_data.get("happened")):
            raise ValidationError(self.message)

    def from_paper(self) -> FromPaper | None:
        """The paper; None for live input. Raises Refused."""
        values = self.values()
        return FromPaper(values["paper"], values["happened"]) if values["paper"] else None
