"""One-time codes, with which the owner of an account sets a PIN or a password that no other person knows.

An operator requests a code and sees its first half. A second person, an operator or a pit boss, confirms it and sees
the second half. The owner types both halves, once, before the code expires. So no operator obtains a secret without a
second person. If the account already had a secret, the confirmation resets it: from then on it opens nothing.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from django.db import transaction

from ledger import log, site_log
from ledger.alerts import raise_alert
from ledger.log import Draft
from ledger.models import LogEntry
from ledger.site_log import digest_of
from tables import pepper
from tables.log.entries.staff import (
    CALLED,
    CodeAsked,
    CodeConfirmed,
    CodeWithdrawn,
    SecretReset,
    confirmer_fault,
)
from tables.log.signatory import Signatory, with_badge_from
from tables.models import OneTimeCode, SecretVersion, Staff
from tables.models.staff import PASSWORD, PIN
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies
from tables.staff import secret_ages

_DIGITS: Final = 8
"""Digits in each half. A person who knows one half has to guess the other, and failed guesses are counted."""

WRONG: Final = "The code is wrong, used, or too old: type both halves, or ask an operator for another code."


@dataclass(frozen=True, slots=True)
class Halves:
    """The halves of a code that one person may see: both if there was no second person to confirm it."""

    code: OneTimeCode
    first: str = ""
    second: str = ""


def hours() -> int:
    """Hours for which a code is valid after its confirmation, and for which it can be confirmed after the request."""
    return policies.number("code_hours")


def ask(staff: Staff, secret: str, *, by: Staff) -> Halves:
    """Request a code for a staff member: returns its first half, to be shown once. Replaces an earlier code.

    An installation with a single operator gives an operator the whole code without a second person; a log entry and an
    alert record that. Raises Refused.
    """
    half = _half()
    with transaction.atomic():
        head = site_log.lock()
        staff = Staff.objects.get(pk=staff.pk)
        alone = _is_alone(by) and staff.role == Role.OPERATOR
        _refuse_asking(staff, secret, by, alone=alone)
        OneTimeCode.objects.filter(staff=staff, secret=secret).delete()
        sealed = _sealed(half, staff, secret, "first")
        event = CodeAsked(half=digest_of(sealed), **_about(staff, secret, by))
        head = log.append(head, Draft.of(event, by.signature))
        code = OneTimeCode.objects.create(
            staff=staff, secret=secret, asked_by=by, asked_at=head.moment, asked_seq=head.seq, first=sealed
        )
        if not alone:
            return Halves(code, first=_grouped(half))
        second = _confirm(code, by, alone=True)
        says = f"{by.name} alone gave {_whom(staff, by)} a code for a {CALLED[secret]}: the house has one operator."
        raise_alert(None, "code_of_one", says, {"by": by.username, "for": staff.username, "secret": secret})
        return Halves(code, _grouped(half), _grouped(second))


def confirm(code: OneTimeCode, *, by: Staff) -> Halves:
    """Confirm a code: returns its second half, to be shown once. The confirmer is neither the requester nor the owner.

    Raises Refused.
    """
    with transaction.atomic():
        site_log.lock()
        row = OneTimeCode.objects.select_for_update(of=("self",)).select_related("staff", "asked_by")
        waiting = row.filter(pk=code.pk, confirmed_by=None).first()
        if waiting is None:
            raise Refused("no_such_code", "This code was confirmed, withdrawn or replaced already.", 409)
        _refuse_confirming(waiting, by, site_log.lock().moment)
        return Halves(waiting, second=_grouped(_confirm(waiting, by)))


def withdraw(code: OneTimeCode, *, by: Staff) -> None:
    """Withdraw a code before it is used; it opens nothing from then on. Raises Refused."""
    by.require("tables.confirm_code", "An operator or a pit boss withdraws a code.")
    with transaction.atomic():
        head = site_log.lock()
        row = OneTimeCode.objects.select_for_update(of=("self",)).select_related("staff").filter(pk=code.pk).first()
        if row is None:
            raise Refused("no_such_code", "This code was used, withdrawn or replaced already.", 409)
        row.delete()
        log.append(head, Draft.of(CodeWithdrawn(**_about(row.staff, row.secret, by)), by.signature))


def withdraw_all(staff: Staff, of: tuple[str, ...] = (PIN, PASSWORD), *, by: Staff) -> None:
    """Withdraw the codes of a staff member who has left or no longer has a badge."""
    for code in OneTimeCode.objects.filter(staff=staff, secret__in=of):
        code.delete()
        site_log.append(CodeWithdrawn(**_about(staff, code.secret, by)), by.signature)


def _confirm(code: OneTimeCode, by: Staff, *, alone: bool = False) -> str:
    """Create and store the second half, and reset the present secret if there is one."""
    staff, secret, half = code.staff, code.secret, _half()
    # Lock the row before the entry gets its time: a signature being given at this moment precedes the reset or sees
    # it.
    staff = Staff.objects.select_for_update(no_key=True).get(pk=staff.pk)
    head = site_log.lock()
    code.second = _sealed(half, staff, secret, "second")
    code.confirmed_by, code.until = by, head.moment + timedelta(hours=hours())
    event = CodeConfirmed(
        half=digest_of(code.second), asked=code.asked_seq, until=code.until.isoformat(), alone=alone,
        **_about(staff, secret, by),
    )  # fmt: skip
    head = log.append(head, Draft.of(event, by.signature))
    code.confirmed_seq = head.seq
    code.save()
    if secret_ages.had_one(staff, secret):
        _reset(staff, code, by)
    return half


def _reset(staff: Staff, code: OneTimeCode, by: Staff) -> None:
    secret = code.secret
    secret_ages.keep_present(staff, secret)
    (staff.set_pin if secret == PIN else staff.set_password)(None)
    staff.save(update_fields=[secret, f"{secret}_made_at"])
    event = SecretReset(
        username=staff.username, secret=secret, secrets=staff.digests, code=code.confirmed_seq or 0
    )  # fmt: skip
    head = log.append(site_log.lock(), Draft.of(event, by.signature))
    SecretVersion.objects.create(staff=staff, secret=secret, seq=head.seq, kept="", at=head.at or head.moment)
    says = (
        f"{CALLED[secret][0].upper()}{CALLED[secret][1:]} reset of {staff.name} by {code.asked_by.name} and {by.name}."
    )
    evidence = {"of": staff.username, "secret": secret, "by": [code.asked_by.username, by.username], "entry": head.seq}
    raise_alert(None, "secret_reset", says, evidence)


def due(staff: Staff) -> list[str]:
    """Sentences on what a staff member still lacks before they can work: a badge, a PIN, a password."""
    if not staff.is_active:
        return []
    waiting = {code.secret: code for code in OneTimeCode.objects.filter(staff=staff)}
    wanted = [PASSWORD] if staff.role != Role.DEALER and not staff.passkeys.filter(is_active=True).exists() else []
    wanted += [PIN] if staff.badge else []
    sentences = [] if staff.badge or staff.role == Role.AUDITOR else ["Has no badge: signs no paper."]
    for secret in wanted:
        if staff.has(secret):
            if secret_ages.is_expired(staff, secret):
                sentences.append(f"The {CALLED[secret]} is too old: changes it at the next sign-in.")
            continue
        code, called = waiting.get(secret), CALLED[secret]
        if code is None:
            sentences.append(f"Has no {called} yet: make a code.")
        elif code.until is None:
            sentences.append(f"Has no {called} yet: a code waits for its second half.")
        else:
            sentences.append(f"Has no {called} yet, and a code until {code.until:%Y-%m-%d %H:%M} UTC.")
    return sentences


# --- Using one -------------------------------------------------------------------------------------------------


def is_right(staff: Staff | None, secret: str, halves: tuple[str, str], moment: datetime) -> bool:
    """Whether these are both halves of the staff member's code and it has not expired. Does not use the code up."""
    code = OneTimeCode.objects.filter(staff=staff, secret=secret).first() if staff and staff.is_active else None
    return _matches(code, halves, moment)


