"""The menu of a page."""

from __future__ import annotations

from typing import Any

from django import template

from dealer_ui import navigation
from dealer_ui.navigation import ScreenGroup
from tables.models import Staff

register = template.Library()


@register.simple_tag(takes_context=True)
def menu(context: dict[str, Any]) -> list[ScreenGroup]:
    """The menu of the signed-in user; empty without one."""
    viewer = context["request"].user
    return navigation.menu_of(viewer) if isinstance(viewer, Staff) else []


@register.filter
def has_page(part: Any, page: str) -> bool:
    """Whether a page belongs to a part of the menu, or to one of its screens."""
    return bool(part.has(page))
