"""The kinds of entry that are exceptions, with their categories, derived from the records of the kinds and the steps of
slips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from tables.log.catalog import EVENTS
from tables.log.exception_categories import ExceptionCategory
from tables.log.slip_types import SLIPS

Name = tuple[bool, str, str]
"""Whether it is in the log of the site, its subject, its kind."""


def _kinds() -> Iterator[tuple[Name, ExceptionCategory | None]]:
    for event in EVENTS:
        if isinstance(event.record.exception, ExceptionCategory):
            for kind in event.kinds:
                yield (event.of_the_house, event.subject, kind), event.record.exception
    for series in SLIPS.values():
        for kind, stage, _ in series.kinds():
            yield (series.in_house, series.subject, kind), stage.exception


KINDS: Final[Mapping[Name, ExceptionCategory]] = MappingProxyType(
    {name: category for name, category in _kinds() if category is not None}
)
"""The kinds of entry that are exceptions."""
