"""Who runs which pit: one grid of people and pits, saved all or nothing; and the rows behind it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods

from tables.admin.custody import NeverChanged
from tables.admin.pages import number
from tables.approvals import proposals
from tables.log import dual_control
from tables.log.moments import YEARS, is_possible
from tables.models import PitCover, Post, Proposal, Staff
from tables.refusals import Refused
from tables.setup import pit_assignments, pits, policies
from tables.setup.pit_assignments import SETS, AssignmentChange, Runner

WHOLE_FLOOR = "*"
"""The value of the box for the whole floor: no pit is called so in a form, for theirs are numbers."""


@dataclass(frozen=True, slots=True)
class StaffRow:
    """Somebody who runs the floor, with a box for each pit."""

    runner: Runner
    ticked: frozenset[str]
    basis: frozenset[str]
    """The boxes as they stood when the editor looked."""
    basis_seq: int
    """The entry of their newest post then; 0 for none."""

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


@require_http_methods(["GET", "POST"])
def grid(request: HttpRequest) -> HttpResponse:
    """The grid; sent, every row that was changed is set, or proposed where that takes two people."""
    viewer = request.user
    permission = "tables.view_post" if request.method == "GET" else SETS
    if not isinstance(viewer, Staff) or not viewer.has_perm(permission):
        raise PermissionDenied
    names = sorted({row.pit for row in pits.sections()}, key=pits.natural)
    form = request.POST if request.method == "POST" else None
    rows, refused = _rows(names, form), None
    if form is not None:
        try:
            messages.success(
                request, _save([row for row in rows if row.is_changed], form, viewer), extra_tags="posts_set"
            )
            return redirect("admin:posts")
        except Refused as refusal:
            refused = refusal
            messages.error(request, refusal.sentence, extra_tags=refusal.code)
    terms = policies.as_entered(timezone.now())
    context = {
        **admin.site.each_context(request),
        "title": "Who runs which pit",
        "pits": [(name, _beside(name, rows)) for name in names],
        "rows": rows,
        "whole_floor": WHOLE_FLOOR,
        "is_required": terms[pit_assignments.REQUIRED],
        "takes_two": dual_control.needed(dual_control.POST, terms),
        "typed": form or {},
        "may_set": viewer.has_perm(SETS),
    }
    return TemplateResponse(request, "tables/admin/posts.html", context, status=refused.status if refused else 200)


def _rows(names: Collection[str], form: QueryDict | None) -> list[StaffRow]:
    newest = {row.username: row.seq for row in Post.objects.order_by("seq")} if form is None else {}
    return [_row(runner, names, form, newest.get(runner.person.username, 0)) for runner in pit_assignments.everyone()]


def _row(runner: Runner, names: Collection[str], form: QueryDict | None, basis_seq: int) -> StaffRow:
    post, key = runner.post, runner.person.pk
    present = frozenset([WHOLE_FLOOR]) if post and post.whole_floor else frozenset(post.pits if post else ())
    if form is None or f"was-{key}" not in form:
        return StaffRow(runner, present, present, basis_seq)
    boxes = {WHOLE_FLOOR, *names}
    ticked = frozenset(form.getlist(f"post-{key}")) & boxes
    return StaffRow(runner, ticked, _pits_of(str(form[f"was-{key}"])), number(form.get(f"seen-{key}", "")))


def _pits_of(text: str) -> frozenset[str]:
    try:
        return frozenset(name for name in json.loads(text) if isinstance(name, str))
    except (ValueError, TypeError):
        return frozenset()


def _beside(pit: str, rows: Collection[StaffRow]) -> list[str]:
    """Who runs a pit, the other way round: by name, with those who cover it now."""
    own = [row.runner.person.name for row in rows if pit in row.basis]
    return own + [f"{row.runner.person.name} (covers it)" for row in rows if pit in row.runner.covers]


def _save(rows: list[StaffRow], form: QueryDict, by: Staff) -> str:
    """Set or propose every row, all or none; what came of it. Raises Refused, which names whose row it was."""
    if not rows:
        raise Refused("nothing_changes", "Tick or untick a box first: nothing would be changed.", 422)
    effective, proposed = _effective(form.get("effective", "")), []
    with transaction.atomic():
        for row in rows:
            try:
                proposed += _set(row, effective, form.get("comment", ""), by)
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


def _effective(text: str) -> datetime | None:
    """From when on, by the house's clock; None for at once. Raises Refused."""
    if not text.strip():
        return None
    try:
        moment = parse_datetime(text.strip())
    except ValueError:
        moment = None
    if moment is None or not is_possible(moment):
        sentence = f"Say from when as 2026-01-31 18:00, a moment {YEARS}, or leave it empty for at once."
        raise Refused("bad_post", sentence, 422)
    return timezone.make_aware(moment) if timezone.is_naive(moment) else moment


class ReadAlone(NeverChanged):
    """Rows that are set elsewhere."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """The grid sets them, or the floor."""
        return False


@admin.register(Post)
class PostAdmin(ReadAlone):
    """Every post that was ever set."""

    list_display = ("username", "which", "effective", "by", "at")
    fields = ("username", "pits", "whole_floor", "effective")

    def get_urls(self) -> list[Any]:
        """With the grid."""
        return [path("grid/", self.admin_site.admin_view(grid), name="posts"), *super().get_urls()]

    @admin.display(description="runs")
    def which(self, row: Post) -> str:
        return "the whole floor" if row.whole_floor else ", ".join(row.pits) or "ended"


@admin.register(PitCover)
class PitCoverAdmin(ReadAlone):
    """Every pit that was taken over, or given back."""

    list_display = ("username", "pit", "until", "reason", "at")
    fields = ("username", "pit", "until", "reason")
