"""Kinds and series of chips in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold import widgets

from ledger.proof.chips import money
from tables.admin.forms import DomainForm, ModelMultipleChoiceField, MoneyField
from tables.admin.pages import NeverChanged, Retiring
from tables.cage import chip_series, denominations, retirement
from tables.models import ChipSeries, Denomination, Staff
from tables.refusals import Faults
from tables.setup.dual_control import ProposalDraft


class DenominationForm(DomainForm):
    """A kind of chip."""

    FIELDS = {"value_cents": "value"}

    value = MoneyField(label="Worth", help_text="It is printed on the chip, so it never changes.")

    class Meta:
        model = Denomination
        fields = ("colour", "face")
        widgets = {"face": widgets.UnfoldAdminColorInputWidget}

    def faults(self) -> Faults:
        """The faults of the appearance, and of a new chip's value."""
        worth = denominations.value_faults(self.cleaned_data["value"]) if self.instance.pk is None else {}
        return worth | denominations.look_faults(self.instance, self._looks())

    def draft(self) -> ProposalDraft | None:
        chip = None if self.instance.pk is None else self.instance
        return denominations.draft(chip, self.cleaned_data.get("value", 0), self._looks())

    def write(self, by: Staff) -> Denomination:
        if self.instance.pk is None:
            return denominations.add_denomination(value_cents=self.cleaned_data["value"], **self._looks(), by=by)
        return denominations.change_denomination(self.instance, self._looks(), by=by)

    def _looks(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("colour", "face")}


@admin.register(Denomination)
class DenominationAdmin(Retiring):
    """Kinds of chips."""

    form = DenominationForm
    takes_two = ("chips",)
    list_display = ("worth", "colour", "swatch", "at", "retired")
    actions_detail = ("retire",)
    retire_by = staticmethod(retirement.retire_denomination)
    retire_help = "Chips of this kind are not given out any more; those that are out are taken back as before."
    list_display_links = ("worth", "colour")
    fields = ("value", "colour", "face")
    fixed_fields = ("value",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Denomination]:
        """The kinds with the number of tables that use each."""
        return super().get_queryset(request).annotate(table_count=Count("tables"))

    @admin.display(description="worth", ordering="value_cents")
    def worth(self, chip: Denomination) -> str:
        return money(chip.value_cents)

    @admin.display(description="worth")
    def value(self, chip: Denomination) -> str:
        """The value of an existing kind, on its page."""
        return money(chip.value_cents)

    @admin.display(description="face")
    def swatch(self, chip: Denomination) -> SafeString:
        return format_html(
            '<svg width="22" height="22" role="img" aria-label="{}"><circle cx="11" cy="11" r="10" fill="{}"'
            ' stroke="#888"/><circle cx="11" cy="11" r="6" fill="none" stroke="#8888"/></svg>',
            chip.face,
            chip.face,
        )

    @admin.display(description="tables", ordering="table_count")
    def at(self, chip: Any) -> int:
        return int(chip.table_count)


class ChipSeriesForm(DomainForm):
    """A series of chips: the kinds that a manufacturer made in one order."""

    FIELDS = {"values": "kinds"}

    # Not ``values``: the column of that name would validate the ticked kinds as its own value.
    kinds = ModelMultipleChoiceField(
        Denomination.objects.filter(retired_at=None),
        label="Kinds",
        help_text="The kinds of chips that it has.",
    )

    class Meta:
        model = ChipSeries
        fields = ("name", "manufacturer", "year")
        help_texts = {"name": "As it is called on slips, for good.", "year": "In which it was made."}

    def faults(self) -> Faults:
        """The faults of a new series; a series never changes."""
        return chip_series.faults(**self._entered())

    def write(self, by: Staff) -> ChipSeries:
        return chip_series.add(**self._entered(), by=by)

    def _entered(self) -> dict[str, Any]:
        values = {name: self.cleaned_data[name] for name in ("name", "manufacturer", "year")}
        return values | {"values": [chip.value_cents for chip in self.cleaned_data["kinds"]]}


@admin.register(ChipSeries)
class ChipSeriesAdmin(NeverChanged):
    """Series of chips. A slip of the cage discontinues one."""

    form = ChipSeriesForm
    list_display = ("name", "manufacturer", "year", "worths", "by", "at", "redeemed_up_to")
    list_select_related = ("retirement",)
    fields = ("name", "manufacturer", "year", "kinds")
    shown_fields = ("name", "manufacturer", "year", "worths", "redeemed_up_to")

    @admin.display(description="kinds")
    def worths(self, series: ChipSeries) -> str:
        return ", ".join(money(value) for value in series.values)

    @admin.display(description="redeemed up to", empty_value="in use")
    def redeemed_up_to(self, series: ChipSeries) -> str | None:
        last_day = chip_series.last_day_of(series)
        return f"{last_day:%Y-%m-%d}" if last_day else None
