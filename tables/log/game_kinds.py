"""The kinds of game that a table can offer: house-banked, for a pot, or non-tracked. The log's modules ask them about
everything in which games differ.

`kind_of` determines the kind of a game in one place. From there a round is a `HouseRound` or a `PotRound`, which
calculates its payouts, payments and chip moves. A non-tracked game has no rounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from msgspec import UNSET, structs

from ledger.proof.chips import money
from ledger.proof.moves import Chart, Move
from ledger.proof.spelling import BET
from tables.games.cards import NOTHING, PAIRS, UNKNOWN, Pack
from tables.games.counted import Counted, CountedRules, no_rounds
from tables.games.game import BankedGame, Game, PotGame, Wager
from tables.games.protocol import (
    DEALER,
    Action,
    AskChoice,
    Choose,
    Limits,
    Opening,
    Payment,
    Payout,
    Rake,
    SeatView,
    View,
)
from tables.log import limit_notice
from tables.log.settlement import commission_of, game_moves, paid_in_full, settlement
from tables.log.state import HOUSE_SHOE, Round, Shoe, TableState
from tables.log.terms import Set, limits_of, rules_of

# --- rounds ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HouseRound(Round):
    """A house-banked round: all chips move at once when it is over."""

    game: BankedGame[Any, Any]

    @property
    def bet_limits(self) -> Limits | None:
        return self.opening.limits

    @property
    def payments(self) -> tuple[Payment, ...]:
        return ()

    def payments_since(self, state: Any) -> tuple[Payment, ...]:
        return ()

    def moves_to(self, chart: Chart, state: Any) -> list[Move]:
        if self.voided or self.game.prompts(state):
            return []
        return settlement(chart, tuple(map(self.in_cents, self.game.settle(state))))

    @property
    def has_moved_chips(self) -> bool:
        return self.over

    @property
    def stacks_now(self) -> dict[int, int]:
        return {}

    @property
    def pot_now_cents(self) -> int:
        return 0

    @property
    def marks_now(self) -> dict[int, int]:
        marks = dict(self.marks or ())
        if self.marks is not None and self.over and not self.voided:
            for seat, cents in commission_of(self.game.settle(self.state)).items():
                marks[seat] = marks.get(seat, 0) + cents
        return marks

    @property
    def house_net_cents(self) -> int:
        """The casino's win in cents. Commission counts when it is earned, not when it is collected."""
        return 0 if self.voided else -sum(payout.net_cents for payout in self.game.settle(self.state))

    @property
    def house_payouts(self) -> tuple[Payout, ...]:
        return self.settled

    @property
    def to_pay(self) -> tuple[Payout, ...]:
        if self.voided or not (self.plays and self.over):
            return ()
        decided = self.plays[-1].decided
        walked = decided if len(decided) > 1 or any(payout.net_cents > 0 for payout in decided) else ()
        return tuple(self.in_cents(payout) for payout in reversed(walked) if payout.seat not in self.paid)

    @property
    def lies_on(self) -> bool:
        return False

    def in_cents(self, payout: Payout) -> Payout:
        return payout if self.marks is None else paid_in_full(payout)

    def priced(self, amount: int) -> str:
        return money(amount)

    def view(self, viewer: int | None) -> View:
        view = self._view(viewer)
        if self.marks is None:
            return view
        return structs.replace(view, seats=tuple(self._seat_paid_in_full(seat) for seat in view.seats))

    def _seat_paid_in_full(self, seat: SeatView) -> SeatView:
        return structs.replace(seat, payout=self.in_cents(seat.payout)) if seat.payout else seat

    @property
    def dealt_in(self) -> tuple[SeatView, ...]:
        return tuple(seat for seat in self.view(DEALER).seats if seat.bet_cents)

    def asked_at(self, state: Any, seq: int, actions: Sequence[Action]) -> Mapping[int, int]:
        if not self.game.looks:
            return {}
        asks = (ask for ask in self.game.prompts(state) if isinstance(ask, AskChoice))
        return {ask.seat: self.asked.get(ask.seat, seq) for ask in asks}


