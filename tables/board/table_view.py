"""The read side: a table as one viewer may see it, with the one next step and the inputs that can be made now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ledger.proof.chips import Denomination
from tables.board import secrecy
from tables.board.buttons import Button, Entries, can_be_keyed, deck_columns, waiting_for
from tables.board.descriptions import Chips, GameDescriptions, OutcomeLine, PaymentLine, telling
from tables.board.last_bets import last_bets, placed
from tables.floor.command_context import CommandContext
from tables.floor.game_kinds import dealing_at
from tables.floor.inputs import Choose
from tables.games.cards import PAIRS, pack_of
from tables.games.catalog import GAMES
from tables.games.game import Kind, Part
from tables.games.protocol import (
    DEALER,
    MAIN,
    MIDDLE,
    PLACE_NAMES,
    AskBet,
    AskCard,
    AskChoice,
    HandView,
    Payout,
    Phrase,
    Prompt,
    SeatView,
    View,
)
from tables.log.game_kinds import kind_of
from tables.log.state import SHUFFLERS, Round, TableState
from tables.log.terms import limits_of, rules_of
from tables.models import ServiceAccount, Staff, Table
from tables.state import table_state


@dataclass(frozen=True, slots=True)
class SpotBox:
    """One wager of a seat: the chips there, and the permitted bets."""

    wager: str
    title: str
    cents: int
    chips: tuple[Chips, ...]
    outcome: str = ""
    ask: AskBet | None = None
    last_cents: int = 0
    """Its bet in the previous round."""
    is_on_hands: bool = False
    """Whether each hand has its own wager and shows the bet."""


@dataclass(frozen=True, slots=True)
class HandBox:
    """One hand of standard cards on the layout."""

    number: int
    name: str
    cards: tuple[str, ...]
    """As written: "T", "Th"."""
    facedown: int
    says: str
    state: str
    acting: bool
    place: int
    """Its owner: a seat, or a place in front of the dealer."""
    cents: int = 0
    """The bet on this hand only."""
    is_doubled: bool = False
    outcome: str = ""
    """Outcome of that bet."""


@dataclass(frozen=True, slots=True)
class SeatBox:
    """One seat of the layout: what this viewer may see of it, and the entries for it."""

    seat: int
    state: str
    bet_cents: int
    bet: tuple[Chips, ...]
    stack: tuple[int, ...]
    acting: bool
    outcome: OutcomeLine | None
    ask: AskBet | None = None
    """The range of bets that this seat may place now."""
    last_bet_cents: int = 0
    """This seat's bet in the previous round."""
    hand_size: int = 0
    """Facedown cards: how many, never which."""
    kept: tuple[int, ...] = ()
    score: int | None = None
    columns: tuple[tuple[int, tuple[int, ...]], ...] = ()
    chips_cents: int = 0
    """Chips at the seat of a table with a pot."""
    chips: tuple[Chips, ...] = ()
    is_all_in: bool = False
    has_chosen: bool = False
    """Whether the seat has made its secret choice while others have yet to choose."""
    may_play: bool = False
    """Whether the seat can be dealt in to the next player-pool game."""
    plays: bool = False
    """Whether the seat is dealt in by default, also if it sat out the last game."""
    spots: tuple[SpotBox, ...] = ()
    """Its wagers, in games with separate spots."""
    hands: tuple[HandBox, ...] = ()
    """Its hands, in games in which a seat may have several."""
    marked_cents: int = 0
    """The commission that is marked there."""


