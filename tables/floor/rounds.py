"""The inputs of a round: bets, cards, decisions, payments, and inputs taken back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from django.db.models import Min
from msgspec import structs

from ledger import cage
from ledger.models import Book, LogEntry
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from ledger.proof.moves import Move, undone
from tables.floor import permissions, pots, shoes
from tables.floor.command_context import CommandContext, Decision, PendingEntry, program_of, seat_of
from tables.floor.game_kinds import dealing_at, no_rounds
from tables.floor.handlers import enters, reproduces, staff_of
from tables.floor.inputs import (
    Bet,
    CloseBets,
    Deal,
    GameInput,
    KeyCard,
    KeyStandardCard,
    Paid,
    PaidAll,
    PlaceBets,
    ReopenRound,
    StartGame,
    TakeBack,
)
from tables.games.cards import PAIRS
from tables.games.play import admitted, out_of_turn
from tables.games.protocol import DEALER, Action, AskCard, AskChoice, Card, Choose, Illegal, Shuffle
from tables.log import back_entry, irregularities, pins
from tables.log.catalog import read_as
from tables.log.entries import rounds as log
from tables.log.entries.irregularities import MishapEntered
from tables.log.entries.readers import ReaderTakenOver
from tables.log.entries.rounds import Pinned, Played, SideCard, TakenBack
from tables.log.entries.shoes import CardRefused, CutCardBack
from tables.log.event import AuditFailure
from tables.log.game_kinds import kind_of
from tables.log.signatory import Signatory
from tables.log.slip_workflow import Wrong
from tables.log.state import Play, Round, Shoe
from tables.models import ShoeSource, Staff
from tables.refusals import Refused, sentence
from tables.setup import policies

REOPENED_BY: Final = "settled_round_reopened_by"
"""Policy: whether a dealer may reopen a settled round alone."""

REPORTED = ("impossible_card",)
"""Refusals that are recorded and alerted: either a wrong card is in the shoe or a wrong key was pressed."""


@dataclass(slots=True)
class RoundActions:
    """The actions of the game that one input is turned into."""

    actions: list[Action] = field(default_factory=list)
    apart: list[SideCard] = field(default_factory=list)
    """Cards drawn from a side pool, for the verification of the shoe: the action, the pool and the draw's name."""


@enters(Bet, PlaceBets, CloseBets, Choose, Shuffle, Deal, StartGame, permit=permissions.the_dealer)
def enter(context: CommandContext, entered: GameInput) -> Decision:
    """A bet, card, decision or shuffle during a round. The first bet opens the next round. Raises Refused."""
    # No further input of the round counts while the card before it is disputed.
    permissions.not_stopped(context)
    if isinstance(entered, Bet | PlaceBets):
        _refuse_approved(entered)
    elif isinstance(entered, Choose):
        _refuse_given_up(context.standing.round, entered)
    shoe_ready(context)
    current, opening = round_at(context, entered)
    try:
        return play(context, current, opening, entered)
    except Illegal as illegal:
        return _refuse(context, current, entered, illegal)


def play(context: CommandContext, current: Round, opening: Pinned | None, entered: GameInput) -> Decision:
    """The entries that an input adds to a round. Raises Illegal or Refused."""
    turn = RoundActions()
    state = _play(context, current, entered, turn)
    shuffled = any(type(action) is Shuffle for action in turn.actions)
    commitment, opened = shoes.shuffled_in_play(context, current, state) if shuffled else (None, None)
    event = Played(
        actions=tuple(turn.actions),
        opening=opening,
        decided=current.newly_decided(state),
        apart=tuple(turn.apart),
        # Everyone may see the entry's hash, and there are few cards to try it with.
        salt=secrets.token_hex(16) if current.secret else None,
        commitment=commitment,
        opened=opened,
        result=log.result_of(replace(current, state=state)),
    )
    # The chips that move follow from the states before and after; no amount of a payment comes from a screen.
    steps = [PendingEntry(event, current.number, current.moves_to(context.chart, state))]
    if shoes.cut_comes_out(context, current, state):
        steps.append(shoes.cut_step(context, current.game.cards_left(state)))
    return Decision(steps)


