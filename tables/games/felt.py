"""The vocabulary that every game speaks: actions, prompts, payouts and views.

An action changes a round. A prompt says what may happen next; an action is legal exactly when an open prompt
admits it. When no prompt is open, the round is over. Money is in minor units (``_cents``), seats are numbered
clockwise from the dealer's left, and 0 stands for the dealer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta

from tables.games.cards import NOTHING, Composition

Money = Callable[[int], str]
"""Says an amount in the house's own way; games do not know the currency."""

Item = TypeVar("Item")

DEALER: Final = 0
MIDDLE: Final = -1
"""Where cards lie that are nobody's."""
MOST_CENTS: Final = 10**15
"""No bet is larger than this, so that every sum fits the ledger's 64-bit amounts."""


class Struct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Base of all values here: immutable, without cycles, refusing unknown keys when read from JSON."""


# --- Actions: everything that changes a round ------------------------------------------------------------------


class Bet(Struct, frozen=True, tag_field="do", tag="bet"):
    """A seat's bet is placed, or replaced; 0 takes it off the layout."""

    seat: int
    amount_cents: int


class CloseBets(Struct, frozen=True, tag_field="do", tag="close_bets"):
    """ "No more bets": from here on the bets stand."""


class Card(Struct, frozen=True, tag_field="do", tag="card"):
    """A card was turned faceup, for a seat or for the dealer (0)."""

    rank: int
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


Action = Bet | CloseBets | Card | Choose | Shuffle


