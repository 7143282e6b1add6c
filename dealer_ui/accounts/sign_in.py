"""Signing in and out, emergency codes, and making a device a terminal."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin, UserPassesTestMixin
from django.contrib.auth.views import RedirectURLMixin, redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from dealer_ui.entry_forms import InputFormView, PasswordField, SignatureForm
from dealer_ui.guards import viewer_of
from tables.form_fields import InputForm
from tables.models import EmergencyCode, Terminal
from tables.models.staff import PASSWORD, SECRETS
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import devices, required_actions, terminals
from tables.staff import emergency as emergency_codes
from tables.staff import sign_in as signin


class BadgeForm(SignatureForm):
    """A sign-in by badge and PIN, keyed on a terminal's pad."""

    message = "Badge number and PIN are digits."


class NameForm(InputForm):
    """A sign-in by user name and password."""

    code = "wrong_credentials"
    message = "Give your user name and your password."
    username = forms.CharField(max_length=40)
    password = PasswordField()


class PasswordAgainForm(InputForm):
    """The password of the signed-in user, asked for again."""

    code = "wrong_credentials"
    message = "This is not your password."
    password = PasswordField(required=False)


class EmergencyCodesForm(InputForm):
    """Two printed codes."""

    code = "wrong_codes"
    message = "Type both codes as they are printed, dashes or not."
    first = forms.CharField(max_length=80)
    second = forms.CharField(max_length=80)


@method_decorator(sensitive_post_parameters("pin", "password"), name="dispatch")
class SignInView(RedirectURLMixin, InputFormView):
    """Sign in with badge and PIN on an enrolled terminal, or by name and password.

    A relief may replace a signed-in user.
    """

    template_name = "dealer_ui/accounts/sign_in.html"
    next_page = "/"

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().setup(request, *args, **kwargs)
        self.terminal = terminals.identify(request)
        self.by_name = self.terminal is None or request.GET.get("way") == "name"

    def get_form_class(self) -> type[InputForm]:
        return NameForm if self.by_name else BadgeForm

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if self.terminal is None and "pin" in self.get_form().data:
            return self.refuse(terminals.not_enrolled(request))
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: InputForm) -> HttpResponse:
        prove = signin.by_password if self.by_name else signin.by_badge
        staff = prove(self.request, **form.cleaned_data)
        required_actions.warn(self.request, staff, SECRETS if staff.badge else (PASSWORD,))
        response = super().form_valid(form)
        terminals.remember_longer(self.request, response)
        if self.by_name:
            devices.remember(self.request, response, staff.username)
        return response


def sign_in_for_admin(request: HttpRequest) -> HttpResponse:
    """Redirect to the site's only sign-in page; the admin site's own is not used."""
    if request.user.is_authenticated:
        raise PermissionDenied("The administration is for operators and auditors.")
    return redirect_to_login(request.GET.get("next") or "/admin/")


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


@method_decorator(sensitive_post_parameters(), name="dispatch")
class EmergencyView(InputFormView):
    """Sign in the first of two operators with both of their codes, despite any lockout."""

    form_class = EmergencyCodesForm
    template_name = "dealer_ui/accounts/emergency.html"
    success_url = "/"

    def form_valid(self, form: InputForm) -> HttpResponse:
        staff = emergency_codes.use(**form.cleaned_data, address=self.request.META.get("REMOTE_ADDR"))
        signin.begin_without_secret(self.request, staff)
        response = super().form_valid(form)
        devices.remember(self.request, response, staff.username)
        return response


@method_decorator(sensitive_post_parameters(), name="dispatch")
class OwnSecretView(LoginRequiredMixin, InputFormView):
    """A page on which the user proves a secret. Too many failures end the session and lead to the sign-in."""

    def refuse(self, refused: Refused) -> HttpResponse:
        return super().refuse(refused) if self.request.user.is_authenticated else signed_out(self.request, refused)


class EmergencyCodeView(UserPassesTestMixin, OwnSecretView):
    """An operator makes an emergency code, which is shown this once."""

    form_class = PasswordAgainForm
    template_name = "dealer_ui/accounts/emergency_code.html"

    def test_func(self) -> bool:
        return getattr(self.request.user, "role", "") == Role.OPERATOR

    def form_valid(self, form: InputForm) -> HttpResponse:
        signin.prove_again(self.request, form.cleaned_data["password"])
        code = emergency_codes.make(viewer_of(self.request))
        return self.render_to_response(self.get_context_data(code=code))

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        latest = EmergencyCode.objects.filter(operator=viewer_of(self.request)).first()
        return super().get_context_data(made=latest, **context)


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
