"""The inputs of a round: bets, cards, decisions, payments made, and keys taken back."""

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
"""The policy that says whether a dealer may reopen a settled round alone."""

REPORTED = ("impossible_card",)
"""Refusals that the pit hears of: a wrong card is in the shoe, or a wrong key was pressed. Either matters."""


@dataclass(slots=True)
class RoundActions:
    """What an input comes to as the game's actions."""

    actions: list[Action] = field(default_factory=list)
    apart: list[SideCard] = field(default_factory=list)
    """For the shoe's proof: which of them is a card that was shuffled apart, among which, and at what moment."""


@enters(Bet, PlaceBets, CloseBets, Choose, Shuffle, Deal, StartGame, permit=permissions.the_dealer)
def enter(scene: CommandContext, entered: GameInput) -> Decision:
    """A bet, a card, a decision, a shuffle in mid-round. Opens the next round with its first bet."""
    permissions.not_stopped(scene)
    if isinstance(entered, Bet | PlaceBets):
        _refuse_approved(entered)
    elif isinstance(entered, Choose):
        _refuse_given_up(scene.standing.round, entered)
    shoe_ready(scene)
    current, opening = round_at(scene, entered)
    try:
        return play(scene, current, opening, entered)
    except Illegal as illegal:
        return _refuse(scene, current, entered, illegal)


def play(scene: CommandContext, current: Round, opening: Pinned | None, entered: GameInput) -> Decision:
    """What an input comes to in a round. Raises Illegal or Refused."""
    turn = RoundActions()
    state = _play(scene, current, entered, turn)
    shuffled = any(type(action) is Shuffle for action in turn.actions)
    commitment, opened = shoes.shuffled_in_play(scene, current, state) if shuffled else (None, None)
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
    steps = [PendingEntry(event, current.number, current.moves_to(scene.chart, state))]
    if shoes.cut_comes_out(scene, current, state):
        steps.append(shoes.cut_step(scene, current.game.cards_left(state)))
    return Decision(steps)


def _refuse_approved(entered: Bet | PlaceBets) -> None:
    """Nobody approves of a bet over the limit by saying so: a pit boss enters it (`mishaps.accept_bet`)."""
    bets = entered.bets if isinstance(entered, PlaceBets) else (entered,)
    if any(isinstance(bet, Bet) and bet.approved for bet in bets):
        raise Refused("not_permitted", "A bet over the limit takes a pit boss's signature.", 403)


def _refuse_given_up(current: Round | None, *actions: object) -> None:
    """Refuse a dealer's fold or surrender for a player who left, after the ruling that the wager stands."""
    if current is None or current.over:
        return
    rulings = [action for play in current.plays if play.is_ruling for action in play.actions]
    absent = {action.seat for action in rulings if isinstance(action, Choose)}
    for action in actions:
        if isinstance(action, Choose) and action.choice in irregularities.GIVES_UP and action.seat in absent:
            says = f"The player of seat {action.seat} left, and the wager stands. Only a pit boss may give the hand up."
            raise Refused("player_left", says, 403)


def deciding(current: Round | None) -> AskChoice | None:
    """The decision that a seat has to make next in a game against the house; None if no seat has to decide."""
    if current is None or current.over or current.bet_limits is None:
        return None
    asks = current.game.prompts(current.state)
    return asks[0] if asks and isinstance(asks[0], AskChoice) and asks[0].seat != DEALER else None


@enters(Paid, permit=permissions.the_dealer)
def paid(scene: CommandContext, entered: Paid) -> Decision:
    """The dealer has paid (or taken from) a seat at the end of the round, right to left."""
    current = scene.standing.round
    due = current.to_pay if current else ()
    if current is None or not due:
        raise Refused("nothing_to_pay", "No seat is waiting to be paid.", 409)
    if due[0].seat != entered.seat:
        raise Refused("out_of_turn", f"Seat {due[0].seat} is paid next: right to left.", 422)
    return Decision([PendingEntry(log.Paid(seat=entered.seat), current.number)])


@enters(PaidAll, permit=permissions.the_dealer)
def paid_all(scene: CommandContext, entered: PaidAll) -> Decision:
    """The whole walk at once: an entry for each seat, in its order."""
    current = scene.standing.round
    if current is None or not current.to_pay:
        raise Refused("nothing_to_pay", "No seat is waiting to be paid.", 409)
    return Decision([PendingEntry(log.Paid(seat=payout.seat), current.number) for payout in current.to_pay])


