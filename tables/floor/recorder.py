"""record(): the one place where an input at a table becomes durable.

In one transaction: lock the table's book, refuse what was entered on an old state, play it, write its entries and,
on a round's last card, the transfers that settle it. An input with a known idempotency key is answered as before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction

from ledger import alerts, log, meters
from ledger.connection_pools import turn_at
from ledger.models import LogEntry
from ledger.prepared import Statement
from ledger.proof.chain import Head
from ledger.raw_rows import RawRows
from tables.approvals import proposals
from tables.floor import (
    back_entry,
    card_readers,
    permissions,
    player_pages,
    refused_inputs,
    restored_tables,
    signature_checks,
    writer,
)
from tables.floor.back_entry import FromPaper
from tables.floor.command_context import AtSeat, CommandContext, Decision
from tables.floor.handlers import HANDLINGS, SLIPS_AND_WORDS
from tables.floor.inputs import (
    Burn,
    Input,
    IssueSeatPage,
    LoadShoe,
    RetireShoe,
    ShowAcknowledged,
    ShuffleShoe,
    SignIn,
    SignOut,
)
from tables.floor.writer import Request
from tables.games.catalog import GAMES
from tables.limits import enforcement
from tables.log.attestation import Attestation
from tables.log.catalog import fold
from tables.log.state import TableState
from tables.log.terms import limits_of, rules_of
from tables.models import Denomination, ServiceAccount, Staff, Table
from tables.refusals import Refused
from tables.state import acknowledgement
from tables.state import table_state as standings
from tables.state.acknowledgement import Acknowledged


@dataclass(frozen=True, slots=True)
class StateAfter:
    """What was read and written under the table's lock: its settings, and where it stands since."""

    table: Table
    standing: TableState
    ends_shoe: bool = False
    """Whether the shoe that was dealt from is over since."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What record() acknowledges: the first entry that it wrote, and the table's sequence number now."""

    entry: int
    seq: int
    again: bool = False
    """Whether this input had been recorded before, under the same key."""
    after: StateAfter | None = field(default=None, compare=False, repr=False)
    """The table as this input left it, so that a screen need not read it again; unless it was recorded before."""


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
    """Make an input durable and acknowledge it, or raise Refused with nothing done. What is refused may be noted, apart
    from the table's book (``refused_inputs``).

    ``expected_seq`` is the table's sequence number that the input was entered on; ``None`` only for what does not
    depend on the state (tapping in and out). The same ``key`` with the same input is answered as the first time.
    ``attested`` is the signature of the terminal on which somebody signed by badge and PIN; ``paper`` is what it was
    written on during an outage; ``receipt`` is what the screen was acknowledged last, which shows whether the house was
    put back to an earlier moment since.
    """
    beside = EntryOptions(key, expected_seq, attested, paper, receipt)
    try:
        with meters.RECORD_SECONDS.time():
            answer = _recorded(table, entered, by, beside)
    except _Behind as behind:
        refused = _show(table, behind.receipt, by)
        meters.REFUSALS.labels(refused.code).inc()
        raise refused from None
    except Refused as refused:
        meters.REFUSALS.labels(refused.code).inc()
        refused_inputs.note(entered, refused, by.signature, table=table.name)
        raise
    is_set = isinstance(entered, AT_THE_SHOE) and enforcement.with_the_shoe(table.pk)
    if answer.after is not None and answer.after.ends_shoe:
        is_set |= proposals.with_the_shoe(answer.after.table.name)
    return replace(answer, seq=log.read_head(table.book_id).seq, after=None) if is_set else answer


@dataclass(frozen=True, slots=True)
class EntryOptions:
    """What comes with an input."""

    key: UUID
    expected_seq: int | None
    attested: Attestation | None
    paper: FromPaper | None
    receipt: Acknowledged | None


class _Behind(Exception):
    """The book lacks what a screen was acknowledged, and nobody gave it up."""

    def __init__(self, receipt: Acknowledged) -> None:
        self.receipt = receipt


