"""Rocket: every seat against the dealer, who always hits, pays on a pair, and dies on a 3.

Designed by James Ernest and Paul Peterson. Every payment is a rank times a tenth of the bet, and a bet is a
multiple of ten chip units, so no amount is ever rounded.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta, structs

from tables.games.cards import DECK_SIZE, Composition, add, count, shoe
from tables.games.felt import (
    DEALER,
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
)

DEATH_CARD: Final = 3
BETS, DEAL, DECIDE, HIT, DEALER_HIT, OVER = range(6)
"""The stages of a round: betting, the opening deal, a seat decides, its card is due, the dealer's card is due."""


class Rules(Struct, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8)] = 6
    burn: Annotated[int, Meta(ge=0, le=20)] = 5
    reshuffle_at: Annotated[float, Meta(ge=0.1, le=0.5)] = 0.2
    start: Literal["dealer_left", "low_card"] = "dealer_left"
    unit: Annotated[int, Meta(ge=1, le=10**12)] = 1


class State(Struct, frozen=True):
    """A round. The tuples from ``seats`` to ``payouts`` run in parallel, one item a seat that bet."""

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
    first: int = 0
    """Index of the seat that starts each pass."""
    turn: int = 0
    """How many seats of this pass lie behind, counted from ``first``; in the deal: cards dealt."""
    button: int | None = None