@enters(TakeBack, ReopenRound, permit=permissions.the_dealer_or_the_floor)
def take_back(scene: CommandContext, entered: TakeBack | ReopenRound) -> Decision:
    """Undo what was entered last in the round by a correcting entry; chips that it moved go back by reversals.

    A dealer may do so until the next card; those who run the floor may go further back in the round. A dealer needs the
    approval of a pit boss to reopen a settled round, unless the policy of the site says otherwise.
    """
    if isinstance(entered, TakeBack) and not entered.reopens and (aside := latest_aside(scene)) is not None:
        return Decision([aside])
    target = last_input(scene)
    second = _approver(scene, entered.second if isinstance(entered, ReopenRound) else "")
    return _taken_back(scene, target, second, alone=second is None and takes_approval(scene))


def takes_approval(scene: CommandContext) -> bool:
    """Whether a dealer takes back the settlement of a round, so that the entry has to name the approval."""
    current = scene.standing.round
    return current is not None and current.over and not scene.by.has_perm("tables.run_floor")


def reopens_alone() -> bool:
    """Whether a dealer may reopen a settled round without a supervisor at this site."""
    return bool(policies.in_force(REOPENED_BY) == "dealer")


def _is_author(scene: CommandContext, boss: Staff) -> bool:
    """Whether the supervisor is the dealer who reopens the round, as they are called now or signed in."""
    dealer = scene.standing.dealer
    if dealer is not None and boss.signatory.is_same_person(dealer.signatory):
        return True
    return isinstance(scene.by, Staff) and boss.signatory.is_same_person(scene.by.signatory)


def _approver(scene: CommandContext, username: str) -> Signatory | None:
    """The supervisor who approves the reopening of a settled round; None where no approval is needed. Raises
    Refused."""
    if not takes_approval(scene) or reopens_alone():
        return None
    boss = Staff.objects.filter(username=username, is_active=True).first()
    if boss is None or _is_author(scene, boss) or not boss.has_perm("tables.run_floor"):
        says = "This round is settled. A pit boss has to approve its reopening by badge and PIN."
        raise Refused("wrong_role" if boss else "second_signature", says, 403)
    permissions.in_their_pit(scene, boss)
    return boss.signatory


def _taken_back(scene: CommandContext, target: Play, second: Signatory | None, *, alone: bool) -> Decision:
    current = scene.standing.round
    assert current is not None  # noqa: S101 -- last_input refuses otherwise
    moves: Sequence[Move] = ()
    if current.has_moved_chips:
        moves = undone(cage.transfers_of(scene.table.book_id, [target.seq]))
    event = TakenBack(corrects=target.seq, actions=target.actions, second=second, alone=alone)
    steps = [PendingEntry(event, current.number, moves)]
    reader = scene.standing.reader
    if reader is not None and reader.is_live and reader.stop is None and target.has_card:
        # Whoever takes a card back keys the right one: a reader does not read a card twice.
        steps.append(PendingEntry(ReaderTakenOver(name=reader.name, session=reader.session)))
    if not (moves and current.over):
        return Decision(steps)
    approved = f", approved by {second.name}" if second else ""
    alert = (
        f"{scene.table.name}, round {current.number}: {scene.by.name} took back entry {target.seq}, which settled it"
        f"{approved}"
    )
    return Decision(steps, alert=alert, evidence={"round": current.number, "seq": scene.next_seq})


# --- enacted anew ----------------------------------------------------------------------------------------------


@reproduces(Played)
def enact_play(scene: CommandContext, event: Played, entry: Entry) -> PendingEntry:
    """A round is opened as the table is set and stands; what it decides and pays is the engine's to say."""
    _refuse_writer(scene, event, entry)
    shoe_ready(scene)
    current, pinned = round_at(scene, _first_input(scene, event))
    if pinned is not None and event.opening is not None:
        pinned = pins.due(scene.table, scene.standing, event.opening)
    if event.commitment is not None and not (_is_of_the_house(scene) and Shuffle() in event.actions):
        raise AuditFailure("it commits to an order, and shuffles no house shoe")
    return PendingEntry(structs.replace(event, opening=pinned), current.number)


@reproduces(log.Paid)
def enact_payment(scene: CommandContext, event: log.Paid, entry: Entry) -> PendingEntry:
    return paid(scene, Paid(event.seat)).steps[0]


