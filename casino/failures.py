"""What is answered when a request fails outside its view: above all, when the database is away.

Sessions are read and renewed around every view, so an outage is met there first.
"""

import sys

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.views import defaults

from dealer_ui import outages
from tables.api.errors import AWAY, DATABASE_AWAY
from tables.refusals import Refused

PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>One moment</title><p role="alert">{}</p></html>'


def is_api(request: HttpRequest) -> bool:
    return request.path.startswith(reverse("api:tables").removesuffix("tables/"))


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Django calls this while it handles the exception."""
    if isinstance(sys.exception(), DATABASE_AWAY):
        return refusal(request, AWAY) if is_api(request) else outages.answer(request)
    if is_api(request):
        return refusal(request, Refused("internal_error", "The server failed: nothing was acknowledged.", 500))
    return defaults.server_error(request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """What Django itself refuses, before any view is asked."""
    if is_api(request):
        return refusal(request, Refused("bad_request", "The request is malformed.", 400))
    return defaults.bad_request(request, exception)


def refusal(request: HttpRequest, refused: Refused) -> HttpResponse:
    headers = {"Retry-After": "1"} if refused.status == 503 else {}
    if is_api(request):
        return JsonResponse(refused.as_json(), status=refused.status, headers=headers)
    return HttpResponse(PAGE.format(refused.sentence), status=refused.status, headers=headers)
