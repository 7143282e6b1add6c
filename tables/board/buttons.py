"""Entries that a table can take next: what it waits for, and the buttons for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from django.utils import timezone

from ledger.proof.chips import RACK, money
from tables.floor import permissions, pots, rounds, shoes
from tables.floor.command_context import CommandContext
from tables.floor.inputs import (
    Burn,
    CashOut,
    CheckDecks,
    Choose,
    CloseBets,
    CollectCommission,
    CutCardOut,
    Deal,
    GiveBackReader,
    Input,
    LoadShoe,
    Paid,
    PaidAll,
    PlaceCutCard,
    RetireShoe,
    SettleReader,
    Shuffle,
    ShuffleShoe,
    StartGame,
    TakeBack,
    TakeOverReader,
    TimeCharge,
    spell,
)
from tables.games.cards import PAIRS, Composition
from tables.games.catalog import GAMES
from tables.games.game import Words
from tables.games.protocol import DEALER, AskBet, AskCard, AskChoice, AskCloseBets, Choice, Payout, Prompt
from tables.games.scripted import words_of
from tables.log.entries.rounds import TakenBack
from tables.log.event import Event
from tables.log.game_kinds import kind_of
from tables.log.settlement import collectable_cents
from tables.log.state import Round, TableState
from tables.log.terms import limits_of, rules_of
from tables.models import ShoeSource, Staff, Table
from tables.refusals import Refused
from tables.roles import Role


@dataclass(frozen=True, slots=True)
class Button:
    """One input that can be made now. ``hotkey`` is the keyboard's name for it; one button is the next step."""

    label: str
    input: dict[str, Any]
    hotkey: str
    primary: bool = False
    way: str = ""
    """Name of the choice without its parameters: "Gift", for each card and each seat."""


Latest = TypeVar("Latest")

_CUT_KEY: Final = "C"
_CARD_LETTERS: Final = set("AJQK")
"""Standard cards are keyed by these too."""

_SHOE_INPUTS: Final[dict[str, tuple[str, Input]]] = {
    "load": ("Shoe is loaded", LoadShoe()),
    "shuffle": ("Shuffled", ShuffleShoe()),
    "cut": ("Cut card is placed", PlaceCutCard()),
    "burn": ("Burned", Burn()),
    "relief": ("Card is burned", Burn()),
    "retire": ("Retire the shoe", RetireShoe()),
}


