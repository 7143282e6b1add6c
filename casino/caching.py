"""No page of the house is kept by a browser or a proxy: the next person at the screen sees nothing that is not theirs.

Static files are answered before this, by WhiteNoise, and are kept for as long as their names stay the same.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase


def no_store(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response["Cache-Control"] = "no-store, private"
        return response

    return answer
