"""A URL that only accepts a form, opened without one, shows the form's page.

After a refusal the browser shows such a URL in its address bar; Enter there is meant to load the form's page.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import Resolver404, resolve

_TAKES_FORMS_ONLY: Final = 405


def form_addresses(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """For every screen. Programs are told which methods there are."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if response.status_code == _TAKES_FORMS_ONLY and request.method == "GET" and _is_a_screens(request):
            return redirect(page_above(request.path))
        return response

    return answer


def _is_a_screens(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.func.__module__.startswith("dealer_ui.")


def page_above(path: str) -> str:
    """The nearest address above another that leads somewhere."""
    for folder in PurePosixPath(path).parents:
        address = f"{folder}/"
        try:
            resolve(address)
        except Resolver404:
            continue
        return address
    return "/"