@dataclass(frozen=True, slots=True)
class Entries:
    """Determines what a table waits for, and the entries that it can take."""

    scene: CommandContext

    @property
    def is_house_shoe(self) -> bool:
        shoe = self.scene.standing.shoe
        return (shoe.source if shoe else self.scene.table.source) == ShoeSource.HOUSE

    def current(self) -> Round | None:
        """The round on the layout: the one in progress, or the next one, its bets open; None without a shoe."""
        standing = self.scene.standing
        if standing.round_open or standing.lock is not None or shoes.due(self.scene) is not None:
            return standing.round if standing.round_open else None
        return rounds.open_for_bets(self.scene)

    @property
    def _counting(self) -> bool:
        return any(slip.series.counts(RACK) for slip in self.scene.standing.slips)

    def due(self, current: Round | None, prompts: Sequence[Prompt]) -> str:
        standing = self.scene.standing
        if standing.restored is not None and standing.restored.waits:
            return "restored"
        if not standing.is_open:
            return "closed"
        if self._counting:
            return "count"
        if standing.lock is not None:
            return "locked"
        if standing.dealer is None:
            return "dealer"
        if standing.reader is not None and standing.reader.stop is not None:
            return "reader"
        if current is None:
            return shoes.due(self.scene) or "seats"
        if current.to_pay:
            return "pay"
        first = prompts[0]
        if isinstance(first, AskBet | AskCloseBets):
            return "bets"
        if isinstance(first, AskCard):
            return "deal" if self.is_house_shoe else "card"
        if isinstance(first, AskChoice) and first.seat == DEALER and self.is_house_shoe:
            return "deal"  # the electronic shoe knows the facedown card, and gives the result of a look
        return "choose" if isinstance(first, AskChoice) else "reshuffle"

    def buttons(
        self, due: str, prompts: Sequence[Prompt], to_pay: Sequence[Payout], card_keys: bool
    ) -> Iterable[Button]:
        if due in ("locked", "restored"):
            return
        if due == "reader" and permissions.settles_readers() == Role.PIT_BOSS:
            return
        if due == "reader":
            yield Button("The reader is right: it goes on", spell(SettleReader("reader")), "R")
            yield Button("You are right: you key the cards", spell(SettleReader("dealer")), "K")
            return
        if due == "burn" and kind_of(self.scene.game).turns_burn(self.scene.rules):
            pass  # the card that is turned is keyed
        elif due in _SHOE_INPUTS:
            label, entered = _SHOE_INPUTS[due]
            yield Button(label, spell(entered), "Enter", primary=True)
        elif due == "check":
            counts = deck_columns(self.scene)
            number = "ten" if len(counts) == len(PAIRS.deck) else str(len(counts))
            yield Button(f"All {number} columns are whole", spell(CheckDecks(counts)), "Enter", primary=True)
        elif due == "seats":
            yield from self._between_games()
        elif due == "commission":
            seat, owed = min(self.scene.standing.marks.items())
            label = f"Seat {seat} pays commission of {money(collectable_cents(owed, self.scene.table.unit_cents))}"
            yield Button(label, spell(CollectCommission(seat)), "Enter", primary=True)
        elif due == "pay":
            if self.scene.standing.reader is not None and len(to_pay) > 1:
                yield Button("All seats are done", spell(PaidAll()), "P")
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
        table, standing = self.scene.table, self.scene.standing
        periods = pots.periods_due(table, standing.charged_at, timezone.now()) if self.scene.for_coins else 0
        if periods:
            halves = f"{periods} half hour{'s' if periods > 1 else ''}"
            label = f"Time charge: {money(periods * table.time_charge_cents)} each for {halves}"
            yield Button(label, spell(TimeCharge()), "T")
        for seat, cents in sorted(standing.stacks.items()) if self.scene.for_coins else ():
            yield Button(f"Seat {seat} cashes out {money(cents)}", spell(CashOut(seat)), "")

    def _choices(self, ask: AskChoice, keyed: bool) -> Iterable[Button]:
        current = self.scene.standing.round
        assert current is not None  # noqa: S101 -- it asks
        hotkeys = _hotkeys(current.game.words, ask, cards_have_letters=bool(current.game.spots))
        for choice in ask.choices:
            if choice.draws and keyed:
                continue  # naming its card means that it was chosen: no more inputs than there are events
            way = words_of(current.game.words, choice.name).label
            cost = f" for {current.priced(choice.cost_cents)}" if choice.cost_cents else ""
            named = Choose(
                ask.seat, choice.name, choice.card, cards=choice.cards, target=choice.target, count=choice.count
            )
            # Never the next step: one Enter too many would decide for a player.
            yield Button(f"{way}{_named(choice)}{cost}", spell(named), hotkeys[choice.name], way=way)

    def _always(self, due: str) -> Iterable[Button]:
        standing = self.scene.standing
        ready = standing.shoe is not None and standing.shoe.stage == "ready"
        placed = ready and standing.shoe is not None and self.scene.at_cut
        in_use = placed and standing.round_open and due != "count"
        shoe = standing.shoe
        if in_use and shoe is not None and not shoe.cut_out and shoe.source == ShoeSource.KEYED:
            yield Button("Cut card is out", spell(CutCardOut()), _CUT_KEY)
        if standing.shoe is not None and shoes.may_take_next_batch(self.scene, standing.shoe):
            yield Button("Next batch", spell(ShuffleShoe()), "N")
        for seat, cents in sorted(standing.marks.items()) if not standing.round_open and due != "count" else ():
            due_cents = collectable_cents(cents, self.scene.table.unit_cents)
            yield Button(f"Commission {money(due_cents)}", spell(CollectCommission(seat)), "")
        if standing.shoe is not None and not standing.round_open and due != "retire":
            yield Button("Retire the shoe", spell(RetireShoe()), "")
        yield from self._taking_back()
        reader = standing.reader
        if reader is not None and due != "count":
            taken = (GiveBackReader(), "Give the cards back") if not reader.is_live else (TakeOverReader(), "Take over")
            yield Button(taken[1], spell(taken[0]), "")

    def _taking_back(self) -> Iterable[Button]:
        """The buttons that take back the last input. A settled round is reopened on a page of its own; its button is
        here only where no approval is needed."""
        current = self.scene.standing.round
        if current is None or self._nothing_goes_back:
            return
        aside = _unless_it_stands(rounds.latest_aside, self.scene)
        if aside is not None:
            yield Button(_not_so(aside.event), spell(TakeBack()), "Backspace")
        if current.over:
            if self.can_reopen() and (rounds.reopens_alone() or not rounds.takes_approval(self.scene)):
                yield Button(f"Reopen round {current.number}", spell(TakeBack(reopens=True)), "U")
        elif aside is None and _unless_it_stands(rounds.last_input, self.scene) is not None:
            yield Button("Take back", spell(TakeBack()), "Backspace")

    @property
    def _nothing_goes_back(self) -> bool:
        standing = self.scene.standing
        waits = standing.restored is not None and standing.restored.waits
        return self._counting or standing.lock is not None or waits

    def can_take_back(self) -> bool:
        return any(True for _ in self._taking_back())

    def can_reopen(self) -> bool:
        """Whether the last round is settled and can be reopened, with or without an approval."""
        current = self.scene.standing.round
        if current is None or not current.over or self._nothing_goes_back:
            return False
        return _unless_it_stands(rounds.last_input, self.scene) is not None


