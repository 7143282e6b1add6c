"""Rocket: every seat against the dealer, who always hits, pays on a pair, and dies on a 3.

Designed by James Ernest and Paul Peterson. Every payment is a rank times a tenth of the bet, and a bet is a
multiple of ten chip units, so no amount is ever rounded.

Written by hand, not as a script like the other games: a state then leads on in any number of ways at one cost, where a
script replays the round up to it. A scripted Rocket had 81 lines less and passed the same tests. In one run of `bench
engine` it played 4,700 rounds/s by `prompts` and `play` (this one: 6,800) and 8,900 by `run` (10,400), and an action
from a state that had already led on took 34 us (2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import compress
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, structs

from tables.games.cards import DECK, DECK_SIZE, PAIRS, UNKNOWN, Composition, Pack, count
from tables.games.game import BankedGame, Due, Part, Picture, Wager, Wording, Words
from tables.games.protocol import (
    DEALER,
    MAIN,
    MOST_CENTS,
    TEN_UNITS,
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
    Money,
    Opening,
    Payout,
    Phrase,
    Prompt,
    Reason,
    SeatView,
    SetAside,
    Shuffle,
    Struct,
    View,
    because,
    put,
)

DEATH_CARD: Final = 3
BETS, DEAL, DEALER_CARD, DECIDE, HIT, OVER = range(6)
"""The stages of a round: betting, the opening deal, the dealer's card is due, a seat decides, its card is due, over."""
_HIT: Final = Choice("hit", draws=True)
_CLOSE: Final = AskCloseBets()
_WAGERS: Final = (Wager(MAIN, "Bet"),)


