"""record(): the one place where an input at a table becomes durable, and the order of its stages.

| stage | what it does | where |
|---|---|---|
| identify | fingerprint of the input and its author | `stages` |
| lock | lock of the table's log; settings, chips and key under it | `table_lock` |
| compare receipt | does the log have what the screen was shown? | `restored_tables.check_receipt` |
| deduplicate | a repeated input gets its first answer | `stages`, `writer.recorded` |
| permission | may this author make this input here and now? | `stages`, `permissions` |
| freshness | has the table changed since the screen was drawn? | `stages` |
| decide | the handler of the input: entries to write, or a refusal | `stages`, `handlers` |
| sign | signature of the terminal or passkey | `signature_checks.attest` |
| annotate | the paper that the input was entered from | `back_entry.noted` |
| append | entries, transfers, alert and commit | `stages`, `writer.write` |
| after commit | metrics; what waited for the next shoe | `recorder` |
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction

from ledger import log, meters
from ledger.connection_pools import turn_at
from ledger.proof.chain import Head
from tables.approvals import proposals
from tables.floor import back_entry, player_pages, refused_inputs, restored_tables, signature_checks, stages, table_lock
from tables.floor.back_entry import FromPaper
from tables.floor.command_context import AtSeat, CommandContext
from tables.floor.inputs import Burn, Input, IssueSeatPage, LoadShoe, RetireShoe, ShuffleShoe, SignIn, SignOut
from tables.floor.recording import EntryOptions, Recording
from tables.limits import enforcement
from tables.log.attestation import Attestation
from tables.log.state import TableState
from tables.models import ServiceAccount, Staff, Table
from tables.refusals import Refused
from tables.state import acknowledgement, table_state
from tables.state.acknowledgement import Acknowledged


@dataclass(frozen=True, slots=True)
class StateAfter:
    """The table as it was read under the lock, and its state after the entries that were written there."""

    table: Table
    state: TableState
    ends_shoe: bool = False
    """Whether the input ended the shoe that was dealt from."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The acknowledgement of record(): the first entry that it wrote, and the table's sequence number now."""

    entry: int
    seq: int
    again: bool = False
    """Whether this input had been recorded before, under the same key."""
    after: StateAfter | None = field(default=None, compare=False, repr=False)
    """The table as this input left it, so that a screen need not read it again. None for a repeated input, and where
    limits for the next shoe were set after it."""


# --- The stages, in order --------------------------------------------------------------------------------------


def record(
    table: Table,
    entered: Input,
    *,
    by: Staff | AtSeat | ServiceAccount,
    key: UUID,
    expected_seq: int | None,
    attested: Attestation | None = None,
    paper: FromPaper | None = None,
    receipt: Acknowledged | None = None,
) -> Receipt:
    """Make an input durable and acknowledge it, or raise Refused with nothing done. A refused input may be noted in the
    site's log (``refused_inputs``).

    ``expected_seq`` is the table's sequence number that the input was entered on; ``None`` only for inputs that do not
    depend on the state (tapping in and out). A repeated ``key`` with an identical input gets the answer of the first
    time. ``attested`` is the signature of the terminal on which a person signed by badge and PIN; ``paper`` is the form
    that the input was written on during an outage; ``receipt`` is the last acknowledgement that the screen received,
    which shows whether the database was restored to an earlier moment since.
    """
    options = EntryOptions(key, expected_seq, attested, paper, receipt)
    try:
        with meters.RECORD_SECONDS.time():
            answer = _run_stages(stages.identify(table, entered, by, options))
    except restored_tables.TableBehind as behind:
        # The report is an input of its own in a transaction of its own: the one that found the gap is rolled back.
        refused = _show(table, behind.receipt, by)
        meters.REFUSALS.labels(refused.code).inc()
        raise refused from None
    except Refused as refused:
        # The note is committed apart, after the input was rolled back: in its transaction the note would be lost, and
        # a note under the table's lock would let the dealer wait for the log of the site.
        meters.REFUSALS.labels(refused.code).inc()
        refused_inputs.note(entered, refused, by.signature, table=table.name)
        raise
    return _apply_changes_for_next_shoe(table, entered, answer)


def _run_stages(recording: Recording) -> Receipt:
    """Take an input through the stages up to its commit. Raises Refused, and TableBehind in stage `compare receipt`."""
    options = recording.options
    # Everything from lock to append is one transaction under one lock, because each stage relies on the state that the
    # stage before it has read: an input between decide and append could move the same chips twice. The turn comes
    # first: threads of this process wait for their table without a database connection.
    with turn_at(recording.table.book_id).turn(), transaction.atomic():
        locked = table_lock.lock(recording)
        head = locked.head
        # Before deduplicate: to a restored log a repeated input looks new, and its screen knows better.
        restored_tables.check_receipt(options.receipt, locked.shown_hash, head)
        # Before any handler: that of an input which was recorded already might open the secret order of a shoe.
        if (entry := stages.deduplicate(recording, locked)) is not None:
            return Receipt(entry, head.seq, again=True)
        context = stages.in_context(recording, locked)
        # Permission before freshness: a person who may not do it hears that, and the pit reads of the attempt, however
        # old the screen is.
        stages.check_permission(context, recording.entered)
        stages.check_freshness(context, recording, locked)
        decision = stages.decide(context, recording.entered)
        # Sign and annotate come last: they write (the counter of a passkey) or read the log, which only an input that
        # is taken should cost. The signature covers the first entry alone, so the note of the paper follows it.
        decision = signature_checks.attest(decision, options.attested, head, context.signature, options.key)
        decision = back_entry.noted(decision, options.paper, recording.by, context.standing.back_entry, head)
        # Unless an alert or a signature follows, the last entry carries the commit: no query may come after it.
        state = stages.append(recording, locked, context, decision)
    _count_round(context, state)
    if decision.refusal:
        # A refusal that is reported in the log (a card that the shoe cannot contain): its entry is committed by now.
        decision.refusal.facts["seq"] = state.seq
        raise decision.refusal
    ends_shoe = state.shoe_is_over and not context.standing.shoe_is_over
    return Receipt(head.seq + 1, state.seq, after=StateAfter(locked.table, state, ends_shoe))


