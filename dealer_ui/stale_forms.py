"""A form that was sent with an old CSRF token, from before the last sign-in, or after the session ended: it is shown
again with what was typed.

Nothing is done without a valid token. Only a request that the browser sent from a page of this site gets its values
back: a page of another site must not lead to a filled-in form with a valid token. Secrets are asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseBase, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.urls import reverse
from django.views.csrf import csrf_failure

from dealer_ui.guards import by_script

TOKEN: Final = "csrfmiddlewaretoken"  # noqa: S105 -- the name of a field
SECRET: Final = re.compile(r"passw|secret|token|credential|(^|[_-])pin([_-]|$)|^signed_with$|^address$", re.IGNORECASE)
"""Names of fields that are never shown again; the address of a channel may have a secret in it. A test holds them
against every password field."""
SIGNATURE: Final = "attested"
"""The signature of a terminal: the form signs anew once it is shown by its own page."""
_UNSHOWN: Final = frozenset({"key", "seq", "back", "next"})
"""Sent again, and nothing to be checked by a person."""
_SECRETS_ONLY: Final = "dealer_ui.door."
"""The package of sign-in, PINs, passwords and codes: their forms are not shown again."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form that was sent."""

    name: str
    value: str

    @property
    def label(self) -> str:
        return self.name.replace("_", " ").capitalize()

    @property
    def is_secret(self) -> bool:
        return bool(SECRET.search(self.name))

    @property
    def is_shown(self) -> bool:
        """Whether a person can check it."""
        return bool(self.value) and self.name not in _UNSHOWN and not self.is_secret


def refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The answer to a form without a valid token: the form again, or the bare refusal."""
    return _shown_again(request) or csrf_failure(request, reason)


def signed_out(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: in place of the way to sign in, the form that was sent without a session."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        return (_shown_again(request) if _leads_to_sign_in(request, response) else None) or response

    return answer


def _leads_to_sign_in(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether a guard refused the request, and would have it back after the sign-in."""
    way = urlsplit(getattr(response, "url", ""))
    is_sign_in = way.path in (settings.LOGIN_URL, reverse("admin:login"))
    return is_sign_in and parse_qs(way.query).get("next") == [request.get_full_path()]


def _shown_again(request: HttpRequest) -> HttpResponse | None:
    try:
        fields = list(_fields(request)) if _may_be_shown(request) else []
    except (UnreadablePostError, MultiPartParserError, SuspiciousOperation):
        fields = []  # its body cannot be read
    if not fields:
        return None
    context = {"fields": fields, "address": request.get_full_path()}
    return render(request, "dealer_ui/stale_form.html", context, status=403)


def _may_be_shown(request: HttpRequest) -> bool:
    """Not to a script: a dealer's board says that it is out of date, and leads to a new one."""
    match = request.resolver_match
    is_page = "text/html" in request.headers.get("Accept", "") and not by_script(request)
    is_door = match is None or match.func.__module__.startswith(_SECRETS_ONLY)
    return request.method == "POST" and is_page and not is_door and _is_same_origin(request) and not request.FILES


def _is_same_origin(request: HttpRequest) -> bool:
    """Whether a page of this site sent it, as the browser says: by Sec-Fetch-Site, or if it sends none, by Origin."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    return site == "same-origin" if site else origin == f"{request.scheme}://{request.get_host()}"


def _fields(request: HttpRequest) -> Iterator[Field]:
    for name, values in request.POST.lists():
        if name not in (TOKEN, SIGNATURE):
            yield from (Field(name, str(value)) for value in values)
