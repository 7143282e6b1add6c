"""Registering passkeys and signing in with one: what the page's script asks for and sends, and the answers to it."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import RedirectURLMixin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views import View
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from dealer_ui import signatures
from dealer_ui.accounts import account
from dealer_ui.accounts.sign_in import PasswordAgainForm
from dealer_ui.guards import viewer_of
from tables.form_fields import InputForm
from tables.models import Passkey
from tables.models.staff import PASSWORD
from tables.refusals import Refused
from tables.staff import devices, required_actions, terminals
from tables.staff import passkeys as keys
from tables.staff import sign_in as signing_in


def _refused(refused: Refused) -> HttpResponse:
    return JsonResponse({"sentence": refused.sentence, "code": refused.code}, status=refused.status)


class RegistrationForm(InputForm):
    """The answer of a device to a registration, and a name for the passkey."""

    code = "bad_passkey"
    message = keys.NO_PASSKEY
    name = forms.CharField(required=False)
    answer = forms.CharField(max_length=20_000, required=False)


class PasskeySignInForm(InputForm):
    """The answer of a device to a sign-in. A user name that was typed must be that of the owner."""

    code = "wrong_passkey"
    status = 403
    message = keys.WRONG
    username = forms.CharField(max_length=40, required=False)
    answer = forms.CharField(max_length=20_000, required=False)


@require_POST
def sign_in_options(request: HttpRequest) -> HttpResponse:
    """A challenge for a sign-in."""
    return HttpResponse(keys.sign_in_options(request), content_type="application/json")


class PasskeySignInView(RedirectURLMixin, View):
    """Sign in with the device's answer. The response names the page to open."""

    http_method_names = ("post",)
    next_page = "/"

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            values = PasskeySignInForm(request.POST).values()
            staff, credential = keys.who_signs_in(request, **values)
        except Refused as refused:
            return _refused(refused)
        signing_in.by_passkey(request, staff, credential)
        response = JsonResponse({"next": self.get_success_url()})
        devices.remember(request, response, staff.username)
        return response


@login_required
@sensitive_post_parameters()
@require_POST
def options(request: HttpRequest) -> HttpResponse:
    """A challenge for a new passkey; it takes the password again."""
    staff = viewer_of(request)
    try:
        if not staff.has(PASSWORD):
            message = "You have no password: make one with a code first, for a passkey is registered with it."
            raise Refused("no_password", message, 422)
        signing_in.prove_again(request, PasswordAgainForm(request.POST).values()["password"])
        return HttpResponse(keys.registration_options(request, staff), content_type="application/json")
    except Refused as refused:
        return _refused(refused)


@login_required
@require_POST
def register(request: HttpRequest) -> HttpResponse:
    """The device's new key, with the name that its owner gives it."""
    staff = viewer_of(request)
    try:
        row = keys.register(request, staff, **RegistrationForm(request.POST).values())
    except Refused as refused:
        return _refused(refused)
    required_actions.is_done(request, "passkey")
    messages.success(
        request, f"The passkey {row.name} is registered: sign in with it from now on.", extra_tags="passkey_registered"
    )
    return JsonResponse({"next": reverse("account")})


@login_required
@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw a passkey, which then opens nothing. An operator withdraws a lost one in the admin."""
    staff = viewer_of(request)
    row = get_object_or_404(Passkey, pk=pk, staff=staff)
    keys.withdraw(row, by=staff)
    messages.success(request, f"The passkey {row.name} is withdrawn.", extra_tags="passkey_withdrawn")
    return redirect("account")


@login_required
@require_POST
def vouch(request: HttpRequest, pk: int) -> HttpResponse:
    """The terminal vouches for a passkey that its owner uses there: it signs slips from now on."""
    staff = viewer_of(request)
    row, terminal = get_object_or_404(Passkey, pk=pk, staff=staff), terminals.here(request)
    try:
        if terminal is None:
            raise Refused("not_enrolled", "Sign in on a terminal: that one vouches for your passkey.", 403)
        keys.vouch(row, terminal, keys.origin_of(request), signatures.attested(request), by=staff)
    except Refused as refused:
        return account.draw(request, refused)
    messages.success(
        request, f"{row.name} signs slips from now on: {terminal.name} vouches for it.", extra_tags="passkey_vouched"
    )
    return redirect("account")
