"""The health of the installation: the state of each part.

Operators and auditors also see causes and remedies, which name versions, roles and folders.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dealer_ui.guards import watches
from tables.audit import condition
from tables.audit.condition import Urgency

HEADLINES = {
    Urgency.WELL: "The house is well",
    Urgency.WATCH: "The house goes on, and somebody should look",
    Urgency.WRONG: "Something is wrong",
}


@watches
@require_GET
def health(request: HttpRequest) -> HttpResponse:
    """The health of the installation as a page."""
    every = condition.parts()
    context = {"parts": every, "headline": HEADLINES[condition.worst(every)], "may_know": _may_know(request)}
    return render(request, "dealer_ui/pit/health.html", context)


@watches
@require_GET
def health_json(request: HttpRequest) -> JsonResponse:
    """The health of the installation as JSON, for monitoring."""
    every, told = condition.parts(), _may_know(request)
    lines: list[dict[str, Any]] = [
        {"name": part.name, "state": part.state} | ({"says": part.says, "do": part.do} if told else {})
        for part in every
    ]
    return JsonResponse({"state": condition.worst(every), "parts": lines})


def _may_know(request: HttpRequest) -> bool:
    """Versions, roles and folders are for those who run the servers."""
    return request.user.has_perm("ledger.view_logentry")
