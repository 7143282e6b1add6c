"""A signature on a form: whose badge and PIN stand in it, and what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import msgspec
from django import forms
from django.http import HttpRequest

from tables.log import slip_workflow
from tables.log.attestation import Attestation
from tables.models import Staff
from tables.refusals import Refused
from tables.staff import passkeys, signatures, terminals

Signed = TypeVar("Signed")
_LONGEST: Final = 4_000


class SignatureForm(forms.Form):
    """Badge and PIN of a signer."""

    badge = forms.RegexField(r"^[0-9]{3,8}\Z")
    pin = forms.RegexField(r"^[0-9]{4,8}\Z")


def attested(request: HttpRequest) -> Attestation | None:
    """The attestation of this form's terminal, with a passkey if one was used, or None. Raises Refused."""
    spelled, terminal = request.POST.get("attested", ""), terminals.here(request)
    if not spelled or terminal is None:
        return None
    try:
        given = msgspec.json.decode(spelled[:_LONGEST], type=Attestation)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise Refused("bad_form", "This form was incomplete: load the page again, then sign once more.", 400) from None
    return signatures.of_here(given, terminal)


def second(request: HttpRequest, roles: Sequence[str]) -> str:
    """The user name of the second signer on this form; empty if no second signature is needed. Raises Refused.

    Checked before the first signature: a form refused for either is filled in again as a whole.
    """
    if not roles:
        return ""
    form = SignatureForm({"badge": request.POST.get("second_badge"), "pin": request.POST.get("second_pin")})
    terminal = terminals.here(request)
    if terminal is None:
        raise terminals.not_enrolled(request)
    if not form.is_valid():
        signers = slip_workflow.either(roles)
        says = f"The second signature is missing: {signers} signs by badge number and PIN, both digits."
        raise Refused("second_signature", says, 422)

    def agree(staff: Staff) -> str:
        if staff.role not in roles:
            raise Refused("wrong_role", f"The second signature is that of {slip_workflow.either(roles)}.", 403)
        return staff.username

    try:
        return signatures.sign(terminal, form.cleaned_data["badge"], form.cleaned_data["pin"], agree)[1]
    except Refused as refused:
        raise Refused(refused.code, f"The second signature: {refused.sentence}", refused.status) from None


def typed(request: HttpRequest) -> tuple[str, str]:
    """The badge and the PIN of this form. Raises Refused."""
    form = SignatureForm(request.POST)
    if not form.is_valid():
        raise Refused("wrong_credentials", "Sign with your badge number and your PIN: both are digits.", 422)
    return form.cleaned_data["badge"], form.cleaned_data["pin"]


def sign(
    request: HttpRequest, act: Callable[[Staff], Signed], rehearse: Callable[[Staff], object] | None = None
) -> tuple[Staff, Signed]:
    """Do what this form's badge and PIN sign. Raises Refused."""
    terminal = terminals.here(request)
    if terminal is None:
        raise terminals.not_enrolled(request)
    badge, pin = typed(request)
    try:
        return signatures.sign(terminal, badge, pin, act, rehearse)
    except Refused as refused:
        if refused.code == "passkey_copied":
            passkeys.tell_copied(refused)
        raise
