"""Where a table stands, as its log tells it: each entry folded upon those before it. Pure; nothing is read here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec
from msgspec import structs

from tables.games.cards import NOTHING, Composition
from tables.games.catalog import GAMES
from tables.games.felt import (
    Action,
    AskBet,
    AskChoice,
    Card,
    Choose,
    Illegal,
    Opening,
    Payment,
    Payout,
    SeatView,
    View,
)
from tables.games.game import Game, PotGame
from tables.games.play import play, replay
from tables.log import paper
from tables.log.paper import Slip

UNREADABLE: Final = (Illegal, ValueError, KeyError, TypeError, AttributeError, msgspec.MsgspecError)
"""What an entry raises that no table can have written: a list leaves it out, and a proof names it."""

KEYED: Final = "keyed"
"""The source of a shoe: real cards, which the dealer names as they are turned."""
HOUSE_SHOE: Final = "house"
"""The source of a shoe that the system itself shuffles and deals."""


@dataclass(frozen=True, slots=True)
class Dealer:
    """Who deals here now."""

    username: str
    name: str
    since_seq: int
    signature: str
    """How the log names them while they deal here."""


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

    def spelled(self) -> dict[str, Any]:
        """As the log's shoe entries record it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Play:
    """One input of a round: its actions, and what they decided."""

    seq: int
    actions: tuple[Action, ...]
    decided: tuple[Payout, ...]
    moved: tuple[Payment, ...] = ()
    """The coins that changed hands by it, in a game for a pot."""

    @property
    def has_card(self) -> bool:
        """Whether a card was turned in it."""
        return any(type(action) is Card for action in self.actions)


Stacks = tuple[tuple[int, int], ...]
"""(seat, cents) of the chips in play at each seat of a table with a pot."""


@dataclass(frozen=True, slots=True)
class Round:
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
    paid: frozenset[int] = frozenset()
    stacks: Stacks = ()
    """What lay at the table's seats when a game for a pot began."""
    pot_cents: int = 0
    """What lay in the pot then."""
    coin_cents: int = 0
    """What a coin of the game is worth; 0 in games against the house."""
    asked: Mapping[int, int] = field(default_factory=dict)
    """The seats that are to choose now in a game for a pot, and the entry since which each is asked just that."""

    @property
    def secret(self) -> bool:
        """Whether the system knows cards that players hold facedown: those of a house shoe, in a game for a pot."""
        return not (self.game.banked or self.opening.blind)

    def hides_cards_of(self, seat: int) -> bool:
        """Whether a seat holds cards that the system knows and nobody else may."""
        return self.secret and holds_cards(self.game, self.state, seat)

    @property
    def payments(self) -> tuple[Payment, ...]:
        """The coins that changed hands: none once the start of the game was taken back."""
        return self.game.payments(self.state) if isinstance(self.game, PotGame) and self.plays else ()

    @property
    def stacks_now(self) -> dict[int, int]:
        """What lies at the table's seats now, in cents; seats without chips are left out."""
        now = dict(self.stacks)
        for one in self.payments:
            for seat, coins in ((one.payer, -one.coins), (one.payee, one.coins)):
                if seat:
                    now[seat] = now.get(seat, 0) + coins * self.coin_cents
        return {seat: cents for seat, cents in now.items() if cents}

    @property
    def pot_now_cents(self) -> int:
        """What lies in the pot now."""
        into = {"pay_pot": 1, "pay_seat": 0, "win_pot": -1, "rake": -1}
        return self.pot_cents + sum(into[one.kind] * one.coins for one in self.payments) * self.coin_cents

    @property
    def settled(self) -> tuple[Payout, ...]:
        """The payouts decided so far, in cents, whatever the game counts in."""
        return tuple(self.in_cents(payout) for payout in self.game.settle(self.state))

    @property
    def house_net_cents(self) -> int:
        """What the house has won of the seats so far, or raked from the pot."""
        if self.game.banked:
            return -sum(payout.net_cents for payout in self.game.settle(self.state))
        return sum(one.coins for one in self.payments if one.kind == "rake") * self.coin_cents

    def in_cents(self, payout: Payout) -> Payout:
        """A payout as the ledger counts it."""
        if self.game.banked:
            return payout
        coin = self.coin_cents
        return structs.replace(
            payout, staked_cents=payout.staked_cents * coin, returned_cents=payout.returned_cents * coin
        )

    def view(self, viewer: int | None) -> View:
        """What a viewer may see, every amount in cents, whatever the game counts in."""
        view = self.game.view(self.state, viewer)
        if self.game.banked:
            return view
        return structs.replace(
            view, pot=self.pot_now_cents, seats=tuple(self._seat_in_cents(seat) for seat in view.seats)
        )

    def _seat_in_cents(self, seat: SeatView) -> SeatView:
        payout = self.in_cents(seat.payout) if seat.payout else None
        coins = None if seat.coins is None else seat.coins * self.coin_cents
        return structs.replace(seat, payout=payout, coins=coins)

    @property
    def over(self) -> bool:
        """Whether nothing more can happen in it."""
        return not self.game.prompts(self.state)

    @property
    def to_pay(self) -> tuple[Payout, ...]:
        """What the last card decided for the dealer to walk along, right to left, without the seats done."""
        if not (self.game.banked and self.plays and self.over):
            return ()
        decided = self.plays[-1].decided
        walked = decided if len(decided) > 1 or any(one.net_cents > 0 for one in decided) else ()
        return tuple(one for one in reversed(walked) if one.seat not in self.paid)


