"""Forms and form fields that pages share: the key and sequence number of a log entry, badge, PIN, and lists."""

from __future__ import annotations

from typing import Any, Final

from django import forms

from tables.form_fields import InputForm, WholeNumberField

BADGE: Final = r"^[0-9]{3,8}\Z"
PIN: Final = r"^[0-9]{4,8}\Z"


class KeyForm(InputForm):
    """The idempotency key of a page: a form that is sent twice is one log entry."""

    status = 400
    message = "This form was incomplete: look at the page, then enter it again."
    key = forms.UUIDField()


class EntryForm(KeyForm):
    """The key of a page, and the sequence number of the table when the page was drawn."""

    message = "This form was incomplete: look at the table, then confirm again."
    seq = WholeNumberField()


class ListField(forms.TypedMultipleChoiceField):
    """The values of a field that may be sent several times. The form does not know the choices: the layers below judge
    the values."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)

    def valid_value(self, value: Any) -> bool:
        return True
