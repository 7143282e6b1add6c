"""Three Card Poker: three cards against the dealer's, and a bet on the hand alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from tables.games.cards import STANDARD, Pack
from tables.games.game import Due, Part, Script, Wager, Wording, Words
from tables.games.hand_names import hand_name, over
from tables.games.house_layout import Hand, HouseLayout, Spot, Stake
from tables.games.house_script import HouseScript, HouseState
from tables.games.odds import EVEN, HouseRules, Odds, paying, say_pays
from tables.games.pays import UNPAID, PaidWager, PayForm, PayLine
from tables.games.protocol import DEALER, AskCard, Card, Choice, Phrase, because
from tables.games.three_cards import HIGH_CARD, NAMES, PAIR, STRAIGHT, Value, value_of

Side = Literal["pair_plus"]


class Rules(HouseRules, frozen=True):
    """The operator's options."""

    pair_plus_pays: Annotated[
        Literal["1-4-6-30-40", "1-3-6-30-40", "1-4-5-30-40", "1-3-5-30-40"],
        Meta(description="What pair plus pays: pair, flush, straight, three of a kind, straight flush."),
    ] = "1-4-6-30-40"
    ante_bonus: Annotated[
        Literal["1-4-5", "1-3-4", "1-2-3"],
        Meta(description="The ante bonus: straight, three of a kind, straight flush."),
    ] = "1-4-5"
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ("pair_plus",)


PACKET: Final = 3
_QUEEN: Final = 12
_LINES: Final = tuple(name.replace(" ", "_") for name in NAMES)


def _lines(*bounds: tuple[int, int]) -> tuple[PayLine, ...]:
    """A line for each of the highest classes, with the odds that it may have; each may be left unpaid."""
    lowest = len(NAMES) - len(bounds)
    return tuple(
        PayLine(_LINES[kind], NAMES[kind], Odds(least), Odds(most), may_be_unpaid=True)
        for kind, (least, most) in enumerate(bounds, lowest)
    )


def _shipped(*tables: str) -> dict[str, tuple[Odds, ...]]:
    """Tables as the options call them: 1-4-5."""
    return {table: tuple(Odds(int(pays)) for pays in table.split("-")) for table in tables}


PAY_FORM: Final = PayForm(
    "three_card_poker",
    (
        PaidWager(
            "pair_plus",
            "Pair plus",
            _lines((1, 2), (1, 8), (2, 12), (10, 60), (20, 200)),
            _shipped("1-4-6-30-40", "1-3-6-30-40", "1-4-5-30-40", "1-3-5-30-40"),
            "pair_plus_pays",
        ),
        PaidWager(
            "ante_bonus",
            "Ante bonus",
            _lines((1, 3), (1, 10), (1, 20)),
            _shipped("1-4-5", "1-3-4", "1-2-3"),
            "ante_bonus",
            on="ante",
        ),
    ),
)


class ThreeCardPoker(HouseScript[Rules]):
    """The game, as the kernel plays it."""

    version: ClassVar[int] = 2
    name: ClassVar[str] = "three_card_poker"
    title: ClassVar[str] = "Three Card Poker"
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "hands": "dealer"}
    words: ClassVar[Mapping[str, Words]] = {
        "play": Words(
            "Play",
            "Place a wager as large as the ante.",
            "The dealer qualifies with queen high; without, the ante wins and the play wager pushes.",
        ),
        "fold": Words("Fold", "Take the ante and pair plus, and the cards.", "A fold loses the ante and pair plus."),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "seat": "Three cards as a packet to each seat, clockwise, and three to the dealer.",
        "turn": "When all have decided, the dealer's hand is turned, then each seat's from the dealer's right.",
    }
    spots: ClassVar[tuple[str, ...]] = ("ante", "play", "pair_plus")
    further: ClassVar[frozenset[str]] = frozenset({"play"})
    reasons: ClassVar[Mapping[str, Wording]] = {
        "hands": lambda **facts: _say_hands(**facts),
        "hand": lambda hand, ranks: hand_name(hand, ranks),
        "not_qualified": "the dealer does not qualify",
        "ante_bonus": lambda hand, odds: f"bonus for a {NAMES[hand]}, {odds.replace(':', ' to ')}",
        "fold": "folds",
        "pays": say_pays,
    }
    looks: ClassVar[bool] = True
    pay_form: ClassVar[PayForm] = PAY_FORM
    rules_type = Rules

    def decks(self, rules: Rules) -> int:
        """One."""
        return 1

    def pack(self, rules: Rules) -> Pack:
        """Flushes are of one suit."""
        return STANDARD

    def wagers(self, rules: Rules) -> tuple[Wager, ...]:
        """The ante, which a play wager may follow, and pair plus."""
        return _wagers(rules.spread)

    def script(self, rules: Rules, layout: HouseLayout) -> Script[None]:
        """Packets, decisions, and the hands are shown and compared.

        On the floor the packets lie facedown, and the system does not know them before they are shown.
        """
        blind = layout.opening.blind
        for spot in layout.spots:
            spot.hands.append(Hand(spot.seat))
            yield from _packet(layout, spot.hand, facedown=blind)
        yield from layout.lay(PACKET, layout.dealer)
        for spot in layout.spots:
            yield from _decide(layout, spot, dealer_first=not blind)
        yield from self.show(layout)

    def show(self, layout: HouseLayout) -> Script[None]:
        """The dealer's hand, then each seat's from the dealer's right: it is turned, compared and settled."""
        yield from layout.turn(layout.dealer)
        for spot in reversed(layout.spots):
            yield from layout.turn(spot.hand)
            _settle(layout, spot)

    def in_dealt_order(self, cards: Sequence[Card]) -> list[int]:
        """The cards packet by packet, clockwise, the dealer's last, in whatever order they were shown."""
        return [card.rank for card in sorted(cards, key=lambda card: card.to or 99)]

    def worth(self, cards: Sequence[int]) -> str:
        """The class of a whole hand."""
        return NAMES[value_of(tuple(cards))[0]] if len(cards) == PACKET else ""

    def say_card(self, state: HouseState, prompt: AskCard) -> Phrase:
        """Whose packet is due."""
        place = "your own hand" if prompt.to == DEALER else f"the hand of seat {prompt.to}"
        if prompt.shown:
            return Phrase(f"Turn {place} and name its cards.", "Show.", self.cards["turn"])
        return Phrase(f"Card for seat {prompt.to}.", "Three cards each.", self.cards["seat"])