@reproduces(TakenBack)
def enact_take_back(scene: CommandContext, event: TakenBack, entry: Entry) -> PendingEntry:
    """As it was entered, with the approval that the policy of the site required then."""
    permissions.the_dealer_or_the_floor(scene, staff_of(scene, entry))
    if event.seat is not None:
        return take_back(scene, TakeBack()).steps[0]
    target = last_input(scene)
    if takes_approval(scene):
        _refuse_unapproved(scene, event, entry)
        return _taken_back(scene, target, event.second, alone=event.alone).steps[0]
    return _taken_back(scene, target, None, alone=False).steps[0]


def _refuse_unapproved(scene: CommandContext, event: TakenBack, entry: Entry) -> None:
    """Raises Misconduct if a dealer reopened a settled round without a valid approval. Entries of releases up to 0.9.0
    do not name approvals; none of them comes after an entry that does."""
    second = event.second
    if second is None:
        is_policy = event.alone and policies.went_by(REOPENED_BY, entry, "dealer".__eq__)
        if not is_policy and (event.alone or _approvals_are_named(entry)):
            raise AuditFailure("a dealer reopened a settled round without a pit boss's approval")
        return
    boss = Staff(username=second.username, name=second.name, badge=second.badge, role=second.role)
    boss.as_of = entry.at
    dealer = scene.standing.dealer
    is_dealer = dealer is not None and second.is_same_person(dealer.signatory)
    if event.alone or is_dealer or not boss.has_perm("tables.run_floor"):
        raise AuditFailure(f"{second.name}, as {second.role}, may not approve the reopening of a round")


def _approvals_are_named(entry: Entry) -> bool:
    """Whether an earlier entry of the same log names the approval of a reopening, or says that none was needed."""
    first = _first_named(entry.book_id, Book.objects.values_list("head_seq", flat=True).get(pk=entry.book_id))
    return first is not None and first < entry.seq


@lru_cache(maxsize=1_000)
def _first_named(book_id: int, head_seq: int) -> int | None:
    """The first such entry of a log. It is looked up once a verification, not once for each round that was reopened."""
    rows = LogEntry.objects.filter(book_id=book_id, seq__lte=head_seq, subject="round", kind="take_back")
    named = rows.extra(where=["position('\"second\":'::bytea IN body) + position('\"alone\":'::bytea IN body) > 0"])
    first: int | None = named.aggregate(first=Min("seq"))["first"]
    return first


@reproduces(CutCardBack)
def enact_cut_card_back(scene: CommandContext, event: CutCardBack, entry: Entry) -> PendingEntry:
    """As it was entered."""
    permissions.the_dealer_or_the_floor(scene, staff_of(scene, entry))
    return take_back(scene, TakeBack()).steps[0]


@reproduces(CardRefused)
def enact_refusal(scene: CommandContext, event: CardRefused, entry: Entry) -> PendingEntry:
    """What was keyed and refused, only whoever keyed it knows."""
    return PendingEntry(event, entry.round)


def _refuse_writer(scene: CommandContext, event: Played, entry: Entry) -> None:
    """A seat enters its own choices where it has cards that nobody else may know; the dealer everything else."""
    current = None if event.opening is not None else scene.standing.round
    seat = seat_of(entry.by)
    if any(isinstance(action, Bet) and action.approved for action in event.actions):
        permissions.the_floor(scene, staff_of(scene, entry))
        if len(event.actions) > 1:
            raise AuditFailure("it enters more than the one bet over the limit that was approved")
        return
    permissions.not_locked(scene)
    permissions.not_stopped(scene)
    if event.ruling:
        _refuse_unruled(scene, event, entry)
        return
    if program_of(entry.by) is not None or event.read is not None:
        _refuse_reader(scene, event, entry)
        return
    if seat is None:
        permissions.the_dealer(scene, staff_of(scene, entry))
        hidden = [chooser for chooser in event.choosers if current is not None and current.hides_cards_of(chooser)]
        if hidden:
            raise AuditFailure(f"{entry.by} chose for seat {hidden[0]}, whose cards only that seat may know")
        _refuse_given_up(current, *event.actions)
        return
    may_choose = current is not None and current.has_choosers and _is_of_the_house(scene) and scene.standing.round_open
    if not (may_choose and event.choosers == (seat,) and isinstance(event.actions[0], Choose)):
        raise AuditFailure(f"it is by {entry.by}, which may choose for itself at a house shoe, and nothing else")


