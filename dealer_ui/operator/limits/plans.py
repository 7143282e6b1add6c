"""Limit plans in the admin: which there are, how they lie upon each other at each table, and a form in plain fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from msgspec import structs
from unfold import widgets

from tables.admin.forms import EffectiveField, MomentField, MoneyField, as_error
from tables.admin.pages import SetUp, number, operator
from tables.approvals import proposals
from tables.games.catalog import GAMES
from tables.limits import cell_texts, resolver
from tables.limits import plans as limit_plans
from tables.limits.resolver import TableLimits
from tables.log import dual_control
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import (
    AMOUNTS,
    LONGEST,
    WAGER,
    WEEKDAYS,
    Always,
    Hours,
    Layer,
    Occasion,
    Plan,
    Schedule,
    Value,
    amount_of,
    called,
    layers_at,
    limits_of,
    resolve,
)
from tables.log.message import text_of
from tables.models import LimitPlan, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Refused
from tables.reports import site_clock
from tables.setup import pits, policies
from tables.setup.dual_control import ProposalDraft

DAYS: Final = 7
HOURS_OF_A_DAY: Final = 24
MOST_STRETCHES: Final = 200


# --- The form ----------------------------------------------------------------------------------------------------


class PlanForm(forms.Form):
    """A plan as somebody types it; another version of one begins with what stands."""

    name = forms.CharField(
        max_length=LONGEST,
        widget=widgets.UnfoldAdminTextInputWidget,
        help_text="Weekend nights, Derby day.",
    )
    target = forms.ChoiceField(
        label="Is for", widget=widgets.UnfoldAdminSelectWidget,
        help_text="What is nearer to a table lies on top: a table's own plan over its pit's, that over its game's.",
    )  # fmt: skip
    when = forms.ChoiceField(
        choices=(("always", "Always"), ("hours", "On weekdays, from one hour to another"), ("event", "For an event")),
        widget=widgets.UnfoldAdminRadioSelectWidget,
        initial="always",
    )
    weekdays = forms.TypedMultipleChoiceField(
        required=False, choices=tuple(enumerate(WEEKDAYS)), coerce=int,
        widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget, help_text="On which the hours start.",
    )  # fmt: skip
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
    min_cents = MoneyField(label="Minimum", required=False, help_text="Empty: left to the layers below.")
    max_cents = MoneyField(label="Maximum", required=False)
    seat_max_cents = MoneyField(
        label="Maximum of a seat", required=False, help_text="All wagers of one seat before the cards, together."
    )
    cap_cents = MoneyField(
        label="Exposure of the table", required=False, help_text="The most of all bets of a round together."
    )
    wagers = forms.CharField(
        label="Limits of single wagers", required=False, widget=widgets.UnfoldAdminTextareaWidget({"rows": 3}),
        help_text="One a line, with the least and the most: tie 5 to 100.",
    )  # fmt: skip
    note = forms.CharField(
        label="Why", required=False, max_length=limit_plans.LONGEST_NOTE, widget=widgets.UnfoldAdminTextInputWidget,
        help_text="Shown at the table, to the dealer and on the placard: Saturday night.",
    )  # fmt: skip
    takes = forms.ChoiceField(
        label="Holds from the next", choices=(("round", "Round"), ("shoe", "Shoe")),
        widget=widgets.UnfoldAdminSelectWidget,
    )  # fmt: skip
    keeps_seated = forms.BooleanField(
        label="Seats that play keep the old minimum", required=False, widget=widgets.UnfoldBooleanSwitchWidget,
        help_text="Until they leave: until they have not bet in three rounds in a row.",
    )  # fmt: skip
    effective = EffectiveField()
    comment = forms.CharField(
        label="For the second person", required=False, max_length=500, widget=widgets.UnfoldAdminTextInputWidget
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)

    FIELDS: ClassVar[Mapping[str, str]] = {"of": "target"}

    def __init__(self, *args: Any, named: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["target"].choices = list(targets())  # type: ignore[attr-defined]
        if named:
            self.fields["name"].disabled = True

    @classmethod
    def initial_of(cls, row: LimitPlan) -> dict[str, Any]:
        """What stands, as it would be typed."""
        event = LIMIT_PLANS.event_of(row)
        facts: dict[str, Any] = {name: event.values.get(name) for name in AMOUNTS}
        lines = [
            f"{name.removeprefix(WAGER)} {_typed(value)}" for name, value in event.values.items() if name not in AMOUNTS
        ]
        facts |= {
            "name": event.name, "target": f"{event.scope}:{event.of}", "wagers": "\n".join(lines), "note": event.note,
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

    def clean_wagers(self) -> dict[str, Value]:
        """Each line's wager, and its least and most."""
        try:
            limits = cell_texts.wagers(";".join(self.cleaned_data["wagers"].splitlines()))
        except cell_texts.Spelling as wrong:
            raise forms.ValidationError(str(wrong)) from None
        return {f"{WAGER}{wager}": bounds for wager, bounds in limits.items()}

    def clean(self) -> dict[str, Any]:
        """Judged as the write that follows judges; each sentence at its field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        if sentence := self._when_fault():
            self.add_error("when", sentence)
            return cleaned
        moment = timezone.now()
        event = self.event()
        effective = event.effective or policies.spelled(moment)
        judged = structs.replace(event, effective=effective)
        for setting, sentence in limit_plans.faults(judged, moment).items():
            field = self.FIELDS.get(setting, "when" if setting == "schedule" else setting)
            field = "wagers" if field.startswith(WAGER) else field
            self.add_error(field if field in self.fields else None, sentence)
        return cleaned

    def _when_fault(self) -> str:
        typed = self.cleaned_data
        if typed["when"] == "hours" and not (typed["weekdays"] and typed["starts"] and typed["ends"]):
            return "Choose weekdays, and fill in from which hour to which: Fri, Sat, 20:00 to 04:00."
        if typed["when"] == "event" and not (typed["event_from"] and typed["event_to"]):
            return "Fill in from when to when the event is: 2026-05-02 16:00 to 2026-05-03 00:00."
        return ""

    def event(self) -> LimitPlanSet:
        """What was typed, as the house's book would say it."""
        typed = self.cleaned_data
        scope, _, of = typed["target"].partition(":")
        values = {name: typed[name] for name in AMOUNTS if typed[name] is not None}
        return LimitPlanSet(
            name=typed["name"], version=0, scope=scope, of=of, schedule=self._schedule(), note=typed["note"],
            values=values | typed["wagers"], takes=typed["takes"], keeps_seated=typed["keeps_seated"],
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

    def draft(self) -> ProposalDraft | None:
        """What is to be proposed, where it takes two people."""
        return limit_plans.draft_of(self.event(), expected_version=self.cleaned_data["version"])


def targets() -> Iterator[tuple[str, Any]]:
    """What a plan may be for: the house, its games, its pits and its tables, by their kinds."""
    tables = list(Table.objects.in_use().values_list("name", "game"))
    games = sorted({game for _, game in tables}, key=lambda game: GAMES[game].title)
    places = sorted({place.pit for place in pits.places().values()}, key=pits.natural)
    yield "house:", "The whole house"
    yield "Games", [(f"game:{game}", GAMES[game].title) for game in games]
    yield "Pits", [(f"pit:{pit}", pit) for pit in places]
    yield "Tables", [(f"table:{name}", name) for name, _ in sorted(tables, key=lambda table: pits.natural(table[0]))]


def _typed(value: Value) -> str:
    return str(MoneyField().prepare_value(value)) if isinstance(value, int) else " to ".join(map(_typed, value))


# --- The list ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A plan as the list shows it."""

    plan: Plan
    url: str
    limits: str
    when: str
    holds_at: Sequence[str]
    """The tables at which it sets something now."""
    next: Sequence[Plan]
    """Its versions to come."""


def lines(limits: Mapping[str, TableLimits], moment: datetime) -> list[PlanRow]:
    """Every plan that stands or is to come, and where it holds."""
    every = resolver.plans(moment)
    standing = {plan.name: plan for plan in every if plan.effective <= moment and not plan.retired}
    to_come = [plan for plan in every if plan.effective > moment]
    names = sorted({*standing, *(plan.name for plan in to_come)}, key=pits.natural)
    keys = {row.name: row.pk for row in LimitPlan.objects.filter(name__in=names).order_by("version")}
    return [
        _line(
            standing.get(name) or next(plan for plan in to_come if plan.name == name),
            reverse("admin:tables_limitplan_change", args=[keys[name]]),
            limits,
            [plan for plan in to_come if plan.name == name],
        )
        for name in names
    ]


def _line(plan: Plan, url: str, limits: Mapping[str, TableLimits], to_come: Sequence[Plan]) -> PlanRow:
    holds_at = [
        table
        for table, table_limits in limits.items()
        if any(layer.plan and layer.plan.name == plan.name for layer in table_limits.outcome.layers.values())
    ]
    return PlanRow(
        plan, url, in_words(plan.values), words_of(plan.schedule), sorted(holds_at, key=pits.natural), to_come
    )


def in_words(values: Mapping[str, Value]) -> str:
    return text_of(limits_of(values)) or "nothing"


def words_of(schedule: Schedule) -> str:
    """When it holds, by the house's clock."""
    if isinstance(schedule, Occasion):
        start, end = (f"{timezone.localtime(edge):%Y-%m-%d %H:%M}" for edge in schedule.edges(timezone.now()))
        return f"{start} to {end}"
    return text_of(schedule.description())


# --- The layers of a table, and its week -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shelf:
    """One layer as it is drawn: what it says, and whether it is the one that shows."""

    layer: Layer
    value: str
    state: str
    """``wins``, ``covered`` or ``rests``."""
    why: str


def shelves(limits: TableLimits) -> list[tuple[str, list[Shelf], str]]:
    """Each limit of a table, its layers from the top, and what the next round is opened under where that differs."""
    drawn: list[tuple[str, list[Shelf], str]] = []
    for name in in_order(limits.outcome.stack):
        stack = limits.outcome.stack[name]
        winner = next((layer for layer in stack if layer.holds), None)
        shelf = [
            Shelf(
                layer,
                text_of(amount_of(layer.value)),
                _state(layer, winner),
                layer.why if layer.plan else "the table itself",
            )
            for layer in stack
        ]
        waits = text_of(amount_of(limits.set_to[name])) if name in limits.differs and name in limits.set_to else ""
        drawn.append((called(name), shelf, waits))
    return drawn


def in_order(names: Iterable[str]) -> list[str]:
    """The limits as they are read: amounts first, then wagers by name."""
    order = list(AMOUNTS)
    return sorted(names, key=lambda name: (order.index(name) if name in AMOUNTS else len(order), name))


def _state(layer: Layer, winner: Layer | None) -> str:
    if layer is winner:
        return "wins"
    return "covered" if layer.holds else "rests"


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of a day under one layer: where it begins and ends on the strip, in minutes of the day."""

    start: int
    end: int
    text: str
    title: str
    rank: int
    """Which of the plans of the week it is, in the order in which they come; 0 is the table itself."""


@dataclass(frozen=True, slots=True)
class WeekDay:
    """One day of the week strip."""

    name: str
    bars: Sequence[Bar]


def week(limits: TableLimits, plans: Iterable[Plan], name: str, moment: datetime) -> list[WeekDay]:
    """How one limit of a table goes through the days to come, by the house's clock."""
    every = list(plans)
    today = timezone.localtime(moment).replace(hour=0, minute=0, second=0, microsecond=0)
    midnights = [(today + timedelta(days=day)).replace(tzinfo=None) for day in range(DAYS + 1)]
    edges = [timezone.make_aware(midnight) for midnight in midnights]
    stretches = list(_stretches(limits, every, name, moment, edges[-1]))
    ranks: dict[str, int] = {"": 0}
    for *_, layer in stretches:
        if layer is not None:
            ranks.setdefault(layer.name, len(ranks))
    return [
        WeekDay(
            f"{start:%a %d %b}",
            [_bar(stretch, start, end, ranks) for stretch in stretches if stretch[0] < end and stretch[1] > start],
        )
        for start, end in pairwise(edges)
    ]


Stretch = tuple[datetime, datetime, Layer | None]


def _stretches(
    limits: TableLimits, plans: Sequence[Plan], name: str, start: datetime, end: datetime
) -> Iterator[Stretch]:
    for _ in range(MOST_STRETCHES):
        outcome = resolve(plans, limits.facts, start)
        change = outcome.next.moment if outcome.next else end
        yield start, min(change, end), layers_at(plans, limits.facts, start).get(name)
        if change >= end:
            return
        start = change


def _bar(stretch: Stretch, start: datetime, end: datetime, ranks: Mapping[str, int]) -> Bar:
    begins, ends, layer = stretch
    from_, to = (timezone.localtime(min(max(edge, start), end)) for edge in (begins, ends))
    minutes = [0 if edge.date() > start.date() else edge.hour * 60 + edge.minute for edge in (from_, to)]
    end_minute = minutes[1] or HOURS_OF_A_DAY * 60
    value, plan = (text_of(amount_of(layer.value)), layer.name) if layer else ("none", "")
    title = f"{from_:%H:%M} to {to:%H:%M}: {value}, {layer.why if layer else 'nobody sets it'}"
    return Bar(minutes[0], end_minute, f"{value} {plan}".strip(), title, ranks.get(plan, 0) % 6)


# --- Pages -------------------------------------------------------------------------------------------------------


@admin.register(LimitPlan)
class LimitPlanAdmin(SetUp):
    """What may be bet where and when."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """A version stands as it was set: another takes its place."""
        return False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Every plan, where it holds, and how the layers lie at one table."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        moment = timezone.now()
        tables = sorted(Table.objects.in_use(), key=lambda table: pits.natural(table.name))
        limits = resolver.at_tables(tables, moment)
        chosen = request.GET.get("table") or next(iter(limits), "")
        if chosen and chosen not in limits:
            raise Http404(f"There is no table {chosen}.")
        context: dict[str, Any] = {"lines": lines(limits, moment), "tables": list(limits), "chosen": chosen}
        if chosen:
            table_limits, plans = limits[chosen], resolver.plans(moment)
            names = [
                name for name in in_order(table_limits.outcome.stack) if len(table_limits.outcome.stack[name]) > 1
            ] or ["min_cents"]
            context |= {
                "shelves": shelves(table_limits),
                "next": table_limits.next_words,
                "weeks": [(called(name), week(table_limits, plans, name, moment)) for name in names],
            }
        return self._page(request, "plans", "Limit plans", may_add=self.has_add_permission(request), **context)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """A new plan."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return self._form(request, PlanForm(request.POST or None, initial={"version": 0}), "New limit plan")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """A plan: what stands typed in already, and every version that was."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.row(request, object_id)
        newest = LimitPlan.objects.versions(row.name).first() or row
        history = [
            (version, in_words(LIMIT_PLANS.event_of(version).values))
            for version in LimitPlan.objects.versions(row.name)
        ]
        if not self.has_add_permission(request):
            return self._page(request, "plan", f"Limit plan {row.name}", history=history)
        if request.method == "POST" and "retire" in request.POST:
            return self._retired(request, row.name)
        initial = PlanForm.initial_of(newest)
        form = PlanForm(request.POST or None, initial=initial, named=row.name)
        return self._form(request, form, f"Limit plan {row.name}", history=history, newest=newest)

    def _form(self, request: HttpRequest, form: PlanForm, title: str, **context: Any) -> HttpResponse:
        if form.is_valid():
            try:
                return self._set_or_propose(request, form)
            except Refused as refused:
                if refused.code == "changed_meanwhile":
                    # What was typed stays; saved again, it is saved upon what the other one set.
                    typed = request.POST.copy()
                    typed["version"] = str(refused.facts["version"])
                    form.data = typed
                form.add_error(None, as_error(refused))
        needed = dual_control.needed(dual_control.PLAN, policies.as_entered(timezone.now()))
        return self._page(request, "plan", title, form=form, takes_two=needed, **context)

    def _set_or_propose(self, request: HttpRequest, form: PlanForm) -> HttpResponse:
        """Set, or proposed where it takes two people. Raises Refused."""
        event, version, by = form.event(), form.cleaned_data["version"], operator(request)
        draft = form.draft()
        if draft is not None:
            proposal = proposals.propose(draft, form.cleaned_data["comment"], by=by)
            messages.success(request, f"{proposal} waits for a second operator.", extra_tags="proposed")
            return redirect("admin:tables_proposal_change", proposal.pk)
        row = limit_plans.set_plan(event, expected_version=version, by=by)
        messages.success(
            request,
            f"{row} is set. Within a minute it is in force, or announced, where it holds.",
            extra_tags="plan_set",
        )
        return redirect("admin:tables_limitplan_changelist")

    def _retired(self, request: HttpRequest, name: str) -> HttpResponse:
        try:
            version, by = number(request.POST.get("version", "")), operator(request)
            draft = limit_plans.draft_of(limit_plans.retirement(name), expected_version=version)
            if draft is not None:
                proposal = proposals.propose(draft, request.POST.get("comment", ""), by=by)
                messages.success(request, f"{proposal} waits for a second operator.", extra_tags="proposed")
                return redirect("admin:tables_proposal_change", proposal.pk)
            row = limit_plans.retire(name, expected_version=version, by=by)
        except Refused as refused:
            messages.error(request, refused.sentence, extra_tags=refused.code)
            return redirect(request.get_full_path())
        messages.success(
            request, f"{row}: the plan is retired. What lies below it holds from now on.", extra_tags="plan_retired"
        )
        return redirect("admin:tables_limitplan_changelist")

    def _page(self, request: HttpRequest, template: str, title: str, **context: Any) -> TemplateResponse:
        shared = {**self.admin_site.each_context(request), "opts": self.opts, "title": title}
        return TemplateResponse(request, f"dealer_ui/operator/limits/{template}.html", shared | context)
