"""The register of keys and the drop schedule in the admin. Rows are added, never changed."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.utils import timezone

from tables.admin.forms import DomainForm, TimeField
from tables.admin.pages import NeverChanged
from tables.cage import key_register
from tables.cage.key_register import Schedule
from tables.form_fields import DayField
from tables.log.entries.custody import WEEKDAYS, HouseKeySet
from tables.models import DropSchedule, HouseKey, Staff, Table
from tables.refusals import Faults
from tables.reports import gaming_hours


class HouseKeyForm(DomainForm):
    """A key of the register. It replaces an earlier row of the same mark."""

    class Meta:
        model = HouseKey
        fields = ("name", "lock", "dual", "in_use")
        help_texts = {
            "name": "As it is marked. A mark that is on the register already is set anew.",
            "dual": "Two persons sign for it, and a third hands it out.",
            "in_use": "Off: the key is retired and is not handed out any more.",
        }

    def event(self) -> HouseKeySet:
        typed = self.cleaned_data
        return HouseKeySet(name=typed["name"], lock=typed["lock"], dual=typed["dual"], in_use=typed["in_use"])

    def faults(self) -> Faults:
        return key_register.key_faults(self.event())

    def write(self, by: Staff) -> HouseKey:
        return key_register.set_key(self.event(), by=by)


class DropScheduleForm(DomainForm):
    """When boxes are due, from a day on. The schedule replaces an earlier row of the same name."""

    tables = forms.MultipleChoiceField(
        choices=lambda: [(name, name) for name in Table.objects.order_by("name").values_list("name", flat=True)],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None stands for all tables.",
    )
    weekdays = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=list(enumerate(WEEKDAYS)),
        help_text="None ends the schedule.",
    )
    due_at = TimeField(label="Due at", help_text="By the house's clock: 05:30.")

    class Meta:
        model = DropSchedule
        fields = ("name", "from_day", "tables", "weekdays", "due_at", "who")
        field_classes = {"from_day": DayField}
        help_texts = {"who": "In words: security and a counter."}

    def schedule(self) -> Schedule:
        typed = self.cleaned_data
        return Schedule(
            name=typed["name"],
            from_day=typed["from_day"],
            tables=tuple(typed["tables"]),
            weekdays=tuple(sorted(int(number) for number in typed["weekdays"])),
            due_at=typed["due_at"],
            who=typed["who"],
        )

    def faults(self) -> Faults:
        return key_register.schedule_faults(self.schedule(), gaming_hours.day_of(timezone.now()))

    def write(self, by: Staff) -> DropSchedule:
        return key_register.set_schedule(self.schedule(), by=by, today=gaming_hours.day_of(timezone.now()))


@admin.register(HouseKey)
class HouseKeyAdmin(NeverChanged):
    """The register of keys."""

    form = HouseKeyForm
    list_display = ("name", "lock", "dual", "in_use", "by", "at")
    fields = ("name", "lock", "dual", "in_use")


@admin.register(DropSchedule)
class DropScheduleAdmin(NeverChanged):
    """When drop boxes are due."""

    form = DropScheduleForm
    list_display = ("name", "from_day", "which", "days", "due_at", "who", "by", "at")
    fields = ("name", "from_day", "tables", "weekdays", "due_at", "who")

    @admin.display(description="tables")
    def which(self, row: DropSchedule) -> str:
        return ", ".join(row.tables) or "all"

    @admin.display(description="weekdays")
    def days(self, row: DropSchedule) -> str:
        return " ".join(WEEKDAYS[number] for number in row.weekdays) or "ended"