def _refuse_approved(entered: Bet | PlaceBets) -> None:
    """Raises Refused for a bet marked as approved: bets over the limit are entered by a pit boss (`accept_bet`)."""
    bets = entered.bets if isinstance(entered, PlaceBets) else (entered,)
    if any(isinstance(bet, Bet) and bet.approved for bet in bets):
        raise Refused("not_permitted", "A bet over the limit takes a pit boss's signature.", 403)


def _refuse_given_up(current: Round | None, *actions: object) -> None:
    """Raises Refused where a dealer gives up a hand that a ruling keeps in play after its player left."""
    if current is None or current.over:
        return
    rulings = [action for play in current.plays if play.is_ruling for action in play.actions]
    absent = {action.seat for action in rulings if isinstance(action, Choose)}
    for action in actions:
        if isinstance(action, Choose) and action.choice in irregularities.GIVES_UP and action.seat in absent:
            message = (
                f"The player of seat {action.seat} left, and the wager stands. Only a pit boss may give the hand up."
            )
            raise Refused("player_left", message, 403)


def deciding(current: Round | None) -> AskChoice | None:
    """The next decision of a seat in a game against the house; None if no seat has one."""
    if current is None or current.over or current.bet_limits is None:
        return None
    asks = current.game.prompts(current.state)
    return asks[0] if asks and isinstance(asks[0], AskChoice) and asks[0].seat != DEALER else None


@enters(Paid, permit=permissions.the_dealer)
def paid(context: CommandContext, entered: Paid) -> Decision:
    """The dealer has paid or taken the bets of a seat at the end of the round. Seats are settled from right to left."""
    current = context.standing.round
    due = current.to_pay if current else ()
    if current is None or not due:
        raise Refused("nothing_to_pay", "No seat is waiting to be paid.", 409)
    if due[0].seat != entered.seat:
        raise Refused("out_of_turn", f"Seat {due[0].seat} is paid next: right to left.", 422)
    # No transfers: they were posted when the round was settled. This records that the dealer has paid the seat.
    return Decision([PendingEntry(log.Paid(seat=entered.seat), current.number)])


@enters(PaidAll, permit=permissions.the_dealer)
def paid_all(context: CommandContext, entered: PaidAll) -> Decision:
    """All remaining seats are settled at once: an entry for each seat, in the order of settlement."""
    current = context.standing.round
    if current is None or not current.to_pay:
        raise Refused("nothing_to_pay", "No seat is waiting to be paid.", 409)
    return Decision([PendingEntry(log.Paid(seat=payout.seat), current.number) for payout in current.to_pay])


@enters(TakeBack, ReopenRound, permit=permissions.the_dealer_or_the_floor)
def take_back(context: CommandContext, entered: TakeBack | ReopenRound) -> Decision:
    """Undo the last input of the round by a correcting entry; chips that it moved return by reversing transfers.

    A dealer may do so until the next card, a pit boss further back in the round. A dealer needs the approval of a pit
    boss to reopen a settled round, unless the site's policy permits the dealer alone. Raises Refused.
    """
    if isinstance(entered, TakeBack) and not entered.reopens and (aside := latest_aside(context)) is not None:
        return Decision([aside])
    target = last_input(context)
    second = _approver(context, entered.second if isinstance(entered, ReopenRound) else "")
    return _taken_back(context, target, second, alone=second is None and takes_approval(context))


def takes_approval(context: CommandContext) -> bool:
    """Whether a dealer takes back the settlement of a round, so that the entry has to name the approval."""
    current = context.standing.round
    return current is not None and current.over and not context.by.has_perm("tables.run_floor")


def reopens_alone() -> bool:
    """Whether a dealer may reopen a settled round without a supervisor at this site."""
    return bool(policies.in_force(REOPENED_BY) == "dealer")


