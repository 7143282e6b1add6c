"""Signing by badge and PIN on an enrolled terminal; the signer need not be signed in there.

A refusal that concerns any signer is given before the PIN is checked. A refusal that concerns this person only is given
after the right PIN: a wrong PIN gets an equal answer and count for every badge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from django.db import transaction

from tables.floor import refused_inputs
from tables.log.attestation import Attestation
from tables.models import Staff, Terminal
from tables.refusals import Refused
from tables.staff import guess_counts, secret_ages, sign_in, terminals

Signed = TypeVar("Signed")

_PERSONAL: Final = {
    "wrong_role", "not_permitted", "signed_already", "not_the_dealer", "own_shift", "not_theirs", "not_your_pit",
}  # fmt: skip
"""Codes of refusals that concern the signer, not the act being signed."""


def of_here(given: Attestation | None, terminal: Terminal | None) -> Attestation | None:
    """The signature of a terminal's key or a passkey if it was made on this terminal. Raises Refused for another
    terminal's.
    """
    if given is None or terminal is None:
        return None
    if given.terminal != terminal.name:
        says = f"This form was drawn for {given.terminal}, and this is {terminal.name}: load the page again."
        raise Refused("not_attested", says, 403)
    return given


def sign(
    terminal: Terminal,
    badge: str,
    pin: str,
    act: Callable[[Staff], Signed],
    rehearse: Callable[[Staff], object] | None = None,
) -> tuple[Staff, Signed]:
    """Perform an act signed by the owner of this badge and PIN at a terminal. Raises Refused.

    `rehearse` raises the refusal of the act for a staff member. Without it the act itself is run and rolled back. It
    takes its locks then, so it must not be slow.
    """
    counts = terminals.reserve("signature", terminal, badge)
    staff = Staff.objects.find_active(badge=badge)
    try:
        if staff is not None:
            secret_ages.refuse_expired(staff)
        personal = _personal_refusal(staff, act, rehearse) if staff is not None else None
    except Refused:
        guess_counts.give_back(counts)  # the PIN was not checked
        raise
    if not sign_in.is_right(staff, pin) or staff is None:
        raise _noted(Refused("wrong_credentials", "Badge number or PIN is wrong.", 403), terminal, staff)
    if personal is not None:
        guess_counts.give_back(counts)  # the PIN was right
        raise _noted(personal, terminal, staff)
    try:
        result = act(staff)
    except Refused as refused:  # changed since the rehearsal: answered as the rehearsal would have been
        if refused.code in _PERSONAL:
            guess_counts.give_back(counts)
            _noted(refused, terminal, staff)
        raise
    guess_counts.succeed(counts)
    return staff, result


def _noted(refused: Refused, terminal: Terminal, staff: Staff | None) -> Refused:
    """Record the refusal under the badge. An unknown badge is not recorded: it may be part of a password."""
    by = f"badge {staff.badge}" if staff is not None else "a badge that nobody has"
    refused_inputs.note("signature", refused, by, terminal=terminal.name)
    return refused


def _personal_refusal(
    staff: Staff, act: Callable[[Staff], object], rehearse: Callable[[Staff], object] | None
) -> Refused | None:
    """The refusal that concerns this person alone; None if there is none. Raises one that concerns every signer."""
    try:
        if rehearse is not None:
            rehearse(staff)
            return None
        with transaction.atomic():
            act(staff)
            transaction.set_rollback(True)  # never committed, so never visible to others
    except Refused as refused:
        if refused.code not in _PERSONAL:
            raise
        return refused
    return None
