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
from dealer_ui.operator.pages import OperatorFormPage, OperatorPage
from dealer_ui.pit.tables.limits_in_force import limits_in_force
from tables.admin.pages import number, to_proposal
from tables.approvals import proposals
from tables.limits import plans as limit_plans
from tables.limits import resolver
from tables.limits.resolver import TableLimits
from tables.log import dual_control
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import Occasion, Plan, Schedule, Value, by_name, limits_of
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


def plan_rows(limits: Mapping[str, TableLimits], moment: datetime) -> list[PlanRow]:
    """Every present or coming plan, and the tables at which it applies."""
    versions = by_name(resolver.plans(moment))
    keys = {row.name: row.pk for row in LimitPlan.objects.filter(name__in=versions).order_by("version")}
    rows = []
    for name in sorted(versions, key=pits.natural):
        in_force = [plan for plan in versions[name] if plan.effective <= moment and not plan.retired]
        to_come = [plan for plan in versions[name] if plan.effective > moment]
        if in_force or to_come:
            plan = (in_force or to_come)[0]
            url = reverse("admin:tables_limitplan_change", args=[keys[name]])
            rows.append(
                PlanRow(plan, url, in_words(plan.values), words_of(plan.schedule), _tables(name, limits), to_come)
            )
    return rows


def _tables(plan: str, limits: Mapping[str, TableLimits]) -> list[str]:
    """The tables at which a plan sets a limit now."""
    layers = {table: of_table.outcome.layers.values() for table, of_table in limits.items()}
    names = [table for table in layers if plan in {layer.name for layer in layers[table]}]
    return sorted(names, key=pits.natural)


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
        context |= {"lines": plan_rows(limits, moment), "tables": list(tables), "chosen": chosen}
        if chosen:
            viewer, table = viewer_of(self.request), tables[chosen]
            context["in_force"] = limits_in_force(table, viewer, table_state.of(table))
            context["weeks"] = weeks(limits[chosen], resolver.plans(moment), moment)
        return super().get_context_data(**context)


class PlanPage(OperatorFormPage):
    """The form of a plan, which begins with its newest version, and all versions; or the form of a new plan."""

    form_class = PlanForm
    template_name = "dealer_ui/operator/limits/plan.html"
    row: LimitPlan | None = None

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Read the version that the address names, and all versions of its plan. Raises Http404."""
        super().setup(request, *args, **kwargs)
        if "object_id" in kwargs:
            self.row = get_object_or_404(LimitPlan, pk=number(kwargs["object_id"]))
        self.versions = LimitPlan.objects.versions(self.row.name if self.row else "")
        self.may_set = request.user.has_perm("tables.add_limitplan")

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"Limit plan {self.row.name}" if self.row else "New limit plan"

    def get_permission_required(self) -> tuple[str, ...]:
        return ("tables.view_limitplan" if self.row else "tables.add_limitplan",)

    def get_initial(self) -> dict[str, Any]:
        newest = self.versions.first()
        return PlanForm.initial_of(newest) if newest else {"version": 0}

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"named": self.row.name if self.row else ""}

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """The context: without the form for a user who may not set plans."""
        if not self.may_set:
            context["form"] = None
        return super().get_context_data(
            takes_two=dual_control.needed(dual_control.PLAN, policies.as_entered(timezone.now())),
            newest=self.versions.first(),
            history=[(version, in_words(LIMIT_PLANS.event_of(version).values)) for version in self.versions],
            **context,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Set or retire the plan, or propose that."""
        if not self.may_set:
            return self.page()
        if self.row and "retire" in request.POST:
            return self.retired(self.row.name)
        return super().post(request, *args, **kwargs)

    def save(self, form: PlanForm) -> HttpResponse:
        try:
            sentence = " is set. Within a minute it is in force, or announced, where it holds."
            return self.set_or_proposed(form.event(), form.cleaned_data, sentence, "plan_set")
        except Refused as refused:
            if refused.code == "changed_meanwhile":
                # The typed values stay in the form, and saving it again is based on the other operator's version.
                form.data = self.request.POST.copy()
                form.data["version"] = str(refused.facts["version"])
            raise

    def retired(self, name: str) -> HttpResponse:
        """Retire the plan, or propose that under dual control."""
        try:
            typed = PlanRetirementForm(self.request.POST).values()
            sentence = ": the plan is retired. What lies below it holds from now on."
            return self.set_or_proposed(limit_plans.retirement(name), typed, sentence, "plan_retired")
        except Refused as refused:
            messages.error(self.request, refused.sentence, extra_tags=refused.code)
            return redirect(self.request.get_full_path())

    def set_or_proposed(self, event: LimitPlanSet, typed: Mapping[str, Any], sentence: str, code: str) -> HttpResponse:
        """Set the next version of a plan, or propose it under dual control. Raises Refused."""
        by, version = viewer_of(self.request), typed["version"] or 0
        if draft := limit_plans.draft_of(event, expected_version=version):
            return to_proposal(self.request, proposals.propose(draft, typed["comment"], by=by))
        row = limit_plans.set_plan(event, expected_version=version, by=by)
        messages.success(self.request, f"{row}{sentence}", extra_tags=code)
        return redirect("admin:tables_limitplan_changelist")
