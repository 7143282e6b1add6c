"""Retirement of tables and chip denominations. Neither is ever deleted: log entries refer to both."""

from __future__ import annotations

from typing import Final

from django.db import transaction

from ledger import cage, log, site_log
from ledger import slips as slip_numbers
from ledger.log import Draft
from ledger.proof.chain import Entry
from ledger.proof.chips import CASH_OVER_SHORT, HOUSE_PLACES, OVER_SHORT, PLAYERS, money
from tables.cage import cage_desk
from tables.floor.command_context import CommandContext, PendingEntry
from tables.floor.handlers import reproduces
from tables.log.entries.chips import DenominationRetired
from tables.log.entries.settings import TableRetired
from tables.log.event import AuditFailure
from tables.log.slip_types import SLIPS
from tables.models import Denomination, Staff, Table
from tables.refusals import Refused
from tables.state import table_state

LONGEST_WHY: Final = 200
_RUNNING: Final = HOUSE_PLACES | {OVER_SHORT, CASH_OVER_SHORT, PLAYERS}
"""Places that may keep a balance: shared places, variances and the chips that players hold."""


def retire_table(table: Table, reason: str, *, by: Staff) -> Table:
    """Retire a table. Raises Refused while it is open, has slips in progress or holds chips or cash."""
    reason = _judged(by, "tables.change_table", reason)
    with transaction.atomic():
        head = log.lock(table.book_id)
        table = Table.objects.select_for_update(no_key=True).get(pk=table.pk)
        if table.retired_at:
            raise Refused("retired_already", f"{table} is retired since {table.retired_at:%-d %B %Y}.", 409)
        state = table_state.at(head)
        if state.is_open:
            raise Refused("table_open", f"{table} is open: close it first.", 409)
        waiting = [slip for slip in state.slips if slip.may_move]
        if waiting:
            raise Refused("slip_open", f"{waiting[0].label} of {table} is to be signed first.", 409)
        # Under the table's lock: no entry can bring chips to the table between this check and its retirement.
        _refuse_left_over(table)
        entry = log.append(head, Draft.of(TableRetired(why=reason), by.signature))
        table.retired_at, table.retired_by, table.retired_why = entry.at or head.moment, by.signature, reason
        table.save(update_fields=["retired_at", "retired_by", "retired_why"])
    return table


@reproduces(TableRetired)
def enact_retirement(scene: CommandContext, event: TableRetired, entry: Entry) -> PendingEntry:
    """Replays a retirement. Raises AuditFailure if the table was open or had slips in progress."""
    if scene.standing.is_open or any(slip.may_move for slip in scene.standing.slips):
        raise AuditFailure("it retires a table that is open, or has slips to be signed")
    return PendingEntry(TableRetired(why=event.why))


def _refuse_left_over(table: Table) -> None:
    left_over = {
        account: cents
        for account, cents in cage.balances(table.book_id).items()
        if cents and account.place not in _RUNNING
    }
    for account, cents in left_over.items():
        place = account.place.replace("_", " ")
        raise Refused("not_empty", f"The {place} of {table} holds {money(cents)}: empty it first.", 409)


def retire_denomination(chip: Denomination, reason: str, *, by: Staff) -> Denomination:
    """Retire a chip denomination: it is no longer given out. Raises Refused while a slip would bring it into play."""
    reason = _judged(by, "tables.change_denomination", reason)
    with transaction.atomic():
        head = site_log.lock()
        chip = Denomination.objects.select_for_update(no_key=True).get(pk=chip.pk)
        if chip.retired_at:
            raise Refused("retired_already", f"{chip} is retired since {chip.retired_at:%-d %B %Y}.", 409)
        _refuse_given_out(chip)
        event = DenominationRetired(value_cents=chip.value_cents, why=reason)
        entry = log.append(head, Draft.of(event, by.signature))
        chip.retired_at, chip.retired_by, chip.retired_why = entry.at or head.moment, by.signature, reason
        chip.save(update_fields=["retired_at", "retired_by", "retired_why"])
    return chip


def _refuse_given_out(chip: Denomination) -> None:
    """Raises Refused if a slip in progress would bring the denomination into play.

    Locks the slip numbers of all such series until the commit. A concurrent first signature either comes before and is
    seen here, or waits and then sees the retirement.
    """
    # In sorted order: two retirements at once must not deadlock.
    for name in sorted(name for name, series in SLIPS.items() if series.gives_out):
        slip_numbers.next_name(name)
    tables = Table.objects.select_related("book")
    states = table_state.at_all([table_state.head_of(table) for table in tables])
    waiting = [slip for state in states.values() for slip in state.slips]
    waiting += cage_desk.in_progress()
    for slip in waiting:
        pieces = {value for chips in (slip.chips, slip.noted, *slip.counts) for value, _ in chips}
        if slip.series.gives_out and chip.value_cents in pieces:
            raise Refused("slip_open", f"{slip.label} is to bring {chip} into play: it is to be signed first.", 409)


def _judged(by: Staff, permission: str, reason: str) -> str:
    by.require(permission, "Only an operator retires tables and kinds of chips.")
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_WHY or not reason.isprintable():
        raise Refused("bad_reason", f"Say in 1 to {LONGEST_WHY} plain characters why.", 422)
    return reason
