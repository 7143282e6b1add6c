"""What happens in a round: its inputs, seats that were paid, and inputs taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, NamedTuple

import msgspec

from ledger.proof.chips import REVERSAL
from ledger.proof.moves import Move, Posted, undone
from tables.games.catalog import GAMES, versions_of
from tables.games.counted import no_rounds
from tables.games.game import Game
from tables.games.play import play, replay
from tables.games.protocol import DEALER, PLACE_NAMES, Action, AskCard, Card, Choose, Opening, Payout, SetAside
from tables.games.stored_wording import stored_payouts
from tables.log import digest
from tables.log.digest import dealt_by, rules_version
from tables.log.event import AuditFailure, Author, Context, Event, Opened
from tables.log.exception_categories import ORDINARY, TAKE_BACKS, VOIDS
from tables.log.game_kinds import kind_of
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import (
    CardFace,
    Description,
    Joined,
    Label,
    Message,
    Money,
    Parameter,
    code,
    counted,
    from_fields,
    joined,
)
from tables.log.published import rounds as forms
from tables.log.published.form import STEP_OF_PAYMENT
from tables.log.signatory import Signatory, pair_fault
from tables.log.state import Play, Round, Stacks, TableState
from tables.log.writers import ROUND_INPUT, ROUND_TAKE_BACK, THE_DEALER, VOID_ROLES

DEALT: Final = frozenset({"stake", "loss", "win", "return", "pay_pot", "pay_seat", "win_pot", "rake"})
"""The movements that only a round makes."""

SpelledAction = Mapping[str, Any]
"""An action as JSON has it; one of which not everything may be told lacks its rank or its choice."""


class Pinned(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a round's first entry pins for good."""

    game: str
    rules: dict[str, Any]
    opening: Opening
    shoe: int
    """The number of the shoe."""
    stacks: Stacks | None = None
    """In games for a pot: (seat, cents) of the chips in play when it began."""
    pot_cents: int | None = None
    coin_cents: int | None = None
    """What a coin of the game is worth."""
    version: str | None = None
    """The rules that it is dealt under. None in entries of before they were pinned."""
    marks: Stacks | None = None
    """Where commission is marked: (seat, cents) of what the seats owed when it began."""

    def read(self) -> tuple[Game[Any, Any], Any, Opening]:
        """The game, its rules and the opening."""
        game = dealt_by(self.game, self.version) or GAMES[self.game]
        return game, msgspec.convert(self.rules, game.rules_type), self.opening

    def begin(self, number: int, seq: int) -> Round:
        """The round, before anything was played in it."""
        game, rules, opening = self.read()
        begun = kind_of(game).round_type
        if begun is None:
            raise no_rounds()
        state = game.open(rules, opening)
        chips = self.stacks or (), self.pot_cents or 0, self.coin_cents or 0
        return begun(
            number, game, rules, opening, seq, (), state, 0, {}, *chips, version=self.version, marks=self.marks
        )

    def refuse_unknown_rules(self) -> None:
        """Verify that this engine has the rules of the round. Raises AuditFailure."""
        if dealt_by(self.game, self.version) is None:
            versions = ", ".join(rules_version(game) for game in versions_of(self.game))
            raise AuditFailure(f"it was dealt under version {self.version} of {self.game}; known are {versions}")


class SideCard(NamedTuple):
    """A card that was shuffled apart from the shoe, and picked by its nonce."""

    action: int
    """Which of the entry's actions it is, counted from 0."""
    pool: tuple[int, ...]
    """The ranks that it was picked among."""
    moment: str
    """What names the draw."""


