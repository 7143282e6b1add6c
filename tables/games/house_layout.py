"""The layout of a house-banked game on standard cards: seats with their wagers and hands, the dealer's, and the shoe.

It is the working memory of a script, changed as the script goes; nobody outside ``house_script.py`` ever holds one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import structs

from tables.games.cards import UNKNOWN, WHOLE, pack_of
from tables.games.felt import (
    DEALER,
    MOST_CENTS,
    Action,
    AskBet,
    AskCard,
    AskChoice,
    AskCloseBets,
    AskShuffle,
    Bet,
    Card,
    Choice,
    Choose,
    CloseBets,
    Illegal,
    Limits,
    Opening,
    Prompt,
)
from tables.games.game import Script, Wager
from tables.games.odds import HouseRules, Odds, half

_CLOSE: Final = AskCloseBets()


class Hand:
    """One hand: a seat's, the dealer's, or one that nobody has for himself."""

    __slots__ = ("cards", "is_doubled", "name", "number", "seat", "state")

    def __init__(self, seat: int, number: int = 1, name: str = "") -> None:
        self.seat, self.number, self.name = seat, number, name
        self.cards: list[int] = []
        self.state = ""
        """What became of it: "stands", "bust"; a dead one is among the discards."""
        self.is_doubled = False

    @property
    def is_dead(self) -> bool:
        """Whether its cards are discards already, while the round goes on."""
        return self.state in {"bust", "surrender"}


class Stake:
    """A wager as it lies on the layout, and what became of it."""

    __slots__ = ("bet", "broken_cents", "cents", "hand", "outcome", "returned_cents", "why")

    def __init__(self, bet: str, cents: int, hand: int | None = None) -> None:
        self.bet, self.cents, self.hand = bet, cents, hand
        self.returned_cents = 0
        self.outcome = self.why = self.broken_cents = ""


class Spot:
    """A seat that bet."""

    __slots__ = ("hands", "seat", "stakes")

    def __init__(self, seat: int, stakes: list[Stake]) -> None:
        self.seat, self.stakes = seat, stakes
        self.hands: list[Hand] = []

    def stake(self, bet: str, hand: int | None = None) -> Stake | None:
        """The wager of a name, and of a hand where it says so."""
        for stake in self.stakes:
            if stake.bet == bet and (hand is None or stake.hand == hand):
                return stake
        return None

    @property
    def hand(self) -> Hand:
        """The seat's only hand."""
        return self.hands[0]


