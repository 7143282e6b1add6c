"""Terminals' keys in the days of a house: a root, one that it vouches for, one that ends; then signatures by them."""

from tables.floor.inputs import BeginSlip, SignSlip
from tables.models import Staff
from tables.staff import terminal_keys, terminals
from tests.software_terminal import SoftwareTerminal, counter_sale, signs_on


def terminals_sign(operator: Staff, cashier: Staff, second: Staff) -> None:
    """Everything that the log can say of terminals' keys, and slips of the cage before and after they are demanded."""
    desk, counter, lost = (SoftwareTerminal(name).enrolled(operator) for name in ("Pit desk", "Cage desk", "Lost desk"))
    for vouched in (counter, lost):
        desk.vouches(vouched, operator)
    for terminal in (lost, counter):
        slip = str(signs_on(terminal, None, cashier, BeginSlip("deposit", ((10_000, 1),))))
        signs_on(desk, None, second, SignSlip(slip, "approved"))
        if terminal is lost:
            terminals.revoke(lost.terminal, by=operator)
            terminal_keys.demand(by=operator)
    counter_sale(counter, cashier, 10_000)
