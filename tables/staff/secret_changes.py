"""Making a PIN or a password: by its owner alone, with a one-time code or with the secret of before.

A PIN is made and changed at a terminal, or changed on the account page by somebody who gives password and PIN. Tries
are counted before they are looked at, and everything wrong with a code, a badge and a name reads the same.
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
from tables.models import PASSWORD, PIN, SecretVersion, Staff, Terminal
from tables.refusals import Refused
from tables.staff import codes, guess_counts, secret_ages, sign_in, staffing, terminals
from tables.staff.guess_counts import GuessLimit, TooMany

Halves = tuple[str, str]
_WRONG_PIN: Final = "Badge number or PIN is wrong."


# --- At a terminal ---------------------------------------------------------------------------------------------


def make_pin(terminal: Terminal, badge: str, halves: Halves, new: str, again: str) -> Staff:
    """The owner of a badge makes a PIN with both halves of their code. Raises Refused."""
    _refuse_typed(PIN, new, again)
    counts = terminals.reserve("code", terminal, badge)
    staff = Staff.objects.filter(badge=badge, is_active=True).first()
    if staff is None or not codes.is_right(staff, PIN, halves, timezone.now()):
        raise Refused("wrong_code", codes.WRONG, 403)
    return _counted(counts, lambda: _make(staff, PIN, new, halves=halves, terminal=terminal))


def change_pin(terminal: Terminal, badge: str, old: str, new: str, again: str) -> Staff:
    """The owner of a badge and a PIN changes it, however old it is. Raises Refused."""
    _refuse_typed(PIN, new, again)
    counts = terminals.reserve("signature", terminal, badge)
    staff = Staff.objects.filter(badge=badge, is_active=True).first()
    if not sign_in.is_right(staff, old) or staff is None:
        raise Refused("wrong_credentials", _WRONG_PIN, 403)
    return _counted(counts, lambda: _make(staff, PIN, new, terminal=terminal))


# --- In a browser ----------------------------------------------------------------------------------------------


def make_password(request: HttpRequest, username: str, halves: Halves, new: str, again: str) -> Staff:
    """Whoever signs in by name makes a password with both halves of their code. Raises Refused."""
    _refuse_typed(PASSWORD, new, again)
    counts = sign_in.name_limits(request, username, "code")
    try:
        guess_counts.reserve(counts)
    except TooMany as full:
        raise guess_counts.locked("Too many tries", full.limit) from None
    staff = Staff.objects.filter(username=username, is_active=True).first()
    if staff is None or not codes.is_right(staff, PASSWORD, halves, timezone.now()):
        raise Refused("wrong_code", codes.WRONG, 403)
    return _counted(counts, lambda: _make(staff, PASSWORD, new, halves=halves))


def change_password(staff: Staff, *, new: str) -> Staff:
    """Somebody who has proved who they are gives themselves another password; their other sign-ins end."""
    return _make(staff, PASSWORD, new)


def change_own_pin(request: HttpRequest, password: str, old: str, new: str, again: str) -> Staff:
    """On the account page, wherever that is open: password and PIN, each counted. Raises Refused."""
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
    """What two people and the owner do to give somebody their first PIN and password, one after the other: for the demo
    and for tests, which play all three. ``chosen``: pin, password; ``confirms`` is None where there is nobody else."""
    for secret in (PIN, PASSWORD):  # who has a password can act, and from then on nobody gives codes alone
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
    """The new secret, once all that is proved about who makes it. Hashing takes long, so it is done before anything is
    locked; what was proved is then asked again."""
    staffing.refuse_secret(staff, secret, new)
    secret_ages.refuse_used(staff, secret, new)
    before, kept = getattr(staff, secret), pepper.seal(hashers.make_password(new), staff.owner_of(secret))
    with transaction.atomic():
        site_log.lock()
        staff = Staff.objects.select_for_update(no_key=True).get(pk=staff.pk)
        head = site_log.lock()  # dated after the row is held: see codes.confirm
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
    """The owner was right: what is wrong with the new secret is no guess."""
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
