"""Signing in and out of the house: by badge and PIN on an enrolled terminal, elsewhere by user name and password.

An answer never reveals which part was wrong, nor does its duration: a secret is hashed in every case. Each attempt is
counted before that (``guess_counts.py``), so that concurrent attempts get no more answers than successive ones.
"""

from __future__ import annotations

import time
from hashlib import sha256
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import SESSION_KEY, authenticate, get_user, login, logout
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from ledger.alerts import raise_alert
from ledger.site_log import enqueue
from tables.floor import recorder, refused_inputs, table_opening
from tables.log.entries.staff import StaffLockedOut, StaffSignedIn, StaffSignedOut
from tables.models import Staff, Table, Terminal
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies
from tables.staff import devices, guess_counts, request_identity, required_actions, secret_ages, terminals
from tables.staff.guess_counts import GuessLimit, TooMany
from tables.staff.terminals import identify
from tables.state import table_state

TERMINAL: Final = "terminal"
"""Where a session keeps the name of the terminal that it was begun at by badge and PIN."""
BEGAN: Final = "began"
"""Where a session keeps when it was begun, in seconds since 1970."""


# --- Sessions --------------------------------------------------------------------------------------------------


class TerminalSession(MiddlewareMixin):
    """A session that was begun by badge and PIN lives on its terminal, and no longer than the terminal is enrolled.
    None lives for ever."""

    def process_request(self, request: HttpRequest) -> None:
        """Sign out whoever carried such a session elsewhere, or kept one for too long."""
        request_identity.read(request)
        if has_ended(request):
            logout(request)


def has_ended(request: HttpRequest) -> bool:
    """Whether whoever is signed in has to sign in again."""
    return carried_off(request) or outlived(request)


def carried_off(request: HttpRequest) -> bool:
    """Whether a session that was begun by badge and PIN is not on its terminal, or that is enrolled no more."""
    begun_at = request.session.get(TERMINAL)
    if begun_at is None:
        return False
    terminal = terminals.here(request)
    return terminal is None or terminal.name != begun_at


def outlived(request: HttpRequest) -> bool:
    """Whether a session is too old. Nobody is signed out in the middle of a round that they deal: it ends with it."""
    if SESSION_KEY not in request.session:
        return False
    began = request.session.setdefault(BEGAN, time.time())
    by_pin = TERMINAL in request.session
    life = settings.TERMINAL_LIFE_SECONDS if by_pin else settings.SESSION_LIFE_SECONDS
    return time.time() - began > life and not _deals_a_round(request)


def _deals_a_round(request: HttpRequest) -> bool:
    staff = get_user(request)
    return isinstance(staff, Staff) and deals_a_round(staff)


def deals_a_round(staff: Staff) -> bool:
    """Whether somebody stands at a table in the middle of a round."""
    table = table_opening.table_of(staff) if staff.role == Role.DEALER else None
    return table is not None and table_state.of(table).round_open


# --- In --------------------------------------------------------------------------------------------------------


def by_badge(request: HttpRequest, badge: str, pin: str) -> Staff:
    """Sign a dealer in at this terminal. Raises Refused."""
    dealer, terminal = prove(request, badge, pin)
    begin_at(request, dealer, terminal)
    return dealer


def prove(request: HttpRequest, badge: str, pin: str) -> tuple[Staff, Terminal]:
    """Whose badge and PIN it is, and the terminal where they were typed; nobody is signed in yet. Raises Refused."""
    terminal = identify(request)
    if terminal is None:
        raise terminals.not_enrolled(request)
    dealer = Staff.objects.filter(badge=badge, role=Role.DEALER).first()
    counts = terminals.reserve("badge", terminal, badge)
    if dealer is not None and dealer.is_active and not deals_a_round(dealer):
        _refuse_expired(dealer, counts)
    if not is_right(dealer, pin) or dealer is None:
        refused = Refused("wrong_credentials", "Badge number or PIN is wrong.", 403)
        by = f"badge {badge}" if dealer is not None else "a badge that nobody has"
        refused_inputs.note("sign_in", refused, by, terminal=terminal.name)
        raise refused
    guess_counts.succeed(counts)
    _refuse_elsewhere(table_opening.table_of(dealer), terminal)
    return dealer, terminal


def begin_at(request: HttpRequest, dealer: Staff, terminal: Terminal) -> None:
    """A session for a dealer who proved who they are at this terminal."""
    _begin(request, dealer, terminal)
    request.session[TERMINAL] = terminal.name
    if _deals_here(table_opening.table_of(dealer), terminal):
        stay(request)


def _refuse_expired(staff: Staff, counts: list[GuessLimit]) -> None:
    try:
        secret_ages.refuse_expired(staff)
    except Refused:
        guess_counts.give_back(counts)  # the PIN was not looked at
        raise


def is_right(staff: Staff | None, pin: str) -> bool:
    """Whether it is the PIN of somebody who works here. Hashed in every case, so that the time tells nothing."""
    right = (staff or Staff()).check_pin(pin)
    return right and staff is not None and staff.is_active


def _refuse_elsewhere(table: Table | None, terminal: Terminal) -> None:
    """A terminal for one table lets nobody in who deals another: they would deal it from here."""
    if table is None or _deals_here(table, terminal):
        return
    says = (
        f"You deal at {table}, and this terminal is for {terminal.table}: tap out there, or let a relief take {table}."
    )
    raise Refused("signed_in_elsewhere", says, 409)


def _deals_here(table: Table | None, terminal: Terminal) -> bool:
    return table is not None and terminal.table_id in (None, table.pk)


