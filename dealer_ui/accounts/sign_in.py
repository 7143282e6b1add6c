"""Signing in and out, emergency codes, and making a device a terminal."""

from __future__ import annotations

from typing import Final

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from tables.models import EmergencyCode, Staff, Terminal
from tables.models.staff import PASSWORD, SECRETS
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import devices, required_actions, terminals
from tables.staff import emergency as emergency_codes
from tables.staff import sign_in as signin

_NO_DIGITS: Final = Refused("wrong_credentials", "Badge number and PIN are digits.", 422)
_NO_NAME: Final = Refused("wrong_credentials", "Give your user name and your password.", 422)


class BadgeForm(forms.Form):
    """A sign-in by badge and PIN, keyed on a terminal's pad."""

    badge = forms.RegexField(r"^[0-9]{3,8}\Z")
    pin = forms.RegexField(r"^[0-9]{4,8}\Z")


class NameForm(forms.Form):
    """A sign-in by user name and password."""

    username = forms.CharField(max_length=40)
    password = forms.CharField(max_length=128, strip=False)


class EmergencyForm(forms.Form):
    """Two printed codes."""

    first = forms.CharField(max_length=80)
    second = forms.CharField(max_length=80)


@sensitive_post_parameters("pin", "password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in with badge and PIN on an enrolled terminal, or by name and password.

    A relief may replace a signed-in user.
    """
    terminal = terminals.identify(request)
    by_name = terminal is None or request.GET.get("way") == "name"
    after = _after(request)
    refused = None
    if request.method == "POST":
        try:
            staff = _prove(request, by_name)
            required_actions.warn(request, staff, SECRETS if staff.badge else (PASSWORD,))
            response = redirect(after or "/")
            terminals.remember_longer(request, response)
            if by_name:
                devices.remember(request, response, staff.username)
            return response
        except Refused as refusal:
            refused = refusal
    context = {"terminal": terminal, "by_name": by_name, "after": after, "refused": refused}
    return render(request, "dealer_ui/accounts/sign_in.html", context, status=refused.status if refused else 200)


def _prove(request: HttpRequest, by_name: bool) -> Staff:
    if "pin" in request.POST and terminals.here(request) is None:
        raise terminals.not_enrolled(request)
    form = NameForm(request.POST) if by_name else BadgeForm(request.POST)
    if not form.is_valid():
        raise _NO_NAME if by_name else _NO_DIGITS
    if by_name:
        return signin.by_password(request, **form.cleaned_data)
    return signin.by_badge(request, **form.cleaned_data)


def _after(request: HttpRequest) -> str:
    """Where to go afterwards, if that is a page of ours."""
    destination = request.POST.get("next") or request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(destination, {request.get_host()}, require_https=request.is_secure())
    return destination if ours else ""


def sign_in_for_admin(request: HttpRequest) -> HttpResponse:
    """Redirect to the site's only sign-in page; the admin site's own is not used."""
    if request.user.is_authenticated:
        raise PermissionDenied("The administration is for operators and auditors.")
    return redirect_to_login(_after(request) or "/admin/")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Tap out and sign out; in mid-round, neither."""
    try:
        signin.sign_out(request)
    except Refused as refused:
        messages.error(request, refused.sentence, extra_tags=refused.code)
        return redirect("/")
    return redirect("sign-in")


def signed_out(request: HttpRequest, refused: Refused) -> HttpResponse:
    """Too many tries ended the session."""
    messages.error(request, refused.sentence, extra_tags=refused.code)
    return redirect("sign-in")


# --- Emergency codes -------------------------------------------------------------------------------------------


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def emergency(request: HttpRequest) -> HttpResponse:
    """Sign in the first of two operators with both of their codes, despite any lockout."""
    refused = None
    if request.method == "POST":
        try:
            staff = _by_codes(request)
            response = redirect("/")
            devices.remember(request, response, staff.username)
            return response
        except Refused as refusal:
            refused = refusal
    context = {"refused": refused}
    return render(request, "dealer_ui/accounts/emergency.html", context, status=refused.status if refused else 200)


def _by_codes(request: HttpRequest) -> Staff:
    form = EmergencyForm(request.POST)
    if not form.is_valid():
        raise Refused("wrong_codes", "Type both codes as they are printed, dashes or not.", 422)
    staff = emergency_codes.use(**form.cleaned_data, address=request.META.get("REMOTE_ADDR"))
    signin.begin_without_secret(request, staff)
    return staff


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def emergency_code(request: HttpRequest) -> HttpResponse:
    """An operator makes an emergency code, which is shown this once."""
    staff = request.user
    if not isinstance(staff, Staff) or staff.role != Role.OPERATOR:
        raise PermissionDenied
    code, refused = "", None
    if request.method == "POST":
        try:
            signin.prove_again(request, request.POST.get("password", "")[:128])
            code = emergency_codes.make(staff)
        except Refused as refusal:
            refused = refusal
            if not request.user.is_authenticated:
                return signed_out(request, refusal)
    kept = EmergencyCode.objects.filter(operator=staff).first()
    context = {"code": code, "made": kept, "refused": refused}
    return render(request, "dealer_ui/accounts/emergency_code.html", context, status=refused.status if refused else 200)


# --- Terminals -------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def enrol(request: HttpRequest, code: str) -> HttpResponse:
    """An operator's link, opened on the device that is to become a terminal. Only the button uses it up."""
    try:
        if request.method == "POST":
            return _enrolled(request, code)
        context: dict[str, Terminal | Refused] = {"terminal": terminals.read_link(code)}
        return render(request, "dealer_ui/accounts/enrol.html", context)
    except Refused as refused:
        return render(request, "dealer_ui/accounts/enrol.html", {"refused": refused}, status=refused.status)


def _enrolled(request: HttpRequest, code: str) -> HttpResponse:
    terminals.read_link(code)
    signin.sign_out(request)
    terminal, token = terminals.enrol_by_link(code)
    messages.success(request, f"This device is {terminal.name} now.", extra_tags="terminal_enrolled")
    response = redirect("terminal")
    terminals.remember(response, token)
    return response
