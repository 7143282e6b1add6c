"""API tokens of service accounts: created and shown once, replaced with an overlap, revoked at once.

A token is `casino_`, ten letters that identify it, 33 random letters (196 bits) and six of a checksum. The checksum
distinguishes a mistyped token from a revoked one, and lets repository scanners find a published one. The token's hash
is sealed (`pepper`). A random part of that size cannot be guessed: wrong tokens never lock out a right one from the
same address, and only failures are counted.
"""

from __future__ import annotations

import re
import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address, ip_network
from string import ascii_letters, digits
from typing import Final
from zlib import crc32

from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from ledger import log, site_log
from ledger.alerts import raise_alert, raise_lasting
from ledger.log import Draft
from tables import pepper
from tables.log.entries.service_accounts import MOST_LIVE, ServiceTokenEnded, ServiceTokenMade, ServiceTokensSealed
from tables.models import ServiceAccount, ServiceToken, Staff
from tables.refusals import Refused
from tables.setup import policies
from tables.setup.service_accounts import permit
from tables.staff import guess_counts
from tables.staff.guess_counts import GuessLimit

PREFIX: Final = "casino_"
_LETTERS: Final = digits + ascii_letters
_IDENT, _CHANCE, _CHECK = 10, 33, 6
_FORM: Final = re.compile(rf"{PREFIX}([0-9A-Za-z]{{{_IDENT}}})([0-9A-Za-z]{{{_CHANCE}}})([0-9A-Za-z]{{{_CHECK}}})")
_USED_SECONDS: Final = 60
MINUTE: Final = 60


# --- Making and ending -----------------------------------------------------------------------------------------


def make(account: ServiceAccount, *, by: Staff) -> str:
    """Create a token, whose text cannot be recovered later. Raises Refused.

    The account's earlier token remains valid for the overlap set in the policies, so that the client can change over
    without interruption.
    """
    permit(by)
    text = _new()
    with transaction.atomic():
        head = site_log.lock()
        account.refresh_from_db()
        if not account.is_active:
            raise Refused("ended", f"{account} was revoked or has expired: it gets no token.", 409)
        live = list(account.tokens.select_for_update().filter(until__gt=head.moment))
        if len(live) >= MOST_LIVE:
            says = f"{account} has two tokens already: revoke one of them, or wait until {_clock(live[-1].until)}."
            raise Refused("two_tokens", says, 409)
        ends = head.moment + timedelta(hours=policies.number("token_overlap_hours"))
        for token in live:
            token.until = min(token.until, ends)
            token.save(update_fields=["until"])
        ident = text[len(PREFIX) :][:_IDENT]
        row = ServiceToken(account=account, ident=ident, until=account.expires_at, made_by=by.signature)
        row.made_at, row.kept = head.moment, pepper.seal(_digest(text), row.owner)
        row.save()
        event = ServiceTokenMade(
            name=account.name,
            token=ident,
            kept=site_log.digest_of(row.kept),
            until=policies.spelled(row.until),
            earlier={token.ident: policies.spelled(token.until) for token in live},
        )
        log.append(head, Draft.of(event, by.signature))
    return text


def end(token: ServiceToken, *, by: Staff) -> None:
    """Revoke a token with immediate effect. Raises Refused."""
    permit(by)
    with transaction.atomic():
        head = site_log.lock()
        token.refresh_from_db()
        if token.until <= head.moment:
            raise Refused("ended", f"The token {token} is good no more already.", 409)
        token.until = head.moment
        token.save(update_fields=["until"])
        event = ServiceTokenEnded(name=token.account.name, token=token.ident, until=policies.spelled(head.moment))
        log.append(head, Draft.of(event, by.signature))


def _new() -> str:
    body = "".join(secrets.choice(_LETTERS) for _ in range(_IDENT + _CHANCE))
    return f"{PREFIX}{body}{_check(body)}"


def _check(body: str) -> str:
    number, letters = crc32(body.encode()), ""
    for _ in range(_CHECK):
        number, letter = divmod(number, len(_LETTERS))
        letters += _LETTERS[letter]
    return letters


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


# --- Being known by one ----------------------------------------------------------------------------------------


def known(text: str, request: HttpRequest) -> ServiceAccount:
    """The service account that a token authenticates.

    Raises Refused: 401 for an invalid token, 403 from an address that the account may not use.
    """
    token = _right(text, request)
    account = token.account
    moment = timezone.now()
    if account.ended_why or token.until <= moment or account.expires_at <= moment:
        raise _late(token, account, request, moment)
    _refuse_address(account, request)
    _note_use(token, moment)
    return account


