"""Signing in and out of the house: by badge and PIN on an enrolled terminal, elsewhere by user name and password.

Failed tries of either kind count against the same person (django-axes, see ``casino/lockout.py``). An answer never
tells which part was wrong, nor does the time that it takes: a secret is hashed in every case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from tables import dealing, doors, terminals
from tables.house import note
from tables.models import Staff, Terminal
from tables.refusals import Refused
from tables.roles import Role
from tables.terminals import identify

TERMINAL: Final = "terminal"
"""Where a session keeps the name of the terminal that it was begun at by badge and PIN."""


class BadgeBackend(ModelBackend):
    """A dealer's badge number and PIN, which open nothing unless the request comes from an enrolled terminal."""

    def authenticate(  # type: ignore[override]
        self, request: HttpRequest | None, badge: str | None = None, pin: str | None = None
    ) -> Staff | None:
        """The dealer, if badge and PIN are right."""
        if request is None or badge is None or pin is None or identify(request) is None:
            return None
        dealer = _dealer(badge)
        right = (dealer or Staff()).check_pin(pin)
        return dealer if right and dealer is not None and dealer.is_active else None


class TerminalSession(MiddlewareMixin):
    """A session that was begun by badge and PIN lives on its terminal, and no longer than the terminal is enrolled."""

    def process_request(self, request: HttpRequest) -> None:
        """Sign out whoever carried such a session elsewhere."""
        if carried_off(request):
            logout(request)


def carried_off(request: HttpRequest) -> bool:
    """Whether a session that was begun by badge and PIN is not on its terminal, or that is enrolled no more."""
    begun_at = request.session.get(TERMINAL)
    if begun_at is None:
        return False
    terminal = identify(request)
    return terminal is None or terminal.name != begun_at


def counted_as(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str | None:
    """Against whom a failed try counts: the same name, whether a badge or a user name was given."""
    if not credentials:
        return None
    if badge := credentials.get("badge"):
        dealer = _dealer(badge)
        return dealer.username if dealer else f"badge {badge}"
    if badge := credentials.get("signer"):
        known = Staff.objects.filter(badge=badge).first()
        return known.username if known else f"badge {badge}"
    return credentials.get("username")


def _dealer(badge: str) -> Staff | None:
    return Staff.objects.filter(badge=badge, role=Role.DEALER).first()


# --- In --------------------------------------------------------------------------------------------------------


def by_badge(request: HttpRequest, badge: str, pin: str) -> Staff:
    """Sign a dealer in at this terminal. Raises Refused."""
    terminal = identify(request)
    if terminal is None:
        raise Refused("not_enrolled", "This device is not enrolled: sign in with your name and password.", 403)
    terminals.refuse_locked(terminal)
    try:
        dealer = prove(request, "Badge number or PIN is wrong.", badge=badge, pin=pin)
    except Refused:
        terminals.count_wrong_pin(terminal)
        raise
    _begin(request, dealer, terminal)
    request.session[TERMINAL] = terminal.name
    if doors.table_of(dealer) is not None:
        stay(request)
    return dealer


def by_password(request: HttpRequest, username: str, password: str) -> Staff:
    """Sign somebody in by user name and password. Raises Refused."""
    staff = prove(request, "Name or password is wrong.", username=username, password=password)
    _begin(request, staff, None)
    return staff


def stay(request: HttpRequest) -> None:
    """A dealer who takes a table at a terminal stays signed in, however long a round pauses. Who takes none does not:
    the next in line could take one under their name."""
    if TERMINAL in request.session:
        request.session.set_expiry(settings.TERMINAL_IDLE_SECONDS)


def prove(request: HttpRequest, wrong: str, **credentials: str) -> Staff:
    """Who the credentials belong to. Raises Refused, and notes it when these tries have locked somebody out."""
    locked = not AxesProxyHandler.is_allowed(request, credentials)
    staff = authenticate(request, **credentials)
    if staff is not None:
        return staff
    shut = not AxesProxyHandler.is_allowed(request, credentials)
    request.axes_locked_out = False  # type: ignore[attr-defined]  # the refusal is the answer, not axes' own page
    if not shut:
        raise Refused("wrong_credentials", wrong, 403)
    if not locked:
        _note_lock_out(request, counted_as(request, credentials))
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    raise Refused("locked_out", f"Too many tries: wait {minutes} minutes, or ask an operator to let you in.", 429)


def _note_lock_out(request: HttpRequest, username: str | None) -> None:
    """Only names that exist are written down for good: people type passwords into the wrong field."""
    if Staff.objects.filter(username=username).exists():
        note("staff", "locked_out", "sign-in", {"username": username, **_where(request, identify(request))})


def _begin(request: HttpRequest, staff: Staff, terminal: Terminal | None) -> None:
    """A session of their own; whoever was signed in on this device is signed out of the house, not of a table."""
    before = request.user
    if isinstance(before, Staff):
        if before.pk != staff.pk:
            note("staff", "signed_out", before.signature, {"username": before.username, "relieved_by": staff.username})
        logout(request)
    login(request, staff)
    note("staff", "signed_in", staff.signature, {"username": staff.username, **_where(request, terminal)})


def _where(request: HttpRequest, terminal: Terminal | None) -> dict[str, str | None]:
    return {"terminal": terminal.name if terminal else None, "address": request.META.get("REMOTE_ADDR")}


# --- Out -------------------------------------------------------------------------------------------------------


def sign_out(request: HttpRequest) -> None:
    """Tap out of the table, and sign out of the house. Raises Refused in mid-round, with nothing done."""
    staff = request.user
    if isinstance(staff, Staff):
        table = doors.table_of(staff) if staff.role == Role.DEALER else None
        if table is not None:
            dealing.sign_out(table, staff)
        note("staff", "signed_out", staff.signature, {"username": staff.username})
    logout(request)
