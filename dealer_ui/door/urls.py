"""Addresses of the ways in and out."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from dealer_ui.door import sign_in, work

urlpatterns = [
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("password/", sign_in.password, name="password"),
    path("work-as/", work.work_as, name="work-as"),
    path("emergency/", sign_in.emergency, name="emergency"),
    path("emergency/code/", sign_in.emergency_code, name="emergency-code"),
    path("enrol/<str:code>/", sign_in.enrol, name="enrol"),
]

admin_urlpatterns = [
    path("login/", sign_in.sign_in_for_admin),
    path("logout/", sign_in.sign_out),
    path("password_change/", RedirectView.as_view(pattern_name="password")),
]
"""What the admin would bring of its own: the house has one way in, and each use of it is in the log."""