def by_password(request: HttpRequest, username: str, password: str) -> Staff:
    """Sign somebody in by user name and password. Raises Refused."""
    limits = name_limits(request, username)
    try:
        guess_counts.reserve(limits)
    except TooMany as full:
        if full.is_first:
            _report(request, full.limit, username)
        raise guess_counts.locked("Too many tries", full.limit) from None
    staff = authenticate(request, username=username, password=password)
    if not isinstance(staff, Staff):
        raise Refused("wrong_credentials", "Name or password is wrong.", 403)
    owes = required_actions.after_password(staff, is_busy=deals_a_round(staff))
    guess_counts.succeed(limits)
    _begin(request, staff, None)
    required_actions.note(request, owes)
    return staff


def by_passkey(request: HttpRequest, staff: Staff, credential: str) -> None:
    """Sign somebody in whose passkey was checked (``passkeys.py``)."""
    _begin(request, staff, None, passkey=credential)


def begin_without_secret(request: HttpRequest, staff: Staff) -> None:
    """A session for somebody whom two emergency codes let in."""
    _begin(request, staff, None)


def failures() -> int:
    """So many wrong secrets close a count."""
    return policies.number("lockout_failures")


def name_limits(request: HttpRequest, username: str, kind: str = "password") -> list[GuessLimit]:
    """A device where this name signed in before, or a terminal, counts alone. All others count together, too."""
    name, terminal = guess_counts.called(username), identify(request)
    own = devices.place_of(request, username) or (guess_counts.place_of(terminal) if terminal else None)
    few, window = policies.number("lockout_failures"), 60 * policies.number("lockout_minutes")
    if own is not None:
        return [GuessLimit(kind, own, name, few, window, forgives=True)]
    address, many = guess_counts.address_of(request), settings.LOCKOUT_FAILURES_EVERYWHERE
    return [
        GuessLimit(kind, address, "", settings.LOCKOUT_FAILURES_ADDRESS, window),
        GuessLimit(kind, address, name, few, window, forgives=True),
        GuessLimit(kind, guess_counts.ANYWHERE, name, many, window),
    ]


def _report(request: HttpRequest, full: GuessLimit, username: str) -> None:
    """Only names that exist are written down for good: people type passwords into the wrong field."""
    if not full.name:
        says = f"{full.most} failed sign-ins from one address: for a while, only known devices sign in from there."
        raise_alert(None, "sign_in_locked", says, {"address": full.place})
    elif Staff.objects.filter(username=username).exists():
        where = _where(request, identify(request))
        enqueue(StaffLockedOut(username=username, place=full.place.split()[0], **where), "sign-in")


def _begin(request: HttpRequest, staff: Staff, terminal: Terminal | None, passkey: str | None = None) -> None:
    """A session of their own; whoever was signed in on this device is signed out of the house, not of a table."""
    before = request.user
    if isinstance(before, Staff):
        if before.pk != staff.pk:
            enqueue(StaffSignedOut(username=before.username, relieved_by=staff.username), staff.signature)
        logout(request)
    login(request, staff, backend="django.contrib.auth.backends.ModelBackend")
    request.session[BEGAN] = time.time()
    where = _where(request, terminal)
    enqueue(StaffSignedIn(username=staff.username, **where, passkey=passkey), staff.signature)


def _where(request: HttpRequest, terminal: Terminal | None) -> dict[str, Any]:
    return {"terminal": terminal.name if terminal else None, "address": request.META.get("REMOTE_ADDR")}


def stay(request: HttpRequest) -> None:
    """A dealer who takes a table at a terminal stays signed in, however long a round pauses. Who takes none does not:
    the next in line could take one under their name."""
    if TERMINAL in request.session:
        request.session.set_expiry(settings.TERMINAL_IDLE_SECONDS)


# --- The password again ----------------------------------------------------------------------------------------


def prove_again(request: HttpRequest, password: str) -> None:
    """Whoever is signed in gives their password once more. Raises Refused; after too many tries the session ends,
    which was somebody else's by then."""
    staff = request.user
    assert isinstance(staff, Staff)  # noqa: S101 -- the views ask for a sign-in
    session = sha256((request.session.session_key or "").encode()).hexdigest()[:32]
    limit = GuessLimit(
        "again", f"session {session}", guess_counts.called(staff.username),
        policies.number("lockout_failures"), settings.SESSION_LIFE_SECONDS, forgives=True,
    )  # fmt: skip
    try:
        guess_counts.reserve([limit])
    except TooMany as full:
        if full.is_first:
            enqueue(StaffSignedOut(username=staff.username, after_tries=limit.most), "sign-in")
        logout(request)
        raise Refused("locked_out", "Too many tries: you are signed out.", 429) from None
    if not staff.check_password(password):
        raise Refused("wrong_credentials", "This is not your password.", 422)
    guess_counts.succeed([limit])


# --- Out -------------------------------------------------------------------------------------------------------


def sign_out(request: HttpRequest) -> None:
    """Tap out of the table, and sign out of the house. Raises Refused in mid-round, with nothing done. Where the table
    may not be dealt from, one is signed out of the house alone."""
    staff = request.user
    if isinstance(staff, Staff):
        table = table_opening.table_of(staff) if staff.role == Role.DEALER else None
        if table is not None and _may_deal(request, table):
            recorder.sign_out(table, staff)
        enqueue(StaffSignedOut(username=staff.username), staff.signature)
    logout(request)


def _may_deal(request: HttpRequest, table: Table) -> bool:
    try:
        terminals.for_dealing(request, table)
    except Refused:
        return False
    return True
