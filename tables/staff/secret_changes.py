"""Setting a PIN or a password, by its owner, with a one-time code or with the previous secret.

A PIN is set and changed at a terminal, or changed on the account page with password and PIN. Attempts are counted
before they are checked, and the message does not reveal whether code, badge or name is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.contrib.auth import hashers
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft
from tables import pepper
from tables.log.entries.staff import CALLED, SecretMade
from tables.models import SecretVersion, Staff, Terminal
from tables.models.staff import PASSWORD, PIN
from tables.refusals import Refused
from tables.staff import codes, guess_counts, secret_ages, sign_in, staffing, terminals
from tables.staff.guess_counts import GuessLimit, TooMany

Halves = tuple[str, str]
_WRONG_PIN: Final = "Badge number or PIN is wrong."


# --- At a terminal ---------------------------------------------------------------------------------------------


def make_pin(terminal: Terminal, badge: str, halves: Halves, new: str, again: str) -> Staff:
    """Set the PIN of a badge's owner with both halves of a code. Raises Refused."""
    _refuse_typed(PIN, new, again)
    counts = terminals.reserve("code", terminal, badge)
    staff = Staff.objects.find_active(badge=badge)
    if staff is None or not codes.is_right(staff, PIN, halves, timezone.now()):
        raise Refused("wrong_code", codes.WRONG, 403)
    return _counted(counts, lambda: _make(staff, PIN, new, halves=halves, terminal=terminal))


def change_pin(terminal: Terminal, badge: str, old: str, new: str, again: str) -> Staff:
    """Change the PIN of a badge's owner, even an expired one. Raises Refused."""
    _refuse_typed(PIN, new, again)
    counts = terminals.reserve("signature", terminal, badge)
    staff = Staff.objects.find_active(badge=badge)
    if not sign_in.is_right(staff, old) or staff is None:
        raise Refused("wrong_credentials", _WRONG_PIN, 403)
    return _counted(counts, lambda: _make(staff, PIN, new, terminal=terminal))


# --- In a browser ----------------------------------------------------------------------------------------------


def make_password(request: HttpRequest, username: str, halves: Halves, new: str, again: str) -> Staff:
    """Set the password of a user who signs in by name, with both halves of a code. Raises Refused."""
    _refuse_typed(PASSWORD, new, again)
    counts = sign_in.name_limits(request, username, "code")
    try:
        guess_counts.reserve(counts)
    except TooMany as full:
        raise guess_counts.locked("Too many tries", full.limit) from None
    staff = Staff.objects.find_active(username=username)
    if staff is None or not codes.is_right(staff, PASSWORD, halves, timezone.now()):
        raise Refused("wrong_code", codes.WRONG, 403)
    return _counted(counts, lambda: _make(staff, PASSWORD, new, halves=halves))


def change_password(staff: Staff, *, new: str) -> Staff:
    """Set another password for an authenticated staff member; all their other sessions end."""
    return _make(staff, PASSWORD, new)


def change_own_pin(request: HttpRequest, password: str, old: str, new: str, again: str) -> Staff:
    """Change the user's own PIN on the account page, with password and PIN, each counted. Raises Refused."""
    staff = request.user
    assert isinstance(staff, Staff)  # noqa: S101 -- the views ask for a sign-in
    _refuse_typed(PIN, new, again)
    sign_in.prove_again(request, password)
    name, window = guess_counts.called(staff.username), guess_counts.DAY
    counts = [GuessLimit("own pin", "account", name, sign_in.failures(), window)]
    try:
        guess_counts.reserve(counts)
    except TooMany as full:
        raise guess_counts.locked("Too many wrong PINs", full.limit) from None
    if not staff.check_pin(old):
        raise Refused("wrong_credentials", "This is not your PIN.", 422)
    return _counted(counts, lambda: _make(staff, PIN, new))


# --- For houses that are set up by a program -------------------------------------------------------------------


def first_secrets(
    staff: Staff, *, asks: Staff, confirms: Staff | None, terminal: Terminal | None, **chosen: str | None
) -> Staff:
    """Set the first PIN and password of a staff member with a code for each, as the demo and tests need it.

    Plays the part of requester, confirmer and owner in turn. `chosen`: pin, password. `confirms` is None if there is no
    second person.
    """
    # PIN first: once a user can sign in by password, a code needs a second person.
    for secret in (PIN, PASSWORD):
        new = chosen.get(secret)
        if new:
            shown = codes.ask(staff, secret, by=asks)
            second = shown.second or codes.confirm(shown.code, by=_other(confirms)).second
            staff = _make(staff, secret, new, halves=(shown.first, second), terminal=terminal)
    return staff


def _other(confirms: Staff | None) -> Staff:
    if confirms is None:
        raise Refused("own_code", "A second person has to confirm this code.", 403)
    return confirms


# --- All of it -------------------------------------------------------------------------------------------------


def _make(
    staff: Staff, secret: str, new: str, *, halves: Halves | None = None, terminal: Terminal | None = None
) -> Staff:
    """Set the new secret of an owner whose identity was proved.

    Hashing is slow, so it precedes the locks; the proof is then checked again under them.
    """
    staffing.refuse_secret(staff, secret, new)
    secret_ages.refuse_used(staff, secret, new)
    before, kept = getattr(staff, secret), pepper.seal(hashers.make_password(new), staff.owner_of(secret))
    with transaction.atomic():
        site_log.lock()
        staff = Staff.objects.select_for_update(no_key=True).get(pk=staff.pk)
        head = site_log.lock()  # dated once the row is locked: see codes.confirm
        if getattr(staff, secret) != before and halves is None:
            raise Refused("changed_meanwhile", f"Your {CALLED[secret]} was changed or reset in this moment.", 409)
        code = codes.spend(staff, secret, halves, head.moment) if halves is not None else None
        secret_ages.keep_present(staff, secret)
        setattr(staff, secret, kept)
        setattr(staff, f"{secret}_made_at", head.moment)
        staff.save(update_fields=[secret, f"{secret}_made_at"])
        event = SecretMade(
            username=staff.username, secret=secret, secrets=staff.digests, code=code,
            terminal=terminal.name if terminal else None,
        )  # fmt: skip
        head = log.append(head, Draft.of(event, staff.signature))
        SecretVersion.objects.create(staff=staff, secret=secret, seq=head.seq, kept=kept, at=head.at or head.moment)
    return staff


def _counted(counts: list[GuessLimit], act: Callable[[], Staff]) -> Staff:
    """Run the change and settle the counts: the owner was right, so a fault of the new secret is not a guess."""
    try:
        staff = act()
    except Refused as refused:
        if refused.code != "wrong_code":
            guess_counts.give_back(counts)
        raise
    guess_counts.succeed(counts)
    return staff


def _refuse_typed(secret: str, new: str, again: str) -> None:
    if new != again:
        raise Refused("differs", f"The new {CALLED[secret]} was typed in two ways: type it again.", 422)
    staffing.refuse_rule(secret, new)
