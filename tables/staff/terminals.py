"""Enrolled terminals: the devices on which staff sign by badge and PIN and deal tables.

A cookie with a random token identifies the device; the database stores only the token's digest. A device is enrolled by
an operator who holds it, or by a link from an operator, which works once and expires.
"""

from __future__ import annotations

import secrets
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from ledger.alerts import raise_alert
from ledger.site_log import append, difference, digest_of, enqueue
from tables.floor import refused_inputs
from tables.log.entries.terminals import (
    TerminalAdded,
    TerminalChanged,
    TerminalEnrolled,
    TerminalLinkMade,
    TerminalLockedOut,
    TerminalLockOutLifted,
    TerminalRevoked,
)
from tables.models import Staff, Table, Terminal
from tables.refusals import Refused
from tables.setup import policies
from tables.staff import guess_counts, terminal_keys
from tables.staff.guess_counts import GuessLimit, TooMany

_COOKIE: Final = "terminal"
_LONGEST_COOKIE: Final = 256
"""Characters of the longest cookie that is read."""
_LONGEST_SECONDS: Final = 400 * 24 * 3600
"""Lifetime of the cookie, the maximum that browsers allow; it is renewed while in use."""
_LINK: Final = "tables.terminals.link"
_HERE: Final = "_terminal"
"""Request attribute that holds the terminal identified for it."""
NO_TERMINAL: Final = (
    "This browser is no terminal, and badge and PIN are taken on terminals only: sign on one, or let an operator enrol"
    " this browser (Terminals, Enrol this device)."
)


# --- Enrolling -------------------------------------------------------------------------------------------------


def enrol(name: str, table: Table | None, *, by: Staff) -> tuple[Terminal, str]:
    """Enrol a device that the operator holds; returns the token to ``remember`` there."""
    token = _token()
    with transaction.atomic():
        terminal = _add(name, table, digest_of_token(token), by, enrolled=True)
        append(TerminalEnrolled(**_whole(terminal)), by.signature)
    return terminal, token


def add(name: str, table: Table | None, *, by: Staff) -> Terminal:
    """Add a terminal without a device; a link enrols the device on which it is opened."""
    with transaction.atomic():
        terminal = _add(name, table, digest_of_token(_token()), by, enrolled=False)
        append(TerminalAdded(**_whole(terminal)), by.signature)
    return terminal


def link_for(terminal: Terminal, *, by: Staff) -> str:
    """The path of a link that enrols the first device to open it.

    The terminal's present device, if any, remains enrolled until then. The use of one link invalidates all others for
    this terminal.
    """
    _permit(by)
    terminal.refresh_from_db()
    append(TerminalLinkMade(**_facts(terminal)), by.signature)
    return reverse("enrol", args=[signing.dumps([terminal.pk, terminal.token_digest[:16], by.pk], salt=_LINK)])


def read_link(code: str) -> Terminal:
    """The terminal that a link enrols. Raises Refused for a forged, expired or used link."""
    return _resolve(code, Terminal.objects.select_related("table"))[0]


def enrol_by_link(code: str) -> tuple[Terminal, str]:
    """Enrol the device that opened a link; returns the token to ``remember`` there."""
    with transaction.atomic():
        terminal, by = _resolve(code, Terminal.objects.select_for_update(no_key=True))
        token = _token()
        terminal.token_digest, terminal.is_active = digest_of_token(token), True
        terminal.enrolled_by, terminal.enrolled_at = by, timezone.now()
        terminal.save(update_fields=["token_digest", "is_active", "enrolled_by", "enrolled_at"])
        terminal_keys.end(terminal, "another device took its place", by=by.signature)
        append(TerminalEnrolled(**_whole(terminal), link=True), by.signature)
    return terminal, token


def revoke(terminal: Terminal, *, by: Staff) -> None:
    """Revoke a terminal at once and permanently; its links are invalid as well."""
    _permit(by)
    with transaction.atomic():
        terminal.token_digest, terminal.is_active = digest_of_token(_token()), False
        terminal.save(update_fields=["token_digest", "is_active"])
        terminal_keys.end(terminal, "the terminal was revoked", by=by.signature)
        append(TerminalRevoked(**_whole(terminal)), by.signature)


