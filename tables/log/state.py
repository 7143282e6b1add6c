"""The state of a table, replayed from its log. The effect of each entry is defined with its kind, in `entries/`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType, structs

from ledger.proof.moves import Chart, Move
from tables.games.cards import PACKS, PAIRS, UNKNOWN, Composition, Pack, add
from tables.games.game import Game
from tables.games.protocol import (
    Action,
    AskBet,
    Card,
    Illegal,
    Limits,
    Opening,
    Payment,
    Payout,
    SeatView,
    SetAside,
    View,
)
from tables.log.back_entry import Mode
from tables.log.corrections import Correction
from tables.log.signatory import Signatory, with_badge_from
from tables.log.slip_workflow import Slip

UNREADABLE: Final = (
    ArithmeticError,
    AttributeError,
    Illegal,
    LookupError,
    msgspec.MsgspecError,
    RecursionError,
    TypeError,
    ValueError,
)
"""The exceptions of entries that this software cannot have written. A list omits such an entry, and verification
reports it."""

KEYED: Final = "keyed"
"""The source of a shoe: real cards, which the dealer names as they are turned."""
CONTINUOUS: Final = "csm"
"""The source of real cards that a machine shuffles all the time: each round is dealt from whole decks."""
BATCHES: Final = "batch"
"""The source of real cards that come from a machine batch by batch: each batch is whole decks."""
SHUFFLERS: Final = frozenset({CONTINUOUS, BATCHES})
"""The sources without a cut card and without a burn."""
HOUSE_SHOE: Final = "house"
"""The source of a shoe that the system itself shuffles and deals."""


@dataclass(frozen=True, slots=True)
class Dealer:
    """The dealer at the table."""

    username: str
    name: str
    since_seq: int
    signature: str
    """The dealer's signature in the log: badge number and name."""
    burns: bool = False
    """Whether a card of the shoe is burned for this relief, before the next round."""

    @property
    def signatory(self) -> Signatory:
        """The dealer as a person who signs."""
        return with_badge_from(self.signature, self.username, self.name, "dealer")


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock of the rack: no chips move in or out, and no cards are dealt."""

    since_seq: int
    abandoned: bool = False
    """Whether it was locked because everybody left the table."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of the round: the reader and the dealer disagree, or the reader read an impossible card."""

    read: str
    """The card that was read; empty where none was."""
    keyed: str
    """The card that the dealer keyed; empty if none."""
    says: str


@dataclass(frozen=True, slots=True)
class CardReader:
    """The reader that names the cards of the shoe here, as its messages and the dealer left it."""

    name: str
    session: str
    """Since its last start."""
    is_live: bool = True
    """Whether it names the cards; else the dealer took over and keys them."""
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Beyond:
    """A receipt that a screen, reader or witness has for an entry missing from the log."""

    by: str
    """The name in the log of the person who presented the receipt."""
    seq: int
    hash: str
    """The first characters of the entry's hash."""
    words: tuple[str, ...] = ()
    """What the screen kept of the last inputs."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restore of the log to an earlier moment, and whether a pit boss has confirmed the table since."""

    ended: int = 0
    """The last entry when that was found."""
    beyond: tuple[Beyond, ...] = ()
    declared: str = ""
    """The declared reason of the restore; empty if it was not declared."""
    confirmed: int = 0
    """The entry that confirmed the table last."""
    through: int = 0
    """The last entry that was acknowledged and given up with it."""
    waits: bool = False

    @property
    def reach(self) -> int:
        """The last entry that is known to have been acknowledged."""
        return max(self.ended, self.through, *(receipt.seq for receipt in self.beyond))


@dataclass(frozen=True, slots=True)
class StandardShoe:
    """Additional facts about a shoe of standard cards."""

    pack: str
    turned: int = UNKNOWN
    """The card of the burn that was turned, where a game turns it."""
    cut_round: int = 0
    """The round in which the cut card came out."""