class Illegal(Exception):
    """An action that no open prompt admits.

    ``code`` is machine-readable; the text is one sentence that says what is wrong and what would be right. Its
    amounts stand as ``{names}`` in the template, so that a screen can say them in the house's own way.
    """

    def __init__(self, code: str, template: str, cents: Mapping[str, int] | None = None, **facts: Any) -> None:
        self.code = code
        self.template = template
        self.cents = cents or {}
        self.facts = facts
        super().__init__(self.say(str))

    def say(self, money: Money) -> str:
        """The sentence, its amounts said by ``money``."""
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

    def admits(self, action: Action) -> Action | None:
        """This seat's bet; raises Illegal when it is out of range or no multiple of the step."""
        if type(action) is not Bet or action.seat != self.seat:
            return None
        amount = action.amount_cents
        if amount == 0 and self.placed_cents:
            return action
        if amount < self.low_cents or amount > self.high_cents or amount % self.step_cents:
            raise self._objection(amount)
        return action

    def nearest(self, amount_cents: int) -> list[int]:
        """The nearest legal bets: one below and one above where both exist. Empty when none is legal."""
        first = -(-self.low_cents // self.step_cents) * self.step_cents
        last = self.high_cents // self.step_cents * self.step_cents
        if first > last:
            return []
        below = min(max(amount_cents // self.step_cents * self.step_cents, first), last)
        above = min(max(-(-amount_cents // self.step_cents) * self.step_cents, first), last)
        return sorted({below, above})

    def _objection(self, amount: int) -> Illegal:
        if amount < self.low_cents:
            wrong, bound = "is under the minimum of {bound}", self.low_cents
        elif amount > self.high_cents and self.capped:
            wrong, bound = "would take the table over its exposure cap: {bound} still fits", max(self.high_cents, 0)
        elif amount > self.high_cents:
            wrong, bound = "is over the maximum of {bound}", self.high_cents
        else:
            wrong, bound = "is no multiple of {bound}, ten chip units", self.step_cents
        nearest = self.nearest(amount)
        names = [f"nearest{place}" for place in range(len(nearest))]
        legal = (
            f"the nearest legal bet is {' or '.join(f'{{{name}}}' for name in names)}" if names else "no bet fits here"
        )
        cents = {"amount": amount, "bound": bound, **dict(zip(names, nearest, strict=True))}
        template = f"seat {self.seat}: {{amount}} {wrong}; {legal}"
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
    """Whether it comes from a few cards that were shuffled apart from the deck; ``gone`` is then all but these."""
    shown: bool = False
    """Whether it lies there already, facedown and unknown, and is turned now: no card leaves the deck."""

    @property
    def may_come(self) -> tuple[int, ...]:
        """The ranks of all cards that may come, each as often as it may, in ascending order."""
        return tuple(rank for rank, out in enumerate(self.gone, 1) for _ in range(rank * self.decks - out))

    def admits(self, action: Action) -> Action | None:
        """A card to this place; raises Illegal for a rank that the shoe cannot hold any more."""
        if type(action) is not Card or action.to != self.to:
            return None
        rank = action.rank
        if 1 <= rank <= 10 and self.gone[rank - 1] < rank * self.decks:
            return action
        raise self._objection(rank)

    def _objection(self, rank: int) -> Illegal:
        if not 1 <= rank <= 10:
            return Illegal("no_such_card", f"there is no card {rank}: ranks are 1 to 10")
        if self.apart:
            return Illegal("impossible_card", f"no {rank} is among the cards that were shuffled apart", rank=rank)
        has = "the only one is" if rank * self.decks == 1 else f"all {rank * self.decks} are"
        return Illegal("impossible_card", f"no {rank} can be left in this shoe: {has} out already", rank=rank)


class Choice(Struct, frozen=True, omit_defaults=True):
    """One thing a seat may choose, what it costs now (minor units, or coins), and what it names."""

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
        """Whether an action may mean this choice: what it leaves out may be anything."""
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

    def admits(self, action: Action) -> Action | None:
        """One of the choices, with all that it names; raises Illegal for another choice of this seat."""
        if type(action) is not Choose or action.seat != self.seat:
            return None
        if not (self.names_things or action.names_things):
            for choice in self.choices:
                if choice.name == action.choice:
                    return action
        choice = self._meant([choice for choice in self.choices if choice.means(action)], action)
        return Choose(
            action.seat, choice.name, choice.card, cards=choice.cards, target=choice.target, count=choice.count
        )

    def _meant(self, meant: list[Choice], action: Choose) -> Choice:
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise Illegal("unclear_choice", f"seat {self.seat} may {action.choice} in {len(meant)} ways: say which")
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
    """A prompt in words: what the dealer does, what the dealer says, and the rule behind it."""

    do: str
    say: str
    rule: str


# --- What a round is opened with, and what comes out of it -----------------------------------------------------


class Limits(Struct, frozen=True):
    """The table's limits for one bet, and for the house's whole exposure in one round (``None``: no cap)."""

    min_cents: int = 1
    max_cents: int = MOST_CENTS
    cap_cents: int | None = None


class Rake(Struct, frozen=True):
    """What the house takes of each pot that is won, in whole coins, rounded down."""

    permille: Annotated[int, Meta(ge=1, le=1_000)]
    cap_coins: Annotated[int, Meta(ge=0)] | None = None

    def of(self, pot: int) -> int:
        """The rake of a pot, in coins."""
        due = pot * self.permille // 1000
        return due if self.cap_coins is None else min(due, self.cap_coins)


class Payment(Struct, frozen=True):
    """Coins that changed hands in a pot game. ``kind`` names the ledger's movement: a seat's payment into the pot
    (``pay_pot``), to another seat (``pay_seat``), a share of the pot (``win_pot``), the house's ``rake``."""

    kind: Literal["pay_pot", "pay_seat", "win_pot", "rake"]
    coins: int
    payer: int = 0
    """The seat that pays; 0 where the pot does."""
    payee: int = 0
    """The seat that is paid; 0 where the pot or the house is."""


class Opening(Struct, frozen=True):
    """What a round starts from: who may bet, the limits, what is gone from the shoe, where the button lies."""

    seats: tuple[int, ...]
    limits: Limits = Limits()
    dealt: Composition = NOTHING
    button: int | None = None
    pot: int = 0
    """Coins that the game before left in the pot."""
    first: int | None = None
    """The seat that chance chose to start, in games that start so."""
    stacks: tuple[int, ...] = ()
    """The coins that each of ``seats`` has on the table, and cannot pay beyond. Empty: nobody asks."""
    rake: Rake | None = None
    """What the house takes of a pot. ``None``: nothing."""
    blind: bool = False
    """Whether the cards are physical ones: what is dealt facedown is then unknown until it is turned."""


class Payout(Struct, frozen=True, omit_defaults=True):
    """What became of one seat: what it put in, and what goes back to the player (minor units; coins in pot games)."""

    seat: int
    staked_cents: int
    returned_cents: int
    outcome: str
    card: int | None
    why: str
    score: int | None = None
    """Points, in games that are scored."""

    @property
    def net_cents(self) -> int:
        """What the player won (positive) or lost (negative)."""
        return self.returned_cents - self.staked_cents


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
    """Coins left on the table. ``None``: nobody asks."""
    columns: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """The seat's side of each column: the target, and the cards laid to it."""


class View(Struct, frozen=True):
    """A round as one viewer may see it: built from an allow-list, never by leaving secrets out."""

    seats: tuple[SeatView, ...]
    dealer: tuple[int, ...]
    button: int | None
    cards_left: int
    over: bool
    middle: tuple[int, ...] = ()
    """Faceup cards that are nobody's."""
    facedown: int = 0
    """How many facedown cards lie there that are nobody's."""
    pot: int = 0
    """Coins in the pot."""


def put(items: tuple[Item, ...], place: int, item: Item) -> tuple[Item, ...]:
    """The tuple with another item at one place."""
    changed = [*items]
    changed[place] = item
    return tuple(changed)
