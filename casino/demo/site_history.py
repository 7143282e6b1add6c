"""The history of a new demo, dealt or loaded from the recording, up to the opening of its tables for today."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime

from django.conf import settings
from django.db import connection

from casino.demo import clock, founding, history, playback, recording, sheets
from casino.demo.people import People
from ledger.models import Book
from tables.reports import gaming_hours

Say = Callable[[str], None]


def make(days: int, seed: int, say: Say, *, is_dealt: bool = False) -> None:
    """Make the history of a site without entries, up to now; nothing for another site. Raises Damaged."""
    if settings.CASINO_ENV != "demo":
        raise clock.PastRefused("Only a demo (CASINO_ENV=demo) has a past made for it.")
    if Book.objects.filter(head_seq__gt=0).exists():
        return
    gc.disable()  # a short life, and much that is kept in it
    gaming_days = history.gaming_days(days, datetime.now(UTC))
    if is_dealt or not recording.is_for(days, seed):
        say(f"Dealing the last {days} days")
        chance = deal(gaming_days, seed, say, through=datetime.now(UTC))
    else:
        say(f"Loading the last {days} days")
        playback.load(gaming_days, through=datetime.now(UTC))
        chance = random.Random()  # noqa: S311 -- keys of inputs, which the recording must not have used
    sheets.load()
    founding.open_today(People(chance))
    gc.enable()


def deal(days: Sequence[date], seed: int, say: Say, *, through: datetime | None = None) -> random.Random:
    """Deal these days at a site set up on the first of them; returns the generator that was used."""
    chance = random.Random(seed)  # noqa: S311 -- the same seed makes the same house
    with clock.set_back(gaming_hours.span(days[0]).start) as present:
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = off")
        house = founding.found(present, chance)
        history.live_through(house, days, say)
        if through is not None:
            history.pass_until(present, People(chance), through)
    connection.close()
    return chance
