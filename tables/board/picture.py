"""The read side: a table as one viewer may see it, with the one next step and the inputs that can be made now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils import timezone

from ledger.proof import chips
from ledger.proof.chips import RACK, Denomination, money
from tables import standing
from tables.board import payments, secrecy
from tables.games.cards import DECK_SIZE
from tables.games.cards import shoe as full_shoe
from tables.games.catalog import GAMES
from tables.games.felt import (
    DEALER,
    MIDDLE,
    AskBet,
    AskCard,
    AskChoice,
    AskCloseBets,
    Choice,
    Money,
    Payout,
    Phrase,
    Prompt,
    SeatView,
    View,
)
from tables.games.game import Part, PotGame, Words
from tables.games.script import words_of
from tables.inputs import (
    Burn,
    CashOut,
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
    TimeCharge,
    spell,
)
from tables.log.fold import Round, Standing
from tables.log.terms import limits_of, rules_of
from tables.models import ShoeSource, Staff, Table
from tables.play import pots, rounds, shoes
from tables.refusals import Refused
from tables.scene import Scene


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
    way: str = ""
    """What this choice is called, whatever it names: "Gift", for each card and each seat."""


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
class PaymentLine:
    """Chips that go from one place to another now, in words and in chips."""

    says: str
    each_cents: int
    each: tuple[Chips, ...]


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
    hand_size: int = 0
    """Facedown cards: how many, never which."""
    kept: tuple[int, ...] = ()
    score: int | None = None
    columns: tuple[tuple[int, tuple[int, ...]], ...] = ()
    chips_cents: int = 0
    """What lies at the seat of a table with a pot."""
    chips: tuple[Chips, ...] = ()
    is_all_in: bool = False
    has_chosen: bool = False
    """Whether it has chosen already what others are still to choose in secret."""
    may_play: bool = False
    """Whether it can be dealt in to the next game for a pot."""
    plays: bool = False
    """Whether it is dealt in, if nobody says otherwise: a seat that sat out still does."""


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
    banked: bool
    """Whether each seat plays against the house."""
    coins: bool
    """Whether the seats play with chips on the table for a pot."""
    parts: Mapping[Part, str]
    """What the game's layout has, and what that is called."""
    dealer_stack: tuple[int, ...]
    dealer_acting: bool
    middle: tuple[int, ...]
    middle_acting: bool
    facedown: int
    """How many facedown cards lie in the middle."""
    pot_cents: int
    pot: tuple[Chips, ...]
    button: int | None
    waiting: tuple[int, ...]
    """The seats that choose now on pages of their own, for nobody else may know their cards."""
    card_keys: bool
    """Whether a card can be keyed now (0 stands for 10)."""
    buttons: tuple[Button, ...]
    prompts: tuple[Prompt, ...]
    """What the game asks for, in its own words; empty when it is not the game that is waited for."""
    outcomes: tuple[OutcomeLine, ...]
    """What the latest input decided."""
    payments: tuple[PaymentLine, ...]
    """The chips that the latest input moved between the seats and the pot."""
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
    "count": Phrase("Count the rack, and sign the slip.", "Counting.", "Nothing is dealt while the rack is counted."),
    "dealer": Phrase("Sign in to deal.", "", "A table is dealt by the dealer who is signed in there."),
    "load": Phrase("Load the shoe.", "New shoe.", "A shoe of the table's number of decks."),
    "check": Phrase(
        "Spread the decks in ten columns and count them.", "Checking the decks.", "Rank r appears r times in each deck."
    ),
    "shuffle": Phrase("Shuffle the shoe.", "Shuffling.", "The shoe is shuffled when the cut card has come out."),
    "cut": Phrase("Place the cut card.", "Cutting.", "The last part of the shoe is never dealt."),
    "burn": Phrase("Burn the first cards.", "Burning.", "Burned cards are not shown."),
    "retire": Phrase("Retire this shoe.", "This shoe is retired.", "The table is set to another shoe now."),
}