class Rocket:
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "rocket"
    title: ClassVar[str] = "Rocket"
    banked: ClassVar[bool] = True
    carries: ClassVar[frozenset[str]] = frozenset({"button", "dealt"})
    seat_counts: ClassVar[range] = range(1, 7)
    rules_type = Rules

    def open(self, rules: Rules, opening: Opening) -> State:
        """Bets are open. Raises Illegal for a shoe that cannot have lost the cards said to be gone."""
        full = shoe(rules.decks)
        for rank, (out, held) in enumerate(zip(opening.dealt, full, strict=True), 1):
            if not 0 <= out <= held:
                raise Illegal("impossible_shoe", f"{out} cards of rank {rank} cannot be gone: the shoe holds {held}")
        left = rules.decks * DECK_SIZE - rules.burn - sum(opening.dealt)
        if left < 0:
            raise Illegal("impossible_shoe", "more cards are gone than the shoe holds after the burn")
        return State(rules, opening, BETS, (), (), (), (), (), opening.dealt, left, button=opening.button)

    # --- prompts ---

    def prompts(self, state: State) -> tuple[Prompt, ...]:
        """What may happen next."""
        stage = state.stage
        if stage == DECIDE:
            return (self._decision(state),)
        if stage == OVER:
            return ()
        if stage == BETS:
            return self._betting(state)
        if not state.left:
            return (AskShuffle(_discards(state), state.rules.burn),)
        return (AskCard(_card_due_to(state), state.gone, state.rules.decks),)

    def _betting(self, state: State) -> tuple[Prompt, ...]:
        limits, step = state.opening.limits, 10 * state.rules.unit
        placed = dict(zip(state.seats, state.bets, strict=True))
        exposed = sum(state.bets)
        asks: list[Prompt] = []
        for seat in state.opening.seats:
            own = placed.get(seat, 0)
            high, capped = limits.max_cents, False
            if limits.cap_cents is not None and limits.cap_cents - exposed + own < high:
                high, capped = limits.cap_cents - exposed + own, True
            asks.append(AskBet(seat, max(limits.min_cents, step), high, step, own, capped))
        if placed:
            asks.append(AskCloseBets())
        return tuple(asks)

    def _decision(self, state: State) -> AskChoice:
        seat = _acting(state)
        fold = Choice("fold", min(*state.stacks[seat], *state.dealer) * (state.bets[seat] // 10))
        return AskChoice(state.seats[seat], (Choice("hit", 0, True), fold) if _can_draw(state) else (fold,))

    # --- apply ---

    def apply(self, state: State, action: Action) -> State:
        """The state after an admitted action."""
        if type(action) is Card:
            return self._card(state, action.rank)
        if type(action) is Choose:
            if action.choice == "fold":
                return _fold(state)
            return _with(state, stage=HIT)
        if type(action) is Bet:
            return _bet(state, action)
        if type(action) is CloseBets:
            n = len(state.seats)
            return _with(state, stage=DEAL, stacks=((),) * n, payouts=(None,) * n)
        return _shuffled(state)

    def _card(self, state: State, rank: int) -> State:
        gone, left = add(state.gone, rank), state.left - 1
        if state.stage == HIT:
            return _hit(state, rank, gone, left)
        if state.stage == DEAL and state.turn < len(state.seats):
            turn = state.turn
            stacks = (*state.stacks[:turn], (rank,), *state.stacks[turn + 1 :])
            dealt = _with(state, stacks=stacks, gone=gone, left=left, turn=turn + 1)
            return _find_start(dealt) if turn + 1 == len(state.seats) else dealt
        return _dealer_card(state, rank, gone, left)

    # --- what comes out ---

    def settle(self, state: State) -> tuple[Payout, ...]:
        """The payouts decided so far, in seat order."""
        return tuple(payout for payout in state.payouts if payout is not None)

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


def _acting(state: State) -> int:
    """The index of the seat whose turn it is."""
    return (state.first + state.turn) % len(state.seats)


def _card_due_to(state: State) -> int:
    if state.stage == HIT:
        return state.seats[_acting(state)]
    if state.stage == DEAL and state.turn < len(state.seats):
        return state.seats[state.turn]
    return DEALER


def _bet(state: State, action: Bet) -> State:
    bets = dict(zip(state.seats, state.bets, strict=True))
    bets[action.seat] = action.amount_cents
    kept = sorted((seat, cents) for seat, cents in bets.items() if cents)
    return _with(state, seats=tuple(seat for seat, _ in kept), bets=tuple(cents for _, cents in kept))


def _find_start(state: State) -> State:
    """The players' cards are out: the dealer's left starts, or the low card, where the button then lies.

    Ties go to the tied seat nearest to the left of the previous button; its own seat is the farthest.
    """
    if state.rules.start == "dealer_left":
        return state
    low = min(stack[0] for stack in state.stacks)
    tied = [seat for seat, stack in zip(state.seats, state.stacks, strict=True) if stack[0] == low]
    previous = state.button or 0
    starter = min(tied, key=lambda seat: (seat <= previous, seat))
    return _with(state, first=state.seats.index(starter), button=starter)


def _fold(state: State) -> State:
    index = _acting(state)
    bet, low = state.bets[index], min(*state.stacks[index], *state.dealer)
    why = f"folds for the lowest card, {low}: pays {low}/10 of the bet"
    return _leave(state, index, Payout(state.seats[index], bet, bet - low * (bet // 10), "fold", low, why))


def _hit(state: State, rank: int, gone: Composition, left: int) -> State:
    index = _acting(state)
    stack = state.stacks[index]
    stacks = (*state.stacks[:index], (*stack, rank), *state.stacks[index + 1 :])
    drawn = _with(state, stacks=stacks, gone=gone, left=left)
    if rank not in stack:
        return _next_turn(drawn, state.turn + 1)
    bet = state.bets[index]
    why = f"pair of {rank}s: loses {rank}/10 of the bet"
    return _leave(drawn, index, Payout(state.seats[index], bet, bet - rank * (bet // 10), "pair", rank, why))


def _leave(state: State, index: int, payout: Payout) -> State:
    """A seat is out; its cards are discards from now on."""
    payouts = (*state.payouts[:index], payout, *state.payouts[index + 1 :])
    return _next_turn(_with(state, payouts=payouts), state.turn + 1)


def _next_turn(state: State, turn: int) -> State:
    """The next seat still in decides; after the last one the dealer hits, if anyone is left to hit for."""
    seats = len(state.seats)
    while turn < seats and state.payouts[(state.first + turn) % seats] is not None:
        turn += 1
    if turn < seats:
        deciding = _with(state, stage=DECIDE, turn=turn)
        # A fold that is the only legal answer is not asked, it is carried out.
        return deciding if _can_draw(state) else _fold(deciding)
    if None not in state.payouts:
        return _with(state, stage=OVER)
    if not _can_draw(state):
        return _pay_all(state, "push", None, 0, "no card is left for the dealer: the hand is dead, bets go back")
    return _with(state, stage=DEALER_HIT, turn=turn)


def _dealer_card(state: State, rank: int, gone: Composition, left: int) -> State:
    drawn = _with(state, dealer=(*state.dealer, rank), gone=gone, left=left)
    if rank == DEATH_CARD:
        return _pay_all(drawn, "death_card", rank, rank, "the dealer's 3 is sudden death: wins 3/10 of the bet")
    if rank in state.dealer:
        return _pay_all(drawn, "dealer_pair", rank, rank, f"the dealer pairs {rank}s: wins {rank}/10 of the bet")
    return _next_turn(drawn, 0)


def _pay_all(state: State, outcome: str, card: int | None, tenths: int, why: str) -> State:
    """Every seat still in is paid that many tenths of its bet, and the round is over."""
    payouts = tuple(
        payout or Payout(seat, bet, bet + tenths * (bet // 10), outcome, card, why)
        for payout, seat, bet in zip(state.payouts, state.seats, state.bets, strict=True)
    )
    return _with(state, payouts=payouts, stage=OVER)


# --- the shoe in mid-round -------------------------------------------------------------------------------------


def _in_play(state: State) -> Composition:
    """The cards of the seats still in, and the dealer's: all that a shuffle leaves where it is."""
    stacks = (stack for stack, payout in zip(state.stacks, state.payouts, strict=True) if payout is None)
    return count([*state.dealer, *(rank for stack in stacks for rank in stack)])


def _discards(state: State) -> int:
    """How many cards are neither in play nor in the shoe: discards and burned cards."""
    return state.rules.decks * DECK_SIZE - state.left - sum(_in_play(state))


def _can_draw(state: State) -> bool:
    """Whether there is a card for whoever needs one, after a shuffle of the discards if need be."""
    return state.left > 0 or _discards(state) > state.rules.burn


def _shuffled(state: State) -> State:
    cards = _discards(state)
    return _with(state, gone=_in_play(state), left=cards - state.rules.burn)


# --- words and pictures ----------------------------------------------------------------------------------------


def _seat_view(state: State, seat: int, index: int | None) -> SeatView:
    if index is None:
        return SeatView(seat)
    if state.stage == BETS:
        return SeatView(seat, state.bets[index], (), "in")
    payout = state.payouts[index]
    return SeatView(seat, state.bets[index], state.stacks[index], "out" if payout else "in", payout)


def _say_decision(state: State, prompt: AskChoice, money: Money) -> Phrase:
    cost, low = money(prompt.choices[-1].cost_cents), min(*state.stacks[_acting(state)], *state.dealer)
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
    if state.stage == DEAL:
        return Phrase("Deal your own card.", "Dealer's card.", "A 3 as the first card ends the round: it pays 3/10.")
    return Phrase(
        "Dealer hits.",
        "Dealer takes a card.",
        "The dealer always hits: a pair pays its rank in tenths, a 3 pays 3/10.",
    )
