"""The read side: a table as one viewer may see it, with the one next step and the inputs that can be made now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ledger import chips
from ledger.chips import Denomination, money
from tables import rounds, secrecy, shoes, standing
from tables.games.cards import DECK_SIZE
from tables.games.cards import shoe as full_shoe
from tables.games.catalog import GAMES
from tables.games.felt import DEALER, AskBet, AskCard, AskChoice, AskCloseBets, Payout, Phrase, Prompt, View
from tables.inputs import (
    Burn,
    CheckDecks,
    Choose,
    CloseBets,
    CutCardOut,
    Deal,
    Input,
    LoadShoe,
    Paid,
    PlaceCutCard,
    RetireShoe,
    Shuffle,
    ShuffleShoe,
    StartGame,
    TakeBack,
    spell,
)
from tables.models import ShoeSource, Staff, Table
from tables.refusals import Refused
from tables.scene import Scene
from tables.setup import limits_of, rules_of
from tables.standing import Round, Standing


@dataclass(frozen=True, slots=True)
class Chips:
    """So many chips of one colour."""

    count: int
    colour: str
    value_cents: int


@dataclass(frozen=True, slots=True)
class Button:
    """One input that can be made now. ``hotkey`` is the keyboard's name for it; one button is the next step."""

    label: str
    input: dict[str, Any]
    hotkey: str
    primary: bool = False


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """What became of a seat, and what the dealer's hands do about it."""

    seat: int
    outcome: str
    card: int | None
    net_cents: int
    why: str
    hands: str
    """"take 16: keep 3 red 1 white, return 4 white" """
    keep: tuple[Chips, ...] = ()
    give_back: tuple[Chips, ...] = ()
    pay: tuple[Chips, ...] = ()


@dataclass(frozen=True, slots=True)
class SeatBox:
    """One seat of the layout."""

    seat: int
    state: str
    bet_cents: int
    bet: tuple[Chips, ...]
    stack: tuple[int, ...]
    acting: bool
    outcome: OutcomeLine | None
    ask: AskBet | None = None
    """The range of bets that this seat may make now."""
    last_bet_cents: int = 0
    """What this seat bet in the round before."""


@dataclass(frozen=True, slots=True)
class ShoeBox:
    """The shoe, as everyone may see it: how deep it is dealt, never what is left in it."""

    number: int
    source: str
    stage: str
    decks: int
    size: int
    cards_left: int
    cut_at: int
    cut_out: bool
    commitment: str | None


@dataclass(frozen=True, slots=True)
class Board:
    """Everything that a screen of one table draws."""

    table: Table
    seq: int
    due: str
    """closed, dealer, load, check, shuffle, cut, burn, retire, seats, bets, card, deal, choose, reshuffle, pay"""
    phrase: Phrase
    is_open: bool
    dealer_name: str | None
    dealer_username: str | None
    round_number: int
    round_open: bool
    seats: tuple[SeatBox, ...]
    dealer_stack: tuple[int, ...]
    dealer_acting: bool
    button: int | None
    card_keys: bool
    """Whether a card can be keyed now (0 stands for 10)."""
    buttons: tuple[Button, ...]
    prompts: tuple[Prompt, ...]
    """What the game asks for, in its own words; empty when it is not the game that is waited for."""
    outcomes: tuple[OutcomeLine, ...]
    """What the latest input decided."""
    pay: OutcomeLine | None
    """The seat to pay now, when a round's end is walked seat by seat."""
    pay_after: int
    """How many seats follow it."""
    shoe: ShoeBox | None
    deck_columns: tuple[int, ...]
    """The ten counts that a whole shoe has, while the decks are checked."""
    denominations: tuple[Denomination, ...]
    min_cents: int
    max_cents: int
    cap_cents: int | None
    can_take_back: bool
    extra: dict[str, Any] = field(default_factory=dict)


