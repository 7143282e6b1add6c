"""The display over a table: the road maps of its shoe. The page fetches itself anew every few seconds."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from dealer_ui.guards import watches
from dealer_ui.templatetags.roads import BACCARAT, DRAGON_TIGER, Display, PostedLimit
from tables.board.shoe_hands import HAS_ROADS, hands_of_shoe
from tables.models import Table
from tables.state import table_state as standings

_GAMES = {"baccarat": BACCARAT, "dragon_tiger": DRAGON_TIGER}
_SECONDS = "5"


@watches
@require_GET
def display(request: HttpRequest, pk: int) -> HttpResponse:
    """The roads of the shoe on the table."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    if table.game not in HAS_ROADS:
        raise Http404("The game of this table has no road maps.")
    state = standings.at(standings.head_of(table))
    hands = hands_of_shoe(table.book_id, state)
    limits = (PostedLimit("A wager", table.min_cents, table.max_cents),)
    shown = Display(table.name, _GAMES[table.game], state.shoe.number if state.shoe else 0, hands, limits)
    answer = render(request, "dealer_ui/display/roads.html", {"display": shown})
    answer["Refresh"] = _SECONDS
    return answer
