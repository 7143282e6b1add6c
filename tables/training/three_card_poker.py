"""Practice of Three Card Poker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from tables.games.cards import RANK_OF, SUIT_OF, UNKNOWN
from tables.games.house_script import HandSeen, HouseState, SpotSeen
from tables.games.protocol import DEALER, Action, AskCard, AskChoice, Card, Choice, CloseBets, Reason
from tables.games.three_card_poker import Rules, ThreeCardPoker, qualifies
from tables.games.three_cards import NAMES, PAIR, STRAIGHT, value_of
from tables.training.card_practice import Ending, PracticeStep, SpreadPractice, betting, cards_of, ending
from tables.training.questions import NOBODY, THE_DEALER, numbered, seat_answers

_HANDS: Final = numbered({name.replace(" ", "_"): name.capitalize() for name in NAMES})
_QUALIFIES: Final = numbered(
    {
        "yes": "Your hand qualifies: it is compared with each seat's",
        "no": "Your hand does not qualify: antes are paid, play wagers go back",
        "push": "Your hand does not qualify: antes and play wagers go back",
    }
)
_EQUAL: Final = "equal hands"
_TRIPS: Final = "a three of a kind"
_RANKED: Final = "From the best: straight flush, three of a kind, straight, flush, pair, high card."
_NEXT: Final = "Every seat with an ante decides, in order from your left; pair plus alone decides nothing."
_SHOWN: Final = "When all have decided, your own hand is turned, then each seat's from your right."


class ThreeCardPokerPractice(SpreadPractice):
    """Practice of Three Card Poker: bets, decisions, questions and payouts."""

    version: ClassVar[int] = 2
    game = ThreeCardPoker()
    options: ClassVar[tuple[str, ...]] = ("pair_plus_pays", "ante_bonus", "spread", "rounding")
    paid_with: ClassVar[Mapping[str, str]] = {"ante": ", with any bonus"}

    helped: ClassVar[frozenset[str]] = frozenset({_EQUAL, _TRIPS, "a straight flush"})

    def ways(self, rules: Rules) -> Mapping[str, Ending]:
        """A fold, the dealer's hand, the result of the play wager, and each hand that has a payout."""
        ways: dict[str, Ending] = {
            "fold": ending("ante", "fold"),
            "the dealer does not qualify": lambda state: ending("play", "push")(state) and not _dealer_qualifies(state),
            "ante and play win": ending("play", "win"),
            "ante and play lose": ending("play", "lose"),
            _EQUAL: lambda state: ending("play", "push")(state) and _dealer_qualifies(state),
        }
        least = PAIR if rules.spread else STRAIGHT
        return {**ways, **{f"a {name}": _paid_for(name) for name in NAMES[least:]}}

    def likes(self, state: HouseState, ask: AskChoice, choice: Choice) -> float:
        """Play, mostly."""
        return 3.0 if choice.name == "play" else 1.0

    def helps(self, way: str, state: HouseState, ask: AskCard) -> Sequence[int]:
        """Cards for the first seat that plays: of the dealer's ranks, or such as go with its first card."""
        hand = next((spot.hands[0] for spot in state.spots if _plays(spot) and spot.seat == ask.to), None)
        if hand is None:
            return ()
        faceup = [card for card in hand.cards if card != UNKNOWN]
        if way == _EQUAL:
            model = state.hands[0].cards[len(faceup)]
            return [card for card in ask.may_come if RANK_OF[card] == RANK_OF[model]]
        if not faceup:
            return ()
        if way == _TRIPS:
            return [card for card in ask.may_come if RANK_OF[card] == RANK_OF[faceup[0]]]
        return [card for card in ask.may_come if SUIT_OF[card] == SUIT_OF[faceup[0]] and abs(card - faceup[-1]) == 1]

    def calls(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """Questions on a hand when it is turned, and on whether the dealer's hand qualifies."""
        if not isinstance(action, Card):
            return
        hand = _hand_at(after, action.to)
        if UNKNOWN in hand.cards:
            return
        cards = cards_of(after, hand.cards)
        if action.to != DEALER:
            right = NAMES[value_of(hand.cards)[0]].replace(" ", "_")
            asks = f"Seat {action.to} shows {cards}. What is it?"
            yield PracticeStep("called", asks, right, _RANKED, _HANDS, action.to)
            return
        rule = self.game.words["play"].rule
        right = "yes" if _dealer_qualifies(after) else "no"
        yield PracticeStep("called", f"You show {cards}. Does your hand qualify?", right, rule, _QUALIFIES, DEALER)

    def turns(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """Questions on who decides, and on whose hand is turned first."""
        due = after.prompts[0] if after.prompts else None
        decided = isinstance(before.prompts[0], AskChoice)
        if not (decided or isinstance(action, CloseBets)):
            return
        answers = seat_answers(betting(after), THE_DEALER, NOBODY)
        if isinstance(due, AskChoice):
            yield PracticeStep("turn", "Who decides next?", str(due.seat), _NEXT, answers)
        elif isinstance(due, AskCard):
            yield PracticeStep(
                "turn", "Nobody is left to decide. Whose hand is turned first?", str(due.to), _SHOWN, answers
            )


def _plays(spot: SpotSeen) -> bool:
    return any(wager.bet == "play" for wager in spot.wagers)


def _hand_at(state: HouseState, place: int) -> HandSeen:
    if place == DEALER:
        return state.hands[0]
    return next(spot.hands[0] for spot in state.spots if spot.seat == place)


def _dealer_qualifies(state: HouseState) -> bool:
    return qualifies(value_of(state.hands[0].cards))


def _paid_for(name: str) -> Ending:
    """Whether a seat's hand of a class has a payout of its own, in addition to ante and play."""

    def is_so(state: HouseState) -> bool:
        returned = [wager for spot in state.spots for wager in spot.wagers if wager.returned_cents]
        reasons = [reason for wager in returned for reason in wager.why if isinstance(reason, Reason)]
        paid = [reason for reason in reasons if reason.code in {"ante_bonus", "hand"}]
        return any(NAMES[int(str(reason.facts["hand"]))] == name for reason in paid)

    return is_so