class ThreeCardPokerVersion1(ThreeCardPoker):
    """Three Card Poker as releases up to 0.9.0 dealt it: the seats' hands are turned before the dealer's."""

    version: ClassVar[int] = 1

    def show(self, layout: HouseLayout) -> Script[None]:
        for spot in reversed(layout.spots):
            yield from layout.turn(spot.hand)
        yield from layout.turn(layout.dealer)
        for spot in layout.spots:
            _settle(layout, spot)


# --- what hands are worth ---------------------------------------------------------------------------------------


def qualifies(value: Value) -> bool:
    """Whether a dealer's hand qualifies: queen high or better."""
    return value[0] > HIGH_CARD or value[1][0] >= _QUEEN


# --- the play of a round ----------------------------------------------------------------------------------------


@cache
def _wagers(spread: tuple[str, ...]) -> tuple[Wager, ...]:
    return (Wager("ante", "Ante", times=2), *(Wager(name, "Pair plus") for name in spread))


def _packet(layout: HouseLayout, hand: Hand, *, facedown: bool) -> Script[None]:
    if facedown:
        yield from layout.lay(PACKET, hand)
        return
    for _ in range(PACKET):
        yield from layout.deal(hand)


def _decide(layout: HouseLayout, spot: Spot, *, dealer_first: bool) -> Script[None]:
    """A seat with an ante plays or folds. A record may show the dealer's packet first, as it was dealt."""
    ante = spot.stake("ante")
    if ante is None:
        return
    choices = (Choice("play", ante.cents), Choice("fold"))
    choice = yield from layout.choose(spot.hand, choices, instead=layout.dealer if dealer_first else None)
    if choice == "play":
        spot.stakes.insert(1, Stake("play", ante.cents))
        return
    spot.hand.state = "fold"
    layout.lose(ante, because("fold"), outcome="fold")
    if (pair_plus := spot.stake("pair_plus")) is not None:
        layout.lose(pair_plus, because("fold"))


def _settle(layout: HouseLayout, spot: Spot) -> None:
    own, dealer = (value_of(tuple(hand.cards)) for hand in (spot.hand, layout.dealer))
    ante, play, pair_plus = spot.stake("ante"), spot.stake("play"), spot.stake("pair_plus")
    if ante is not None and play is not None:
        _compare(layout, ante, play, own, dealer)
        _pay_bonus(layout, ante, own[0])
    if pair_plus is not None and not pair_plus.outcome:
        _settle_pair_plus(layout, pair_plus, own)


def _compare(layout: HouseLayout, ante: Stake, play: Stake, own: Value, dealer: Value) -> None:
    hands = because("hands", seat=own[0], ranks=own[1], dealer=dealer[0], dealer_ranks=dealer[1])
    if not qualifies(dealer):
        layout.pay(ante, EVEN, because("not_qualified"))
        layout.push(play, because("not_qualified"))
        return
    for stake in (ante, play):
        if own > dealer:
            layout.pay(stake, EVEN, hands)
        elif own < dealer:
            layout.lose(stake, hands)
        else:
            layout.push(stake, hands)


def _pay_bonus(layout: HouseLayout, ante: Stake, kind: int) -> None:
    """Pay the ante bonus on top, whatever the dealer has."""
    if kind < STRAIGHT:
        return
    odds = layout.odds("ante_bonus", _LINES[kind])
    if odds.pays:
        layout.pay_on_top(ante, odds, because("ante_bonus", hand=kind, odds=odds.spelled))


def _settle_pair_plus(layout: HouseLayout, stake: Stake, own: Value) -> None:
    kind, ranks = own
    hand = because("hand", hand=kind, ranks=ranks)
    odds = layout.odds("pair_plus", _LINES[kind]) if kind >= PAIR else UNPAID
    if odds.pays:
        layout.pay(stake, odds, hand, paying(odds))
    else:
        layout.lose(stake, hand)


# --- reasons in words -------------------------------------------------------------------------------------------


def _say_hands(seat: int, ranks: Sequence[int], dealer: int, dealer_ranks: Sequence[int]) -> str:
    own, other = (seat, tuple(ranks)), (dealer, tuple(dealer_ranks))
    if own == other:
        return f"both have {hand_name(*own)}"
    return over(own, other) if own > other else f"the dealer's {over(other, own)}"