@dataclass(frozen=True, slots=True)
class ShoeBox:
    """The shoe, as everyone may see it: how deep it is dealt, never which cards are left."""

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
    """closed, dealer, load, check, shuffle, cut, burn, retire, seats, bets, card, deal, choose, reshuffle, pay,
    commission, counted"""
    phrase: Phrase
    is_open: bool
    dealer_name: str | None
    dealer_username: str | None
    round_number: int
    round_open: bool
    seats: tuple[SeatBox, ...]
    kind: Kind
    """Kind of the game, by which screens select what they draw."""
    banked: bool
    """Whether each seat plays against the casino."""
    coins: bool
    """Whether the seats play for a pot with chips on the table."""
    parts: Mapping[Part, str]
    """The parts of the game's layout, with their names."""
    dealer_stack: tuple[int, ...]
    dealer_acting: bool
    middle: tuple[int, ...]
    middle_acting: bool
    facedown: int
    """Number of facedown cards in the middle."""
    pot_cents: int
    pot: tuple[Chips, ...]
    button: int | None
    waiting: tuple[int, ...]
    """The seats that now choose on their own player pages, since their cards are hidden from all others."""
    card_keys: bool
    """Whether a card can be keyed now (0 stands for 10)."""
    buttons: tuple[Button, ...]
    prompts: tuple[Prompt, ...]
    """The game's prompts; empty if the table waits for something else."""
    outcomes: tuple[OutcomeLine, ...]
    """Results decided by the latest input."""
    payments: tuple[PaymentLine, ...]
    """The chips that the latest input moved between the seats and the pot."""
    pay: OutcomeLine | None
    """The seat to pay now, when a round's end is walked seat by seat."""
    pay_after: int
    """How many seats follow it."""
    shoe: ShoeBox | None
    deck_columns: tuple[int, ...]
    """The counts that a whole shoe has, a card each, while the decks are checked."""
    card_names: tuple[int | str, ...]
    """Spelling of each card of the table's pack."""
    side_by_side: bool
    """Whether a seat's wagers have separate spots."""
    hands: tuple[HandBox, ...]
    """The hands before the dealer, in games on standard cards."""
    turns_burn: bool
    """Whether the first card of a shoe is turned, to see how many are burned."""
    denominations: tuple[Denomination, ...]
    min_cents: int
    max_cents: int
    cap_cents: int | None
    can_take_back: bool


_GAME_ASKS: Final = ("bets", "card", "deal", "choose", "reshuffle")


def board(table: Table, viewer: Staff | ServiceAccount, latest: TableState | None = None) -> Board:
    """The table for a viewer, by its `latest` state (default: read it).

    Only the dealer signed in there gets buttons.
    """
    latest = latest or table_state.of(table)
    scene = CommandContext(table, GAMES[table.game], rules_of(table), limits_of(table), standing=latest, by=viewer)
    denominations = tuple(Denomination(chip.value_cents, chip.colour) for chip in table.denominations.all())
    deals_here = latest.is_dealt_by(viewer.username)
    return _Drawing(scene, denominations, deals_here, Entries(scene), telling(scene, denominations)).board()


