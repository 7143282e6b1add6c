"""Passkeys (WebAuthn): sign-in by name with a key on the user's device, which its owner unlocks there.

A challenge is stored in the session that requested it, for one purpose, and the first answer removes it. Origin and
relying party are those of the page's own address. The site log records each public key from its registration on. A
passkey can sign slips once a terminal has vouched for it; `tables/log/trusted_keys.py` defines when it is trusted for
that.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from ledger import log
from ledger.alerts import raise_alert
from ledger.log import Draft
from ledger.site_log import append, digest_of
from tables.floor import signature_checks
from tables.log import attestation
from tables.log.attestation import Attestation
from tables.log.entries.passkeys import PasskeyEnded, PasskeysDemanded, PasskeyVouched
from tables.log.entries.staff import PasskeyRegistered, PasskeyWithdrawn
from tables.log.entries.terminal_keys import Vouch
from tables.log.policies import BY_NAME
from tables.log.slip_types import PAPERS
from tables.models import Passkey, Staff, Terminal
from tables.refusals import Refused
from tables.staff import terminal_keys

_CHALLENGE: Final = "passkey_challenge"
_SECONDS: Final = 300
"""Seconds within which the device has to answer a challenge."""
MOST: Final = 10
"""Maximum of active passkeys for each user."""
NO_PASSKEY: Final = "What the device answered is no passkey for this house: try again."
WRONG: Final = "This passkey does not open the house: use another one, or sign in by password."
REGISTER: Final = "register"
SIGN_IN: Final = "sign in"
LATER: Final = 2**62


# --- Registering -----------------------------------------------------------------------------------------------


def registration_options(request: HttpRequest, staff: Staff) -> str:
    """Options for registering a passkey, as JSON for the browser. Raises Refused."""
    from tables.staff import ceremonies  # see there why so late

    _refuse_many(staff)
    options = ceremonies.registration_options(
        _host(request),
        user_id=sha256(f"passkeys of {staff.username}".encode()).digest(),
        username=staff.username,
        name=staff.name,
        credentials=list(staff.passkeys.filter(is_active=True).values_list("credential", flat=True)),
    )
    _give(request, REGISTER, options.challenge, staff.username)
    return options.document


def register(request: HttpRequest, staff: Staff, name: str, answer: str) -> Passkey:
    """Store a new passkey and record it in the site log. Raises Refused."""
    from tables.staff import ceremonies

    challenge = _take(request, REGISTER, staff.username)
    name = name.strip()
    if not name or len(name) > 40 or not name.isprintable():
        raise Refused("bad_name", "Name the passkey in 1 to 40 characters, by where it is: “my phone”.", 422)
    try:
        registered = ceremonies.verified_registration(answer, challenge, host=_host(request), origin=origin_of(request))
    except ceremonies.BadAnswer:
        raise Refused("bad_passkey", NO_PASSKEY, 422) from None
    credential, key = registered.credential, registered.public_key
    with transaction.atomic():
        staff = Staff.objects.select_for_update(no_key=True).get(pk=staff.pk)
        _refuse_many(staff)
        if Passkey.objects.filter(credential=credential).exists():
            raise Refused("bad_passkey", "This device is registered already.", 409)
        row = Passkey.objects.create(
            staff=staff, name=name, credential=credential, public_key=key,
            sign_count=registered.sign_count, registered_at=timezone.now(),
        )  # fmt: skip
        event = PasskeyRegistered(
            username=staff.username, name=name, credential=digest_of(credential), public_key=key
        )  # fmt: skip
        append(event, staff.signature)
    return row


def withdraw(row: Passkey, *, by: Staff) -> None:
    """Withdraw a passkey, by its owner or, for a lost device, by an operator: it no longer signs in or signs slips.

    Raises Refused.
    """
    if by.pk != row.staff_id and not by.has_perm("tables.change_staff"):
        raise Refused("not_permitted", "Its owner withdraws a passkey, or an operator.", 403)
    with transaction.atomic():
        # Logs are locked before rows: signing a slip takes its locks in that order.
        through, head = terminal_keys.everything_so_far()
        row = Passkey.objects.select_for_update(of=("self",)).select_related("staff").get(pk=row.pk)
        if not row.is_active:
            return
        row.is_active = False
        row.save(update_fields=["is_active"])
        credential, username = digest_of(row.credential), row.staff.username
        event = PasskeyWithdrawn(username=username, name=row.name, credential=credential, signer=by.username)
        head = log.append(head, Draft.of(event, by.signature))
        signing = signature_checks.trust().passkeys.get(credential)
        if signing is not None and signing.until is None:
            ended = PasskeyEnded(username=username, name=row.name, credential=credential, through=through)
            log.append(head, Draft.of(ended, by.signature))


def _refuse_many(staff: Staff) -> None:
    if not staff.is_active:
        raise Refused("not_permitted", "Only who works here registers a passkey.", 403)
    if staff.passkeys.filter(is_active=True).count() >= MOST:
        raise Refused("too_many", f"You have {MOST} passkeys: withdraw one that you do not use.", 409)


# --- Signing in ------------------------------------------------------------------------------------------------


def sign_in_options(request: HttpRequest) -> str:
    """Options for signing in, as JSON for the browser. They are equal for every name, so they do not reveal who has
    passkeys.
    """
    from tables.staff import ceremonies

    options = ceremonies.sign_in_options(_host(request))
    _give(request, SIGN_IN, options.challenge, "")
    return options.document


def who_signs_in(request: HttpRequest, username: str, answer: str) -> tuple[Staff, str]:
    """The owner of the passkey that answered, and its digest. A typed user name must be the owner's. Raises Refused."""
    challenge = _take(request, SIGN_IN, "")
    row = _checked(request, answer, challenge)
    if username and username != row.staff.username:
        raise Refused("wrong_passkey", WRONG, 403)
    return row.staff, digest_of(row.credential)


