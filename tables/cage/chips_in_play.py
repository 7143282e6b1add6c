"""An upper bound of chips held by players: the ledger's figure and the racks of open non-tracked tables.

The win of a non-tracked table is known only by counts. Until the next count, chips in its rack by the ledger may have
gone to players.
"""

from __future__ import annotations

from ledger import cage
from ledger.models import Account
from ledger.proof.chips import RACK
from tables.games.catalog import GAMES
from tables.log.game_kinds import kind_of
from tables.models import Table
from tables.state import table_state
from tables.state.table_state import head_of

_BY_COUNT = [name for name, game in GAMES.items() if kind_of(game).is_by_count]


def most_with_players_cents() -> int:
    """The most that players can hold at present, in cents."""
    return cage.held_by_players() + uncounted_cents()


def uncounted_cents() -> int:
    """The ledger balance of the racks of open non-tracked tables, in cents: chips that players may have won."""
    tables = list(Table.objects.in_use().filter(game__in=_BY_COUNT).select_related("book"))
    standings = table_state.at_all([head_of(table) for table in tables])
    books = [book for book, state in standings.items() if state.is_open]
    net = cage.net_effect(books)
    accounts = Account.objects.filter(book__in=books, place=RACK).values_list("pk", flat=True)
    return sum(max(net.get(account, 0), 0) for account in accounts)
