"""The setup of the demo's site: people, chips, a key, tables; and the opening of its tables for today."""

from __future__ import annotations

import random

from casino.demo import clock, more_tables
from casino.demo.demo_site import DemoSite
from casino.demo.people import People, balance, pieces
from ledger.proof import seals
from tables.audit import keys, sealed_note_checks
from tables.management.commands import seed_demo
from tables.models import Table


def found(present: clock.Clock, chance: random.Random) -> DemoSite:
    """The site after its setup, with every rack counted and every table closed."""
    operator = seed_demo.seed_staff()
    seed_demo.seed_chips(operator)
    make_key()
    keys.publish()
    for name, terms in seed_demo.TABLES.items():
        present.passes(60)
        seed_demo.open_table(name, terms, operator)
    more_tables.stand_in_pits(operator)
    people = People(chance)
    tables = {table.name: table for table in Table.objects.select_related("book").prefetch_related("denominations")}
    for table in tables.values():
        chips = seed_demo.rack_of(seed_demo.TABLES[table.name])
        people.counts(table, "closer", "dan", chips)
    return DemoSite(present, chance, people, tables)


def make_key() -> None:
    """The key that this site seals its days with, if it has none."""
    if not sealed_note_checks.key_file().exists():
        seals.make_key(sealed_note_checks.key_file())


def open_today(people: People) -> None:
    """Open every table for visitors of the demo."""
    for table in Table.objects.order_by("pk"):
        values = tuple(table.denominations.values_list("value_cents", flat=True))
        people.counts(table, "opener", "dan", pieces(balance("rack", table), values))
