"""Restrictions on the logs of non-tracked tables, and entries that only such tables write. Every verification checks
them. Pure."""

from __future__ import annotations

from typing import Final

from tables.games.catalog import GAMES
from tables.log.entries.chips import ChipsSold
from tables.log.entries.slips import SlipSigned
from tables.log.event import AuditFailure, Event
from tables.log.game_kinds import kind_of
from tables.log.settlement import came_back_cents
from tables.log.state import TableState
from tables.log.terms import Settings

_OF_ROUNDS: Final = frozenset({"round", "seats", "commission"})
"""The subjects of entries that only tracked tables write."""


def is_so(settings: Settings) -> bool:
    """Whether a table with these settings is non-tracked."""
    game = GAMES.get(settings.game)
    return game is not None and kind_of(game).is_by_count


def refuse(event: Event, settings: Settings, rack_cents: int | None) -> None:
    """Verify that a table with these settings may write an entry. ``rack_cents``: the rack's balance by the transfers,
    if known. Raises AuditFailure.

    A forged win would hide a shortage at a tracked table, and a win recorded as a shortage would be missing from the
    figures of the day.
    """
    is_by_count = is_so(settings)
    match event:
        case SlipSigned() if len(event.after.signed) == 1:
            count = event.after.series.count
            if event.after.tells_win is not (is_by_count and count is not None and count.won is not None):
                raise AuditFailure("its count tells a win, and rounds do" if event.after.tells_win else _NO_WIN)
        case ChipsSold() if event.came_back_cents and not is_by_count:
            raise AuditFailure("chips came back unseen to a rack of which every round is known")
        case ChipsSold() if is_by_count and rack_cents is not None:
            if event.came_back_cents != came_back_cents(event.amount_cents, rack_cents):
                raise AuditFailure(f"it says that {event.came_back_cents} came back to a rack that held {rack_cents}")
    if is_by_count and event.subject in _OF_ROUNDS:
        raise AuditFailure(f"it is about a {event.subject}, at a table where none are dealt")


_NO_WIN: Final = "its count tells no win, at a table whose win is known by counts alone"


def refuse_change(before: TableState, settings: Settings | None, after: Settings | None) -> None:
    """Verify that an open table does not change between tracked and non-tracked games. Raises AuditFailure."""
    if settings is None or after is None or not before.is_open:
        return
    if is_so(settings) is not is_so(after):
        raise AuditFailure("it sets an open table to a game whose win is known in another way")
