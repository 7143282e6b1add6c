"""Practice of Casino War."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from tables.games.cards import RANK_OF
from tables.games.casino_war import BURNED, CasinoWar, Rules
from tables.games.house_script import HouseState, SpotSeen
from tables.games.protocol import DEALER, MAIN, Action, AskCard, AskChoice, Card, Choice
from tables.training.card_practice import Ending, PracticeStep, SpreadPractice, betting, cards_of, ending
from tables.training.questions import NOBODY, numbered, seat_answers

_FIRST: Final = numbered(
    {
        "win": "The seat is higher: its bet is paid",
        "lose": "The dealer is higher: its bet is taken",
        "tie": "A tie: its bet stays until the seat has decided",
        "push": "A tie: its bet goes back",
    }
)
_WAR: Final = numbered(
    {
        "win": "The raise is paid, the bet goes back",
        "lose": "The raise and the bet are taken",
        "bonus": "The raise and the bet are both paid",
        "push": "The raise and the bet both go back",
    }
)
_HIGHER: Final = "The higher card wins even money; the ace is high, and suits decide nothing."
_TIED: Final = "A seat that ties loses nothing yet: it goes to war, or gives half away where the house lets it."
_AGAIN: Final = {
    "raise_only": "A second tie pays the raise, as a win does; the bet goes back.",
    "bonus": "A second tie pays the bet as well as the raise.",
}
_RAISED: Final = "raise"


class CasinoWarPractice(SpreadPractice):
    """Practice of Casino War: bets, decisions, questions and payouts."""

    game = CasinoWar()
    options: ClassVar[tuple[str, ...]] = ("surrender", "second_tie", "spread", "decks", "rounding")

    def ways(self, rules: Rules) -> Mapping[str, Ending]:
        """Wins and losses without a war and in one, the second tie, surrender if the rules have it, and the tie bet."""
        ways: dict[str, Ending] = {
            "higher": ending(MAIN, "win"),
            "lower": ending(MAIN, "lose"),
            "a war won": lambda state: any(
                _second(spot) != "lose" and not _is_tie(state, spot) for spot in _at_war(state)
            ),
            "a war lost": ending(_RAISED, "lose"),
            "a second tie": lambda state: any(_is_tie(state, spot) for spot in _at_war(state)),
        }
        if rules.surrender:
            ways["surrender"] = ending(MAIN, "surrender")
        return {**ways, **{f"{name} wins": ending(name, "win") for name in rules.spread}}

    def likes(self, state: HouseState, ask: AskChoice, choice: Choice) -> float:
        """War, mostly."""
        return 2.0 if choice.name == "war" else 1.0

    def calls(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """The question on the dealer's card for each seat or, in a war, for each seat that went to war."""
        if not (isinstance(action, Card) and action.to == DEALER):
            return
        dealer = after.hands[0].cards
        in_war = len(dealer) > 1
        for spot in _at_war(after) if in_war else after.spots:
            own = spot.hands[0].cards
            against = f"Seat {spot.seat}{', war' if in_war else ''}: {cards_of(after, own[-1:])} against"
            asks = f"{against} {cards_of(after, dealer[-1:])}. What has happened?"
            right = _second(spot) if in_war else _first_deal(spot)
            tied = _AGAIN[after.rules.second_tie] if in_war else _TIED
            rule = tied if _is_tie(after, spot) else self.game.words["war"].rule if in_war else _HIGHER
            yield PracticeStep("called", asks, right, rule, _WAR if in_war else _FIRST, spot.seat)

    def turns(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """Questions on who decides, and on how a war is dealt."""
        due, earlier = (state.prompts[0] if state.prompts else None for state in (after, before))
        first_deal = isinstance(earlier, AskCard) and earlier.to == DEALER and len(after.hands[0].cards) == 1
        if not (first_deal or isinstance(earlier, AskChoice)):
            return
        if isinstance(due, AskCard):
            yield self._burn(after, due)
            return
        right = str(due.seat) if isinstance(due, AskChoice) else NOBODY.name
        rule = "Each seat that tied decides, clockwise; when none is left to decide and none is at war, it is over."
        yield PracticeStep("turn", "Who is next?", right, rule, seat_answers(betting(after), NOBODY))

    def _burn(self, state: HouseState, due: AskCard) -> PracticeStep:
        card = f"a war card for seat {due.to}"
        other_seats = [seat for seat in betting(state) if seat != due.to]
        ways = {
            "burn": f"Burn {BURNED} cards, then {card}",
            "burn_1": f"Burn one card, then {card}",
            "none": f"No burn: {card}",
        }
        if other_seats:
            ways["other"] = f"Burn {BURNED} cards, then a war card for seat {other_seats[0]}"
        return PracticeStep(
            "turn",
            "It goes to war. What comes next?",
            "burn",
            self.game.say_card(state, due).rule,
            numbered(ways),
            due.to,
        )


def _at_war(state: HouseState) -> list[SpotSeen]:
    """The seats that went to war."""
    return [spot for spot in state.spots if _outcome(spot, _RAISED) is not None]


def _outcome(spot: SpotSeen, bet: str) -> str | None:
    return next((wager.outcome for wager in spot.wagers if wager.bet == bet), None)


def _is_tie(state: HouseState, spot: SpotSeen) -> bool:
    """Whether a seat's latest card ties the dealer's."""
    return RANK_OF[spot.hands[0].cards[-1]] == RANK_OF[state.hands[0].cards[-1]]


def _first_deal(spot: SpotSeen) -> str:
    """The result of the first cards, by the outcome of the bet."""
    return _outcome(spot, MAIN) or "tie"


def _second(spot: SpotSeen) -> str:
    """The result of a war, by the outcomes of the raise and the bet."""
    if _outcome(spot, _RAISED) == "lose":
        return "lose"
    return "bonus" if _outcome(spot, MAIN) == "win" else "win"