def _refuse_unruled(scene: CommandContext, event: Played, entry: Entry) -> None:
    """Raises Misconduct if the choice for a player who left does not follow from the ruling in the entry before."""
    before = {"book_id": entry.book_id, "seq": entry.seq - 1, "subject": "mishap", "kind": "entered", "by": entry.by}
    row, ask = LogEntry.objects.filter(**before).first(), deciding(scene.standing.round)
    ruling = read_as(MishapEntered, row.body) if row else None
    choice = (
        irregularities.choice_of(ruling.act, ask.choices)
        if ruling and ask and ruling.which == irregularities.PLAYER_LEFT
        else ""
    )
    if ask is None or not choice or event.choosers != (ask.seat,) or event.actions[0] != Choose(ask.seat, choice):
        raise AuditFailure("it decides for a player who left, without that ruling in the entry before it")


def _refuse_reader(scene: CommandContext, event: Played, entry: Entry) -> None:
    """The reader that names the cards here, for the dealer who is signed in: just what their key would have entered."""
    permissions.for_a_reader(scene)
    reader, current = scene.standing.reader, scene.standing.round
    if reader is None or program_of(entry.by) != reader.name:
        raise AuditFailure(f"it is of a card reader, and {entry.by} names no cards here")
    if current is None or not scene.standing.round_open or event.opening is not None:
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


def _first_input(scene: CommandContext, event: Played) -> Bet | StartGame:
    """What opened the round, if this entry did: chips for a pot are dealt for to the seats that it names."""
    if event.opening is None:
        return Bet(0, 0)
    return dealing_at(scene).first_input(event.opening.opening.seats)


def _is_of_the_house(scene: CommandContext) -> bool:
    shoe = scene.standing.shoe
    return shoe is not None and shoe.source == ShoeSource.HOUSE


# --- the round that an input belongs to ------------------------------------------------------------------------


def shoe_ready(scene: CommandContext) -> None:
    """Raises Refused while a seat is to be paid, or the shoe needs a step before a round may open."""
    standing = scene.standing
    if not dealing_at(scene).is_dealt:
        raise no_rounds()
    if standing.round_open:
        if standing.round is not None and standing.round.to_pay:
            raise Refused("pay_first", f"Pay seat {standing.round.to_pay[0].seat} first.", 409)
        return
    due = shoes.due(scene)
    if due is not None:
        raise Refused("shoe_not_ready", shoes.SENTENCES[due], 409)
    try:
        back_entry.refuse_round(standing.back_entry, standing.next_number)
    except Wrong as wrong:
        raise Refused(wrong.code, wrong.sentence, 409) from None


def round_at(scene: CommandContext, entered: GameInput) -> tuple[Round, Pinned | None]:
    """The round in progress; or a new one, with what its first entry is to pin."""
    standing = scene.standing
    if standing.round_open and standing.round is not None:
        return standing.round, None
    seats = dealing_at(scene).seats(scene, entered)
    return pins.opened(scene.table, standing, seats, secrets.choice, seq=scene.next_seq)


def open_for_bets(scene: CommandContext) -> Round | None:
    """The round that the next bet opens; None where a game has to be started."""
    return round_at(scene, Bet(0, 0))[0] if dealing_at(scene).begins_with_bets else None


# --- playing ---------------------------------------------------------------------------------------------------


def _play(scene: CommandContext, current: Round, entered: GameInput, turn: RoundActions) -> Any:
    """Play an input as the game's actions, which are added to ``turn``. Raises Illegal or Refused."""
    house = scene.standing.shoe is not None and scene.standing.shoe.source == ShoeSource.HOUSE
    if isinstance(entered, KeyCard | KeyStandardCard):
        if house:
            raise Refused("house_shoe", "The house shoe deals at this table: cards are not keyed.", 422)
        return _keyed(current, entered, turn)
    if isinstance(entered, Deal):
        if not house:
            raise Refused("keyed_shoe", "Real cards are dealt at this table: key each card as it is turned.", 422)
        return _dealt(scene, current, turn)
    if isinstance(entered, PlaceBets):
        return _placed(current, entered, turn)
    if isinstance(entered, StartGame):
        return _start(scene, current, turn, house=house)
    if isinstance(entered, Choose):
        _refuse_for_another(scene, current, entered)
        if house and entered.seat == DEALER:
            raise Refused("house_shoe", "The house shoe says whether the dealer has a blackjack: deal.", 422)
    state = _play_one(current, current.state, entered, turn)
    if house and isinstance(entered, Choose):
        return _drawn(scene, current, state, entered, turn)
    return state


