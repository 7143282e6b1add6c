"""Sessions that expire when their user is inactive, although their open pages continue to update themselves.

A session is saved again only when a part of its time has passed: otherwise each input of each dealer would need a
second transaction. An inactive user is therefore signed out at most ``RENEWED_SECONDS`` too early, and never too late.
"""

import time
from typing import Final

from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

RENEWED: Final = "renewed"
"""The session's key for the POSIX time of its last save."""
RENEWED_SECONDS: Final = 60
PARTS: Final = 15
"""A session shorter than this many minutes is renewed after one part in this number has passed."""


class Sessions(SessionMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Renew the session, unless a page made the request by itself; any other change of the session saves it too."""
        session = getattr(request, "session", None)
        if session is None:
            return super().process_response(request, response)
        renewed = was_renewed(session)  # reads it, and only then is known whether it is still there
        if session.is_empty():
            return super().process_response(request, response)
        # Without a save the response must still vary by cookie, or a cache could serve it to another user.
        if not session.modified and (renewed or follows(request)):
            patch_vary_headers(response, ("Cookie",))
            return response
        session[RENEWED] = time.time()
        return super().process_response(request, response)


def follows(request: HttpRequest) -> bool:
    """Whether a page made the request by itself, because something happened at a table."""
    unasked = request.headers.get("X-Requested-With") == "fetch" or request.headers.get("HX-Request") == "true"
    stream = request.headers.get("Accept", "") == "text/event-stream"
    return request.method == "GET" and (unasked or stream)


def was_renewed(session: SessionBase) -> bool:
    """Whether the session was saved a moment ago. A time in the future, by another host's clock, does not count."""
    interval = min(RENEWED_SECONDS, session.get_expiry_age() / PARTS)
    return 0 <= time.time() - session.get(RENEWED, 0) < interval
