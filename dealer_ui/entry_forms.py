"""What pages with a form share: key and sequence number of a log entry, badge, PIN, amounts, moments, and the view."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import FormView

from dealer_ui import dates
from tables.form_fields import InputForm, MomentField, MoneyField, WholeNumberField
from tables.models.staff import PIN_DIGITS
from tables.refusals import Refused

BadgeField: Final = partial(forms.RegexField, r"^[0-9]{3,8}\Z")
PinField: Final = partial(forms.RegexField, rf"^{PIN_DIGITS}\Z")
PasswordField: Final = partial(forms.CharField, max_length=128, strip=False)


class KeyForm(InputForm):
    """The idempotency key of a page: a form that is sent twice is one log entry."""

    status = 400
    message = "This form was incomplete: look at the page, then enter it again."
    key = forms.UUIDField()


class EntryForm(KeyForm):
    """The key of a page, and the sequence number of the table when the page was drawn."""

    message = "This form was incomplete: look at the table, then confirm again."
    seq = WholeNumberField()


class SignatureForm(InputForm):
    """Badge and PIN of a signer. ``second_`` is the prefix of a second signer."""

    code = "wrong_credentials"
    message = "Sign with your badge number and your PIN: both are digits."
    badge = BadgeField()
    pin = PinField()

    def add_prefix(self, field_name: str) -> str:
        return f"{self.prefix or ''}{field_name}"


class ListField(forms.TypedMultipleChoiceField):
    """The values of a field that may be sent several times. The form does not know the choices: the layers below judge
    the values."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)

    def valid_value(self, value: Any) -> bool:
        return True


class TypedAmountField(MoneyField):
    """An amount at the table or in a count. The game refuses amounts that are illegal there, of any size."""

    default_error_messages = {
        "required": "Type an amount in digits first, such as 20.",
        "invalid": "“%(value)s” is no amount: type it in digits, such as 20.",
    }
    most_cents = None

    def __init__(self, **options: Any) -> None:
        super().__init__(is_signed=True, **options)


class TypedMomentField(MomentField):
    """A moment as a browser's field or a person writes it, such as 2026-01-31T21:30."""

    def to_python(self, value: Any) -> datetime | None:
        """The moment in UTC. A time that a change of the clock repeats is the first: Django's field refuses both."""
        if value in self.empty_values:
            return None
        if (moment := dates.moment(value)) is None:
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return moment


def render_form(
    request: HttpRequest, template: str, context: Mapping[str, Any], refused: Refused | None
) -> HttpResponse:
    """A page with forms; if what was sent is refused, with the refusal and under its HTTP status."""
    return render(request, template, {**context, "refused": refused}, status=refused.status if refused else 200)


class InputFormView(FormView):
    """A page with one form. A refusal shows the page again, with its HTTP status."""

    http_method_names = ("get", "post")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            form = self.get_form()
            form.values()
            return self.form_valid(form)
        except Refused as refused:
            return self.refuse(refused)

    def refuse(self, refused: Refused) -> HttpResponse:
        """The page with a refusal."""
        return self.render_to_response(self.get_context_data(refused=refused), status=refused.status)