def _refuse_for_another(scene: CommandContext, current: Round, entered: Choose) -> None:
    """Staff who could choose for a seat could find out what it holds, by what is refused."""
    if isinstance(scene.by, Staff) and current.hides_cards_of(entered.seat):
        says = f"Seat {entered.seat} holds cards that nobody else may know: it chooses on its own page."
        raise Refused("seat_chooses", says, 403)


def _start(scene: CommandContext, current: Round, turn: RoundActions, *, house: bool) -> Any:
    if scene.standing.round_open:
        raise pots.game_goes_on()
    return _deal(scene, current, current.state, turn) if house else current.state


def _play_one(current: Round, state: Any, action: Action, turn: RoundActions) -> Any:
    """The log is to say what was played: with all that the action names, though a key may leave it out."""
    action = admitted(current.game, state, action)
    turn.actions.append(action)
    return current.game.apply(state, action)


def _placed(current: Round, entered: PlaceBets, turn: RoundActions) -> Any:
    """All of the bets, or none."""
    if not entered.bets:
        raise Refused("bad_input", "No bets were named.", 400)
    state = current.state
    for bet in entered.bets:
        state = _play_one(current, state, bet, turn)
    return state


def _dealt(scene: CommandContext, current: Round, turn: RoundActions) -> Any:
    """The house shoe deals; where its dealer is to look at a facedown card, it tells what the look tells."""
    state, prompts = current.state, current.game.prompts(current.state)
    first = prompts[0] if prompts else None
    if isinstance(first, AskChoice) and first.seat == DEALER:
        return _peeked(scene, current, first, turn)
    if not isinstance(first, AskCard):
        raise Illegal("out_of_turn", "no card is due now")
    return _deal(scene, current, state, turn)


def _peeked(scene: CommandContext, current: Round, ask: AskChoice, turn: RoundActions) -> Any:
    turning = card_due(current, current.state)
    shoe = scene.standing.shoe
    assert turning is not None and shoe is not None  # noqa: S101, PT018 -- the dealer looks at a card of it
    card = shoes.draw_lying(scene.table, shoe, turning.lies_at)
    if card in turning.barred:
        return _play_one(current, current.state, Choose(DEALER, ask.choices[0].name), turn)
    return _play_one(current, current.state, Card(card, turning.to), turn)


def _keyed(current: Round, entered: KeyCard | KeyStandardCard, turn: RoundActions) -> Any:
    """Play a keyed card: for the seat that is to decide, it means that the seat took a card."""
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
    """The number of a keyed card in the round's pack; of the family's, any number is left to the prompt to judge."""
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
    """The card that is due, or that the dealer may turn where he looks at it."""
    prompts = current.game.prompts(state)
    if not prompts or (isinstance(prompts[0], AskChoice) and prompts[0].seat != DEALER):
        return None
    return next((ask for ask in prompts if isinstance(ask, AskCard)), None)


def _deal(scene: CommandContext, current: Round, state: Any, turn: RoundActions) -> Any:
    """The house shoe deals all cards that are due, up to the next decision."""
    while (ask := card_due(current, state)) and isinstance(current.game.prompts(state)[0], AskCard):
        state = _draw(scene, current, state, ask, turn)
    return state


def _drawn(scene: CommandContext, current: Round, state: Any, choice: Choose, turn: RoundActions) -> Any:
    """A choice that takes a card gets it at once: one event at the table, one entry in the log."""
    dealing = dealing_at(scene)
    while (ask := card_due(current, state)) and choice.seat != DEALER and dealing.deals_on(ask, choice):
        state = _draw(scene, current, state, ask, turn)
    return state


def _draw(scene: CommandContext, current: Round, state: Any, ask: AskCard, turn: RoundActions) -> Any:
    shoe = scene.standing.shoe
    assert shoe is not None  # noqa: S101 -- no round opens without one
    if ask.apart:
        moment = shoes.moment(current, turn.actions)
        rank = shoes.draw_apart(shoe, ask.may_come, moment)
        turn.apart.append(SideCard(len(turn.actions), tuple(ask.may_come), moment))
    elif ask.lies_at:
        rank = shoes.draw_lying(scene.table, shoe, ask.lies_at)
    else:
        rank = shoes.draw(shoe, current.game.cards_left(state))
    return _play_one(current, state, Card(rank, ask.to), turn)


