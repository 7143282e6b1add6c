"""Separation of duties: roles that one person never holds together, with reasons.

Pure data and functions on it. Sources: Nevada's list of incompatible functions for associated equipment, 25 CFR 542.31
(the count), 58 Pa. Code 465a.36 and COMAR 36.05.03 (fills, credits and drops), 25 CFR 543.20 (administration of
access).
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


class IncompatibleRoles(NamedTuple):
    """Two roles that one person never holds together, and the reason."""

    first: str
    second: str
    why: str
    clause: str = ""
    """The public rule that requires it, if there is one."""


def _apart(
    firsts: Collection[str], seconds: Collection[str], reason: str, clause: str = ""
) -> Iterator[IncompatibleRoles]:
    for first in firsts:
        for second in seconds:
            yield IncompatibleRoles(first, second, reason, clause)


_ACCESS: Final = "25 CFR 543.20"
_COUNTS: Final = "25 CFR 542.31"
_FILLS: Final = "58 Pa. Code 465a.36; COMAR 36.05.03"


APART: Final[tuple[IncompatibleRoles, ...]] = (
    *_apart((OPERATOR,), _WORK, "whoever says who may do what moves no chips and no cash", _ACCESS),
    *_apart((AUDITOR,), (*_WORK, OPERATOR), "whoever audits has no part in what is audited"),
    *_apart((SURVEILLANCE,), (*_WORK, OPERATOR, AUDITOR), "whoever watches has no part in what is watched"),
    *_apart(_TABLES, _CAGE, "chips leave the cage and reach a table by different hands", _FILLS),
    *_apart(
        (SECURITY,),
        (*_TABLES, *_CAGE),
        "whoever carries chips and boxes does not give them out or take them in",
        _FILLS,
    ),
    *_apart(
        (COUNTER,),
        (*_TABLES, *_CAGE),
        "whoever counts the drop has no part in where it comes from and goes to",
        _COUNTS,
    ),
)
"""The pairs that are not permitted. Permitted pairs: dealer and pit boss (dual rate), cashier and cage manager,
security and count team."""


class Differ(NamedTuple):
    """Signatures on one document that must come from different people."""

    paper: str
    says: str
    clause: str = ""


DIFFER: Final[tuple[Differ, ...]] = (
    Differ(
        "Every slip",
        "No person signs two of its steps, except the pit boss who requests a fill or credit and signs at the table."
        " The policy of the site may require a second supervisor there.",
        _FILLS,
    ),
    Differ(
        "Fill, credit",
        "Asked for by the floor, given out by the cage, carried by security, counted by the dealer.",
        _FILLS,
    ),
    Differ(
        "Opener, closer, rack count",
        "Counted by a dealer and by a pit boss, each unseen by the other.",
        "9 NYCRR 5323.9",
    ),
    Differ(
        "Drop box", "Taken away by two who did not work at the table in that shift; counted by two counters.", _COUNTS
    ),
    Differ("Void", "Asked for by the cage or the floor, signed by security or an auditor."),
    Differ("Correction of a round", "Proposed by a pit boss, signed by another."),
    Differ("Close of a day", "Figures signed by a pit boss, closed by an operator."),
    Differ(
        "Code for a PIN or password",
        "Asked for by an operator, confirmed by somebody else; its owner is neither.",
        _ACCESS,
    ),
    Differ("Setting that takes two people", "Proposed by one, approved by another; called off by two again."),
    Differ("Any paper that moves chips or cash", "Signed by no operator, nor by who was one in that shift.", _ACCESS),
)
"""The rules of different signers. Each is enforced at signing and again by verification; rules of slips also by the
database."""

ADMINISTERS: Final = OPERATOR
"""The role that administers access. A person who held it during a shift handles no chips or cash in that shift."""


def conflicts(roles: Collection[str]) -> list[IncompatibleRoles]:
    """The incompatible pairs among these roles."""
    return [pair for pair in APART if pair.first in roles and pair.second in roles]


def fault(roles: Collection[str]) -> str:
    """The reason why one person cannot hold these roles together, as a sentence; empty if they can."""
    pairs = conflicts(roles)
    if not pairs:
        return ""
    first, second, reason, _ = pairs[0]
    return f"Nobody is {_words(first)} and {_words(second)} at once: {reason}."


def _words(role: str) -> str:
    return role.replace("_", " ")
