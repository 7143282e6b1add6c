"""The layout of a practice question, without the answer: no total, and no outcome of a wager that is not paid yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ledger.proof import chips
from tables.board.descriptions import Chips, OutcomeLine
from tables.board.table_view import HandBox, SeatBox, SpotBox
from tables.games.cards import UNKNOWN, pack_of
from tables.games.house_script import HandSeen, HouseState, SpotSeen
from tables.games.protocol import DEALER, PLACE_NAMES, Phrase, Settled
from tables.training.providers import provider
from tables.training.questions import CourseSpec, Question, Wagered

_PLACES = {name: place for place, name in PLACE_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Felt:
    """The dealer's templates that draw a kind of game."""

    name: str
    """For its styles."""
    seats: str
    centre: str
    cards: str = ""
    bet: str = ""


_STACKS: Final = Felt(
    "house",
    seats="dealer_ui/dealer/_seats.html",
    centre="dealer_ui/dealer/_dealer_row.html",
    cards="dealer_ui/dealer/_stack.html",
    bet="dealer_ui/dealer/_seat_bet.html",
)
_SPREAD: Final = Felt("spread", seats="dealer_ui/dealer/_spread_seats.html", centre="dealer_ui/dealer/_hands_row.html")


@dataclass(frozen=True, slots=True)
class Seat:
    """One seat as the dealer's own screen draws it."""

    box: SeatBox
    paid: bool
    paying: bool
    walked: bool = True
    is_fresh: bool = False
    again: None = None
    before_cents: None = None


@dataclass(frozen=True, slots=True)
class Board:
    """The attributes of a board that the dealer's templates read."""

    phrase: Phrase
    hands: tuple[HandBox, ...] = ()
    dealer_stack: tuple[int, ...] = ()
    dealer_acting: bool = False
    due: str = "card"


@dataclass(frozen=True, slots=True)
class PracticeFelt:
    """The layout of a question, for the dealer's templates."""

    felt: Felt
    board: Board
    seats: tuple[Seat, ...]
    fresh: frozenset[int] = frozenset()
    acting_is_called: str = "card"
    """Label of a seat that the question is about: a card came there, and it has no decision."""


def screen(course: CourseSpec, due: Question, denominations: Sequence[chips.Denomination] = ()) -> PracticeFelt:
    """The layout of a question, with its bets in these chips."""
    phrase = Phrase(do=due.asks, say="", rule=due.decisions)
    game = provider(course.game).game
    if not game.spots:
        return _stacks(game, due, phrase, denominations)
    state: HouseState = due.state
    titles = {wager.name: wager.title for wager in game.wagers(state.rules)}
    hands = tuple(_hand(state, hand, _PLACES.get(hand.name, DEALER)) for hand in state.hands)
    return PracticeFelt(_SPREAD, Board(phrase, hands), tuple(_seat(state, spot, due, titles) for spot in state.spots))


# --- One bet and one stack at a seat ---------------------------------------------------------------------------


def _stacks(game: Any, due: Question, phrase: Phrase, denominations: Sequence[chips.Denomination]) -> PracticeFelt:
    state = due.state
    stacks = state.stacks or ((),) * len(state.seats)
    net_cents = {payout.seat: payout.returned_cents - payout.staked_cents for payout in game.settle(state)}
    is_called = due.kind == "called"
    return PracticeFelt(
        felt=_STACKS,
        board=Board(phrase, dealer_stack=state.dealer, dealer_acting=is_called and due.seat == DEALER),
        seats=tuple(
            _cleared(seat, net_cents[seat])
            if seat in due.settled
            else _stacked(seat, stack, due, bet_cents=bet, bet=_in_chips(bet, denominations))
            for seat, bet, stack in zip(state.seats, state.bets, stacks, strict=True)
            if bet
        ),
        fresh=frozenset({due.seat}) if is_called else frozenset(),
    )


def _stacked(seat: int, stack: tuple[int, ...], due: Question, **bet: Any) -> Seat:
    is_asked = seat == due.seat
    box = SeatBox(seat, "in", stack=stack, acting=is_asked and not due.pays, outcome=None, **bet)
    return Seat(box, paid=False, paying=is_asked and due.pays, is_fresh=is_asked and due.kind == "called")


def _cleared(seat: int, net_cents: int) -> Seat:
    outcome = OutcomeLine(seat, "", None, net_cents, "")
    box = SeatBox(seat, "out", bet_cents=0, bet=(), stack=(), acting=False, outcome=outcome)
    return Seat(box, paid=True, paying=False)


def _in_chips(amount_cents: int, denominations: Sequence[chips.Denomination]) -> tuple[Chips, ...]:
    """An amount in chips; empty where the site has no chips that make it."""
    if not chips.can_cut(amount_cents, denominations):
        return ()
    return tuple(Chips(count, chip.name, chip.value_cents) for chip, count in chips.cut(amount_cents, denominations))


# --- Wagers and hands apart ------------------------------------------------------------------------------------


def _seat(state: HouseState, spot: SpotSeen, due: Question, titles: dict[str, str]) -> Seat:
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
    """The outcome of a wager, once the trainee has answered it; empty before."""
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


def _own_hand(state: HouseState, spot: SpotSeen, hand: HandSeen, due: Question) -> HandBox:
    wager = next((wager for wager in spot.wagers if wager.hand == hand.number), None)
    if wager is None:
        return _hand(state, hand, spot.seat)
    is_asked = due.pays and due.wager == Wagered(spot.seat, wager.bet, wager.hand) and len(spot.hands) > 1
    outcome = _outcome(spot.seat, wager, due)
    return _hand(
        state,
        hand,
        spot.seat,
        cents=wager.staked_cents,
        is_doubled=any(part == "double" for part, _ in wager.parts),
        outcome=outcome,
        state_shown=hand.state if outcome else "",
        acting=is_asked,
    )


def _hand(state: HouseState, hand: HandSeen, place: int, **bet: Any) -> HandBox:
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
