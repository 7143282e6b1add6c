"""Form fields of the dealer and the cage: an amount, and a moment on paper."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError

from dealer_ui import dates
from tables.form_fields import MomentField, MoneyField


class TypedAmountField(MoneyField):
    """An amount at the table or in a count. The game refuses amounts that are illegal there, of any size."""

    default_error_messages = {
        "required": "Type an amount in digits first, such as 20.",
        "invalid": "“%(value)s” is no amount: type it in digits, such as 20.",
    }
    most_cents = None

    def __init__(self, **options: Any) -> None:
        super().__init__(is_signed=True, **options)


class PaperMomentField(MomentField):
    """A moment as a paper has it, such as 2026-01-31T21:30."""

    def to_python(self, value: Any) -> datetime | None:
        """The moment in UTC. A time that a change of the clock repeats is the first: Django's field refuses both."""
        if value in self.empty_values:
            return None
        if (moment := dates.moment(value)) is None:
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return moment
