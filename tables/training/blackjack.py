"""Practice of Blackjack: the next turn, the result of a card, the dealer's drawing rule, and the payouts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from tables.games.blackjack import NO_BLACKJACK, STANDS, Blackjack, Rules
from tables.games.cards import UNKNOWN
from tables.games.house_script import HandSeen, HouseState
from tables.games.protocol import DEALER, MAIN, Action, AskCard, AskChoice, Card, Choice, Choose
from tables.games.twenty_one import MOST, has_blackjack, is_soft, total
from tables.training.card_practice import Ending, PracticeStep, SpreadPractice, betting, cards_of, ending
from tables.training.questions import NOBODY, THE_DEALER, AnswerChoice, numbered, seat_answers

_HIT: Final = numbered(
    {
        "on": "Nothing: the hand decides again",
        "stands": "The hand stands, and is asked nothing more",
        "bust": "The hand busts",
        "blackjack": "The hand is a blackjack",
    }
)
_DEALER: Final = numbered(
    {
        "draw": "Draw a card",
        "stand": "Draw no more",
        "bust": "You bust",
        "blackjack": "You have a blackjack",
    }
)
_SPLIT: Final = numbered(
    {
        "first": "A card for the first hand, and its turn",
        "both": "A card for each hand",
        "decides": "The first hand decides, with one card",
    }
)
_INSURANCE: Final = AnswerChoice("insurance", "Insurance is offered", "i")
_LOOK: Final = AnswerChoice("look", "You look at the hole card", "l")
_SEATS: Final = "Seats decide in order from your left; a blackjack is asked nothing but insurance."
_OFFERED: Final = "Under an ace insurance is offered to every seat, before anything else."
_NOBODY_WAITS: Final = "No hand awaits your cards: you draw none."
_LESS: Final = "With less than 21 a hand decides again, unless it was doubled or is a split ace."
_BLACKJACK: Final = "A blackjack of the dealer ends the round: only a blackjack gets its bet back."
_NO_HOLE: Final = "Where there is no hole card, your second card comes when all seats are done."
_TURN_OF_HAND: Final = "A hand's second card after a split comes when its turn comes."
_NO_BLACKJACK_AFTER_SPLIT: Final = "A hand of 21 stands by itself; after a split it is no blackjack."


class BlackjackPractice(SpreadPractice):
    """Practice of Blackjack: bets, decisions, questions and payouts."""

    game = Blackjack()
    version: ClassVar[int] = 2
    options: ClassVar[tuple[str, ...]] = (
        "decks", "soft17", "blackjack_pays", "double", "surrender", "hole", "insurance", "spread", "splits", "split_by",
        "double_after_split", "resplit_aces", "hit_split_aces", "rounding",
    )  # fmt: skip

    def ways(self, rules: Rules) -> Mapping[str, Ending]:
        """The endings of bets, doubled and split ones, of the dealer's hand, of insurance and side bets."""
        ways: dict[str, Ending] = {
            "blackjack": ending(MAIN, "blackjack"),
            "win": ending(MAIN, "win"),
            "push": ending(MAIN, "push"),
            "bust": ending(MAIN, "bust"),
            "double": lambda state: any(part == "double" for part in _parts(state)),
            "the dealer busts": lambda state: total(_dealers(state)) > MOST,
            "the dealer's blackjack": lambda state: has_blackjack(_dealers(state)),
            "a soft 17 of the dealer": _has_soft_17,
        }
        if rules.splits:
            ways["split"] = lambda state: any(len(spot.hands) > 1 for spot in state.spots)
        if rules.surrender != "none":
            ways["surrender"] = ending(MAIN, "surrender")
        if rules.insurance:
            ways |= {"insurance wins": ending("insurance", "win"), "insurance loses": ending("insurance", "lose")}
        return {**ways, **{f"{name.replace('_', ' ')} wins": ending(name, "win") for name in rules.spread}}

    def likes(self, state: HouseState, ask: AskChoice, choice: Choice) -> float:
        """Weights that resemble real players: they hit low totals, and split and double often."""
        points = total(_hand(state, ask.seat, ask.hand).cards)
        likes = {"split": 4.0, "double": 1.5 if 9 <= points <= 11 else 0.1, "surrender": 0.4}
        likes |= {
            "hit": 4.0 if points <= 11 else 1.0 if points < STANDS else 0.05,
            "stand": 0.1 if points <= 11 else 1.0,
        }
        return likes.get(choice.name, 1.0)

    # --- what is asked ---

    def calls(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """Questions on the result of a card for a hand, and on the dealer's own hand."""
        if not isinstance(action, Card) or _is_dealing(before):
            return
        if action.to == DEALER:
            yield self._dealers_step(after)
            return
        ask: Any = before.prompts[0]
        number = ask.hand or 1
        spot = next(spot for spot in after.spots if spot.seat == action.to)
        hand = spot.hands[number - 1]
        place = f"Seat {action.to}" + (f", hand {number}" if len(spot.hands) > 1 else "")
        asks = f"{place} gets a card: {cards_of(after, hand.cards)}. What has happened?"
        right = "bust" if hand.state == "bust" else "on" if _decides(after, action.to, number) else "stands"
        yield PracticeStep(
            "called", asks, right, self._rule_of(right, hand, is_split=len(spot.hands) > 1), _HIT, action.to
        )

    def _rule_of(self, right: str, hand: HandSeen, *, is_split: bool) -> str:
        words = self.game.words
        if right != "stands":
            return words["hit"].rule if right == "bust" else _LESS
        if total(hand.cards) == MOST:
            return _NO_BLACKJACK_AFTER_SPLIT if is_split else words["stand"].rule
        return "Split aces get one card each, and stand." if is_split and len(hand.cards) == 2 else words["double"].rule

    def _dealers_step(self, after: HouseState) -> PracticeStep:
        cards, due = _dealers(after), after.prompts[0] if after.prompts else None
        points = total(cards)
        drawing = self.game.say_card(after, _ANOTHER).rule
        rule = f"{self.game.worth(cards).capitalize()}: {drawing[:1].lower()}{drawing[1:]}"
        if isinstance(due, AskCard) and due.to == DEALER:
            right = "draw"
        elif has_blackjack(cards):
            right, rule = "blackjack", _BLACKJACK
        elif points > MOST:
            right, rule = "bust", f"{points}: more than 21 busts, and every hand that stands is paid."
        else:
            right = "stand"
            rule = _NOBODY_WAITS if _draws_under_the_rule(after, points) else rule
        return PracticeStep(
            "called", f"Your hand is {cards_of(after, cards)}. What do you do?", right, rule, _DEALER, DEALER
        )

    def turns(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """Questions on what is next: a seat, all of them for insurance, the dealer's peek or the dealer's turn."""
        if _is_dealing(after):
            return
        earlier, next_turn = "" if _is_dealing(before) else _next(before), _next(after)
        if isinstance(action, Choose) and action.choice == "split":
            if next_turn == str(action.seat):
                yield PracticeStep("turn", f"What comes next for seat {action.seat}?", "first", _TURN_OF_HAND, _SPLIT)
            return
        over_by_cards = next_turn == NOBODY.name and isinstance(action, Card) and action.to == DEALER
        if next_turn == earlier or over_by_cards:
            return
        look = (_LOOK,) if after.rules.hole == "peek" else ()
        answers = seat_answers(betting(after), _INSURANCE, *look, THE_DEALER, NOBODY)
        asks = "The first cards are dealt. What comes next?" if not earlier else "Who is next?"
        yield PracticeStep("turn", asks, next_turn, self._reason(next_turn, after), answers)

    def _reason(self, next_turn: str, state: HouseState) -> str:
        if next_turn == _INSURANCE.name:
            return _OFFERED
        if next_turn == _LOOK.name:
            return self.game.words[NO_BLACKJACK].rule
        if next_turn == THE_DEALER.name:
            return self.game.cards["turn"] if state.rules.hole == "peek" else _NO_HOLE
        return _NOBODY_WAITS if next_turn == NOBODY.name else _SEATS


_ANOTHER: Final = AskCard(DEALER, (), 1)
"""A prompt that makes the game state the dealer's drawing rule, whether the dealer draws or not."""


def _is_dealing(state: HouseState) -> bool:
    """Whether the first cards are still dealt."""
    first = [spot.hands[0].cards if spot.hands else () for spot in state.spots]
    lacks = any(len(cards) < 2 for cards, spot in zip(first, state.spots, strict=True) if len(spot.hands) < 2)
    return not state.spots or lacks or not state.hands[0].cards


def _next(state: HouseState) -> str:
    """What is next, by the name of the answer."""
    due = state.prompts[0] if state.prompts else None
    if isinstance(due, AskChoice):
        if due.seat == DEALER:
            return _LOOK.name
        return _INSURANCE.name if due.choices[0].name == "insure" else str(due.seat)
    return str(due.to) if isinstance(due, AskCard) else NOBODY.name


def _decides(state: HouseState, seat: int, number: int) -> bool:
    due = state.prompts[0] if state.prompts else None
    return isinstance(due, AskChoice) and (due.seat, due.hand) == (seat, number)


def _hand(state: HouseState, seat: int, number: int) -> HandSeen:
    return next(spot for spot in state.spots if spot.seat == seat).hands[number - 1]


def _dealers(state: HouseState) -> tuple[int, ...]:
    return tuple(card for card in state.hands[0].cards if card != UNKNOWN)


def _draws_under_the_rule(state: HouseState, points: int) -> bool:
    soft = points == STANDS and state.rules.soft17 == "hit" and is_soft(_dealers(state))
    return points < STANDS or soft


def _parts(state: HouseState) -> Iterable[str]:
    return (part for spot in state.spots for wager in spot.wagers for part, _ in wager.parts)


def _has_soft_17(state: HouseState) -> bool:
    """Whether the dealer had one on the way, with a hand that awaited his cards."""
    cards = _dealers(state)
    waits = any(hand.state == "stands" for spot in state.spots for hand in spot.hands)
    ways = (cards[:count] for count in range(2, len(cards) + 1))
    return waits and any(total(way) == STANDS and is_soft(way) for way in ways)
