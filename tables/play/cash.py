"""Cash at a table against the house: chips sold to players, and chips changed for others of the same worth."""

from __future__ import annotations

from ledger import cage
from ledger.models import Account
from ledger.proof.chips import RACK, money
from tables.inputs import ChangeChips, SellChips
from tables.log.settlement import sold
from tables.refusals import Refused
from tables.scene import Outcome, Scene, Step


def sell(scene: Scene, entered: SellChips) -> Outcome:
    """A player buys in: cash into the drop box, chips from the rack. Raises Refused."""
    _refuse(scene, entered.amount_cents)
    rack = cage.balance(Account.objects.get(book_id=scene.table.book_id, place=RACK))
    if entered.amount_cents > rack:
        raise Refused("bad_amount", f"The rack holds {money(rack)}: ask for a fill first.", 422)
    return Outcome([sold_step(scene, entered.amount_cents)])


def sold_step(scene: Scene, amount_cents: int) -> Step:
    """The entry of chips that were sold. Raises Refused; a proof asks the same."""
    _refuse(scene, amount_cents)
    return Step("chips", "buy_in", {"amount_cents": amount_cents}, moves=sold(scene.chart, amount_cents))


def change(scene: Scene, entered: ChangeChips) -> Outcome:
    """Chips are changed for others of the same worth: coloured up when a player leaves, or broken into smaller ones.
    By value nothing moves. Raises Refused."""
    return Outcome([changed_step(scene, entered.amount_cents, entered.up)])


def changed_step(scene: Scene, amount_cents: int, up: bool) -> Step:
    """The entry of a change. Raises Refused; a proof asks the same."""
    _refuse(scene, amount_cents)
    return Step("chips", "changed", {"amount_cents": amount_cents, "up": up})


def _refuse(scene: Scene, amount_cents: int) -> None:
    unit = scene.table.unit_cents
    if amount_cents <= 0 or amount_cents % unit:
        raise Refused("bad_amount", f"An amount in chips is more than 0 and a multiple of {money(unit)}.", 422)