def _is_author(context: CommandContext, boss: Staff) -> bool:
    """Whether the supervisor is the dealer who reopens the round, as they are called now or signed in."""
    dealer = context.standing.dealer
    if dealer is not None and boss.signatory.is_same_person(dealer.signatory):
        return True
    return isinstance(context.by, Staff) and boss.signatory.is_same_person(context.by.signatory)


def _approver(context: CommandContext, username: str) -> Signatory | None:
    """The supervisor who approves the reopening of a settled round; None where no approval is needed. Raises
    Refused."""
    if not takes_approval(context) or reopens_alone():
        return None
    boss = Staff.objects.find_active(username=username)
    # Active, another person and a pit boss: checked under the lock, because the approval is part of the entry.
    if boss is None or _is_author(context, boss) or not boss.has_perm("tables.run_floor"):
        message = "This round is settled. A pit boss has to approve its reopening by badge and PIN."
        raise Refused("wrong_role" if boss else "second_signature", message, 403)
    permissions.in_their_pit(context, boss)
    return boss.signatory


def _taken_back(context: CommandContext, target: Play, second: Signatory | None, *, alone: bool) -> Decision:
    current = context.standing.round
    assert current is not None  # noqa: S101 -- last_input refuses otherwise
    moves: Sequence[Move] = ()
    if current.has_moved_chips:
        # Reverses the transfers as posted and does not compute them again, so that the ledger cancels to the cent.
        moves = undone(cage.transfers_of(context.table.book_id, [target.seq]))
    event = TakenBack(corrects=target.seq, actions=target.actions, second=second, alone=alone)
    steps = [PendingEntry(event, current.number, moves)]
    reader = context.standing.reader
    if reader is not None and reader.is_live and reader.stop is None and target.has_card:
        # A reader does not read a card twice, so the dealer has to key the right one.
        steps.append(PendingEntry(ReaderTakenOver(name=reader.name, session=reader.session)))
    if not (moves and current.over):
        return Decision(steps)
    approved = f", approved by {second.name}" if second else ""
    alert = (
        f"{context.table.name}, round {current.number}: {context.by.name} took back entry {target.seq}, which settled"
        f" it{approved}"
    )
    return Decision(steps, alert=alert, evidence={"round": current.number, "seq": context.next_seq})


# --- enacted anew ----------------------------------------------------------------------------------------------


@reproduces(Played)
def enact_play(context: CommandContext, event: Played, entry: Entry) -> PendingEntry:
    """A play of the round: its opening follows from the settings and the state of the table.

    The decisions and payments that it names are verified with the rules of the game, not here. Raises AuditFailure or
    Refused.
    """
    _refuse_writer(context, event, entry)
    shoe_ready(context)
    current, pinned = round_at(context, _first_input(context, event))
    if pinned is not None and event.opening is not None:
        pinned = pins.due(context.table, context.standing, event.opening)
    # A commitment at any other moment would allow an order chosen after cards are known.
    if event.commitment is not None and not (_is_of_the_house(context) and Shuffle() in event.actions):
        raise AuditFailure("it commits to an order, and shuffles no house shoe")
    return PendingEntry(structs.replace(event, opening=pinned), current.number)


@reproduces(log.Paid)
def enact_payment(context: CommandContext, event: log.Paid, entry: Entry) -> PendingEntry:
    return paid(context, Paid(event.seat)).steps[0]


@reproduces(TakenBack)
def enact_take_back(context: CommandContext, event: TakenBack, entry: Entry) -> PendingEntry:
    """The correction as entered, with the approval that the policy then in force required."""
    permissions.the_dealer_or_the_floor(context, staff_of(context, entry))
    if event.seat is not None:
        return take_back(context, TakeBack()).steps[0]
    target = last_input(context)
    if takes_approval(context):
        _refuse_unapproved(context, event, entry)
        return _taken_back(context, target, event.second, alone=event.alone).steps[0]
    return _taken_back(context, target, None, alone=False).steps[0]