def _not_so(event: Event) -> str:
    """Label of the take-back of a payment or of the cut card."""
    return f"Seat {event.seat} is not done" if isinstance(event, TakenBack) else "Cut card is not out"


def _unless_it_stands(look: Callable[[CommandContext], Latest | None], scene: CommandContext) -> Latest | None:
    """The latest entry that can be taken back; None if it cannot."""
    try:
        return look(scene)
    except Refused:
        return None


def entries_of(table: Table, standing: TableState, by: Staff) -> Entries:
    """The inputs that are possible at a table in this state."""
    return Entries(CommandContext(table, GAMES[table.game], rules_of(table), limits_of(table), standing, by=by))


def deck_columns(scene: CommandContext) -> Composition:
    """Cards of a whole shoe of the table in each column of a deck check."""
    return kind_of(scene.game).pack(scene.rules).shoes[scene.game.decks(scene.rules)]


def waiting_for(current: Round | None, prompts: Sequence[Prompt]) -> tuple[int, ...]:
    """The seats that have to choose and hold cards hidden from all others."""
    if current is None or not current.secret:
        return ()
    return tuple(ask.seat for ask in prompts if isinstance(ask, AskChoice) and current.hides_cards_of(ask.seat))


def can_be_keyed(current: Round | None, prompts: Sequence[Prompt]) -> bool:
    """Whether a card that is turned can be keyed now: it is due, or means that the one seat to decide took it.

    An empty shoe is shuffled before its next card: until then none can be keyed, not even to say "hit".
    """
    first = prompts[0] if prompts else None
    if isinstance(first, AskCard) or (isinstance(first, AskChoice) and first.seat == DEALER):
        return True
    if current is None or not isinstance(first, AskChoice) or not current.game.cards_left(current.state):
        return False
    return sum(choice.draws for choice in first.choices) == 1


def _named(choice: Choice) -> str:
    """The parameters of a choice, for its label."""
    cards = (choice.card,) if choice.card is not None else choice.cards or ()
    words = f" {', '.join(map(str, cards))}" if cards else ""
    words += f" {choice.count}" if choice.count is not None else ""
    return words + (f": seat {choice.target}" if choice.target is not None else "")


def _hotkeys(words: Mapping[str, Words], ask: AskChoice, *, cards_have_letters: bool) -> dict[str, str]:
    """A letter for each choice of a seat: the first one of its label that is free."""
    taken = {_CUT_KEY} | (_CARD_LETTERS if cards_have_letters else set())
    keys = {}
    for name in dict.fromkeys(choice.name for choice in ask.choices):
        letters = words_of(words, name).label.upper()
        keys[name] = next((letter for letter in letters if letter.isalpha() and letter not in taken), "")
        taken.add(keys[name])
    return keys