def _refuse(scene: CommandContext, current: Round, entered: GameInput, illegal: Illegal) -> Decision:
    """Raise the refusal; or, for one that the pit must hear of, give the report to write."""
    refusal = Refused(illegal.code, sentence(illegal.say(money)), 422, **illegal.facts)
    if illegal.code not in REPORTED:
        raise refusal from None
    refusal.sentence = f"{refusal.sentence} Wrong key: press the right one. Wrong card: call the pit."
    keyed = name_of(entered) if isinstance(entered, KeyCard | KeyStandardCard) else None
    board = f"after entry {current.plays[-1].seq}" if current.plays else "at its start"
    alert = f"{scene.table.name}, round {current.number}, {board}: a {keyed} was keyed that the shoe cannot hold"
    number = current.number if scene.standing.round_open else None
    step = PendingEntry(CardRefused(rank=keyed, says=illegal.sentence), number)
    # The cause is the sentence: the same card keyed again on the same board is a repeat of one alert.
    facts = {"cause": alert, "round": current.number, "seq": scene.next_seq, "rank": keyed}
    return Decision([step], refusal, alert, facts)


# --- taking back -----------------------------------------------------------------------------------------------


def latest_aside(scene: CommandContext) -> PendingEntry | None:
    """The entry that takes back what comes first, where the latest entry of the round is none of its inputs: that the
    cut card came out, or the payment that the walk came to last. Raises Refused when the round stands."""
    standing = scene.standing
    if standing.round is None or not (standing.cut_seq or standing.round.paid):
        return None
    current, shoe = _on_the_felt(scene)
    seat, paid_seq = list(current.paid.items())[-1] if current.paid else (0, 0)
    if standing.cut_seq > max(paid_seq, current.plays[-1].seq) and not shoes.is_at_cut(scene, current, current.state):
        return PendingEntry(
            CutCardBack(shoe=replace(shoe, cut_out=False).noting(cut_round=0), corrects=standing.cut_seq)
        )
    if not paid_seq:
        return None
    if standing.marked_seq > paid_seq:
        raise Refused("card_stands", "Commission was collected since: that round stands.", 409)
    return PendingEntry(TakenBack(corrects=paid_seq, actions=(), seat=seat), current.number)


def last_input(scene: CommandContext) -> Play:
    """The input that can be taken back now. Raises Refused when it stands."""
    current, shoe = _on_the_felt(scene)
    target = current.plays[-1]
    _may_take_back(scene, current, shoe, target)
    return target


def _on_the_felt(scene: CommandContext) -> tuple[Round, Shoe]:
    """The round and the shoe that something can be taken back in. Raises Refused where there are none any more."""
    standing = scene.standing
    current, shoe = standing.round, standing.shoe
    if current is None or not current.plays:
        raise Refused("nothing_to_take_back", "There is nothing to take back in this round.", 409)
    if shoe is None or shoe.stage != "ready" or current.first_seq < shoe.ready_seq:
        raise Refused("nothing_to_take_back", "The shoe was changed or shuffled since: that round stands.", 409)
    if current.first_seq < standing.opened_seq:
        raise Refused("nothing_to_take_back", "The table was closed since: that round stands.", 409)
    if current.voided:
        raise Refused("nothing_to_take_back", "That round is void: nothing in it counts.", 409)
    return current, shoe


def _may_take_back(scene: CommandContext, current: Round, shoe: Shoe, target: Play) -> None:
    if target.has_card and shoe.source == ShoeSource.HOUSE:
        raise Refused("card_stands", "The house shoe dealt this card: it stands.", 409)
    if current.secret and target.actions:
        raise Refused("card_stands", "A player chose this for himself: it stands.", 409)
    if shoe.aside and shoe.aside[-1][0] > target.seq:
        raise Refused("card_stands", "A card left the shoe since: that round stands.", 409)
    if scene.standing.seated_seq > target.seq:
        raise Refused("card_stands", "Chips were bought or cashed since: that game stands.", 409)
    if scene.standing.marked_seq > target.seq:
        raise Refused("card_stands", "Commission was collected since: that round stands.", 409)
    if any(type(action) is Shuffle for action in target.actions):
        raise Refused("card_stands", "The discards were shuffled: that cannot be taken back.", 409)
    if scene.by.has_perm("tables.run_floor"):
        return
    if current.latest_card_seq > target.seq:
        raise Refused("card_stands", "Another card was keyed since: a pit boss has to take it back.", 409)
    if target.is_ruling and not current.over:  # over, its reopening is approved by a pit boss
        says = "This is a ruling on the hand of a player who left: a pit boss takes it back."
        raise Refused("player_left", says, 403)