def spend(staff: Staff, secret: str, halves: tuple[str, str], moment: datetime) -> int:
    """Use a code up; returns the number of the entry that confirmed it. Of concurrent uses one succeeds. Raises
    Refused.
    """
    code = OneTimeCode.objects.select_for_update(of=("self",)).filter(staff=staff, secret=secret).first()
    if code is None or not staff.is_active or not _matches(code, halves, moment) or code.confirmed_seq is None:
        raise Refused("wrong_code", WRONG, 403)
    code.delete()
    return code.confirmed_seq


def _matches(code: OneTimeCode | None, halves: tuple[str, str], moment: datetime) -> bool:
    if code is None or code.until is None or moment >= code.until:
        return False
    right = [
        hmac.compare_digest(pepper.unseal_if_possible(kept, owner_of(code.staff, code.secret, which)), _digest(half))
        for which, kept, half in zip(("first", "second"), (code.first, code.second), halves, strict=True)
    ]
    return all(right)


# --- Who may ---------------------------------------------------------------------------------------------------


def operators_who_can_act() -> list[str]:
    """User names of the active operators who can sign in by name, with a password or a passkey."""
    operators = Staff.objects.filter(role=Role.OPERATOR, is_active=True).order_by("username")
    return [
        operator.username
        for operator in operators
        if operator.has("password") or operator.passkeys.filter(is_active=True).exists()
    ]