def _right(text: str, request: HttpRequest) -> ServiceToken:
    """The row of a token. The comparison takes constant time, whether the row exists or not. Raises Refused."""
    form = _FORM.fullmatch(text)
    if form is None or not compare_digest(_check(form[1] + form[2]), form[3]):
        raise _failed(request, "token_misspelled", "That is no token of this house: a letter is missing or another.")
    token = ServiceToken.objects.select_related("account").filter(ident=form[1]).first()
    digest = pepper.unseal_if_possible(token.kept, token.owner) if token else ""
    if not compare_digest(digest or _digest(""), _digest(text)) or token is None:
        raise _failed(request, "token_unknown", "This house gave no such token.")
    return token


def _failed(request: HttpRequest, code: str, says: str) -> Refused:
    """Count a failure as a failed sign-in, and return its refusal.

    An address over the limit gets no reason any more and raises one alert.
    """
    place = guess_counts.address_of(request)
    most, seconds = policies.number("lockout_failures"), 60 * policies.number("lockout_minutes")
    limit = GuessLimit("program token", place, "", most, seconds)
    tries = guess_counts.count(limit)
    if tries == most + 1:
        message = f"{most} wrong tokens of programs were tried from {place.removeprefix('address ')}."
        raise_alert(None, "tokens_tried", message, {"address": place})
    if tries > most:
        return guess_counts.locked("Too many wrong tokens from this address", limit)
    return Refused(code, says, 401)


def _late(token: ServiceToken, account: ServiceAccount, request: HttpRequest, moment: datetime) -> Refused:
    revoked = bool(account.ended_why) or account.expires_at > moment
    code, became = ("token_revoked", "revoked or replaced") if revoked else ("token_expired", "expired")
    message = f"The token {token.ident} of the program {account} was {became}, and is tried still."
    where = guess_counts.address_of(request)
    raise_alert(None, "token_late", message, {"program": account.name, "token": token.ident, "from": where})
    return Refused(code, f"This token was {became}: an operator makes another.", 401)


def _refuse_address(account: ServiceAccount, request: HttpRequest) -> None:
    if not account.addresses:
        return
    address = request.META.get("REMOTE_ADDR", "")
    try:
        if any(ip_address(address) in ip_network(network) for network in account.addresses):
            return
    except ValueError:
        address = "nowhere"
    message = f"The program {account} calls from {address}, and may not from there."
    raise_lasting(None, "token_elsewhere", account.name, message, {"program": account.name, "address": address})
    raise Refused("wrong_address", f"{account} may not call from {address}.", 403)


def request_limit(account: ServiceAccount) -> GuessLimit:
    """The limit of an account's requests: a count in the database, for all processes."""
    most = policies.number("program_requests_a_minute")
    return GuessLimit("program requests", f"program {account.pk}", "", most, MINUTE)


def _note_use(token: ServiceToken, moment: datetime) -> None:
    stale = Q(used_at=None) | Q(used_at__lt=moment - timedelta(seconds=_USED_SECONDS))
    if token.used_at is None or token.used_at < moment - timedelta(seconds=_USED_SECONDS):
        ServiceToken.objects.filter(stale, pk=token.pk).update(used_at=moment)


# --- The keys that they are sealed with ------------------------------------------------------------------------


def behind() -> list[ServiceToken]:
    """The tokens whose hash is sealed with a key other than the current one."""
    return [token for token in ServiceToken.objects.order_by("pk") if not pepper.is_current(token.kept)]


def refuse_unreadable() -> None:
    """Raises NoSuchKey if the key that seals a token is missing."""
    for token in ServiceToken.objects.order_by("pk"):
        pepper.unseal(token.kept, token.owner)


def carry_over(by: str) -> int:
    """Reseal with the current key all token hashes sealed with another; returns how many there were."""
    rows = behind()
    for token in rows:
        token.kept = pepper.seal(pepper.unseal(token.kept, token.owner), token.owner)
        token.save(update_fields=["kept"])
    if rows:
        digests = {token.ident: site_log.digest_of(token.kept) for token in rows}
        site_log.append(ServiceTokensSealed(key=pepper.current(), tokens=digests), by)
    return len(rows)


def _clock(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M}"
