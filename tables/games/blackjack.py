"""Blackjack: nearer to 21 than the dealer, without going over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta, structs

from tables.games import twenty_one
from tables.games.cards import RANK_OF, UNKNOWN
from tables.games.game import Due, Part, Script, Wager, Wording, Words
from tables.games.house_layout import Hand, HouseLayout, Spot, Stake
from tables.games.house_script import HouseScript, HouseState
from tables.games.odds import EVEN, HALF_TAKEN, HouseRules, Odds, half, paying
from tables.games.pays import PayForm
from tables.games.protocol import DEALER, MAIN, AskCard, AskChoice, Choice, Choose, Money, Phrase, because
from tables.games.scripted import say_choices
from tables.games.side_bets import PAY_FORM, REASONS, SIDE_BETS, settle_side_bets
from tables.games.twenty_one import (
    ACE,
    MOST,
    TEN,
    VALUE_OF,
    cards_by_value,
    has_blackjack,
    is_soft,
    pay_blackjack,
    settle,
    total,
)

Side = Literal["perfect_pairs", "twenty_one_plus_three"]


class Rules(HouseRules, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 6
    soft17: Annotated[Literal["stand", "hit"], Meta(description="What the dealer does on a soft 17.")] = "stand"
    blackjack_pays: Annotated[Literal["3:2", "6:5", "1:1"], Meta(description="What a blackjack pays.")] = "3:2"
    double: Annotated[
        Literal["any_two", "9_to_11", "10_to_11"], Meta(description="On which two cards a bet may be doubled.")
    ] = "any_two"
    double_after_split: Annotated[bool, Meta(description="Whether a split hand may be doubled.")] = True
    splits: Annotated[int, Meta(ge=0, le=3, description="How often a seat may split.")] = 3
    split_by: Annotated[
        Literal["value", "rank"], Meta(description="Whether two cards of one value may be split, or of one rank only.")
    ] = "value"
    resplit_aces: Annotated[bool, Meta(description="Whether aces may be split again.")] = False
    hit_split_aces: Annotated[bool, Meta(description="Whether split aces are played on.")] = False
    surrender: Annotated[
        Literal["none", "late", "early"],
        Meta(
            description="Whether a seat may give half of its bet away: late, when a dealer's blackjack takes all of it;"
            " or early, before the dealer's second card."
        ),
    ] = "none"
    insurance: Annotated[bool, Meta(description="Whether insurance is offered under an ace.")] = True
    hole: Annotated[
        Literal["peek", "none", "none_original"],
        Meta(
            description="A hole card that the dealer peeks at; none; or none, and a dealer's blackjack takes original"
            " bets only."
        ),
    ] = "peek"
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ()


STANDS: Final = 17
NO_BLACKJACK: Final = "no_blackjack"
_LOOK: Final = AskChoice(DEALER, (Choice(NO_BLACKJACK),))
_BLACKJACK: Final[Mapping[str, Odds]] = {"3:2": Odds(3, 2), "6:5": Odds(6, 5), "1:1": EVEN}
_DOUBLED_ON: Final[Mapping[str, range]] = {"9_to_11": range(9, 12), "10_to_11": range(10, 12)}
_INSURANCE: Final = Odds(2)


class Blackjack(HouseScript[Rules]):
    """The game, as the kernel plays it."""

    version: ClassVar[int] = 2
    name: ClassVar[str] = "blackjack"
    title: ClassVar[str] = "Blackjack"
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "hands": "dealer"}
    words: ClassVar[Mapping[str, Words]] = {
        "insure": Words("Insurance", "Place half of the bet on the line.", "Insurance pays 2 to 1 on a blackjack."),
        "decline": Words("No insurance", "Go on to the next seat.", "A seat may do without."),
        NO_BLACKJACK: Words(
            "No blackjack", "Leave the hole card facedown, and go on.", "Under an ace or a ten the dealer looks."
        ),
        "hit": Words("Hit", "Deal a card to the hand.", "More than 21 busts, and loses at once."),
        "stand": Words("Stand", "Go on to the next hand.", "A hand of 21 stands by itself."),
        "double": Words("Double", "Place the bet once more, deal one card.", "One card, and the hand stands."),
        "split": Words("Split", "Place the bet once more, and part the cards.", "Each card begins a hand of its own."),
        "surrender": Words("Surrender", "Take half of the bet and the cards.", "The house takes half of the bet."),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "seat": "Two cards to each seat; the dealer's second one lies facedown where the house deals a hole card.",
        "turn": "The hole card is turned when all seats are done, or to show a blackjack.",
    }
    reasons: ClassVar[Mapping[str, Wording]] = {**REASONS, **twenty_one.REASONS}
    suited: ClassVar[frozenset[str]] = frozenset(SIDE_BETS)
    spots: ClassVar[tuple[str, ...]] = (MAIN, "double", "split", "insurance", *SIDE_BETS)
    further: ClassVar[frozenset[str]] = frozenset({"double", "split", "insurance"})
    cut_part: ClassVar[int] = 4
    pay_form: ClassVar[PayForm] = PAY_FORM
    rules_type = Rules

    def wagers(self, rules: Rules) -> tuple[Wager, ...]:
        """The bet, and the side bets that go with it."""
        return _wagers(rules.spread)

    def results_of(self, rules: Rules, wager: str) -> Iterable[Odds]:
        """A blackjack, and half of the bet in a surrender. An insurance is whole chips from the start."""
        if wager != MAIN:
            return super().results_of(rules, wager)
        return [_BLACKJACK[rules.blackjack_pays], *([HALF_TAKEN] if rules.surrender != "none" else [])]

    def faults(self, rules: Rules) -> str:
        """Early surrender is decided before the dealer's second card, so it excludes the peek."""
        is_early = rules.surrender == "early" and rules.hole == "peek"
        return "early surrender goes with no hole card: choose late surrender, or hole none" if is_early else ""

    def script(self, rules: Rules, layout: HouseLayout) -> Script[None]:
        """Cards, insurance, the peek; seat by seat, hand by hand; then the dealer's hand."""
        yield from _first_cards(rules, layout)
        settle_side_bets(layout)
        yield from _offer_insurance(rules, layout)
        if rules.hole == "peek" and _upcard(layout) in (ACE, TEN):
            yield from _peek(layout)
            _settle_insurance(layout)
        if not has_blackjack(layout.dealer.cards):
            if self.pays_blackjacks_first and not _dealer_may_have_blackjack(rules, layout):
                _pay_blackjacks(rules, layout)
            for spot in layout.spots:
                yield from _play_seat(rules, layout, spot)
            yield from _dealers_turn(rules, layout)
            _settle_insurance(layout)
        for spot in layout.spots:
            settle(layout, spot, _BLACKJACK[rules.blackjack_pays], original_only=rules.hole == "none_original")

    pays_blackjacks_first: ClassVar[bool] = True
    """Whether a blackjack that the dealer cannot tie is paid before any further card."""

    def worth(self, cards: Sequence[int]) -> str:
        """The total, and whether it is soft."""
        if has_blackjack(cards):
            return "blackjack"
        points = total(cards)
        if len(cards) == 1:
            return "ace" if points == ACE + 10 else str(points)
        return f"soft {points}" if is_soft(cards) and points < MOST else str(points)

    def say_choice(self, state: HouseState, prompt: AskChoice, money: Money) -> Phrase:
        """A hand's total and its choices, as the dealer says them."""
        if prompt.seat == DEALER:
            return Phrase(
                "Look at your hole card: say that there is no blackjack, or turn it.",
                "Checking for blackjack.",
                self.words[NO_BLACKJACK].rule,
            )
        spot = next(spot for spot in state.spots if spot.seat == prompt.seat)
        place = f"Seat {prompt.seat}" + (f", hand {prompt.hand}" if len(spot.hands) > 1 else "")
        cards = spot.hands[prompt.hand - 1].cards
        if prompt.choices[0].name == "insure" and has_blackjack(cards):
            rule = "Insured, a blackjack wins even money whatever the hole card is."
            cost = money(prompt.choices[0].cost_cents)
            do = f"{place}, blackjack: insurance for {cost}, which is even money, or none."
            return Phrase(do, f"Even money, for {cost}?", rule)
        return say_choices(self.words, prompt, money, place=f"{place}, {self.worth(cards)}")

    def say_card(self, state: HouseState, prompt: AskCard) -> Phrase:
        """Whose card is due; for the dealer, the drawing rule."""
        if prompt.to != DEALER:
            hand = f", hand {prompt.hand}" if prompt.hand > 1 else ""
            return Phrase(f"Card for seat {prompt.to}{hand}.", f"Seat {prompt.to}.", self.cards["seat"])
        cards = tuple(card for card in state.hands[0].cards if card != UNKNOWN)
        if prompt.shown:
            return Phrase("Turn your hole card.", "Dealer shows.", self.cards["turn"])
        if not cards:
            return Phrase("Card for yourself, faceup.", "Dealer's card.", self.cards["seat"])
        rule = "The dealer draws to 16 and stands on 17" + (
            ", and draws on a soft 17." if state.rules.soft17 == "hit" else ", a soft one too."
        )
        return Phrase(f"Dealer has {self.worth(cards)}: draws.", f"Dealer {self.worth(cards)}, draws.", rule)


