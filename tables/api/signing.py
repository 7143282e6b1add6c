"""Signatures over the API by badge and PIN, which only a terminal may send. Failures count as on the screens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from tables.api.operations import Call, Write
from tables.log.attestation import Attestation
from tables.models import Staff
from tables.refusals import Refused
from tables.staff import passkeys, signatures, terminals

Outcome = TypeVar("Outcome")


class Signed(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A write that is signed by badge and PIN. The signer need not be the user of the session."""

    badge: Annotated[str, Meta(pattern=r"^[0-9]{3,8}$")]
    pin: Annotated[str, Meta(pattern=r"^[0-9]{4,8}$", description="Kept nowhere, and in no log.")]
    attested: Attestation | None = None
    """The signature of the terminal's key or a passkey, where the house requires one."""


def attested(call: Call[Any, Any]) -> Attestation | None:
    """The signature of a terminal's key or a passkey. Raises Refused for another terminal's."""
    return signatures.of_here(call.body.attested, terminals.here(call.request))


def sign(
    call: Call[Any, Any], act: Callable[[Staff], Outcome], rehearse: Callable[[Staff], object] | None = None
) -> tuple[Staff, Outcome]:
    """The signer of the request and the outcome of ``act``, which their badge and PIN sign. Raises Refused."""
    terminal = terminals.here(call.request)
    if terminal is None:
        raise terminals.not_enrolled(call.request)
    try:
        return signatures.sign(terminal, call.body.badge, call.body.pin, act, rehearse)
    except Refused as refused:
        if refused.code == "passkey_copied":
            passkeys.tell_copied(refused)
        raise
