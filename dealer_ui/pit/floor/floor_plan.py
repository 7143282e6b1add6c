"""The floor as it is drawn: each pit's tables where they stand, with their state in shape and word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dealer_ui.guards import watches
from dealer_ui.pit.floor.cards import Seen, seen
from tables.models import FloorPlan, Staff
from tables.setup import floor_plans
from tables.setup.floor_plans import TABLE_HIGH, TABLE_WIDE, WIDE
from tables.setup.pits import natural

NO_PIT: Final = "No pit"
LONGEST: Final = 18
"""Maximum number of letters shown of a table on the plan."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A table on the plan."""

    card: Seen
    left: int
    top: int

    @property
    def word(self) -> str:
        """Its most urgent task, or else its state."""
        return self.card.need.says if self.card.need else self.card.state


@dataclass(frozen=True, slots=True)
class DrawnPit:
    """A pit as it is drawn."""

    pit: str
    placed: list[Placed]

    @property
    def high(self) -> int:
        """The height in grid steps, from its top edge to its lowest table. Empty steps below are not shown."""
        return max(placed.top for placed in self.placed) + TABLE_HIGH


@watches
@require_GET
def plan(request: HttpRequest) -> HttpResponse:
    """The plans of all pits, or of one."""
    viewer = request.user
    assert isinstance(viewer, Staff)  # noqa: S101 -- the view is behind sign-in
    plans = _plans(seen(viewer))
    names = [drawn.pit for drawn in plans]
    chosen = request.GET.get("pit", "")
    shown = [drawn for drawn in plans if drawn.pit == chosen] or plans
    size = {"wide": WIDE, "table_wide": TABLE_WIDE, "table_high": TABLE_HIGH}
    context = {"plans": shown, "names": names, "chosen": chosen if chosen in names else "", **size}
    return render(request, "dealer_ui/pit/plan.html", context)


def _plans(cards: list[Seen]) -> list[DrawnPit]:
    """Pit by pit, in the same queries however many there are."""
    plans = {row.pit: row.spots for row in FloorPlan.objects.order_by("seq")}
    by_pit: dict[str, list[Seen]] = {}
    for card in sorted(cards, key=lambda card: card.place.order(card.table.name)):
        by_pit.setdefault(card.place.pit or NO_PIT, []).append(card)
    return [DrawnPit(pit, _placed(plans.get(pit, {}), by_pit[pit])) for pit in sorted(by_pit, key=_order)]


def _order(pit: str) -> tuple[bool, object]:
    return pit == NO_PIT, natural(pit)


def _placed(plan: dict[str, list[int]], cards: list[Seen]) -> list[Placed]:
    spots = floor_plans.spots_of(plan, [card.table.name for card in cards])
    return [Placed(card, *spots[card.table.name]) for card in cards]