@dataclass(frozen=True, slots=True)
class PotRound(Round):
    """A round for a pot: each payment moves chips immediately. The game counts in coins."""

    game: PotGame[Any, Any]

    @property
    def bet_limits(self) -> Limits | None:
        return None

    @property
    def payments(self) -> tuple[Payment, ...]:
        return self.game.payments(self.state) if self.plays and not self.voided else ()

    def payments_since(self, state: Any) -> tuple[Payment, ...]:
        return self.game.payments(state)[len(self.payments) :]

    def moves_to(self, chart: Chart, state: Any) -> list[Move]:
        return game_moves(chart, self.payments_since(state), self.coin_cents)

    @property
    def has_moved_chips(self) -> bool:
        return True

    @property
    def stacks_now(self) -> dict[int, int]:
        stacks = dict(self.stacks)
        for payment in self.payments:
            for seat, coins in ((payment.payer, -payment.coins), (payment.payee, payment.coins)):
                if seat:
                    stacks[seat] = stacks.get(seat, 0) + coins * self.coin_cents
        return {seat: cents for seat, cents in stacks.items() if cents}

    @property
    def marks_now(self) -> dict[int, int]:
        return {}

    @property
    def pot_now_cents(self) -> int:
        into = {"pay_pot": 1, "pay_seat": 0, "win_pot": -1, "rake": -1}
        return self.pot_cents + sum(into[payment.kind] * payment.coins for payment in self.payments) * self.coin_cents

    @property
    def house_net_cents(self) -> int:
        return sum(payment.coins for payment in self.payments if payment.kind == "rake") * self.coin_cents

    @property
    def house_payouts(self) -> tuple[Payout, ...]:
        return ()

    @property
    def to_pay(self) -> tuple[Payout, ...]:
        return ()

    @property
    def lies_on(self) -> bool:
        return not self.voided

    def in_cents(self, payout: Payout) -> Payout:
        coin = self.coin_cents
        return structs.replace(
            payout, staked_cents=payout.staked_cents * coin, returned_cents=payout.returned_cents * coin
        )

    def priced(self, amount: int) -> str:
        return money(amount * self.coin_cents)

    def view(self, viewer: int | None) -> View:
        view = self._view(viewer)
        seats = tuple(self._seat_in_cents(seat) for seat in view.seats)
        return structs.replace(view, pot=self.pot_now_cents, seats=seats)

    def _seat_in_cents(self, seat: SeatView) -> SeatView:
        payout = self.in_cents(seat.payout) if seat.payout else None
        coins = None if seat.coins is None else seat.coins * self.coin_cents
        return structs.replace(seat, payout=payout, coins=coins)

    @property
    def dealt_in(self) -> tuple[SeatView, ...]:
        return self.view(DEALER).seats

    def asked_at(self, state: Any, seq: int, actions: Sequence[Action]) -> Mapping[int, int]:
        earlier = {ask.seat: ask for ask in self.game.prompts(self.state) if isinstance(ask, AskChoice)}
        for action in actions:
            if isinstance(action, Choose):
                earlier.pop(action.seat, None)
        asks = (ask for ask in self.game.prompts(state) if isinstance(ask, AskChoice))
        return {ask.seat: self.asked.get(ask.seat, seq) if earlier.get(ask.seat) == ask else seq for ask in asks}


# --- games -----------------------------------------------------------------------------------------------------


