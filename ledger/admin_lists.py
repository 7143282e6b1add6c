"""Admin lists that accept only the filters that they declare.

Django lets a user who may open a list filter it by any column, displayed or not. The number of results then reveals the
column one character at a time: a PIN's hash, a terminal's token, the order of a shoe.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.http import HttpRequest
from unfold.admin import ModelAdmin


class ClosedList(ModelAdmin):
    """The base class of all admin lists. Only its declared filters and date hierarchy are accepted."""

    lookups: ClassVar[tuple[str, ...]] = ()
    """Further permitted lookups, each in full: ``seq``, ``seq__gte``."""

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup in {*self.lookups, *self._filters(request), *self._dates()}

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        """Only the primary key selects rows: a unique column, such as a digest, would reveal which row has it."""
        return bool(to_field == self.opts.pk.name)

    def _filters(self, request: HttpRequest) -> Iterator[str]:
        """The query parameters of the declared filters: those that Django derives from a field, and those that a filter
        class names."""
        for declared in self.get_list_filter(request):
            if isinstance(declared, str):
                yield from (declared, f"{declared}__exact", f"{declared}__id__exact", f"{declared}__isnull")
            else:
                yield declared.parameter_name

    def _dates(self) -> Iterator[str]:
        if self.date_hierarchy:
            yield from (f"{self.date_hierarchy}__{part}" for part in ("year", "month", "day"))
