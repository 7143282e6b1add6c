"""After a restore of an older database: a table whose log lacks acknowledged entries waits for a pit boss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID, uuid5

from ledger.proof.chain import Entry, Head
from tables.floor import permissions
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import as_written, enters, reproduces
from tables.floor.inputs import ConfirmRestored, DeclareRestored, ShowAcknowledged
from tables.log.entries.restored import MOST, BookBehind, RestoreConfirmed, stands_still
from tables.log.event import AuditFailure
from tables.log.message import text_of
from tables.log.state import Beyond, Restored, TableState
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.state import acknowledgement, table_state
from tables.state.acknowledgement import Acknowledged
from tables.state.round_history import words

_KEYS: Final = UUID("5f0e4b7c-54e6-4c0e-9f5a-0b6f5a3f7d11")

SHOWN: Final = (ShowAcknowledged, DeclareRestored)
"""Inputs that are no act of running the floor, so assignments to pits do not restrict them.

Neither can be sent: a signed receipt leads to the first, a management command to the second.
"""
WATCHERS: Final = (Role.SURVEILLANCE, Role.AUDITOR)


def is_news(state: TableState, receipt: Acknowledged) -> bool:
    """Whether a missing entry shows an unconfirmed restore, or a larger loss than was confirmed.

    The pit boss who confirms a table gives up all entries acknowledged before. A receipt shown later does not stop the
    table again, unless its number is above those given up.
    """
    before = state.restored
    if before is None:
        return True
    # One loss is often reported twice: each screen of a table has its own receipt of it.
    if any((earlier.seq, earlier.hash) == (receipt.seq, receipt.hash) for earlier in before.beyond):
        return False
    return receipt.after == before.confirmed or receipt.seq > before.through


class TableBehind(Exception):
    """The log of a table lacks an entry that a screen was acknowledged, and no pit boss has given that entry up."""

    def __init__(self, receipt: Acknowledged) -> None:
        self.receipt = receipt


def check_receipt(receipt: Acknowledged | None, digest: bytes | None, head: Head) -> None:
    """Compare the receipt of a screen with the hash that the locked log has under its number. Raises TableBehind."""
    # An exception of its own and no refusal: the table has to wait from now on, which takes an entry, and the
    # transaction that this ends writes none.
    if receipt and acknowledgement.is_missing(receipt, digest) and is_news(table_state.at(head), receipt):
        raise TableBehind(receipt)


def receipt(book_id: int, state: TableState, before: Acknowledged | None, words: Sequence[str] = ()) -> str:
    """The receipt that a screen stores when it shows a table: a signed acknowledgement of the newest entry.

    Empty where the screen keeps its earlier receipt, of an entry that the log lacks and that was not reported yet.
    """
    if before is not None and before.seq > state.seq and is_news(state, before):
        return ""
    after = state.restored.confirmed if state.restored else 0
    return acknowledgement.sign(book_id, state.seq, state.hash, after, words)


def showing(receipt: Acknowledged, signature: str) -> tuple[ShowAcknowledged, UUID]:
    """The input that reports a missing entry, and its idempotency key.

    The key is equal for equal reports by one author, so that each is recorded once.
    """
    # The key is derived from the content and not random: a page that is loaded again repeats one input, and leaves
    # room in the list for the receipts of other screens.
    return ShowAcknowledged(receipt.seq, receipt.hash, receipt.words), uuid5(
        _KEYS, f"{receipt.seq} {receipt.hash} {signature}"
    )


def refuse_waiting(context: CommandContext, decision: Decision) -> None:
    """Raises Refused where a table waits to be confirmed and a step would continue play."""
    # The chips on the table belong to entries that are gone: a card or a transfer now would be built on a state that no
    # player has seen.
    if any(stands_still(context.standing, step.event) for step in decision.steps):
        raise waits(context.table.name, context.standing)


def waits(name: str, state: TableState) -> Refused:
    """The refusal of inputs at a table that waits to be confirmed."""
    return Refused("records_restored", sentence(name, state.restored or Restored()), 409, seq=state.seq)


def sentence(name: str, restored: Restored) -> str:
    """The message about a restored table: where its records end, and the number of acknowledged entries beyond."""
    missing = restored.reach - restored.ended
    beyond = f"; {missing} more {'was' if missing == 1 else 'were'} acknowledged" if missing > 0 else ""
    return (
        f"The records of {name} were put back: they end at entry {restored.ended}{beyond}."
        " A pit boss confirms before it opens."
    )


# --- What is entered --------------------------------------------------------------------------------------------


def permit_to_show(context: CommandContext, by: Staff) -> None:
    """Any active staff member except surveillance and auditors, who write to no log. Raises Refused.

    A missing entry on a screen of theirs is reported by the next screen that has a receipt of it.
    """
    permissions.anybody_here(context, by)
    if by.role in WATCHERS:
        raise Refused("not_permitted", "Whoever watches writes nothing into the book of a table.", 403)


@enters(ShowAcknowledged, permit=permit_to_show)
def show(context: CommandContext, entered: ShowAcknowledged) -> Decision:
    """The table waits from now on. Raises Refused where it already waits and its list of reports is full."""
    before = context.standing.restored or Restored()
    # Each report is a longer entry than the one before: without a bound, a hundred screens would fill the log.
    if before.waits and len(before.beyond) >= MOST:
        raise waits(context.table.name, context.standing)
    event = _behind(context, Beyond(entered.by or context.signature, entered.seq, entered.hash, entered.words))
    description = text_of(event.description())
    alert = f"{context.table.name}: {description}. Nothing is dealt there until a pit boss has confirmed the table."
    return Decision([PendingEntry(event)], alert=alert, evidence={"seq": context.next_seq, "restored": event.ended})


@enters(DeclareRestored, permit=permit_to_show)
def declare(context: CommandContext, entered: DeclareRestored) -> Decision:
    """The person who restored the database reports it, and the table waits. Raises Refused where it already waits."""
    before = context.standing.restored
    if before is not None and before.waits:
        raise waits(context.table.name, context.standing)
    return Decision([PendingEntry(_behind(context, None, words(entered.reason, "why the database was put back")))])


def _behind(context: CommandContext, newest: Beyond | None, declared: str = "") -> BookBehind:
    before = context.standing.restored or Restored()
    earlier = before.beyond if before.waits else ()
    return BookBehind(
        ended=before.ended if before.waits else context.standing.seq,
        beyond=(*earlier, newest) if newest is not None else earlier,
        declared=declared or (before.declared if before.waits else ""),
        confirmed=before.confirmed,
        through=before.through,
    )


@enters(ConfirmRestored, permit=permissions.anybody_here)
def confirm(context: CommandContext, entered: ConfirmRestored) -> Decision:
    """A pit boss confirms the table, which continues play. Raises Refused."""
    permits_confirming(context)
    before = context.standing.restored
    assert before is not None  # noqa: S101 -- it waits
    # ``through`` is the highest number that any screen reported: a receipt up to it does not stop the table again.
    note = words(entered.note, "what the hands show")
    return Decision(
        [PendingEntry(RestoreConfirmed(**context.author, ended=before.ended, through=before.reach, note=note))]
    )


def permits_confirming(context: CommandContext) -> None:
    """Raises Refused for any author but a pit boss, and where the table does not wait.

    A closed table is confirmed too.
    """
    if not context.by.has_perm("tables.run_floor"):
        raise Refused("not_permitted", "That takes a pit boss.", 403)
    if context.standing.restored is None or not context.standing.restored.waits:
        raise Refused("nothing_to_confirm", f"{context.table.name} does not wait to be confirmed.", 409)


# --- enacted anew -----------------------------------------------------------------------------------------------


@reproduces(BookBehind)
def enact_behind(context: CommandContext, event: BookBehind, entry: Entry) -> PendingEntry:
    """The report as it was entered: only the reporting screen has the receipt.

    Earlier reports and the end of the log follow from the log itself, and are computed.
    """
    earlier = context.standing.restored or Restored()
    count = len(earlier.beyond) if earlier.waits else 0
    newest = event.beyond[count] if len(event.beyond) == count + 1 else None
    return PendingEntry(_behind(context, newest, event.declared), entry.round)


@reproduces(RestoreConfirmed)
def enact_confirmation(context: CommandContext, event: RestoreConfirmed, entry: Entry) -> PendingEntry:
    acting = as_written(context, event, entry, permissions.anybody_here)
    try:
        return confirm(acting, ConfirmRestored(event.note)).steps[0]
    except Refused as refused:
        raise AuditFailure(refused.sentence) from None