class Rules(Struct, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 6
    burn: Annotated[int, Meta(ge=0, le=20, description="Cards burned after each shuffle.")] = 5
    reshuffle_at: Annotated[
        float, Meta(ge=0.1, le=0.5, description="The part of the shoe that lies behind the cut card.")
    ] = 0.2
    start: Annotated[
        Literal["dealer_left", "low_card"],
        Meta(description="Who starts: always the seat to the dealer's left, or the lowest card."),
    ] = "dealer_left"
    unit: Annotated[int, Meta(ge=1, le=10**12)] = 1


class State(Picture, frozen=True):
    """A round. The tuples from ``seats`` to ``payouts`` run in parallel; once bets are closed, over seats that bet."""

    rules: Rules
    opening: Opening
    stage: int
    seats: tuple[int, ...]
    bets: tuple[int, ...]
    stacks: tuple[tuple[int, ...], ...]
    payouts: tuple[Payout | None, ...]
    dealer: tuple[int, ...]
    gone: Composition
    left: int
    button: int | None
    order: tuple[int, ...] = ()
    """Indices of the seats still in, in the order of each pass."""
    waiting: tuple[int, ...] = ()
    """Indices of the seats that have yet to act in this pass, or to get their first card: the first one is next."""


class Rocket(BankedGame[State, Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "rocket"
    title: ClassVar[str] = "Rocket"
    carries: ClassVar[frozenset[str]] = frozenset({"button", "dealt"})
    seat_counts: ClassVar[range] = range(1, 7)
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "button": "button"}
    words: ClassVar[Mapping[str, Words]] = {
        "hit": Words("Hit", "Deal the seat a card faceup.", "A pair loses its rank in tenths of the bet."),
        "fold": Words(
            "Fold",
            "Take what the fold costs, return the rest of the bet, clear the cards.",
            "A fold pays a tenth of the bet times the lowest card of the seat and the dealer.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "seat": "One card faceup to each seat.",
        "shuffle": "A shoe that runs out in mid-round is filled from the discards; cards in play stay.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("fold", "pair", "dealer_pair", "death_card", "push")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "fold": "folds for the lowest card, {rank}: pays {rank}/10 of the bet",
        "pair": "pair of {rank}s: loses {rank}/10 of the bet",
        "dealer_pair": "the dealer pairs {rank}s: wins {rank}/10 of the bet",
        "sudden_death": "the dealer's 3 is sudden death: wins 3/10 of the bet",
        "no_card": "no card is left for the dealer: the hand is dead, bets go back",
    }
    rules_type = Rules
    step_units: ClassVar[int] = 10

    def pack(self, rules: Rules) -> Pack:
        """The family's own."""
        return PAIRS

    def wagers(self, rules: Rules) -> tuple[Wager, ...]:
        """One bet a seat."""
        return _WAGERS

    def open(self, rules: Rules, opening: Opening) -> State:
        """Bets are open. Raises Illegal for a shoe that cannot have lost the cards said to be gone."""
        _check(opening.dealt, rules.decks)
        cards_left = rules.decks * DECK_SIZE - rules.burn - sum(opening.dealt)
        if cards_left < 0:
            raise Illegal("impossible_shoe", "more cards are gone than the shoe holds after the burn")
        no_bets = (0,) * len(opening.seats)
        asks = _ask_first_bets(opening.seats, opening.limits, rules.unit)
        return State(
            asks, rules, opening, BETS, opening.seats, no_bets, (), (), (), opening.dealt, cards_left, opening.button
        )

    def play(self, state: State) -> RocketPlay:
        """The round from a state on."""
        return RocketPlay(state)

    # --- what comes out ---

    def settle(self, state: State) -> tuple[Payout, ...]:
        """The payouts decided so far, in seat order."""
        return tuple(filter(None, state.payouts))

    def view(self, state: State, viewer: int | None) -> View:
        """The view of every viewer: all cards of Rocket are faceup."""
        played = {seat: index for index, seat in enumerate(state.seats)}
        return View(
            tuple(_seat_view(state, seat, played.get(seat)) for seat in state.opening.seats),
            state.dealer,
            state.button,
            state.left,
            state.stage == OVER,
        )

    def gone(self, state: State) -> Composition:
        """Cards gone since the shuffle."""
        return state.gone

    def cards_left(self, state: State) -> int:
        """Cards still to be dealt from the shoe."""
        return state.left

    def at_cut(self, rules: Rules) -> int:
        """Number of cards behind the cut card."""
        return round(rules.decks * DECK_SIZE * rules.reshuffle_at)

    def decks(self, rules: Rules) -> int:
        """Number of decks, an option."""
        return rules.decks

    def burned(self, rules: Rules) -> int:
        """Number of cards burned, an option."""
        return rules.burn

    def burning(self, rules: Rules, burn: int) -> Rules:
        """The rules with the burn that was really made."""
        return structs.replace(rules, burn=burn)

    def say(self, state: State, prompt: Prompt, money: Money) -> Phrase:
        """The prompt in the dealer's words."""
        if isinstance(prompt, AskChoice):
            return _say_decision(state, prompt, money)
        if isinstance(prompt, AskCard):
            return _say_card(state, prompt)
        if isinstance(prompt, AskShuffle):
            return Phrase(
                f"Shuffle the {prompt.cards} discards, burn {prompt.burn}, and go on.",
                "The shoe is out. Shuffling the discards.",
                "A shoe that runs out in mid-round is filled from the discards; cards in play stay.",
            )
        rule = "A bet is a multiple of ten chip units, within the table's limits."
        if isinstance(prompt, AskCloseBets):
            return Phrase("Close the bets.", "No more bets.", rule)
        return Phrase(f"Seat {prompt.seat}: take the bet.", "Place your bets.", rule)


# --- the play of a round ---------------------------------------------------------------------------------------


class RocketPlay:
    """A round in progress: the fields of a state, changed step by step."""

    __slots__ = (
        "bets",
        "button",
        "dealer",
        "gone",
        "left",
        "opening",
        "order",
        "payouts",
        "prompts",
        "rules",
        "seats",
        "stacks",
        "stage",
        "waiting",
    )

    def __init__(self, state: State) -> None:
        self.rules, self.opening = state.rules, state.opening
        self.stage, self.prompts = state.stage, state.prompts
        self.seats, self.bets, self.payouts = state.seats, state.bets, state.payouts
        self.stacks, self.dealer = [*state.stacks], state.dealer
        self.gone, self.left = [*state.gone], state.left
        self.button, self.order, self.waiting = state.button, state.order, state.waiting

    def state(self) -> State:
        """An immutable picture of the round as it is now."""
        return State(
            self.prompts,
            self.rules,
            self.opening,
            self.stage,
            self.seats,
            self.bets,
            tuple(self.stacks),
            self.payouts,
            self.dealer,
            tuple(self.gone),
            self.left,
            self.button,
            self.order,
            self.waiting,
        )

    def take(self, action: Action) -> None:
        """Go on by an admitted action."""
        if not self.left and type(action) is Shuffle:
            self._shuffle()
        elif type(action) is SetAside:
            self._set_aside(action.rank)
        else:
            _STEPS[self.stage](self, action)

    def _set_aside(self, rank: int) -> None:
        """A card leaves the shoe unplayed; it is among the discards from here on."""
        self.left -= 1
        if rank != UNKNOWN:
            self.gone[rank - 1] += 1
        self.prompts = tuple(ask.without(rank) if type(ask) is AskCard else ask for ask in self.prompts)

    # --- what is asked ---

    def _ask_card(self, to: int) -> None:
        """Prompt for a card; for a shuffle first if the shoe is empty."""
        if self.left:
            self.prompts = (AskCard(to, tuple(self.gone), self.rules.decks),)
        else:
            self.prompts = (AskShuffle(self._discards(), self.rules.burn),)

    def _ask_turn(self) -> None:
        """The next seat decides; after the last one the dealer's card is due."""
        if not self.left and self.order and not self._can_refill():
            self._end_without_cards()
        elif self.waiting:
            index = self.waiting[0]
            low = _lowest(self.stacks[index], self.dealer)
            self.stage, self.prompts = DECIDE, _decision(self.seats[index], self.bets[index], low)
        elif self.order:
            self.stage = DEALER_CARD
            self._ask_card(DEALER)
        else:
            self.stage, self.prompts = OVER, ()

    def _end_without_cards(self) -> None:
        """The shoe is empty, and even a shuffle of the discards gives no card."""
        if self.waiting:
            # A fold that is the only legal answer is carried out without a prompt.
            self._fold()
        else:
            self._pay_all("push", None, 0, because("no_card"))

    # --- the steps ---

    def _bet(self, action: Bet | CloseBets) -> None:
        if isinstance(action, CloseBets):
            return self._close()
        index, limits = self.seats.index(action.seat), self.opening.limits
        self.bets = put(self.bets, index, action.amount_cents)
        asks = [*self.prompts]
        if limits.cap_cents is None:  # a seat has one wager: its own maximum is one of the bet
            # One seat's bet leaves the others' prompts unchanged.
            asks[index] = structs.replace(asks[index], placed_cents=action.amount_cents)
        else:
            asks[:] = _ask_bets(self.seats, limits, self.rules.unit, self.bets)
        asks[len(self.seats) :] = (_CLOSE,) if any(self.bets) else ()
        self.prompts = tuple(asks)
        return None

    def _close(self) -> None:
        """From here on only the seats that bet count."""
        self.seats, self.bets = tuple(compress(self.seats, self.bets)), tuple(filter(None, self.bets))
        self.order = self.waiting = tuple(range(len(self.seats)))
        self.stacks, self.payouts = [()] * len(self.seats), (None,) * len(self.seats)
        self.stage = DEAL
        self._ask_card(self.seats[0])

    def _draw(self, rank: int) -> None:
        """A card leaves the shoe."""
        self.gone[rank - 1] += 1
        self.left -= 1

    def _deal(self, action: Card) -> None:
        """A seat's first card; after the last seat's the dealer's card is due."""
        self._draw(action.rank)
        self.stacks[self.waiting[0]] = (action.rank,)
        self.waiting = self.waiting[1:]
        if self.waiting:
            self._ask_card(self.seats[self.waiting[0]])
            return
        if self.rules.start == "low_card":
            self._low_card_starts()
        self.stage = DEALER_CARD
        self._ask_card(DEALER)

    def _low_card_starts(self) -> None:
        """The lowest card starts, and the button moves there.

        Ties go to the tied seat nearest to the left of the previous button; its own seat is the farthest.
        """
        low = min(self.stacks)
        tied = [seat for seat, stack in zip(self.seats, self.stacks, strict=True) if stack == low]
        previous = self.button or 0
        self.button = min(tied, key=lambda seat: (seat <= previous, seat))
        first = self.seats.index(self.button)
        self.order = (*self.order[first:], *self.order[:first])

    def _decide(self, action: Choose) -> None:
        if action.choice == "fold":
            self._fold()
        else:
            self.stage = HIT
            self._ask_card(action.seat)

    def _fold(self) -> None:
        low = _lowest(self.stacks[self.waiting[0]], self.dealer)
        self._leave("fold", low)

    def _hit(self, action: Card) -> None:
        rank, index = action.rank, self.waiting[0]
        stack = self.stacks[index]
        self._draw(rank)
        self.stacks[index] = (*stack, rank)
        if rank in stack:
            self._leave("pair", rank)
        else:
            self.waiting = self.waiting[1:]
            self._ask_turn()

    def _leave(self, outcome: str, rank: int) -> None:
        """The seat loses `rank` tenths of its bet and is out; its cards become discards."""
        index = self.waiting[0]
        self._pay(index, outcome, rank, -rank, because(outcome, rank=rank))
        order = [*self.order]
        order.remove(index)
        self.order, self.waiting = tuple(order), self.waiting[1:]
        self._ask_turn()

    def _dealer_card(self, action: Card) -> None:
        """The dealer's card: it pays all, or the next pass begins."""
        rank, stack = action.rank, self.dealer
        self._draw(rank)
        self.dealer, self.waiting = (*stack, rank), self.order
        if rank == DEATH_CARD:
            self._pay_all("death_card", rank, rank, because("sudden_death"))
        elif rank in stack:
            self._pay_all("dealer_pair", rank, rank, because("dealer_pair", rank=rank))
        else:
            self._ask_turn()

    def _pay_all(self, outcome: str, card: int | None, tenths: int, reason: Reason) -> None:
        """Every seat still in is paid that many tenths of its bet, and the round is over."""
        for index in self.order:
            self._pay(index, outcome, card, tenths, reason)
        self.stage, self.prompts = OVER, ()

    def _pay(self, index: int, outcome: str, card: int | None, tenths: int, reason: Reason) -> None:
        bet = self.bets[index]
        payout = Payout(self.seats[index], bet, bet + tenths * (bet // 10), outcome, card, (reason,))
        self.payouts = put(self.payouts, index, payout)

    # --- the shoe in mid-round ---

    def _in_play(self) -> Composition:
        """The cards of the seats still in, and the dealer's, which a shuffle leaves in place."""
        return count([*self.dealer, *(rank for index in self.order for rank in self.stacks[index])])

    def _discards(self) -> int:
        """How many cards are neither in play nor in the shoe: discards and burned cards."""
        return self.rules.decks * DECK_SIZE - self.left - sum(self._in_play())

    def _can_refill(self) -> bool:
        """Whether a shuffle of the discards leaves a card to deal after the burn."""
        return self._discards() > self.rules.burn

    def _shuffle(self) -> None:
        self.left = self._discards() - self.rules.burn
        self.gone = [*self._in_play()]
        self._ask_card(DEALER if self.stage == DEALER_CARD else self.seats[self.waiting[0]])


_STEPS: Final[tuple[Callable[[RocketPlay, Any], None], ...]] = (
    RocketPlay._bet,
    RocketPlay._deal,
    RocketPlay._dealer_card,
    RocketPlay._decide,
    RocketPlay._hit,
)
"""The method that handles an action, by stage."""


def _check(gone: Composition, decks: int) -> None:
    """Raises Illegal if a shoe of this number of decks cannot have lost these cards."""
    if len(gone) != len(DECK):
        raise ValueError(f"a composition has {len(DECK)} counts, one a rank, not {len(gone)}")
    if wrong := PAIRS.impossible(gone, decks):
        raise Illegal("impossible_shoe", wrong)


@lru_cache(maxsize=1_000)
def _ask_first_bets(seats: tuple[int, ...], limits: Limits, unit: int) -> tuple[AskBet, ...]:
    """Every round of a table begins with the same prompts."""
    return _ask_bets(seats, limits, unit, (0,) * len(seats))


def _ask_bets(seats: tuple[int, ...], limits: Limits, unit: int, bets: tuple[int, ...]) -> tuple[AskBet, ...]:
    step, step_is = limits.step_of(10 * unit, TEN_UNITS)
    high = min(limits.max_cents, limits.room_of(0))
    room = MOST_CENTS if limits.cap_cents is None else limits.cap_cents - sum(bets)
    asks = [
        AskBet(
            seat,
            max(limits.least(MAIN, seat), step),
            min(room + own, high),
            step,
            own,
            capped=room + own < high,
            seat_full=high < limits.max_cents and room + own >= high,
            step_is=step_is,
        )
        for seat, own in zip(seats, bets, strict=True)
    ]
    return tuple(asks)


@lru_cache(maxsize=10_000)
def _decision(seat: int, bet: int, low: int) -> tuple[Prompt, ...]:
    """The prompt of a decision to hit or fold. Cached, since the same few decisions recur."""
    return (AskChoice(seat, (_HIT, Choice("fold", low * (bet // 10)))),)


def _lowest(stack: tuple[int, ...], dealer: tuple[int, ...]) -> int:
    """The rank that a fold costs: the lowest card of this seat and the dealer."""
    return min(stack + dealer)


# --- words and pictures ----------------------------------------------------------------------------------------


def _seat_view(state: State, seat: int, index: int | None) -> SeatView:
    if index is None:
        return SeatView(seat)
    if state.stage == BETS:
        return SeatView(seat, state.bets[index], (), "in" if state.bets[index] else "empty")
    payout = state.payouts[index]
    return SeatView(seat, state.bets[index], state.stacks[index], "out" if payout else "in", payout)


def _say_decision(state: State, prompt: AskChoice, money: Money) -> Phrase:
    cost, low = money(prompt.choices[-1].cost_cents), _lowest(state.stacks[state.waiting[0]], state.dealer)
    return Phrase(
        f"Seat {prompt.seat}: hit, or fold for {cost}.",
        f"Seat {prompt.seat}, hit, or fold for {cost}?",
        f"A fold pays a tenth of the bet times the lowest card of the seat and the dealer, here {low}.",
    )


def _say_card(state: State, prompt: AskCard) -> Phrase:
    if prompt.to != DEALER:
        if state.stage == DEAL:
            return Phrase(
                f"Deal a card to seat {prompt.to}.",
                f"Card for seat {prompt.to}.",
                "One card faceup to each seat.",
            )
        return Phrase(
            f"Card for seat {prompt.to}.",
            f"Seat {prompt.to} hits.",
            "A pair loses its rank in tenths of the bet.",
        )
    if not state.dealer:
        return Phrase("Deal your own card.", "Dealer's card.", "A 3 as the first card ends the round: it pays 3/10.")
    return Phrase(
        "Dealer hits.",
        "Dealer takes a card.",
        "The dealer always hits: a pair pays its rank in tenths, a 3 pays 3/10.",
    )
