"""No page of the house is kept by a browser or a proxy: the next person at the screen sees nothing that is not theirs.

A view whose page is the same for everybody and shows nothing of anybody (a table's placard) says for how many seconds
it may be kept. Static files are answered before this, by WhiteNoise, and are kept for as long as their names stay.
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
