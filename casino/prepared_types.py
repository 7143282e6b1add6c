"""The types that entries and requests are read by, made ready before a web process answers anything.

msgspec makes a type ready when it is read by for the first time, and shows a half-made one to other threads meanwhile:
one that reads by it then ends the whole process (a segmentation fault, seen as a thousand screens came back at once).
So all are made ready while there is one thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from django.urls import URLPattern, URLResolver, get_resolver

from tables.day.figures import Late
from tables.log.terms import Settings

BESIDE: Final = (Settings, Late)
"""What is read by and is no Struct, nor part of one."""


def prepare() -> int:
    """Make every type ready that is known once all routes are; how many."""
    _know_routes(get_resolver().url_patterns)
    types = [*BESIDE, *structs()]
    for kind in types:
        msgspec.json.Decoder(kind)
    return len(types)


def structs(base: type[Any] = msgspec.Struct) -> Iterator[type[Any]]:
    """Every form of data that the modules of this process declare."""
    for kind in base.__subclasses__():
        if kind.__module__.partition(".")[0] in ("casino", "dealer_ui", "ledger", "tables"):
            yield kind
        yield from structs(kind)


def _know_routes(patterns: Sequence[URLPattern | URLResolver]) -> None:
    """Import what the routes lead to; Django does so at the first request, when there are threads."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            _know_routes(pattern.url_patterns)
