"""Dragon Tiger: one card each, and the higher one wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from tables.games.cards import RANK_OF, RANK_SIGNS
from tables.games.game import Due, Part, Script, Wager, Wording
from tables.games.hand_names import plural, rank_name
from tables.games.house_layout import Hand, HouseLayout
from tables.games.house_script import HouseScript, HouseState
from tables.games.odds import EVEN, HALF_TAKEN, HouseRules, Odds, paying, say_pays
from tables.games.pays import PaidWager, PayForm, PayLine
from tables.games.protocol import DRAGON, PLACE_NAMES, TIGER, AskCard, Fact, Phrase, because

Side = Literal["tie", "suited_tie"]


class Rules(HouseRules, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 8
    tie_pays: Annotated[Literal[8, 11], Meta(description="What a tie pays, to one.")] = 8
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ("tie",)


PAY_FORM: Final = PayForm(
    "dragon_tiger",
    (
        PaidWager(
            "tie",
            "Tie",
            (PayLine("tie", "both have one rank", Odds(5), Odds(15)),),
            {"8": (Odds(8),), "11": (Odds(11),)},
            "tie_pays",
        ),
        PaidWager(
            "suited_tie",
            "Suited tie",
            (PayLine("suited_tie", "both are the same card", Odds(25), Odds(75)),),
            {"": (Odds(50),)},
        ),
    ),
)
_OPPOSITE: Final = {"dragon": "tiger", "tiger": "dragon"}


class DragonTiger(HouseScript[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "dragon_tiger"
    title: ClassVar[str] = "Dragon Tiger"
    parts: ClassVar[Mapping[Part, str]] = {"hands": "dragon and tiger"}
    cards: ClassVar[Mapping[Due, str]] = {"middle": "One card to the dragon, one to the tiger."}
    reasons: ClassVar[Mapping[str, Wording]] = {
        "higher": lambda winner, high, low: f"{winner}, {rank_name(high)} over {rank_name(low)}",
        "tie": lambda rank: f"tie, two {plural(rank)}",
        "half": "the house takes half",
        "pays": say_pays,
    }
    behind_cut: ClassVar[int] = 14
    rounds_after_cut: ClassVar[int] = 1
    suited: ClassVar[frozenset[str]] = frozenset({"suited_tie"})
    spots: ClassVar[tuple[str, ...]] = ("dragon", "tiger", "tie", "suited_tie")
    pay_form: ClassVar[PayForm] = PAY_FORM
    rules_type = Rules

    def wagers(self, rules: Rules) -> tuple[Wager, ...]:
        """The two sides, and the ties."""
        return _wagers(rules.spread)

    def results_of(self, rules: Rules, wager: str) -> Iterable[Odds]:
        """Half of the bet on a side in a tie."""
        return [HALF_TAKEN] if wager in _OPPOSITE else super().results_of(rules, wager)

    def script(self, rules: Rules, layout: HouseLayout) -> Script[None]:
        """A card each; the higher one wins."""
        dragon, tiger = Hand(DRAGON, name="dragon"), Hand(TIGER, name="tiger")
        layout.hands = [dragon, tiger]
        yield from layout.deal(dragon)
        yield from layout.deal(tiger)
        _settle(layout, dragon.cards[0], tiger.cards[0])

    def worth(self, cards: Sequence[int]) -> str:
        """The rank."""
        return RANK_SIGNS[RANK_OF[cards[0]] - 1]

    def say_card(self, state: HouseState, prompt: AskCard) -> Phrase:
        """Whose card is due."""
        name = PLACE_NAMES[prompt.to]
        return Phrase(f"Card for the {name}.", f"{name.capitalize()}.", "The higher card wins; the ace is low.")


@cache
def _wagers(spread: tuple[str, ...]) -> tuple[Wager, ...]:
    names = ("dragon", "tiger", *spread)
    return tuple(Wager(name, name.replace("_", " ").capitalize(), opposite=_OPPOSITE.get(name, "")) for name in names)


def _settle(layout: HouseLayout, dragon: int, tiger: int) -> None:
    ranks = RANK_OF[dragon], RANK_OF[tiger]
    winner = "dragon" if ranks[0] > ranks[1] else "tiger"
    is_tie = ranks[0] == ranks[1]
    won_by: dict[str, Fact] = {"winner": winner, "high": max(ranks), "low": min(ranks)}
    reason = because("tie", rank=ranks[0]) if is_tie else because("higher", **won_by)
    pays = {"tie": layout.odds("tie")} if is_tie else {winner: EVEN}
    if dragon == tiger:
        pays["suited_tie"] = layout.odds("suited_tie")
    for spot in layout.spots:
        for stake in spot.stakes:
            if stake.bet in pays:
                layout.pay(stake, pays[stake.bet], reason, paying(pays[stake.bet]))
            elif is_tie and stake.bet in ("dragon", "tiger"):
                layout.halve(stake, reason, because("half"), outcome="half")
            else:
                layout.lose(stake, reason)
