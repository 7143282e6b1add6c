"""The clock of a browser, compared with the clock of the database: users search moments by the times on screens."""

from __future__ import annotations

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from tables.alerts import overdue
from tables.form_fields import InputForm
from tables.models import Staff
from tables.refusals import Refused
from tables.staff import terminals


class ClockForm(InputForm):
    """The clock of a browser: milliseconds since 1970."""

    code = "bad_clock"
    status = 400
    message = "Tell the browser's clock as whole milliseconds since 1970."
    milliseconds = forms.IntegerField(min_value=-(10**16), max_value=10**16)


@login_required
@require_POST
def browser_clock(request: HttpRequest) -> HttpResponse:
    """Milliseconds since 1970, as the browser has them."""
    try:
        overdue.of_browser(_whose(request), **ClockForm(request.POST).values())
    except Refused as refused:
        return HttpResponse(refused.sentence, content_type="text/plain; charset=utf-8", status=refused.status)
    return HttpResponse(status=204)


def _whose(request: HttpRequest) -> str:
    """The terminal, or whose browser it is."""
    terminal = terminals.here(request)
    if terminal is not None:
        return terminal.name
    assert isinstance(request.user, Staff)  # noqa: S101 -- the view is behind sign-in
    return f"{request.user.name}'s browser"
