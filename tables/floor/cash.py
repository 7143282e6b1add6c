"""Cash at a table against the house: chips sold, sales undone, and chips changed for others of the same worth."""

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
def sell(scene: CommandContext, entered: SellChips) -> Decision:
    """A player buys in: cash into the drop box, chips from the rack. Raises Refused."""
    cash_policies.refuse_foreign(entered.currency)
    _refuse(scene, entered.amount_cents)
    is_by_count = kind_of(scene.game).is_by_count
    if not is_by_count and entered.amount_cents > scene.available_cents:
        raise Refused("bad_amount", "The rack does not hold that much: ask for a fill first.", 422)
    chips = _typed(scene, "chips", entered.chips, (entered.amount_cents, "cash"))
    if entered.as_shown and not chips:
        chips = handed_out(entered.amount_cents, kinds_at(scene.table))
    came_back = came_back_cents(entered.amount_cents, scene.rack_cents) if is_by_count else 0
    return Decision([_sold(scene, entered.amount_cents, chips, came_back)])


def kinds_at(table: Table) -> tuple[Denomination, ...]:
    """The kinds of chips of a table, as the pure rooms know them."""
    return tuple(Denomination(chip.value_cents, chip.colour) for chip in table.denominations.all())


@reproduces(ChipsSold)
def enact_sale(scene: CommandContext, event: ChipsSold, entry: Entry) -> PendingEntry:
    """As it was sold, whatever lay in the rack: the transfers tell that."""
    if event.came_back_cents and not kind_of(scene.game).is_by_count:
        raise AuditFailure("chips came back unseen to a rack of which every round is known")
    return _sold(scene, event.amount_cents, event.chips, event.came_back_cents)


def _sold(scene: CommandContext, amount_cents: int, chips: Chips, came_back: int) -> PendingEntry:
    _refuse(scene, amount_cents)
    event = ChipsSold(amount_cents=amount_cents, chips=chips, came_back_cents=came_back)
    return PendingEntry(event, moves=sold(scene.chart, amount_cents, came_back))


@enters(UndoSale, permit=permissions.the_dealer)
def undo(scene: CommandContext, entered: UndoSale) -> Decision:
    """A sale that was keyed wrongly is undone: chips and cash go back by reversals. Raises Refused.

    Nothing may have come after it, so whoever deals is who sold, and neither cards, a count nor a box depend on it.
    """
    sale = chips_entry(scene.table.book_id, entered.sale)
    if not isinstance(sale, ChipsSold):
        raise Refused("no_sale", f"Entry {entered.sale} is no sale of chips at {scene.table.name}.", 404)
    if scene.standing.seq != entered.sale:
        raise _stands(scene, entered.sale)
    event = SaleUndone(corrects=entered.sale, amount_cents=sale.amount_cents, chips=sale.chips)
    moves = undone(cage.transfers_of(scene.table.book_id, [entered.sale]))
    return Decision([PendingEntry(event, moves=moves)])


def chips_entry(book_id: int, seq: int) -> Event | None:
    """What an entry about chips at a table says; None where there is none of that number."""
    entry = LogEntry.objects.filter(book_id=book_id, seq=seq, subject=ChipsSold.subject).first()
    return read(entry.subject, entry.kind, bytes(entry.body)) if entry else None


def _stands(scene: CommandContext, sale_seq: int) -> Refused:
    """Why a sale is not undone any more."""
    if isinstance(chips_entry(scene.table.book_id, sale_seq + 1), SaleUndone):
        return Refused("sale_undone", "That sale was undone already.", 409)
    says = "Something else was entered at this table since: the sale stands, and the pit corrects it."
    return Refused("sale_stands", says, 409)


@reproduces(SaleUndone)
def enact_undoing(scene: CommandContext, event: SaleUndone, entry: Entry) -> PendingEntry:
    """As it was entered, with the chips that its sale named."""
    return undo(scene, UndoSale(event.corrects)).steps[0]


@enters(ChangeChips, permit=permissions.the_dealer)
def change(scene: CommandContext, entered: ChangeChips) -> Decision:
    """Chips are changed for others of the same worth: coloured up when a player leaves, or broken into smaller ones.
    By value nothing moves. Raises Refused."""
    _refuse(scene, entered.amount_cents)
    worth = entered.amount_cents, "amount"
    takes, gives = _typed(scene, "takes", entered.takes, worth), _typed(scene, "gives", entered.gives, worth)
    if entered.as_shown and not gives:
        gives = handed_out(entered.amount_cents, kinds_at(scene.table), smaller=not entered.up)
    event = ChipsChanged(amount_cents=entered.amount_cents, up=entered.up, takes=takes, gives=gives)
    return Decision([_changed(scene, event)])


@reproduces(ChipsChanged)
def enact_change(scene: CommandContext, event: ChipsChanged, entry: Entry) -> PendingEntry:
    """As it was changed, whichever kinds the table has by now."""
    return _changed(scene, event)


def _changed(scene: CommandContext, event: ChipsChanged) -> PendingEntry:
    _refuse(scene, event.amount_cents)
    return PendingEntry(event)


def _refuse(scene: CommandContext, amount_cents: int) -> None:
    unit = scene.table.unit_cents
    if amount_cents <= 0 or amount_cents % unit:
        raise Refused("bad_amount", f"An amount in chips is more than 0 and a multiple of {money(unit)}.", 422)


def _typed(scene: CommandContext, field: str, chips: Chips, due: tuple[int, str]) -> Chips:
    """The chips that a field names, if any. ``due``: what they have to be worth, and what that is. Raises Refused."""
    if not chips:
        return ()
    (amount_cents, beside), typed = due, as_typed(chips, field)
    values = set(scene.table.denominations.values_list("value_cents", flat=True))
    for value, count in chips:
        if value not in values:
            raise Refused("unknown_chip", f"{scene.table.name} has no chip worth {money(value)}.", 422)
        if count < 0:
            raise Refused("bad_count", f"Of {money(value)}, count 0 or more.", 422)
    if (worth := total(chips)) != amount_cents:
        says = f"These chips are worth {money(worth)}, the {beside} is {money(amount_cents)}."
        raise Refused("bad_amount", says, 422)
    return typed