def _refuse_unapproved(context: CommandContext, event: TakenBack, entry: Entry) -> None:
    """Raises AuditFailure if a dealer reopened a settled round without a valid approval.

    Entries of releases up to 0.9.0 do not name approvals; none of them comes after an entry that does.
    """
    second = event.second
    if second is None:
        is_policy = event.alone and policies.went_by(REOPENED_BY, entry, "dealer".__eq__)
        if not is_policy and (event.alone or _approvals_are_named(entry)):
            raise AuditFailure("a dealer reopened a settled round without a pit boss's approval")
        return
    boss = Staff(username=second.username, name=second.name, badge=second.badge, role=second.role)
    boss.as_of = entry.at
    dealer = context.standing.dealer
    is_dealer = dealer is not None and second.is_same_person(dealer.signatory)
    if event.alone or is_dealer or not boss.has_perm("tables.run_floor"):
        raise AuditFailure(f"{second.name}, as {second.role}, may not approve the reopening of a round")


def _approvals_are_named(entry: Entry) -> bool:
    """Whether an earlier entry of the log names the approval of a reopening, or records that none was needed."""
    first = _first_named(entry.book_id, Book.objects.values_list("head_seq", flat=True).get(pk=entry.book_id))
    return first is not None and first < entry.seq


@lru_cache(maxsize=1_000)
def _first_named(book_id: int, head_seq: int) -> int | None:
    """The first entry of a log that names an approval. Cached, as one verification asks for each reopened round."""
    rows = LogEntry.objects.filter(book_id=book_id, seq__lte=head_seq, subject="round", kind="take_back")
    named = rows.extra(where=["position('\"second\":'::bytea IN body) + position('\"alone\":'::bytea IN body) > 0"])
    first: int | None = named.aggregate(first=Min("seq"))["first"]
    return first


@reproduces(CutCardBack)
def enact_cut_card_back(context: CommandContext, event: CutCardBack, entry: Entry) -> PendingEntry:
    """The correction as entered: the cut card had not come out."""
    permissions.the_dealer_or_the_floor(context, staff_of(context, entry))
    return take_back(context, TakeBack()).steps[0]


@reproduces(CardRefused)
def enact_refusal(context: CommandContext, event: CardRefused, entry: Entry) -> PendingEntry:
    """The refused card as entered: only the dealer knows which key was pressed."""
    return PendingEntry(event, entry.round)


def _refuse_writer(context: CommandContext, event: Played, entry: Entry) -> None:
    """Raises AuditFailure or Refused where an entry of a round has the wrong author.

    Seats write their own hidden choices, readers cards, pit bosses approved bets and rulings, dealers everything else.
    """
    current = None if event.opening is not None else context.standing.round
    seat = seat_of(entry.by)
    if any(isinstance(action, Bet) and action.approved for action in event.actions):
        permissions.the_floor(context, staff_of(context, entry))
        # The signature of the pit boss covers this bet and no other action.
        if len(event.actions) > 1:
            raise AuditFailure("it enters more than the one bet over the limit that was approved")
        return
    permissions.not_locked(context)
    permissions.not_stopped(context)
    if event.ruling:
        _refuse_unruled(context, event, entry)
        return
    if program_of(entry.by) is not None or event.read is not None:
        _refuse_reader(context, event, entry)
        return
    if seat is None:
        permissions.the_dealer(context, staff_of(context, entry))
        hidden = [chooser for chooser in event.choosers if current is not None and current.hides_cards_of(chooser)]
        if hidden:
            raise AuditFailure(f"{entry.by} chose for seat {hidden[0]}, whose cards only that seat may know")
        _refuse_given_up(current, *event.actions)
        return
    may_choose = (
        current is not None and current.has_choosers and _is_of_the_house(context) and context.standing.round_open
    )
    if not (may_choose and event.choosers == (seat,) and isinstance(event.actions[0], Choose)):
        raise AuditFailure(f"it is by {entry.by}, which may choose for itself at a house shoe, and nothing else")


