"""Casino War: a card against the dealer's; a tie goes to war, or gives half of the bet away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from tables.games.cards import RANK_OF, RANK_SIGNS
from tables.games.game import Due, Part, Script, Wager, Wording, Words
from tables.games.hand_names import plural, rank_name
from tables.games.house_layout import Hand, HouseLayout, Spot, Stake
from tables.games.house_script import HouseScript, HouseState
from tables.games.odds import EVEN, HALF_TAKEN, HouseRules, Odds, paying, say_pays
from tables.games.pays import PaidWager, PayForm, PayLine
from tables.games.protocol import DEALER, MAIN, AskCard, Choice, Phrase, Reason, because

Side = Literal["tie"]


class Rules(HouseRules, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 6
    surrender: Annotated[bool, Meta(description="Whether a tied seat may give half of its bet away.")] = True
    second_tie: Annotated[
        Literal["raise_only", "bonus"],
        Meta(description="What a second tie pays: even money on the raise, or on the first bet as well."),
    ] = "raise_only"
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ("tie",)


BURNED: Final = 3
"""Cards burned before the cards of a war."""
PAY_FORM: Final = PayForm(
    "casino_war",
    (
        PaidWager(
            "tie", "Tie", (PayLine("tie", "the first cards have one rank", Odds(5), Odds(15)),), {"": (Odds(10),)}
        ),
    ),
)


class CasinoWar(HouseScript[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "casino_war"
    title: ClassVar[str] = "Casino War"
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "hands": "dealer"}
    words: ClassVar[Mapping[str, Words]] = {
        "war": Words(
            "Go to war",
            "Place a wager of the same size beside the bet.",
            "Higher in the war wins even money on the raise, and the bet pushes; lower loses both.",
        ),
        "surrender": Words(
            "Surrender",
            "Take half of the bet, give the rest back, clear the card.",
            "A surrender costs half of the bet.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {"seat": "One card to each seat, one to the dealer; in a war one more."}
    spots: ClassVar[tuple[str, ...]] = (MAIN, "raise", "tie")
    further: ClassVar[frozenset[str]] = frozenset({"raise"})
    reasons: ClassVar[Mapping[str, Wording]] = {
        "cards": lambda seat, dealer: _say_cards(seat, dealer),
        "war": lambda seat, dealer: f"war, {_say_cards(seat, dealer)}",
        "second_tie": "the bonus of a second tie",
        "surrender": "surrenders for half of the bet",
        "pays": say_pays,
    }
    cut_part: ClassVar[int] = 4
    pay_form: ClassVar[PayForm] = PAY_FORM
    rules_type = Rules

    def wagers(self, rules: Rules) -> tuple[Wager, ...]:
        """The bet, which may have to be raised by as much again, and the tie."""
        return _wagers(rules.spread)

    def results_of(self, rules: Rules, wager: str) -> Iterable[Odds]:
        """Half of the bet in a surrender."""
        gives_half = wager == MAIN and rules.surrender
        return [HALF_TAKEN] if gives_half else super().results_of(rules, wager)

    def script(self, rules: Rules, layout: HouseLayout) -> Script[None]:
        """A card each; seats that tie decide, and go to war together."""
        for spot in layout.spots:
            spot.hands.append(Hand(spot.seat))
            yield from layout.deal(spot.hand)
        yield from layout.deal(layout.dealer)
        tied = [spot for spot in layout.spots if _compare(layout, spot) == 0]
        for spot in layout.spots:
            _settle_tie(layout, spot, is_tie=spot in tied)
            if spot not in tied:
                _settle_first(layout, spot)
        at_war = []
        for spot in tied:
            if (yield from self._goes_to_war(rules, layout, spot)):
                at_war.append(spot)
        if at_war:
            yield from _war(rules, layout, at_war)

    @staticmethod
    def _goes_to_war(rules: Rules, layout: HouseLayout, spot: Spot) -> Script[bool]:
        bet = spot.stakes[0]
        surrender = (Choice("surrender"),) if rules.surrender else ()
        choice = yield from layout.choose(spot.hand, (*surrender, Choice("war", bet.cents)))
        if choice == "surrender":
            layout.halve(bet, because("surrender"), outcome="surrender")
            spot.hand.state = "surrender"  # its card is a discard: a shoe that runs out in the war takes it back
            return False
        spot.stakes.insert(1, Stake("raise", bet.cents))
        return True

    def worth(self, cards: Sequence[int]) -> str:
        """The rank that counts: the latest."""
        return RANK_SIGNS[RANK_OF[cards[-1]] - 1]

    def say_card(self, state: HouseState, prompt: AskCard) -> Phrase:
        """Whose card is due, and whether it is one of a war."""
        place = "yourself" if prompt.to == DEALER else f"seat {prompt.to}"
        if any(wager.bet == "raise" for spot in state.spots for wager in spot.wagers):
            is_first = not any(len(spot.hands[0].cards) > 1 for spot in state.spots)
            burn = f"Burn {BURNED} cards. " if is_first else ""
            rule = "Three cards are burned once; then one to each seat at war, clockwise, and one to the dealer."
            return Phrase(f"{burn}War card for {place}.", "Going to war.", rule)
        return Phrase(f"Card for {place}.", "Cards.", "One card to each seat, one to the dealer; the ace is high.")


@cache
def _wagers(spread: tuple[str, ...]) -> tuple[Wager, ...]:
    return (Wager(MAIN, "Bet", times=2), *(Wager(name, "Tie", needs=MAIN) for name in spread))


def _high(card: int) -> int:
    """The rank of a card, the ace above the king."""
    rank = RANK_OF[card]
    return 14 if rank == 1 else rank


def _compare(layout: HouseLayout, spot: Spot) -> int:
    """Difference in rank between a seat's latest card and the dealer's; above 0 if the seat's is higher."""
    return _high(spot.hand.cards[-1]) - _high(layout.dealer.cards[-1])


