"""How many chips players may hold: what the ledger says, and what open tables without rounds may have lost to them.

Such a table's win is known by its counts. Until its rack is counted again, what the ledger has in it may be gone.
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
    """The most that players can have of the house's chips now."""
    return cage.held_by_players() + uncounted_cents()


def uncounted_cents() -> int:
    """What lies in the racks of open tables without rounds, as the ledger has it: some of it may be gone."""
    tables = list(Table.objects.filter(game__in=_BY_COUNT, retired_at=None).select_related("book"))
    standings = table_state.at_all([head_of(table) for table in tables])
    books = [book for book, state in standings.items() if state.is_open]
    net = cage.net_effect(books)
    accounts = Account.objects.filter(book__in=books, place=RACK).values_list("pk", flat=True)
    return sum(max(net.get(account, 0), 0) for account in accounts)