def _refuse_unruled(context: CommandContext, event: Played, entry: Entry) -> None:
    """Raises AuditFailure if the choice for a player who left does not follow from the ruling in the entry before."""
    before = {"book_id": entry.book_id, "seq": entry.seq - 1, "subject": "mishap", "kind": "entered", "by": entry.by}
    row, ask = LogEntry.objects.filter(**before).first(), deciding(context.standing.round)
    ruling = read_as(MishapEntered, row.body) if row else None
    choice = (
        irregularities.choice_of(ruling.act, ask.choices)
        if ruling and ask and ruling.which == irregularities.PLAYER_LEFT
        else ""
    )
    if ask is None or not choice or event.choosers != (ask.seat,) or event.actions[0] != Choose(ask.seat, choice):
        raise AuditFailure("it decides for a player who left, without that ruling in the entry before it")


def _refuse_reader(context: CommandContext, event: Played, entry: Entry) -> None:
    """Raises AuditFailure unless the table's live reader named what the dealer's key would have entered."""
    permissions.for_a_reader(context)
    reader, current = context.standing.reader, context.standing.round
    if reader is None or program_of(entry.by) != reader.name:
        raise AuditFailure(f"it is of a card reader, and {entry.by} names no cards here")
    if current is None or not context.standing.round_open or event.opening is not None:
        raise AuditFailure("a card reader names a card where no round is open")
    turn, card = RoundActions(), event.actions[-1] if event.actions else None
    if not isinstance(card, Card):
        raise AuditFailure("a card reader names a card, and nothing else")
    try:
        _keyed(current, key_of(current, card.rank), turn)
    except Illegal as illegal:
        raise AuditFailure(f"no card could be named then: {illegal.sentence}") from None
    if tuple(turn.actions) != event.actions:
        raise AuditFailure("a card reader enters more than a card")


def key_of(current: Round, card: int) -> KeyCard | KeyStandardCard:
    """The key of a card, by its number in the round's pack."""
    pack = kind_of(current.game).pack(current.rules)
    return KeyCard(card) if pack is PAIRS else KeyStandardCard(str(pack.spell(card)))


def _first_input(context: CommandContext, event: Played) -> Bet | StartGame:
    """The input that opened the round, if this entry did; any bet otherwise. A pot game names its seats."""
    if event.opening is None:
        return Bet(0, 0)
    return dealing_at(context).first_input(event.opening.opening.seats)


def _is_of_the_house(context: CommandContext) -> bool:
    shoe = context.standing.shoe
    return shoe is not None and shoe.source == ShoeSource.HOUSE


# --- the round that an input belongs to ------------------------------------------------------------------------


def shoe_ready(context: CommandContext) -> None:
    """Raises Refused while a seat is to be paid, or the shoe needs a step before a round may open."""
    state = context.standing
    if not dealing_at(context).is_dealt:
        raise no_rounds()
    if state.round_open:
        if state.round is not None and state.round.to_pay:
            raise Refused("pay_first", f"Pay seat {state.round.to_pay[0].seat} first.", 409)
        return
    due = shoes.due(context)
    if due is not None:
        raise Refused("shoe_not_ready", shoes.SENTENCES[due], 409)
    try:
        back_entry.refuse_round(state.back_entry, state.next_number)
    except Wrong as wrong:
        raise Refused(wrong.code, wrong.sentence, 409) from None


def round_at(context: CommandContext, entered: GameInput) -> tuple[Round, Pinned | None]:
    """The open round; or a new one, with the values that its first entry records."""
    state = context.standing
    if state.round_open and state.round is not None:
        return state.round, None
    seats = dealing_at(context).seats(context, entered)
    return pins.opened(context.table, state, seats, secrets.choice, seq=context.next_seq)


def open_for_bets(context: CommandContext) -> Round | None:
    """The round that the next bet opens; None where a game has to be started."""
    return round_at(context, Bet(0, 0))[0] if dealing_at(context).begins_with_bets else None


# --- playing ---------------------------------------------------------------------------------------------------


