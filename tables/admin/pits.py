"""The sections of pits in the admin. Rows are added, never changed."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from unfold import widgets

from tables.admin.forms import DomainForm, table_choices
from tables.admin.pages import NeverChanged
from tables.log.entries.pits import PitSectionSet
from tables.models import PitSection, Staff
from tables.refusals import Faults
from tables.setup import pits


class PitSectionForm(DomainForm):
    """The tables of a section. It replaces an earlier row of the same pit and name."""

    tables = forms.MultipleChoiceField(
        choices=table_choices, required=False, widget=forms.CheckboxSelectMultiple, help_text="None ends the section."
    )
    first = forms.CharField(
        label="First in order",
        required=False,
        widget=widgets.UnfoldAdminTextareaWidget,
        help_text="One table a line, where some are to stand first. The others follow by name.",
    )

    class Meta:
        model = PitSection
        fields = ("pit", "section", "tables", "first")
        help_texts = {
            "pit": "Pit 1. A name that is there already is set anew.",
            "section": "What one supervisor watches. Empty: the pit is one section.",
        }

    def event(self) -> PitSectionSet:
        typed = self.cleaned_data
        first = tuple(line.strip() for line in typed["first"].splitlines() if line.strip())
        return PitSectionSet(pit=typed["pit"], section=typed["section"], tables=tuple(typed["tables"]), first=first)

    def faults(self) -> Faults:
        return pits.faults(self.event())

    def write(self, by: Staff) -> PitSection:
        return pits.set_section(self.event(), by=by)


@admin.register(PitSection)
class PitSectionAdmin(NeverChanged):
    """The tables of each pit."""

    form = PitSectionForm
    list_display = ("pit", "section", "which", "by", "at")
    fields = ("pit", "section", "tables", "first")

    @admin.display(description="tables")
    def which(self, row: PitSection) -> str:
        return ", ".join(row.tables) or "ended"