class Played(Event, frozen=True, kw_only=True, omit_defaults=True):
    """One input of a round: a bet, cards, a decision. The first one opens the round."""

    subject: ClassVar[str] = "round"
    kinds: ClassVar[tuple[str, ...]] = ("play",)
    record = KindRecord(
        writer=ROUND_INPUT,
        moves=DEALT,
        exception=ORDINARY,
        feed=(forms.RoundOpened, forms.RoundSettled),
        alert=("large_bet", "large_win", "large_win_shift", "play"),
    )

    actions: tuple[Action, ...]
    opening: Pinned | None = None
    decided: tuple[Payout, ...] = ()
    """The payouts that it decided. In entries of releases up to 0.9.0, with their reasons as sentences."""
    apart: tuple[SideCard, ...] = ()
    salt: str | None = None
    """With facedown cards: everyone may see the entry's hash, and there are few cards to try it with."""
    commitment: str | None = None
    """To the order of the discards, where a house shoe was shuffled in mid-round."""
    opened: Opened | None = None
    end: str | None = None
    """What names the state that a round ended with, in entries of releases up to 0.9.0."""
    result: str | None = None
    """With the last card of a round: what names its result. None where its rules are not pinned."""
    read: int | None = None
    """Where a card reader named the card, by which of its messages; None where the dealer keyed it."""
    ruling: bool = False
    """Whether the choice is the ruling in the entry before this one, about the hand of a player who had left."""

    @property
    def commits(self) -> str | None:
        return self.commitment

    @property
    def opens(self) -> Opened | None:
        return self.opened

    @property
    def ends_round(self) -> bool:
        """Whether the entry contains the result of a round, in the present form or in that of releases up to 0.9.0."""
        return self.end is not None or self.result is not None

    @property
    def choosers(self) -> tuple[int, ...]:
        """The seats that chose in it."""
        return tuple(action.seat for action in self.actions if isinstance(action, Choose))

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        if self.commitment is not None and standing.shoe is not None:
            standing = replace(standing, shoe=replace(standing.shoe, commitment=self.commitment))
        current = standing.round if self.opening is None else self.opening.begin(round or 0, seq)
        played = _played(_continued(current, seq, round), seq, self.actions)
        if self.read is not None or self.ruling:
            *earlier, latest = played.plays
            latest = replace(latest, is_read=self.read is not None, is_ruling=self.ruling)
            played = replace(played, plays=(*earlier, latest))
        return replace(standing, round=played)

    def moved(self, context: Context) -> Sequence[Move]:
        current, before = context.after.round, context.before.round
        assert current is not None  # noqa: S101 -- a round's entry was just folded
        if self.read is not None:
            _refuse_unread(self, context.before)
        if self.opening is not None and context.before.burn_is_due:
            raise AuditFailure("it opens a round before the card was burned that is due at a relief")
        decided = current.plays[-1].decided
        if self.decided != decided and self.decided != stored_payouts(current.game, decided):
            sentence = f"it says that {_spelled(self.decided)} was decided, the rules say {_spelled(decided)}"
            raise AuditFailure(sentence)
        basis = replace(current, plays=()) if self.opening is not None or before is None else before
        return basis.moves_to(context.chart, current.state)

    def bear_out(self, context: Context) -> None:
        """Detects an engine change that was made without a new version of the rules."""
        current = context.after.round
        assert current is not None  # noqa: S101 -- a round's entry was just folded
        if self.opening is not None:
            self.opening.refuse_unknown_rules()
        _refuse_other_result(self, current)

    @property
    def seats(self) -> frozenset[int]:
        """The seats that something happened at."""
        return seats_of(_spelled(self.actions))

    def description(self) -> Description:
        actions = clauses_of(_spelled(self.actions))
        if self.ruling:
            return Message("The player had left: {actions}", actions=actions)
        if self.opening is None or not self.opening.coin_cents:
            return actions
        seats = joined(self.opening.opening.seats)
        if not actions.items:
            return Message("The game starts at seats {seats}", seats=seats)
        return Message("The game starts at seats {seats}; {actions}", seats=seats, actions=actions)


