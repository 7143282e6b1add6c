"""The gaming day and its shifts in the admin. Hours are set for later days and never changed."""

from __future__ import annotations

from datetime import time
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.utils import timezone
from unfold import widgets

from tables.admin.forms import DomainForm
from tables.admin.pages import NeverChanged
from tables.form_fields import DayField
from tables.models import HouseHours, Staff
from tables.refusals import Faults
from tables.reports import gaming_hours as shifts
from tables.reports.gaming_hours import Hours


class HouseHoursForm(DomainForm):
    """The gaming day and its shifts from a later day on, filled with those in force."""

    shifts = forms.CharField(
        widget=widgets.UnfoldAdminTextareaWidget({"rows": 4}),
        help_text="One a line, name and start: Day 06:00. The first one starts with the day.",
    )

    class Meta:
        model = HouseHours
        fields = ("from_day", "time_zone", "day_starts")
        field_classes = {"from_day": DayField}
        help_texts = {"time_zone": "As in the IANA database: Europe/Berlin, America/New_York, UTC."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        calendar = shifts.calendar()
        tomorrow = calendar.day_of(timezone.now()) + shifts.DAY
        hours = calendar.hours_of(tomorrow)
        typed = {"from_day": tomorrow, "time_zone": hours.time_zone, "day_starts": f"{hours.day_starts:%H:%M}"}
        self.initial = {**typed, "shifts": shifts.say_shifts(hours.shifts), **self.initial}

    def clean_shifts(self) -> list[list[str]]:
        """The name and start of each shift in stored form."""
        try:
            return [[name, f"{starts:%H:%M}"] for name, starts in shifts.read_shifts(self.cleaned_data["shifts"])]
        except ValueError as wrong:
            raise ValidationError(str(wrong)) from None

    def hours(self) -> Hours:
        typed = self.cleaned_data
        named = tuple((name, time.fromisoformat(starts)) for name, starts in typed["shifts"])
        return Hours(typed["from_day"], typed["time_zone"], typed["day_starts"], named)

    def faults(self) -> Faults:
        """The faults under the calendar in force; the first day has to be a later one."""
        return shifts.faults(self.hours(), shifts.calendar(), timezone.now())

    def write(self, by: Staff) -> HouseHours:
        return shifts.set_hours(self.hours(), by=by)


@admin.register(HouseHours)
class HouseHoursAdmin(NeverChanged):
    """The gaming day and its shifts."""

    form = HouseHoursForm
    list_display = ("from_day", "day_starts", "time_zone", "in_words", "by", "at")
    fields = ("from_day", "time_zone", "day_starts", "shifts")
    shown_fields = ("from_day", "time_zone", "day_starts", "in_words")

    @admin.display(description="shifts")
    def in_words(self, hours: HouseHours) -> str:
        return ", ".join(shifts.say_shifts(hours.shifts).splitlines())