@dataclass(frozen=True, slots=True)
class Shoe:
    """The shoe on the table. ``stage``: loaded, checked, shuffled, cut, ready."""

    number: int
    decks: int
    source: str
    stage: str
    burn: int = 0
    cut_out: bool = False
    commitment: str | None = None
    ready_seq: int = 0
    """The entry from which on cards were dealt since the last shuffle."""
    standard: StandardShoe | UnsetType = UNSET
    """Facts about a shoe of standard cards."""
    aside: tuple[tuple[int, int], ...] | UnsetType = UNSET
    """(entry, card) of each card removed from the shoe between two rounds; UNKNOWN for a card not seen."""
    uncertain: bool | UnsetType = UNSET
    """Whether it is no longer known exactly what it holds: no further round is dealt from it."""
    relieved: int | UnsetType = UNSET
    """The relief, by its entry, for which a card of it was burned last."""

    @property
    def burned_since(self) -> int:
        """How many cards left it unseen between two rounds, since it was made ready."""
        return sum(card == UNKNOWN for _, card in self.aside or ())

    @property
    def pack(self) -> Pack:
        """What its cards are."""
        return PACKS[self.standard.pack] if self.standard else PAIRS

    @property
    def turned(self) -> int:
        """The card of the burn that was turned, where a game turns it."""
        return self.standard.turned if self.standard else UNKNOWN

    def noting(self, **facts: Any) -> Shoe:
        """The shoe with changed facts about its standard cards; unchanged for a shoe of other cards."""
        return replace(self, standard=replace(self.standard, **facts)) if self.standard else self


@dataclass(frozen=True, slots=True)
class Play:
    """One input of a round: its actions, and what they decided."""

    seq: int
    actions: tuple[Action, ...]
    decided: tuple[Payout, ...]
    moved: tuple[Payment, ...] = ()
    """The coins that changed hands by it, in a game for a pot."""
    lefts: tuple[int, ...] = ()
    """For each of its cards, how many cards the shoe had left when it was dealt, itself among them: its place there."""
    is_read: bool = False
    """Whether a card reader named its card."""
    is_ruling: bool = False
    """Whether it is a ruling on the hand of a player who had left."""

    @property
    def has_card(self) -> bool:
        """Whether a card left the shoe in it, or was turned."""
        return any(isinstance(action, Card | SetAside) for action in self.actions)


Stacks = tuple[tuple[int, int], ...]
"""(seat, cents) of the chips in play at each seat of a table with a pot."""


@dataclass(frozen=True, slots=True)
class Round(ABC):
    """The latest round: what it was opened with, the inputs that stand, and the state that they lead to."""

    number: int
    game: Game[Any, Any]
    rules: Any
    opening: Opening
    first_seq: int
    plays: tuple[Play, ...]
    state: Any
    latest_card_seq: int = 0
    """The latest entry with a card in it, taken back or not."""
    paid: Mapping[int, int] = field(default_factory=dict)
    """The seats that the walk at its end has come to, in that order, each with its entry."""
    stacks: Stacks = ()
    """What lay at the table's seats when a game for a pot began."""
    pot_cents: int = 0
    """What lay in the pot then."""
    coin_cents: int = 0
    """The value of a coin of the game in cents; 0 in house-banked games."""
    version: str | None = None
    """The rules that it was dealt under; None in a log from before they were pinned."""
    asked: Mapping[int, int] = field(default_factory=dict)
    """The seats that are to choose now in a game for a pot, and the entry since which each is asked just that."""
    marks: Stacks | None = None
    """The commission that was marked at seats when it began; None where the house takes it at once."""
    voided: str = ""
    """Why it ended without a result, if it did: its cards were dealt, its bets were not."""

    @property
    def secret(self) -> bool:
        """Whether the system knows cards that players hold facedown: those of a house shoe, in a game for a pot."""
        return self.game.hides and not self.opening.blind

    @property
    def has_choosers(self) -> bool:
        """Whether seats may choose on pages of their own, where a house shoe deals."""
        return self.secret or self.game.looks

    def hides_cards_of(self, seat: int) -> bool:
        """Whether a seat holds cards that the system knows and that must stay hidden."""
        return self.secret and holds_cards(self.game, self.state, seat)

    @property
    def settled(self) -> tuple[Payout, ...]:
        """The payouts decided so far, in cents, whatever the game counts in."""
        return () if self.voided else tuple(self.in_cents(payout) for payout in self.game.settle(self.state))

    def newly_decided(self, state: Any) -> tuple[Payout, ...]:
        """The payouts of a later state that are not decided yet."""
        seats = {payout.seat for payout in self.game.settle(self.state)}
        return tuple(payout for payout in self.game.settle(state) if payout.seat not in seats)

    @property
    def over(self) -> bool:
        """Whether nothing more can happen in it."""
        return bool(self.voided) or not self.game.prompts(self.state)

    # --- what each kind of game has its own way of (`kinds`)

    @property
    @abstractmethod
    def bet_limits(self) -> Limits | None:
        """The bet limits in force when the round was opened; None for a game without bets."""

    @property
    @abstractmethod
    def payments(self) -> tuple[Payment, ...]:
        """The coins that changed hands: none once the start of the game was taken back."""

    @abstractmethod
    def payments_since(self, state: Any) -> tuple[Payment, ...]:
        """The coins that change hands on the way to a later state."""

    @abstractmethod
    def moves_to(self, chart: Chart, state: Any) -> list[Move]:
        """The chips that move on the way to a later state."""

    @property
    @abstractmethod
    def has_moved_chips(self) -> bool:
        """Whether chips have moved by its inputs, and go back where one is taken back."""

    @property
    @abstractmethod
    def stacks_now(self) -> dict[int, int]:
        """What lies at the table's seats now, in cents; seats without chips are left out."""

    @property
    @abstractmethod
    def pot_now_cents(self) -> int:
        """What lies in the pot now."""

    @property
    @abstractmethod
    def marks_now(self) -> dict[int, int]:
        """The commission that is marked at seats now, in cents; seats that owe none are left out."""

    @property
    @abstractmethod
    def house_net_cents(self) -> int:
        """What the house has won of the seats so far, or raked from the pot."""

    @property
    @abstractmethod
    def house_payouts(self) -> tuple[Payout, ...]:
        """The payouts decided so far that the house owes or takes, and no other player."""

    @property
    @abstractmethod
    def to_pay(self) -> tuple[Payout, ...]:
        """What the last card decided for the dealer to walk along, right to left, without the seats done."""

    @property
    @abstractmethod
    def lies_on(self) -> bool:
        """Whether its cards lie on the layout, once it is over, until the next one is dealt."""

    @abstractmethod
    def in_cents(self, payout: Payout) -> Payout:
        """A payout as the ledger counts it."""

    @abstractmethod
    def priced(self, amount: int) -> str:
        """In words, an amount as the game counts it."""

    def _view(self, viewer: int | None) -> View:
        """What a viewer may see as the game has it; in a voided round nothing became of anybody."""
        view = self.game.view(self.state, viewer)
        if not self.voided:
            return view
        return structs.replace(view, seats=tuple(structs.replace(seat, payout=None) for seat in view.seats))

    @abstractmethod
    def view(self, viewer: int | None) -> View:
        """What a viewer may see, every amount in cents, whatever the game counts in."""

    @property
    @abstractmethod
    def dealt_in(self) -> tuple[SeatView, ...]:
        """The seats that take part, as the dealer sees them."""

    @abstractmethod
    def asked_at(self, state: Any, seq: int, actions: Sequence[Action]) -> Mapping[int, int]:
        """Who is to choose in a state that an entry's actions led to, and since which entry: a seat that is asked the
        same as before has been asked since then."""