class Paid(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The dealer has paid a seat at the end of the round, or taken from it."""

    subject: ClassVar[str] = "round"
    kinds: ClassVar[tuple[str, ...]] = ("paid",)
    record = KindRecord(writer=THE_DEALER, moves=NOTHING, exception=ORDINARY, feed=STEP_OF_PAYMENT, alert=NO_ALERT)

    seat: int

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        current = _continued(standing.round, seq, round)
        return replace(standing, round=replace(current, paid={**current.paid, self.seat: seq}))

    def moved(self, context: Context) -> Sequence[Move]:
        return ()

    @property
    def seats(self) -> frozenset[int]:
        """The seat that was paid."""
        return frozenset({self.seat})

    description = from_fields("Seat {seat} is done")


class TakenBack(Event, frozen=True, kw_only=True, omit_defaults=True):
    """What was entered last in the round was wrong: it does not count, and what it moved goes back."""

    subject: ClassVar[str] = "round"
    kinds: ClassVar[tuple[str, ...]] = ("take_back",)
    record = KindRecord(
        writer=ROUND_TAKE_BACK,
        moves=frozenset({REVERSAL}),
        exception=TAKE_BACKS,
        feed=(forms.RoundReopened,),
        alert=("corrections_streak", "take_back"),
    )

    corrects: int
    """The entry that does not count."""
    actions: tuple[Action, ...]
    seat: int | None = None
    """Where a payment is taken back: the seat that the walk goes back to."""
    second: Signatory | None = None
    """The supervisor who approved a dealer's reopening of a settled round."""
    alone: bool = False
    """Whether a dealer reopened a settled round without a supervisor, by the policy of the site. Entries of releases up
    to 0.9.0 have neither field."""

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        current = _continued(standing.round, seq, round)
        if self.seat is not None:
            paid = {seat: entry for seat, entry in current.paid.items() if seat != self.seat}
            return replace(standing, round=replace(current, paid=paid))
        plays = tuple(earlier for earlier in current.plays if earlier.seq != self.corrects)
        actions = (action for earlier in plays for action in earlier.actions)
        state = replay(current.game, current.rules, current.opening, actions)
        back = replace(current, plays=plays, state=state, paid={}, asked={})
        return replace(standing, round=replace(back, asked=back.asked_at(state, seq, ())))

    def moved(self, context: Context) -> Sequence[Move] | None:
        before = context.before.round
        if before is None:
            return None
        return undone(context.posted.get(self.corrects, ())) if before.has_moved_chips else []

    def bear_out(self, context: Context) -> None:
        """The supervisor who approved it is another person than the dealer, who reopened the round."""
        dealer = context.before.dealer
        if dealer and self.second and (fault := pair_fault((dealer.signatory, self.second))):
            raise AuditFailure(fault)

    @property
    def seats(self) -> frozenset[int]:
        """The seats that something happened at before it was taken back."""
        return seats_of(_spelled(self.actions)) if self.seat is None else frozenset({self.seat})

    def description(self) -> Message:
        if self.seat is not None:
            return Message("Takes back entry {entry}: seat {seat} is not done", entry=self.corrects, seat=self.seat)
        actions = clauses_of(_spelled(self.actions))
        if self.second is None:
            return Message("Takes back entry {entry}: {actions}", entry=self.corrects, actions=actions)
        return Message(
            "Takes back entry {entry}: {actions}, approved by {second}",
            entry=self.corrects,
            actions=actions,
            second=self.second.name,
        )


class Voided(Author, frozen=True, kw_only=True, omit_defaults=True):
    """The round ended without a result: all bets went back, and what had changed hands in it was reversed."""

    subject: ClassVar[str] = "round"
    kinds: ClassVar[tuple[str, ...]] = ("voided",)
    record = KindRecord(
        writer=VOID_ROLES, moves=frozenset({REVERSAL}), exception=VOIDS, feed=(forms.RoundVoided,), alert=("voided",)
    )

    reason: str
    """A word of `mishaps.REASONS`."""
    note: str
    end: str | None = None
    """What names the state in which it was ended, in entries of releases up to 0.9.0."""
    result: str | None = None
    """What names its result. None where its rules are not pinned."""
    second: Signatory | None = None
    """The second signer, if the policies required one."""

    def signers(self, by: str) -> tuple[Signatory, ...]:
        return (self.signatory, self.second) if self.second else (self.signatory,)

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        current = _continued(standing.round, seq, round)
        if not standing.round_open:
            raise ValueError(f"entry {seq} voids round {round}, which is not open")
        return replace(standing, round=replace(current, voided=self.reason, asked={}))

    def moved(self, context: Context) -> Sequence[Move] | None:
        before = context.before.round
        return None if before is None else undone(posted_in(before, context.posted))

    def bear_out(self, context: Context) -> None:
        """The state that it was ended in is the one that its inputs lead to."""
        current = context.after.round
        assert current is not None  # noqa: S101 -- a round's entry was just folded
        _refuse_other_result(self, current)

    @property
    def seats(self) -> frozenset[int]:
        """No seat in particular."""
        return frozenset()

    description = from_fields(
        "The round is void ({reason}), {second.name} signed too: {note}",
        reason=code,
        otherwise=from_fields("The round is void ({reason}): {note}", reason=code),
    )


def _refuse_unread(event: Played, before: TableState) -> None:
    """Verify that a reader may name cards, and that it named only a card and the seat that took it. Raises
    AuditFailure."""
    reader = before.reader
    if reader is None or not reader.is_live or reader.stop is not None:
        raise AuditFailure("a card reader names a card, and none names the cards here then")
    *choices, card = event.actions
    if not isinstance(card, Card) or any(not isinstance(choice, Choose) for choice in choices):
        raise AuditFailure("a card reader names a card, and nothing else")


def posted_in(current: Round, posted: Mapping[int, Sequence[Posted]]) -> list[Posted]:
    """The transfers of the inputs of a round that stand."""
    return [transfer for play in current.plays for transfer in posted.get(play.seq, ())]


def result_of(current: Round) -> str | None:
    """What names a round's result; None while it goes on, and where its rules are not pinned."""
    return digest.result_of(current.game, current.state) if current.over and current.version is not None else None


def _refuse_other_result(event: Played | Voided, current: Round) -> None:
    """Verify that the recorded result of a round is the one that the rules give. Raises AuditFailure."""
    due = result_of(current)
    expected: tuple[str | None, str | None] = (None, due)
    if event.end is not None and due is not None:
        expected = digest.stored_end_of(current.game, current.state, current.opening.seats), None
    if (event.end, event.result) != expected:
        raise AuditFailure(f"its round has the result {event.end or event.result}, the rules give it {due}")


# --- folding ---------------------------------------------------------------------------------------------------


def _continued(current: Round | None, seq: int, number: int | None) -> Round:
    if current is None or current.number != number:
        raise ValueError(f"entry {seq} continues round {number}, which was not opened")
    return current


def _played(current: Round, seq: int, actions: tuple[Action, ...]) -> Round:
    state, lefts = current.state, []
    for action in actions:
        if type(action) is Card:
            lefts.append(_left_for(current.game, state))
        elif type(action) is SetAside:
            lefts.append(current.game.cards_left(state))
        state = play(current.game, state, action)
    decided, moved = current.newly_decided(state), current.payments_since(state)
    latest = Play(seq, actions, decided, moved, tuple(lefts))
    latest_card = seq if latest.has_card else current.latest_card_seq
    asked_seqs = current.asked_at(state, seq, actions)
    return replace(current, plays=(*current.plays, latest), state=state, latest_card_seq=latest_card, asked=asked_seqs)


def _left_for(game: Game[Any, Any], state: Any) -> int:
    """How many cards the shoe had left, with the one that is due now: it may lie there already."""
    ask = next((ask for ask in state.prompts if type(ask) is AskCard), None)
    return (ask.lies_at if ask else 0) or game.cards_left(state)


# --- words -----------------------------------------------------------------------------------------------------


def place_of(seat: int) -> Parameter:
    """A seat, the dealer or another place of the layout."""
    return Label(PLACE_NAMES[seat]) if seat in PLACE_NAMES else Message("seat {seat}", seat=seat)


def seats_of(actions: Sequence[SpelledAction]) -> frozenset[int]:
    """The seats of actions; the dealer's and the middle's places among them."""
    return frozenset(action.get("to", action.get("seat")) for action in actions if "to" in action or "seat" in action)


def clauses_of(actions: Sequence[SpelledAction]) -> Joined:
    """The actions of one input. A choice and the card that it drew are one clause; cards dealt at once are a list."""
    return joined(_clauses(actions, _clause, _dealt), "; ", is_sentence=True)


def clauses_at(place: int, actions: Sequence[SpelledAction]) -> Joined:
    """The actions of one input that happened at one place, for a text that is displayed at that place."""
    if place in PLACE_NAMES:
        return clauses_of(actions)
    return joined(_clauses(actions, _clause_at_seat, _dealt_to_seat), "; ")


def _clauses(
    actions: Sequence[SpelledAction],
    clause_of: Callable[[SpelledAction, Sequence[SpelledAction]], Parameter | None],
    dealt: Callable[[Sequence[SpelledAction]], Parameter],
) -> Iterator[Parameter]:
    cards = [action for action in actions if action["do"] == "card"]
    yield from (clause for action in actions if (clause := clause_of(action, cards)) is not None)
    if cards and not any(action["do"] == "choose" for action in actions):
        yield dealt(cards)


def _clause(action: SpelledAction, cards: Sequence[SpelledAction]) -> Message | None:
    """An action by itself; None for a card, which is in the list of cards."""
    match action["do"]:
        case "bet":
            return _bet(action["seat"], Money(action["amount_cents"]), is_approved=bool(action.get("approved")))
        case "close_bets":
            return Message("No more bets")
        case "choose" if "choice" not in action:
            return Message("Seat {seat} has chosen", seat=action["seat"])
        case "choose" if action["seat"] == DEALER:
            return Message("Dealer peeked: {choice}", choice=_choice(action))
        case "choose":
            return Message("Seat {seat}: {choice}", seat=action["seat"], choice=_drawn(action, cards))
        case "shuffle":
            return Message("The discards are shuffled")
        case "set_aside" if rank := action.get("rank"):
            return Message("{card} is set aside", card=CardFace(rank))
        case "set_aside":
            return Message("A card that nobody saw is set aside")
    return None


def _clause_at_seat(action: SpelledAction, cards: Sequence[SpelledAction]) -> Parameter | None:
    """An action by itself, displayed at its seat."""
    match action["do"]:
        case "bet" if not action["amount_cents"]:
            return Message("takes its bet off")
        case "bet" if action.get("approved"):
            amount = Money(action["amount_cents"])
            return Message("bets {amount}, over the limit: it stands, as the pit signed", amount=amount)
        case "bet":
            return Message("bets {amount}", amount=Money(action["amount_cents"]))
        case "choose" if "choice" not in action:
            return Message("has chosen")
        case "choose":
            return _drawn(action, cards)
    return _clause(action, cards)


def _bet(seat: int, amount: Money, *, is_approved: bool) -> Message:
    if not amount.cents:
        return Message("Seat {seat} takes its bet off", seat=seat)
    if not is_approved:
        return Message("Seat {seat} bets {amount}", seat=seat, amount=amount)
    return Message("Seat {seat} bets {amount}, over the limit: it stands, as the pit signed", seat=seat, amount=amount)


_LABELS: Final = {name: words.label for game in GAMES.values() for name, words in game.words.items()}
"""Choices as the dealer's buttons call them."""


def _drawn(choice: SpelledAction, cards: Sequence[SpelledAction]) -> Parameter:
    """A choice and the card that it drew."""
    if len(cards) != 1:
        return _choice(choice)
    if "rank" in cards[0]:
        return Message("{choice}, draws {card}", choice=_choice(choice), card=CardFace(cards[0]["rank"]))
    return Message("{choice}, draws a facedown card", choice=_choice(choice))


def _choice(choice: SpelledAction) -> Parameter:
    """A choice with what it names: "give 4 to seat 2"."""
    name, parts = choice["choice"], list(_named(choice))
    if not parts and name in _LABELS:
        return Label(_LABELS[name], is_lower=True)
    return joined([code(name), *parts], " ")


def _named(choice: SpelledAction) -> Iterator[Parameter]:
    card, cards, count, target = (choice.get(key) for key in ("card", "cards", "count", "target"))
    if card is not None:
        yield card
    if cards is not None:
        yield joined(cards) if cards else Message("nothing")
    if count is not None:
        yield count
    if target is not None:
        yield Message("to seat {seat}", seat=target)


def _dealt(cards: Sequence[SpelledAction]) -> Joined:
    """Cards that were dealt, each with its place; of facedown cards, the number."""
    shown = [card for card in cards if "rank" in card]
    parts = [Message("{place}: {card}", place=place_of(card["to"]), card=CardFace(card["rank"])) for card in shown]
    return joined([*parts, *_facedown(len(cards) - len(shown))])


def _dealt_to_seat(cards: Sequence[SpelledAction]) -> Joined:
    shown = [CardFace(card["rank"]) for card in cards if "rank" in card]
    return joined([*shown, *_facedown(len(cards) - len(shown))])


def _facedown(count: int) -> list[Message]:
    return [counted("{count} card facedown", "{count} cards facedown", count=count)] if count else []


def _spelled(structs_: tuple[msgspec.Struct, ...]) -> list[dict[str, Any]]:
    spelled: list[dict[str, Any]] = list(msgspec.to_builtins(structs_))
    return spelled
