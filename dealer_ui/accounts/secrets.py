"""Making a PIN or a password with a code, changing a PIN at a terminal, and confirming other people's codes."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.functional import lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dealer_ui.accounts.sign_in import PasswordAgainForm, signed_out
from dealer_ui.entry_forms import BadgeField, InputFormView, PasswordField, PinField, render_form
from dealer_ui.guards import permitted, viewer_of
from tables.form_fields import InputForm, WholeNumberField
from tables.log.entries.staff import CALLED
from tables.models import OneTimeCode, Staff
from tables.refusals import Refused
from tables.setup import policies
from tables.staff import codes as one_time_codes
from tables.staff import secret_changes, sign_in, staffing, terminals

_HALF: Final = r"^ *[0-9]{4} ?[0-9]{4} *\Z"
_DIGITS: Final = dict.fromkeys(("required", "invalid"), "Badge number and PIN are digits.")
_HALVES: Final = dict.fromkeys(
    ("required", "invalid"),
    "Each half of the code has 8 digits: one is from the operator, one from who confirmed it.",
)
_NEW_PIN: Final = dict.fromkeys(
    ("required", "invalid"), lazy(lambda: f"{staffing.pin_rule()} Type the new one twice.", str)()
)


class NewPinForm(InputForm):
    """A new PIN, twice. Its errors come before those of the fields that identify its owner."""

    code = "incomplete"
    new = PinField(error_messages=_NEW_PIN)
    again = PinField(error_messages=_NEW_PIN)


class CodePinForm(NewPinForm):
    """A new PIN with both halves of a code."""

    first = forms.RegexField(_HALF, error_messages=_HALVES)
    second = forms.RegexField(_HALF, error_messages=_HALVES)
    badge = BadgeField(error_messages=_DIGITS)


class ChangePinForm(NewPinForm):
    """A new PIN with the old one."""

    badge = BadgeField(error_messages=_DIGITS)
    old = PinField(error_messages=_DIGITS)


class CodePasswordForm(InputForm):
    """A new password, twice, with both halves of a code."""

    code = "incomplete"
    message = "Give your user name, both halves of the code (8 digits each), and the new password twice."
    username = forms.CharField(max_length=40)
    first = forms.RegexField(_HALF)
    second = forms.RegexField(_HALF)
    new = PasswordField()
    again = PasswordField()


class CodeForm(PasswordAgainForm):
    """A code to confirm or to withdraw."""

    code = WholeNumberField(required=False)  # type: ignore[assignment]  # a field: Form takes it out of the class
    do = forms.CharField(required=False)


@method_decorator(sensitive_post_parameters(), name="dispatch")
class PinView(InputFormView):
    """Set a PIN with a one-time code, or change it, on an enrolled terminal."""

    template_name = "dealer_ui/accounts/pin.html"

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().setup(request, *args, **kwargs)
        self.terminal = terminals.identify(request)
        self.by_code = request.GET.get("way") == "code"

    def get_form_class(self) -> type[InputForm]:
        return CodePinForm if self.by_code else ChangePinForm

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if self.terminal is None:
            return self.refuse(terminals.not_enrolled(request))
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: InputForm) -> HttpResponse:
        staff = self._make(**form.cleaned_data)
        if self.request.user == staff:
            update_session_auth_hash(self.request, staff)  # a dealer stays signed in
        messages.success(
            self.request,
            f"{staff.name}, your PIN is made. Nobody else knows it; tell it to nobody.",
            extra_tags="pin_made",
        )
        return redirect("/" if self.request.user == staff else "sign-in")

    def _make(self, badge: str, new: str, again: str, first: str = "", second: str = "", old: str = "") -> Staff:
        assert self.terminal is not None  # noqa: S101 -- post refused it
        if self.by_code:
            return secret_changes.make_pin(self.terminal, badge, (first, second), new, again)
        return secret_changes.change_pin(self.terminal, badge, old, new, again)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(least=policies.number("pin_digits_min"), **context)


@method_decorator(sensitive_post_parameters(), name="dispatch")
class CodePasswordView(InputFormView):
    """Set a password with a one-time code, in any browser."""

    form_class = CodePasswordForm
    template_name = "dealer_ui/accounts/password_code.html"
    success_url = reverse_lazy("sign-in")

    def form_valid(self, form: InputForm) -> HttpResponse:
        values = form.cleaned_data
        halves = (values["first"], values["second"])
        secret_changes.make_password(self.request, values["username"], halves, values["new"], values["again"])
        messages.success(self.request, "Your password is made: sign in with it.", extra_tags="password_made")
        return super().form_valid(form)


@permitted("tables.confirm_code")
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
    }
    return render_form(request, "dealer_ui/accounts/codes.html", context, refused)


def _act(request: HttpRequest) -> one_time_codes.Halves | None:
    by, form = viewer_of(request), CodeForm(request.POST)
    form.full_clean()
    code = get_object_or_404(OneTimeCode, pk=form.cleaned_data.get("code"))
    if form.cleaned_data.get("do") == "withdraw":
        one_time_codes.withdraw(code, by=by)
        messages.success(request, "The code is withdrawn.", extra_tags="code_withdrawn")
        return None
    sign_in.prove_again(request, form.values()["password"])
    return one_time_codes.confirm(code, by=by)
