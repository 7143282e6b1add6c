"""How slips write sums and names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from tables import paper

register = template.Library()


@register.filter
def of(names: Mapping[str, str], name: str) -> str:
    """What something is called."""
    return names.get(name, name)


@register.filter
def times(value_cents: int, count: int) -> int:
    """So many of one kind, in cents."""
    return value_cents * count


@register.filter
def worth(chips: Any) -> int:
    """What chips are worth together, in cents."""
    return paper.total(chips)
