"""``manage.py shoe verify``: verify the electronic shoes: commitments, opened orders, and the cards dealt."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.proof.chain import Broken, Fault
from tables.audit import commitments
from tables.audit.commitments import Order, Unproven
from tables.models import Table


class Command(BaseCommand):
    """Print each verified order; exit 1 at the first entry that fails."""

    help = "Verify that electronic shoes were dealt in the order committed to before their first card."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["verify"])
        parser.add_argument("--table", metavar="NAME", help="only this table (default: every table)")
        parser.add_argument("--shoe", metavar="N", type=int, help="print only this shoe of each table")

    def handle(self, *args: Any, table: str | None, shoe: int | None, **options: Any) -> None:
        """Verify table by table; exit 1 at the first fault."""
        orders = 0
        for row in _tables(table):
            try:
                orders += self._print(row, commitments.prove(row), shoe)
            except Broken as broken:
                self._fail(broken.fault)
            except Unproven as unproven:
                self._fail(commitments.fault_of(row, unproven))
        if not orders and shoe is not None:
            raise CommandError(f"There is no house shoe {shoe}.")
        if not orders:
            self.stdout.write("No house shoe was dealt.")

    def _print(self, table: Table, orders: Iterable[Order], shoe: int | None) -> int:
        count = 0
        for order in orders:
            if shoe in (None, order.shoe):
                count += 1
                opening = f"opened by entry {order.opened_seq}" if order.opened_seq else "still sealed"
                self.stdout.write(
                    f"holds  {table.name}, shoe {order.shoe}: committed to by entry {order.committed_seq},"
                    f" {len(order.dealt)} cards dealt in its order, {opening}"
                )
        return count

    def _fail(self, fault: Fault) -> None:
        self.stdout.write(self.style.ERROR(f"DOES NOT HOLD  {fault}"))
        sys.exit(1)


def _tables(name: str | None) -> list[Table]:
    tables = Table.objects.filter(name=name) if name else Table.objects.all()
    if name and not tables:
        raise CommandError(f"There is no table {name!r}.")
    return list(tables)
