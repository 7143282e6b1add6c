"""Enrolled terminals: the devices on which a dealer may sign in with badge and PIN.

A device proves that it is enrolled by a cookie with a random token, of which the database keeps only the digest. It
is enrolled by an operator who holds it, or by a link that an operator made: the link works once, and not for long.
"""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Final

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from ledger.alerts import raise_alert
from tables.house import difference, note
from tables.models import Staff, Table, Terminal
from tables.refusals import Refused

_COOKIE: Final = "terminal"
_LONGEST_SECONDS: Final = 400 * 24 * 3600
"""As long as browsers keep a cookie; it is set anew at every sign-in."""
_LINK: Final = "tables.terminals.link"


# --- Enrolling -------------------------------------------------------------------------------------------------


def enrol(name: str, table: Table | None, *, by: Staff) -> tuple[Terminal, str]:
    """Enrol a device that the operator holds; returns the token to ``remember`` there."""
    token = _token()
    with transaction.atomic():
        terminal = _add(name, table, _digest(token), by, enrolled=True)
        note("terminal", "enrolled", by.signature, _said(terminal))
    return terminal, token


def add(name: str, table: Table | None, *, by: Staff) -> Terminal:
    """A terminal that no device is enrolled as yet: make a link for it, and open the link there."""
    return _add(name, table, _digest(_token()), by, enrolled=False)


def link_for(terminal: Terminal, *, by: Staff) -> str:
    """The path that enrols the device on which it is opened first. The terminal's device, if it has one, stays
    enrolled until then. Every other link for this terminal dies as one is used."""
    _permit(by)
    terminal.refresh_from_db()
    note("terminal", "link_made", by.signature, _said(terminal))
    return reverse("enrol", args=[signing.dumps([terminal.pk, terminal.token_digest[:16], by.pk], salt=_LINK)])


def read_link(code: str) -> Terminal:
    """The terminal that a link is for. Raises Refused for a link that is forged, old or used."""
    return _resolve(code, Terminal.objects.select_related("table"))[0]


def enrol_by_link(code: str) -> tuple[Terminal, str]:
    """Enrol the device that opened a link; returns the token to ``remember`` there."""
    with transaction.atomic():
        terminal, by = _resolve(code, Terminal.objects.select_for_update(no_key=True))
        token = _token()
        terminal.token_digest, terminal.is_active = _digest(token), True
        terminal.enrolled_by, terminal.enrolled_at = by, timezone.now()
        terminal.save(update_fields=["token_digest", "is_active", "enrolled_by", "enrolled_at"])
        note("terminal", "enrolled", by.signature, _said(terminal) | {"link": True})
    return terminal, token


def revoke(terminal: Terminal, *, by: Staff) -> None:
    """The device is no terminal any more, at once and for good; links for it are dead too."""
    _permit(by)
    with transaction.atomic():
        terminal.token_digest, terminal.is_active = _digest(_token()), False
        terminal.save(update_fields=["token_digest", "is_active"])
        note("terminal", "revoked", by.signature, _said(terminal))


def bind(terminal: Terminal, table: Table | None, *, by: Staff) -> None:
    """From now on this terminal is for one table, or for any."""
    _permit(by)
    with transaction.atomic():
        terminal.refresh_from_db()
        before, terminal.table = _said(terminal), table
        terminal.save(update_fields=["table"])
        note("terminal", "changed", by.signature, {"name": terminal.name} | difference(before, _said(terminal)))


# --- Wrong PINs ------------------------------------------------------------------------------------------------


def refuse_locked(terminal: Terminal) -> None:
    """Raise Refused where too many PINs were wrong of late, whoever's badges they were tried on."""
    if terminal.wrong_pins >= settings.TERMINAL_WRONG_PINS and not _is_past(terminal):
        minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
        says = f"Too many wrong PINs on this terminal: wait {minutes} minutes, or ask an operator to let it in."
        raise Refused("terminal_locked", says, 429)


