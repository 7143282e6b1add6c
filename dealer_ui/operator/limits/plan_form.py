"""The form of a limit plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar, Final

from django import forms
from django.utils import timezone
from msgspec import structs
from unfold import widgets

from tables.admin import forms as admin_forms
from tables.admin.forms import CommentField, EffectiveField, MomentField, MoneyField, table_choices
from tables.form_fields import InputForm, WholeNumberField
from tables.games.catalog import GAMES
from tables.limits import cell_texts
from tables.limits import plans as limit_plans
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import (
    AMOUNTS,
    LIMIT_KINDS,
    LONGEST,
    WAGER,
    WEEKDAYS,
    Always,
    Hours,
    Occasion,
    Schedule,
    Value,
)
from tables.models import LimitPlan, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.reports import site_clock
from tables.setup import pits, policies

SEVERAL: Final = "table:"
"""The choice of a plan for several tables."""


def targets() -> Iterator[tuple[str, Any]]:
    """The choices of a plan's place: the site, its games, its pits and its tables, by their kinds."""
    tables = list(Table.objects.in_use().values_list("name", "game"))
    games = sorted({game for _, game in tables}, key=lambda game: GAMES[game].title)
    places = sorted({place.pit for place in pits.places().values()}, key=pits.natural)
    yield "house:", "The whole house"
    yield "Games", [(f"game:{game}", GAMES[game].title) for game in games]
    yield "Pits", [(f"pit:{pit}", pit) for pit in places]
    yield SEVERAL, "Several tables"
    yield "Tables", [(f"table:{name}", name) for name, _ in sorted(tables, key=lambda table: pits.natural(table[0]))]


