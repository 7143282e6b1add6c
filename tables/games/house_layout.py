"""Layout of a house-banked game on standard cards: wagers and hands of the seats, the dealer's hand, and the shoe.

It is the working memory of a script and changes with it; only `house_script.py` holds one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct, structs

from tables.games.cards import UNKNOWN, pack_of
from tables.games.game import Script, Wager
from tables.games.odds import HouseRules, Odds, half
from tables.games.pays import Pays
from tables.games.protocol import (
    DEALER,
    MOST_CENTS,
    PAID_EXACTLY,
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
    Illegal,
    Limits,
    Opening,
    Reason,
    Why,
)

Placed = dict[int, dict[str, int]]
"""Bets by seat and wager, in minor units; seats without one are not in it."""

_CLOSE: Final = AskCloseBets()
_NONE: Final[Mapping[str, int]] = {}
_NO_PAYS: Final[Pays] = {}


class Hand(Struct, eq=False):
    """One hand: a seat's, the dealer's, or one that belongs to no seat."""

    seat: int
    number: int = 1
    name: str = ""
    cards: list[int] = []
    state: str = ""
    """Its state, such as "stands" or "bust"; the cards of a dead hand are discards."""
    is_doubled: bool = False

    @property
    def is_dead(self) -> bool:
        """Whether the cards of the hand are discards while the round is still in progress."""
        return self.state in {"bust", "surrender"}


class Stake(Struct, eq=False):
    """A wager on the layout, and its result."""

    bet: str
    cents: int
    hand: int | None = None
    returned_cents: int = 0
    outcome: str = ""
    why: Why = ()
    broken_cents: str = ""
    parts: tuple[tuple[str, int], ...] = ()
    """The (wager, cents) pairs that it consists of, if it is not a single bet."""
    commission_cents: int = 0

    def double(self) -> None:
        """The bet is put up once more."""
        self.parts = (*(self.parts or ((self.bet, self.cents),)), ("double", self.cents))
        self.cents *= 2


class Spot(Struct, eq=False):
    """A seat that bet."""

    seat: int
    stakes: list[Stake]
    hands: list[Hand] = []

    def stake(self, bet: str) -> Stake | None:
        """The wager of a name."""
        return next((stake for stake in self.stakes if stake.bet == bet), None)

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
        "pays",
        "placed",
        "ruled_out",
        "rules",
        "spots",
    )

    def __init__(self, opening: Opening, decks: int, rules: HouseRules, pays: Pays = _NO_PAYS) -> None:
        self.opening, self.decks, self.rules, self.pays = opening, decks, rules, pays
        self.pack = pack_of(opening.dealt)
        self.gone = [*opening.dealt]
        self.left = self.pack.size * decks - sum(opening.dealt) - (opening.unseen or 0)
        self.burned = opening.unseen or 0
        """Unseen cards that left the shoe."""
        self.placed: Placed = {}
        """The bets on the layout while betting is open."""
        self.spots: list[Spot] = []
        self.dealer = Hand(DEALER)
        self.hands: list[Hand] = [self.dealer]
        """The hands in front of the dealer."""
        self.facedown: dict[tuple[int, int], int] = {}
        """For each facedown card, by seat and place: how many cards were left when it was dealt."""
        self.certain = UNKNOWN
        """The only possible rank of the one facedown card, once all others are accounted for; otherwise UNKNOWN."""
        self.ruled_out: tuple[int, ...] = ()
        """Ranks that the dealer's facedown card cannot have, after the peek."""

    # --- bets ---

    def take_bets(self, wagers: tuple[Wager, ...], steps: Mapping[str, int]) -> Script[None]:
        """Bets, until there are no more; then only the seats that bet count.

        ``steps``: by wager, the chip units of which a bet is a multiple.
        """
        stepped = tuple((wager, steps.get(wager.name, 1)) for wager in wagers)
        spread = _spread_of(self.opening.seats, self.opening.limits, self.rules.unit, stepped)
        asks, placed = [*spread.prompts], self.placed
        action = yield spread.prompts
        while type(action) is Bet:
            if not action.amount_cents:
                spread.take_off(placed, action)
            elif action.seat in placed:
                placed[action.seat][action.wager] = action.amount_cents
            else:
                placed[action.seat] = {action.wager: action.amount_cents}
            spread.after(asks, placed, action)
            action = yield (*spread.within_limits(asks, placed), _CLOSE) if placed else spread.prompts
        self.placed = {}
        for seat in self.opening.seats:
            if own := placed.get(seat):
                stakes = [Stake(wager.name, own[wager.name]) for wager in wagers if wager.name in own]
                self.spots.append(Spot(seat, stakes))

    def room_cents(self) -> int:
        """What may still be staked under the table aggregate limit."""
        cap = self.opening.limits.cap_cents
        if cap is None:
            return MOST_CENTS
        return cap - sum(stake.cents for spot in self.spots for stake in spot.stakes if not stake.outcome)

    # --- cards ---

    def deal(self, hand: Hand) -> Script[None]:
        """The next card of the shoe, turned faceup, to a hand."""
        if not self.left:
            yield from self._refill()
        number = hand.number if hand.name or hand.number > 1 else 0
        action = yield (AskCard(hand.seat, tuple(self.gone), self.decks, hand=number),)
        assert type(action) is Card  # noqa: S101 -- nothing else answers this prompt
        self.gone[action.rank - 1] += 1
        self.left -= 1
        hand.cards.append(action.rank)

    def lay(self, cards: int, hand: Hand) -> Script[None]:
        """Deal facedown cards to a hand; they are UNKNOWN until they are turned."""
        for _ in range(cards):
            if not self.left:
                yield from self._refill()
            self.facedown[hand.seat, len(hand.cards)] = self.left
            hand.cards.append(UNKNOWN)
            self.left -= 1

    def lies_at(self, hand: Hand) -> tuple[int, ...]:
        """With how many cards left each facedown card of a hand was dealt."""
        return tuple(dealt_at for (seat, _), dealt_at in self.facedown.items() if seat == hand.seat)

    def turning(self, hand: Hand, place: int, barred: tuple[int, ...] = ()) -> AskCard:
        """The prompt to turn a facedown card."""
        gone, lies_at = [*self.gone], self.facedown.get((hand.seat, place), 0)
        if self.certain:
            gone[self.certain - 1] -= 1
            barred = tuple(card for card in range(1, len(gone) + 1) if card != self.certain)
        return AskCard(hand.seat, tuple(gone), self.decks, shown=True, barred=barred, lies_at=lies_at)

    def turn(self, hand: Hand, barred: tuple[int, ...] = ()) -> Script[None]:
        """Turn the facedown cards of a hand."""
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
        """Burn unseen cards."""
        for _ in range(cards):
            if not self.left:
                yield from self._refill()
            self.left -= 1
            self.burned += 1

    def set_aside(self, card: int) -> None:
        """A card leaves the shoe unplayed; it is among the discards from here on."""
        self.left -= 1
        if card == UNKNOWN:
            self.burned += 1
        else:
            self.gone[card - 1] += 1

    def _in_play(self) -> list[int]:
        hands = [*self.hands, *(hand for spot in self.spots for hand in spot.hands)]
        return [card for hand in hands if not hand.is_dead for card in hand.cards]

    def _refill(self) -> Script[None]:
        """The shoe runs out in mid-round: all cards not in play are shuffled and dealt.

        If a single card is unaccounted for, it is the one that is facedown; it is not a discard.
        """
        in_play = self._in_play()
        cards_left = self.pack.size * self.decks - len(in_play)
        if cards_left <= 0:
            raise Illegal("no_card", "the shoe is out, and nothing is left to shuffle", place="cards")
        yield (AskShuffle(cards_left, 0),)
        in_play_counts = [*self.pack.count(in_play)]
        missing = [copies - out for copies, out in zip(self.pack.shoes[self.decks], self.gone, strict=True)]
        if len(self.facedown) == sum(missing) == 1 and not self.certain:
            self.certain = missing.index(1) + 1
        if self.certain:
            in_play_counts[self.certain - 1] += 1
        self.gone, self.left, self.burned = in_play_counts, cards_left, 0
        self.facedown = {place: -dealt_at for place, dealt_at in self.facedown.items()}

    # --- decisions ---

    def choose(self, hand: Hand, choices: Sequence[Choice], *, instead: Hand | None = None) -> Script[str]:
        """A seat's decision about a hand. A decision with one legal answer is carried out without a prompt.

        Until it is made, the facedown hand `instead` may be turned, card by card.
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

    def odds(self, wager: str, line: str = "") -> Odds:
        """Odds in force for a line of a wager; a pay table of one line names it after the wager."""
        return self.pays[wager][line or wager]

    def pay(self, stake: Stake, odds: Odds, *why: Reason, outcome: str = "win") -> None:
        """The stake goes back with its winnings."""
        winnings, broken = odds.of(stake.cents, self.rules.unit, self.rules.rounding)
        stake.returned_cents, stake.outcome, stake.why = stake.cents + winnings, outcome, why
        if broken:
            stake.broken_cents = f"{broken}/{odds.to}"

    def pay_on_top(self, stake: Stake, odds: Odds, reason: Reason) -> None:
        """Pay a bonus on a stake whose own result is even or decided elsewhere: rounding concerns the bonus only."""
        winnings, broken = odds.of(stake.cents, self.rules.unit, self.rules.rounding)
        stake.returned_cents += winnings
        stake.why = (*stake.why, reason)
        if broken:
            stake.broken_cents = f"{broken}/{odds.to}"

    def lose(self, stake: Stake, *why: Reason, outcome: str = "lose") -> None:
        """The casino takes the stake."""
        stake.outcome, stake.why = outcome, why

    def push(self, stake: Stake, *why: Reason) -> None:
        """The stake goes back."""
        stake.returned_cents, stake.outcome, stake.why = stake.cents, "push", why

    def halve(self, stake: Stake, *why: Reason, outcome: str) -> None:
        """The casino takes half of the stake."""
        stake.returned_cents = stake.cents - half(stake.cents, self.rules.unit)
        stake.outcome, stake.why = outcome, why

    def stakes(self, bet: str) -> Iterator[tuple[Spot, Stake]]:
        """Every wager of a name that is not decided yet, clockwise."""
        for spot in self.spots:
            for stake in spot.stakes:
                if stake.bet == bet and not stake.outcome:
                    yield spot, stake


# --- prompts for bets --------------------------------------------------------------------------------------------


class Spread:
    """What seats may bet on, under the table's limits."""

    __slots__ = ("limits", "places", "prompts", "touched", "wagers")

    def __init__(
        self, seats: tuple[int, ...], limits: Limits, unit: int, stepped: tuple[tuple[Wager, int], ...]
    ) -> None:
        wagers = tuple(wager for wager, _ in stepped)
        self.limits, self.wagers = limits, wagers
        self.places = {seat: index * len(wagers) for index, seat in enumerate(seats)}
        """Index of each seat's first prompt."""
        self.touched = {wager.name: _touched(wagers, wager.name) for wager in wagers}
        asks = [_first_ask(seat, limits, unit, wager, step) for seat in seats for wager, step in stepped]
        self.prompts = tuple(self.within_limits(asks, {}) if limits.bind_bets else asks)
        """Those that every round begins with."""

    def after(self, asks: list[AskBet], placed: Placed, action: Bet) -> None:
        """A bet changes the prompts of its own wager and of those that go with it or against it."""
        own, first = placed.get(action.seat, _NONE), self.places[action.seat]
        for index, wager in self.touched[action.wager]:
            asks[first + index] = structs.replace(
                asks[first + index],
                placed_cents=own.get(wager.name, 0),
                needs="" if wager.needs in own else wager.needs,
                opposite=wager.opposite if wager.opposite in own else "",
            )

    def within_limits(self, asks: list[AskBet], placed: Placed) -> list[AskBet]:
        """The prompts, with bets bounded by the table aggregate limit and each seat's maximum.

        Against the aggregate limit, a bet counts with the raises that it may require.
        """
        limits = self.limits
        if not limits.bind_bets:
            return asks
        times = {wager.name: wager.times for wager in self.wagers}
        at_stake = sum(cents * times[name] for own in placed.values() for name, cents in own.items())
        room = MOST_CENTS if limits.cap_cents is None else limits.cap_cents - at_stake
        bound = []
        for ask in asks:
            fits, most = room // times[ask.wager] + ask.placed_cents, limits.of(ask.wager)[1]
            at_seat = limits.room_of(sum(placed.get(ask.seat, {}).values())) + ask.placed_cents
            high = min(fits, at_seat, most)
            bound.append(
                structs.replace(
                    ask, high_cents=high, capped=fits == high < most, seat_full=high < most and at_seat < fits
                )
            )
        return bound

    def take_off(self, placed: Placed, action: Bet) -> None:
        """A wager is taken off the layout, and with it those that go with it alone."""
        own = placed.get(action.seat, {})
        for wager in self.wagers:
            if action.wager in (wager.name, wager.needs):
                own.pop(wager.name, None)
        if not own:
            placed.pop(action.seat, None)


_spread_of = lru_cache(maxsize=1_000)(Spread)
"""Every round of a table begins with the same prompts."""


def _touched(wagers: tuple[Wager, ...], name: str) -> tuple[tuple[int, Wager], ...]:
    """The wagers whose prompts change with a bet on one wager, with their indexes.

    They are the wager itself, those that need or exclude it, and those that depend on one removed with it.
    """
    names = {name, *(wager.name for wager in wagers if wager.needs == name)}
    return tuple(
        (index, wager)
        for index, wager in enumerate(wagers)
        if not names.isdisjoint((wager.name, wager.needs, wager.opposite))
    )


def _first_ask(seat: int, limits: Limits, unit: int, wager: Wager, multiple: int) -> AskBet:
    _, most = limits.of(wager.name)
    step, reason = limits.step_of(unit * multiple, PAID_EXACTLY if multiple > 1 else "the chip unit")
    low = -(-max(limits.least(wager.name, seat), step) // step) * step
    return AskBet(seat, low, most, step, step_is=reason, wager=wager.name, needs=wager.needs)