def _is_alone(by: Staff) -> bool:
    return operators_who_can_act() == [by.username]


def _refuse_asking(staff: Staff, secret: str, by: Staff, *, alone: bool) -> None:
    by.require("tables.change_staff", "Only an operator asks for a code.")
    if secret not in CALLED:
        raise Refused("bad_secret", "A code is for a PIN or for a password.", 422)
    if not staff.is_active:
        raise Refused("not_active", f"{staff.name} does not work here any more.", 409)
    if secret == PIN and not staff.badge:
        raise Refused("no_badge", f"A PIN goes with a badge number: give {staff.name} one first.", 409)
    if by.signatory.is_same_person(staff.signatory) and not alone:
        says = (
            "Nobody asks for a code of their own: another operator does. What you know, you change under Your account."
        )
        raise Refused("own_code", says, 403)


def _refuse_confirming(code: OneTimeCode, by: Staff, moment: datetime) -> None:
    by.require("tables.confirm_code", "A second operator or a pit boss confirms a code.")
    if fault := confirmer_fault(by.signatory, _asker(code), code.staff.signatory):
        raise Refused("own_code", fault, 403)
    if not code.staff.is_active:
        raise Refused("not_active", f"{code.staff.name} does not work here any more.", 409)
    if moment > code.asked_at + timedelta(hours=hours()):
        raise Refused("too_old", f"It was asked for more than {hours()} hours ago: it has to be asked for again.", 409)


def _asker(code: OneTimeCode) -> Signatory:
    """The person who requested a code, with the badge recorded at that time."""
    rows = LogEntry.objects.of_site().filter(seq=code.asked_seq)
    return with_badge_from(rows.values_list("by", flat=True).get(), code.asked_by.username, code.asked_by.name)


def _whom(staff: Staff, by: Staff) -> str:
    return "themselves" if staff.pk == by.pk else staff.name


# --- Spelling --------------------------------------------------------------------------------------------------


def _about(staff: Staff, secret: str, by: Staff) -> dict[str, Any]:
    return {"username": staff.username, "secret": secret, "signer": by.username, "signer_role": str(by.role)}


def _half() -> str:
    return f"{secrets.randbelow(10**_DIGITS):0{_DIGITS}}"


def _grouped(half: str) -> str:
    return f"{half[:4]} {half[4:]}"


def _digest(half: str) -> str:
    return sha256("".join(half.split()).encode()).hexdigest()


def _sealed(half: str, staff: Staff, secret: str, which: str) -> str:
    """Seal the digest of a half, bound to its owner and place: eight digits are guessed from a bare digest at once."""
    return pepper.seal(_digest(half), owner_of(staff, secret, which))


def owner_of(staff: Staff, secret: str, which: str) -> str:
    """The text that binds a sealed half to its owner, secret and place."""
    return f"{which} half of a code for a {secret} of {staff.username}"
