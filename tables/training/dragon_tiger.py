"""Practice of Dragon Tiger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from tables.games.cards import RANK_OF
from tables.games.dragon_tiger import DragonTiger, Rules
from tables.games.house_script import HouseState, hand_named
from tables.games.protocol import PLACE_NAMES, Action, AskCard, CloseBets
from tables.training.card_practice import Ending, PracticeStep, SpreadPractice, cards_of, ending
from tables.training.questions import AnswerChoice, numbered

_WON: Final = {
    "dragon": "The dragon wins",
    "tiger": "The tiger wins",
    "half": "A tie: half of each side's bet is taken",
    "push": "A tie: both sides' bets go back",
}
_SUITED: Final = {**_WON, "suited": "A suited tie: half of each side's bet is taken, and both ties are paid"}
_FIRST: Final = (AnswerChoice("dragon", "The dragon", "d"), AnswerChoice("tiger", "The tiger", "t"))
_HIGHER: Final = "The higher card wins; the ace is low, and suits decide nothing."
_RULES: Final = {
    "half": "At a tie the house takes half of the dragon's and the tiger's bets; a suited tie is the same card twice.",
    "suited": "The same card twice is a tie, and a suited tie besides.",
}


class DragonTigerPractice(SpreadPractice):
    """Practice of Dragon Tiger: bets, questions and payouts."""

    game = DragonTiger()
    options: ClassVar[tuple[str, ...]] = ("decks", "tie_pays", "spread", "rounding")

    def ways(self, rules: Rules) -> Mapping[str, Ending]:
        """Either side's win, a tie with half taken, and each side bet that is spread."""
        dragon, tiger = ending("dragon", "half"), ending("tiger", "half")
        sides = {
            "dragon wins": ending("dragon", "win"),
            "tiger wins": ending("tiger", "win"),
            "half of a side": lambda state: dragon(state) or tiger(state),
        }
        # One deck has no card twice.
        paid = [name for name in rules.spread if name != "suited_tie" or rules.decks > 1]
        return {**sides, **{f"{name.replace('_', ' ')} wins": ending(name, "win") for name in paid}}

    def calls(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """The question on which side has won."""
        if after.prompts:
            return
        dragon, tiger = (hand_named(after, name).cards[0] for name in ("dragon", "tiger"))
        is_suited = "suited_tie" in after.rules.spread
        tie = "suited" if is_suited and dragon == tiger else "half"
        difference = RANK_OF[dragon] - RANK_OF[tiger]
        right = "dragon" if difference > 0 else "tiger" if difference < 0 else tie
        asks = f"The dragon has {cards_of(after, [dragon])}, the tiger {cards_of(after, [tiger])}. What has happened?"
        yield PracticeStep("called", asks, right, _RULES.get(right, _HIGHER), numbered(_SUITED if is_suited else _WON))

    def turns(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """The question on whose card comes first."""
        ask = after.prompts[0] if after.prompts else None
        if isinstance(action, CloseBets) and isinstance(ask, AskCard):
            rule = self.game.cards["middle"]
            yield PracticeStep("turn", "No more bets. Whose card comes first?", PLACE_NAMES[ask.to], rule, _FIRST)
