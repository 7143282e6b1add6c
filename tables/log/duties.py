"""Separation of duties: which roles are never given to one person together, and why.

Pure data and questions about it. Sources: Nevada's list of incompatible functions for associated equipment, 25 CFR
542.31 (the count), 58 Pa. Code 465a.36 and COMAR 36.05.03 (fills, credits and drops), 25 CFR 543.20 (who gives access).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

DEALER, PIT_BOSS, OPERATOR, AUDITOR = "dealer", "pit_boss", "operator", "auditor"
CASHIER, SECURITY, COUNTER = "cashier", "security", "counter"
CAGE_MANAGER, SURVEILLANCE = "cage_manager", "surveillance"

_TABLES: Final = (DEALER, PIT_BOSS)
_CAGE: Final = (CASHIER, CAGE_MANAGER)
_WORK: Final = (*_TABLES, *_CAGE, SECURITY, COUNTER)


class Apart(NamedTuple):
    """Two roles that are never given to one person together, and why."""

    first: str
    second: str
    why: str


def _apart(firsts: Collection[str], seconds: Collection[str], why: str) -> Iterator[Apart]:
    for first in firsts:
        for second in seconds:
            yield Apart(first, second, why)


APART: Final[tuple[Apart, ...]] = (
    *_apart((OPERATOR,), _WORK, "whoever says who may do what moves no chips and no cash"),
    *_apart((AUDITOR,), (*_WORK, OPERATOR), "whoever audits has no part in what is audited"),
    *_apart((SURVEILLANCE,), (*_WORK, OPERATOR, AUDITOR), "whoever watches has no part in what is watched"),
    *_apart(_TABLES, _CAGE, "chips leave the cage and reach a table by different hands"),
    *_apart((SECURITY,), (*_TABLES, *_CAGE), "whoever carries chips and boxes does not give them out or take them in"),
    *_apart((COUNTER,), (*_TABLES, *_CAGE), "whoever counts the drop has no part in where it comes from and goes to"),
)
"""What is left together: dealer and pit boss (dual rate), cashier and cage manager, security and counter."""

ADMINISTERS: Final = OPERATOR
"""The role that gives access. Whoever had it in a shift handles no chips and no cash in the same shift."""


def conflicts(roles: Collection[str]) -> list[Apart]:
    """The pairs among roles that one person may not hold together."""
    return [pair for pair in APART if pair.first in roles and pair.second in roles]


def fault(roles: Collection[str]) -> str:
    """What is wrong with holding these roles together, as a sentence; empty if nothing is."""
    pairs = conflicts(roles)
    if not pairs:
        return ""
    first, second, why = pairs[0]
    return f"Nobody is {_words(first)} and {_words(second)} at once: {why}."


def _words(role: str) -> str:
    return role.replace("_", " ")
