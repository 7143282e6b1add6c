"""The style sheets of a page."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def sheets(names: str) -> SafeString:
    """Links to sheets in the order of their names, which is that of the cascade: ``{% sheets "lists pit/round" %}``."""
    addresses = ((static(f"dealer_ui/{name}.css"),) for name in names.split())
    return format_html_join("\n  ", '<link rel="stylesheet" href="{}">', addresses)
