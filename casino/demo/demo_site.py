"""The demo's site while its two weeks are dealt: its clock, random numbers, people, tables and drop boxes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from casino.demo.clock import Clock
from casino.demo.people import Box, People
from tables.models import Table


@dataclass
class DemoSite:
    """The state that the days of the demo's history share."""

    clock: Clock
    chance: random.Random
    people: People
    tables: Mapping[str, Table]
    opened_with: dict[str, int] = field(default_factory=dict)
    """Cents in the rack of each table when it opened."""
    boxes: list[Box] = field(default_factory=list)
    """Drop boxes in the count room, not counted yet."""
