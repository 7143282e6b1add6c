"""No page of the house is kept by a browser or a proxy: the next person at the screen sees nothing that is not theirs.

Static files are answered before this, by WhiteNoise, and are kept for as long as their names stay the same.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase


class NoStore:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response["Cache-Control"] = "no-store, private"
        return response
