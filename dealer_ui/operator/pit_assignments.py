"""The grid of pit bosses and pits. A save sets or proposes all changed rows, or none."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
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


class StaffRowForm(forms.Form):
    """The boxes of one person: ticked, as they were when the page was shown, and the newest entry at that time."""

    post = forms.Field(required=False, widget=forms.SelectMultiple)
    was = forms.JSONField(required=False)
    seen = WholeNumberField()

    def __init__(self, boxes: Collection[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._boxes = frozenset(boxes)

    def add_prefix(self, field_name: str) -> str:
        return f"{field_name}-{self.prefix}"

    def clean_post(self) -> frozenset[str]:
        """The ticked boxes. The box of a pit that ended since the page was shown is left out."""
        return self._boxes.intersection(self.cleaned_data["post"])

    def clean_was(self) -> frozenset[str]:
        """The names of pits. Anything else differs from every row that was shown."""
        names = self.cleaned_data["was"]
        return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


@dataclass(frozen=True, slots=True)
class StaffRow:
    """A person who runs the floor, with a box for each pit."""

    runner: Runner
    ticked: frozenset[str]
    basis: frozenset[str]
    """The boxes as they were when the page was shown."""
    basis_seq: int
    """The entry of the person's newest assignment at that time; 0 for none."""

    @property
    def key(self) -> int:
        return self.runner.person.pk

    @property
    def basis_text(self) -> str:
        return json.dumps(sorted(self.basis))

    @property
    def is_changed(self) -> bool:
        return self.ticked != self.basis

    @property
    def post(self) -> AssignmentChange:
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
        self.rows, self.form = _rows(), AssignmentForm()

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Save the rows that were changed."""
        self.rows, self.form = [_sent(row, self.pits, request.POST) for row in self.rows], AssignmentForm(request.POST)
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


def _rows() -> list[StaffRow]:
    """The rows as they are now."""
    newest = {row.username: row.seq for row in Post.objects.order_by("seq")}
    return [_row(runner, newest.get(runner.person.username, 0)) for runner in pit_assignments.everyone()]


def _row(runner: Runner, basis_seq: int) -> StaffRow:
    post = runner.post
    present = frozenset([WHOLE_FLOOR]) if post and post.whole_floor else frozenset(post.pits if post else ())
    return StaffRow(runner, present, present, basis_seq)


def _sent(row: StaffRow, names: Collection[str], data: QueryDict) -> StaffRow:
    """The row as it was sent; a row that the page did not show remains as it is."""
    form = StaffRowForm({WHOLE_FLOOR, *names}, data, prefix=row.key)
    if form["was"].data is None:
        return row
    form.full_clean()
    typed = form.cleaned_data
    return StaffRow(row.runner, typed["post"], typed.get("was", frozenset()), typed.get("seen", 0))


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
    draft = pit_assignments.draft(row.post, effective)
    if draft is not None:
        return [proposals.propose(draft, comment, by=by)]
    pit_assignments.set_post(row.post, by=by, basis_seq=row.basis_seq, effective=effective)
    return []