class HouseLayout:
    """Everything on the table."""

    __slots__ = (
        "burned",
        "certain",
        "dealer",
        "decks",
        "facedown",
        "gone",
        "hands",
        "left",
        "opening",
        "pack",
        "placed",
        "ruled_out",
        "rules",
        "spots",
        "whole",
    )

    def __init__(self, opening: Opening, decks: int, rules: HouseRules) -> None:
        self.opening, self.decks, self.rules = opening, decks, rules
        self.pack = pack_of(opening.dealt)
        self.whole = WHOLE[len(opening.dealt)][decks]
        self.gone = [*opening.dealt]
        self.left = self.pack.size * decks - sum(opening.dealt) - (opening.unseen or 0)
        self.burned = opening.unseen or 0
        """Cards that left the shoe and nobody saw."""
        self.placed: Sequence[tuple[int, str, int]] = ()
        """(seat, wager, cents) of what lies there while bets are open."""
        self.spots: list[Spot] = []
        self.dealer = Hand(DEALER)
        self.hands: list[Hand] = [self.dealer]
        """The hands before the dealer."""
        self.facedown: dict[tuple[int, int], int] = {}
        """Of the cards that lie facedown, by seat and place: with how many cards left each was dealt."""
        self.certain = UNKNOWN
        """The one card that lies facedown, where all others are accounted for."""
        self.ruled_out: tuple[int, ...] = ()
        """What the dealer's facedown card is not, as the peek told."""

    # --- bets ---

    def take_bets(self, wagers: tuple[Wager, ...]) -> Script[None]:
        """Bets, until there are no more; then only the seats that bet count."""
        seats, limits, step = self.opening.seats, self.opening.limits, self.rules.unit
        placed: dict[tuple[int, str], int] = {}
        prompts: tuple[Prompt, ...] = _first_bets(seats, limits, step, wagers)
        while True:
            action = yield prompts
            if type(action) is CloseBets:
                break
            assert type(action) is Bet  # noqa: S101 -- nothing else answers these prompts
            if action.amount_cents:
                placed[action.seat, action.wager] = action.amount_cents
            else:
                _take_off(placed, action, wagers)
            self.placed = tuple((seat, wager, cents) for (seat, wager), cents in placed.items())
            prompts = _more_bets(prompts, action, placed, limits, wagers)
        self.placed = ()
        for seat in seats:
            stakes = [Stake(wager.name, placed[seat, wager.name]) for wager in wagers if (seat, wager.name) in placed]
            if stakes:
                self.spots.append(Spot(seat, stakes))

    def room_cents(self) -> int:
        """What may still be put at stake under the table's cap."""
        cap = self.opening.limits.cap_cents
        if cap is None:
            return MOST_CENTS
        return cap - sum(stake.cents for spot in self.spots for stake in spot.stakes if not stake.outcome)

    # --- cards ---

    def draw(self, to: int, hand: int = 0) -> Script[int]:
        """The next card of the shoe, turned faceup, for the caller to lay down."""
        if not self.left:
            yield from self._refill()
        action = yield (AskCard(to, tuple(self.gone), self.decks, hand=hand),)
        assert type(action) is Card  # noqa: S101 -- nothing else answers this prompt
        self.gone[action.rank - 1] += 1
        self.left -= 1
        return action.rank

    def deal(self, hand: Hand) -> Script[None]:
        """A card to a hand."""
        card = yield from self.draw(hand.seat, hand.number if hand.name or hand.number > 1 else 0)
        hand.cards.append(card)

    def lay(self, cards: int, hand: Hand) -> Script[None]:
        """Cards leave the shoe facedown for a hand, and nobody knows them until they are turned."""
        for _ in range(cards):
            if not self.left:
                yield from self._refill()
            self.facedown[hand.seat, len(hand.cards)] = self.left
            hand.cards.append(UNKNOWN)
            self.left -= 1

    def turning(self, hand: Hand, place: int, barred: tuple[int, ...] = ()) -> AskCard:
        """What asks for a facedown card to be turned."""
        gone, lies_at = [*self.gone], self.facedown.get((hand.seat, place), 0)
        if self.certain:
            gone[self.certain - 1] -= 1
            barred = tuple(card for card in range(1, len(gone) + 1) if card != self.certain)
        return AskCard(hand.seat, tuple(gone), self.decks, shown=True, barred=barred, lies_at=lies_at)

    def turn(self, hand: Hand, barred: tuple[int, ...] = ()) -> Script[None]:
        """The facedown cards of a hand are turned where they lie."""
        for place, card in enumerate(hand.cards):
            if card == UNKNOWN:
                action = yield (self.turning(hand, place, barred),)
                self.turned(hand, place, action)

    def turned(self, hand: Hand, place: int, action: Action) -> None:
        """A facedown card was turned: from here on it is known."""
        assert type(action) is Card  # noqa: S101 -- nothing else answers this prompt
        hand.cards[place] = action.rank
        self.facedown.pop((hand.seat, place), None)
        if not self.certain:
            self.gone[action.rank - 1] += 1
        self.certain = UNKNOWN

    def burn(self, cards: int) -> Script[None]:
        """Cards leave the shoe that nobody sees."""
        for _ in range(cards):
            if not self.left:
                yield from self._refill()
            self.left -= 1
            self.burned += 1

    def _in_play(self) -> list[int]:
        hands = [*self.hands, *(hand for spot in self.spots for hand in spot.hands)]
        return [card for hand in hands if not hand.is_dead for card in hand.cards]

    def _refill(self) -> Script[None]:
        """The shoe is out in mid-round: all cards that are not in play are shuffled and dealt on.

        Where one card alone is not accounted for, it is the one that lies facedown; it is no discard.
        """
        in_play = self._in_play()
        left = self.pack.size * self.decks - len(in_play)
        if left <= 0:
            raise Illegal("no_card", "the shoe is out, and nothing is left to shuffle", place="cards")
        yield (AskShuffle(left, 0),)
        kept = [*self.pack.count(in_play)]
        missing = [held - out for held, out in zip(self.whole, self.gone, strict=True)]
        if len(self.facedown) == sum(missing) == 1 and not self.certain:
            self.certain = missing.index(1) + 1
        if self.certain:
            kept[self.certain - 1] += 1
        self.gone, self.left, self.burned = kept, left, 0
        self.facedown = {place: -dealt_at for place, dealt_at in self.facedown.items()}

    # --- decisions ---

    def choose(self, hand: Hand, choices: Sequence[Choice], *, instead: Hand | None = None) -> Script[str]:
        """What a seat decides about a hand. A decision with one legal answer is not asked, it is carried out.

        Meanwhile a facedown hand may be turned ``instead``, card by card.
        """
        if len(choices) == 1:
            return choices[0].name
        ask = AskChoice(hand.seat, tuple(choices), hand=hand.number)
        while instead is not None and UNKNOWN in instead.cards:
            place = instead.cards.index(UNKNOWN)
            action = yield (ask, self.turning(instead, place))
            if type(action) is Choose:
                return action.choice
            self.turned(instead, place, action)
        action = yield (ask,)
        assert type(action) is Choose  # noqa: S101 -- nothing else answers this prompt
        return action.choice

    # --- what becomes of wagers ---

    def pay(self, stake: Stake, odds: Odds, why: str, outcome: str = "win") -> None:
        """The stake goes back with its winnings."""
        winnings = odds.of(stake.cents, self.rules.unit, self.rules.rounding)
        stake.returned_cents, stake.outcome, stake.why = stake.cents + winnings, outcome, why
        broken, parts = odds.breakage(stake.cents, winnings)
        if broken:
            stake.broken_cents = f"{broken}/{parts}"

    def pay_on_top(self, stake: Stake, odds: Odds, why: str) -> None:
        """A bonus on a stake that is decided otherwise."""
        winnings = odds.of(stake.cents, self.rules.unit, self.rules.rounding)
        stake.returned_cents += winnings
        stake.why = f"{stake.why}; {why}"

    def lose(self, stake: Stake, why: str, outcome: str = "lose") -> None:
        """The house takes the stake."""
        stake.outcome, stake.why = outcome, why

    def push(self, stake: Stake, why: str, outcome: str = "push") -> None:
        """The stake goes back."""
        stake.returned_cents, stake.outcome, stake.why = stake.cents, outcome, why

    def halve(self, stake: Stake, why: str, outcome: str) -> None:
        """The house takes half of the stake."""
        stake.returned_cents = stake.cents - half(stake.cents, self.rules.unit)
        stake.outcome, stake.why = outcome, why

    def stakes(self, bet: str) -> Iterator[tuple[Spot, Stake]]:
        """Every wager of a name that is not decided yet, clockwise."""
        for spot in self.spots:
            for stake in spot.stakes:
                if stake.bet == bet and not stake.outcome:
                    yield spot, stake