def _play(context: CommandContext, current: Round, entered: GameInput, turn: RoundActions) -> Any:
    """The state after an input, whose actions are added to ``turn``. Raises Illegal or Refused."""
    house = context.standing.shoe is not None and context.standing.shoe.source == ShoeSource.HOUSE
    if isinstance(entered, KeyCard | KeyStandardCard):
        # A key could contradict the committed order.
        if house:
            raise Refused("house_shoe", "The house shoe deals at this table: cards are not keyed.", 422)
        return _keyed(current, entered, turn)
    if isinstance(entered, Deal):
        if not house:
            raise Refused("keyed_shoe", "Real cards are dealt at this table: key each card as it is turned.", 422)
        return _dealt(context, current, turn)
    if isinstance(entered, PlaceBets):
        return _placed(current, entered, turn)
    if isinstance(entered, StartGame):
        return _start(context, current, turn, house=house)
    if isinstance(entered, Choose):
        _refuse_for_another(context, current, entered)
        if house and entered.seat == DEALER:
            raise Refused("house_shoe", "The house shoe says whether the dealer has a blackjack: deal.", 422)
    state = _play_one(current, current.state, entered, turn)
    if house and isinstance(entered, Choose):
        return _drawn(context, current, state, entered, turn)
    return state


def _refuse_for_another(context: CommandContext, current: Round, entered: Choose) -> None:
    """Raises Refused for staff who choose for a seat with hidden cards: the refusals could reveal them."""
    # Only choices that the hand permits are accepted, so trying them would reveal the hand.
    if isinstance(context.by, Staff) and current.hides_cards_of(entered.seat):
        message = f"Seat {entered.seat} holds cards that nobody else may know: it chooses on its own page."
        raise Refused("seat_chooses", message, 403)


def _start(context: CommandContext, current: Round, turn: RoundActions, *, house: bool) -> Any:
    if context.standing.round_open:
        raise pots.game_goes_on()
    return _deal(context, current, current.state, turn) if house else current.state


def _play_one(current: Round, state: Any, action: Action, turn: RoundActions) -> Any:
    """The state after one action. The action is logged complete, with everything that its key may leave out."""
    action = admitted(current.game, state, action)
    turn.actions.append(action)
    return current.game.apply(state, action)


def _placed(current: Round, entered: PlaceBets, turn: RoundActions) -> Any:
    """The state after all of the bets. Raises Illegal for the first that is not allowed, and then none counts."""
    if not entered.bets:
        raise Refused("bad_input", "No bets were named.", 400)
    state = current.state
    for bet in entered.bets:
        state = _play_one(current, state, bet, turn)
    return state


def _dealt(context: CommandContext, current: Round, turn: RoundActions) -> Any:
    """The electronic shoe deals; where the dealer has to look at a face-down card, it reports the result."""
    state, prompts = current.state, current.game.prompts(current.state)
    first = prompts[0] if prompts else None
    if isinstance(first, AskChoice) and first.seat == DEALER:
        return _peeked(context, current, first, turn)
    if not isinstance(first, AskCard):
        raise Illegal("out_of_turn", "no card is due now")
    return _deal(context, current, state, turn)


def _peeked(context: CommandContext, current: Round, ask: AskChoice, turn: RoundActions) -> Any:
    turning = card_due(current, current.state)
    shoe = context.standing.shoe
    assert turning is not None and shoe is not None  # noqa: S101, PT018 -- the dealer looks at a card of it
    card = shoes.draw_lying(context.table, shoe, turning.lies_at)
    if card in turning.barred:
        return _play_one(current, current.state, Choose(DEALER, ask.choices[0].name), turn)
    return _play_one(current, current.state, Card(card, turning.to), turn)


