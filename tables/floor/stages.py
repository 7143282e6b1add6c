"""The stages of record() that have no module of their own; `recorder` lists all stages in their order.

Each stage is one function that gets what it needs and can be read without the others. It raises Refused to stop the
input; the transaction around it is rolled back then, so a stage leaves nothing behind.
"""

from __future__ import annotations

from dataclasses import replace

from ledger import alerts
from ledger.models import LogEntry
from ledger.proof.chain import Head
from tables.floor import card_readers, permissions, player_pages, restored_tables, writer
from tables.floor.command_context import AtSeat, CommandContext, Decision
from tables.floor.handlers import HANDLINGS, SLIPS_AND_WORDS
from tables.floor.inputs import Input, ShowAcknowledged
from tables.floor.recording import EntryOptions, LockedTable, Recording
from tables.floor.writer import Request
from tables.games.catalog import GAMES
from tables.log.catalog import fold
from tables.log.state import TableState
from tables.log.terms import limits_of, rules_of
from tables.models import ServiceAccount, Staff, Table
from tables.refusals import Refused
from tables.state import acknowledgement, table_state

# --- Before the lock -------------------------------------------------------------------------------------------


def identify(table: Table, entered: Input, by: Staff | AtSeat | ServiceAccount, options: EntryOptions) -> Recording:
    """The input with the fingerprint that its entry will have."""
    # Encoding and hashing the input takes no lock. Done here, no other input at the table waits for it.
    return Recording(table, entered, by, options, Request.of(entered, by.username, options.key))


# --- Under the lock --------------------------------------------------------------------------------------------


def deduplicate(recording: Recording, locked: LockedTable) -> int | None:
    """Sequence number of the entry that this input wrote before; None for a new input. Raises Refused for another input
    under its key, and again for an input that was refused with an entry of its own."""
    # Almost every key is new, and the lock's round trip has told so: the entry is read only where there is one.
    before = writer.recorded(locked.head, recording.request) if locked.is_key_known else None
    return before[0] if before else None


def in_context(recording: Recording, locked: LockedTable) -> CommandContext:
    """The context for the handler: the table with its current settings, and its state at the head of the log."""
    table, head = locked.table, locked.head
    # The clock is that of the database, read after the lock: entries and decisions use one moment, and a proof can
    # repeat the decision from the entry's own time.
    return CommandContext(
        table, GAMES[table.game], rules_of(table), limits_of(table), table_state.at(head), recording.by, head.moment
    )


def check_permission(context: CommandContext, entered: Input) -> None:
    """Raises Refused where the author may not make this input at this table now."""
    by = context.by
    if isinstance(by, AtSeat):
        player_pages.permit(context, by, entered)
    elif isinstance(by, ServiceAccount):
        card_readers.permit(context, by, entered)
    else:
        HANDLINGS[type(entered)].permit(context, by)
        # The report of a restored database concerns the whole site, so the assignment to a pit does not restrict it.
        if not isinstance(entered, restored_tables.SHOWN):
            permissions.in_their_pit(context, by)


def check_freshness(context: CommandContext, recording: Recording, locked: LockedTable) -> None:
    """Raises Refused where the table has changed since the screen of the input was drawn, or where a restored database
    is reported that lacks no entry."""
    expected, entered = recording.options.expected_seq, recording.entered
    # Nearly always the numbers are equal, and no further look is taken on the path of a card.
    if expected is not None and expected != context.standing.seq and _has_moved_on(context, expected):
        raise _stale(locked.head)
    if isinstance(entered, ShowAcknowledged) and not acknowledgement.is_missing(entered, locked.shown_hash):
        sentence = f"{locked.table.name} has entry {entered.seq}: nothing is missing there."
        raise Refused("not_missing", sentence, 409)


def decide(context: CommandContext, entered: Input) -> Decision:
    """The entries that the handler of this input would write. Raises Refused."""
    decision = HANDLINGS[type(entered)].enter(context, entered)
    # Asked of the entries and not of the input: at a table that waits to be confirmed a pit boss may confirm, lock the
    # rack or tap dealers out, and one input may lead to either sort of entry.
    if context.standing.restored is not None:
        restored_tables.refuse_waiting(context, decision)
    return decision


def append(recording: Recording, locked: LockedTable, context: CommandContext, decision: Decision) -> TableState:
    """Write the entries, their transfers and the alert; returns the state of the table after them."""
    state, head = context.standing, locked.head
    for written in writer.write(head, decision, recording.request, context.signature):
        state = fold(state, written.event, seq=written.head.seq, round=written.round)
        head = written.head
    state = replace(state, hash=head.hash)
    # Safe before the commit: the hash of the head is the key of the cache, so a state whose entries were rolled back
    # answers for no other history. Put here, the next input at this process finds it.
    table_state.cache.put(head.book_id, state)
    if decision.alert:
        # In the transaction of its entry: an alert without its entry accuses wrongly, and an entry without its alert
        # escapes the staff on duty.
        kind = decision.steps[0].event.kind
        alerts.raise_event(context.table.book, kind, decision.alert, decision.evidence)
    return state


# --- Freshness -------------------------------------------------------------------------------------------------


def _has_moved_on(context: CommandContext, expected_seq: int) -> bool:
    """Whether cards, bets or the dealer have changed since the entry that an input was made on.

    A player may choose on any number since the seat was asked: secret choices of other seats change nothing that the
    player has seen, so several seats may answer on one number, in any order.
    """
    state, by = context.standing, context.by
    if isinstance(by, AtSeat) and state.round is not None:
        return not state.round.asked.get(by.seat, state.seq) <= expected_seq <= state.seq
    if expected_seq >= state.seq:
        return expected_seq > state.seq
    # A slip, a dispute or a correction does not change the cards and bets that a dealer has looked at. Without this,
    # a fill that is signed while the dealer's finger is on a key would refuse the card that lies on the table.
    since = LogEntry.objects.filter(book_id=context.table.book_id, seq__gt=expected_seq, seq__lte=state.seq)
    return since.exclude(subject__in=SLIPS_AND_WORDS).exists()


def _stale(head: Head) -> Refused:
    return Refused(
        "stale_sequence",
        "The table has moved on since this screen was drawn; look at it again, then enter what is still to be done.",
        409,
        seq=head.seq,
    )
