"""Signing by badge and PIN, on an enrolled terminal: the one who signs need not be signed in there.

A refusal that concerns any signer is given before the PIN is checked. A refusal that concerns this person alone is
given only after the right PIN: a wrong PIN reads and counts the same for every badge.
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
"""Refusals of who signs, not of what is signed."""


def of_here(given: Attestation | None, terminal: Terminal | None) -> Attestation | None:
    """What a terminal's key or a passkey signed, if it did so on this terminal. Raises Refused for another's."""
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
    """Do what the owner of this badge and PIN signs at a terminal. Raises Refused.

    ``rehearse`` raises what would refuse the act by somebody; without one, the act itself is done and undone. That
    takes its locks, so nothing slow may be in it.
    """
    counts = terminals.reserve("signature", terminal, badge)
    staff = Staff.objects.filter(badge=badge, is_active=True).first()
    try:
        if staff is not None:
            secret_ages.refuse_expired(staff)
        personal = _personal_refusal(staff, act, rehearse) if staff is not None else None
    except Refused:
        guess_counts.give_back(counts)  # the PIN was not looked at
        raise
    if not sign_in.is_right(staff, pin) or staff is None:
        raise _noted(Refused("wrong_credentials", "Badge number or PIN is wrong.", 403), terminal, staff)
    if personal is not None:
        guess_counts.give_back(counts)  # the PIN was right
        raise _noted(personal, terminal, staff)
    try:
        result = act(staff)
    except Refused as refused:  # what came in between is answered as it would have been before
        if refused.code in _PERSONAL:
            guess_counts.give_back(counts)
            _noted(refused, terminal, staff)
        raise
    guess_counts.succeed(counts)
    return staff, result


def _noted(refused: Refused, terminal: Terminal, staff: Staff | None) -> Refused:
    """Whose badge it was is noted; one that nobody has may be half a password, and is not."""
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
            transaction.set_rollback(True)  # before anybody can see it
    except Refused as refused:
        if refused.code not in _PERSONAL:
            raise
        return refused
    return None
