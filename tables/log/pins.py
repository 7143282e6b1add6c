"""What the first entry of a round has to pin: on the floor, in the house's proof, and in an outsider's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs, to_builtins

from tables.games.catalog import GAMES
from tables.games.game import Game
from tables.games.protocol import Illegal
from tables.log.digest import dealt_by, rules_version
from tables.log.entries.rounds import Pinned
from tables.log.event import AuditFailure
from tables.log.game_kinds import kind_of
from tables.log.state import Round, TableState
from tables.log.terms import Set

Starter = Callable[[Sequence[int]], int]
"""Which of the seats starts; asked where the game leaves that to chance."""


def opened(
    table: Set,
    standing: TableState,
    seats: Sequence[int],
    starter: Starter,
    *,
    seq: int = 0,
    game: Game[Any, Any] | None = None,
) -> tuple[Round, Pinned]:
    """The round that an entry opens at a table so set and standing, and what it pins. ``game``: by former rules."""
    game = game or GAMES[table.game]
    kind, shoe = kind_of(game), standing.shoe.number if standing.shoe else 0
    rules, opening = kind.opening(table, standing, tuple(seats))
    chips, version = kind.chips(table, standing), rules_version(game)
    pinned = Pinned(game.name, to_builtins(rules), opening, shoe, version=version, **chips)
    try:
        return pinned.begin(standing.next_number, seq), pinned
    except Illegal as illegal:
        if illegal.code != "first_required":
            raise
    started = structs.replace(pinned, opening=structs.replace(opening, first=starter(opening.seats)))
    return started.begin(standing.next_number, seq), started


def due(table: Set, standing: TableState, pinned: Pinned) -> Pinned:
    """What an entry should have pinned, where it pins this: who started, and who was dealt in, it alone can tell."""

    def starter(seats: Sequence[int]) -> int:
        first = pinned.opening.first
        if first is None or first not in seats:
            raise AuditFailure(f"seat {first} starts, which is not in the game")
        return first

    game = dealt_by(table.game, pinned.version)
    last = standing.round
    if game and last and last.game.name == game.name and last.game.version > game.version:
        raise AuditFailure(f"version {game.version} of the rules follows version {last.game.version}")
    _, expected = opened(table, standing, pinned.opening.seats, starter, game=game)
    return structs.replace(expected, version=None) if _is_of_before(standing, pinned) else expected


def _is_of_before(standing: TableState, pinned: Pinned) -> bool:
    """Whether a round was opened before rules were pinned: once they were at a table, they always are."""
    last = standing.round
    return pinned.version is None and (last is None or last.version is None)
