"""The drawn plan of a pit: its tables are dragged, or moved by the arrow keys, and saved as an entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from tables.log.entries.pits import FloorPlanDrawn
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.setup import floor_plans, pits
from tables.setup.floor_plans import HIGH, TABLE_HIGH, TABLE_WIDE, WIDE, Spot, Spots


@dataclass(frozen=True, slots=True)
class Placed:
    """A table on the plan."""

    key: int
    name: str
    left: int
    top: int


def urls(site: admin.AdminSite) -> list[Any]:
    """The address of the plans."""
    return [path("plan/", site.admin_view(plan), name="floor-plan")]


@require_http_methods(["GET", "POST"])
def plan(request: HttpRequest) -> HttpResponse:
    """The plan of a pit; sent, it is drawn anew."""
    viewer = request.user
    permission = "tables.view_pitsection" if request.method == "GET" else "tables.add_pitsection"
    if not isinstance(viewer, Staff) or not viewer.has_perm(permission):
        raise PermissionDenied
    names = list(dict.fromkeys(row.pit for row in pits.sections()))
    pit = request.GET.get("pit", "")
    pit = pit if pit in names else next(iter(names), "")
    keys = _keys(pit)
    drawn = floor_plans.newest(pit)
    spots = floor_plans.spots_of(drawn.spots if drawn else {}, list(keys))
    basis_seq, status = drawn.seq if drawn else 0, 200
    if request.method == "POST" and pit:
        spots |= _spots_of(request.POST, keys)
        try:
            event = FloorPlanDrawn(pit=pit, spots=spots)
            floor_plans.draw(event, basis_seq=_number(request.POST.get("seen", "")), by=viewer)
        except Refused as refused:
            messages.error(request, refused.sentence, extra_tags=refused.code)
            status = refused.status
        else:
            messages.success(request, f"The plan of {pit} is drawn.", extra_tags="plan_drawn")
            return redirect(f"{reverse('admin:floor-plan')}?{urlencode({'pit': pit})}")
    # One row more than its tables take, where they take more than usual, so that they can be put further apart.
    high = floor_plans.high_of(spots.values())
    high = min(high + TABLE_HIGH + 1, floor_plans.most_high(len(spots))) if high > HIGH else high
    context = {
        **admin.site.each_context(request),
        "title": f"Plan of {pit}" if pit else "Floor plans",
        "pit": pit,
        "pits": names,
        "placed": [Placed(keys[name], name, *spot) for name, spot in spots.items()],
        "seen": basis_seq,
        "may_draw": viewer.has_perm("tables.add_pitsection"),
        "wide": WIDE, "high": high, "table_wide": TABLE_WIDE, "table_high": TABLE_HIGH,
        "right": WIDE - TABLE_WIDE, "bottom": high - TABLE_HIGH,
            }  # fmt: skip
    return TemplateResponse(request, "tables/admin/floor_plan.html", context, status=status)


def _keys(pit: str) -> dict[str, int]:
    """The tables of a pit in their order, with their keys."""
    places = {name: place for name, place in pits.places().items() if place.pit == pit}
    keys = dict(Table.objects.in_use().filter(name__in=places).values_list("name", "pk"))
    return {name: keys[name] for name in sorted(keys, key=lambda name: places[name].order(name))}


def _spots_of(form: Mapping[str, str], keys: Mapping[str, int]) -> Spots:
    """Where each table was put; what is no place leaves it where it stood."""
    spots: Spots = {}
    for name, key in keys.items():
        spot: Spot = (_number(form.get(f"x-{key}", "")), _number(form.get(f"y-{key}", "")))
        if min(spot) >= 0:
            spots[name] = spot
    return spots


def _number(text: str) -> int:
    """A whole number as it is typed; -1 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else -1
