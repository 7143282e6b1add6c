"""More tables than a newcomer needs, to show a large floor: `./run demo --tables 40`."""

from __future__ import annotations

import argparse
import os
import sys
from itertools import cycle
from typing import Final

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
django.setup()

from django.conf import settings  # noqa: E402

from tables.log.entries.pits import PitSectionSet  # noqa: E402
from tables.management.commands import seed_demo  # noqa: E402
from tables.models import Staff, Table  # noqa: E402
from tables.setup import pits  # noqa: E402

KINDS: Final = ("Rocket 1", "Blackjack 1", "Baccarat 1", "Three Card Poker 1")
"""The tables that further ones are set as, in turn."""
A_PIT: Final = 7


def add(count: int, operator: Staff) -> None:
    """Open tables until there are ``count``, and assign all of them to pits of seven."""
    names = set(Table.objects.values_list("name", flat=True))
    numbers = dict.fromkeys(KINDS, 1)
    for kind in cycle(KINDS):
        if len(names) >= count:
            break
        name = _free(kind, numbers, names)
        seed_demo.open_table(name, seed_demo.TABLES[kind], operator)
        names.add(name)
    stand_in_pits(operator)


def _free(kind: str, numbers: dict[str, int], names: set[str]) -> str:
    """The next name of this kind that no table has."""
    title = kind.rstrip("1 ")
    while (name := f"{title} {numbers[kind]}") in names:
        numbers[kind] += 1
    return name


def stand_in_pits(operator: Staff) -> None:
    """Assign all tables to pits of seven, in the order of their creation."""
    names = list(Table.objects.order_by("pk").values_list("name", flat=True))
    for number, start in enumerate(range(0, len(names), A_PIT), 1):
        section = PitSectionSet(pit=f"Pit {number}", section="A", tables=tuple(names[start : start + A_PIT]))
        pits.set_section(section, by=operator)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m casino.demo.more_tables", description=__doc__)
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    if settings.CASINO_ENV != "demo":
        print("Only a demo (CASINO_ENV=demo) is given tables.", file=sys.stderr)
        return 1
    add(options.count, Staff.objects.get(username=seed_demo.OPERATOR.username))
    return 0


if __name__ == "__main__":
    sys.exit(main())
