"""Rocket: every seat against the dealer, who always hits, pays on a pair, and dies on a 3.

Designed by James Ernest and Paul Peterson. Every payment is a rank times a tenth of the bet, and a bet is a
multiple of ten chip units, so no amount is ever rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta, structs

from tables.games.cards import DECK_SIZE, RANKS, Composition, add, count
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
    Money,
    Opening,
    Payout,
    Phrase,
    Prompt,
    SeatView,
    Struct,
    View,
    put,
)
from tables.games.game import BankedGame, Due, Part, Words

DEATH_CARD: Final = 3
BETS, DEAL, DEALER_CARD, DECIDE, HIT, OVER = range(6)
"""The stages of a round: betting, the opening deal, the dealer's card is due, a seat decides, its card is due, over."""
_HIT: Final = Choice("hit", draws=True)
_CLOSE: Final = AskCloseBets()


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


class State(Struct, frozen=True):
    """A round. The tuples from ``seats`` to ``payouts`` run in parallel; once bets are closed, over seats that bet."""

    rules: Rules
    opening: Opening
    stage: int
    seats: tuple[int, ...]
    bets: tuple[int, ...]
    asks: tuple[AskBet, ...]
    """The prompts of the bets, until those are closed."""
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
    rules_type = Rules

    def open(self, rules: Rules, opening: Opening) -> State:
        """Bets are open. Raises Illegal for a shoe that cannot have lost the cards said to be gone."""
        decks = rules.decks
        for rank, out in zip(RANKS, opening.dealt, strict=True):
            if not 0 <= out <= rank * decks:
                says = f"{out} cards of rank {rank} cannot be gone: the shoe holds {rank * decks}"
                raise Illegal("impossible_shoe", says)
        left = decks * DECK_SIZE - rules.burn - sum(opening.dealt)
        if left < 0:
            raise Illegal("impossible_shoe", "more cards are gone than the shoe holds after the burn")
        no_bets = (0,) * len(opening.seats)
        asks = _ask_bets(rules, opening, no_bets)
        return State(
            rules=rules,
            opening=opening,
            stage=BETS,
            seats=opening.seats,
            bets=no_bets,
            asks=asks,
            stacks=(),
            payouts=(),
            dealer=(),
            gone=opening.dealt,
            left=left,
            button=opening.button,
        )

    # --- prompts ---

    def prompts(self, state: State) -> tuple[Prompt, ...]:
        stage = state.stage
        if stage == DECIDE:
            return (_ask_choice(state),)
        if stage == BETS:
            return (*state.asks, _CLOSE) if any(state.bets) else state.asks
        if stage == OVER:
            return ()
        if not state.left:
            return (AskShuffle(_discards(state), state.rules.burn),)
        to = DEALER if stage == DEALER_CARD else state.seats[state.waiting[0]]
        return (AskCard(to, state.gone, state.rules.decks),)

    def apply(self, state: State, action: Action) -> State:
        if type(action) is Card:
            return _CARD[state.stage](state, action.rank)
        if type(action) is Choose:
            return _fold(state) if action.choice == "fold" else _with(state, stage=HIT)
        if type(action) is Bet:
            return _bet(state, action)
        if type(action) is CloseBets:
            return _close(state)
        return _shuffled(state)

    # --- what comes out ---

    def settle(self, state: State) -> tuple[Payout, ...]:
        """The payouts decided so far, in seat order."""
        return tuple(filter(None, state.payouts))

    def view(self, state: State, viewer: int | None) -> View:
        """Every card of Rocket lies faceup, so all see the same."""
        played = {seat: index for index, seat in enumerate(state.seats)}
        return View(
            tuple(_seat_view(state, seat, played.get(seat)) for seat in state.opening.seats),
            state.dealer,
            state.button,
            state.left,
            state.stage == OVER,
        )

    def gone(self, state: State) -> Composition:
        """What is gone since the shuffle."""
        return state.gone

    def cards_left(self, state: State) -> int:
        """Cards still to be dealt from the shoe."""
        return state.left

    def at_cut(self, rules: Rules) -> int:
        """The cut card lies before this many cards."""
        return round(rules.decks * DECK_SIZE * rules.reshuffle_at)

    def decks(self, rules: Rules) -> int:
        """As the operator sets it."""
        return rules.decks

    def burned(self, rules: Rules) -> int:
        """As the operator sets it."""
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


