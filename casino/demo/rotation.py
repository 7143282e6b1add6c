"""The line-up of the demo: a string of the newcomer's tables, with the dealers whose logins are public."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from tables.management.commands import seed_demo
from tables.models import Staff, Table
from tables.roles import Role
from tables.rotation import line_ups
from tables.rotation.line_ups import Basis, LineUpChange

STRING: Final = "A"
TABLES: Final = ("Rocket 1", "Rocket 2", "Blackjack 1")
TURN_MINUTES: Final = 20


def set_up() -> None:
    """Set the line-up for the next eight hours, unless one is in force."""
    if line_ups.in_force() or Table.objects.filter(name__in=TABLES, retired_at=None).count() < len(TABLES):
        return
    dealers = [login.username for login in seed_demo.STAFF if login.role == Role.DEALER]
    moment = timezone.now().replace(minute=0, second=0, microsecond=0)
    change = LineUpChange(
        string=STRING,
        tables=TABLES,
        dealers=tuple(dealers[: len(TABLES) + 1]),
        turn_minutes=TURN_MINUTES,
        push_at=moment + timedelta(hours=2),
        ends=moment + timedelta(hours=9),
    )
    boss = Staff.objects.get(username=seed_demo.PIT_BOSS.username)
    line_ups.set_line_up(change, by=boss, basis=Basis(0))