@dataclass(slots=True)
class _Drawing:
    scene: CommandContext
    denominations: tuple[Denomination, ...]
    deals_here: bool
    entries: Entries
    telling: GameDescriptions

    def board(self) -> Board:
        scene, latest = self.scene, self.scene.standing
        current = self.entries.current()
        prompts = secrecy.for_staff(current)
        due = self.entries.due(current, prompts)
        shown = current or self.telling.lying
        view = shown.view(DEALER) if shown else None
        waiting = waiting_for(current, prompts)
        here = tuple(ask for ask in prompts if not (isinstance(ask, AskChoice) and ask.seat in waiting))
        acting = _acting(here) if due in ("card", "deal", "choose") else None
        to_pay = current.to_pay if current and due == "pay" else ()
        limits = (current.bet_limits if current else None) or scene.limits
        card_keys = due in ("card", "choose") and not self.entries.is_house_shoe and can_be_keyed(current, here)
        game = shown.game if shown else scene.game
        is_in_play = self.deals_here and latest.is_open
        buttons = tuple(self.entries.buttons(due, here, to_pay, card_keys)) if is_in_play else ()
        return Board(
            table=scene.table,
            seq=latest.seq,
            due=due,
            phrase=self.telling.phrase(due, current, here, to_pay, waiting),
            is_open=latest.is_open,
            dealer_name=latest.dealer.name if latest.dealer else None,
            dealer_username=latest.dealer.username if latest.dealer else None,
            round_number=current.number if current else latest.next_number,
            round_open=latest.round_open,
            seats=tuple(self._seats(shown, view, here, acting, waiting)),
            kind=game.kind,
            banked=game.kind == "banked",
            coins=self.scene.for_coins,
            parts=game.parts,
            dealer_stack=view.dealer if view else (),
            dealer_acting=acting == DEALER,
            middle=view.middle if view else (),
            middle_acting=acting == MIDDLE,
            facedown=view.facedown if view else 0,
            pot_cents=latest.pot_cents,
            pot=self.telling.in_chips(latest.pot_cents),
            button=view.button if view else None,
            waiting=waiting,
            card_keys=card_keys,
            buttons=buttons,
            prompts=prompts if due in _GAME_ASKS else (),
            outcomes=tuple(self.telling.line(payout) for payout in self._latest(latest.round)),
            payments=tuple(self.telling.payments(shown)),
            pay=self.telling.line(to_pay[0]) if to_pay else None,
            pay_after=max(len(to_pay) - 1, 0),
            shoe=self._shoe(current),
            deck_columns=deck_columns(scene) if due == "check" else (),
            card_names=kind_of(scene.game).pack(scene.rules).spellings,
            side_by_side=bool(game.spots),
            hands=tuple(_hands(view.hands or (), shown, here, DEALER)) if view and shown else (),
            turns_burn=kind_of(scene.game).turns_burn(scene.rules),
            denominations=self.denominations,
            min_cents=limits.min_cents,
            max_cents=limits.max_cents,
            cap_cents=limits.cap_cents,
            can_take_back=self.deals_here and self.entries.can_take_back(),
        )

    def _seats(
        self,
        shown: Round | None,
        view: View | None,
        prompts: Sequence[Prompt],
        acting: int | None,
        waiting: Sequence[int],
    ) -> Iterable[SeatBox]:
        asks = {(prompt.seat, prompt.wager): prompt for prompt in prompts if isinstance(prompt, AskBet)}
        before, coins = last_bets(self.scene.table.book_id, self.scene.standing), self.scene.standing.stacks
        marks = self.scene.standing.marks
        lying = {box.seat: box for box in view.seats} if view else {}
        playing, chosen = dealing_at(self.scene).playing(self.scene), _chosen(shown, waiting)
        for seat in range(1, self.scene.table.seats + 1):
            box, cents = lying.get(seat) or SeatView(seat), coins.get(seat, 0)
            yield SeatBox(
                seat=seat,
                state=box.state,
                bet_cents=box.bet_cents,
                bet=self.telling.in_chips(box.bet_cents),
                stack=box.stack,
                acting=seat == acting or seat in waiting,
                outcome=self.telling.line(box.payout) if box.payout else None,
                ask=asks.get((seat, MAIN)),
                last_bet_cents=before.get((seat, MAIN), 0),
                spots=tuple(self._spots(box, asks, before)),
                hands=tuple(self._seats_hands(box, shown, prompts)),
                hand_size=box.hand_size,
                kept=tuple(sorted(box.kept)),
                score=box.score,
                columns=box.columns,
                chips_cents=cents,
                chips=self.telling.in_chips(cents),
                is_all_in=box.coins == 0 and box.state == "in" and self.scene.standing.round_open,
                has_chosen=seat in chosen,
                may_play=seat in playing,
                plays=playing.get(seat, False),
                marked_cents=marks.get(seat, 0),
            )

    def _spots(
        self, box: SeatView, asks: Mapping[tuple[int, str], AskBet], before: Mapping[tuple[int, str], int]
    ) -> Iterable[SpotBox]:
        """The wagers that a seat may place now; once bets are closed, those that it has."""
        lying = {wager.bet: wager for wager in box.wagers or () if wager.hand in (None, 1)}
        titles = {wager.name: wager.title for wager in kind_of(self.scene.game).wagers(self.scene.rules)}
        if not self.scene.game.spots:
            return
        open_ = [wager for seat, wager in asks if seat == box.seat]
        for name in open_ or [wager.bet for wager in box.wagers or () if wager.hand in (None, 1)]:
            wager = lying.get(name)
            cents = sum(other.cents for other in box.wagers or () if other.bet == name)
            yield SpotBox(
                wager=name,
                title=titles.get(name, name.replace("_", " ").capitalize()),
                cents=cents,
                chips=self.telling.in_chips(cents),
                outcome=wager.outcome if wager else "",
                ask=asks.get((box.seat, name)),
                last_cents=before.get((box.seat, name), 0),
                is_on_hands=wager is not None and wager.hand is not None,
            )

    @staticmethod
    def _seats_hands(box: SeatView, shown: Round | None, prompts: Sequence[Prompt]) -> Iterable[HandBox]:
        """The hands of a seat, each with its bet."""
        before = placed(shown) if shown and box.hands else {}
        for hand in _hands(box.hands or (), shown, prompts, box.seat):
            wager = next((wager for wager in box.wagers or () if wager.hand == hand.number), None)
            if wager is None:
                yield hand
                continue
            doubled = wager.cents > before.get((box.seat, wager.bet), wager.cents)
            yield replace(hand, cents=wager.cents, is_doubled=doubled, outcome=wager.outcome)

    @staticmethod
    def _latest(current: Round | None) -> tuple[Payout, ...]:
        return tuple(map(current.in_cents, current.plays[-1].decided)) if current and current.plays else ()

    def _shoe(self, current: Round | None) -> ShoeBox | None:
        shoe = self.scene.standing.shoe
        if shoe is None:
            return None
        size = left = shoe.decks * shoe.pack.size
        if current is not None:
            left = current.game.cards_left(current.state)
        elif shoe.stage == "ready":
            left -= shoe.burn + sum(self.scene.standing.gone)
        game, rules = self.scene.game, self.scene.rules
        has_cut = game.decks(rules) == shoe.decks and shoe.source not in SHUFFLERS
        at_cut = self.scene.at_cut if has_cut else 0
        return ShoeBox(
            number=shoe.number,
            source=shoe.source,
            stage=shoe.stage,
            decks=shoe.decks,
            size=size,
            cards_left=left,
            cut_at=at_cut,
            cut_out=shoe.cut_out,
            commitment=shoe.commitment,
        )