# --- the course of a round -------------------------------------------------------------------------------------

_with = structs.replace


def _ask_bets(rules: Rules, opening: Opening, bets: tuple[int, ...]) -> tuple[AskBet, ...]:
    limits, step = opening.limits, 10 * rules.unit
    low, high = max(limits.min_cents, step), limits.max_cents
    room = MOST_CENTS if limits.cap_cents is None else limits.cap_cents - sum(bets)
    asks = [
        AskBet(
            seat,
            low_cents=low,
            high_cents=min(room + own, high),
            step_cents=step,
            placed_cents=own,
            capped=room + own < high,
        )
        for seat, own in zip(opening.seats, bets, strict=True)
    ]
    return tuple(asks)


def _bet(state: State, action: Bet) -> State:
    index = state.seats.index(action.seat)
    bets = put(state.bets, index, action.amount_cents)
    if state.opening.limits.cap_cents is None:
        # What one seat bets leaves the others' prompts as they are.
        return _with(state, bets=bets, asks=put(state.asks, index, _with(state.asks[index], placed_cents=bets[index])))
    return _with(state, bets=bets, asks=_ask_bets(state.rules, state.opening, bets))


def _ask_choice(state: State) -> AskChoice:
    index = state.waiting[0]
    fold = Choice("fold", _lowest(state, index) * (state.bets[index] // 10))
    return AskChoice(state.seats[index], (_HIT, fold))


def _lowest(state: State, index: int) -> int:
    """What a fold is reckoned by: the lowest card of the seat and the dealer, nobody else's."""
    return min(state.stacks[index] + state.dealer)


def _close(state: State) -> State:
    """From here on only the seats that bet count."""
    seats, bets = tuple(compress(state.seats, state.bets)), tuple(filter(None, state.bets))
    order, stacks, none = tuple(range(len(seats))), ((),) * len(seats), (None,) * len(seats)
    return _with(
        state, stage=DEAL, seats=seats, bets=bets, asks=(), stacks=stacks, payouts=none, order=order, waiting=order
    )


def _deal(state: State, rank: int) -> State:
    """A seat's first card; after the last seat's the dealer's card is due."""
    index, waiting = state.waiting[0], state.waiting[1:]
    stacks, gone = put(state.stacks, index, (rank,)), add(state.gone, rank)
    stage = DEAL if waiting else DEALER_CARD
    dealt = _with(state, stage=stage, stacks=stacks, gone=gone, left=state.left - 1, waiting=waiting)
    return dealt if waiting or state.rules.start == "dealer_left" else _low_card_starts(dealt)


def _low_card_starts(state: State) -> State:
    """The lowest card starts, and the button moves there.

    Ties go to the tied seat nearest to the left of the previous button; its own seat is the farthest.
    """
    low = min(state.stacks)
    tied = [seat for seat, stack in zip(state.seats, state.stacks, strict=True) if stack == low]
    previous = state.button or 0
    starter = min(tied, key=lambda seat: (seat <= previous, seat))
    first = state.seats.index(starter)
    return _with(state, order=(*state.order[first:], *state.order[:first]), button=starter)


def _fold(state: State) -> State:
    low = _lowest(state, state.waiting[0])
    return _leave(state, "fold", low, f"folds for the lowest card, {low}: pays {low}/10 of the bet")


def _hit(state: State, rank: int) -> State:
    index, waiting = state.waiting[0], state.waiting[1:]
    stack = state.stacks[index]
    stacks, gone, left = put(state.stacks, index, (*stack, rank)), add(state.gone, rank), state.left - 1
    if rank in stack:
        drawn = _with(state, stacks=stacks, gone=gone, left=left)
        return _leave(drawn, "pair", rank, f"pair of {rank}s: loses {rank}/10 of the bet")
    stage = DECIDE if waiting else DEALER_CARD
    after = _with(state, stage=stage, stacks=stacks, gone=gone, left=left, waiting=waiting)
    return after if left else _at_the_end(after)


def _leave(state: State, outcome: str, rank: int, why: str) -> State:
    """The seat loses so many tenths of its bet and is out; its cards are discards from now on."""
    index, waiting = state.waiting[0], state.waiting[1:]
    bet = state.bets[index]
    payout = Payout(state.seats[index], bet, bet - rank * (bet // 10), outcome, card=rank, why=why)
    payouts = put(state.payouts, index, payout)
    order = [*state.order]
    order.remove(index)
    stage = DECIDE if waiting else DEALER_CARD if order else OVER
    after = _with(state, stage=stage, payouts=payouts, order=tuple(order), waiting=waiting)
    return after if state.left else _at_the_end(after)


def _dealer_card(state: State, rank: int) -> State:
    """The dealer's card: it pays all, or the next pass begins."""
    dealer, gone, left = (*state.dealer, rank), add(state.gone, rank), state.left - 1
    after = _with(state, stage=DECIDE, dealer=dealer, gone=gone, left=left, waiting=state.order)
    if rank == DEATH_CARD:
        return _pay_all(after, "death_card", rank, rank, "the dealer's 3 is sudden death: wins 3/10 of the bet")
    if rank in state.dealer:
        return _pay_all(after, "dealer_pair", rank, rank, f"the dealer pairs {rank}s: wins {rank}/10 of the bet")
    return after if left else _at_the_end(after)


def _at_the_end(state: State) -> State:
    """The shoe is empty: what follows, if not even a shuffle of the discards gives a card."""
    if state.stage == OVER or _can_refill(state):
        return state
    if state.stage == DECIDE:
        # A fold that is the only legal answer is not asked, it is carried out.
        return _fold(state)
    return _pay_all(state, "push", None, 0, "no card is left for the dealer: the hand is dead, bets go back")


def _pay_all(state: State, outcome: str, card: int | None, tenths: int, why: str) -> State:
    """Every seat still in is paid that many tenths of its bet, and the round is over."""
    payouts = tuple(
        payout or Payout(seat, bet, bet + tenths * (bet // 10), outcome, card=card, why=why)
        for payout, seat, bet in zip(state.payouts, state.seats, state.bets, strict=True)
    )
    return _with(state, payouts=payouts, stage=OVER)


_CARD: Final = {DEAL: _deal, DEALER_CARD: _dealer_card, HIT: _hit}


# --- the shoe in mid-round -------------------------------------------------------------------------------------


def _in_play(state: State) -> Composition:
    """The cards of the seats still in, and the dealer's: all that a shuffle leaves where it is."""
    return count([*state.dealer, *(rank for index in state.order for rank in state.stacks[index])])


def _discards(state: State) -> int:
    """How many cards are neither in play nor in the shoe: discards and burned cards."""
    return state.rules.decks * DECK_SIZE - state.left - sum(_in_play(state))


def _can_refill(state: State) -> bool:
    """Whether a shuffle of the discards leaves a card to deal after the burn."""
    return _discards(state) > state.rules.burn


def _shuffled(state: State) -> State:
    cards = _discards(state)
    return _with(state, gone=_in_play(state), left=cards - state.rules.burn)


# --- words and pictures ----------------------------------------------------------------------------------------


def _seat_view(state: State, seat: int, index: int | None) -> SeatView:
    if index is None:
        return SeatView(seat)
    if state.stage == BETS:
        return SeatView(seat, state.bets[index], (), "in" if state.bets[index] else "empty")
    payout = state.payouts[index]
    return SeatView(seat, state.bets[index], state.stacks[index], "out" if payout else "in", payout)


def _say_decision(state: State, prompt: AskChoice, money: Money) -> Phrase:
    cost, low = money(prompt.choices[-1].cost_cents), _lowest(state, state.waiting[0])
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
