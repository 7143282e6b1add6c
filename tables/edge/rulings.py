"""Dispute what-if: what each ruling that is open to the pit is worth to every seat, at the moment that is disputed.

Nothing is written, and no order of a shoe is read: only cards that lay faceup on the table count as seen. Who rules
may look, and who audits; never a dealer or a player.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from tables.games.play import play
from tables.games.rocket import State
from tables.log.entries.disputes import OPENED, RULINGS, Dispute
from tables.log.fold import Play
from tables.maths.midround import worth
from tables.maths.situation import Unknowable
from tables.models import Staff
from tables.past import Past

Cents = tuple[float, ...]
"""For each seat that bet, in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What a ruling is worth to a seat, in cents and as a part of its bet."""

    seat: int
    bet_cents: int
    cents: float

    @property
    def bets(self) -> float:
        return self.cents / self.bet_cents


@dataclass(frozen=True, slots=True)
class Ruling:
    """A ruling that is open to the pit, and what it is worth to each seat."""

    name: str
    called: str
    seats: tuple[Worth, ...]
    exact: bool
    """Whether this is what would change hands, and not a mean over cards to come."""

    @property
    def total_cents(self) -> float:
        """To all seats together; the house has the opposite."""
        return sum(seat.cents for seat in self.seats)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Every ruling at one moment, and the moments that there are."""

    rulings: tuple[Ruling, ...]
    before: int
    """The entry before which the round would be taken back."""
    moments: tuple[Play, ...]

    @property
    def most_cents(self) -> float:
        """The largest of the totals, without its sign; what a bar is measured by."""
        return max((abs(ruling.total_cents) for ruling in self.rulings), default=0) or 1.0


def may_see(viewer: Staff) -> bool:
    """Those who rule and those who audit; never a dealer."""
    return viewer.has_perm("tables.watch_worth")


def what_if(round_: Past, dispute: Dispute, before: int | None = None) -> WhatIf | None:
    """What each permitted ruling is worth; None where no exact numbers are had: for other games than Rocket, before
    there is a bet, or for a shoe that cannot be. The round is taken back to before ``before``, else to before the last
    choice of the seat that it is about."""
    current = round_.round
    if current.game.name != "rocket" or dispute.state != OPENED:
        return None
    moments = tuple(entry for entry in current.plays if _is_moment(entry))
    if not moments:
        return None
    moment = next((entry for entry in moments if entry.seq == before), None) or _latest_about(moments, dispute.seat)
    try:
        return WhatIf(_rulings(round_, dispute, moment), moment.seq, moments)
    except Unknowable:
        return None


def _is_moment(entry: Play) -> bool:
    """Whether something was dealt or chosen in it: bets are disputed by their amounts."""
    return entry.has_card or any(hasattr(action, "choice") for action in entry.actions)


def _latest_about(moments: tuple[Play, ...], seat: int) -> Play:
    """The last input about a seat; the last of all where there is none."""
    of_the_seat = [entry for entry in moments if seat and any(_seat_of(action) == seat for action in entry.actions)]
    return (of_the_seat or list(moments))[-1]


def _seat_of(action: object) -> int | None:
    return getattr(action, "seat", getattr(action, "to", None))


def _rulings(round_: Past, dispute: Dispute, moment: Play) -> tuple[Ruling, ...]:
    """In the order in which they are thought of: as it stands, back, and those about money once the round is over."""
    state: State = round_.round.state
    stands = _cents(state)
    back = _cents(_state_before(round_, moment))
    rulings = [
        _ruling("stands", RULINGS["stands"] if round_.over else "Play goes on", state, stands, exact=round_.over),
        _ruling("back", f"Back to before entry {moment.seq}, and on from there", state, back, exact=False),
    ]
    if not round_.over:
        return tuple(rulings)
    for name, sign in (("player", 1), ("house", -1)):
        if dispute.seat in state.seats and dispute.claim_cents:
            outcome = tuple(
                cents + sign * dispute.claim_cents * (seat == dispute.seat)
                for seat, cents in zip(state.seats, stands, strict=True)
            )
            rulings.append(_ruling(name, f"{RULINGS[name]}, by what is at stake", state, outcome, exact=True))
    rulings.append(_ruling("void", RULINGS["void"], state, (0.0,) * len(state.seats), exact=True))
    return tuple(rulings)


def _ruling(name: str, called: str, state: State, cents: Cents, *, exact: bool) -> Ruling:
    seats = zip(state.seats, state.bets, cents, strict=True)
    return Ruling(name, called, tuple(Worth(*seat) for seat in seats), exact)


def _state_before(round_: Past, moment: Play) -> State:
    """The round as it stood when this input was entered."""
    current = round_.round
    actions = [action for entry in current.plays if entry.seq < moment.seq for action in entry.actions]
    start: State = current.game.open(current.rules, current.opening)
    return reduce(lambda state, action: play(current.game, state, action), actions, start)


def _cents(state: State) -> Cents:
    """What each seat can expect, in cents: the exact values are in tenths of its bet."""
    tenths = worth(state)
    return tuple(tenths[seat] * bet / 10 for seat, bet in zip(state.seats, state.bets, strict=True))
