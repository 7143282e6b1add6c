"""Card readers: a device names the cards of a table's shoe, on behalf of the dealer who is signed in there.

A message has the rights of a key: a card that a key may not name is refused from a reader too. Messages are numbered.
A repeated one gets its first answer, by its idempotency key; a gap is refused with the number that is due. Where reader
and dealer disagree, the round stops until they are settled, and the pit is alerted.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone
from msgspec import structs

from ledger.models import LogEntry
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables.floor import permissions, rounds
from tables.floor.command_context import CommandContext, Decision, PendingEntry, program_of
from tables.floor.handlers import enters, reproduces, staff_of
from tables.floor.inputs import (
    GiveBackReader,
    Input,
    KeyCard,
    KeyStandardCard,
    ReadCard,
    SettleReader,
    ShowAcknowledged,
    StartReader,
    TakeOverReader,
)
from tables.games.cards import PAIRS
from tables.games.protocol import DEALER, AskCard, AskChoice, Card, Illegal
from tables.log import scopes
from tables.log.catalog import read
from tables.log.entries.readers import ReaderGivenBack, ReaderSettled, ReaderStarted, ReaderStopped, ReaderTakenOver
from tables.log.entries.rounds import Played
from tables.log.event import AuditFailure
from tables.log.game_kinds import kind_of
from tables.log.message import text_of
from tables.log.reader_messages import number_of
from tables.log.state import CardReader, TableState
from tables.models import ServiceAccount, ShoeSource
from tables.refusals import Refused, sentence
from tables.roles import Role
from tables.setup import policies

HEARD_SECONDS: Final = 15
"""Without a message for this long, a reader is offline and the dealer's keys count at once."""
NOTED_SECONDS: Final = 5
NO_CARD_DUE: Final = "no card is due now"


def about(context: CommandContext) -> dict[str, Any]:
    """The reader of a table as the fields `name` and `session` of its entries."""
    reader = context.standing.reader
    assert reader is not None  # noqa: S101 -- callers have checked it
    return {"name": reader.name, "session": reader.session}


def latest_number(book_id: int, reader: CardReader, before_seq: int | None = None) -> int:
    """The number of the last message of a reader that counted, before entry `before_seq`; 0 for none.

    A reader writes entries often, so the search backwards from the newest entry is short.
    """
    rows = LogEntry.objects.filter(book_id=book_id, by=f"program {reader.name}")
    rows = rows if before_seq is None else rows.filter(seq__lt=before_seq)
    row = rows.order_by("-seq").values_list("subject", "kind", "body").first()
    return (number_of(read(*row)) or 0) if row else 0


def latest_card(state: TableState) -> str:
    """The spelling of the card read last, if it is the latest input of the open round; empty otherwise."""
    current = state.round
    if current is None or not state.round_open or not current.plays or not current.plays[-1].is_read:
        return ""
    card = current.plays[-1].actions[-1]
    return str(kind_of(current.game).pack(current.rules).spell(card.rank)) if isinstance(card, Card) else ""


# --- Whether it is there ----------------------------------------------------------------------------------------


def hear(account: ServiceAccount) -> None:
    """Record that a reader sent a message, at most once in NOTED_SECONDS, so that screens can report a silent one."""
    # A column and no entry: a heartbeat is no event, and would grow the log every few seconds.
    moment = timezone.now()
    if account.heard_at is None or moment - account.heard_at > timedelta(seconds=NOTED_SECONDS):
        ServiceAccount.objects.filter(pk=account.pk).update(heard_at=moment)


def is_heard(reader: CardReader) -> bool:
    """Whether the account of a reader is active and sent a message within the last HEARD_SECONDS."""
    account = ServiceAccount.objects.filter(name=reader.name).first()
    if account is None or not account.is_active or account.heard_at is None:
        return False
    return timezone.now() - account.heard_at <= timedelta(seconds=HEARD_SECONDS)


def awaits_card(state: TableState) -> bool:
    """Whether the card that is due next is one that the reader names: from the shoe and face up."""
    current = state.round
    if current is None or not state.round_open or current.to_pay:
        return False
    prompts = current.game.prompts(current.state)
    ask = rounds.card_due(current, current.state)
    return bool(prompts) and isinstance(prompts[0], AskCard) and ask is not None and not ask.lies_at


