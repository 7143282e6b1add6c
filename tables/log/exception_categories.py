"""The categories of the exceptions report, which an off-duty supervisor reads the next morning."""

from __future__ import annotations

from typing import Final, NamedTuple


class ExceptionCategory(NamedTuple):
    """One category of the report."""

    name: str
    title: str
    says: str
    """The contents of the category, in a sentence."""
    is_of_the_floor: bool = True
    """Whether floor supervisors see it. The other categories are for operators and auditors."""


VOIDS: Final = ExceptionCategory("voids", "Voids", "Slips and rounds that were made void, or asked to be.")
MISHAPS: Final = ExceptionCategory(
    "mishaps", "Mishaps", "What went wrong at a table, cards set aside, tables that were abandoned."
)
FROM_PAPER: Final = ExceptionCategory(
    "from_paper", "Entered from paper", "After an outage: who let it be entered, from which papers, who compared it."
)
CHIPS_AND_CASH: Final = ExceptionCategory(
    "chips",
    "Chips in and out",
    "Destroyed, lapsed, found, counterfeit; notes that no count took for money; keys that were lost.",
)
TAKE_BACKS: Final = ExceptionCategory(
    "take_backs", "Take-backs", "Inputs of a round, and sales of chips, that were taken back."
)
CORRECTIONS: Final = ExceptionCategory(
    "corrections", "Corrections", "Mispays put right later, and commission that was forgiven."
)
DISPUTES: Final = ExceptionCategory("disputes", "Disputes", "Opened and ruled on.")
OVER_LIMIT: Final = ExceptionCategory(
    "over_limit", "Bets over the limit", "Bets beyond the limits that were accepted and stood."
)
REFUSED: Final = ExceptionCategory(
    "refused",
    "Refused",
    "Cards that a shoe cannot hold, decks that were not whole; what somebody tried who may not; wrong PINs; bets over"
    " the limit that were not accepted.",
)
LATE: Final = ExceptionCategory(
    "late", "Late signatures", "Steps of slips that came long after the step before, or wait still."
)
DISCREPANCIES: Final = ExceptionCategory(
    "discrepancies", "Open discrepancies", "Opened on this day, and nobody has closed them."
)
ALERTS: Final = ExceptionCategory("alerts", "Alerts that nobody acknowledged", "Raised on this day.")
SETTINGS: Final = ExceptionCategory("settings", "Settings", "What was set otherwise, and what was proposed.")
POSTS: Final = ExceptionCategory(
    "posts", "Posts and cover", "Who was given which pit, and who took one over, for how long and why."
)
PEOPLE: Final = ExceptionCategory(
    "people", "People, PINs and roles", "Taken on, changed, given a secret; emergency codes.", is_of_the_floor=False
)
LOCK_OUTS: Final = ExceptionCategory(
    "lock_outs", "Lock-outs", "Too many wrong secrets, and who lifted it.", is_of_the_floor=False
)
TERMINALS: Final = ExceptionCategory(
    "terminals", "Terminals", "Enrolled, bound otherwise or revoked.", is_of_the_floor=False
)
PROGRAMS: Final = ExceptionCategory(
    "programs", "Programs", "What programs may do, and the tokens that they have.", is_of_the_floor=False
)
KEYS: Final = ExceptionCategory(
    "keys", "Clocks and keys", "Times that were mended, keys that were changed, copies put back.", is_of_the_floor=False
)

MATTERS: Final = (
    DISCREPANCIES, ALERTS, VOIDS, MISHAPS, FROM_PAPER, CHIPS_AND_CASH, CORRECTIONS, DISPUTES, OVER_LIMIT, REFUSED, LATE,
    TAKE_BACKS, POSTS, SETTINGS, PEOPLE, LOCK_OUTS, TERMINALS, PROGRAMS, KEYS,
)  # fmt: skip
"""The order of the report: open items first."""

ORDINARY: Final = None
"""The category of an entry that is not an exception."""
