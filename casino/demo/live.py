"""`python -m casino.demo.live`: dealers who keep the demo's floor busy, one input at a time, until stopped.

Each has a table of their own and enters its next input by the function that a dealer's screen calls. The newcomer's
tables are left alone, and so are tables with another dealer.
"""

from __future__ import annotations

import argparse
import heapq
import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import DatabaseError, connection  # noqa: E402

from casino.demo.dealer import Guest, SimulatedDealer  # noqa: E402
from ledger.clock import WrongClock  # noqa: E402
from tables.floor import recorder  # noqa: E402
from tables.games.catalog import GAMES  # noqa: E402
from tables.log.game_kinds import kind_of  # noqa: E402
from tables.management.commands import seed_demo  # noqa: E402
from tables.models import Staff, Table  # noqa: E402
from tables.refusals import Refused  # noqa: E402
from tables.roles import Role  # noqa: E402

NEWCOMERS = ("Rocket 1", "Rocket 2", "Blackjack 1", "Rocket R")
"""Tables that are dealt by hand, or not at all."""
PACE_SECONDS = (1.5, 5.0)
"""Between two inputs at a table."""
MOST_A_SECOND = 8.0
"""Inputs of the whole floor: more tables deal more slowly."""
PAUSE_SECONDS = 20.0
"""A table that takes no input is left alone for so long."""


@dataclass(order=True)
class NextInput:
    """When a table's next input is due."""

    moment: float
    dealer: SimulatedDealer = field(compare=False)


def keep_moving(seed: int, wait: Callable[[float], None] = time.sleep) -> None:
    """Deal until stopped."""
    chance = random.Random(seed)  # noqa: S311 -- cards of a demo
    dealers = dealers_of(chance)
    pace = max(1.0, len(dealers) / (MOST_A_SECOND * sum(PACE_SECONDS) / 2))
    moment = time.monotonic()
    queue = [NextInput(moment + chance.uniform(0, PACE_SECONDS[1]), dealer) for dealer in dealers]
    heapq.heapify(queue)
    while queue:
        due = heapq.heappop(queue)
        wait(max(0.0, due.moment - time.monotonic()))
        went_on = enter(due.dealer)
        pause = pace * chance.uniform(*PACE_SECONDS) if went_on else PAUSE_SECONDS
        heapq.heappush(queue, NextInput(time.monotonic() + pause, due.dealer))


def enter(dealer: SimulatedDealer) -> bool:
    """The next input at a table; whether there was one."""
    dealer.latest = None  # another user may have written here
    try:
        stands = dealer.stands
        if not stands.is_open:
            return False
        if stands.dealer is None:
            recorder.sign_in(dealer.table, dealer.by)
        elif stands.dealer.username != dealer.by.username:
            return False
        else:
            dealer.step()
    except (Refused, WrongClock):
        return False
    except DatabaseError:
        connection.close()
        return False
    return True


def dealers_of(chance: random.Random) -> list[SimulatedDealer]:
    """A dealer for each table against the house, except the newcomer's."""
    banked = [
        table
        for table in Table.objects.in_use().prefetch_related("denominations").order_by("pk")
        if table.name not in NEWCOMERS
        and kind_of(GAMES[table.game]).sells_chips
        and not kind_of(GAMES[table.game]).is_by_count
    ]
    people = hired(len(banked))
    return [
        SimulatedDealer(table, person, chance, _players(table, chance), lambda seconds: None)
        for table, person in zip(banked, people, strict=True)
    ]


def _players(table: Table, chance: random.Random) -> dict[int, Guest]:
    seats = chance.sample(range(1, table.seats + 1), min(table.seats, chance.randint(2, 4)))
    return {seat: Guest() for seat in sorted(seats)}


def hired(count: int) -> list[Staff]:
    """A number of dealers without a PIN or password, so that they cannot sign in."""
    operator = Staff.objects.get(username=seed_demo.OPERATOR.username)
    people = []
    for number in range(1, count + 1):
        username = f"floor{number}"
        if not Staff.objects.filter(username=username).exists():
            name = f"{FIRST[number % len(FIRST)]} {LAST[number % len(LAST)]}"
            facts = {"name": name, "role": Role.DEALER.value, "badge": str(2_000 + number)}
            seed_demo.hire(username, facts, operator)
        people.append(Staff.objects.get(username=username))
    return people


FIRST = ("Ana", "Ben", "Chi", "Dag", "Eva", "Finn", "Gia", "Hal", "Ines", "Jon", "Kim", "Lea", "Max")
LAST = ("Adler", "Bach", "Cole", "Dorn", "Egan", "Ford", "Gray", "Hale", "Ito", "Jung", "Kay")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m casino.demo.live", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if settings.CASINO_ENV != "demo":
        print("Only a demo (CASINO_ENV=demo) deals by itself.", file=sys.stderr)
        return 1
    keep_moving(options.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