class BlackjackVersion1(Blackjack):
    """Blackjack as releases up to 0.9.0 dealt it.

    Without a hole card, a late surrender was an early one. A blackjack was paid together with the other hands.
    """

    version: ClassVar[int] = 1
    pays_blackjacks_first: ClassVar[bool] = False

    def script(self, rules: Rules, layout: HouseLayout) -> Script[None]:
        if rules.surrender == "late" and rules.hole != "peek":
            rules = structs.replace(rules, surrender="early")
        yield from super().script(rules, layout)


# --- before the decisions ---------------------------------------------------------------------------------------


@cache
def _wagers(spread: tuple[str, ...]) -> tuple[Wager, ...]:
    return (Wager(MAIN, "Bet"), *(Wager(name, SIDE_BETS[name].paid.title, needs=MAIN) for name in spread))


def _first_cards(rules: Rules, layout: HouseLayout) -> Script[None]:
    for spot in layout.spots:
        spot.hands.append(Hand(spot.seat))
        spot.stakes[0].hand = 1
        yield from layout.deal(spot.hand)
    yield from layout.deal(layout.dealer)
    for spot in layout.spots:
        yield from layout.deal(spot.hand)
    if rules.hole == "peek":
        yield from layout.lay(1, layout.dealer)


def _upcard(layout: HouseLayout) -> int:
    return VALUE_OF[layout.dealer.cards[0]]


