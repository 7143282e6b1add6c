"""``manage.py shoe verify``: prove the house shoes: what was committed to, what was opened, and what was dealt."""

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
    """Prints each order that holds; exits 1 and names the first entry that does not."""

    help = "Prove that house shoes were dealt in the order that was committed to before their first card."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """verify, --table, --shoe."""
        parser.add_argument("action", choices=["verify"])
        parser.add_argument("--table", metavar="NAME", help="only this table (default: every table)")
        parser.add_argument("--shoe", metavar="N", type=int, help="print only this shoe of each table")

    def handle(self, *args: Any, table: str | None, shoe: int | None, **options: Any) -> None:
        """Table by table; stop at the first fault."""
        found = 0
        for one in _tables(table):
            try:
                found += self._print(one, commitments.prove(one), shoe)
            except Broken as broken:
                self._fail(broken.fault)
            except Unproven as unproven:
                self._fail(commitments.fault_of(one, unproven))
        if not found and shoe is not None:
            raise CommandError(f"There is no house shoe {shoe}.")
        if not found:
            self.stdout.write("No house shoe was dealt.")

    def _print(self, table: Table, orders: Iterable[Order], shoe: int | None) -> int:
        printed = 0
        for order in orders:
            if shoe in (None, order.shoe):
                printed += 1
                opened = f"opened by entry {order.opened_seq}" if order.opened_seq else "still sealed"
                self.stdout.write(
                    f"holds  {table.name}, shoe {order.shoe}: committed to by entry {order.committed_seq},"
                    f" {len(order.dealt)} cards dealt in its order, {opened}"
                )
        return printed

    def _fail(self, fault: Fault) -> None:
        self.stdout.write(self.style.ERROR(f"DOES NOT HOLD  {fault}"))
        sys.exit(1)


def _tables(name: str | None) -> list[Table]:
    tables = Table.objects.filter(name=name) if name else Table.objects.all()
    if name and not tables:
        raise CommandError(f"There is no table {name!r}.")
    return list(tables)