def _keyed(current: Round, entered: KeyCard | KeyStandardCard, turn: RoundActions) -> Any:
    """The state after a keyed card. For a seat with a decision, it means that the seat took a card."""
    state, prompts = current.state, current.game.prompts(current.state)
    card = _number(current, entered)
    if prompts and isinstance(prompts[0], AskChoice) and prompts[0].seat != DEALER:
        drawing = [choice.name for choice in prompts[0].choices if choice.draws]
        if len(drawing) != 1:
            raise out_of_turn(prompts, Card(card, DEALER))
        state = _play_one(current, state, Choose(prompts[0].seat, drawing[0]), turn)
    ask = card_due(current, state)
    if ask is None:
        raise out_of_turn(current.game.prompts(state), Card(card, DEALER))
    return _play_one(current, state, Card(card, ask.to), turn)


def _number(current: Round, entered: KeyCard | KeyStandardCard) -> int:
    """The number of a keyed card in the round's pack. Numbers of the house's card family are judged by the prompt."""
    pack = kind_of(current.game).pack(current.rules)
    if isinstance(entered, KeyCard) and pack is PAIRS:
        return entered.rank
    name = name_of(entered)
    try:
        return pack.number(name)
    except KeyError:
        first, last = pack.spell(1), pack.spell(len(pack.deck))
        raise Illegal("no_such_card", f"there is no card {name} here: cards are {first} to {last}") from None


def name_of(entered: KeyCard | KeyStandardCard) -> int | str:
    return entered.rank if isinstance(entered, KeyCard) else entered.card


def card_due(current: Round, state: Any) -> AskCard | None:
    """The card that is due next, or the face-down card that the dealer may turn after looking; None if neither."""
    prompts = current.game.prompts(state)
    if not prompts or (isinstance(prompts[0], AskChoice) and prompts[0].seat != DEALER):
        return None
    return next((ask for ask in prompts if isinstance(ask, AskCard)), None)


def _deal(context: CommandContext, current: Round, state: Any, turn: RoundActions) -> Any:
    """The electronic shoe deals all cards that are due, up to the next decision."""
    while (ask := card_due(current, state)) and isinstance(current.game.prompts(state)[0], AskCard):
        state = _draw(context, current, state, ask, turn)
    return state


def _drawn(context: CommandContext, current: Round, state: Any, choice: Choose, turn: RoundActions) -> Any:
    """The state after the cards that follow a choice: one event at the table is one entry in the log."""
    # In the entry of the choice: a crash between two entries would leave a decided hand without its card.
    dealing = dealing_at(context)
    while (ask := card_due(current, state)) and choice.seat != DEALER and dealing.deals_on(ask, choice):
        state = _draw(context, current, state, ask, turn)
    return state


def _draw(context: CommandContext, current: Round, state: Any, ask: AskCard, turn: RoundActions) -> Any:
    shoe = context.standing.shoe
    assert shoe is not None  # noqa: S101 -- no round opens without one
    if ask.apart:
        moment = shoes.moment(current, turn.actions)
        rank = shoes.draw_apart(shoe, ask.may_come, moment)
        turn.apart.append(SideCard(len(turn.actions), tuple(ask.may_come), moment))
    elif ask.lies_at:
        rank = shoes.draw_lying(context.table, shoe, ask.lies_at)
    else:
        rank = shoes.draw(shoe, current.game.cards_left(state))
    return _play_one(current, state, Card(rank, ask.to), turn)


def _refuse(context: CommandContext, current: Round, entered: GameInput, illegal: Illegal) -> Decision:
    """The entry that reports an impossible card, with its alert. Raises Refused for any other illegal action."""
    refusal = Refused(illegal.code, sentence(illegal.say(money)), 422, **illegal.facts)
    if illegal.code not in REPORTED:
        raise refusal from None
    refusal.sentence = f"{refusal.sentence} Wrong key: press the right one. Wrong card: call the pit."
    keyed = name_of(entered) if isinstance(entered, KeyCard | KeyStandardCard) else None
    board = f"after entry {current.plays[-1].seq}" if current.plays else "at its start"
    alert = f"{context.table.name}, round {current.number}, {board}: a {keyed} was keyed that the shoe cannot hold"
    number = current.number if context.standing.round_open else None
    step = PendingEntry(CardRefused(rank=keyed, says=illegal.sentence), number)
    # The cause is the sentence: the same card keyed again on the same board is a repeat of one alert.
    facts = {"cause": alert, "round": current.number, "seq": context.next_seq, "rank": keyed}
    return Decision([step], refusal, alert, facts)