def may_draw(state: TableState) -> bool:
    """Whether a seat has a decision of which exactly one choice draws a card: a card read then means that choice."""
    current = state.round
    if current is None or not state.round_open or current.to_pay:
        return False
    first = next(iter(current.game.prompts(current.state)), None)
    return isinstance(first, AskChoice) and first.seat != DEALER and sum(way.draws for way in first.choices) == 1


# --- What a reader enters ---------------------------------------------------------------------------------------


def permit(context: CommandContext, by: ServiceAccount, entered: Input) -> None:
    """Raises Refused unless a card reader names cards of its own table, or a program reports a receipt.

    The account is read again under the table's lock: revoked during a round, it names no further card.
    """
    # The request was authenticated before the lock was acquired. The token may have been revoked since.
    by.refresh_from_db()
    if isinstance(entered, ShowAcknowledged) and by.is_active and by.reaches(context.table):
        return
    if not (by.may(scopes.CARDS, context.table) and isinstance(entered, StartReader | ReadCard)):
        raise Refused("not_permitted", f"{by} does not name the cards of {context.table.name}.", 403)
    source = context.standing.shoe.source if context.standing.shoe else context.table.source
    if source == ShoeSource.HOUSE:
        raise Refused("house_shoe", f"The house shoe deals at {context.table.name}: no card is read.", 422)
    # The log and the feed would reveal a hidden card before the players may know it.
    if context.game.hides or context.game.looks:
        message = f"Cards lie facedown at {context.table.name}: a reader would tell them before their time."
        raise Refused("cards_hidden", message, 422)


@enters(StartReader, permit=permissions.only_readers)
def start(context: CommandContext, entered: StartReader) -> Decision:
    """A new session of a reader: its messages are numbered from 1. A restarted device therefore repeats no card."""
    assert isinstance(context.by, ServiceAccount)  # noqa: S101 -- the permit admits no other author
    # A restart of the device must not dismiss a disagreement that is still open.
    permissions.not_stopped(context)
    before = context.standing.reader
    taken_over = before is not None and not before.is_live
    return Decision([PendingEntry(ReaderStarted(name=context.by.name, session=entered.session, taken_over=taken_over))])


@enters(ReadCard, permit=permissions.only_readers)
def read_card(context: CommandContext, entered: ReadCard) -> Decision:
    """A card named by a reader, as its key would name it.

    One that the game cannot take stops the round. Raises Refused.
    """
    # The number first: a late or repeated message must not name a second card.
    reader = _in_turn(context, entered)
    permissions.for_a_reader(context)
    current, due = context.standing.round, latest_number(context.table.book_id, reader) + 1
    if not context.standing.round_open or current is None:
        # Cards that pass the reader during shuffle and burn are no cards of a round: refused, without a stop.
        rounds.shoe_ready(context)
        return _stopped(context, entered.card, NO_CARD_DUE, number=due)
    if current.to_pay:
        return _stopped(context, entered.card, NO_CARD_DUE, number=due)
    ask = rounds.card_due(current, current.state)
    if ask is not None and ask.lies_at:
        message = "The card that is due lies facedown: the dealer names it when it is turned."
        raise Refused("not_told_yet", message, 409, due=due)
    key = KeyStandardCard(str(entered.card)) if _is_standard(context) else KeyCard(_rank(entered.card))
    try:
        decision = rounds.play(context, current, None, key)
    except Illegal as illegal:
        # Written although refused: a card that the shoe cannot contain is evidence, whichever side is wrong.
        return _stopped(context, entered.card, illegal.say(money), number=due)
    step = decision.steps[0]
    assert isinstance(step.event, Played)  # noqa: S101 -- a card is a play
    read = replace(step, event=structs.replace(step.event, read=due))
    return replace(decision, steps=[read, *decision.steps[1:]])


