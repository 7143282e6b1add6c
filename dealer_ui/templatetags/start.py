"""Whether a user has dismissed the first steps, for the pages that offer them."""

from __future__ import annotations

from typing import Final

from django import template
from django.http import HttpRequest

from tables.models import Staff

register = template.Library()

SALT: Final = "start here"


def cookie_of(staff: Staff) -> str:
    """Where a browser keeps that this person has read them."""
    return f"start-{staff.pk}"


@register.filter
def is_read(request: HttpRequest) -> bool:
    """Whether this user has dismissed the steps in this browser, in the present role."""
    if not isinstance(request.user, Staff):
        return True
    return bool(request.get_signed_cookie(cookie_of(request.user), default="", salt=SALT) == request.user.role)
