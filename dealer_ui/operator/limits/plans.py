"""The pages of limit plans: all plans with the layers of one table, and the form of a plan with its versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone

from dealer_ui.guards import viewer_of
from dealer_ui.operator.limits.plan_form import PlanForm, PlanRetirementForm
from dealer_ui.operator.limits.plan_weeks import weeks
from dealer_ui.operator.pages import OperatorPage
from dealer_ui.pit.tables.limits_in_force import limits_in_force
from tables.admin.forms import as_error
from tables.admin.pages import number, to_proposal
from tables.approvals import proposals
from tables.limits import plans as limit_plans
from tables.limits import resolver
from tables.limits.resolver import TableLimits
from tables.log import dual_control
from tables.log.limit_plans import Occasion, Plan, Schedule, Value, limits_of
from tables.log.message import text_of
from tables.models import LimitPlan, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Refused
from tables.setup import pits, policies
from tables.state import table_state


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A plan as a row of the list."""

    plan: Plan
    url: str
    limits: str
    when: str
    holds_at: Sequence[str]
    """The tables at which it sets a limit now."""
    next: Sequence[Plan]
    """Its versions to come."""


def lines(limits: Mapping[str, TableLimits], moment: datetime) -> list[PlanRow]:
    """Every present or coming plan, and the tables at which it applies."""
    every = resolver.plans(moment)
    in_force = {plan.name: plan for plan in every if plan.effective <= moment and not plan.retired}
    to_come = [plan for plan in every if plan.effective > moment]
    names = sorted({*in_force, *(plan.name for plan in to_come)}, key=pits.natural)
    keys = {row.name: row.pk for row in LimitPlan.objects.filter(name__in=names).order_by("version")}
    return [
        _line(
            in_force.get(name) or next(plan for plan in to_come if plan.name == name),
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
    """The times at which a plan applies, by the site's clock."""
    if isinstance(schedule, Occasion):
        start, end = (f"{timezone.localtime(edge):%Y-%m-%d %H:%M}" for edge in schedule.edges(timezone.now()))
        return f"{start} to {end}"
    return text_of(schedule.description())


# --- Pages -------------------------------------------------------------------------------------------------------


class PlansPage(OperatorPage):
    """All plans and the tables at which they apply, and the layers of one table."""

    permission_required = ("tables.view_limitplan",)
    template_name = "dealer_ui/operator/limits/plans.html"
    title = "Limit plans"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """The context. Raises Http404 for a table that does not exist."""
        moment = timezone.now()
        rows = sorted(Table.objects.in_use(), key=lambda table: pits.natural(table.name))
        tables = {table.name: table for table in rows}
        limits = resolver.at_tables(rows, moment)
        chosen = self.request.GET.get("table") or next(iter(tables), "")
        if chosen and chosen not in tables:
            raise Http404(f"There is no table {chosen}.")
        context |= {"lines": lines(limits, moment), "tables": list(tables), "chosen": chosen}
        if chosen:
            viewer, table = viewer_of(self.request), tables[chosen]
            context["in_force"] = limits_in_force(table, viewer, table_state.of(table))
            context["weeks"] = weeks(limits[chosen], resolver.plans(moment), moment)
        return super().get_context_data(may_add=self.request.user.has_perm("tables.add_limitplan"), **context)


class PlanPage(OperatorPage):
    """The form of a plan, which begins with its newest version, and all versions; or the form of a new plan."""

    template_name = "dealer_ui/operator/limits/plan.html"
    row: LimitPlan | None = None

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Read the version that the address names. Raises Http404."""
        super().setup(request, *args, **kwargs)
        if "object_id" in kwargs:
            self.row = get_object_or_404(LimitPlan, pk=number(kwargs["object_id"]))

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"Limit plan {self.row.name}" if self.row else "New limit plan"

    def get_permission_required(self) -> tuple[str, ...]:
        return ("tables.view_limitplan" if self.row else "tables.add_limitplan",)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.form_page(self.form())

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Set or retire the plan, or propose that."""
        if not request.user.has_perm("tables.add_limitplan"):
            return self.form_page(None)
        if self.row and "retire" in request.POST:
            return self.retired(self.row.name)
        form = self.form()
        if form.is_valid():
            try:
                return self.set_or_proposed(form)
            except Refused as refused:
                if refused.code == "changed_meanwhile":
                    # The typed values stay in the form, and saving it again is based on the other operator's version.
                    form.data = request.POST.copy()
                    form.data["version"] = str(refused.facts["version"])
                form.add_error(None, as_error(refused))
        return self.form_page(form)

    def form(self) -> PlanForm:
        newest = self.newest()
        initial = PlanForm.initial_of(newest) if newest else {"version": 0}
        return PlanForm(self.request.POST or None, initial=initial, named=self.row.name if self.row else "")

    def newest(self) -> LimitPlan | None:
        return LimitPlan.objects.versions(self.row.name).first() if self.row else None

    def form_page(self, form: PlanForm | None) -> HttpResponse:
        """The page: without the form for a user who may not set plans."""
        versions = LimitPlan.objects.versions(self.row.name if self.row else "")
        return self.page(
            form=form if self.request.user.has_perm("tables.add_limitplan") else None,
            takes_two=dual_control.needed(dual_control.PLAN, policies.as_entered(timezone.now())),
            newest=self.newest(),
            history=[(version, in_words(LIMIT_PLANS.event_of(version).values)) for version in versions],
        )

    def set_or_proposed(self, form: PlanForm) -> HttpResponse:
        """Set the plan, or propose it under dual control. Raises Refused."""
        typed, by = form.cleaned_data, viewer_of(self.request)
        if draft := form.draft():
            return to_proposal(self.request, proposals.propose(draft, typed["comment"], by=by))
        row = limit_plans.set_plan(form.event(), expected_version=typed["version"], by=by)
        sentence = f"{row} is set. Within a minute it is in force, or announced, where it holds."
        return self.plans_page(sentence, "plan_set")

    def retired(self, name: str) -> HttpResponse:
        """Retire the plan, or propose that under dual control."""
        try:
            typed, by = PlanRetirementForm(self.request.POST).values(), viewer_of(self.request)
            version = typed["version"] or 0
            if draft := limit_plans.draft_of(limit_plans.retirement(name), expected_version=version):
                return to_proposal(self.request, proposals.propose(draft, typed["comment"], by=by))
            row = limit_plans.retire(name, expected_version=version, by=by)
        except Refused as refused:
            messages.error(self.request, refused.sentence, extra_tags=refused.code)
            return redirect(self.request.get_full_path())
        sentence = f"{row}: the plan is retired. What lies below it holds from now on."
        return self.plans_page(sentence, "plan_retired")

    def plans_page(self, sentence: str, tag: str) -> HttpResponse:
        messages.success(self.request, sentence, extra_tags=tag)
        return redirect("admin:tables_limitplan_changelist")