class GameKind(ABC):
    """The properties of a game that the log depends on."""

    round_type: type[Round] | None
    """The class of its rounds; None for a non-tracked game."""
    is_by_count: bool = False
    """Whether the table's win is known from rack counts alone."""

    @property
    @abstractmethod
    def for_coins(self) -> bool:
        """Whether players play with coins that lie at their seats."""

    sells_chips: bool
    """Whether players buy chips on the layout. For a pot, they buy in at a seat."""

    @abstractmethod
    def pack(self, rules: Any) -> Pack:
        """The cards of its shoe."""

    def turns_burn(self, rules: Any) -> bool:
        """Whether the first card of a shoe is turned and determines the number of burned cards."""
        return False

    def burned_on(self, turned: int) -> int:
        """The number of cards burned after the turned card."""
        return 0

    def wagers(self, rules: Any) -> tuple[Wager, ...]:
        """The wagers that a table offers."""
        return ()

    def takes_commission(self, rules: Any) -> bool:
        """Whether the casino takes a commission that a table may mark and collect later."""
        return False

    @abstractmethod
    def at_cut(self, rules: Any) -> int:
        """The number of cards left when the cut card comes out; 0 without a cut card."""

    @abstractmethod
    def opening(self, table: Set, standing: TableState, seats: tuple[int, ...]) -> tuple[Any, Opening]:
        """The rules and the opening of the next round, from the settings and state of the table. The starting seat is
        left out if chance decides it."""

    @abstractmethod
    def chips(self, table: Set, standing: TableState) -> dict[str, Any]:
        """The chips on the table that a round pins when it begins."""

    @abstractmethod
    def payments(self, state: Any) -> tuple[Payment, ...]:
        """The coins that changed hands so far, in order."""

    @abstractmethod
    def payouts(self, legs: int, payouts: tuple[Payout, ...]) -> tuple[Payout, ...] | None:
        """The payouts of a round to which the casino is a party, by the number of transfers of its last input; None
        while the round is open."""

    @abstractmethod
    def traces(self, seat: int | None) -> list[bytes]:
        """Byte sequences, one of which is in the body of an entry of every round that a seat took part in, in either
        format of entries."""


class AgainstHouse(GameKind):
    """A house-banked game: every seat may bet, and rounds are dealt from one shoe up to the cut card."""

    round_type = HouseRound
    for_coins = False
    sells_chips = True

    def __init__(self, game: BankedGame[Any, Any]) -> None:
        self._game = game

    def pack(self, rules: Any) -> Pack:
        return self._game.pack(rules)

    def turns_burn(self, rules: Any) -> bool:
        """Never if every round is dealt from a full deck, because the turned card would be missing from it."""
        return self._game.turns_burn and not self._game.is_fresh_each_round(rules)

    def burned_on(self, turned: int) -> int:
        return self._game.burned_on(turned)

    def wagers(self, rules: Any) -> tuple[Wager, ...]:
        return self._game.wagers(rules)

    def at_cut(self, rules: Any) -> int:
        return self._game.at_cut(rules)

    def opening(self, table: Set, standing: TableState, seats: tuple[int, ...]) -> tuple[Any, Opening]:
        """The current options and limits, and the shoe as it is. The burn is the one made at the shuffle, even if the
        option changed since."""
        rules, shoe = rules_of(table), standing.shoe
        limits = structs.replace(limits_of(table), kept=limit_notice.kept_in(table.kept_minimums, standing) or UNSET)
        pinned = self._game.burning(rules, shoe.burn + shoe.burned_since) if shoe else rules
        seats, gone = tuple(range(1, table.seats + 1)), standing.gone
        if not self._game.side_by_side:
            return pinned, Opening(seats, limits, gone, standing.button)
        if len(gone) != len(self._game.pack(rules).nothing):
            gone = self._game.pack(rules).nothing  # no shoe yet, or one that has to go before a round is opened
        before = standing.dealt_before
        unseen = self._unseen(before) if before else _burned_unseen(shoe)
        unseen += standing.aside_since.count(UNKNOWN)
        # Packets that seats look at are unknown here until they are shown, even if a house shoe dealt them.
        blind = self._game.looks or table.source != HOUSE_SHOE
        # A mark is owed to the cent; where winnings are rounded, it goes by the rounding.
        is_exact = table.marks_commission and rules.rounding == "exact"
        marked = True if is_exact else UNSET
        return rules, Opening(seats, limits, gone, blind=blind, unseen=unseen, commission_is_marked=marked)

    def _unseen(self, before: Round) -> int:
        """The number of cards out unseen. After a voided round that includes facedown cards that were never turned."""
        if not before.voided:
            return self._game.unseen(before.state)
        whole = self._game.pack(before.rules).size * self._game.decks(before.rules)
        return whole - sum(self._game.gone(before.state)) - self._game.cards_left(before.state)

    def chips(self, table: Set, standing: TableState) -> dict[str, Any]:
        return {"marks": tuple(sorted(standing.marks.items()))} if table.marks_commission else {}

    def takes_commission(self, rules: Any) -> bool:
        return self._game.takes_commission(rules)

    def payments(self, state: Any) -> tuple[Payment, ...]:
        return ()

    def payouts(self, legs: int, payouts: tuple[Payout, ...]) -> tuple[Payout, ...] | None:
        return payouts if legs else None

    def traces(self, seat: int | None) -> list[bytes]:
        return [f'"do":"bet","seat":{seat}}}'.encode(), BET.piece(seat)]


