"""The review of access: who may do what, since when, who granted it; signed by an auditor each quarter."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dealer_ui import signatures
from dealer_ui.entry_forms import render_form
from dealer_ui.guards import viewer_of
from tables.form_fields import InputForm
from tables.log.duties import APART, DIFFER
from tables.refusals import Refused
from tables.reports import access_review as reviews
from tables.roles import Role
from tables.setup import role_choices

QUARTER: Final = timedelta(days=92)


class ReviewForm(InputForm):
    """The digest of the list that was reviewed, and a note."""

    digest = forms.CharField(required=False)
    note = forms.CharField(required=False)


@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def access(request: HttpRequest) -> HttpResponse:
    """The access of all staff members, and the form that signs the review."""
    form, refused = ReviewForm(request.POST), None
    if request.method == "POST":
        try:
            return _signed(request, form)
        except Refused as refusal:
            refused = refusal
    lines, last = reviews.review(), reviews.last_review()
    context = {
        "lines": lines,
        "digest": reviews.digest_of(lines),
        "last": last,
        "is_due": last is None or last[0] < timezone.now() - QUARTER,
        "signs": viewer_of(request).has_perm("tables.review_access"),
        "apart": [(Role(pair.first).label, Role(pair.second).label, pair.why, pair.clause) for pair in APART],
        "differ": DIFFER,
        "chosen": role_choices.in_words(),
        "sees_roles": viewer_of(request).has_perm("tables.view_houseterms"),
        "typed": form.data,
    }
    return render_form(request, "dealer_ui/pit/access.html", context, refused)


def _signed(request: HttpRequest, form: ReviewForm) -> HttpResponse:
    values = form.values()
    by, _ = signatures.sign(request, lambda by: reviews.sign(**values, by=by))
    messages.success(request, f"The review is signed by {by.name}.", extra_tags="access_reviewed")
    return redirect("pit:access")