def bind(terminal: Terminal, table: Table | None, *, by: Staff) -> None:
    """Assign a terminal to one table, or with None to any table."""
    _permit(by)
    with transaction.atomic():
        terminal.refresh_from_db()
        before, terminal.table = _facts(terminal), table
        terminal.save(update_fields=["table"])
        append(TerminalChanged(name=terminal.name, **difference(before, _facts(terminal))._asdict()), by.signature)


# --- Wrong PINs ------------------------------------------------------------------------------------------------


def limits(kind: str, terminal: Terminal, badge: str) -> list[GuessLimit]:
    """Limits that a PIN attempt on a terminal is counted under.

    The badge's own limits come first, so that a full one leaves the terminal open to others. The last one counts a
    badge over all terminals, where no single terminal sees enough failures.
    """
    place, name, window = (
        guess_counts.place_of(terminal),
        guess_counts.called(badge),
        60 * policies.number("lockout_minutes"),
    )
    a_day = policies.number("wrong_pins_a_day")
    return [
        GuessLimit(kind, place, name, policies.number("lockout_failures"), window, forgives=True),
        GuessLimit(f"{kind}, a day", place, name, a_day, guess_counts.DAY),
        GuessLimit(kind, place, "", policies.number("terminal_wrong_pins"), window),
        GuessLimit(kind, guess_counts.ANYWHERE, name, a_day, guess_counts.DAY, closes=False),
    ]


def reserve(kind: str, terminal: Terminal, badge: str) -> list[GuessLimit]:
    """Count a PIN attempt on a terminal before the PIN is checked. Raises Refused if a limit is full."""
    counts = limits(kind, terminal, badge)
    try:
        alarms = guess_counts.reserve(counts)
    except TooMany as full:
        if full.is_first:
            _report(terminal, full.limit, badge)
        of = "with this badge " if full.limit.name else ""
        raise guess_counts.locked(f"Too many wrong PINs {of}on this terminal", full.limit) from None
    if alarms and Staff.objects.filter(badge=badge).exists():
        says = f"Badge {badge}: {alarms[0].most} wrong PINs in a day, over all terminals."
        raise_alert(None, "pins_tried", says, {"badge": badge, "terminal": terminal.name})
    return counts


def _report(terminal: Terminal, full: GuessLimit, badge: str) -> None:
    """Log and alert once that a limit is full. An unknown badge is not recorded: it may be part of a password."""
    who = ""
    if full.name:
        who = f" of badge {badge}" if Staff.objects.filter(badge=badge).exists() else " of a badge that nobody has"
    enqueue(TerminalLockedOut(**_facts(terminal), tries=full.most, of=who.strip()), "sign-in")
    says = f"{terminal.name}: {full.most} wrong PINs{who}. It takes no more of them for a while."
    raise_alert(None, "terminal_locked", says, _facts(terminal))


def not_enrolled(request: HttpRequest) -> Refused:
    """Alert that a PIN was given to a browser that is not a terminal; returns the refusal. The PIN is not checked."""
    who = request.user.username if isinstance(request.user, Staff) else "nobody signed in"
    says = f"A badge and a PIN were tried on a browser that is no terminal ({who})."
    raise_alert(None, "no_terminal", says, {"path": request.path, "address": request.META.get("REMOTE_ADDR")})
    return Refused("not_enrolled", NO_TERMINAL, 403)


def lift_lock_out(terminal: Terminal, *, by: Staff) -> None:
    """Clear the failures on a terminal, so that it takes badges and PINs again."""
    _permit(by)
    with transaction.atomic():
        guess_counts.forget_place(guess_counts.place_of(terminal))
        append(TerminalLockOutLifted(**_facts(terminal)), by.signature)


# --- Dealing ---------------------------------------------------------------------------------------------------


def for_dealing(request: HttpRequest, table: Table) -> Terminal | None:
    """The terminal from which a request deals a table; None if dealing needs no terminal. Raises Refused."""
    terminal = here(request)
    if terminal is None and not settings.DEALING_WITHOUT_TERMINAL:
        says = "This browser is no terminal, and tables are dealt from terminals: an operator enrols it."
        raise Refused("not_enrolled", says, 403)
    if terminal is not None and terminal.table_id not in (None, table.pk):
        says = f"This terminal is for {terminal.table}: tap out where you deal, or let a relief take it, to deal here."
        refused = Refused("other_terminal", says, 409)
        by = request.user.signature if isinstance(request.user, Staff) else "nobody signed in"
        refused_inputs.note("dealing", refused, by, table=table.name, terminal=terminal.name)
        raise refused
    return terminal