def _offer_insurance(rules: Rules, layout: HouseLayout) -> Script[None]:
    if not rules.insurance or _upcard(layout) != ACE:
        return
    for spot in layout.spots:
        price = half(spot.stakes[0].cents, rules.unit)
        if 0 < price <= layout.room_cents():
            choices = (Choice("insure", price), Choice("decline"))
            if (yield from layout.choose(spot.hand, choices)) == "insure":
                spot.stakes.append(Stake("insurance", price))


def _peek(layout: HouseLayout) -> Script[None]:
    """The dealer peeks: a hole card that makes a blackjack is turned; any other is only declared not to make one."""
    makes_one = ACE if _upcard(layout) == TEN else TEN
    blackjacks, other_cards = cards_by_value(len(layout.gone), makes_one)
    action = yield (_LOOK, layout.turning(layout.dealer, 1, other_cards))
    if type(action) is Choose:
        layout.ruled_out = blackjacks
    else:
        layout.turned(layout.dealer, 1, action)


def _settle_insurance(layout: HouseLayout) -> None:
    for _, stake in layout.stakes("insurance"):
        if has_blackjack(layout.dealer.cards):
            layout.pay(stake, _INSURANCE, because("dealer_blackjack"), paying(_INSURANCE))
        else:
            layout.lose(stake, because("no_dealer_blackjack"))


def _pay_blackjacks(rules: Rules, layout: HouseLayout) -> None:
    """Pay every blackjack, from the dealer's right as at the end of a round. The dealer has none."""
    for spot in reversed(layout.spots):
        if has_blackjack(spot.hand.cards):
            spot.hand.state = "blackjack"
            pay_blackjack(layout, spot.stakes[0], _BLACKJACK[rules.blackjack_pays])


# --- the seats' decisions ---------------------------------------------------------------------------------------


def _play_seat(rules: Rules, layout: HouseLayout, spot: Spot) -> Script[None]:
    if has_blackjack(spot.hand.cards):
        spot.hand.state = "blackjack"
        return
    place = 0
    while place < len(spot.hands):
        yield from _play_hand(rules, layout, spot, spot.hands[place])
        place += 1


