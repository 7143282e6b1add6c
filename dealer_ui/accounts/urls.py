"""Addresses of the ways in and out."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from dealer_ui.accounts import account, first_steps, passkeys, secrets, sign_in, terminal, working_role

urlpatterns = [
    path("sign-in/", sign_in.SignInView.as_view(), name="sign-in"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("sign-in/passkey/options/", passkeys.sign_in_options, name="passkey-sign-in-options"),
    path("sign-in/passkey/", passkeys.PasskeySignInView.as_view(), name="passkey-sign-in"),
    path("pin/", secrets.PinView.as_view(), name="pin"),
    path("codes/", secrets.codes, name="codes"),
    path("password/code/", secrets.CodePasswordView.as_view(), name="password-code"),
    path("password/", account.PasswordView.as_view(), name="password"),
    path("account/", account.account, name="account"),
    path("account/pin/", account.own_pin, name="own-pin"),
    path("account/passkeys/options/", passkeys.options, name="passkey-options"),
    path("account/passkeys/", passkeys.register, name="passkey-register"),
    path("account/passkeys/<int:pk>/vouch/", passkeys.vouch, name="passkey-vouch"),
    path("account/passkeys/<int:pk>/withdraw/", passkeys.withdraw, name="passkey-withdraw"),
    path("start/", first_steps.start, name="start"),
    path("start/read", first_steps.put_away, name="start-read"),
    path("work-as/", working_role.WorkAsView.as_view(), name="work-as"),
    path("emergency/", sign_in.EmergencyView.as_view(), name="emergency"),
    path("emergency/code/", sign_in.EmergencyCodeView.as_view(), name="emergency-code"),
    path("terminal/", terminal.page, name="terminal"),
    path("enrol/<str:code>/", sign_in.enrol, name="enrol"),
]

admin_urlpatterns = [
    path("login/", sign_in.sign_in_for_admin),
    path("logout/", sign_in.sign_out),
    path("password_change/", RedirectView.as_view(pattern_name="password")),
]
"""Pages that replace the admin site's own: the site has one way to sign in, and its log records each use."""
