"""The user's own account: password, PIN and passkeys."""

from __future__ import annotations

import json
from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dealer_ui.accounts.sign_in import signed_out
from dealer_ui.guards import viewer_of
from ledger.site_log import digest_of
from tables.floor import signature_checks
from tables.models import Passkey, Staff, Terminal
from tables.models.staff import PASSWORD, PIN
from tables.refusals import Refused
from tables.setup import pit_assignments, policies
from tables.staff import (
    passkeys,
    required_actions,
    secret_ages,
    secret_changes,
    sign_in,
    staffing,
    terminal_keys,
    terminals,
)


class PasswordForm(forms.Form):
    """A new password, twice, and the old one."""

    old = forms.CharField(max_length=128, strip=False)
    new = forms.CharField(max_length=128, strip=False)
    again = forms.CharField(max_length=128, strip=False)


class PinForm(forms.Form):
    """A new PIN, twice, the old one, and the password."""

    password = forms.CharField(max_length=128, strip=False)
    old_pin = forms.RegexField(r"^[0-9]{4,8}\Z")
    new_pin = forms.RegexField(r"^[0-9]{4,8}\Z")
    again_pin = forms.RegexField(r"^[0-9]{4,8}\Z")


@login_required
@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """The secrets with which the user signs in and signs, with their ages."""
    return draw(request)


def draw(request: HttpRequest, refused: Refused | None = None) -> HttpResponse:
    """The account page, with what was refused on it."""
    staff = request.user
    assert isinstance(staff, Staff)  # noqa: S101 -- the views ask for a sign-in
    terminal, keys = terminals.here(request), signature_checks.trust()
    key = keys.of(terminal.name) if terminal else None
    key = key if key and key.is_trusted else None
    context = {
        "staff": staff,
        "runs": pit_assignments.in_words(staff),
        "has_password": staff.has(PASSWORD),
        "has_pin": staff.has(PIN),
        "password_days": secret_ages.days_left(staff, PASSWORD),
        "pin_days": secret_ages.days_left(staff, PIN),
        "passkeys": _passkeys(request, staff, terminal if key else None),
        "terminal": terminal,
        "terminal_key": key,
        "lost": terminal_keys.advice(terminal, key) if terminal else "",
        "least": policies.number("pin_digits_min"),
        "refused": refused,
    }
    return render(request, "dealer_ui/accounts/account.html", context, status=refused.status if refused else 200)


@dataclass(frozen=True, slots=True)
class OwnPasskey:
    """A passkey on its owner's page."""

    row: Passkey
    vouched_by: str
    """Name of the terminal that vouched for it; empty where it signs no slips."""
    statement: str
    """The statement that this terminal and the passkey sign for it; empty where this browser may not vouch."""


def _passkeys(request: HttpRequest, staff: Staff, terminal: Terminal | None) -> list[OwnPasskey]:
    signing = {key.credential: key.vouched_by for key in signature_checks.trust().signs(staff.username)}
    own = []
    for row in staff.passkeys.filter(is_active=True):
        vouched_by, statement = signing.get(digest_of(row.credential), ""), ""
        if terminal and not vouched_by and signature_checks.public_of(row.public_key):
            statement = json.dumps(passkeys.statement_of(row, terminal.name, passkeys.origin_of(request)))
        own.append(OwnPasskey(row, vouched_by, statement))
    return own


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """Give oneself another password."""
    refused = None
    if request.method == "POST":
        try:
            _change_password(request)
            messages.success(request, "Your password is changed.", extra_tags="password_changed")
            return redirect("/")
        except Refused as refusal:
            refused = refusal
            if not request.user.is_authenticated:
                return signed_out(request, refusal)
    return render(
        request, "dealer_ui/accounts/password.html", {"refused": refused}, status=refused.status if refused else 200
    )


def _change_password(request: HttpRequest) -> None:
    form = PasswordForm(request.POST)
    if not form.is_valid():
        raise Refused("incomplete", "Give your password, and the new one twice.", 422)
    if form.cleaned_data["new"] != form.cleaned_data["again"]:
        raise Refused("differs", "The new password was typed in two ways: type it again.", 422)
    sign_in.prove_again(request, form.cleaned_data["old"])
    update_session_auth_hash(request, secret_changes.change_password(viewer_of(request), new=form.cleaned_data["new"]))
    required_actions.is_done(request, PASSWORD)


@login_required
@sensitive_post_parameters()
@require_POST
def own_pin(request: HttpRequest) -> HttpResponse:
    """Change one's PIN away from a terminal: that takes the password too."""
    form = PinForm(request.POST)
    try:
        if not form.is_valid():
            raise Refused(
                "incomplete", f"Give your password, your PIN, and the new PIN twice. {staffing.pin_rule()}", 422
            )
        cleaned = form.cleaned_data
        staff = secret_changes.change_own_pin(
            request, cleaned["password"], cleaned["old_pin"], cleaned["new_pin"], cleaned["again_pin"]
        )
    except Refused as refusal:
        if not request.user.is_authenticated:
            return signed_out(request, refusal)
        return draw(request, refusal)
    update_session_auth_hash(request, staff)
    messages.success(request, "Your PIN is changed.", extra_tags="pin_changed")
    return redirect("account")
