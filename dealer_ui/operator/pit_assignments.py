"""The grid of pit bosses and pits. A save sets or proposes all changed rows, or none."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone

from dealer_ui.guards import viewer_of
from dealer_ui.operator.pages import OperatorPage
from tables.approvals import proposals
from tables.form_fields import InputForm, MomentField, WholeNumberField
from tables.log import dual_control
from tables.log.moments import YEARS
from tables.models import Post, Proposal, Staff
from tables.refusals import Refused
from tables.setup import pit_assignments, pits, policies
from tables.setup.pit_assignments import SETS, AssignmentChange, Runner

WHOLE_FLOOR: Final = "*"
"""The value of the box for the whole floor, which no pit has as its name."""


class _EffectiveField(MomentField):
    """The effective time of the assignments; empty for immediately."""

    def to_python(self, value: Any) -> datetime | None:
        try:
            return super().to_python(value)
        except ValidationError:
            sentence = f"Say from when as 2026-01-31 18:00, a moment {YEARS}, or leave it empty for at once."
            raise ValidationError(sentence) from None


class AssignmentForm(InputForm):
    """The effective time of a save, and its reason for the second person."""

    code = "bad_post"

    effective = _EffectiveField(required=False)
    comment = forms.CharField(required=False)


class StaffRow(forms.Form):
    """The boxes of one person, as they were when the page was shown, and the person's newest entry at that time."""

    post = forms.MultipleChoiceField(required=False)
    was = forms.JSONField(widget=forms.HiddenInput)
    seen = WholeNumberField(widget=forms.HiddenInput)

    def __init__(self, runner: Runner, seq: int, boxes: Collection[str], data: QueryDict | None = None) -> None:
        post = runner.post
        present = [WHOLE_FLOOR] if post and post.whole_floor else sorted(post.pits if post else ())
        initial = {"post": present, "was": present, "seen": seq}
        was_shown = data is not None and f"was-{runner.person.pk}" in data
        super().__init__(data if was_shown else None, prefix=str(runner.person.pk), initial=initial)
        self.runner, self._boxes = runner, boxes

    def add_prefix(self, field_name: str) -> str:
        return f"{field_name}-{self.prefix}"

    @property
    def typed(self) -> dict[str, Any]:
        """The valid values of the fields."""
        self.is_valid()
        return self.cleaned_data

    @property
    def ticked(self) -> frozenset[str]:
        """The ticked boxes. The box of a pit that ended since the page was shown is left out."""
        return frozenset(self["post"].value()).intersection(self._boxes)

    @property
    def basis(self) -> frozenset[str]:
        """The boxes as they were when the page was shown; none if the field is invalid. The box of a pit that ended is
        left out: it cannot be ticked, and its absence is no change."""
        names = self.initial["was"] if not self.is_bound else self.typed.get("was")
        texts = (name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
        return frozenset(texts).intersection(self._boxes)

    @property
    def is_changed(self) -> bool:
        return self.is_bound and self.ticked != self.basis

    @property
    def change(self) -> AssignmentChange:
        whole_floor = WHOLE_FLOOR in self.ticked
        names = () if whole_floor else tuple(sorted(self.ticked, key=pits.natural))
        return AssignmentChange(self.runner.person.username, names, whole_floor)


class PitAssignmentPage(OperatorPage):
    """The grid of people and pits."""

    template_name = "dealer_ui/operator/pit_assignments.html"
    title = "Who runs which pit"

    def get_permission_required(self) -> tuple[str, ...]:
        return (SETS if self.request.method == "POST" else "tables.view_post",)

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Read the pits and the rows as they are now."""
        super().setup(request, *args, **kwargs)
        self.pits = sorted({row.pit for row in pits.sections()}, key=pits.natural)
        self.rows, self.form = _rows(self.pits), AssignmentForm()

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Save the rows that were changed."""
        self.rows, self.form = _rows(self.pits, request.POST), AssignmentForm(request.POST)
        try:
            report = _save([row for row in self.rows if row.is_changed], self.form, viewer_of(request))
        except Refused as refused:
            messages.error(request, refused.sentence, extra_tags=refused.code)
            return self.page(status=refused.status)
        messages.success(request, report, extra_tags="posts_set")
        return redirect("posts")

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        terms = policies.as_entered(timezone.now())
        return super().get_context_data(
            pits=[(name, _bosses(name, self.rows)) for name in self.pits], rows=self.rows, whole_floor=WHOLE_FLOOR,
            is_required=terms[pit_assignments.REQUIRED], takes_two=dual_control.needed(dual_control.POST, terms),
            form=self.form, may_set=self.request.user.has_perm(SETS), **context,
        )  # fmt: skip


def _rows(names: Collection[str], data: QueryDict | None = None) -> list[StaffRow]:
    """A row for each person, as it is now or as it was sent."""
    newest = {row.username: row.seq for row in Post.objects.order_by("seq")}
    boxes = {WHOLE_FLOOR, *names}
    return [
        StaffRow(runner, newest.get(runner.person.username, 0), boxes, data) for runner in pit_assignments.everyone()
    ]


def _bosses(pit: str, rows: Collection[StaffRow]) -> list[str]:
    """The names of those who run a pit, then of those who cover it now."""
    own = [row.runner.person.name for row in rows if pit in row.basis]
    return own + [f"{row.runner.person.name} (covers it)" for row in rows if pit in row.runner.covers]


def _save(rows: list[StaffRow], form: AssignmentForm, by: Staff) -> str:
    """Set or propose all rows, and return a report. Raises Refused with the name of the person whose row is wrong."""
    if not rows:
        raise Refused("nothing_changes", "Tick or untick a box first: nothing would be changed.", 422)
    typed, proposed = form.values(), []
    with transaction.atomic():
        for row in rows:
            try:
                proposed += _set(row, typed["effective"], typed["comment"], by)
            except Refused as refused:
                sentence = f"Nothing was saved. {row.runner.person.name}: {refused.sentence}"
                raise Refused(refused.code, sentence, refused.status) from None
    count = len(rows) - len(proposed)
    report = f"{count} post{'' if count == 1 else 's'} set." if count else ""
    waits = f"{len(proposed)} wait{'s' if len(proposed) == 1 else ''} for a second operator." if proposed else ""
    return " ".join(filter(None, (report, waits)))


def _set(row: StaffRow, effective: datetime | None, comment: str, by: Staff) -> list[Proposal]:
    draft = pit_assignments.draft(row.change, effective)
    if draft is not None:
        return [proposals.propose(draft, comment, by=by)]
    pit_assignments.set_post(row.change, by=by, basis_seq=row.typed.get("seen", 0), effective=effective)
    return []