@dataclass(frozen=True, slots=True)
class Announced:
    """What the players of a table were told will be raised."""

    seq: int
    least: Mapping[str, int]
    """Limits by their names (``limit_plans.Values``), and the least that they come to, in minor units."""
    effective: datetime
    why: str
    keeps_seated: bool = False


@dataclass(frozen=True, slots=True)
class TableState:
    """The state of a table after one entry of its log."""

    seq: int = 0
    hash: bytes | None = None
    is_open: bool = False
    opened_seq: int = 0
    """The entry that opened or closed the table last."""
    opening_rack_cents: int = 0
    dealer: Dealer | None = None
    shoe: Shoe | None = None
    shoes: int = 0
    round: Round | None = None
    seated: Stacks = ()
    """What lay at the seats of a table with a pot after chips were last bought, cashed or charged there."""
    seated_seq: int = 0
    """The entry that says so."""
    charged_at: str | None = None
    """Until when time is paid there."""
    marked: Stacks = ()
    """The commission that was marked at seats after some was collected or forgiven."""
    marked_seq: int = 0
    """The entry that says so."""
    cut_seq: int = 0
    """The entry that says that the cut card is out, while it is the latest about the shoe."""
    lock: Lock | None = None
    """Whether the rack is locked."""
    slips: tuple[Slip, ...] = ()
    """The slips in progress."""
    corrections: tuple[Correction, ...] = ()
    """Those that wait for a second signature."""
    counted: Slip | None = None
    """The opener or closer that the entry before this one completed: with it, and only then, the table opens or
    closes."""
    back_entry: Mode | None = None
    """What is entered from paper after an outage, while it is."""
    announced: Announced | None = None
    """The minimum that is to be raised, while its notice runs."""
    reader: CardReader | None = None
    """The card reader of the table's shoe, once one was ever started there."""
    restored: Restored | None = None
    """How the book stands to an older copy that was put back, once one ever was."""

    @property
    def stacks(self) -> dict[int, int]:
        """What lies at the seats of a table with a pot now, in cents; seats without chips are left out."""
        current = self.round
        if current is None or not current.coin_cents or current.first_seq < self.seated_seq:
            return dict(self.seated)
        return current.stacks_now

    @property
    def marks(self) -> dict[int, int]:
        """The commission that is marked at seats now, in cents; seats that owe none are left out."""
        current = self.round
        if current is None or current.marks is None or current.first_seq < self.marked_seq:
            return dict(self.marked)
        return current.marks_now

    @property
    def pot_cents(self) -> int:
        """What lies in the pot now."""
        return 0 if self.round is None else self.round.pot_now_cents

    @property
    def round_open(self) -> bool:
        """Whether a round is going on: a bet lies on the layout, or a seat is still to be paid."""
        current = self.round
        if current is None or not current.plays or current.voided:
            return False
        prompts = current.game.prompts(current.state)
        if not prompts:
            return bool(current.to_pay)
        return not all(isinstance(ask, AskBet) and not ask.placed_cents for ask in prompts)

    @property
    def next_number(self) -> int:
        """The number of the round that the next bet belongs to."""
        if self.round is None:
            return 1
        return self.round.number if not self.round.over else self.round.number + 1

    @property
    def gone(self) -> Composition:
        """The cards gone from the shoe since its shuffle, as far as they were seen, while no round is open."""
        if self.shoe is None:
            return PAIRS.nothing
        before = self.dealt_before
        gone = self.shoe.pack.count((self.shoe.turned,)) if before is None else before.game.gone(before.state)
        for card in self.aside_since:
            gone = add(gone, card) if card != UNKNOWN else gone
        return gone

    @property
    def aside_since(self) -> tuple[int, ...]:
        """The cards that left the shoe unplayed since the latest round out of it was opened."""
        if self.shoe is None:
            return ()
        opened = self.dealt_before.first_seq if self.dealt_before else 0
        return tuple(card for seq, card in self.shoe.aside or () if seq > opened)

    @property
    def dealt_before(self) -> Round | None:
        """The latest round out of the shoe as it lies: there is none since its shuffle at first, and never one where a
        machine shuffles all the time."""
        if self.round is None or self.shoe is None or self.round.first_seq < self.shoe.ready_seq:
            return None
        if self.shoe.source == CONTINUOUS:
            return None
        return self.round

    @property
    def cards_left(self) -> int:
        """How many cards the shoe has left between two rounds."""
        if self.shoe is None:
            return 0
        before = self.dealt_before
        whole = self.shoe.pack.size * self.shoe.decks - self.shoe.burn
        return (before.game.cards_left(before.state) if before else whole) - len(self.aside_since)

    @property
    def cards_left_now(self) -> int:
        """The number of cards left in the shoe, in mid-round too."""
        current = self.round
        return current.game.cards_left(current.state) if current is not None and self.round_open else self.cards_left

    @property
    def burn_is_due(self) -> bool:
        """Whether the relief dealer must burn a card before the next round.

        False if the cards were shuffled after the relief, and if only one card is left in the shoe.
        """
        dealer, shoe = self.dealer, self.shoe
        if dealer is None or shoe is None or not dealer.burns or shoe.stage != "ready" or self.round_open:
            return False
        is_done = shoe.ready_seq > dealer.since_seq or shoe.relieved == dealer.since_seq
        return not is_done and self.cards_left > 1

    def is_dealt_by(self, username: str) -> bool:
        """Whether this person is the dealer signed in here."""
        return self.dealer is not None and self.dealer.username == username

    @property
    def shoe_is_over(self) -> bool:
        """Whether no further round is dealt from the shoe as it lies, so that what holds with the next one may be set.
        By the rules of its own last round: no change of the table's makes it true."""
        shoe, last = self.shoe, self.dealt_before
        if shoe is None or self.round_open:
            return shoe is None
        if last is None:
            return shoe.cut_out or shoe.source in SHUFFLERS
        if last.game.is_fresh_each_round(last.rules) or "dealt" not in last.game.carries:
            return bool(last.plays)
        cut_round = shoe.standard.cut_round if shoe.standard else last.number
        return shoe.cut_out and last.number - cut_round >= last.game.rounds_after_cut

    @property
    def button(self) -> int | None:
        """Where the button lies: after a voided game, where it lay before it."""
        if self.round is None:
            return None
        return self.round.opening.button if self.round.voided else self.round.game.view(self.round.state, None).button


def holds_cards(game: Game[Any, Any], state: Any, seat: int) -> bool:
    """Whether a seat holds facedown cards."""
    return any(box.seat == seat and box.hand_size for box in game.view(state, None).seats)
