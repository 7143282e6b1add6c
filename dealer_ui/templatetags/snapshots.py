"""A cache of rendered template fragments that recur unchanged: a seat with its cards and chips, a fixed set of keys.

The cache key of a fragment is all data that it is rendered from, so a fragment is never out of date and is not specific
to a user. A form's token or key, a time or a table's name must not appear between these tags. While ``is_proven`` is
set, as in every test, each cached fragment is compared with a new rendering.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.template.context import Context
from django.urls import reverse
from django.utils.safestring import SafeString

register = template.Library()

MOST: Final = 20_000
"""Drawings of one place in a template: the seats of a thousand tables, three times over."""

is_proven = False


class OutOfDate(AssertionError):
    """A drawing that was kept is drawn from more than it is kept by."""


class SnapshotNode(template.Node):
    """What lies between the tags, by what it is drawn from."""

    def __init__(self, nodes: NodeList, key: Sequence[FilterExpression]) -> None:
        self.nodes, self.key = nodes, key
        self.drawings: dict[tuple[Any, ...], SafeString] = {}

    def render(self, context: Context) -> SafeString:
        key = tuple(part.resolve(context) for part in self.key)
        drawing = self.drawings.get(key)
        if drawing is None:
            drawing = self.nodes.render(context)
            if len(self.drawings) >= MOST:
                self.drawings.clear()
            self.drawings[key] = drawing
        elif is_proven and (anew := self.nodes.render(context)) != drawing:
            raise OutOfDate(f"kept by {key}: {drawing!r}, and now {anew!r}")
        return drawing


@register.tag
def kept(parser: Parser, token: Token) -> SnapshotNode:
    """``{% kept seat shared %}...{% endkept %}``: drawn once for each value of these."""
    key = [parser.compile_filter(part) for part in token.split_contents()[1:]]
    nodes = parser.parse(("endkept",))
    parser.delete_first_token()
    return SnapshotNode(nodes, key)


@register.simple_tag
def together(*values: Any) -> tuple[Any, ...]:
    """Several values as one, to keep drawings by."""
    return values


@register.simple_tag
@lru_cache(maxsize=50_000)
def path(name: str, *parts: Any) -> str:
    """The address of a view, as ``{% url %}`` has it; it never changes."""
    return reverse(name, args=parts)
