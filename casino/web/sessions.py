"""Sessions that end when somebody stops using the house, though their screen goes on following it by itself.

A session is written again only when a part of its time has passed: otherwise every action of every dealer would be a
second transaction, for a moment that nobody reads. So whoever stops is signed out at most ``RENEWED_SECONDS`` too
early, and never too late.
"""

import time
from typing import Final

from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

RENEWED: Final = "renewed"
"""Where a session keeps when it was written, in seconds."""
RENEWED_SECONDS: Final = 60
PARTS: Final = 15
"""A session that lasts less than so many minutes is renewed when such a part of it has passed."""


class Sessions(SessionMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Requests renew a session, but for those that a screen makes unasked; so does whatever else writes it."""
        session = getattr(request, "session", None)
        if session is None:
            return super().process_response(request, response)
        renewed = was_renewed(session)  # reads it, and only then is known whether it is still there
        if session.is_empty():
            return super().process_response(request, response)
        if not session.modified and (renewed or follows(request)):
            patch_vary_headers(response, ("Cookie",))
            return response
        session[RENEWED] = time.time()
        return super().process_response(request, response)


def follows(request: HttpRequest) -> bool:
    """Whether a screen asks by itself, because something happened at a table."""
    unasked = request.headers.get("X-Requested-With") == "fetch" or request.headers.get("HX-Request") == "true"
    stream = request.headers.get("Accept", "") == "text/event-stream"
    return request.method == "GET" and (unasked or stream)


def was_renewed(session: SessionBase) -> bool:
    """Whether it was written a moment ago; by another clock it may have been written in the future."""
    apart = min(RENEWED_SECONDS, session.get_expiry_age() / PARTS)
    return 0 <= time.time() - session.get(RENEWED, 0) < apart
