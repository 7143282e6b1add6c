"""A board as the dealer's templates draw it: the same facts, grouped by where they stand on the screen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from uuid import UUID, uuid4

from django.utils import timezone

from dealer_ui.dealer.amounts import Likely, likely
from dealer_ui.dealer.game_kinds import Felt, felt_of
from dealer_ui.dealer.seat_choices import Press, Ways, ways
from dealer_ui.numbers import number
from ledger.proof import chips
from ledger.proof.chips import money
from tables.board import secrecy
from tables.board.buttons import Button
from tables.board.descriptions import Chips, OutcomeLine
from tables.board.last_results import last_results
from tables.board.table_view import Board, SeatBox
from tables.floor import card_readers, player_pages
from tables.floor.inputs import Burn, KeyCard, KeyStandardCard, PlaceBets, spell
from tables.floor.rounds import REPORTED
from tables.games.cards import PAIRS, RANK_SIGNS, RANKS, SUIT_SIGNS, Pack, pack_of
from tables.games.catalog import GAMES
from tables.games.game import Part
from tables.games.protocol import DEALER, AskBet, Bet, Card, View
from tables.games.scripted import words_of
from tables.log import limit_notice
from tables.log.back_entry import moment_of
from tables.log.entries import rounds as log
from tables.log.limit_plans import called
from tables.log.message import text_of
from tables.log.slip_workflow import Slip
from tables.log.state import CardReader, TableState
from tables.log.terms import game_title
from tables.refusals import Refused
from tables.roles import Role

_CALLED: Final = {"fold": "folded", "dealer_pair": "dealer pair", "death_card": "death card", "push": "bet back"}
_RETIRES, _CUTS, _COLLECTS = "retire_shoe", "cut_card_out", "collect_commission"


@dataclass(frozen=True, slots=True)
class Key:
    """A key for a card, or for a rank whose suit is asked for next."""

    label: str
    hotkey: str
    value: str
    opens: str = ""


@dataclass(frozen=True, slots=True)
class Stated:
    """A wager in words, and what may be bet on it."""

    name: str
    pays: str
    limits: str


@dataclass(frozen=True, slots=True)
class Suits:
    """The four cards of a rank, as keys."""

    name: str
    rank: str
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class ReaderLine:
    """The state of the card reader, with its sentence for the dealer."""

    state: str
    says: str


def reader_line(reader: CardReader) -> ReaderLine:
    """In one sentence: whether it names the cards, or the dealer keys them."""
    if not card_readers.is_heard(reader):
        return ReaderLine("silent", "The reader is not heard: key the cards.")
    if reader.is_live:
        return ReaderLine("live", "The reader names the cards.")
    return ReaderLine("taken", "You key the cards.")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a deck check: what was counted, and what a whole shoe has."""

    card: int
    name: str
    counted: str
    whole: int

    @property
    def is_off(self) -> bool:
        """Whether this column is why the check was refused."""
        return self.counted != str(self.whole)


@dataclass(frozen=True, slots=True)
class Seat:
    """One seat on the dealer's screen: its box, and the dealer's tasks there."""

    box: SeatBox
    selected: bool
    again: Press | None
    """Repeats the bet of the previous round in one tap."""
    paid: bool
    paying: bool
    walked: bool
    """Whether the seat is settled at the end of the round."""
    is_away: bool
    """Whether the seat takes no part in the current game for a pot."""
    lies_cents: int
    """The chips there already, in cents, to which tapped chips are added."""
    called_cents: int
    """Its win in cents, shown next to the outcome; 0 where it is not shown."""
    commission: Press | None
    """Collects the commission marked there."""
    before_cents: int | None
    """Its win in the previous round in cents, until the first card of the next one."""
    lying: tuple[int, ...]
    """Its cards of the round that is over, as long as they lie there."""
    latest: str
    """The latest event at the seat."""
    is_fresh: bool
    """Whether the latest input put a card there: it is seen to land."""

    @property
    def called(self) -> str:
        """The outcome of the seat, in a word or two."""
        outcome = self.box.outcome
        if outcome is None:
            return ""
        return f"pair of {outcome.card}s" if outcome.outcome == "pair" else _called(outcome)


