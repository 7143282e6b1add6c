"""Cash at a table: buy-ins, their undoing, and chips changed for chips of the same worth."""

from __future__ import annotations

from ledger import cage
from ledger.models import LogEntry
from ledger.proof.chain import Entry
from ledger.proof.chips import Denomination, money
from ledger.proof.moves import undone
from tables.floor import permissions
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import enters, reproduces
from tables.floor.inputs import ChangeChips, SellChips, UndoSale
from tables.log.catalog import read
from tables.log.entries.chips import ChipsChanged, ChipsSold, SaleUndone
from tables.log.event import AuditFailure, Event
from tables.log.game_kinds import kind_of
from tables.log.pieces import handed_out
from tables.log.settlement import came_back_cents, sold
from tables.log.slip_types import Chips, total
from tables.log.slip_workflow import as_typed
from tables.models import Table
from tables.refusals import Refused
from tables.setup import cash_policies


@enters(SellChips, permit=permissions.the_dealer)
def sell(context: CommandContext, entered: SellChips) -> Decision:
    """A player buys in: cash into the drop box, chips from the rack. Raises Refused."""
    cash_policies.refuse_foreign(entered.currency)
    _refuse(context, entered.amount_cents)
    is_by_count = kind_of(context.game).is_by_count
    # Available and not the balance: a credit signed in part has promised its chips to the cage.
    if not is_by_count and entered.amount_cents > context.available_cents:
        raise Refused("bad_amount", "The rack does not hold that much: ask for a fill first.", 422)
    chips = _typed(context, "chips", entered.chips, (entered.amount_cents, "cash"))
    if entered.as_shown and not chips:
        chips = handed_out(entered.amount_cents, kinds_at(context.table))
    came_back = came_back_cents(entered.amount_cents, context.rack_cents) if is_by_count else 0
    return Decision([_sold(context, entered.amount_cents, chips, came_back)])


def kinds_at(table: Table) -> tuple[Denomination, ...]:
    """The denominations of a table, as the packages without Django have them."""
    return tuple(Denomination(chip.value_cents, chip.colour) for chip in table.denominations.all())


@reproduces(ChipsSold)
def enact_sale(context: CommandContext, event: ChipsSold, entry: Entry) -> PendingEntry:
    """The buy-in as it was entered. The balance of the rack is verified by the transfers, not here."""
    if event.came_back_cents and not kind_of(context.game).is_by_count:
        raise AuditFailure("chips came back unseen to a rack of which every round is known")
    return _sold(context, event.amount_cents, event.chips, event.came_back_cents)


def _sold(context: CommandContext, amount_cents: int, chips: Chips, came_back: int) -> PendingEntry:
    _refuse(context, amount_cents)
    event = ChipsSold(amount_cents=amount_cents, chips=chips, came_back_cents=came_back)
    # Cash into the drop box and chips out of the rack are transfers of one entry: neither can be posted without the
    # other.
    return PendingEntry(event, moves=sold(context.chart, amount_cents, came_back))


@enters(UndoSale, permit=permissions.the_dealer)
def undo(context: CommandContext, entered: UndoSale) -> Decision:
    """Undo a mistyped buy-in: chips and cash return by reversing transfers. Raises Refused.

    Only the latest entry of the table can be undone. The dealer is then the one who sold, and no card, count or drop
    box depends on the sale.
    """
    sale = chips_entry(context.table.book_id, entered.sale)
    if not isinstance(sale, ChipsSold):
        raise Refused("no_sale", f"Entry {entered.sale} is no sale of chips at {context.table.name}.", 404)
    # With any later entry a card, a count or another dealer may depend on these chips; a correction takes a supervisor
    # then.
    if context.standing.seq != entered.sale:
        raise _stands(context, entered.sale)
    event = SaleUndone(corrects=entered.sale, amount_cents=sale.amount_cents, chips=sale.chips)
    # Reversals name the transfers that they cancel, and the database permits one reversal of each.
    moves = undone(cage.transfers_of(context.table.book_id, [entered.sale]))
    return Decision([PendingEntry(event, moves=moves)])


def chips_entry(book_id: int, seq: int) -> Event | None:
    """The event of an entry about chips in a table's log; None where no such entry has that number."""
    entry = LogEntry.objects.filter(book_id=book_id, seq=seq, subject=ChipsSold.subject).first()
    return read(entry.subject, entry.kind, bytes(entry.body)) if entry else None


def _stands(context: CommandContext, sale_seq: int) -> Refused:
    """The refusal to undo a sale that was undone before, or that other entries followed."""
    if isinstance(chips_entry(context.table.book_id, sale_seq + 1), SaleUndone):
        return Refused("sale_undone", "That sale was undone already.", 409)
    message = "Something else was entered at this table since: the sale stands, and the pit corrects it."
    return Refused("sale_stands", message, 409)


@reproduces(SaleUndone)
def enact_undoing(context: CommandContext, event: SaleUndone, entry: Entry) -> PendingEntry:
    """The undoing as it was entered, with the chips that its sale named."""
    return undo(context, UndoSale(event.corrects)).steps[0]


@enters(ChangeChips, permit=permissions.the_dealer)
def change(context: CommandContext, entered: ChangeChips) -> Decision:
    """Chips coloured up or broken down, for others of the same worth. Raises Refused.

    The value of the rack does not change.
    """
    _refuse(context, entered.amount_cents)
    worth = entered.amount_cents, "amount"
    takes, gives = _typed(context, "takes", entered.takes, worth), _typed(context, "gives", entered.gives, worth)
    if entered.as_shown and not gives:
        gives = handed_out(entered.amount_cents, kinds_at(context.table), smaller=not entered.up)
    # No transfers: both sides have the same value, and only the pieces in the rack change.
    event = ChipsChanged(amount_cents=entered.amount_cents, up=entered.up, takes=takes, gives=gives)
    return Decision([_changed(context, event)])


@reproduces(ChipsChanged)
def enact_change(context: CommandContext, event: ChipsChanged, entry: Entry) -> PendingEntry:
    """The change as it was entered, independent of the denominations that the table has now."""
    return _changed(context, event)


def _changed(context: CommandContext, event: ChipsChanged) -> PendingEntry:
    _refuse(context, event.amount_cents)
    return PendingEntry(event)


def _refuse(context: CommandContext, amount_cents: int) -> None:
    unit = context.table.unit_cents
    if amount_cents <= 0 or amount_cents % unit:
        raise Refused("bad_amount", f"An amount in chips is more than 0 and a multiple of {money(unit)}.", 422)


def _typed(context: CommandContext, field: str, chips: Chips, due: tuple[int, str]) -> Chips:
    """The chips that a form field names, if any; empty if none. Raises Refused.

    ``due`` is the worth in cents that they must have, and the name of that amount in the refusal.
    """
    if not chips:
        return ()
    (amount_cents, beside), typed = due, as_typed(chips, field)
    values = set(context.table.denominations.values_list("value_cents", flat=True))
    for value, count in chips:
        if value not in values:
            raise Refused("unknown_chip", f"{context.table.name} has no chip worth {money(value)}.", 422)
        if count < 0:
            raise Refused("bad_count", f"Of {money(value)}, count 0 or more.", 422)
    if (worth := total(chips)) != amount_cents:
        message = f"These chips are worth {money(worth)}, the {beside} is {money(amount_cents)}."
        raise Refused("bad_amount", message, 422)
    return typed