def count_wrong_pin(terminal: Terminal) -> None:
    """One more wrong PIN. The one that locks the terminal is noted, and the pit hears of it."""
    with transaction.atomic():
        now = Terminal.objects.select_for_update(no_key=True).get(pk=terminal.pk)
        if _is_past(now):
            now.wrong_pins, now.wrong_since = 0, timezone.now()
        now.wrong_pins += 1
        now.save(update_fields=["wrong_pins", "wrong_since"])
        if now.wrong_pins == settings.TERMINAL_WRONG_PINS:
            note("terminal", "locked_out", "sign-in", _said(now))
            says = f"{now.name}: {now.wrong_pins} wrong PINs in half an hour. Nobody can sign in there for a while."
            raise_alert(None, "terminal_locked", says, _said(now))


def lift_lock_out(terminal: Terminal, *, by: Staff) -> None:
    """Badges and PINs are taken there again."""
    _permit(by)
    with transaction.atomic():
        Terminal.objects.filter(pk=terminal.pk).update(wrong_pins=0, wrong_since=None)
        note("terminal", "lock_out_lifted", by.signature, _said(terminal))


def _is_past(terminal: Terminal) -> bool:
    return terminal.wrong_since is None or terminal.wrong_since < timezone.now() - settings.AXES_COOLOFF_TIME


def _add(name: str, table: Table | None, digest: str, by: Staff, *, enrolled: bool) -> Terminal:
    _permit(by)
    if Terminal.objects.filter(name__iexact=name).exists():
        raise Refused("terminal_exists", f"There is a terminal {name} already.", 422, fields={"name": name})
    return Terminal.objects.create(name=name, table=table, token_digest=digest, enrolled_by=by, is_active=enrolled)


def _resolve(code: str, terminals: QuerySet[Terminal]) -> tuple[Terminal, Staff]:
    """The terminal, if no device took its place since the link was made, and who made the link."""
    try:
        pk, digest, maker = signing.loads(code, salt=_LINK, max_age=settings.ENROLMENT_LINK_SECONDS)
        terminal = terminals.get(pk=pk, token_digest__startswith=digest)
        by = Staff.objects.get(pk=maker)
    except (signing.BadSignature, Terminal.DoesNotExist, Staff.DoesNotExist, TypeError, ValueError):
        says = "This link is too old, or was used before: ask an operator for another one."
        raise Refused("link_dead", says, 410) from None
    _permit(by)
    return terminal, by


def _permit(by: Staff) -> None:
    if not by.has_perm("tables.enrol_terminal"):
        raise Refused("not_permitted", "Only an operator enrols terminals.", 403)


def _said(terminal: Terminal) -> dict[str, str | None]:
    return {"name": terminal.name, "table": terminal.table.name if terminal.table else None}


def _token() -> str:
    return secrets.token_urlsafe(32)


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


# --- Knowing one again -----------------------------------------------------------------------------------------


def identify(request: HttpRequest) -> Terminal | None:
    """The terminal that this request comes from."""
    token = request.get_signed_cookie(_cookie(), default=None, salt=_COOKIE)
    if not token:
        return None
    return Terminal.objects.select_related("table").filter(token_digest=_digest(token), is_active=True).first()


def remember(response: HttpResponse, token: str) -> None:
    """Make the browser that gets this response the terminal."""
    response.set_signed_cookie(
        _cookie(),
        token,
        salt=_COOKIE,
        max_age=_LONGEST_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )


def remember_longer(request: HttpRequest, response: HttpResponse) -> None:
    """Keep a terminal that is in use from being forgotten by its browser."""
    if token := request.get_signed_cookie(_cookie(), default=None, salt=_COOKIE):
        remember(response, token)


def _cookie() -> str:
    # With this prefix a browser takes the cookie from this host over TLS alone, so no neighbour can plant one.
    return f"__Host-{_COOKIE}" if settings.SESSION_COOKIE_SECURE else _COOKIE