def _add(name: str, table: Table | None, digest: str, by: Staff, *, enrolled: bool) -> Terminal:
    _permit(by)
    if Terminal.objects.filter(name__iexact=name).exists():
        raise Refused("terminal_exists", f"There is a terminal {name} already.", 422, fields={"name": name})
    return Terminal.objects.create(name=name, table=table, token_digest=digest, enrolled_by=by, is_active=enrolled)


def _resolve(code: str, terminals: QuerySet[Terminal]) -> tuple[Terminal, Staff]:
    """The terminal of a link and the operator who made it. Raises Refused if another device was enrolled since, or it
    expired.
    """
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
    by.require("tables.enrol_terminal", "Only an operator enrols terminals.")


def _facts(terminal: Terminal) -> dict[str, Any]:
    return {"name": terminal.name, "table": terminal.table.name if terminal.table else None}


def _whole(terminal: Terminal) -> dict[str, Any]:
    """A terminal's facts with a digest that identifies its device, and the operator who enrolled it."""
    device = {"device": digest_of(terminal.token_digest), "enrolled_by": terminal.enrolled_by.username}
    return _facts(terminal) | device


def _token() -> str:
    return secrets.token_urlsafe(32)


def digest_of_token(token: str) -> str:
    """The digest of a token that the database stores."""
    return sha256(token.encode()).hexdigest()


# --- Knowing one again -----------------------------------------------------------------------------------------


def claims(request: HttpRequest) -> str | None:
    """The token in a request's cookie, if this site signed it. `identify` checks whether it is still enrolled."""
    return token_of(request.COOKIES.get(cookie_name(), ""))


def token_of(cookie: str) -> str | None:
    """The token in a terminal's cookie; None if this site did not sign it.

    A longer cookie than any of this site is rejected unread, which also keeps it out of the cache.
    """
    return _signed_token(cookie_name(), cookie) if 0 < len(cookie) <= _LONGEST_COOKIE else None


@lru_cache(maxsize=10_000)
def _signed_token(name: str, cookie: str) -> str | None:
    """The token in a signed cookie. Cached: a signature is slow to check, and a terminal's cookie is constant for
    hours.
    """
    request = HttpRequest()
    request.COOKIES = {name: cookie}
    return request.get_signed_cookie(name, default=None, salt=_COOKIE) or None


def identify(request: HttpRequest) -> Terminal | None:
    """The enrolled terminal that a request comes from, read from the database; None if there is none."""
    token = claims(request)
    rows = Terminal.objects.select_related("table").filter(is_active=True)
    terminal = rows.filter(token_digest=digest_of_token(token)).first() if token else None
    note_here(request, terminal)
    return terminal


def note_here(request: HttpRequest, terminal: Terminal | None) -> None:
    """Store on the request which terminal it comes from."""
    setattr(request, _HERE, terminal)


def here(request: HttpRequest) -> Terminal | None:
    """The enrolled terminal that a request comes from; None if there is none. Queried once for each request."""
    return getattr(request, _HERE) if hasattr(request, _HERE) else identify(request)


def remember(response: HttpResponse, token: str) -> None:
    """Set the terminal's cookie on a response, which makes its browser the terminal."""
    response.set_signed_cookie(
        cookie_name(),
        token,
        salt=_COOKIE,
        max_age=_LONGEST_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )


def remember_longer(request: HttpRequest, response: HttpResponse) -> None:
    """Renew the cookie of a terminal that is in use, so that the browser does not drop it."""
    if token := request.get_signed_cookie(cookie_name(), default=None, salt=_COOKIE):
        remember(response, token)


def cookie_name() -> str:
    # Browsers accept this prefix over TLS and from this host only, so that a neighbouring host cannot plant the
    # cookie.
    return f"__Host-{_COOKIE}" if settings.SESSION_COOKIE_SECURE else _COOKIE