def _burned_unseen(shoe: Shoe | None) -> int:
    return shoe.burn - (shoe.turned != UNKNOWN) if shoe else 0


class ForPot(GameKind):
    """A game in which the seats that are dealt in play each other for a pot."""

    round_type = PotRound
    sells_chips = False

    def __init__(self, game: PotGame[Any, Any]) -> None:
        self._game = game

    @property
    def for_coins(self) -> bool:
        return self._game.coins

    def pack(self, rules: Any) -> Pack:
        return PAIRS

    def at_cut(self, rules: Any) -> int:
        return 0

    def opening(self, table: Set, standing: TableState, seats: tuple[int, ...]) -> tuple[Any, Opening]:
        coin, stacks, carries = table.unit_cents, standing.stacks, self._game.carries
        return rules_of(table), Opening(
            seats,
            dealt=standing.gone if "dealt" in carries else NOTHING,
            button=standing.button if "button" in carries else None,
            pot=standing.pot_cents // coin if "pot" in carries else 0,
            stacks=tuple(stacks.get(seat, 0) // coin for seat in seats) if self._game.coins else (),
            rake=_rake(table),
            blind=table.source != HOUSE_SHOE,
        )

    def chips(self, table: Set, standing: TableState) -> dict[str, Any]:
        stacks = tuple(sorted(standing.stacks.items()))
        return {"stacks": stacks, "pot_cents": standing.pot_cents, "coin_cents": table.unit_cents}

    def payments(self, state: Any) -> tuple[Payment, ...]:
        return self._game.payments(state)

    def payouts(self, legs: int, payouts: tuple[Payout, ...]) -> tuple[Payout, ...] | None:
        return ()

    def traces(self, seat: int | None) -> list[bytes]:
        return []


class ByCount(GameKind):
    """A non-tracked game: nothing is dealt in the system, and the win shows when the rack is counted."""

    round_type = None
    is_by_count = True
    for_coins = False
    sells_chips = True

    def pack(self, rules: Any) -> Pack:
        return PAIRS

    def wagers(self, rules: CountedRules) -> tuple[Wager, ...]:
        """The wagers as the operator named them."""
        return tuple(Wager(wager.name, wager.name) for wager in rules.wagers)

    def at_cut(self, rules: Any) -> int:
        return 0

    def opening(self, table: Set, standing: TableState, seats: tuple[int, ...]) -> tuple[Any, Opening]:
        raise no_rounds()

    def chips(self, table: Set, standing: TableState) -> dict[str, Any]:
        return {}

    def payments(self, state: Any) -> tuple[Payment, ...]:
        return ()

    def payouts(self, legs: int, payouts: tuple[Payout, ...]) -> tuple[Payout, ...] | None:
        return None

    def traces(self, seat: int | None) -> list[bytes]:
        return []


def _rake(table: Set) -> Rake | None:
    if not table.rake_permille:
        return None
    return Rake(table.rake_permille, None if table.rake_cap_cents is None else table.rake_cap_cents // table.unit_cents)


@cache
def kind_of(game: Game[Any, Any]) -> GameKind:
    """The kind of a game."""
    match game:
        case BankedGame():
            return AgainstHouse(game)
        case PotGame():
            return ForPot(game)
        case Counted():
            return ByCount()
    raise TypeError(f"{game.name} is of no kind of game")