class PlanForm(forms.Form):
    """A limit plan; a further version begins with the values of the newest one."""

    name = admin_forms.CharField(max_length=LONGEST, help_text="Weekend nights, Derby day.")
    target = admin_forms.ChoiceField(
        label="Is for", choices=targets,
        help_text="What is nearer to a table lies on top: a table's own plan over its pit's, that over its game's.",
    )  # fmt: skip
    tables = admin_forms.MultipleChoiceField(
        label="Its tables", required=False, choices=table_choices,
        help_text="For several tables, chosen above: tick each of them.",
    )  # fmt: skip
    when = forms.ChoiceField(
        choices=(("always", "Always"), ("hours", "On weekdays, from one hour to another"), ("event", "For an event")),
        widget=widgets.UnfoldAdminRadioSelectWidget,
        initial="always",
    )
    weekdays = admin_forms.TypedMultipleChoiceField(
        required=False, choices=tuple(enumerate(WEEKDAYS)), coerce=int, help_text="On which the hours start."
    )
    starts = forms.TimeField(
        label="Hours from", required=False, widget=widgets.UnfoldAdminTextInputWidget({"placeholder": "20:00"}),
        help_text="By the house's clock.",
    )  # fmt: skip
    ends = forms.TimeField(
        label="Hours to", required=False, widget=widgets.UnfoldAdminTextInputWidget({"placeholder": "04:00"}),
        help_text="No later than it starts: past midnight.",
    )  # fmt: skip
    event_from = MomentField(label="Event from", required=False, help_text="As 2026-05-02 16:00, by the house's clock.")
    event_to = MomentField(label="Event to", required=False)
    wagers = forms.CharField(
        label="Limits of single wagers", required=False, widget=widgets.UnfoldAdminTextareaWidget({"rows": 3}),
        help_text="One a line, with the least and the most: tie 5 to 100.",
    )  # fmt: skip
    note = admin_forms.CharField(
        label="Why", required=False, max_length=limit_plans.LONGEST_NOTE,
        help_text="Shown at the table, to the dealer and on the placard: Saturday night.",
    )  # fmt: skip
    takes = admin_forms.ChoiceField(label="Holds from the next", choices=(("round", "Round"), ("shoe", "Shoe")))
    keeps_seated = admin_forms.BooleanField(
        label="Seats that play keep the old minimum", required=False,
        help_text="Until they leave: until they have not bet in three rounds in a row.",
    )  # fmt: skip
    effective = EffectiveField()
    comment = CommentField("For the second person", help_text="")
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    excluded = forms.MultipleChoiceField(required=False, choices=table_choices, widget=forms.MultipleHiddenInput)
    confirm = forms.BooleanField(required=False, widget=forms.CheckboxInput)

    FIELDS: ClassVar[Mapping[str, str]] = {"of": "target"}

    def __init__(self, *args: Any, named: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.misfits: dict[str, str] = {}
        """The tables that the limits do not fit, with the reasons, where the plan may apply at others."""
        for name, kind in LIMIT_KINDS.items():
            self.fields[name] = MoneyField(label=kind.title.capitalize(), required=False, help_text=kind.help_text)
        if named:
            self.fields["name"].disabled = True
        place, target = self.initial.get("target", ""), self.fields["target"]
        assert isinstance(target, forms.ChoiceField)  # noqa: S101 -- as it is declared
        if place and not target.valid_value(place):
            # Without its own place among the choices, a browser would choose the first one: the whole house.
            target.choices = [(place, f"{place.partition(':')[2]}: not in use"), *targets()]

    @classmethod
    def initial_of(cls, row: LimitPlan) -> dict[str, Any]:
        """The values of a version, as they would be typed."""
        event = LIMIT_PLANS.event_of(row)
        facts: dict[str, Any] = {name: event.values.get(name) for name in AMOUNTS}
        lines = [
            f"{name.removeprefix(WAGER)} {cell_texts.limit_text(value)}"
            for name, value in event.values.items()
            if name not in AMOUNTS
        ]
        facts |= {
            "name": event.name, "target": SEVERAL if event.tables else f"{event.scope}:{event.of}",
            "tables": event.tables, "wagers": "\n".join(lines), "note": event.note,
            "takes": event.takes, "keeps_seated": event.keeps_seated, "version": row.version,
        }  # fmt: skip
        match event.schedule:
            case Hours(weekdays=weekdays, starts=starts, ends=ends):
                facts |= {"when": "hours", "weekdays": weekdays, "starts": starts, "ends": ends}
            case Occasion():
                edges = [f"{timezone.localtime(edge):%Y-%m-%d %H:%M}" for edge in event.schedule.edges(timezone.now())]
                facts |= {"when": "event", "event_from": edges[0], "event_to": edges[1]}
            case _:
                facts["when"] = "always"
        return facts

    def amounts(self) -> list[forms.BoundField]:
        """The fields of the limits that are one amount, for the page."""
        return [self[name] for name in AMOUNTS]

    def clean_wagers(self) -> dict[str, Value]:
        """The limits of each line's wager."""
        try:
            limits = cell_texts.parse_wagers(";".join(self.cleaned_data["wagers"].splitlines()))
        except cell_texts.CellError as wrong:
            raise forms.ValidationError(str(wrong)) from None
        return {f"{WAGER}{wager}": bounds for wager, bounds in limits.items()}

    def clean(self) -> dict[str, Any]:
        """Validate by the rules of the write, with each error at its field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        if sentence := self._when_fault():
            self.add_error("when", sentence)
            return cleaned
        if cleaned["target"] == SEVERAL and not cleaned["tables"]:
            self.add_error("tables", "Tick each table that the plan is for.")
            return cleaned
        moment = timezone.now()
        faults = limit_plans.faults(self.event(), moment)
        if faults and self._fits_others(moment):
            self.add_error("confirm", "Confirm that the plan does not apply at these tables, or change its limits.")
            return cleaned
        for setting, sentence in faults.items():
            field = self.FIELDS.get(setting, "when" if setting == "schedule" else setting)
            field = "wagers" if field.startswith(WAGER) else field
            self.add_error(field if field in self.fields else None, sentence)
        return cleaned

    def _fits_others(self, moment: datetime) -> bool:
        """Find the tables that the limits do not fit. False if the plan cannot be set without those either."""
        misfits = {table: " ".join(wrong.values()) for table, wrong in limit_plans.misfits(self._plan()).items()}
        if not misfits or limit_plans.faults(without(self._plan(), misfits), moment):
            return False
        self.misfits = misfits
        return True

    def _when_fault(self) -> str:
        typed = self.cleaned_data
        if typed["when"] == "hours" and not (typed["weekdays"] and typed["starts"] and typed["ends"]):
            return "Choose weekdays, and fill in from which hour to which: Fri, Sat, 20:00 to 04:00."
        if typed["when"] == "event" and not (typed["event_from"] and typed["event_to"]):
            return "Fill in from when to when the event is: 2026-05-02 16:00 to 2026-05-03 00:00."
        return ""

    def event(self) -> LimitPlanSet:
        """The plan as an entry of the site's log, without the tables whose exclusion was confirmed."""
        excluded = self.cleaned_data["excluded"] if self.cleaned_data["confirm"] else ()
        return without(self._plan(), excluded) if excluded else self._plan()

    def _plan(self) -> LimitPlanSet:
        typed = self.cleaned_data
        scope, _, of = typed["target"].partition(":")
        tables = tuple(typed["tables"]) if typed["target"] == SEVERAL else ()
        values = {name: typed[name] for name in AMOUNTS if typed[name] is not None}
        return LimitPlanSet(
            name=typed["name"], version=0, scope=scope, of=of, tables=tables, schedule=self._schedule(),
            note=typed["note"], values=values | typed["wagers"], takes=typed["takes"],
            keeps_seated=typed["keeps_seated"],
            effective=policies.spelled(typed["effective"]) if typed["effective"] else "",
        )  # fmt: skip

    def _schedule(self) -> Schedule:
        typed = self.cleaned_data
        if typed["when"] == "hours":
            starts, ends = (f"{typed[name]:%H:%M}" for name in ("starts", "ends"))
            weekdays = tuple(sorted(typed["weekdays"]))
            return Hours(weekdays=weekdays, starts=starts, ends=ends, zone=site_clock.zone())
        if typed["when"] == "event":
            starts, ends = (policies.spelled(typed[name]) for name in ("event_from", "event_to"))
            return Occasion(starts=starts, ends=ends)
        return Always()


def without(event: LimitPlanSet, names: Collection[str]) -> LimitPlanSet:
    """A plan that does not apply at some of its tables: it excludes them, or no longer lists them."""
    if event.tables:
        return structs.replace(event, tables=tuple(table for table in event.tables if table not in names))
    return structs.replace(event, excluded=tuple(names))


class PlanRetirementForm(InputForm):
    """The retirement of a plan: its version on the page, and a comment for the second operator."""

    version = WholeNumberField(required=False)
    comment = forms.CharField(required=False)
