"""Signatures on forms: badge and PIN of a signer, of a second signer under dual control, and the attestation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from dealer_ui.entry_forms import SignatureForm
from tables.form_fields import InputForm
from tables.log import slip_workflow
from tables.log.attestation import Attestation
from tables.models import Staff
from tables.refusals import Refused
from tables.staff import passkeys, signatures, terminals

Signed = TypeVar("Signed")
_LONGEST: Final = 4_000


class AttestationForm(InputForm):
    """The signature of a terminal on a form, with a passkey if one was used."""

    status = 400
    message = "This form was incomplete: load the page again, then sign once more."
    attested = forms.CharField(max_length=_LONGEST, required=False)

    def clean_attested(self) -> Attestation | None:
        text = self.cleaned_data["attested"]
        try:
            return msgspec.json.decode(text, type=Attestation) if text else None
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            raise ValidationError(self.message) from None


def attested(request: HttpRequest) -> Attestation | None:
    """The attestation of this form's terminal, with a passkey if one was used, or None. Raises Refused."""
    terminal = terminals.here(request)
    attestation = AttestationForm(request.POST).values()["attested"] if terminal else None
    return signatures.of_here(attestation, terminal) if terminal and attestation else None


def second(request: HttpRequest, roles: Sequence[str]) -> str:
    """The user name of the second signer on this form; empty if no second signature is needed. Raises Refused.

    Checked before the first signature: a form refused for either is filled in again as a whole.
    """
    if not roles:
        return ""
    form = SignatureForm(request.POST, prefix="second_")
    terminal = terminals.here(request)
    if terminal is None:
        raise terminals.not_enrolled(request)
    signers = slip_workflow.either(roles)
    if not form.is_valid():
        message = f"The second signature is missing: {signers} signs by badge number and PIN, both digits."
        raise Refused("second_signature", message, 422)

    def agree(staff: Staff) -> str:
        if staff.role not in roles:
            raise Refused("wrong_role", f"The second signature is that of {signers}.", 403)
        return staff.username

    try:
        return signatures.sign(terminal, form.cleaned_data["badge"], form.cleaned_data["pin"], agree)[1]
    except Refused as refused:
        raise Refused(refused.code, f"The second signature: {refused.sentence}", refused.status) from None


def typed(request: HttpRequest) -> tuple[str, str]:
    """The badge and the PIN of this form. Raises Refused."""
    values = SignatureForm(request.POST).values()
    return values["badge"], values["pin"]


def typed_badge(request: HttpRequest, prefix: str = "") -> str:
    """The badge typed on this form, to be shown again after a refusal."""
    return SignatureForm(request.POST, prefix=prefix)["badge"].value() or ""


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