def _play_hand(rules: Rules, layout: HouseLayout, spot: Spot, hand: Hand) -> Script[None]:
    """One hand, to its end; a split leaves its second card as a hand of its own, which comes next."""
    stake = spot.stakes[hand.number - 1]
    while True:
        if len(hand.cards) == 1:
            yield from layout.deal(hand)
        points = total(hand.cards)
        if points >= MOST:
            break
        choices = _choices(rules, layout, spot, hand)
        choice = yield from layout.choose(hand, choices)
        if choice == "stand":
            break
        if choice == "surrender":
            hand.state = "surrender"
            if not (_dealer_may_have_blackjack(rules, layout) and rules.surrender == "late"):
                layout.halve(stake, because("surrender"), outcome="surrender")
            return
        if choice == "split":
            _split(spot, hand)
            continue
        if choice == "double":
            stake.double()
            hand.is_doubled = True
        yield from layout.deal(hand)
        if choice == "double":
            break
    hand.state = "stands"
    if total(hand.cards) > MOST:
        hand.state = "bust"
        layout.lose(stake, because("bust", points=total(hand.cards)), outcome="bust")


def _choices(rules: Rules, layout: HouseLayout, spot: Spot, hand: Hand) -> tuple[Choice, ...]:
    """Choices of a hand below 21."""
    cards, bet_cents = hand.cards, spot.stakes[hand.number - 1].cents
    is_split, first_two = len(spot.hands) > 1, len(cards) == 2
    room = first_two and bet_cents <= layout.room_cents()
    of_aces = is_split and VALUE_OF[cards[0]] == ACE
    may_split = room and len(spot.hands) <= rules.splits and _is_pair(rules, cards)
    if of_aces and not rules.resplit_aces:
        may_split = False
    split = (Choice("split", bet_cents),) if may_split else ()
    if of_aces and not rules.hit_split_aces:
        return (Choice("stand"), *split)
    may_double = room and (rules.double_after_split or not is_split) and _may_double(rules, cards)
    double = (Choice("double", bet_cents),) if may_double else ()
    gives_up = rules.surrender != "none" and first_two and not is_split
    surrender = (Choice("surrender"),) if gives_up else ()
    return (Choice("hit", draws=True), Choice("stand"), *double, *split, *surrender)


def _is_pair(rules: Rules, cards: Sequence[int]) -> bool:
    of = VALUE_OF if rules.split_by == "value" else RANK_OF
    return of[cards[0]] == of[cards[1]]


def _may_double(rules: Rules, cards: Sequence[int]) -> bool:
    if rules.double == "any_two":
        return True
    return not is_soft(cards) and total(cards) in _DOUBLED_ON[rules.double]


def _split(spot: Spot, hand: Hand) -> None:
    """The hand keeps its number and its first card; the other card is the hand that follows it."""
    new = Hand(hand.seat)
    new.cards.append(hand.cards.pop())
    spot.hands.insert(hand.number, new)
    cents = spot.stakes[hand.number - 1].cents
    spot.stakes.insert(hand.number, Stake(MAIN, cents, parts=(("split", cents),)))
    for number in range(1, len(spot.hands) + 1):
        spot.hands[number - 1].number = spot.stakes[number - 1].hand = number


# --- the dealer -------------------------------------------------------------------------------------------------


def _dealers_turn(rules: Rules, layout: HouseLayout) -> Script[None]:
    """The hole card is turned, or drawn if a seat's result depends on it; more cards are drawn only if a hand
    stands."""
    dealer, waits = layout.dealer, any(hand.state == "stands" for spot in layout.spots for hand in spot.hands)
    if rules.hole == "peek":
        yield from layout.turn(dealer, layout.ruled_out)
    elif waits or (_dealer_may_have_blackjack(rules, layout) and _waits_for_blackjack(layout)):
        yield from layout.deal(dealer)
    while waits and _draws(rules, dealer.cards):
        yield from layout.deal(dealer)


def _dealer_may_have_blackjack(rules: Rules, layout: HouseLayout) -> bool:
    """Whether the seats have to wait for the dealer's second card to know."""
    return rules.hole != "peek" and _upcard(layout) in (ACE, TEN)


def _waits_for_blackjack(layout: HouseLayout) -> bool:
    """Whether a hand, an insurance or a late surrender is decided by it."""
    undecided = (spot.hands[stake.hand - 1] for spot, stake in layout.stakes(MAIN) if stake.hand)
    return any(hand.state in {"blackjack", "surrender"} for hand in undecided) or any(layout.stakes("insurance"))


def _draws(rules: Rules, cards: Sequence[int]) -> bool:
    points = total(cards)
    return points < STANDS or (points == STANDS and rules.soft17 == "hit" and is_soft(cards))
