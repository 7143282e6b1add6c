"""Signing by badge and PIN, on whatever device the paper is shown: the one who signs need not be signed in there."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from tables import signin, terminals
from tables.models import Staff
from tables.refusals import Refused
from tables.terminals import identify


class SignatureBackend(ModelBackend):
    """A badge number and PIN of anybody who works here. It opens no session: ``signer`` is all that asks it."""

    def authenticate(  # type: ignore[override]
        self, request: HttpRequest | None, signer: str | None = None, pin: str | None = None
    ) -> Staff | None:
        """Whose badge and PIN these are. A PIN is hashed in every case, so that the time tells nothing."""
        if request is None or signer is None or pin is None:
            return None
        staff = Staff.objects.filter(badge=signer).first()
        right = (staff or Staff()).check_pin(pin)
        return staff if right and staff is not None and staff.is_active else None


def signer(request: HttpRequest, badge: str, pin: str) -> Staff:
    """Who signs with this badge and PIN. Raises Refused; wrong tries count as those of a sign-in do."""
    terminal = identify(request)
    if terminal is not None:
        terminals.refuse_locked(terminal)
    try:
        return signin.prove(request, "Badge number or PIN is wrong.", signer=badge, pin=pin)
    except Refused:
        if terminal is not None:
            terminals.count_wrong_pin(terminal)
        raise
