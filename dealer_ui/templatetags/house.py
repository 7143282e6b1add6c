"""Whose paper and whose money this is: the head of whatever is printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils import timezone

from ledger import replica
from tables.reports import site_clock
from tables.setup import site_identity
from tables.setup.site_identity import Identity

register = template.Library()


@register.simple_tag
def house() -> Identity:
    """The names of the house and its property, and its currency."""
    return site_identity.identity()


@register.simple_tag
def currency() -> str:
    """The house's currency, by ISO 4217, where money stands alone: "USD"."""
    return site_identity.identity().currency


@register.inclusion_tag("dealer_ui/_as_of.html")
def as_of() -> Mapping[str, Any]:
    """How old the page is, where it is read from a replica."""
    return {"as_of": replica.as_of()}


@register.inclusion_tag("dealer_ui/_letterhead.html", takes_context=True)
def letterhead(context: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a printer puts above a page: whose it is, of which gaming day, and who printed it when."""
    user = getattr(context.get("request"), "user", None)
    return {
        "house": site_identity.identity(),
        "day": site_clock.day(),
        "printed_at": timezone.now(),
        "by": user.name if user is not None and user.is_authenticated else "",
    }