@dataclass(frozen=True, slots=True)
class Standing:
    """A table at one sequence number."""

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
    slips: tuple[Slip, ...] = ()
    """The slips in progress."""
    counted: Slip | None = None
    """The opener or closer that the entry before this one completed: with it, and only then, the table opens or
    closes."""

    @property
    def stacks(self) -> dict[int, int]:
        """What lies at the seats of a table with a pot now, in cents; seats without chips are left out."""
        current = self.round
        if current is None or not current.coin_cents or current.first_seq < self.seated_seq:
            return dict(self.seated)
        return current.stacks_now

    @property
    def pot_cents(self) -> int:
        """What lies in the pot now."""
        return 0 if self.round is None else self.round.pot_now_cents

    @property
    def round_open(self) -> bool:
        """Whether a round is going on: a bet lies on the layout, or a seat is still to be paid."""
        current = self.round
        if current is None or not current.plays:
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
        """The cards gone from the shoe since its shuffle, while no round is open."""
        if self.round is None or self.shoe is None or self.round.first_seq < self.shoe.ready_seq:
            return NOTHING
        return self.round.game.gone(self.round.state)

    @property
    def button(self) -> int | None:
        """Where the button lies."""
        return None if self.round is None else self.round.game.view(self.round.state, None).button


def holds_cards(game: Game[Any, Any], state: Any, seat: int) -> bool:
    """Whether a seat holds facedown cards."""
    return any(one.seat == seat and one.hand_size for one in game.view(state, None).seats)


# --- Folding ---------------------------------------------------------------------------------------------------


class PlayContent(msgspec.Struct, frozen=True):
    """What a play entry says, as far as the fold needs it."""

    actions: tuple[Action, ...]
    opening: OpeningContent | None = None


class OpeningContent(msgspec.Struct, frozen=True):
    """What a round's first entry pins for good."""

    game: str
    rules: dict[str, Any]
    opening: Opening
    shoe: int
    stacks: Stacks = ()
    pot_cents: int = 0
    coin_cents: int = 0


def read_opening(content: OpeningContent) -> tuple[Game[Any, Any], Any, Opening]:
    """The game, rules and opening that a round's first entry pins."""
    game = GAMES[content.game]
    return game, msgspec.convert(content.rules, game.rules_type), content.opening


def fold(standing: Standing, *, seq: int, subject: str, kind: str, round: int | None, content: Any) -> Standing:
    """The standing after one more entry. ``content`` is the entry's content as JSON data."""
    now = replace(standing, seq=seq, counted=None)
    if subject == "slip":
        return _fold_slip(now, content)
    if subject == "round":
        if "commitment" in content and now.shoe is not None:
            now = replace(now, shoe=replace(now.shoe, commitment=content["commitment"]))
        return replace(now, round=_fold_round(standing.round, seq, kind, round or 0, content))
    if subject == "shoe":
        return _fold_shoe(now, seq, kind, content)
    if subject == "dealer":
        return replace(now, dealer=_dealer(seq, content) if kind == "signed_in" else None)
    if subject == "seats":
        seated = tuple((seat, cents) for seat, cents in content["stacks"])
        return replace(now, seated=seated, seated_seq=seq, charged_at=content["charged_at"])
    if subject == "table" and kind in ("opened", "closed"):
        rack = content.get("rack_cents", 0)
        return replace(now, is_open=kind == "opened", opened_seq=seq, opening_rack_cents=rack)
    return now


