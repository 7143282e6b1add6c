"""A screen whose database does not answer, or whose server has another time than it: 503 and one sentence. An input is
one transaction, so nothing was half-written; the dealer's screen sends its own again, under the same key. (The API
answers for itself.)
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string

from ledger.clock import WrongClock
from tables.api.errors import AWAY, DATABASE_AWAY, RETRY_AFTER, by_the_clock, outage
from tables.refusals import Refused

log = logging.getLogger(__name__)


class Outages:
    """Answers for every view that the database let down."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Nothing to do unless a view fails."""
        response = self.get_response(request)
        if response.status_code == AWAY.status:
            forget_session(request)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """An outage as a plain answer; other failures are left alone."""
        if isinstance(exception, WrongClock):
            return answer(request, by_the_clock(exception))
        if not isinstance(exception, DATABASE_AWAY):
            return None
        log.error("%s %s: the database does not answer: %s", request.method, request.path, exception)
        return answer(request, outage(exception))


def forget_session(request: HttpRequest) -> None:
    """The session's middleware would ask the database once more on the way out, and wait as long again."""
    vars(request).pop("session", None)


def answer(request: HttpRequest, away: Refused) -> HttpResponse:
    """The sentence: as a page, or bare for a script. The page is drawn without context, so it asks for no session."""
    if request.headers.get("HX-Request") == "true":
        response = HttpResponse(away.sentence, content_type="text/plain; charset=utf-8", status=away.status)
    else:
        page = render_to_string("dealer_ui/outage.html", {"sentence": away.sentence})
        response = HttpResponse(page, status=away.status)
    response["Retry-After"] = RETRY_AFTER
    return response
