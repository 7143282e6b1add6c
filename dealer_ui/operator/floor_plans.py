"""The editor of a pit's floor plan: tables are dragged or moved by the arrow keys, and saved as one log entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from dealer_ui.guards import viewer_of
from dealer_ui.operator.pages import OperatorPage
from tables.form_fields import WholeNumberField
from tables.log.entries.pits import FloorPlanDrawn
from tables.models import Table
from tables.refusals import Refused
from tables.setup import floor_plans, pits
from tables.setup.floor_plans import HIGH, TABLE_HIGH, TABLE_WIDE, WIDE, Spots


class FloorPlanForm(forms.Form):
    """The position of each table of a pit, and the entry of the plan that its editor saw."""

    seen = WholeNumberField()

    def __init__(self, keys: Mapping[str, int], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._keys = keys
        self.fields |= {f"{axis}-{key}": WholeNumberField() for key in keys.values() for axis in "xy"}

    def spots(self) -> Spots:
        """The positions of those tables whose two numbers are valid."""
        self.full_clean()
        typed = self.cleaned_data
        pairs = {name: (typed.get(f"x-{key}"), typed.get(f"y-{key}")) for name, key in self._keys.items()}
        return {name: (x, y) for name, (x, y) in pairs.items() if x is not None and y is not None}


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table on the plan."""

    key: int
    name: str
    left: int
    top: int


class FloorPlanPage(OperatorPage):
    """The plan of one pit, and its editor for those who may change it."""

    template_name = "dealer_ui/operator/floor_plan.html"

    def get_permission_required(self) -> tuple[str, ...]:
        return ("tables.add_pitsection" if self.request.method == "POST" else "tables.view_pitsection",)

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Read the pit that the address names, or the first one, and its plan."""
        super().setup(request, *args, **kwargs)
        self.pits = list(dict.fromkeys(row.pit for row in pits.sections()))
        pit = request.GET.get("pit", "")
        self.pit = pit if pit in self.pits else next(iter(self.pits), "")
        self.keys, self.drawn = _keys(self.pit), floor_plans.newest(self.pit)
        self.spots = floor_plans.spots_of(self.drawn.spots if self.drawn else {}, list(self.keys))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Save the plan as it was sent."""
        if not self.pit:
            return self.get(request)
        form = FloorPlanForm(self.keys, request.POST)
        self.spots |= form.spots()
        try:
            event = FloorPlanDrawn(pit=self.pit, spots=self.spots)
            floor_plans.draw(event, basis_seq=form.cleaned_data.get("seen", -1), by=viewer_of(request))
        except Refused as refused:
            messages.error(request, refused.sentence, extra_tags=refused.code)
            return self.page(status=refused.status)
        messages.success(request, f"The plan of {self.pit} is drawn.", extra_tags="plan_drawn")
        return redirect(f"{reverse('floor-plan')}?{urlencode({'pit': self.pit})}")

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        # One row more than its tables take, where they take more than usual, so that they can be put further apart.
        high = floor_plans.high_of(self.spots.values())
        high = min(high + TABLE_HIGH + 1, floor_plans.most_high(len(self.spots))) if high > HIGH else high
        return super().get_context_data(
            title=f"Plan of {self.pit}" if self.pit else "Floor plans", pit=self.pit, pits=self.pits,
            placed=[PlacedTable(self.keys[name], name, *spot) for name, spot in self.spots.items()],
            seen=self.drawn.seq if self.drawn else 0, may_draw=self.request.user.has_perm("tables.add_pitsection"),
            wide=WIDE, high=high, table_wide=TABLE_WIDE, table_high=TABLE_HIGH,
            right=WIDE - TABLE_WIDE, bottom=high - TABLE_HIGH, **context,
        )  # fmt: skip


def _keys(pit: str) -> dict[str, int]:
    """The primary keys of a pit's tables by name, in the order of the pit."""
    places = {name: place for name, place in pits.places().items() if place.pit == pit}
    keys = dict(Table.objects.filter(name__in=places, retired_at=None).values_list("name", "pk"))
    return {name: keys[name] for name in sorted(keys, key=lambda name: places[name].order(name))}
