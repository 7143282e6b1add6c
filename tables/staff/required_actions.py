"""Actions required of a user after sign-in by name: a new password or a first passkey.

Until they are complete, only the account page opens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from tables.log.entries.staff import CALLED
from tables.models import Staff
from tables.refusals import Refused
from tables.setup import policies
from tables.staff import secret_ages

_OWES: Final = "owes"
_OPEN: Final = ("account", "password", "sign-in", "sign-out", "passkey-options", "passkey-register")
_SAYS: Final = {
    "password": "Your password is too old: choose another one first.",  # pragma: allowlist secret
    "passkey": "Your role signs in by passkey: register one first.",
}


def after_password(staff: Staff, *, is_busy: bool) -> str:
    """The action required of a user whose password was right; "" for none, and for a dealer in the middle of a round.

    Raises Refused if the user's role has to sign in by passkey.
    """
    if is_busy:
        return ""
    if staff.role in policies.words("passkey_roles"):
        if staff.passkeys.filter(is_active=True).exists():
            raise Refused("passkey_due", "Your role signs in by passkey: use yours.", 403)
        return "passkey"
    return "password" if secret_ages.is_expired(staff, "password") else ""


def note(request: HttpRequest, owes: str) -> None:
    """Store the required action in the session."""
    if owes:
        request.session[_OWES] = owes


def is_done(request: HttpRequest, what: str) -> None:
    """Clear the required action if this is the one that was completed."""
    if request.session.get(_OWES) == what:
        del request.session[_OWES]


def refuse(request: HttpRequest) -> None:
    """Raises Refused while an action is required, for API requests, which cannot be redirected."""
    if owes := request.session.get(_OWES):
        raise Refused(f"{owes}_due", _SAYS[owes], 403)


def warn(request: HttpRequest, staff: Staff, secrets: Iterable[str]) -> None:
    """Show a user who signs in the warnings about secrets that expire soon."""
    for secret in secrets:
        if says := secret_ages.warning(staff, secret, CALLED[secret]):
            messages.warning(request, says, extra_tags=f"{secret}_ages")


class PendingRequirement(MiddlewareMixin):
    """Redirects users with a required action to their account page."""

    def process_view(
        self, request: HttpRequest, view: Any, args: Iterable[Any], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Redirect pages of this site; static files do not require a sign-in."""
        owes = request.session.get(_OWES) if request.user.is_authenticated else None
        match = request.resolver_match
        if not owes or (match and (match.view_name in _OPEN or match.app_name == "api")):
            return None
        page = reverse("password" if owes == "password" else "account")
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(status=204, headers={"HX-Redirect": page})
        messages.error(request, _SAYS[owes], extra_tags=f"{owes}_due")
        return redirect(page)
