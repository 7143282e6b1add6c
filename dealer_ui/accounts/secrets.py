"""Making a PIN or a password with a code, changing a PIN at a terminal, and confirming other people's codes."""

from __future__ import annotations

from typing import Final

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required, permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dealer_ui.accounts.sign_in import signed_out
from tables.log.entries.staff import CALLED
from tables.models import OneTimeCode, Staff, Terminal
from tables.refusals import Refused
from tables.setup import policies
from tables.staff import codes as one_time_codes
from tables.staff import secret_changes, sign_in, staffing, terminals

_HALF: Final = r"^ *[0-9]{4} ?[0-9]{4} *\Z"
_PIN: Final = r"^[0-9]{4,8}\Z"


class CodePinForm(forms.Form):
    """Both halves, and the PIN that is to be, twice."""

    badge = forms.RegexField(r"^[0-9]{3,8}\Z")
    first = forms.RegexField(_HALF)
    second = forms.RegexField(_HALF)
    new = forms.RegexField(_PIN)
    again = forms.RegexField(_PIN)


class ChangePinForm(forms.Form):
    """The PIN of now, and the one that is to be, twice."""

    badge = forms.RegexField(r"^[0-9]{3,8}\Z")
    old = forms.RegexField(_PIN)
    new = forms.RegexField(_PIN)
    again = forms.RegexField(_PIN)


class CodePasswordForm(forms.Form):
    """Both halves, and the password that is to be, twice."""

    username = forms.CharField(max_length=40)
    first = forms.RegexField(_HALF)
    second = forms.RegexField(_HALF)
    new = forms.CharField(max_length=128, strip=False)
    again = forms.CharField(max_length=128, strip=False)


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def pin(request: HttpRequest) -> HttpResponse:
    """Set a PIN with a one-time code, or change it, on an enrolled terminal."""
    terminal = terminals.identify(request)
    by_code = request.GET.get("way") == "code"
    refused = None
    if request.method == "POST":
        try:
            staff = _make_pin(request, terminal, by_code)
            if request.user == staff:
                update_session_auth_hash(request, staff)  # who deals goes on
            messages.success(
                request,
                f"{staff.name}, your PIN is made. Nobody else knows it; tell it to nobody.",
                extra_tags="pin_made",
            )
            return redirect("/" if request.user == staff else "sign-in")
        except Refused as refusal:
            refused = refusal
    context = {
        "terminal": terminal,
        "by_code": by_code,
        "least": policies.number("pin_digits_min"),
        "refused": refused,
        "no_terminal": terminals.NO_TERMINAL,
    }
    return render(request, "dealer_ui/accounts/pin.html", context, status=refused.status if refused else 200)


def _make_pin(request: HttpRequest, terminal: Terminal | None, by_code: bool) -> Staff:
    if terminal is None:
        raise terminals.not_enrolled(request)
    form: forms.Form = CodePinForm(request.POST) if by_code else ChangePinForm(request.POST)
    if not form.is_valid():
        raise Refused("incomplete", _typed_wrong(form, by_code), 422)
    cleaned = form.cleaned_data
    if by_code:
        halves = (cleaned["first"], cleaned["second"])
        return secret_changes.make_pin(terminal, cleaned["badge"], halves, cleaned["new"], cleaned["again"])
    return secret_changes.change_pin(terminal, cleaned["badge"], cleaned["old"], cleaned["new"], cleaned["again"])


def _typed_wrong(form: forms.Form, by_code: bool) -> str:
    if {"new", "again"} & form.errors.keys():
        return f"{staffing.pin_rule()} Type the new one twice."
    if by_code and {"first", "second"} & form.errors.keys():
        return "Each half of the code has 8 digits: one is from the operator, one from who confirmed it."
    return "Badge number and PIN are digits."


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def password_by_code(request: HttpRequest) -> HttpResponse:
    """Set a password with a one-time code, in any browser."""
    refused = None
    if request.method == "POST":
        try:
            form = CodePasswordForm(request.POST)
            if not form.is_valid():
                message = "Give your user name, both halves of the code (8 digits each), and the new password twice."
                raise Refused("incomplete", message, 422)
            cleaned = form.cleaned_data
            halves = (cleaned["first"], cleaned["second"])
            secret_changes.make_password(request, cleaned["username"], halves, cleaned["new"], cleaned["again"])
            messages.success(request, "Your password is made: sign in with it.", extra_tags="password_made")
            return redirect("sign-in")
        except Refused as refusal:
            refused = refusal
    context = {"refused": refused}
    return render(request, "dealer_ui/accounts/password_code.html", context, status=refused.status if refused else 200)


@login_required
@permission_required("tables.confirm_code", raise_exception=True)
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def codes(request: HttpRequest) -> HttpResponse:
    """The codes that wait for their second half, and those that are valid.

    Confirming one takes the confirmer's password again, so an unattended screen confirms nothing.
    """
    refused, shown = None, None
    if request.method == "POST":
        try:
            shown = _act(request)
        except Refused as refusal:
            refused = refusal
            if not request.user.is_authenticated:
                return signed_out(request, refusal)
    rows = OneTimeCode.objects.select_related("staff", "asked_by", "confirmed_by")
    context = {
        "codes": [(code, CALLED[code.secret]) for code in rows],
        "shown": shown,
        "called": CALLED[shown.code.secret] if shown else "",
        "hours": one_time_codes.hours(),
        "refused": refused,
    }
    return render(request, "dealer_ui/accounts/codes.html", context, status=refused.status if refused else 200)


def _act(request: HttpRequest) -> one_time_codes.Halves | None:
    by, number = request.user, request.POST.get("code", "")
    assert isinstance(by, Staff)  # noqa: S101 -- the view asks for a sign-in
    pk = int(number) if number.isascii() and number.isdecimal() and len(number) < 19 else 0
    code = get_object_or_404(OneTimeCode, pk=pk)
    if request.POST.get("do") == "withdraw":
        one_time_codes.withdraw(code, by=by)
        messages.success(request, "The code is withdrawn.", extra_tags="code_withdrawn")
        return None
    sign_in.prove_again(request, request.POST.get("password", "")[:128])
    return one_time_codes.confirm(code, by=by)
