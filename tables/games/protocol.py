"""The vocabulary of all games: actions, prompts, payouts and views.

An action changes a round. A prompt states what may happen next; an action is legal if and only if an open prompt admits
it. When no prompt is open, the round is over. Money is in minor units (`_cents`), seats are numbered clockwise from the
dealer's left, and 0 is the dealer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import lcm
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tables.games.cards import NOTHING, PAIRS, UNKNOWN, WHOLE, Composition, pack_of

Money = Callable[[int], str]
"""Formats an amount in the site's currency, which games do not know."""

Item = TypeVar("Item")

DEALER: Final = 0
MIDDLE: Final = -1
"""The place of shared cards."""
PLAYER_HAND, BANKER_HAND, DRAGON, TIGER = -2, -3, -4, -5
"""The hands before the dealer that seats bet on, in games that have two."""
PLACE_NAMES: Final = {
    DEALER: "dealer",
    MIDDLE: "middle",
    PLAYER_HAND: "player",
    BANKER_HAND: "banker",
    DRAGON: "dragon",
    TIGER: "tiger",
}
"""The places of the layout that are no seats, as they are called."""
MOST_CENTS: Final = 10**15
"""No bet is larger than this, so that every sum fits the ledger's 64-bit amounts."""
PAID_EXACTLY: Final = "so that each result is paid in whole chips"
"""Why a bet has to be a multiple of more than the chip unit."""
TEN_UNITS: Final = "ten chip units"
BET_STEP: Final = "the bet step"
"""The reasons for the step of a bet: the game's, and the table's own setting."""
MAIN: Final = "main"
"""The wager of a game that has but one, and the first one of most others."""


class Struct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Base of all values here: immutable, without cycles, refusing unknown keys when read from JSON."""


# --- Actions: everything that changes a round ------------------------------------------------------------------


class Bet(Struct, frozen=True, tag_field="do", tag="bet", omit_defaults=True):
    """A seat's bet is placed, or replaced; 0 takes it off the layout."""

    seat: int
    amount_cents: int
    wager: str = MAIN
    approved: bool = False
    """Whether the bet exceeds the limit with a pit boss's signed approval."""


class CloseBets(Struct, frozen=True, tag_field="do", tag="close_bets"):
    """ "No more bets": the bets are final."""


class Card(Struct, frozen=True, tag_field="do", tag="card"):
    """A card was turned faceup, for a seat or for the dealer (0)."""

    rank: int
    """The card, by its number in the game's pack: in the Pairs family, its rank."""
    to: int


class Choose(Struct, frozen=True, tag_field="do", tag="choose", omit_defaults=True):
    """A seat's decision, with the card or cards, the seat and the count that it names."""

    seat: int
    choice: str
    card: int | None = None
    cards: tuple[int, ...] | None = None
    target: int | None = None
    count: int | None = None

    @property
    def names_things(self) -> bool:
        """Whether it names a card, a seat or a count."""
        return not (self.card is None and self.cards is None and self.target is None and self.count is None)


class Shuffle(Struct, frozen=True, tag_field="do", tag="shuffle"):
    """The shoe ran out in mid-round: the discards were shuffled, and the burn repeated."""


class SetAside(Struct, frozen=True, tag_field="do", tag="set_aside", omit_defaults=True):
    """A card left the shoe unplayed in mid-round: exposed, boxed, or on the floor. It is a discard from then on."""

    rank: int = UNKNOWN
    """The card, by its number in the game's pack; UNKNOWN if it was not seen."""


Action = Bet | CloseBets | Card | Choose | Shuffle | SetAside