@dataclass(frozen=True)
class DealerScreen:
    """Everything that one rendering of the dealer's screen draws."""

    board: Board
    standing: TableState
    key: UUID = field(default_factory=uuid4)
    """Made for this rendering: an input from it is recorded once, however often it is sent."""
    typed: Mapping[str, str] = field(default_factory=dict)
    """The values typed into a refused form, or the bet just taken."""
    refused: Refused | None = None
    reopens: str = ""
    """The label of the button that reopens the settled round; empty where no round can be reopened."""

    @property
    def felt(self) -> Felt:
        """The layout of the table by its kind of game."""
        return felt_of(self.board)

    @property
    def papers(self) -> str:
        """The state of back-entry: the paper of the round, or the request for it; empty outside back-entry."""
        mode = self.standing.back_entry
        if mode is None:
            return ""
        if mode.due is not None and mode.due.round == self.standing.next_number:
            happened = timezone.localtime(moment_of(mode.due.happened))
            return f"From paper no. {mode.due.number}, {happened:%H:%M}"
        return "Back-entry: which paper?"

    @cached_property
    def stated_wagers(self) -> tuple[Stated, ...]:
        """The wagers of a non-tracked table, in the operator's words."""
        table = self.board.table
        own = {wager: f"{money(low)} to {money(high)}" for wager, (low, high) in table.wager_limits.items()}
        general = f"{money(self.board.min_cents)} to {money(self.board.max_cents)}"
        wagers = table.options.get("wagers", ())
        return tuple(Stated(wager["name"], wager.get("pays", ""), own.get(wager["name"], general)) for wager in wagers)

    @property
    def title(self) -> str:
        """The title of the table's game."""
        return game_title(self.board.table)

    @property
    def slips(self) -> tuple[Slip, ...]:
        """The slips in progress at the table that are a dealer's business."""
        return tuple(slip for slip in self.standing.slips if Role.DEALER in slip.series.seen_by)

    @property
    def mode(self) -> str:
        """The set of keys below the layout.

        `cards` (the next card), `bets`, `seats` (chips and players between two games for a pot), `check`, `pick` (the
        parts of a choice), `counted` (cash and the pit at a non-tracked table), or `step`.
        """
        if self.board.due in ("bets", "check", "counted"):
            return self.board.due
        if self.board.due == "seats":
            return "seats" if self.primary else "step"
        if self.board.card_keys or self._names_a_hand or self._turns_burn:
            return "cards"
        return "pick" if self.ways.pane else "step"

    @property
    def _names_a_hand(self) -> bool:
        """Whether the keys at hand stand for a card that a player shows now: like one that is turned."""
        pane = self.ways.pane
        choices = {button.input["choice"] for button in self._choosing if button.input.get("card") is not None}
        of = {words_of(GAMES[self.board.table.game].words, choice).of for choice in choices}
        return pane is not None and pane.kind == "cards" and of == {"hand"}

    @property
    def _turns_burn(self) -> bool:
        """Whether the card of the burn that is turned is keyed now."""
        return self.board.due == "burn" and self.board.turns_burn

    @property
    def _choosing(self) -> list[Button]:
        return [button for button in self.board.buttons if button.input["do"] == "choose"]

    @cached_property
    def ways(self) -> Ways:
        """The choices of the seat, as keys."""
        return ways(self._choosing, keyed=self.board.card_keys)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The large keys: the ten ranks of the family, 0 standing for 10; or the ranks of standard cards."""
        names = self.board.card_names
        if not self.board.side_by_side:
            return tuple(Key(str(rank), str(rank % 10), json.dumps(spell(KeyCard(rank)))) for rank in RANKS)
        if len(names) == len(RANK_SIGNS):
            return tuple(self._card_key(str(name)) for name in names)
        return tuple(Key(_tens(rank), _hotkey(rank), "", opens=f"suits-{rank}") for rank in RANK_SIGNS)

    @cached_property
    def suits(self) -> tuple[Suits, ...]:
        """The panes that the keys of ranks open, where suits are looked at."""
        if not any(key.opens for key in self.keys):
            return ()
        return tuple(
            Suits(f"suits-{rank}", _tens(rank), tuple(self._card_key(rank + suit) for suit in SUIT_SIGNS))
            for rank in RANK_SIGNS
        )

    def _card_key(self, name: str) -> Key:
        entered = Burn(self.board.card_names.index(name) + 1) if self._turns_burn else KeyStandardCard(name)
        label = _tens(name[0]) if len(name) == 1 else _SUITS[name[1]]
        return Key(label, _hotkey(name[0]) if len(name) == 1 else name[1].upper(), json.dumps(spell(entered)))

    @cached_property
    def primary(self) -> Press | None:
        """The next step, which Enter takes."""
        return next((_press(button) for button in self.board.buttons if button.primary), None)

    @cached_property
    def choices(self) -> tuple[Press, ...]:
        """The further choices of the seat, except the keys at hand and the next step."""
        primary = self.primary.value if self.primary and self.mode == "step" else ""
        return tuple(key for key in self.ways.beside if key.opens or key.value != primary)

    @property
    def time_charge(self) -> Press | None:
        """The button of a time charge that is due."""
        return self._find("time_charge")

    @property
    def take_back(self) -> Press | None:
        """One step back."""
        return next((_press(button) for button in self.board.buttons if button.hotkey == "Backspace"), None)

    @property
    def cut_card(self) -> Press | None:
        """The key for a cut card that comes out before the count expects it."""
        return self._find(_CUTS)

    @property
    def retire(self) -> Press | None:
        """The shoe leaves the table; unless that is the next step, it is out of the way of the thumb."""
        return self._find(_RETIRES) if self.board.due != "retire" else None

    def _find(self, does: str) -> Press | None:
        return next((_press(button) for button in self.board.buttons if button.input["do"] == does), None)

    @property
    def has_seat_pages(self) -> bool:
        """Whether seats choose on pages of their own here."""
        return player_pages.possible(self.board.table)

    @property
    def calls_pit(self) -> bool:
        """Whether a card was refused that may be the wrong one."""
        return self.refused is not None and self.refused.code in REPORTED

    @cached_property
    def reader(self) -> ReaderLine | None:
        """The card reader of the table, in a sentence; None where none was ever started, or the prompt speaks of it."""
        reader = self.standing.reader
        if reader is None or reader.stop is not None:
            return None
        return reader_line(reader)

    @property
    def reader_press(self) -> Press | None:
        """The dealer takes over, or gives back."""
        return self._find("take_over_reader") or self._find("give_back_reader")

    @property
    def paid_all(self) -> Press | None:
        """The whole walk at once, at a table with a reader."""
        return self._find("paid_all")

    @property
    def settles_reader(self) -> tuple[Press, ...]:
        """The keys that settle a disagreement of reader and dealer."""
        return tuple(_press(button) for button in self.board.buttons if button.input["do"] == "settle_reader")

    @property
    def why_no_step(self) -> str:
        """The message for Enter where no step is due."""
        keys = [f"{press.hotkey} {press.label.lower()}" for press in self.choices if len(press.hotkey) == 1]
        if self.board.due == "choose" and self.acting:
            card = ["its card's key takes one"] if self.board.card_keys else []
            return f"{self.acting.capitalize()} decides: {', '.join([*card, *keys])}."
        if self.board.due == "bets":
            return "No bet yet."
        if self.board.due == "reader":
            return "Say who is right: R the reader, K you." if self.settles_reader else "A pit boss says who is right."
        if self.board.card_keys or self._turns_burn:
            return "A card is due: press its key."
        return self.board.phrase.do

    @property
    def why_no_step_back(self) -> str:
        """The message for the undo key where nothing can be taken back."""
        if self.reopens:
            number = self.standing.round.number if self.standing.round else 0
            return f"Round {number} is settled: U asks to reopen it."
        return "Nothing can be taken back now."

    @property
    def latest(self) -> str:
        """The input that would be taken back, as text."""
        if self.take_back and self.take_back.label != "Take back":
            return self.take_back.label
        return text_of(log.clauses_of(self._latest), self._pack)

    @cached_property
    def _latest(self) -> Sequence[log.SpelledAction]:
        """The latest input of the round, without hidden cards."""
        return secrecy.latest(self.standing.round)

    @property
    def _pack(self) -> Pack:
        """The cards of the round."""
        return pack_of(self.standing.round.opening.dealt) if self.standing.round else PAIRS

    @cached_property
    def fresh(self) -> frozenset[int]:
        """Where the latest input put a card: it is seen to land. 0 is the dealer."""
        current = self.standing.round
        if current is None or not current.plays or self.refused or not self.standing.round_open:
            return frozenset()
        return frozenset(action.to for action in current.plays[-1].actions if isinstance(action, Card))

    @cached_property
    def seats(self) -> tuple[Seat, ...]:
        """The seats as they lie, clockwise from the dealer's left."""
        return tuple(self._seats())

    def _seats(self) -> Iterable[Seat]:
        paying = self.board.pay.seat if self.board.pay else None
        walked = {line.seat for line in self.board.outcomes} if paying else set()
        before = last_results(self.board.table.book_id, self.standing) if self.board.due == "bets" else {}
        lying = {seat.seat: seat.stack for seat in self._lying.seats} if self._lying else {}
        place, latest = self._latest_at
        for box in self.board.seats:
            yield Seat(
                box,
                selected=box.seat == self._selected,
                again=_again(box),
                paid=paying is not None and box.seat in walked and box.seat > paying,
                paying=box.seat == paying,
                walked=box.seat in walked,
                is_away=self.felt.is_away(self.board, box),
                lies_cents=self.felt.lies_cents(box),
                called_cents=self.felt.called_cents(box),
                commission=self._commission(box.seat),
                before_cents=before.get(box.seat),
                lying=lying.get(box.seat, ()),
                latest=latest if place == box.seat else "",
                is_fresh=box.seat in self.fresh,
            )

    @cached_property
    def _lying(self) -> View | None:
        """The cards of the round that is over: they lie until the next bet, or until the shoe is shuffled."""
        last, shoe = self.standing.round, self.standing.shoe
        if last is None or not last.over or last.voided or not self.felt.keeps_cards:
            return None
        is_of_this_shoe = shoe is not None and shoe.stage == "ready" and last.first_seq >= shoe.ready_seq
        return last.view(DEALER) if is_of_this_shoe and self.board.due in ("bets", "shuffle") else None

    @property
    def dealer_lying(self) -> tuple[int, ...]:
        """The dealer's cards of the round that is over."""
        return self._lying.dealer if self._lying else ()

    @property
    def _latest_at(self) -> tuple[int | None, str]:
        """The seat where the latest input happened, and what it was in a word or two."""
        if not (self.standing.round_open or self._lying) or self.board.pay:
            return None, ""
        places = log.seats_of(self._latest)
        if len(places) != 1:
            return None, ""
        place = next(iter(places))
        return place, text_of(log.clauses_at(place, self._latest), self._pack)

    def _commission(self, seat: int) -> Press | None:
        due = (button for button in self.board.buttons if button.input["do"] == _COLLECTS and not button.primary)
        return next((_press(button) for button in due if button.input["seat"] == seat), None)

    @cached_property
    def _selected(self) -> int | None:
        """The seat that chips go to: the next empty one to the left of the one that bet last."""
        if self.mode not in ("bets", "seats"):
            return None
        seat = number(self.typed.get("seat"))
        if self.refused and seat is not None:
            return seat
        if self.mode == "seats":
            after = seat or 0
            return next((box.seat for box in self.board.seats if box.seat > after and not box.chips_cents), None)
        last = max((box.seat for box in self.board.seats if box.bet_cents), default=0) if seat is None else seat
        return next((box.seat for box in self.board.seats if box.seat > last and not box.bet_cents), None)

    @property
    def hands(self) -> tuple[OutcomeLine, ...]:
        """The chips to pay or take after the latest input, seat by seat.

        The settlement at the end of a round has its own prompt.
        """
        state = self.standing
        if not self.felt.is_done_by_hands or state.round is None or state.round.paid or self.board.pay:
            return ()
        shuffled_since = (
            state.shoe is None or state.shoe.stage != "ready" or state.round.first_seq < state.shoe.ready_seq
        )
        return () if shuffled_since else self.board.outcomes

    @property
    def hands_play(self) -> int:
        """The entry that those were decided by."""
        return self.standing.round.plays[-1].seq if self.standing.round else 0

    @property
    def acting(self) -> str:
        """The seat or dealer with a decision, for the screen and for keyboard type-ahead; empty for none."""
        if self.board.dealer_acting:
            return "dealer"
        return next((f"seat {box.seat}" for box in self.board.seats if box.acting), "")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a deck check."""
        wholes = enumerate(zip(self.board.card_names, self.board.deck_columns, strict=False), 1)
        return tuple(
            Column(card, str(name), self.typed.get(f"count{card}", ""), whole) for card, (name, whole) in wholes
        )

    @property
    def amount_in_hand(self) -> str:
        """Where wagers lie apart, the amount stays for the next spot that is tapped."""
        return self.typed.get("amount", "") if self.board.side_by_side else ""

    @cached_property
    def same_bets(self) -> Press | None:
        """The bets of the round before, of all seats that have none yet, in one tap."""
        bets = [bet for box in self.board.seats for bet in _earlier(box)]
        if not bets:
            return None
        total = sum(bet.amount_cents for bet in bets)
        return Press(f"Same bets, {money(total)}", json.dumps(spell(PlaceBets(tuple(bets)))), "R", "bet")

    @cached_property
    def price_cents(self) -> int:
        """The additional cost of the seat's choices in cents, if all choices with a cost have the same; else 0."""
        costs = {choice.cost_cents for ask in self.board.prompts[:1] for choice in getattr(ask, "choices", ())} - {0}
        return costs.pop() if self.board.side_by_side and self.board.due == "choose" and len(costs) == 1 else 0

    @property
    def price(self) -> tuple[Chips, ...]:
        """That amount in chips, nothing where the table's chips cannot make it."""
        try:
            cut = chips.cut(self.price_cents, self.board.denominations)
        except ValueError:
            return ()
        return tuple(Chips(count, chip.name, chip.value_cents) for chip, count in cut)

    @cached_property
    def _asks(self) -> tuple[AskBet, ...]:
        """The bets that may be placed now."""
        alone = (box.ask for box in self.board.seats)
        apart = (spot.ask for box in self.board.seats for spot in box.spots)
        return tuple(ask for ask in (*alone, *apart) if ask)

    @property
    def likely(self) -> tuple[Likely, ...]:
        """The amounts that are likely here. They stay where they are until the bets are closed."""
        board = self.board
        if self.takes_chips:
            least = max(board.min_cents, board.max_cents // 20)
            return likely(least, board.max_cents, board.table.unit_cents)
        if not self._asks:
            return ()
        least, step = (min(getattr(ask, name) for ask in self._asks) for name in ("low_cents", "step_cents"))
        return likely(least, board.max_cents, step, (cents for box in board.seats for cents in _lay(box)))

    @property
    def places_at_once(self) -> bool:
        """Whether an amount needs no more than a seat: it has one spot, and chips have one meaning."""
        return self.mode == "bets" and not self.board.side_by_side

    @property
    def has_parts(self) -> bool:
        """Whether amounts may have cents."""
        return any(ask.step_cents % 100 for ask in self._asks) or bool(self.board.table.unit_cents % 100)

    @property
    def nearest(self) -> tuple[Press, ...]:
        """The legal bets nearest to one that was refused."""
        facts = self.refused.facts if self.refused else {}
        amounts = facts.get("nearest_cents", ()) if self.board.due == "bets" else ()
        return tuple(_bet(facts["seat"], amount, f"Bet {money(amount)}") for amount in amounts)

    @property
    def has_pot(self) -> bool:
        """Whether there is a pot to draw."""
        return self.board.coins and bool(self.board.pot_cents or "pot" in self.board.parts)

    @property
    def takes_chips(self) -> bool:
        """Whether chips are bought and cashed now, at a table with a pot."""
        return self.mode == "seats" and self.board.coins

    def called(self, part: Part) -> str:
        """The game's name for a part of its layout; empty for a part without one."""
        return self.board.parts.get(part, "")

    @property
    def middle_is_called(self) -> str:
        """The game's name for the community cards."""
        return self.called("middle") or self.called("facedown")

    @property
    def kept_is_called(self) -> str:
        """The game's name for the cards that a seat keeps."""
        return self.called("kept")

    @property
    def score_is_called(self) -> str:
        """The game's name for its score."""
        return self.called("score")

    @property
    def staked_cents(self) -> int:
        """All bets that are still at stake."""
        return sum(box.bet_cents for box in self.board.seats if box.state == "in")

    @property
    def bet_range(self) -> str:
        """Which bets are legal, for the eye."""
        return self.felt.terms(self.board)

    @property
    def notice(self) -> str:
        """The announcement to players of a raised minimum; empty where there is none."""
        announced = self.standing.announced
        if announced is None:
            return ""
        raised = " and ".join(f"the {called(name)} is {money(least)}" for name, least in announced.least.items())
        kept = " Seats that play keep the old one." if announced.keeps_seated else ""
        return f"From {timezone.localtime(announced.effective):%H:%M} {raised} ({announced.why}).{kept}"

    @property
    def keepers(self) -> str:
        """Which seats keep an older minimum, in words; empty where none does."""
        kept = limit_notice.kept_in(self.board.table.kept_minimums, self.standing)
        return ", ".join(f"seat {keeper.seat} from {money(keeper.min_cents)}" for keeper in kept)


def _press(button: Button) -> Press:
    return Press(button.label, json.dumps(button.input), button.hotkey, button.input["do"])


_SUITS: Final = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}


