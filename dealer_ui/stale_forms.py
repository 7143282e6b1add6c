"""Stale forms: sent with the CSRF token of an earlier session, or after the session ended. They are shown again with
their values, to be checked and sent again.

No form has an effect without a valid token. Values are returned only to a request that the browser sent from a page of
this site: a page of another site must not lead to a filled-in form with a valid token. Secrets have to be typed again.
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
"""Names of fields whose values are never returned; the address of a channel may contain a secret. A test compares them
with every password field."""
SIGNATURE: Final = "attested"
"""The signature of a terminal. The page of the form makes another one."""
_UNSHOWN: Final = frozenset({"key", "seq", "back", "next"})
"""Fields that are sent again without being shown: a person cannot check them."""
_SECRETS_ONLY: Final = "dealer_ui.accounts."
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
    """The response to a form without a valid token: the form again, or Django's refusal."""
    return _shown_again(request) or csrf_failure(request, reason)


def signed_out(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware that shows a form sent without a session again, in place of the redirect to the sign-in."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        return (_shown_again(request) if _leads_to_sign_in(request, response) else None) or response

    return answer


def _leads_to_sign_in(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether the response redirects to the sign-in, and from there back to this request."""
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
    """Whether a form may be shown again: not to a script, such as a dealer's board, which reloads itself; not a form of
    the sign-in pages, or with a file; and only to a page of this site."""
    match = request.resolver_match
    is_page = "text/html" in request.headers.get("Accept", "") and not by_script(request)
    is_door = match is None or match.func.__module__.startswith(_SECRETS_ONLY)
    return request.method == "POST" and is_page and not is_door and _is_same_origin(request) and not request.FILES


def _is_same_origin(request: HttpRequest) -> bool:
    """Whether a page of this site sent the request: by Sec-Fetch-Site or, without that header, by Origin."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    return site == "same-origin" if site else origin == f"{request.scheme}://{request.get_host()}"


def _fields(request: HttpRequest) -> Iterator[Field]:
    for name, values in request.POST.lists():
        if name not in (TOKEN, SIGNATURE):
            yield from (Field(name, str(value)) for value in values)
