"""Little Brother, a made-up house-banked game: a card each, and the higher one wins. A seat may double first.

It is the example of docs/adding-a-game.md for standard cards, which shows this file as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from tables.games.cards import RANK_OF
from tables.games.game import Due, Part, Script, Wager, Wording, Words
from tables.games.house_layout import Hand, HouseLayout, Spot
from tables.games.house_script import HouseScript, HouseState
from tables.games.odds import EVEN, HouseRules, Odds, paying, say_pays
from tables.games.pays import PaidWager, PayForm, PayLine
from tables.games.protocol import DEALER, MAIN, AskCard, Choice, Phrase, because

SEVEN = 7
SEVEN_LINE = PayLine("seven", "the card is a seven", least=Odds(8), most=Odds(14))


class Rules(HouseRules, frozen=True):
    """The operator's options, besides the chip unit and the rounding that all such games have."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 6
    spread: Annotated[tuple[Literal["seven"], ...], Meta(description="The side bets.")] = ("seven",)


class LittleBrother(HouseScript[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "little_brother"
    title: ClassVar[str] = "Little Brother"
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "hands": "dealer"}
    words: ClassVar[Mapping[str, Words]] = {
        "double": Words("Double", "Place the bet once more.", "Higher than the dealer wins even money."),
        "stay": Words("Stay", "Go on to the next seat.", "A seat need not double."),
    }
    cards: ClassVar[Mapping[Due, str]] = {"seat": "One card to each seat, then one to the dealer."}
    reasons: ClassVar[Mapping[str, Wording]] = {
        "ranks": "{seat} against {dealer}",
        "seven": "a seven",
        "no_seven": "no seven",
        "pays": say_pays,
    }
    spots: ClassVar[tuple[str, ...]] = (MAIN, "seven")
    pay_form: ClassVar[PayForm] = PayForm(
        "little_brother", (PaidWager("seven", "Seven", (SEVEN_LINE,), shipped={"": (Odds(11),)}),)
    )
    rules_type = Rules

    def decks(self, rules: Rules) -> int:
        """As the operator sets it."""
        return rules.decks

    def wagers(self, rules: Rules) -> tuple[Wager, ...]:
        """The bet, and a side bet on a seven that goes with it."""
        return (Wager(MAIN, "Bet"), *(Wager(name, "Seven", needs=MAIN) for name in rules.spread))

    def script(self, rules: Rules, layout: HouseLayout) -> Script[None]:
        """A card to each seat; decisions; the dealer's card."""
        for spot in layout.spots:
            spot.hands.append(Hand(spot.seat))
            yield from layout.deal(spot.hand)
        for spot in layout.spots:
            yield from _decide(layout, spot)
        yield from layout.deal(layout.dealer)
        for spot in layout.spots:
            _settle(layout, spot)

    def say_card(self, state: HouseState, prompt: AskCard) -> Phrase:
        """Whose card it is."""
        place = "yourself" if prompt.to == DEALER else f"seat {prompt.to}"
        return Phrase(f"Card for {place}.", "Cards.", self.cards["seat"])


def _decide(layout: HouseLayout, spot: Spot) -> Script[None]:
    stake = spot.stakes[0]
    room = stake.cents <= layout.room_cents()
    double = (Choice("double", stake.cents),) if room else ()
    if (yield from layout.choose(spot.hand, (Choice("stay"), *double))) == "double":
        stake.cents *= 2


def _settle(layout: HouseLayout, spot: Spot) -> None:
    own, dealer = RANK_OF[spot.hand.cards[0]], RANK_OF[layout.dealer.cards[0]]
    stake, reason = spot.stakes[0], because("ranks", seat=own, dealer=dealer)
    if own > dealer:
        layout.pay(stake, EVEN, reason)
    elif own < dealer:
        layout.lose(stake, reason)
    else:
        layout.push(stake, reason)
    if (seven := spot.stake("seven")) is None:
        return
    if own == SEVEN:
        odds = layout.odds("seven")
        layout.pay(seven, odds, because("seven"), paying(odds))
    else:
        layout.lose(seven, because("no_seven"))