_WORDS: Final = {
    "closed": Phrase("The table is closed. A pit boss opens it.", "", "A closed table is not dealt."),
    "dealer": Phrase("Sign in to deal.", "", "A table is dealt by the dealer who is signed in there."),
    "load": Phrase("Load the shoe.", "New shoe.", "A shoe of the table's number of decks."),
    "check": Phrase(
        "Spread the decks in ten columns and count them.", "Checking the decks.", "Rank r appears r times in each deck."
    ),
    "shuffle": Phrase("Shuffle the shoe.", "Shuffling.", "The shoe is shuffled when the cut card has come out."),
    "cut": Phrase("Place the cut card.", "Cutting.", "The last part of the shoe is never dealt."),
    "burn": Phrase("Burn the first cards.", "Burning.", "Burned cards are not shown."),
    "seats": Phrase("Seat the players, then deal the next game.", "Who plays?", "Chips are bought between games."),
    "retire": Phrase("Retire this shoe.", "This shoe is retired.", "The table is set to another shoe now."),
}

_GAME_ASKS: Final = ("bets", "card", "deal", "choose", "reshuffle")

_SHOE_INPUTS: Final[dict[str, tuple[str, Input]]] = {
    "load": ("Shoe is loaded", LoadShoe()),
    "shuffle": ("Shuffled", ShuffleShoe()),
    "cut": ("Cut card is placed", PlaceCutCard()),
    "burn": ("Burned", Burn()),
    "retire": ("Retire the shoe", RetireShoe()),
}


def board(table: Table, viewer: Staff, now: Standing | None = None) -> Board:
    """The table for one member of staff, as it stands ``now`` (default: read it). Only the dealer who is signed in
    there gets inputs to make."""
    now = now or standing.of(table)
    scene = Scene(table, GAMES[table.game], rules_of(table), limits_of(table), now, viewer)
    denominations = tuple(Denomination(one.value_cents, one.colour) for one in table.denominations.all())
    deals_here = now.dealer is not None and now.dealer.username == viewer.username
    return _Drawing(scene, denominations, deals_here).board()


