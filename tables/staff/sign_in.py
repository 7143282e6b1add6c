"""Sign-in and sign-out: by badge and PIN on an enrolled terminal, elsewhere by user name and password.

An answer never reveals which part was wrong, nor does its duration: a secret is hashed in every case. Each attempt is
counted before that (`guess_counts.py`), so that concurrent attempts get no more answers than successive ones.
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
"""Session key for the name of the terminal on which the session was begun by badge and PIN."""
BEGAN: Final = "began"
"""Session key for the time at which the session began, in seconds since 1970."""


# --- Sessions --------------------------------------------------------------------------------------------------


class TerminalSession(MiddlewareMixin):
    """Ends sessions begun by badge and PIN off their terminal or after its enrolment, and any session past its
    lifetime.
    """

    def process_request(self, request: HttpRequest) -> None:
        """Sign out a session that has left its terminal or is too old."""
        request_identity.read(request)
        if has_ended(request):
            logout(request)


def has_ended(request: HttpRequest) -> bool:
    """Whether the user has to sign in again."""
    return carried_off(request) or outlived(request)


def carried_off(request: HttpRequest) -> bool:
    """Whether a session begun by badge and PIN is not on its terminal, or the terminal is no longer enrolled."""
    begun_at = request.session.get(TERMINAL)
    if begun_at is None:
        return False
    terminal = terminals.here(request)
    return terminal is None or terminal.name != begun_at


def outlived(request: HttpRequest) -> bool:
    """Whether a session is past its lifetime. A dealer's session lasts until the round that they are dealing ends."""
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
    """Whether a staff member is dealing a round in progress."""
    table = table_opening.table_of(staff) if staff.role == Role.DEALER else None
    return table is not None and table_state.of(table).round_open


# --- In --------------------------------------------------------------------------------------------------------


def by_badge(request: HttpRequest, badge: str, pin: str) -> Staff:
    """Sign a dealer in at this terminal. Raises Refused."""
    dealer, terminal = prove(request, badge, pin)
    begin_at(request, dealer, terminal)
    return dealer


def prove(request: HttpRequest, badge: str, pin: str) -> tuple[Staff, Terminal]:
    """The dealer who owns this badge and PIN, and the terminal on which they were typed, without signing in. Raises
    Refused.
    """
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
    """Begin a session for a dealer who was authenticated at this terminal."""
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
    """Whether this is the PIN of an active staff member. Hashes in every case, so that the duration reveals nothing."""
    right = (staff or Staff()).check_pin(pin)
    return right and staff is not None and staff.is_active


def _refuse_elsewhere(table: Table | None, terminal: Terminal) -> None:
    """Raises Refused for a dealer whose table is not the terminal's: they would deal that table from here."""
    if table is None or _deals_here(table, terminal):
        return
    says = (
        f"You deal at {table}, and this terminal is for {terminal.table}: tap out there, or let a relief take {table}."
    )
    raise Refused("signed_in_elsewhere", says, 409)


def _deals_here(table: Table | None, terminal: Terminal) -> bool:
    return table is not None and terminal.table_id in (None, table.pk)


def by_password(request: HttpRequest, username: str, password: str) -> Staff:
    """Sign a user in by user name and password. Raises Refused."""
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
    """Sign in the owner of a verified passkey (see `passkeys.py`)."""
    _begin(request, staff, None, passkey=credential)


def begin_without_secret(request: HttpRequest, staff: Staff) -> None:
    """Begin a session for an operator admitted by two emergency codes."""
    _begin(request, staff, None)


def failures() -> int:
    """Number of wrong secrets that fills a count."""
    return policies.number("lockout_failures")


def name_limits(request: HttpRequest, username: str, kind: str = "password") -> list[GuessLimit]:
    """Limits for a sign-in attempt by name. A device known for the name, or a terminal, has its own count only.

    All other devices are counted by address, by name and address, and by name over all of them.
    """
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
    """Alert or log a full count. Only existing user names are recorded: users type passwords into the wrong field."""
    if not full.name:
        says = f"{full.most} failed sign-ins from one address: for a while, only known devices sign in from there."
        raise_alert(None, "sign_in_locked", says, {"address": full.place})
    elif Staff.objects.filter(username=username).exists():
        where = _where(request, identify(request))
        enqueue(StaffLockedOut(username=username, place=full.place.split()[0], **where), "sign-in")


def _begin(request: HttpRequest, staff: Staff, terminal: Terminal | None, passkey: str | None = None) -> None:
    """Begin a session, signing out another user of this device from the site, but not from their table."""
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
    """Keep a dealer who takes a table at a terminal signed in through long pauses.

    A session without a table expires early, since the next dealer could take a table under its name.
    """
    if TERMINAL in request.session:
        request.session.set_expiry(settings.TERMINAL_IDLE_SECONDS)


# --- The password again ----------------------------------------------------------------------------------------


def prove_again(request: HttpRequest, password: str) -> None:
    """Check the signed-in user's password again.

    Raises Refused; too many failures end the session, which is then assumed to be in other hands.
    """
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
    """Tap out of the table and sign out of the site. Raises Refused in the middle of a round, with nothing changed.

    If this browser may not deal the table, signs out of the site only.
    """
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
