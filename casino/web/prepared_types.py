"""Builds msgspec's decoders for all types before a web process answers its first request.

msgspec prepares a type when it is first decoded, and other threads can see it half prepared: one that uses it then
crashes the whole process (a segmentation fault, seen when a thousand screens reconnected at once). So all of them are
prepared while there is a single thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from django.urls import URLPattern, URLResolver, get_resolver

from tables.log.terms import Settings
from tables.reports.figures import Late

OTHER_TYPES: Final = (Settings, Late)
"""Decoded types that are neither a Struct nor part of one."""


def prepare() -> int:
    """Prepare every type that the routes' modules declare; returns their number."""
    _load_routes(get_resolver().url_patterns)
    types = [*OTHER_TYPES, *structs()]
    for kind in types:
        msgspec.json.Decoder(kind)
    return len(types)


def structs(base: type[Any] = msgspec.Struct) -> Iterator[type[Any]]:
    """Every Struct that this project's loaded modules declare."""
    for kind in base.__subclasses__():
        if kind.__module__.partition(".")[0] in ("casino", "dealer_ui", "ledger", "tables"):
            yield kind
        yield from structs(kind)


def _load_routes(patterns: Sequence[URLPattern | URLResolver]) -> None:
    """Import the modules behind the routes. Django would do so at the first request, when there are threads."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            _load_routes(pattern.url_patterns)