def _in_turn(context: CommandContext, entered: ReadCard) -> CardReader:
    reader = context.standing.reader
    if reader is None or (reader.name, reader.session) != (context.by.name, entered.session):
        says = "Another session of a reader has begun here: start one, by its number 0."
        raise Refused("other_session", says, 409, due=0)
    due = latest_number(context.table.book_id, reader) + 1
    if entered.number != due:
        raise Refused("reader_gap", f"Message {due} is due, and this is {entered.number}.", 409, due=due)
    if reader.stop is not None:
        raise Refused("reader_stopped", f"{context.table.name} waits until the dealer says who is right.", 409, due=due)
    if not reader.is_live:
        raise Refused(
            "taken_over", f"The dealer keys the cards of {context.table.name}: leave this one out.", 409, due=due
        )
    return reader


def _is_standard(context: CommandContext) -> bool:
    return kind_of(context.game).pack(context.rules) is not PAIRS


def _rank(card: int | str) -> int:
    try:
        return int(card)
    except ValueError:
        return 0  # no rank: the prompt says which there are


def _stopped(context: CommandContext, card: int | str, message: str, *, number: int) -> Decision:
    """The entry that stops the round for an impossible card, and the refusal that the reader gets at each retry."""
    message = sentence(message)
    event = ReaderStopped(**about(context), number=number, read=str(card), says=message)
    refusal = Refused("reader_stopped", f"{context.table.name} stops: {message}", 409, due=number + 1)
    return _reported(context, event, refusal)


def _reported(context: CommandContext, event: ReaderStopped, refusal: Refused | None = None) -> Decision:
    state = context.standing
    current = state.round.number if state.round_open and state.round else None
    alert = f"{context.table.name}, round {state.next_number}: {text_of(event.description())}"
    return Decision(
        [PendingEntry(event, current)],
        refusal,
        alert,
        {"seq": context.next_seq, "reader": state.reader.name if state.reader else ""},
    )


# --- What the dealer enters -------------------------------------------------------------------------------------


@enters(KeyCard, KeyStandardCard, permit=permissions.the_dealer)
def key_card(context: CommandContext, entered: KeyCard | KeyStandardCard) -> Decision:
    """A card by key. Raises Refused.

    With a live reader it reports that the card read last is wrong. With a silent reader the dealer takes over by it.
    """
    reader = context.standing.reader
    if reader is None or not reader.is_live or reader.stop is not None or _lies(context):
        return rounds.enter(context, entered)
    if not is_heard(reader):
        decision = rounds.enter(context, entered)
        if decision.refusal:
            return decision
        # The takeover precedes the card, so that the log never has a card of which the source is open.
        return replace(decision, steps=[PendingEntry(ReaderTakenOver(**about(context), unheard=True)), *decision.steps])
    keyed = str(rounds.name_of(entered))
    card = latest_card(context.standing)
    if not card:
        raise Refused("reader_names", "The reader names the cards: take over first, then key.", 409)
    if keyed == card:
        raise Refused("named_already", f"The reader read that {keyed} already.", 409)
    event = ReaderStopped(**about(context), read=card, keyed=keyed, says="The dealer keyed another card.")
    return _reported(context, event)


def _lies(context: CommandContext) -> bool:
    """Whether the card that is due is face down: the dealer names it by key even with a live reader."""
    current = context.standing.round
    if current is None or not context.standing.round_open:
        return False
    ask = rounds.card_due(current, current.state)
    return ask is not None and bool(ask.lies_at)


@enters(TakeOverReader, permit=permissions.the_dealer)
def take_over(context: CommandContext, entered: TakeOverReader) -> Decision:
    """The dealer keys the cards from now on. Raises Refused."""
    permissions.not_stopped(context)
    reader = context.standing.reader
    if reader is None or not reader.is_live:
        raise Refused("not_read", "The dealer keys the cards here already.", 409)
    return Decision([PendingEntry(ReaderTakenOver(**about(context)))])


@enters(GiveBackReader, permit=permissions.the_dealer)
def give_back(context: CommandContext, entered: GiveBackReader) -> Decision:
    """The reader names the cards again. Raises Refused while it is silent."""
    permissions.not_stopped(context)
    reader = context.standing.reader
    if reader is None or reader.is_live:
        raise Refused("not_taken_over", "There is no reader here whose cards the dealer keys.", 409)
    if not is_heard(reader):
        raise Refused("reader_silent", f"The reader {reader.name} is not heard: go on with the keys.", 409)
    return Decision([PendingEntry(ReaderGivenBack(**about(context)))])