# --- taking back -----------------------------------------------------------------------------------------------


def latest_aside(context: CommandContext) -> PendingEntry | None:
    """The entry that takes back a cut card or a payment, where that is the latest event of the round; or None.

    Raises Refused where the round can no longer be changed.
    """
    state = context.standing
    if state.round is None or not (state.cut_seq or state.round.paid):
        return None
    current, shoe = _on_the_felt(context)
    seat, paid_seq = list(current.paid.items())[-1] if current.paid else (0, 0)
    if state.cut_seq > max(paid_seq, current.plays[-1].seq) and not shoes.is_at_cut(context, current, current.state):
        return PendingEntry(CutCardBack(shoe=replace(shoe, cut_out=False).noting(cut_round=0), corrects=state.cut_seq))
    if not paid_seq:
        return None
    if state.marked_seq > paid_seq:
        raise Refused("card_stands", "Commission was collected since: that round stands.", 409)
    return PendingEntry(TakenBack(corrects=paid_seq, actions=(), seat=seat), current.number)


def last_input(context: CommandContext) -> Play:
    """The input that can be taken back now. Raises Refused where it is too late."""
    current, shoe = _on_the_felt(context)
    target = current.plays[-1]
    _may_take_back(context, current, shoe, target)
    return target


def _on_the_felt(context: CommandContext) -> tuple[Round, Shoe]:
    """The round and the shoe in which inputs can be taken back. Raises Refused where there is none any more."""
    state = context.standing
    current, shoe = state.round, state.shoe
    if current is None or not current.plays:
        raise Refused("nothing_to_take_back", "There is nothing to take back in this round.", 409)
    # Cards shuffled since cannot be put back into the hands that they came from.
    if shoe is None or shoe.stage != "ready" or current.first_seq < shoe.ready_seq:
        raise Refused("nothing_to_take_back", "The shoe was changed or shuffled since: that round stands.", 409)
    if current.first_seq < state.opened_seq:
        raise Refused("nothing_to_take_back", "The table was closed since: that round stands.", 409)
    if current.voided:
        raise Refused("nothing_to_take_back", "That round is void: nothing in it counts.", 409)
    return current, shoe


def _may_take_back(context: CommandContext, current: Round, shoe: Shoe, target: Play) -> None:
    # The order is committed to, so the card cannot be exchanged for another.
    if target.has_card and shoe.source == ShoeSource.HOUSE:
        raise Refused("card_stands", "The house shoe dealt this card: it stands.", 409)
    # Other choices may be known by now: a second choice would be made with more knowledge.
    if current.secret and target.actions:
        raise Refused("card_stands", "A player chose this for himself: it stands.", 409)
    if shoe.aside and shoe.aside[-1][0] > target.seq:
        raise Refused("card_stands", "A card left the shoe since: that round stands.", 409)
    # Chips that moved between the seats since would be reversed from stacks that no longer have them.
    if context.standing.seated_seq > target.seq:
        raise Refused("card_stands", "Chips were bought or cashed since: that game stands.", 409)
    if context.standing.marked_seq > target.seq:
        raise Refused("card_stands", "Commission was collected since: that round stands.", 409)
    if any(type(action) is Shuffle for action in target.actions):
        raise Refused("card_stands", "The discards were shuffled: that cannot be taken back.", 409)
    if context.by.has_perm("tables.run_floor"):
        return
    # Correcting a key at once is the work of a dealer. After another card it changes hands that players have seen.
    if current.latest_card_seq > target.seq:
        raise Refused("card_stands", "Another card was keyed since: a pit boss has to take it back.", 409)
    if target.is_ruling and not current.over:  # over, its reopening is approved by a pit boss
        message = "This is a ruling on the hand of a player who left: a pit boss takes it back."
        raise Refused("player_left", message, 403)