def _fold_slip(now: Standing, content: Mapping[str, Any]) -> Standing:
    slip = paper.read(content["now"])
    done = slip if slip.series in ("opener", "closer") and slip.agreed is not None else None
    return replace(now, slips=tuple(paper.read(one) for one in content["open"]), counted=done)


def _dealer(seq: int, content: Mapping[str, Any]) -> Dealer:
    username, name = content["username"], content["name"]
    return Dealer(username, name, seq, signature_of(content["badge"], username, name))


def signature_of(badge: str | None, username: str, name: str) -> str:
    """How somebody is named in the log for good: badge (or user name) and name."""
    return f"{badge or username} {name}"


def _fold_shoe(standing: Standing, seq: int, kind: str, content: Mapping[str, Any]) -> Standing:
    described = content["shoe"]
    if kind == "retired":
        return replace(standing, shoe=None, shoes=described["number"])
    shoe = Shoe(**described)
    if kind == "burned":
        shoe = replace(shoe, ready_seq=seq)
    return replace(standing, shoe=shoe, shoes=shoe.number)


def _fold_round(current: Round | None, seq: int, kind: str, number: int, content: Mapping[str, Any]) -> Round:
    if kind == "play":
        said = msgspec.convert(content, PlayContent)
        if said.opening is not None:
            current = _opened(number, seq, said.opening)
        if current is None or current.number != number:
            raise ValueError(f"entry {seq} continues round {number}, which was not opened")
        return _played(current, seq, said.actions)
    if current is None:
        raise ValueError(f"entry {seq} speaks of round {number}, which was not opened")
    if kind == "take_back":
        kept = tuple(one for one in current.plays if one.seq != content["corrects"])
        actions = (action for one in kept for action in one.actions)
        state = replay(current.game, current.rules, current.opening, actions)
        back = replace(current, plays=kept, state=state, paid=frozenset(), asked={})
        return replace(back, asked=_asked(back, state, seq, ()))
    if kind == "paid":
        return replace(current, paid=current.paid | {content["seat"]})
    raise ValueError(f"entry {seq}: a round has no {kind}")


def _opened(number: int, seq: int, content: OpeningContent) -> Round:
    game, rules, opening = read_opening(content)
    state = game.open(rules, opening)
    chips = content.stacks, content.pot_cents, content.coin_cents
    return Round(number, game, rules, opening, seq, (), state, 0, frozenset(), *chips)


def _played(current: Round, seq: int, actions: tuple[Action, ...]) -> Round:
    state = current.state
    for action in actions:
        state = play(current.game, state, action)
    known = {one.seat for one in current.game.settle(current.state)}
    decided = tuple(one for one in current.game.settle(state) if one.seat not in known)
    moved = current.game.payments(state)[len(current.payments) :] if isinstance(current.game, PotGame) else ()
    one = Play(seq, actions, decided, moved)
    latest_card = seq if one.has_card else current.latest_card_seq
    asked = _asked(current, state, seq, actions)
    return replace(current, plays=(*current.plays, one), state=state, latest_card_seq=latest_card, asked=asked)


def _asked(before: Round, state: Any, seq: int, actions: Sequence[Action]) -> Mapping[int, int]:
    """Who is to choose now, and since when: a seat that is still asked the same has been asked since before."""
    if before.game.banked:
        return {}
    was = {ask.seat: ask for ask in before.game.prompts(before.state) if isinstance(ask, AskChoice)}
    for action in actions:
        if isinstance(action, Choose):
            was.pop(action.seat, None)
    now = (ask for ask in before.game.prompts(state) if isinstance(ask, AskChoice))
    return {ask.seat: before.asked.get(ask.seat, seq) if was.get(ask.seat) == ask else seq for ask in now}
