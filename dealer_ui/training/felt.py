"""What lies on the practice felt, and nothing that is asked: no total, no outcome of a wager that is not paid yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tables.board.picture import HandBox, SeatBox, SpotBox
from tables.board.words import OutcomeLine
from tables.games.cards import UNKNOWN, pack_of
from tables.games.felt import DEALER, PLACE_NAMES, Settled
from tables.games.house_script import HandSeen, SpotSeen, State
from tables.training.providers import provider
from tables.training.questions import Course, Question, Wagered

_PLACES = {name: place for place, name in PLACE_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Spot:
    """One seat of a game in which it has one bet and one stack."""

    seat: int
    bet_cents: int
    stack: tuple[int, ...]
    is_out: bool
    is_now: bool


def spots(due: Question) -> list[Spot]:
    """The seats that bet, as they lie."""
    state = due.state
    stacks = state.stacks or ((),) * len(state.seats)
    seats = zip(state.seats, state.bets, stacks, strict=True)
    return [Spot(seat, bet, stack, seat in due.settled, seat == due.seat) for seat, bet, stack in seats if bet]


@dataclass(frozen=True, slots=True)
class Seat:
    """One seat with its wagers and hands, as the dealer's own screen draws it."""

    box: SeatBox
    paid: bool
    paying: bool
    walked: bool = True
    again: None = None


@dataclass(frozen=True, slots=True)
class Board:
    """What the dealer's templates read of a table."""

    hands: tuple[HandBox, ...]
    due: str = "card"
    shoe: None = None


@dataclass(frozen=True, slots=True)
class Screen:
    """The felt of a game whose wagers and hands lie apart, as the dealer's templates draw it."""

    board: Board
    seats: tuple[Seat, ...]
    fresh: frozenset[int] = frozenset()
    hands: tuple[()] = field(default=())


def screen(course: Course, due: Question) -> Screen:
    """The felt of a question."""
    state: State = due.state
    titles = {wager.name: wager.title for wager in provider(course.game).game.wagers(state.rules)}
    hands = tuple(_hand(state, hand, _PLACES.get(hand.name, DEALER)) for hand in state.hands)
    return Screen(Board(hands), tuple(_seat(state, spot, due, titles) for spot in state.spots))


def _seat(state: State, spot: SpotSeen, due: Question, titles: dict[str, str]) -> Seat:
    left = [wager for wager in spot.wagers if Wagered(spot.seat, wager.bet, wager.hand) not in due.paid]
    net_cents = sum(wager.net_cents for wager in spot.wagers)
    box = SeatBox(
        seat=spot.seat,
        state="in" if left else "out",
        bet_cents=0,
        bet=(),
        stack=(),
        acting=spot.seat == due.place and not due.pays,
        outcome=None if left else OutcomeLine(spot.seat, "", None, net_cents, ""),
        spots=tuple(_spots(spot, due, titles)),
        hands=tuple(_own_hand(state, spot, hand, due) for hand in spot.hands),
    )
    return Seat(box, paid=not left, paying=due.pays and due.seat == spot.seat)


def _outcome(seat: int, wager: Settled, due: Question) -> str:
    """What became of a wager, once the trainee has said it."""
    return wager.outcome if Wagered(seat, wager.bet, wager.hand) in due.paid else ""


def _spots(spot: SpotSeen, due: Question, titles: dict[str, str]) -> Iterable[SpotBox]:
    for wager in spot.wagers:
        yield SpotBox(
            wager=wager.bet,
            title=titles.get(wager.bet, wager.bet.replace("_", " ").capitalize()),
            cents=wager.staked_cents,
            chips=(),
            outcome=_outcome(spot.seat, wager, due),
            is_on_hands=wager.hand is not None,
        )


def _own_hand(state: State, spot: SpotSeen, hand: HandSeen, due: Question) -> HandBox:
    wager = next((wager for wager in spot.wagers if wager.hand == hand.number), None)
    if wager is None:
        return _hand(state, hand, spot.seat)
    asked = due.pays and due.wager == Wagered(spot.seat, wager.bet, wager.hand) and len(spot.hands) > 1
    outcome = _outcome(spot.seat, wager, due)
    return _hand(
        state,
        hand,
        spot.seat,
        cents=wager.staked_cents,
        is_doubled=any(part == "double" for part, _ in wager.parts),
        outcome=outcome,
        state_shown=hand.state if outcome else "",
        acting=asked,
    )


def _hand(state: State, hand: HandSeen, place: int, **bet: Any) -> HandBox:
    pack = pack_of(state.gone)
    shown = tuple(str(pack.spell(card)) for card in hand.cards if card != UNKNOWN)
    return HandBox(
        number=hand.number,
        name=hand.name,
        cards=shown,
        facedown=len(hand.cards) - len(shown),
        says="",
        state=bet.pop("state_shown", ""),
        acting=bet.pop("acting", False),  # a hand of the house is not marked: the mark would say that it draws
        place=place,
        **bet,
    )