# --- prompts for bets --------------------------------------------------------------------------------------------


@lru_cache(maxsize=1_000)
def _first_bets(seats: tuple[int, ...], limits: Limits, step: int, wagers: tuple[Wager, ...]) -> tuple[AskBet, ...]:
    """Every round of a table begins with the same prompts."""
    asks = []
    for seat in seats:
        for wager in wagers:
            least, most = limits.of(wager.name)
            low = -(-max(least, step) // step) * step
            ask = AskBet(seat, low, most, step, step_is="the chip unit", wager=wager.name, needs=wager.needs)
            asks.append(_within_cap(ask, {}, limits, wagers))
    return tuple(asks)


def _more_bets(
    prompts: tuple[Prompt, ...],
    action: Bet,
    placed: Mapping[tuple[int, str], int],
    limits: Limits,
    wagers: tuple[Wager, ...],
) -> tuple[Prompt, ...]:
    """The prompts after a bet: those of its own seat change, and under a cap all others too."""
    asks: list[Prompt] = []
    for ask in prompts:
        if type(ask) is not AskBet:
            continue
        if ask.seat == action.seat:
            ask = _after_own_bet(ask, placed, wagers)
        asks.append(ask if limits.cap_cents is None else _within_cap(ask, placed, limits, wagers))
    return (*asks, _CLOSE) if placed else tuple(asks)


def _after_own_bet(ask: AskBet, placed: Mapping[tuple[int, str], int], wagers: Iterable[Wager]) -> AskBet:
    wager = next(wager for wager in wagers if wager.name == ask.wager)
    return structs.replace(
        ask,
        placed_cents=placed.get((ask.seat, ask.wager), 0),
        needs="" if (ask.seat, wager.needs) in placed else wager.needs,
        opposite=wager.opposite if (ask.seat, wager.opposite) in placed else "",
    )


def _within_cap(ask: AskBet, placed: Mapping[tuple[int, str], int], limits: Limits, wagers: Iterable[Wager]) -> AskBet:
    """What a bet may be so that the table's cap holds, with what it may have to be raised by."""
    if limits.cap_cents is None:
        return ask
    times = {wager.name: wager.times for wager in wagers}
    lying = sum(cents * times[name] for (_, name), cents in placed.items())
    own = placed.get((ask.seat, ask.wager), 0)
    room = (limits.cap_cents - lying) // times[ask.wager] + own
    most = limits.of(ask.wager)[1]
    return structs.replace(ask, high_cents=min(room, most), capped=room < most)


def _take_off(placed: dict[tuple[int, str], int], action: Bet, wagers: Iterable[Wager]) -> None:
    """A wager is taken off the layout, and with it those that go with it alone."""
    placed.pop((action.seat, action.wager), None)
    for wager in wagers:
        if wager.needs == action.wager:
            placed.pop((action.seat, wager.name), None)
