"""Rounds: opened, settled with what became of each seat, opened again, void. Never a card or a choice."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from ledger.proof.chain import Entry
from ledger.proof.spelling import timestamp
from tables.log import catalog
from tables.log.entries.rounds import Played, TakenBack, Voided
from tables.log.publication import FeedEvent, Past, publishes
from tables.log.state import Round, TableState


@publishes(Played)
class RoundOpened(FeedEvent, frozen=True, kw_only=True):
    """A round began with its first bet; a game for a pot with its start."""

    type: ClassVar[str] = "round.opened"

    round: int
    game: str
    shoe: int
    """The number of the shoe."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: Past) -> RoundOpened | None:
        """A round that begins and ends with one entry is told by its end."""
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


@publishes(Played)
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
    def of(cls, entry: Entry, event: Any, past: Past) -> RoundSettled | None:
        if not event.ends_round:
            return None
        current = _replayed(past)
        return cls(
            round=current.number,
            game=current.game.name,
            opened_at=timestamp(past[0].heading.at),
            seats=tuple(
                SeatResult(payout.seat, payout.staked_cents, payout.returned_cents, payout.outcome)
                for payout in sorted(current.settled, key=lambda payout: payout.seat)
            ),
            house_net_cents=current.house_net_cents,
        )


@publishes(TakenBack)
class RoundReopened(FeedEvent, frozen=True, kw_only=True):
    """What had settled a round was taken back: its result does not count, and another follows."""

    type: ClassVar[str] = "round.reopened"
    needs_past: ClassVar[bool] = True

    round: int
    corrects: int
    """The entry that does not count."""

    @classmethod
    def of(cls, entry: Entry, event: Any, past: Past) -> RoundReopened | None:
        """Of what is taken back before the round has a result, nothing is told."""
        corrected = next((earlier for earlier in past if earlier.seq == event.corrects), None)
        play = catalog.event_of(corrected) if corrected is not None else None
        if event.seat is not None or not isinstance(play, Played) or not play.ends_round:
            return None
        return cls(round=entry.round or 0, corrects=event.corrects)


@publishes(Voided)
class RoundVoided(FeedEvent, frozen=True, kw_only=True):
    """A round ended without a result: all bets went back."""

    type: ClassVar[str] = "round.voided"

    round: int
    reason: str

    @classmethod
    def of(cls, entry: Entry, event: Any, past: Past) -> RoundVoided:
        return cls(round=entry.round or 0, reason=event.reason)


def _replayed(past: Past) -> Round:
    standing = TableState()
    for entry in past:
        standing = catalog.follow(standing, entry)
    assert standing.round is not None  # noqa: S101 -- its first entry opens it
    return standing.round
