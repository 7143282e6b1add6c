"""Lists of the admin that answer the questions declared for them, and no other.

Django lets whoever may open a list filter it by any column of its rows, shown or not. The length of the answer then
tells the column, one letter at a time: a PIN's hash, a terminal's token, the order of a shoe.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.http import HttpRequest
from unfold.admin import ModelAdmin


class ClosedList(ModelAdmin):
    """What every list of the house is made from. Its filters and its dates are all that it can be asked for."""

    lookups: ClassVar[tuple[str, ...]] = ()
    """Further questions, each spelt out: ``seq``, ``seq__gte``."""

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        return lookup in {*self.lookups, *self._filters(request), *self._dates()}

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        """Rows are chosen by their keys: a unique column, such as a digest, would tell who has it."""
        return bool(to_field == self.opts.pk.name)

    def _filters(self, request: HttpRequest) -> Iterator[str]:
        """The parameters that Django's own filters make of a field, and those that ours name."""
        for declared in self.get_list_filter(request):
            if isinstance(declared, str):
                yield from (declared, f"{declared}__exact", f"{declared}__id__exact", f"{declared}__isnull")
            else:
                yield declared.parameter_name

    def _dates(self) -> Iterator[str]:
        if self.date_hierarchy:
            yield from (f"{self.date_hierarchy}__{part}" for part in ("year", "month", "day"))
