"""Signing in and out, another password, and making a device a terminal."""

from __future__ import annotations

from typing import Final

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from tables import signin, staffing, terminals
from tables.models import Staff, Terminal
from tables.refusals import Refused

_NO_DIGITS: Final = Refused("wrong_credentials", "Badge number and PIN are digits.", 422)
_NO_NAME: Final = Refused("wrong_credentials", "Give your user name and your password.", 422)


class BadgeForm(forms.Form):
    """What is keyed on the pad."""

    badge = forms.RegexField(r"^[0-9]{3,8}\Z")
    pin = forms.RegexField(r"^[0-9]{4,8}\Z")


class NameForm(forms.Form):
    """What is typed."""

    username = forms.CharField(max_length=40)
    password = forms.CharField(max_length=128, strip=False)


class PasswordForm(forms.Form):
    """A new password, twice, and the old one."""

    old = forms.CharField(max_length=128, strip=False)
    new = forms.CharField(max_length=128, strip=False)
    again = forms.CharField(max_length=128, strip=False)


@sensitive_post_parameters("pin", "password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The pad on an enrolled terminal, or name and password. Also how a relief signs in over whoever is here."""
    terminal = terminals.identify(request)
    by_name = terminal is None or request.GET.get("way") == "name"
    after = _after(request)
    refused = None
    if request.method == "POST":
        try:
            _prove(request, by_name)
            response = redirect(after or "/")
            terminals.remember_longer(request, response)
            return response
        except Refused as refusal:
            refused = refusal
    context = {"terminal": terminal, "by_name": by_name, "after": after, "refused": refused}
    return render(request, "dealer_ui/sign_in.html", context, status=refused.status if refused else 200)


def _prove(request: HttpRequest, by_name: bool) -> None:
    form = NameForm(request.POST) if by_name else BadgeForm(request.POST)
    if not form.is_valid():
        raise _NO_NAME if by_name else _NO_DIGITS
    if by_name:
        signin.by_password(request, **form.cleaned_data)
    else:
        signin.by_badge(request, **form.cleaned_data)


def _after(request: HttpRequest) -> str:
    """Where to go afterwards, if that is a page of ours."""
    asked = request.POST.get("next") or request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if ours else ""


def sign_in_for_admin(request: HttpRequest) -> HttpResponse:
    """The admin's own sign-in page is not used: the house has one way in."""
    if request.user.is_authenticated:
        raise PermissionDenied("The administration is for operators and auditors.")
    return redirect_to_login(_after(request) or "/admin/")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Tap out and sign out; in mid-round, neither."""
    try:
        signin.sign_out(request)
    except Refused as refused:
        messages.error(request, refused.sentence)
        return redirect("/")
    return redirect("sign-in")


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """Give oneself another password."""
    refused = None
    if request.method == "POST":
        try:
            _change_password(request)
            messages.success(request, "Your password is changed.")
            return redirect("/")
        except Refused as refusal:
            refused = refusal
    return render(request, "dealer_ui/password.html", {"refused": refused}, status=refused.status if refused else 200)


def _change_password(request: HttpRequest) -> None:
    form = PasswordForm(request.POST)
    if not form.is_valid():
        raise Refused("incomplete", "Give your password, and the new one twice.", 422)
    if form.cleaned_data["new"] != form.cleaned_data["again"]:
        raise Refused("differs", "The new password was typed in two ways: type it again.", 422)
    assert isinstance(request.user, Staff)  # noqa: S101 -- the view asks for a sign-in
    staffing.change_password(request.user, old=form.cleaned_data["old"], new=form.cleaned_data["new"])
    update_session_auth_hash(request, request.user)


@require_http_methods(["GET", "POST"])
def enrol(request: HttpRequest, code: str) -> HttpResponse:
    """An operator's link, opened on the device that is to become a terminal. Only the button uses it up."""
    try:
        if request.method == "POST":
            return _enrolled(request, code)
        context: dict[str, Terminal | Refused] = {"terminal": terminals.read_link(code)}
        return render(request, "dealer_ui/enrol.html", context)
    except Refused as refused:
        return render(request, "dealer_ui/enrol.html", {"refused": refused}, status=refused.status)


def _enrolled(request: HttpRequest, code: str) -> HttpResponse:
    terminals.read_link(code)
    signin.sign_out(request)
    terminal, token = terminals.enrol_by_link(code)
    messages.success(request, f"This device is {terminal.name} now.")
    response = redirect("sign-in")
    terminals.remember(response, token)
    return response
