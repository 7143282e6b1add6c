"""Rounds: opened, settled with what became of each seat, opened again, void. Never a card or a choice."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from ledger.proof.chain import Entry
from ledger.proof.spelling import timestamp
from tables.log.published.form import FeedEvent, RoundHistory


class RoundOpened(FeedEvent, frozen=True, kw_only=True):
    """A round began with its first bet; a game for a pot with its start."""

    type: ClassVar[str] = "round.opened"

    round: int
    game: str
    shoe: int
    """The number of the shoe."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> RoundOpened | None:
        """The published event; None for a round that begins and ends with one entry, whose end is published instead."""
        if event.opening is None or event.ends_round:
            return None
        return cls(round=entry.round or 0, game=event.opening.game, shoe=event.opening.shoe)


class SeatResult(msgspec.Struct, frozen=True):
    """What became of one seat."""

    seat: int
    staked_cents: int
    returned_cents: int
    """What went back to the player, with the stake; commission that is marked is not taken off."""
    outcome: str


class RoundSettled(FeedEvent, frozen=True, kw_only=True):
    """A round ended, and this is what became of it. It stands until the round is opened again or corrected."""

    type: ClassVar[str] = "round.settled"
    needs_past: ClassVar[bool] = True

    round: int
    game: str
    opened_at: str
    seats: tuple[SeatResult, ...]
    house_net_cents: int
    """What the house won of the seats, or raked from the pot; below zero what it paid."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> RoundSettled | None:
        if not event.ends_round:
            return None
        current = past.round()
        return cls(
            round=current.number,
            game=current.game.name,
            opened_at=timestamp(past.begun_at),
            seats=tuple(
                SeatResult(payout.seat, payout.staked_cents, payout.returned_cents, payout.outcome)
                for payout in sorted(current.settled, key=lambda payout: payout.seat)
            ),
            house_net_cents=current.house_net_cents,
        )


class RoundReopened(FeedEvent, frozen=True, kw_only=True):
    """What had settled a round was taken back: its result does not count, and another follows."""

    type: ClassVar[str] = "round.reopened"
    needs_past: ClassVar[bool] = True

    round: int
    corrects: int
    """The entry that does not count."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> RoundReopened | None:
        """The event of an undo that removes the round's result; None for an undo before the round has a result."""
        play = past.event(event.corrects)
        if event.seat is not None or not getattr(play, "ends_round", False):
            return None
        return cls(round=entry.round or 0, corrects=event.corrects)


class RoundVoided(FeedEvent, frozen=True, kw_only=True):
    """A round ended without a result: all bets went back."""

    type: ClassVar[str] = "round.voided"

    round: int
    reason: str

    @classmethod
    def of(cls, entry: Entry, event: Any, past: RoundHistory) -> RoundVoided:
        return cls(round=entry.round or 0, reason=event.reason)