_CUT_KEY: Final = "C"
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
        prompts = secrecy.for_staff(current)
        due = self._due(current, prompts)
        shown = current or self._lying
        view = shown.view(DEALER) if shown else None
        waiting = _waiting(current, prompts)
        here = tuple(ask for ask in prompts if not (isinstance(ask, AskChoice) and ask.seat in waiting))
        acting = _acting(here) if due in ("card", "deal", "choose") else None
        to_pay = current.to_pay if current and due == "pay" else ()
        limits = current.opening.limits if current and current.game.banked else scene.limits
        card_keys = due in ("card", "choose") and not self._house and _can_be_keyed(current, here)
        game = shown.game if shown else scene.game
        pot_cents = now.pot_cents if not game.banked else 0
        return Board(
            table=scene.table,
            seq=now.seq,
            due=due,
            phrase=self._phrase(due, current, here, to_pay, waiting),
            is_open=now.is_open,
            dealer_name=now.dealer.name if now.dealer else None,
            dealer_username=now.dealer.username if now.dealer else None,
            round_number=current.number if current else now.next_number,
            round_open=now.round_open,
            seats=tuple(self._seats(shown, view, here, acting, waiting)),
            banked=game.banked,
            coins=isinstance(game, PotGame) and game.coins,
            parts=game.parts,
            dealer_stack=view.dealer if view else (),
            dealer_acting=acting == DEALER,
            middle=view.middle if view else (),
            middle_acting=acting == MIDDLE,
            facedown=view.facedown if view else 0,
            pot_cents=pot_cents,
            pot=self._chips(pot_cents),
            button=view.button if view else None,
            waiting=waiting,
            card_keys=card_keys,
            buttons=tuple(self._buttons(due, here, to_pay, card_keys)) if self.deals_here and now.is_open else (),
            prompts=prompts if due in _GAME_ASKS else (),
            outcomes=tuple(self._line(one) for one in self._latest(now.round)),
            payments=tuple(self._payments(shown)),
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
    def _lying(self) -> Round | None:
        """The game for a pot that is over: its cards lie until the deck is shuffled, or the next game is dealt."""
        last, shoe = self.scene.standing.round, self.scene.standing.shoe
        if last is None or last.game.banked or not last.plays or shoe is None or shoe.stage != "ready":
            return None
        return last if last.first_seq >= shoe.ready_seq else None

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

    @property
    def _counting(self) -> bool:
        return any(slip.series.counts(RACK) for slip in self.scene.standing.slips)

    def _due(self, current: Round | None, prompts: Sequence[Prompt]) -> str:
        now = self.scene.standing
        if not now.is_open:
            return "closed"
        if self._counting:
            return "count"
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

    def _phrase(
        self,
        due: str,
        current: Round | None,
        prompts: Sequence[Prompt],
        to_pay: Sequence[Payout],
        waiting: Sequence[int],
    ) -> Phrase:
        if waiting and not prompts:
            do = f"Waiting for {payments.seats(waiting).lower()}."
            return Phrase(do, "Choose, please.", "Each seat chooses on its own page.")
        if due == "pay":
            line = self._line(to_pay[0])
            return Phrase(f"Seat {line.seat}: {line.hands}.", "Paying right to left.", line.why)
        if due == "burn":
            burn = self.scene.game.burned(self.scene.rules)
            return Phrase(f"Burn {burn} cards." if burn else "Nothing to burn.", "Burning.", _WORDS["burn"].rule)
        if due == "seats":
            return self._say_between_games()
        if due == "shuffle" and not self.scene.game.banked:
            rule = self._how_it_ended or "This game is dealt from a shuffled deck."
            return Phrase(self._after_payments("shuffle the deck"), "Shuffling.", rule)
        if due in _WORDS or current is None:
            return _WORDS[due]
        if due == "bets":
            said = current.game.say(current.state, prompts[-1], money)
            return Phrase("Take the bets, then close them.", "Place your bets.", said.rule)
        return current.game.say(current.state, prompts[0], _money_of(current))

    def _say_between_games(self) -> Phrase:
        rule = "Chips are bought between games." if self.scene.for_coins else "Every seat that is marked is dealt in."
        if self._lying is None:
            return Phrase("Seat the players, then deal the next game.", "Who plays?", rule)
        return Phrase(self._after_payments("deal the next game"), "Who plays?", self._how_it_ended or rule)

    def _after_payments(self, do: str) -> str:
        to_pay = self._lying is not None and self._lying.plays[-1].moved
        return f"Make the payments, then {do}." if to_pay else f"{do.capitalize()}."

    @property
    def _how_it_ended(self) -> str:
        """Why one seat has won the game that is over; several have won in several ways."""
        last = self._lying
        won = [one for one in last.settled if one.outcome == "win"] if last else []
        return f"Seat {won[0].seat} wins: {won[0].why}." if len(won) == 1 else ""

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
            yield from self._between_games()
        elif due == "pay":
            yield Button(f"Seat {to_pay[0].seat} is done", spell(Paid(to_pay[0].seat)), "Enter", primary=True)
        elif due == "bets" and isinstance(prompts[-1], AskCloseBets):
            yield Button("No more bets", spell(CloseBets()), "Enter", primary=True)
        elif due == "deal":
            yield Button("Deal", spell(Deal()), "Enter", primary=True)
        elif due == "reshuffle":
            yield Button("Discards are shuffled", spell(Shuffle()), "Enter", primary=True)
        elif due == "choose":
            for ask in prompts:
                yield from self._choices(ask, keyed=card_keys) if isinstance(ask, AskChoice) else ()
        yield from self._always(due)

    def _between_games(self) -> Iterable[Button]:
        yield Button("Deal the next game", spell(StartGame()), "Enter", primary=True)
        table, now = self.scene.table, self.scene.standing
        periods = pots.periods_due(table, now.charged_at, timezone.now()) if self.scene.for_coins else 0
        if periods:
            halves = f"{periods} half hour{'s' if periods > 1 else ''}"
            label = f"Time charge: {money(periods * table.time_charge_cents)} each for {halves}"
            yield Button(label, spell(TimeCharge()), "T")
        for seat, cents in sorted(now.stacks.items()) if self.scene.for_coins else ():
            yield Button(f"Seat {seat} cashes out {money(cents)}", spell(CashOut(seat)), "")

    def _choices(self, ask: AskChoice, keyed: bool) -> Iterable[Button]:
        current = self.scene.standing.round
        assert current is not None  # noqa: S101 -- it asks
        hotkeys = _hotkeys(current.game.words, ask)
        for choice in ask.choices:
            if choice.draws and keyed:
                continue  # naming its card means that it was chosen: no more inputs than there are events
            way = words_of(current.game.words, choice.name).label
            cost = f" for {_money_of(current)(choice.cost_cents)}" if choice.cost_cents else ""
            named = Choose(ask.seat, choice.name, choice.card, choice.cards, choice.target, choice.count)
            hotkey = "Enter" if choice.draws else hotkeys[choice.name]
            yield Button(f"{way}{_named(choice)}{cost}", spell(named), hotkey, primary=choice.draws, way=way)

    def _always(self, due: str) -> Iterable[Button]:
        now = self.scene.standing
        ready = now.shoe is not None and now.shoe.stage == "ready"
        placed = ready and now.shoe is not None and self.scene.at_cut
        in_use = placed and now.round_open and due != "count"
        if in_use and now.shoe is not None and not now.shoe.cut_out and not self._house:
            yield Button("Cut card is out", spell(CutCardOut()), _CUT_KEY)
        if now.shoe is not None and not now.round_open and due != "retire":
            yield Button("Retire the shoe", spell(RetireShoe()), "")
        if self._can_take_back():
            yield Button("Take back", spell(TakeBack()), "Backspace")

    def _can_take_back(self) -> bool:
        if self._counting:
            return False
        try:
            rounds.last_input(self.scene)
        except Refused:
            return False
        return True

    # --- the picture ---

    def _seats(
        self,
        shown: Round | None,
        view: View | None,
        prompts: Sequence[Prompt],
        acting: int | None,
        waiting: Sequence[int],
    ) -> Iterable[SeatBox]:
        asks = {prompt.seat: prompt for prompt in prompts if isinstance(prompt, AskBet)}
        before, coins = self._bets_before(), self._coins()
        lying = {one.seat: one for one in view.seats} if view else {}
        playing, chosen = self._playing(), _chosen(shown, waiting)
        for seat in range(1, self.scene.table.seats + 1):
            one, cents = lying.get(seat) or SeatView(seat), coins.get(seat, 0)
            yield SeatBox(
                seat=seat,
                state=one.state,
                bet_cents=one.bet_cents,
                bet=self._chips(one.bet_cents),
                stack=one.stack,
                acting=seat == acting or seat in waiting,
                outcome=self._line(one.payout) if one.payout else None,
                ask=asks.get(seat),
                last_bet_cents=before.get(seat, 0),
                hand_size=one.hand_size,
                kept=tuple(sorted(one.kept)),
                score=one.score,
                columns=one.columns,
                chips_cents=cents,
                chips=self._chips(cents),
                is_all_in=one.coins == 0 and one.state == "in" and self.scene.standing.round_open,
                has_chosen=seat in chosen,
                may_play=seat in playing,
                plays=playing.get(seat, False),
            )

    def _coins(self) -> Mapping[int, int]:
        return {} if self.scene.game.banked else self.scene.standing.stacks

    def _playing(self) -> dict[int, bool]:
        """The seats that can be dealt in to the next game for a pot, and whether they are, if nobody says otherwise."""
        scene, now = self.scene, self.scene.standing
        if scene.game.banked or now.round_open:
            return {}
        able = pots.able(scene, now.stacks)
        last = now.round if now.round and not now.round.game.banked else None
        if last is None:
            return {seat: at < scene.game.seat_counts[-1] for at, seat in enumerate(able)}
        there = dict(last.stacks) if scene.for_coins else dict.fromkeys(able, 0)
        return {seat: seat in last.opening.seats or seat not in there for seat in able}

    def _bets_before(self) -> dict[int, int]:
        last = self.scene.standing.round
        if last is None or not (last.over and last.game.banked):
            return {}
        return {payout.seat: payout.staked_cents for payout in last.game.settle(last.state)}

    @staticmethod
    def _latest(current: Round | None) -> tuple[Payout, ...]:
        return tuple(map(current.in_cents, current.plays[-1].decided)) if current and current.plays else ()

    def _payments(self, current: Round | None) -> Iterable[PaymentLine]:
        latest = current.plays[-1].moved if current and current.plays else ()
        for one in payments.together(latest):
            cents = one.coins * (current.coin_cents if current else 0)
            yield PaymentLine(one.from_to.format(money(cents)), cents, self._chips(cents))

    def _line(self, payout: Payout) -> OutcomeLine:
        if not self.scene.game.banked:
            # Its chips moved payment by payment.
            return OutcomeLine(payout.seat, payout.outcome, payout.card, payout.net_cents, payout.why, "")
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
        at_cut = self.scene.at_cut if game.decks(rules) == shoe.decks else 0
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


def _waiting(current: Round | None, prompts: Sequence[Prompt]) -> tuple[int, ...]:
    """The seats that are to choose and hold cards that nobody else may know."""
    if current is None or not current.secret:
        return ()
    return tuple(ask.seat for ask in prompts if isinstance(ask, AskChoice) and current.hides_cards_of(ask.seat))


def _chosen(current: Round | None, waiting: Sequence[int]) -> frozenset[int]:
    """The seats that have chosen since those who are still to choose were asked."""
    if current is None or not waiting:
        return frozenset()
    since = min(current.asked.get(seat, current.first_seq) for seat in waiting)
    later = (action for play in current.plays if play.seq > since for action in play.actions)
    return frozenset(action.seat for action in later if isinstance(action, Choose))


def _can_be_keyed(current: Round | None, prompts: Sequence[Prompt]) -> bool:
    """Whether a card that is turned can be keyed now: it is due, or means that the one seat to decide took it.

    An empty shoe is shuffled before its next card: until then none can be keyed, not even to say "hit".
    """
    first = prompts[0] if prompts else None
    if isinstance(first, AskCard):
        return True
    if current is None or not isinstance(first, AskChoice) or not current.game.cards_left(current.state):
        return False
    return sum(choice.draws for choice in first.choices) == 1


def _money_of(current: Round) -> Money:
    """Says what a game asks for: cents, or coins of the table's."""
    return money if current.game.banked else lambda coins: money(coins * current.coin_cents)


def _named(choice: Choice) -> str:
    """What a choice names, after its label."""
    cards = (choice.card,) if choice.card is not None else choice.cards or ()
    said = f" {', '.join(map(str, cards))}" if cards else ""
    said += f" {choice.count}" if choice.count is not None else ""
    return said + (f": seat {choice.target}" if choice.target is not None else "")


def _hotkeys(words: Mapping[str, Words], ask: AskChoice) -> dict[str, str]:
    """A letter for each choice of a seat: the first one of its label that is free."""
    taken = {_CUT_KEY}
    keys = {}
    for name in dict.fromkeys(choice.name for choice in ask.choices):
        letters = words_of(words, name).label.upper()
        keys[name] = next((one for one in letters if one.isalpha() and one not in taken), "")
        taken.add(keys[name])
    return keys


def _acting(prompts: Sequence[Prompt]) -> int | None:
    first = prompts[0] if prompts else None
    if isinstance(first, AskCard):
        return first.to
    return first.seat if isinstance(first, AskChoice) else None