class Illegal(Exception):
    """An action that no open prompt admits.

    `code` is machine-readable; the text is one sentence with the fault and what would be right. Amounts are ``{names}``
    in the template, so that a screen can format them in the site's currency.
    """

    def __init__(self, code: str, template: str, cents: Mapping[str, int] | None = None, **facts: Any) -> None:
        self.code = code
        self.template = template
        self.cents = cents or {}
        self.facts = facts
        super().__init__(self.say(str))

    def say(self, money: Money) -> str:
        """The sentence, with amounts formatted by `money`."""
        if not self.cents:
            return self.template
        return self.template.format(**{name: money(cents) for name, cents in self.cents.items()})

    @property
    def sentence(self) -> str:
        """The sentence, its amounts in minor units."""
        return str(self)


# --- Prompts: what may happen next -----------------------------------------------------------------------------


class AskBet(Struct, frozen=True, tag_field="kind", tag="bet"):
    """A seat may bet between low and high, in steps; or take its bet off when it has one."""

    seat: int
    low_cents: int
    high_cents: int
    step_cents: int
    placed_cents: int = 0
    capped: bool = False
    """Whether the table's exposure cap, not its maximum, sets ``high_cents``."""
    seat_full: bool = False
    """Whether the maximum of the seat, all its wagers together, sets ``high_cents``."""
    step_is: str = TEN_UNITS
    wager: str = MAIN
    needs: str = ""
    """The wager that this seat has to place first."""
    opposite: str = ""
    """The wager of this seat that excludes this one."""

    def admits(self, action: Action) -> Action | None:
        """This seat's bet on this wager.

        Raises Illegal if it is out of range or not a multiple of the step, or if the seat's other wagers exclude it.
        """
        if type(action) is not Bet or action.seat != self.seat or action.wager != self.wager:
            return None
        amount = action.amount_cents
        if amount == 0 and self.placed_cents:
            return action
        if self.opposite:
            sentence = f"seat {self.seat}: {self.wager} and {self.opposite} are opposite sides; it has one of them"
            raise Illegal("opposite_sides", sentence, seat=self.seat)
        if self.needs:
            raise Illegal("bad_bet", f"seat {self.seat}: {self.wager} goes with {self.needs}; place that first")
        most = MOST_CENTS if action.approved else self.high_cents
        if amount < self.low_cents or amount > most or amount % self.step_cents:
            raise self._objection(amount)
        return action

    def nearest(self, amount_cents: int) -> list[int]:
        """The nearest legal bets: one below and one above if both exist. Empty if none is legal."""
        first = -(-self.low_cents // self.step_cents) * self.step_cents
        last = self.high_cents // self.step_cents * self.step_cents
        if first > last:
            return []
        below = min(max(amount_cents // self.step_cents * self.step_cents, first), last)
        above = min(max(-(-amount_cents // self.step_cents) * self.step_cents, first), last)
        return sorted({below, above})

    def _objection(self, amount: int) -> Illegal:
        if amount % self.step_cents and self.step_is == PAID_EXACTLY:
            wrong, bound = f"is no multiple of {{bound}}, {self.step_is}", self.step_cents
        elif amount < self.low_cents:
            wrong, bound = "is under the minimum of {bound}", self.low_cents
        elif amount > self.high_cents and self.seat_full:
            wrong, bound = "would take the seat over its maximum: {bound} still fits", max(self.high_cents, 0)
        elif amount > self.high_cents and self.capped:
            wrong, bound = "would take the table over its exposure cap: {bound} still fits", max(self.high_cents, 0)
        elif amount > self.high_cents:
            wrong, bound = "is over the maximum of {bound}", self.high_cents
        else:
            wrong, bound = f"is no multiple of {{bound}}, {self.step_is}", self.step_cents
        nearest = self.nearest(amount)
        names = [f"nearest{place}" for place in range(len(nearest))]
        legal = (
            f"the nearest legal bet is {' or '.join(f'{{{name}}}' for name in names)}" if names else "no bet fits here"
        )
        cents = {"amount": amount, "bound": bound, **dict(zip(names, nearest, strict=True))}
        on = "" if self.wager == MAIN else f" on {self.wager}"
        template = f"seat {self.seat}: {{amount}}{on} {wrong}; {legal}"
        return Illegal("bad_bet", template, cents, seat=self.seat, nearest_cents=nearest)


class AskCloseBets(Struct, frozen=True, tag_field="kind", tag="close_bets"):
    """The bets may be closed."""

    def admits(self, action: Action) -> Action | None:
        """The word "no more bets"."""
        return action if type(action) is CloseBets else None


class AskCard(Struct, frozen=True, tag_field="kind", tag="card", omit_defaults=True):
    """A card is due at a seat, at the dealer (0) or in the middle (-1)."""

    to: int
    gone: Composition
    """How many of each rank are gone since the shuffle (dealt, or in play when it was shuffled)."""
    decks: int
    down: bool = False
    """Whether it is dealt facedown: only its owner may know it."""
    apart: bool = False
    """Whether the card comes from a few cards shuffled separately from the deck; `gone` then contains all but these."""
    shown: bool = False
    """Whether the card is already in place, facedown and unknown, and is turned now: no card leaves the deck."""
    hand: int = 0
    """Number of the hand, if the place has several."""
    barred: tuple[int, ...] = ()
    """Cards that it cannot be, after a declaration about it such as the dealer's peek."""
    lies_at: int = 0
    """For a card already in place: number of cards in the shoe when it was dealt, including itself; below zero if the
    shoe was shuffled since."""

    @property
    def may_come(self) -> tuple[int, ...]:
        """All cards that may come, each repeated by its possible count, in ascending order."""
        whole = WHOLE[len(self.gone)][self.decks]
        return tuple(
            card
            for card, (copies, out) in enumerate(zip(whole, self.gone, strict=True), 1)
            if card not in self.barred
            for _ in range(copies - out)
        )

    def without(self, card: int) -> AskCard:
        """This prompt after a card has left the shoe unplayed."""
        if card == UNKNOWN or self.apart:
            return self
        gone = [*self.gone]
        gone[card - 1] += 1
        return msgspec.structs.replace(self, gone=tuple(gone))

    def admits(self, action: Action) -> Action | None:
        """A card to this place; raises Illegal for one that the shoe cannot hold any more."""
        if type(action) is not Card or action.to != self.to:
            return None
        card, gone = action.rank, self.gone
        whole = WHOLE[len(gone)][self.decks]
        if 1 <= card <= len(gone) and gone[card - 1] < whole[card - 1] and card not in self.barred:
            return action
        raise self._objection(card)

    def _objection(self, card: int) -> Illegal:
        pack = pack_of(self.gone)
        if not 1 <= card <= len(self.gone):
            ranks = "ranks are 1 to 10" if pack is PAIRS else f"cards are 1 to {len(self.gone)}"
            return Illegal("no_such_card", f"there is no card {card}: {ranks}")
        name, copies = pack.spell(card), WHOLE[len(self.gone)][self.decks][card - 1]
        if card in self.barred:
            sentence = f"it cannot be {name}: the dealer looked at it, and that would have been said"
            return Illegal("impossible_card", sentence, rank=card)
        if self.apart:
            return Illegal("impossible_card", f"no {name} is among the cards that were shuffled apart", rank=card)
        clause = "the only one is" if copies == 1 else f"all {copies} are"
        return Illegal("impossible_card", f"no {name} can be left in this shoe: {clause} out already", rank=card)


class Choice(Struct, frozen=True, omit_defaults=True):
    """One possible choice of a seat, its present cost (minor units, or coins), and what it names."""

    name: str
    cost_cents: int = 0
    draws: bool = False
    """Whether this choice takes a card: naming the card for the seat then means that it was chosen."""
    card: int | None = None
    cards: tuple[int, ...] | None = None
    target: int | None = None
    count: int | None = None
    ordered: bool = False
    """Whether the order of ``cards`` matters."""

    @property
    def names_things(self) -> bool:
        """Whether it names a card, a seat or a count."""
        return not (self.card is None and self.cards is None and self.target is None and self.count is None)

    def means(self, action: Choose) -> bool:
        """Whether an action may mean this choice; its omitted parts match any value."""
        return (
            action.choice == self.name
            and (action.card is None or action.card == self.card)
            and (action.cards is None or self._means_cards(action.cards))
            and (action.target is None or action.target == self.target)
            and (action.count is None or action.count == self.count)
        )

    def _means_cards(self, cards: tuple[int, ...]) -> bool:
        return cards == self.cards or (
            not self.ordered and self.cards is not None and sorted(cards) == sorted(self.cards)
        )


class AskChoice(Struct, frozen=True, tag_field="kind", tag="choose", omit_defaults=True):
    """A seat decides. Every legal decision is listed."""

    seat: int
    choices: tuple[Choice, ...]
    names_things: bool = False
    """Whether a choice names a card, a seat or a count."""
    hand: int = 0
    """The hand of the seat to decide about, in games with several."""

    def admits(self, action: Action) -> Action | None:
        """One of the choices, with all that it names; raises Illegal for another choice of this seat."""
        if type(action) is not Choose or action.seat != self.seat:
            return None
        if not (self.names_things or action.names_things):
            for choice in self.choices:
                if choice.name == action.choice:
                    return action
        choice = self._match([choice for choice in self.choices if choice.means(action)], action)
        return Choose(
            action.seat, choice.name, choice.card, cards=choice.cards, target=choice.target, count=choice.count
        )

    def _match(self, matches: list[Choice], action: Choose) -> Choice:
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise Illegal("unclear_choice", f"seat {self.seat} may {action.choice} in {len(matches)} ways: say which")
        raise Illegal("unknown_choice", f"seat {self.seat} may {self.names}, not {_spoken(action)}")

    @property
    def names(self) -> str:
        """The choices in words, each name once."""
        return " or ".join(dict.fromkeys(choice.name for choice in self.choices))


def _spoken(action: Choose) -> str:
    """A decision in words: 'gift' with card 4 to seat 2."""
    named = [
        f"card {action.card}" if action.card is not None else "",
        f"cards {', '.join(map(str, action.cards)) or '(none)'}" if action.cards is not None else "",
        f"seat {action.target}" if action.target is not None else "",
        f"{action.count} cards" if action.count is not None else "",
    ]
    with_ = " and ".join(part for part in named if part)
    return f"{action.choice!r} with {with_}" if with_ else repr(action.choice)


class AskShuffle(Struct, frozen=True, tag_field="kind", tag="shuffle"):
    """The shoe is empty in mid-round: shuffle ``cards`` discards and burn ``burn`` of them."""

    cards: int
    burn: int

    def admits(self, action: Action) -> Action | None:
        return action if type(action) is Shuffle else None


Prompt = AskBet | AskCloseBets | AskCard | AskChoice | AskShuffle


class Phrase(Struct, frozen=True):
    """A prompt in words: the dealer's action, the dealer's phrase, and the rule behind it."""

    do: str
    say: str
    rule: str


# --- What a round is opened with, and what comes out of it -----------------------------------------------------


class WagerLimits(Struct, frozen=True):
    """The limits of one wager."""

    wager: str
    min_cents: int
    max_cents: int


class HeldMinimum(Struct, frozen=True, omit_defaults=True):
    """A seat that keeps an older minimum, since it was playing when the table's was raised."""

    seat: int
    min_cents: int
    missed: int = 0
    """Consecutive rounds in which it did not bet."""


class Limits(Struct, frozen=True):
    """The table's limits for one bet, and its aggregate limit on the casino's exposure in one round (None:
    unlimited)."""

    min_cents: int = 1
    max_cents: int = MOST_CENTS
    cap_cents: int | None = None
    wagers: tuple[WagerLimits, ...] | UnsetType = UNSET
    """The wagers with limits of their own."""
    seat_max_cents: int | UnsetType = UNSET
    """Maximum of all wagers of one seat before the cards. Unset: no such limit."""
    kept: tuple[HeldMinimum, ...] | UnsetType = UNSET
    """The seats that keep an older minimum, on wagers without limits of their own."""
    step_cents: int | UnsetType = UNSET
    """The bet step: every bet is a multiple of it. Unset: the chip unit."""

    def of(self, wager: str) -> tuple[int, int]:
        """The least and the most that may lie on a wager, in minor units."""
        for own in self.wagers or ():
            if own.wager == wager:
                return own.min_cents, own.max_cents
        return self.min_cents, self.max_cents

    def least(self, wager: str, seat: int) -> int:
        """The least that may lie on a wager of a seat, in minor units."""
        least, _ = self.of(wager)
        own = any(limits.wager == wager for limits in self.wagers or ())
        minimums = [] if own else [older.min_cents for older in self.kept or () if older.seat == seat]
        return min([least, *minimums])

    @property
    def bind_bets(self) -> bool:
        """Whether bets already placed bound the next bet."""
        return self.cap_cents is not None or self.seat_max_cents is not UNSET

    def step_of(self, unit_cents: int, reason: str) -> tuple[int, str]:
        """The step of a bet in minor units, and the reason for it. The game itself requires multiples of ``unit_cents``
        for ``reason``."""
        step = lcm(unit_cents, self.step_cents or unit_cents)
        return step, reason if step == unit_cents else BET_STEP if step == self.step_cents else PAID_EXACTLY

    def room_of(self, seat_cents: int) -> int:
        """What a seat with this total on its wagers may still add."""
        return MOST_CENTS if self.seat_max_cents is UNSET else self.seat_max_cents - seat_cents


class Rake(Struct, frozen=True):
    """The casino's share of each pot won, in whole coins, rounded down."""

    permille: Annotated[int, Meta(ge=1, le=1_000)]
    cap_coins: Annotated[int, Meta(ge=0)] | None = None

    def of(self, pot: int) -> int:
        """The rake of a pot, in coins."""
        due = pot * self.permille // 1000
        return due if self.cap_coins is None else min(due, self.cap_coins)


class Payment(Struct, frozen=True):
    """Coins paid in a player-pool game.

    `kind` names the ledger's movement: a seat's payment into the pot (`pay_pot`), to another seat (`pay_seat`), a share
    of the pot (`win_pot`), the casino's `rake`.
    """

    kind: Literal["pay_pot", "pay_seat", "win_pot", "rake"]
    coins: int
    payer: int = 0
    """The seat that pays; 0 for the pot."""
    payee: int = 0
    """The seat that is paid; 0 for the pot or the casino."""


class Opening(Struct, frozen=True):
    """The start of a round: who may bet, the limits, the cards gone from the shoe, the button's place."""

    seats: tuple[int, ...]
    limits: Limits = Limits()
    dealt: Composition = NOTHING
    button: int | None = None
    pot: int = 0
    """Coins that the previous game left in the pot."""
    first: int | None = None
    """The seat drawn to start, in games that draw it."""
    stacks: tuple[int, ...] = ()
    """Coins of each of `seats` on the table, which payments cannot exceed. Empty: not limited."""
    rake: Rake | None = None
    """The casino's rake of a pot; None for none."""
    blind: bool = False
    """Whether the cards are physical: a facedown card is then unknown until it is turned."""
    commission_is_marked: bool | UnsetType = UNSET
    """Whether commission is owed to the cent and collected later, in games whose bets must be payable exactly."""
    unseen: int | UnsetType = UNSET
    """Unseen cards that left the shoe since its shuffle (burned ones); set only if the rules do not determine the
    number."""


Fact = int | str | tuple[int, ...]


class Reason(Struct, frozen=True, array_like=True):
    """Why a wager or a seat ended as it did: a code of the game (`Game.reasons`), and its parameters by name."""

    code: str
    facts: dict[str, Fact] = {}

    def __hash__(self) -> int:
        return hash((self.code, *self.facts.items()))


def because(code: str, **facts: Fact) -> Reason:
    """A reason with its parameters."""
    return Reason(code, facts)


Why = tuple[Reason, ...]


class Settled(Struct, frozen=True, omit_defaults=True):
    """The result of one wager, in minor units."""

    bet: str
    staked_cents: int
    returned_cents: int
    outcome: str
    why: Why | str
    """A sentence in entries that earlier releases wrote."""
    hand: int | None = None
    broken_cents: str = ""
    """What rounding withheld of its winnings, as a fraction of a minor unit; below zero, what it added."""
    parts: tuple[tuple[str, int], ...] = ()
    """(wager, cents) of its parts in order, such as a split or a double; empty for a single bet."""
    commission_cents: int = 0
    """The casino's commission on its winnings. A table may pay it out, and collect it later."""

    @property
    def net_cents(self) -> int:
        """Net win (positive) or loss (negative) of the player by it."""
        return self.returned_cents - self.staked_cents

    @property
    def put_up(self) -> tuple[tuple[str, int], ...]:
        """The (wager, cents) parts of the stake, the first bet first."""
        return self.parts or ((self.bet, self.staked_cents),)


class Payout(Struct, frozen=True, omit_defaults=True):
    """The result of one seat: its stake, and what is returned to the player, in minor units; coins in player-pool
    games."""

    seat: int
    staked_cents: int
    returned_cents: int
    outcome: str
    card: int | None
    why: Why | str
    """Empty if each wager has its own; a sentence in entries that earlier releases wrote."""
    score: int | None = None
    """Points, in games that are scored."""
    wagers: tuple[Settled, ...] = ()
    """Each wager by itself, in games that have several."""

    @property
    def net_cents(self) -> int:
        """Net win (positive) or loss (negative) of the player."""
        return self.returned_cents - self.staked_cents


class WagerView(Struct, frozen=True):
    """A wager on the layout."""

    bet: str
    cents: int
    hand: int | None = None
    outcome: str = ""


class HandView(Struct, frozen=True):
    """One hand on the layout: its faceup cards, the number of facedown ones, and its value in words ("soft 17")."""

    number: int
    cards: tuple[int, ...]
    facedown: int = 0
    name: str = ""
    says: str = ""
    state: str = ""


class SeatView(Struct, frozen=True):
    """One seat as a viewer may see it."""

    seat: int
    bet_cents: int = 0
    stack: tuple[int, ...] = ()
    state: Literal["empty", "in", "out"] = "empty"
    payout: Payout | None = None
    hand: tuple[int, ...] = ()
    """Facedown cards, for their owner alone."""
    hand_size: int = 0
    kept: tuple[int, ...] = ()
    """Cards kept for score."""
    score: int | None = None
    """Points so far, in games that are scored."""
    coins: int | None = None
    """Coins left on the table. None: not limited."""
    columns: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """The seat's side of each column: the target, and the cards laid to it."""
    wagers: tuple[WagerView, ...] | UnsetType = UNSET
    """Each wager, in games that have several."""
    hands: tuple[HandView, ...] | UnsetType = UNSET
    """Each hand, in games in which a seat may have several."""


class View(Struct, frozen=True):
    """A round as one viewer may see it: built from an allow-list, never by leaving secrets out."""

    seats: tuple[SeatView, ...]
    dealer: tuple[int, ...]
    button: int | None
    cards_left: int
    over: bool
    middle: tuple[int, ...] = ()
    """Shared faceup cards."""
    facedown: int = 0
    """Number of shared facedown cards."""
    pot: int = 0
    """Coins in the pot."""
    hands: tuple[HandView, ...] | UnsetType = UNSET
    """The hands before the dealer, in games on standard cards."""


def put(items: tuple[Item, ...], place: int, item: Item) -> tuple[Item, ...]:
    """The tuple with another item at one place."""
    changed = [*items]
    changed[place] = item
    return tuple(changed)