def _tens(rank: str) -> str:
    return "10" if rank == "T" else rank


def _hotkey(rank: str) -> str:
    return "0" if rank == "T" else rank


def _lay(box: SeatBox) -> list[int]:
    """The bets of a seat in the previous round, by wager, in cents."""
    return [cents for cents in [spot.last_cents for spot in box.spots] or [box.last_bet_cents] if cents]


def _earlier(box: SeatBox) -> list[Bet]:
    """The bets of a seat in the previous round that it can repeat; empty once it has bet."""
    if box.bet_cents:
        return []
    spots = [(spot.ask, spot.last_cents) for spot in box.spots] or [(box.ask, box.last_bet_cents)]
    return [Bet(box.seat, cents, ask.wager) for ask, cents in spots if ask and cents and cents in ask.nearest(cents)]


def _again(box: SeatBox) -> Press | None:
    bets = _earlier(box)
    if not bets:
        return None
    total = sum(bet.amount_cents for bet in bets)
    entered = bets[0] if len(bets) == 1 else PlaceBets(tuple(bets))
    return Press(f"Again {money(total)}", json.dumps(spell(entered)), "A", "bet")


def _bet(seat: int, amount_cents: int, label: str) -> Press:
    return Press(label, json.dumps(spell(Bet(seat, amount_cents))), "", "bet")


def _called(outcome: OutcomeLine) -> str:
    return _CALLED.get(outcome.outcome, outcome.outcome.replace("_", " "))
