"""Prevents browsers and proxies from storing pages: the next user of a screen must not see those of the last one.

A public view that shows no personal data, such as a table's placard, sets the number of seconds for which it may be
stored. WhiteNoise answers requests for static files before this middleware; they are cacheable without limit, because
their names contain a hash.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase


def no_store(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        seconds = getattr(response, "kept_by_all", 0)
        response["Cache-Control"] = f"public, max-age={seconds}" if seconds else "no-store, private"
        return response

    return answer