# --- Signing slips ---------------------------------------------------------------------------------------------


def statement_of(row: Passkey, terminal: str, origin: str) -> dict[str, Any]:
    """The statement that a terminal and a passkey both sign to let the passkey sign slips."""
    return attestation.passkey_voucher(
        row.staff.username, digest_of(row.credential), signature_checks.public_of(row.public_key), origin, by=terminal
    )


def vouch(row: Passkey, terminal: Terminal, origin: str, given: Attestation | None, *, by: Staff) -> None:
    """Record that a terminal vouches for a passkey used on it by its owner; the passkey can sign slips from then on.

    Raises Refused.
    """
    if by.pk != row.staff_id or not row.is_active:
        raise Refused("not_permitted", "Its owner lets a terminal vouch for a passkey, and nobody else.", 403)
    public = signature_checks.public_of(row.public_key)
    if not public:
        raise Refused("bad_key", f"{row.name} has a key of another kind than slips take: register another one.", 422)
    if given is None or given.passkey is None or not given.is_by_terminal:
        raise Refused("not_attested", f"{terminal.name} did not sign, or {row.name} did not: try again.", 403)
    with transaction.atomic():
        through, head = terminal_keys.everything_so_far()
        event = PasskeyVouched(
            username=by.username,
            name=row.name,
            credential=digest_of(row.credential),
            key=public,
            origin=origin,
            vouched=Vouch(terminal.name, given.key, given.signature),
            answer=given.passkey,
            through=through,
        )
        terminal_keys.append_if_valid(head, event, by.signature, "bad_passkey")


def demand(roles: Sequence[str], papers: Sequence[str], *, by: Staff) -> None:
    """Require passkey signatures of these roles, and on these kinds of slip, from now on. Raises Refused."""
    by.require("tables.enrol_terminal", "Only an operator says who signs by passkey.")
    with transaction.atomic():
        through, head = terminal_keys.everything_so_far()
        standing = signature_checks.trust().demands
        asked = [name for name in (*roles, *papers) if name not in standing]
        event = PasskeysDemanded(
            roles=tuple(name for name in BY_NAME if name in asked and name in roles),
            papers=tuple(name for name in PAPERS if name in asked and name in papers),
            through=through,
        )
        terminal_keys.append_if_valid(head, event, by.signature, "bad_passkey")


