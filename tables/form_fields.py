"""Form fields that every form of the product shares: amounts, whole numbers, days and moments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, ClassVar, Final, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError

from ledger.proof.chips import money
from tables.log import moments
from tables.refusals import Refused, sentence

MOST_WHOLE: Final = 2**31 - 1
"""The largest number of a seat, round, table or entry."""
_AMOUNT: Final = re.compile(r"([+-]?)(\d{1,40}|\d{1,3}(?:,\d{3}){1,12})(?:\.(\d{1,2}))?", re.ASCII)
_Date = TypeVar("_Date", bound=date)


class InputForm(forms.Form):
    """A form whose first error becomes a refusal, for pages that show a refusal in place of field errors.

    ``code`` is the code of the refusal, for a field in ``codes`` that one. ``status`` is its HTTP status. A ``message``
    takes the place of the messages of the fields.
    """

    code: ClassVar[str] = "bad_form"
    codes: ClassVar[Mapping[str, str]] = {}
    status: ClassVar[int] = 422
    message: ClassVar[str] = ""

    def values(self) -> dict[str, Any]:
        """The cleaned values. Raises Refused with the message of the first error."""
        for field, errors in self.errors.as_data().items():
            message = self.message if field != NON_FIELD_ERRORS else ""
            raise Refused(self.codes.get(field, self.code), message or " ".join(errors[0].messages), self.status)
        return self.cleaned_data


def parse_whole(text: str | None) -> int | None:
    """A whole number in plain ASCII digits, at most MOST_WHOLE; None for any other text."""
    if not (text and text.isascii() and text.isdecimal()):
        return None
    return MOST_WHOLE if len(text) > len(str(MOST_WHOLE)) else min(int(text), MOST_WHOLE)


def parse_cents(text: str) -> int | None:
    """Minor units of an amount as people write it, such as 20, 2.50, 1,000 or −16; None for any other text.

    A comma separates thousands and nothing else: 1,50 is no amount.
    """
    match = _AMOUNT.fullmatch(text.strip().replace("−", "-"))
    if match is None:
        return None
    sign, whole, part = match.groups()
    cents = int(whole.replace(",", "")) * 100 + int((part or "").ljust(2, "0"))
    return -cents if sign == "-" else cents


class MoneyField(forms.Field):
    """An amount as people write it, such as 10, 2.50 or 1,000. The value is in minor units and never passes through a
    float. With ``is_signed`` a plus or minus sign may precede the digits."""

    widget = forms.TextInput
    default_error_messages = {"invalid": "Write an amount as 10 or 2.50."}
    most_cents: int | None = 10**15 - 1

    def __init__(self, *, is_signed: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.is_signed = is_signed

    def to_python(self, value: Any) -> int | None:
        """Minor units; None for an empty field."""
        if value in self.empty_values or not (text := str(value).strip()):
            return None
        cents = parse_cents(text)
        is_beyond = cents is not None and self.most_cents is not None and abs(cents) > self.most_cents
        if cents is None or is_beyond or (text[0] in "+-−" and not self.is_signed):
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": text[:20]})
        return cents

    def prepare_value(self, value: Any) -> Any:
        return money(value).replace(",", "") if isinstance(value, int) else value

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """Attributes that show the digits of a tablet's keyboard."""
        return {"inputmode": "decimal", "autocomplete": "off"}


class WholeNumberField(forms.IntegerField):
    """A number of a seat, round, table or entry: plain ASCII digits. A larger number than any of these counts as the
    largest, so that the search for it is answered by "not found"."""

    widget = forms.TextInput

    def to_python(self, value: Any) -> int | None:
        text = str(value).strip() if value is not None else ""
        if (number := parse_whole(text)) is None and text:
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return number


def _possible(read: _Date | None) -> _Date | None:
    if read is not None and (fault := moments.fault(read)):
        raise ValidationError(sentence(fault))
    return read


class DayField(forms.DateField):
    """A day from 2000 to 2999."""

    def to_python(self, value: Any) -> date | None:
        return _possible(super().to_python(value))


class MomentField(forms.DateTimeField):
    """A moment from 2000 to 2999. Without an offset it is by the site's clock."""

    def to_python(self, value: Any) -> datetime | None:
        return _possible(super().to_python(value))
