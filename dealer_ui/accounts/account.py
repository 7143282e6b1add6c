"""The user's own account: password, PIN and passkeys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from dealer_ui.accounts.sign_in import OwnSecretView, signed_out
from dealer_ui.entry_forms import PasswordField, PinField, render_form
from dealer_ui.guards import viewer_of
from ledger.site_log import digest_of
from tables.floor import signature_checks
from tables.form_fields import InputForm
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


class PasswordForm(InputForm):
    """A new password, twice, and the old one."""

    code = "incomplete"
    codes: ClassVar = {NON_FIELD_ERRORS: "differs"}
    message = "Give your password, and the new one twice."
    old = PasswordField()
    new = PasswordField()
    again = PasswordField()

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("new") != self.cleaned_data.get("again"):
            raise ValidationError("The new password was typed in two ways: type it again.")
        return self.cleaned_data


class PinForm(forms.Form):
    """A new PIN, twice, the old one, and the password."""

    password = PasswordField()
    old_pin = PinField()
    new_pin = PinField()
    again_pin = PinField()


@login_required
@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """The secrets with which the user signs in and signs, with their ages."""
    return draw(request)


def draw(request: HttpRequest, refused: Refused | None = None) -> HttpResponse:
    """The account page, with what was refused on it."""
    staff = viewer_of(request)
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
    }
    return render_form(request, "dealer_ui/accounts/account.html", context, refused)


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


class PasswordView(OwnSecretView):
    """Change one's own password."""

    form_class = PasswordForm
    template_name = "dealer_ui/accounts/password.html"
    success_url = "/"

    def form_valid(self, form: InputForm) -> HttpResponse:
        sign_in.prove_again(self.request, form.cleaned_data["old"])
        staff = secret_changes.change_password(viewer_of(self.request), new=form.cleaned_data["new"])
        update_session_auth_hash(self.request, staff)
        required_actions.is_done(self.request, PASSWORD)
        messages.success(self.request, "Your password is changed.", extra_tags="password_changed")
        return super().form_valid(form)


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