def _cards(layout: HouseLayout, spot: Spot, code: str = "cards") -> Reason:
    return because(code, seat=RANK_OF[spot.hand.cards[-1]], dealer=RANK_OF[layout.dealer.cards[-1]])


def _say_cards(seat: int, dealer: int) -> str:
    if seat == dealer:
        return f"tie, two {plural(seat)}"
    if _high(seat) > _high(dealer):
        return f"{rank_name(seat)} over {rank_name(dealer)}"
    return f"the dealer's {rank_name(dealer)} over {rank_name(seat)}"


def _settle_tie(layout: HouseLayout, spot: Spot, *, is_tie: bool) -> None:
    """Settle a tie bet by the first cards, whatever happens in a war."""
    tie = spot.stake("tie")
    if tie is None:
        return
    if is_tie:
        odds = layout.odds("tie")
        layout.pay(tie, odds, _cards(layout, spot), paying(odds))
    else:
        layout.lose(tie, _cards(layout, spot))


def _settle_first(layout: HouseLayout, spot: Spot) -> None:
    bet, cards = spot.stakes[0], _cards(layout, spot)
    if _compare(layout, spot) > 0:
        layout.pay(bet, EVEN, cards)
    else:
        layout.lose(bet, cards)


def _war(rules: Rules, layout: HouseLayout, at_war: Sequence[Spot]) -> Script[None]:
    yield from layout.burn(BURNED)
    for spot in at_war:
        yield from layout.deal(spot.hand)
    yield from layout.deal(layout.dealer)
    for spot in at_war:
        bet, raised = spot.stakes[:2]
        cards, difference = _cards(layout, spot, "war"), _compare(layout, spot)
        if difference < 0:
            layout.lose(bet, cards)
            layout.lose(raised, cards)
            continue
        layout.pay(raised, EVEN, cards)
        if difference == 0 and rules.second_tie == "bonus":
            layout.pay(bet, EVEN, cards, because("second_tie"))
        else:
            layout.push(bet, cards)