def _recorded(table: Table, entered: Input, by: Staff | AtSeat | ServiceAccount, beside: EntryOptions) -> Receipt:
    key, receipt = beside.key, beside.receipt
    request = Request.of(entered, by.username, key)
    with turn_at(table.book_id).turn(), transaction.atomic():
        shows = entered if isinstance(entered, ShowAcknowledged) else receipt
        head, table, is_known, digest = _under_the_lock(table, key, shows.seq if shows else 0)
        if (
            receipt
            and acknowledgement.is_missing(receipt, digest)
            and restored_tables.is_news(standings.at(head), receipt)
        ):
            raise _Behind(receipt)
        if is_known and (before := writer.recorded(head, request)):
            return Receipt(before[0], head.seq, again=True)
        rules, limits = rules_of(table), limits_of(table)
        scene = CommandContext(table, GAMES[table.game], rules, limits, standings.at(head), by=by, clock=head.moment)
        handling = HANDLINGS[type(entered)]
        if isinstance(by, AtSeat):
            player_pages.permit(scene, by, entered)
        elif isinstance(by, ServiceAccount):
            card_readers.permit(scene, by, entered)
        else:
            handling.permit(scene, by)
            if not isinstance(entered, restored_tables.SHOWN):
                permissions.in_their_pit(scene, by)
        if beside.expected_seq is not None and _has_moved_on(scene, beside.expected_seq):
            raise _stale(head)
        if isinstance(entered, ShowAcknowledged) and not acknowledgement.is_missing(entered, digest):
            raise Refused("not_missing", f"{table.name} has entry {entered.seq}: nothing is missing there.", 409)
        outcome = handling.enter(scene, entered)
        restored_tables.refuse_waiting(scene, outcome)
        outcome = signature_checks.attest(outcome, beside.attested, head, scene.signature, key)
        outcome = back_entry.noted(outcome, beside.paper, by, scene.standing.back_entry, head)
        standing = _write(head, scene, outcome, request)
    if scene.standing.round_open and not standing.round_open:
        meters.ROUNDS.labels(table.game).inc()
    if outcome.refusal:
        outcome.refusal.facts["seq"] = standing.seq
        raise outcome.refusal
    ends_shoe = standing.shoe_is_over and not scene.standing.shoe_is_over
    return Receipt(head.seq + 1, standing.seq, after=StateAfter(table, standing, ends_shoe))


def show(table: Table, head: Head, receipt: Acknowledged | None, by: Staff | ServiceAccount) -> bool:
    """A screen that only looks shows what it was acknowledged: whether that made the table wait to be confirmed. One
    of somebody who may enter nothing there goes on showing it, to the next who looks."""
    if receipt is None or (receipt.seq == head.seq and not acknowledgement.is_missing(receipt, head.hash)):
        return False
    if not lacks(head.book_id, receipt) or not restored_tables.is_news(standings.at(head), receipt):
        return False
    try:
        _show(table, receipt, by)
    except Refused:
        return False
    return True


def lacks(book_id: int, receipt: Acknowledged) -> bool:
    """Whether a book has not got an entry that was acknowledged."""
    return bool(receipt.seq) and acknowledgement.is_missing(receipt, log.hash_at(book_id, receipt.seq))


def _show(table: Table, receipt: Acknowledged, by: Staff | AtSeat | ServiceAccount) -> Refused:
    """The table waits from here on, and everybody hears of it; why nothing is entered there."""
    entered, key = restored_tables.showing(receipt, by.signature)
    record(table, entered, by=by, key=key, expected_seq=None)
    table = Table.objects.select_related("book").get(book_id=table.book_id)
    return restored_tables.waits(table.name, standings.at(standings.head_of(table)))


AT_THE_SHOE: Final = (LoadShoe, ShuffleShoe, Burn, RetireShoe)
"""After these the shoe is another one: limits that wait for it hold."""


def sign_in(table: Table, staff: Staff, terminal: str | None = None) -> Receipt:
    """A dealer takes a table where nobody deals. Raises Refused when it is closed or they stand at another one."""
    return record(table, SignIn(terminal), by=staff, key=uuid4(), expected_seq=None)


def relieve(table: Table, staff: Staff, dealer: str, *, confirmed_by: Staff, terminal: str | None = None) -> Receipt:
    """A dealer takes a table from the one who deals there, in mid-round or not. Raises Refused unless that one, or a
    pit boss, has agreed by badge and PIN."""
    entered = SignIn(terminal, relieves=dealer, confirmed_by=confirmed_by.username)
    return record(table, entered, by=staff, key=uuid4(), expected_seq=None)