# --- After the commit ------------------------------------------------------------------------------------------

AT_THE_SHOE: Final = (LoadShoe, ShuffleShoe, Burn, RetireShoe)
"""Inputs after which another shoe is dealt: limits that wait for the next shoe take effect."""


def _count_round(context: CommandContext, state: TableState) -> None:
    """Count a round that this input ended."""
    # After the commit: a round that was rolled back would be counted twice when its last card is keyed again.
    if context.standing.round_open and not state.round_open:
        meters.ROUNDS.labels(context.table.game).inc()


def _apply_changes_for_next_shoe(table: Table, entered: Input, answer: Receipt) -> Receipt:
    """Set the limits and make the approved changes that waited for the end of the shoe, if this input ended it; returns
    the receipt with the sequence number after them."""
    # In transactions of their own after the commit: proposals lock the site's log and then that of the table, and the
    # reverse order inside the input's transaction could deadlock. The shoe is over even if they fail: a worker tries
    # them again.
    is_set = isinstance(entered, AT_THE_SHOE) and enforcement.with_the_shoe(table.pk)
    if answer.after is not None and answer.after.ends_shoe:
        is_set |= proposals.with_the_shoe(answer.after.table.name)
    # Entries were added since, so the state in the receipt is not the newest any more: the screen reads it again.
    return replace(answer, seq=log.read_head(table.book_id).seq, after=None) if is_set else answer


# --- A table whose log was restored ----------------------------------------------------------------------------


def show(table: Table, head: Head, receipt: Acknowledged | None, by: Staff | ServiceAccount) -> bool:
    """Report a receipt that the log of a table contradicts, from a screen that only reads the table.

    Returns whether the table waits to be confirmed because of it. A screen whose user may not report it keeps the
    receipt for the next one.
    """
    if receipt is None or (receipt.seq == head.seq and not acknowledgement.is_missing(receipt, head.hash)):
        return False
    if not lacks(head.book_id, receipt) or not restored_tables.is_news(table_state.at(head), receipt):
        return False
    try:
        # Looking at a table must not fail because its log is behind: a user who may not write keeps the receipt.
        _show(table, receipt, by)
    except Refused:
        return False
    return True


def lacks(book_id: int, receipt: Acknowledged) -> bool:
    """Whether a log lacks an entry that was acknowledged."""
    return bool(receipt.seq) and acknowledgement.is_missing(receipt, log.hash_at(book_id, receipt.seq))


def _show(table: Table, receipt: Acknowledged, by: Staff | AtSeat | ServiceAccount) -> Refused:
    """Make the table wait to be confirmed, with an alert; returns the refusal of further inputs there."""
    entered, key = restored_tables.showing(receipt, by.signature)
    record(table, entered, by=by, key=key, expected_seq=None)
    # Read anew: the caller's row and head are older than the entry that was just written.
    table = Table.objects.select_related("book").get(book_id=table.book_id)
    return restored_tables.waits(table.name, table_state.at(table_state.head_of(table)))


# --- Shorthands ------------------------------------------------------------------------------------------------


def sign_in(table: Table, staff: Staff, terminal: str | None = None) -> Receipt:
    """Tap a dealer in at a table without a dealer. Raises Refused if it is closed or the dealer is at another one."""
    return record(table, SignIn(terminal), by=staff, key=uuid4(), expected_seq=None)


def relieve(table: Table, staff: Staff, dealer: str, *, confirmed_by: Staff, terminal: str | None = None) -> Receipt:
    """Tap a relief in at a table in place of its dealer, in mid-round or not. Raises Refused unless that dealer, or a
    pit boss, has agreed by badge and PIN."""
    entered = SignIn(terminal, relieves=dealer, confirmed_by=confirmed_by.username)
    return record(table, entered, by=staff, key=uuid4(), expected_seq=None)


def sign_out(table: Table, staff: Staff) -> Receipt:
    """Tap out the dealer of a table."""
    return record(table, SignOut(), by=staff, key=uuid4(), expected_seq=None)


def give_seat_page(table: Table, seat: int, *, by: Staff, key: UUID, expected_seq: int) -> str:
    """Issue a player page to a seat; returns the token of its address, which cannot be read again later."""
    token = player_pages.new_token()
    entered = IssueSeatPage(seat, player_pages.digest_of(token))
    record(table, entered, by=by, key=key, expected_seq=expected_seq)
    return token
