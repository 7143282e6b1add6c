"""The house's terms are changed: at once, and from a day to come."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from tables.models import Staff
from tables.setup import house_terms


def lay_down(tries: int, *, by: Staff) -> None:
    """So many wrong secrets lock somebody out from now on; discrepancies are graded otherwise from the third day on."""
    house_terms.change({"lockout_failures": tries, "pin_digits_min": 6}, by=by)
    later = timezone.now() + timedelta(days=2)
    house_terms.change({"discrepancy_levels_cents": (2_500, 10_000, 25_000)}, later, by=by)
    house_terms.forget()