def sign_out(table: Table, staff: Staff) -> Receipt:
    """The dealer of a table taps out."""
    return record(table, SignOut(), by=staff, key=uuid4(), expected_seq=None)


def give_seat_page(table: Table, seat: int, *, by: Staff, key: UUID, expected_seq: int) -> str:
    """Give a seat a page of its own; the token of its address, which nobody can find out later."""
    token = player_pages.new_token()
    entered = IssueSeatPage(seat, player_pages.digest_of(token))
    record(table, entered, by=by, key=key, expected_seq=expected_seq)
    return token


# --- the same thing twice --------------------------------------------------------------------------------------


# Settings and key are read after the lock was had: whoever changes a table's settings holds it too, and an input that
# was recorded already must not come near its handler, which may open what is secret.
_TABLES: Final = RawRows(Table)
_CHIPS: Final = RawRows(Denomination)
_READ: Final = Statement(
    "tables_under_the_lock",
    "bigint, uuid, bigint",
    f"""SELECT EXISTS (SELECT FROM ledger_logentry WHERE book_id = $1 AND key = $2),
        (SELECT hash FROM ledger_logentry WHERE book_id = $1 AND seq = $3), {_TABLES.columns("felt")}
        FROM tables_table AS felt WHERE book_id = $1""",  # noqa: S608
)
_READ_CHIPS: Final = Statement(
    "tables_chips_under_the_lock",
    "bigint",
    f"""SELECT {_CHIPS.columns("chip")} FROM tables_table AS felt
        JOIN tables_table_denominations AS has ON has.table_id = felt.id
        JOIN tables_denomination AS chip ON chip.id = has.denomination_id
        WHERE felt.book_id = $1 ORDER BY chip.value_cents DESC""",  # noqa: S608
)


def _under_the_lock(table: Table, key: UUID, told_seq: int) -> tuple[Head, Table, bool, bytes | None]:
    """Where the table's log ends, the table as it is set now, with its chips, whether the key was used before, and the
    hash of the entry that a screen was told of: one round trip."""
    book = table.book_id
    head, (rows, chips) = log.lock_and_read(book, (_READ, [book, key, told_seq]), (_READ_CHIPS, [book]))
    if not rows:
        raise Table.DoesNotExist(f"{table} is not there any more")
    is_known, digest, *values = rows[0]
    locked = _TABLES.row(values)
    kinds = Denomination.objects.all()
    kinds._result_cache = [_CHIPS.row(chip) for chip in chips]
    locked._prefetched_objects_cache = {"denominations": kinds}  # type: ignore[attr-defined]
    return head, locked, is_known, digest


def _has_moved_on(scene: CommandContext, expected_seq: int) -> bool:
    """Whether the state that an input was entered on is another one now.

    What a seat chooses by, it has seen since it was asked: what others choose in secret meanwhile changes nothing of
    that. So several seats may answer on one number, whichever comes first. Nor does a slip, a dispute or a correction
    change the cards and bets that a dealer entered something on.
    """
    standing, by = scene.standing, scene.by
    if isinstance(by, AtSeat) and standing.round is not None:
        return not standing.round.asked.get(by.seat, standing.seq) <= expected_seq <= standing.seq
    if expected_seq >= standing.seq:
        return expected_seq > standing.seq
    since = LogEntry.objects.filter(book_id=scene.table.book_id, seq__gt=expected_seq, seq__lte=standing.seq)
    return since.exclude(subject__in=SLIPS_AND_WORDS).exists()


def _stale(head: Head) -> Refused:
    return Refused(
        "stale_sequence",
        "The table has moved on since this screen was drawn; look at it again, then enter what is still to be done.",
        409,
        seq=head.seq,
    )


# --- writing ---------------------------------------------------------------------------------------------------


def _write(head: Head, scene: CommandContext, outcome: Decision, request: Request) -> TableState:
    """Write an outcome's entries; where the table stands since."""
    standing = scene.standing
    for written in writer.write(head, outcome, request, scene.signature):
        standing = fold(standing, written.event, seq=written.head.seq, round=written.round)
        head = written.head
    standing = replace(standing, hash=head.hash)
    standings.cache.put(scene.table.book_id, standing)
    if outcome.alert:
        kind = outcome.steps[0].event.kind
        alerts.raise_event(scene.table.book, kind, outcome.alert, outcome.evidence)
    return standing
