"""Rocket: every seat against the dealer, who always hits, pays on a pair, and dies on a 3.

Designed by James Ernest and Paul Peterson. Every payment is a rank times a tenth of the bet, and a bet is a
multiple of ten chip units, so no amount is ever rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import compress
from operator import le
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, structs

from tables.games.cards import DECK_SIZE, RANKS, Composition, add, count, shoe
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
    Money,
    Opening,
    Payout,
    Phrase,
    Prompt,
    SeatView,
    Shuffle,
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
_SHOES: Final = [shoe(decks) for decks in range(9)]
"""The shoe of so many decks."""


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
    prompts: tuple[Prompt, ...]
    """What may happen next: each step says it, so nobody has to find it out again."""
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
    rules_type = Rules

    def open(self, rules: Rules, opening: Opening) -> State:
        """Bets are open. Raises Illegal for a shoe that cannot have lost the cards said to be gone."""
        _check(opening.dealt, rules.decks)
        left = rules.decks * DECK_SIZE - rules.burn - sum(opening.dealt)
        if left < 0:
            raise Illegal("impossible_shoe", "more cards are gone than the shoe holds after the burn")
        no_bets = (0,) * len(opening.seats)
        asks = _ask_first_bets(opening.seats, opening.limits, rules.unit)
        return State(
            rules, opening, BETS, asks, opening.seats, no_bets, (), (), (), opening.dealt, left, opening.button
        )

    def apply(self, state: State, action: Action) -> State:
        """The state after an admitted action."""
        if not state.left and type(action) is Shuffle:
            return _shuffled(state)
        return _STEPS[state.stage](state, action)

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


def _check(gone: Composition, decks: int) -> None:
    """Raises Illegal for cards that a shoe of so many decks cannot have lost."""
    shoe = _SHOES[decks]
    if len(gone) == len(shoe) and min(gone) >= 0 and all(map(le, gone, shoe)):
        return
    for rank, (out, held) in enumerate(zip(gone, shoe, strict=True), 1):
        if not 0 <= out <= held:
            says = f"{out} cards of rank {rank} cannot be gone: the shoe holds {held}"
            raise Illegal("impossible_shoe", says)


@lru_cache(maxsize=1_000)
def _ask_first_bets(seats: tuple[int, ...], limits: Limits, unit: int) -> tuple[AskBet, ...]:
    """Every round of a table begins with the same prompts."""
    return _ask_bets(seats, limits, unit, (0,) * len(seats))


def _ask_bets(seats: tuple[int, ...], limits: Limits, unit: int, bets: tuple[int, ...]) -> tuple[AskBet, ...]:
    step = 10 * unit
    low, high = max(limits.min_cents, step), limits.max_cents
    room = MOST_CENTS if limits.cap_cents is None else limits.cap_cents - sum(bets)
    asks = [
        AskBet(seat, low, room + own if room + own < high else high, step, own, room + own < high)
        for seat, own in zip(seats, bets, strict=True)
    ]
    return tuple(asks)


def _bet(state: State, action: Bet | CloseBets) -> State:
    if type(action) is CloseBets:
        return _close(state)
    seats, amount = state.seats, action.amount_cents
    at, bets, asks = seats.index(action.seat), [*state.bets], [*state.prompts]
    bets[at] = amount
    if state.opening.limits.cap_cents is None:
        # What one seat bets leaves the others' prompts as they are.
        asks[at] = _with(asks[at], placed_cents=amount)
    else:
        asks[:] = _ask_bets(state.seats, state.opening.limits, state.rules.unit, bets)
    asks[len(bets):] = (_CLOSE,) if any(bets) else ()
    return _with(state, bets=tuple(bets), prompts=tuple(asks))


def _close(state: State) -> State:
    """From here on only the seats that bet count."""
    seats, bets = tuple(compress(state.seats, state.bets)), tuple(filter(None, state.bets))
    order, stacks, none = tuple(range(len(seats))), ((),) * len(seats), (None,) * len(seats)
    closed = _with(state, stage=DEAL, seats=seats, bets=bets, stacks=stacks, payouts=none, order=order, waiting=order)
    return _with(closed, prompts=_ask_next_card(closed))


def _ask_next_card(state: State) -> tuple[Prompt, ...]:
    """The card that is due; before it a shuffle, where the shoe is empty."""
    if not state.left:
        return (AskShuffle(_discards(state), state.rules.burn),)
    to = DEALER if state.stage == DEALER_CARD else state.seats[state.waiting[0]]
    return (AskCard(to, state.gone, state.rules.decks),)


def _deal(state: State, action: Card) -> State:
    """A seat's first card; after the last seat's the dealer's card is due."""
    rank, left, (index, *waiting) = action.rank, state.left - 1, state.waiting
    stacks, gone = [*state.stacks], add(state.gone, rank)
    stacks[index] = (rank,)
    stage, to = (DEAL, state.seats[waiting[0]]) if waiting else (DEALER_CARD, DEALER)
    after = _with(
        state,
        stage=stage,
        prompts=(AskCard(to, gone, state.rules.decks),),
        stacks=tuple(stacks),
        gone=gone,
        left=left,
        waiting=tuple(waiting),
    )
    if not (waiting or state.rules.start == "dealer_left"):
        after = _low_card_starts(after)
    return after if left else _at_the_end(after)


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


