"""`python -m casino.demo_house --days 14`: makes a new demo's past, and opens its tables for today."""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
from datetime import UTC, datetime
from time import perf_counter

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from casino.demo_house import clock, fortnight, more_tables  # noqa: E402
from casino.demo_house.fortnight import House  # noqa: E402
from casino.demo_house.people import People, balance, pieces  # noqa: E402
from ledger.models import Book  # noqa: E402
from ledger.proof import seals  # noqa: E402
from tables.audit import keys, sealed  # noqa: E402
from tables.day import hours  # noqa: E402
from tables.management.commands import seed_demo  # noqa: E402
from tables.models import Table  # noqa: E402

SEED = 1


def make(days: int, seed: int) -> None:
    """The past of a house that is not there yet, up to this morning."""
    chance = random.Random(seed)  # noqa: S311 -- the same seed makes the same house
    past = fortnight.gaming_days(days, datetime.now(UTC))
    with clock.set_back(hours.span(past[0]).start) as present:
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = off")
        house = _opened(present, chance)
        fortnight.live_through(house, past, say)
        fortnight.pass_until(house, datetime.now(UTC))
    connection.close()
    open_today(People(chance))


def _opened(present: clock.Clock, chance: random.Random) -> House:
    """The house as it is founded: people, chips, a key, tables."""
    operator = seed_demo.seed_staff()
    seed_demo.seed_chips(operator)
    if not sealed.key_file().exists():
        seals.make_key(sealed.key_file())
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
    return House(present, chance, people, tables)


def open_today(people: People) -> None:
    """Every table opens for whoever comes by."""
    for table in Table.objects.order_by("pk"):
        values = tuple(table.denominations.values_list("value_cents", flat=True))
        people.counts(table, "opener", "dan", pieces(balance("rack", table), values))


def say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m casino.demo_house", description=__doc__)
    parser.add_argument("--days", type=int, default=14)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    if settings.CASINO_ENV != "demo":
        print("Only a demo (CASINO_ENV=demo) has a past made for it.", file=sys.stderr)
        return 1
    if Book.objects.filter(head_seq__gt=0).exists():
        return 0
    say(f"Making the house's last {options.days} days")
    began = perf_counter()
    gc.disable()  # a short life, and much that is kept in it
    make(options.days, options.seed)
    say(f"  {options.days} days in {perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