def _chosen(current: Round | None, waiting: Sequence[int]) -> frozenset[int]:
    """The seats that have chosen since the seats that still have to choose were prompted."""
    if current is None or not waiting:
        return frozenset()
    since = min(current.asked.get(seat, current.first_seq) for seat in waiting)
    later = (action for play in current.plays if play.seq > since for action in play.actions)
    return frozenset(action.seat for action in later if isinstance(action, Choose))


_PLACES: Final = {name: place for place, name in PLACE_NAMES.items()}
"""Places of the hands in front of the dealer, by name."""


def _hands(hands: Sequence[HandView], shown: Round | None, prompts: Sequence[Prompt], place: int) -> Iterable[HandBox]:
    first, pack = prompts[0] if prompts else None, pack_of(shown.opening.dealt) if shown else PAIRS
    for hand in hands:
        own = _PLACES.get(hand.name, place)
        acting = isinstance(first, AskCard) and first.to == own and first.hand in (0, hand.number)
        acting = acting or (isinstance(first, AskChoice) and first.seat == own and first.hand in (0, hand.number))
        cards = tuple(str(pack.spell(card)) for card in hand.cards)
        yield HandBox(
            number=hand.number,
            name=hand.name,
            cards=cards,
            facedown=hand.facedown,
            says=hand.says,
            state=hand.state,
            acting=acting,
            place=own,
        )


def _acting(prompts: Sequence[Prompt]) -> int | None:
    first = prompts[0] if prompts else None
    if isinstance(first, AskCard):
        return first.to
    return first.seat if isinstance(first, AskChoice) else None
