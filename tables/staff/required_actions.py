"""What somebody has to do first who signed in by name: another password, or a first passkey. Until then nothing but
their account page opens."""

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
    """What somebody owes whose password was right; empty for nothing, and for a dealer in the middle of a round. Raises
    Refused where their role does not sign in so."""
    if is_busy:
        return ""
    if staff.role in policies.words("passkey_roles"):
        if staff.passkeys.filter(is_active=True).exists():
            raise Refused("passkey_due", "Your role signs in by passkey: use yours.", 403)
        return "passkey"
    return "password" if secret_ages.is_expired(staff, "password") else ""


def note(request: HttpRequest, owes: str) -> None:
    """Keep in the session what is due."""
    if owes:
        request.session[_OWES] = owes


def is_done(request: HttpRequest, what: str) -> None:
    """It was done in this session."""
    if request.session.get(_OWES) == what:
        del request.session[_OWES]


def refuse(request: HttpRequest) -> None:
    """The same for programs, which are led nowhere. Raises Refused."""
    if owes := request.session.get(_OWES):
        raise Refused(f"{owes}_due", _SAYS[owes], 403)


def warn(request: HttpRequest, staff: Staff, secrets: Iterable[str]) -> None:
    """Somebody who signs in hears of what runs out soon."""
    for secret in secrets:
        if says := secret_ages.warning(staff, secret, CALLED[secret]):
            messages.warning(request, says, extra_tags=f"{secret}_ages")


class PendingRequirement(MiddlewareMixin):
    """Leads whoever owes something to their account page."""

    def process_view(
        self, request: HttpRequest, view: Any, args: Iterable[Any], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Only pages of the product's own are asked for: files need no sign-in."""
        owes = request.session.get(_OWES) if request.user.is_authenticated else None
        name = request.resolver_match.view_name if request.resolver_match else ""
        if not owes or name in _OPEN or name.startswith("api:"):
            return None
        page = reverse("password" if owes == "password" else "account")
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(status=204, headers={"HX-Redirect": page})
        messages.error(request, _SAYS[owes], extra_tags=f"{owes}_due")
        return redirect(page)