def asked_of(badge: str, series: str) -> SignatureRequest:
    """Whether the owner of this badge has to sign slips of a series by passkey, and by which passkeys."""
    staff = Staff.objects.find_active(badge=badge) if badge else None
    keys = signature_checks.trust()
    # Checked for no particular log and a future entry: all demands in force apply.
    if staff is None or not keys.passkey_due(staff.role, series, "", LATER):
        return SignatureRequest(is_wanted=False, credentials=[])
    signing = {key.credential for key in keys.signs(staff.username)}
    rows = staff.passkeys.filter(is_active=True).values_list("credential", flat=True)
    return SignatureRequest(is_wanted=True, credentials=[row for row in rows if digest_of(row) in signing])


class SignatureRequest(NamedTuple):
    """Whether a page has to request a passkey's signature, and of which passkeys."""

    is_wanted: bool
    credentials: list[str]
    """Ids of the passkeys that may answer."""


def tell_copied(refused: Refused) -> None:
    """Raise the alert about a passkey whose counter went backwards while signing."""
    _alert_copied(str(refused.facts["username"]), str(refused.facts["passkey"]))


# --- Checking --------------------------------------------------------------------------------------------------


def _checked(request: HttpRequest, answer: str, challenge: str) -> Passkey:
    """The passkey that gave this answer to this challenge. Raises Refused.

    A counter only rises: one that does not indicates a copied passkey, which raises an alert.
    """
    from tables.staff import ceremonies

    with transaction.atomic():
        rows = Passkey.objects.select_for_update(of=("self",)).select_related("staff")
        row = rows.filter(credential=_credential(answer), is_active=True, staff__is_active=True).first()
        if row is None:
            raise Refused("wrong_passkey", WRONG, 403)
        try:
            count = ceremonies.verified_count(
                answer, challenge, row.public_key, host=_host(request), origin=origin_of(request)
            )
        except ceremonies.BadAnswer:
            raise Refused("wrong_passkey", WRONG, 403) from None
        was_copied = (count or row.sign_count) and count <= row.sign_count
        if not was_copied:
            row.sign_count, row.used_at = count, timezone.now()
            row.save(update_fields=["sign_count", "used_at"])
    if was_copied:
        _alert_copied(row.staff.username, row.name)
        raise Refused("wrong_passkey", WRONG, 403)
    return row


def _alert_copied(username: str, name: str) -> None:
    says = f"The passkey {name} of {username} counts backwards: somebody may have copied it."
    raise_alert(None, "passkey_copied", says, {"username": username, "passkey": name})


def _credential(answer: str) -> str:
    try:
        return str(json.loads(answer)["id"])[:1400]
    except (ValueError, KeyError, TypeError):
        raise Refused("wrong_passkey", WRONG, 403) from None


def _give(request: HttpRequest, purpose: str, challenge: str, username: str) -> None:
    request.session[_CHALLENGE] = [purpose, challenge, username, time.time()]


def _take(request: HttpRequest, purpose: str, username: str) -> str:
    """Remove and return the session's challenge for a purpose and a user. Raises Refused if there is none or it
    expired.
    """
    kept: list[Any] = request.session.pop(_CHALLENGE, None) or ["", "", "", 0.0]
    request.session.save()  # a challenge is used once, even if the answer is wrong
    if kept[:1] + kept[2:3] != [purpose, username] or time.time() - kept[3] > _SECONDS:
        raise Refused("no_challenge", "That took too long, or was answered before: start again.", 409)
    return str(kept[1])


def _host(request: HttpRequest) -> str:
    """The relying party: the site's host name, without its port."""
    return request.get_host().rsplit(":", 1)[0] if ":" in request.get_host() else request.get_host()


def origin_of(request: HttpRequest) -> str:
    """The origin of the site's pages, as a browser states it."""
    return f"{request.scheme}://{request.get_host()}"