def _ask_choice(state: State, index: int) -> tuple[Prompt, ...]:
    return _decision(state.seats[index], _lowest(state, index) * (state.bets[index] // 10))


@lru_cache(maxsize=10_000)
def _decision(seat: int, fold_cents: int) -> tuple[Prompt, ...]:
    """The same few decisions come again and again."""
    return (AskChoice(seat, (_HIT, Choice("fold", fold_cents))),)


def _lowest(state: State, index: int) -> int:
    """What a fold is reckoned by: the lowest card of the seat and the dealer, nobody else's."""
    return min(state.stacks[index] + state.dealer)


def _decide(state: State, action: Choose) -> State:
    if action.choice == "fold":
        return _fold(state)
    after = _with(state, stage=HIT, prompts=(AskCard(action.seat, state.gone, state.rules.decks),))
    return after if state.left else _at_the_end(after)


def _fold(state: State) -> State:
    low = _lowest(state, state.waiting[0])
    return _leave(state, "fold", low, _FOLDS[low])


def _hit(state: State, action: Card) -> State:
    rank, left, (index, *waiting) = action.rank, state.left - 1, state.waiting
    stacks, gone = [*state.stacks], add(state.gone, rank)
    stack = stacks[index]
    stacks[index] = (*stack, rank)
    if rank in stack:
        drawn = _with(state, stacks=tuple(stacks), gone=gone, left=left)
        return _leave(drawn, "pair", rank, _PAIRS[rank])
    after = _with(
        state,
        stage=DECIDE if waiting else DEALER_CARD,
        prompts=_ask_choice(state, waiting[0]) if waiting else (AskCard(DEALER, gone, state.rules.decks),),
        stacks=tuple(stacks),
        gone=gone,
        left=left,
        waiting=tuple(waiting),
    )
    return after if left else _at_the_end(after)


def _leave(state: State, outcome: str, rank: int, why: str) -> State:
    """The seat loses so many tenths of its bet and is out; its cards are discards from now on."""
    index, waiting = state.waiting[0], state.waiting[1:]
    bet = state.bets[index]
    payouts = put(state.payouts, index, Payout(state.seats[index], bet, bet - rank * (bet // 10), outcome, rank, why))
    order = [*state.order]
    order.remove(index)
    stage, asks = _next_turn(state, waiting, order)
    after = _with(state, stage=stage, prompts=asks, payouts=payouts, order=tuple(order), waiting=waiting)
    return after if state.left else _at_the_end(after)


def _next_turn(state: State, waiting: tuple[int, ...], order: list[int]) -> tuple[int, tuple[Prompt, ...]]:
    if waiting:
        return DECIDE, _ask_choice(state, waiting[0])
    if order:
        return DEALER_CARD, (AskCard(DEALER, state.gone, state.rules.decks),)
    return OVER, ()


def _dealer_card(state: State, action: Card) -> State:
    """The dealer's card: it pays all, or the next pass begins."""
    rank = action.rank
    dealer, gone, left = (*state.dealer, rank), add(state.gone, rank), state.left - 1
    after = _with(state, stage=DECIDE, dealer=dealer, gone=gone, left=left, waiting=state.order)
    if rank == DEATH_CARD:
        return _pay_all(after, "death_card", rank, rank, "the dealer's 3 is sudden death: wins 3/10 of the bet")
    if rank in state.dealer:
        return _pay_all(after, "dealer_pair", rank, rank, f"the dealer pairs {rank}s: wins {rank}/10 of the bet")
    after = _with(after, prompts=_ask_choice(after, state.order[0]))
    return after if left else _at_the_end(after)


def _at_the_end(state: State) -> State:
    """The shoe is empty: what follows, if not even a shuffle of the discards gives a card."""
    if state.stage == OVER:
        return state
    if _can_refill(state) or not state.dealer:
        return state if state.stage == DECIDE else _with(state, prompts=_ask_next_card(state))
    if state.stage == DECIDE:
        # A fold that is the only legal answer is not asked, it is carried out.
        return _fold(state)
    return _pay_all(state, "push", None, 0, "no card is left for the dealer: the hand is dead, bets go back")


def _pay_all(state: State, outcome: str, card: int | None, tenths: int, why: str) -> State:
    """Every seat still in is paid that many tenths of its bet, and the round is over."""
    payouts = [*state.payouts]
    for index in state.order:
        bet = state.bets[index]
        payouts[index] = Payout(state.seats[index], bet, bet + tenths * (bet // 10), outcome, card, why)
    return _with(state, payouts=tuple(payouts), stage=OVER, prompts=())


_STEPS: Final[tuple[Callable[[State, Any], State], ...]] = (_bet, _deal, _dealer_card, _decide, _hit)
"""What an action does, by the stage that it meets."""
_FOLDS: Final = ("", *(f"folds for the lowest card, {low}: pays {low}/10 of the bet" for low in RANKS))
_PAIRS: Final = ("", *(f"pair of {rank}s: loses {rank}/10 of the bet" for rank in RANKS))


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
    shuffled = _with(state, gone=_in_play(state), left=cards - state.rules.burn)
    return _with(shuffled, prompts=_ask_next_card(shuffled))


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