@dataclass(slots=True)
class _Drawing:
    scene: Scene
    denominations: tuple[Denomination, ...]
    deals_here: bool

    def board(self) -> Board:
        scene, now = self.scene, self.scene.standing
        current = self._current()
        prompts = secrecy.for_staff(current, current.game.prompts(current.state) if current else ())
        due = self._due(current, prompts)
        view = current.game.view(current.state, DEALER) if current else None
        acting = _acting(prompts) if due in ("card", "deal", "choose") else None
        to_pay = current.to_pay if current and due == "pay" else ()
        limits = current.opening.limits if current else scene.limits
        # An empty shoe is shuffled before its next card: until then no card can be keyed, not even to say "hit".
        empty = current is not None and not current.game.cards_left(current.state)
        card_keys = due in ("card", "choose") and not self._house and not empty
        return Board(
            table=scene.table,
            seq=now.seq,
            due=due,
            phrase=self._phrase(due, current, prompts, to_pay),
            is_open=now.is_open,
            dealer_name=now.dealer.name if now.dealer else None,
            dealer_username=now.dealer.username if now.dealer else None,
            round_number=current.number if current else now.next_number,
            round_open=now.round_open,
            seats=self._seats(view, prompts, acting),
            dealer_stack=view.dealer if view else (),
            dealer_acting=acting == DEALER,
            button=view.button if view else None,
            card_keys=card_keys,
            buttons=tuple(self._buttons(due, prompts, to_pay, card_keys)) if self.deals_here and now.is_open else (),
            prompts=prompts if due in _GAME_ASKS else (),
            outcomes=tuple(self._line(one) for one in self._latest(now.round)),
            pay=self._line(to_pay[0]) if to_pay else None,
            pay_after=max(len(to_pay) - 1, 0),
            shoe=self._shoe(current),
            deck_columns=full_shoe(scene.game.decks(scene.rules)) if due == "check" else (),
            denominations=self.denominations,
            min_cents=limits.min_cents,
            max_cents=limits.max_cents,
            cap_cents=limits.cap_cents,
            can_take_back=self.deals_here and self._can_take_back(),
        )

    @property
    def _house(self) -> bool:
        shoe = self.scene.standing.shoe
        return (shoe.source if shoe else self.scene.table.source) == ShoeSource.HOUSE

    # --- what is due ---

    def _current(self) -> Round | None:
        """The round on the layout: the one in progress, or the next one, its bets open; None without a shoe."""
        now = self.scene.standing
        if now.round_open or shoes.due(self.scene) is not None:
            return now.round if now.round_open else None
        return rounds.next_round(self.scene) if self.scene.game.banked else None

    def _due(self, current: Round | None, prompts: Sequence[Prompt]) -> str:
        now = self.scene.standing
        if not now.is_open:
            return "closed"
        if now.dealer is None:
            return "dealer"
        if current is None:
            return shoes.due(self.scene) or "seats"
        if current.to_pay:
            return "pay"
        first = prompts[0]
        if isinstance(first, AskBet | AskCloseBets):
            return "bets"
        if isinstance(first, AskCard):
            return "deal" if self._house else "card"
        return "choose" if isinstance(first, AskChoice) else "reshuffle"

    def _phrase(self, due: str, current: Round | None, prompts: Sequence[Prompt], to_pay: Sequence[Payout]) -> Phrase:
        if due == "pay":
            line = self._line(to_pay[0])
            return Phrase(f"Seat {line.seat}: {line.hands}.", "Paying right to left.", line.why)
        if due == "burn":
            burn = self.scene.game.burned(self.scene.rules)
            return Phrase(f"Burn {burn} cards." if burn else "Nothing to burn.", "Burning.", _WORDS["burn"].rule)
        if due in _WORDS or current is None:
            return _WORDS[due]
        if due == "bets":
            said = current.game.say(current.state, prompts[-1], money)
            return Phrase("Take the bets, then close them.", "Place your bets.", said.rule)
        return current.game.say(current.state, prompts[0], money)

    # --- inputs ---

    def _buttons(
        self, due: str, prompts: Sequence[Prompt], to_pay: Sequence[Payout], card_keys: bool
    ) -> Iterable[Button]:
        if due in _SHOE_INPUTS:
            label, entered = _SHOE_INPUTS[due]
            yield Button(label, spell(entered), "Enter", primary=True)
        elif due == "check":
            counts = full_shoe(self.scene.game.decks(self.scene.rules))
            yield Button("All ten columns are whole", spell(CheckDecks(counts)), "Enter", primary=True)
        elif due == "seats":
            yield Button("Deal the next game", spell(StartGame()), "Enter", primary=True)
        elif due == "pay":
            yield Button(f"Seat {to_pay[0].seat} is done", spell(Paid(to_pay[0].seat)), "Enter", primary=True)
        elif due == "bets" and isinstance(prompts[-1], AskCloseBets):
            yield Button("No more bets", spell(CloseBets()), "Enter", primary=True)
        elif due == "deal":
            yield Button("Deal", spell(Deal()), "Enter", primary=True)
        elif due == "reshuffle":
            yield Button("Discards are shuffled", spell(Shuffle()), "Enter", primary=True)
        elif due == "choose" and isinstance(prompts[0], AskChoice) and not self._chooses_alone(prompts[0]):
            yield from self._choices(prompts[0], keyed=card_keys)
        yield from self._always(due)

    def _chooses_alone(self, ask: AskChoice) -> bool:
        """Whether a seat chooses on its own page, because it holds what nobody else may know."""
        current = self.scene.standing.round
        return current is not None and current.hides_cards_of(ask.seat)

    @staticmethod
    def _choices(ask: AskChoice, keyed: bool) -> Iterable[Button]:
        for choice in ask.choices:
            if choice.draws and keyed:
                continue  # naming its card means that it was chosen: no more inputs than there are events
            cost = f" for {money(choice.cost_cents)}" if choice.cost_cents else ""
            label = f"{choice.name.capitalize()}{cost}"
            hotkey = "Enter" if choice.draws else choice.name[0].upper()
            yield Button(label, spell(Choose(ask.seat, choice.name)), hotkey, primary=choice.draws)

    def _always(self, due: str) -> Iterable[Button]:
        now = self.scene.standing
        ready = now.shoe is not None and now.shoe.stage == "ready"
        if ready and now.shoe is not None and not now.shoe.cut_out and not self._house and now.round_open:
            yield Button("Cut card is out", spell(CutCardOut()), "C")
        if now.shoe is not None and not now.round_open and due != "retire":
            yield Button("Retire the shoe", spell(RetireShoe()), "")
        if self._can_take_back():
            yield Button("Take back", spell(TakeBack()), "Backspace")

    def _can_take_back(self) -> bool:
        try:
            rounds.last_input(self.scene)
        except Refused:
            return False
        return True

    # --- the picture ---

    def _seats(self, view: View | None, prompts: Sequence[Prompt], acting: int | None) -> tuple[SeatBox, ...]:
        asks = {prompt.seat: prompt for prompt in prompts if isinstance(prompt, AskBet)}
        before = self._bets_before()
        if view is None:
            return tuple(
                SeatBox(seat, "empty", 0, (), (), False, None) for seat in range(1, self.scene.table.seats + 1)
            )
        return tuple(
            SeatBox(
                seat=one.seat,
                state=one.state,
                bet_cents=one.bet_cents,
                bet=self._chips(one.bet_cents),
                stack=one.stack,
                acting=one.seat == acting,
                outcome=self._line(one.payout) if one.payout else None,
                ask=asks.get(one.seat),
                last_bet_cents=before.get(one.seat, 0),
            )
            for one in view.seats
        )

    def _bets_before(self) -> dict[int, int]:
        last = self.scene.standing.round
        if last is None or not last.over:
            return {}
        return {payout.seat: payout.staked_cents for payout in last.game.settle(last.state)}

    @staticmethod
    def _latest(current: Round | None) -> tuple[Payout, ...]:
        return current.plays[-1].decided if current and current.plays else ()

    def _line(self, payout: Payout) -> OutcomeLine:
        net, staked, returned = payout.net_cents, payout.staked_cents, payout.returned_cents
        if net > 0:
            hands, pay, keep, back = f"pay {money(net)}: {self._spoken(net)}", net, 0, 0
        elif net < 0:
            hands, pay, keep, back = f"take {money(-net)}: keep {self._spoken(-net)}", 0, -net, returned
            hands += f", return {self._spoken(returned)}" if returned else ""
        else:
            hands, pay, keep, back = f"return the bet of {money(staked)}", 0, 0, staked
        return OutcomeLine(
            payout.seat,
            payout.outcome,
            payout.card,
            net,
            payout.why,
            hands,
            self._chips(keep),
            self._chips(back),
            self._chips(pay),
        )

    def _spoken(self, cents: int) -> str:
        cut = self._cut(cents)
        return chips.say(cut) if cut else money(cents)

    def _chips(self, cents: int) -> tuple[Chips, ...]:
        return tuple(Chips(count, chip.name, chip.value_cents) for chip, count in self._cut(cents))

    def _cut(self, cents: int) -> chips.Cut:
        """In chips; nothing when the table's chips cannot make it: the amount is said then, and the game goes on."""
        try:
            return chips.cut(cents, self.denominations)
        except ValueError:
            return ()

    def _shoe(self, current: Round | None) -> ShoeBox | None:
        shoe = self.scene.standing.shoe
        if shoe is None:
            return None
        size = left = shoe.decks * DECK_SIZE
        if current is not None:
            left = current.game.cards_left(current.state)
        elif shoe.stage == "ready":
            left -= shoe.burn + sum(self.scene.standing.gone)
        game, rules = self.scene.game, self.scene.rules
        at_cut = game.at_cut(rules) if game.decks(rules) == shoe.decks else 0
        return ShoeBox(
            shoe.number,
            shoe.source,
            shoe.stage,
            shoe.decks,
            size,
            left,
            at_cut,
            shoe.cut_out,
            shoe.commitment,
        )


def _acting(prompts: Sequence[Prompt]) -> int | None:
    first = prompts[0] if prompts else None
    if isinstance(first, AskCard):
        return first.to
    return first.seat if isinstance(first, AskChoice) else None