@enters(SettleReader, permit=permissions.who_settles_readers)
def settle(context: CommandContext, entered: SettleReader) -> Decision:
    """Whether reader or dealer was right, by a role that the policy permits. Raises Refused.

    If the dealer was right, the card read is taken back and keyed like any wrong key, by the pit boss where that needs
    one.
    """
    reader = context.standing.reader
    if reader is None or reader.stop is None:
        raise Refused("nothing_to_settle", "Reader and dealer do not disagree.", 409)
    # Recorded only where the policy requires a pit boss: the proof compares it with the policy in force then.
    role = context.author["role"] if permissions.settles_readers() == Role.PIT_BOSS else ""
    return Decision([PendingEntry(ReaderSettled(**about(context), right=entered.right, role=role))])


# --- enacted anew -----------------------------------------------------------------------------------------------


@reproduces(ReaderStarted)
def enact_start(context: CommandContext, event: ReaderStarted, entry: Entry) -> PendingEntry:
    """Raises AuditFailure unless the reader wrote the entry itself, and Refused while a disagreement is open."""
    # A session started in the name of another reader would let that reader be silenced.
    if program_of(entry.by) != event.name:
        raise AuditFailure(f"it starts the reader {event.name}, and {entry.by} wrote it")
    permissions.not_stopped(context)
    before = context.standing.reader
    return PendingEntry(structs.replace(event, taken_over=before is not None and not before.is_live), entry.round)


@reproduces(ReaderStopped)
def enact_stop(context: CommandContext, event: ReaderStopped, entry: Entry) -> PendingEntry:
    """A stop by the reader for its own card, or by the dealer for a key. Raises AuditFailure.

    Only the reader knows what it read, so the card of its own stop is taken from the entry.
    """
    reader = context.standing.reader
    if reader is None or not reader.is_live or reader.stop is not None:
        raise AuditFailure("no card reader names the cards here then")
    if not event.number:
        permissions.the_dealer(context, staff_of(context, entry))
        if not event.keyed or event.read != latest_card(context.standing):
            raise AuditFailure("the dealer disagrees with a card that the reader did not name")
    elif program_of(entry.by) != reader.name:
        raise AuditFailure(f"it is of a card reader, and {entry.by} names no cards here")
    return PendingEntry(structs.replace(event, **about(context)), entry.round)


@reproduces(ReaderTakenOver, ReaderGivenBack)
def enact_by_dealer(context: CommandContext, event: ReaderTakenOver | ReaderGivenBack, entry: Entry) -> PendingEntry:
    """A takeover or return of the reader's cards. Raises AuditFailure.

    No entry records whether the reader was heard. Taking back a card may make the pit boss take over as well.
    """
    by, reader = staff_of(context, entry), context.standing.reader
    (permissions.the_dealer_or_the_floor if isinstance(event, ReaderTakenOver) else permissions.the_dealer)(context, by)
    if reader is None or reader.stop is not None:
        raise AuditFailure("no card reader is there, or it has stopped")
    if reader.is_live is not isinstance(event, ReaderTakenOver):
        raise AuditFailure("the cards are named by whom it says already")
    return PendingEntry(structs.replace(event, **about(context)), entry.round)


@reproduces(ReaderSettled)
def enact_settled(context: CommandContext, event: ReaderSettled, entry: Entry) -> PendingEntry:
    """Raises AuditFailure where the policy in force then did not permit the role, or there was nothing to settle."""
    (permissions.the_floor if event.role else permissions.the_dealer)(context, staff_of(context, entry))
    if not policies.went_by(permissions.SETTLED_BY, entry, (event.role or str(Role.DEALER)).__eq__):
        raise AuditFailure(f"the house's terms did not let the {event.role or 'dealer'} settle it then")
    if context.standing.reader is None or context.standing.reader.stop is None:
        raise AuditFailure("no card reader is there, or it has not stopped")
    return PendingEntry(structs.replace(event, **about(context)), entry.round)
