"""Dispute what-if: the worth of each possible ruling to every seat, at the disputed moment.

Nothing is written, and no order of a shoe is read: only cards that lay faceup on the table count as seen. Who rules
may look, and who audits; never a dealer or a player. The game's provider (`tables.maths.advantage.providers`) values a
moment and states its assumptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from tables.games.cards import Pack, pack_of
from tables.games.play import play
from tables.games.protocol import Bet
from tables.log.entries.disputes import OPENED, RULINGS, Dispute
from tables.log.state import Play, Round
from tables.maths.advantage import providers
from tables.maths.advantage.providers import MidroundProvider
from tables.maths.situation import Unknowable
from tables.models import Staff
from tables.state.round_history import RoundAsOf

Cents = Mapping[int, float]
"""For each seat that bet."""


@dataclass(frozen=True, slots=True)
class RulingWorth:
    """The worth of a ruling to a seat, in cents and as a multiple of its bet."""

    seat: int
    bet_cents: int
    cents: float

    @property
    def bets(self) -> float:
        return self.cents / self.bet_cents


@dataclass(frozen=True, slots=True)
class Ruling:
    """A ruling that the pit may make, and its worth to each seat."""

    name: str
    called: str
    seats: tuple[RulingWorth, ...]
    exact: bool
    """Whether this is the amount that would be paid, not a mean over cards to come."""

    @property
    def total_cents(self) -> float:
        """The worth to all seats together; the casino has the opposite."""
        return sum(seat.cents for seat in self.seats)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Every ruling at one moment, and the moments that there are."""

    rulings: tuple[Ruling, ...]
    before: int
    """The entry before which the round would be taken back."""
    moments: tuple[Play, ...]
    pack: Pack
    """The pack of the moments' cards."""
    assumes: str
    """The assumptions behind the numbers, in a sentence."""

    @property
    def most_cents(self) -> float:
        """The largest absolute total, which scales the bars."""
        return max((abs(ruling.total_cents) for ruling in self.rulings), default=0) or 1.0


def may_see(viewer: Staff) -> bool:
    """Whether a user may see rulings: users who rule on disputes and auditors; never a dealer."""
    return viewer.has_perm("tables.watch_worth")


def what_if(round_: RoundAsOf, dispute: Dispute, before: int | None = None) -> WhatIf | None:
    """The worth of each permitted ruling on a disputed round.

    None if there are no correct numbers: for a game without a valuation, before there is a bet, or for a shoe that is
    impossible or may run out. The round is evaluated before the entry `before`, or before the last choice of the seat
    concerned.
    """
    current = round_.round
    values = providers.midround_provider(current.game.name)
    if values is None or dispute.state != OPENED:
        return None
    moments = tuple(entry for entry in current.plays if _is_moment(entry))
    if not moments:
        return None
    moment = next((entry for entry in moments if entry.seq == before), None) or _latest_about(moments, dispute.seat)
    try:
        rulings = _rulings(round_, dispute, moment, values)
        return WhatIf(rulings, moment.seq, moments, pack_of(current.opening.dealt), values.ASSUMES)
    except Unknowable:
        return None


def _is_moment(entry: Play) -> bool:
    """Whether something was dealt or chosen in it: bets are disputed by their amounts."""
    return entry.has_card or any(hasattr(action, "choice") for action in entry.actions)


def _latest_about(moments: tuple[Play, ...], seat: int) -> Play:
    """The last input about a seat; the last input of all if there is none."""
    of_the_seat = [entry for entry in moments if seat and any(_seat_of(action) == seat for action in entry.actions)]
    return (of_the_seat or list(moments))[-1]


def _seat_of(action: object) -> int | None:
    return getattr(action, "seat", getattr(action, "to", None))


def _rulings(round_: RoundAsOf, dispute: Dispute, moment: Play, values: MidroundProvider) -> tuple[Ruling, ...]:
    """The rulings in order: as it stands, back, and those about money once the round is over."""
    worths = values.midround(round_.round.state)
    back, bets = values.midround(_state_before(round_, moment)), _bets(round_.round, worths)
    rulings = [
        _ruling("stands", RULINGS["stands"] if round_.over else "Play goes on", bets, worths, exact=round_.over),
        _ruling("back", f"Back to before entry {moment.seq}, and on from there", bets, back, exact=False),
    ]
    if not round_.over:
        return tuple(rulings)
    for name, sign in (("player", 1), ("house", -1)):
        if dispute.seat in worths and dispute.claim_cents:
            outcome = {**worths, dispute.seat: worths[dispute.seat] + sign * dispute.claim_cents}
            rulings.append(_ruling(name, f"{RULINGS[name]}, by what is at stake", bets, outcome, exact=True))
    rulings.append(_ruling("void", RULINGS["void"], bets, dict.fromkeys(worths, 0.0), exact=True))
    return tuple(rulings)


def _ruling(name: str, called: str, bets: Mapping[int, int], cents: Cents, *, exact: bool) -> Ruling:
    return Ruling(name, called, tuple(RulingWorth(seat, bets[seat], cents[seat]) for seat in sorted(cents)), exact)


def _bets(current: Round, seats: Cents) -> dict[int, int]:
    """Each seat's bets before the first card, in cents."""
    placed: dict[tuple[int, str], int] = {}
    for entry in current.plays:
        placed |= {(bet.seat, bet.wager): bet.amount_cents for bet in entry.actions if isinstance(bet, Bet)}
    return {seat: sum(cents for (bettor, _), cents in placed.items() if bettor == seat) for seat in seats}


def _state_before(round_: RoundAsOf, moment: Play) -> Any:
    """The state of the round before this input."""
    current = round_.round
    actions = [action for entry in current.plays if entry.seq < moment.seq for action in entry.actions]
    start = current.game.open(current.rules, current.opening)
    return reduce(lambda state, action: play(current.game, state, action), actions, start)
