"""Who may write entries of a kind: the answer of a kind record (``kind_record.py``), as a sentence and permissions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Writer:
    """Who may write entries of a kind."""

    says: str
    permissions: frozenset[str] = frozenset()
    """A user of the staff needs one of these; empty where roles, policies or the site itself decide."""
    depends: bool = False
    """Whether it depends on the content or the policies of then. The function that reproduces the entry decides it; for
    other writers of entries at tables ``tables/floor/permissions.py`` has the one check (``PERMITS``)."""


def staff_with(*permissions: str) -> Writer:
    """A user of the staff with one of these permissions."""
    return Writer(f"staff with {' or '.join(permissions)}", frozenset(permissions))


def depends(says: str) -> Writer:
    """A writer that depends on the content: the function that reproduces the entry decides."""
    return Writer(says, depends=True)


_DEAL, _FLOOR = "tables.deal", "tables.run_floor"
"""Permissions. "The floor" in the sentences below is staff with the second."""

THE_DEALER: Final = Writer("the dealer at the table", frozenset({_DEAL}))
DEALER_OR_FLOOR: Final = Writer("the dealer at the table, or the floor", frozenset({_DEAL, _FLOOR}))
DEALER_ELSE_FLOOR: Final = Writer(
    "the dealer at the table; the floor where no dealer is signed in", frozenset({_DEAL, _FLOOR})
)
FLOOR: Final = Writer("the floor, while the table is open", frozenset({_FLOOR}))
SHOE_REMOVER: Final = Writer("the dealer at the table, or the floor; at a closed table too", frozenset({_DEAL, _FLOOR}))
ROUND_INPUT: Final = depends(
    "the dealer at the table; a seat for its choice, a card reader for a card, the floor for a bet over the limit"
)
ROUND_TAKE_BACK: Final = depends("the dealer at the table, or the floor; of a settled round, with an approval")
TAKE_BACK: Final = depends("the dealer at the table, or the floor, as the taking back of an input")
VOID_ROLES: Final = depends(
    "a role of the policy void_roles, with a second of void_second_roles; the floor by a ruling"
)
ABANDON_ROLES: Final = depends("a role of the policy abandon_roles")
IRREGULARITY: Final = depends("the dealer at the table; of a ruling on a hand, the floor too")
RACK_LOCKER: Final = depends("the dealer at the table, or the floor; the author of the entry that abandons the table")
RACK_UNLOCKER: Final = depends("the floor, with a second of the policy unlock_second_roles")
READER: Final = depends("the card reader of the table")
READER_OR_DEALER: Final = depends("the card reader of the table, or the dealer there")
READER_SETTLER: Final = depends("the role of the policy reader_settled_by")
READER_TAKER: Final = depends("the dealer at the table; with a card that is taken back, the floor too")
READER_GIVER: Final = depends("the dealer at the table, unless the reader has stopped the round")
RESTORE_FINDER: Final = depends("the user or API client that shows an acknowledged entry, or declares the restore")
RESTORE_CONFIRMER: Final = depends("the floor, at a closed table too")
COMING_DEALER: Final = depends("the dealer who takes the table")
LEAVING_DEALER: Final = depends("the dealer who leaves, or the author of what ends the dealer's work there")
DISPUTE_HEARER: Final = depends("the dealer at the table, or the floor; at a closed table too")
DISPUTE_RULER: Final = depends("the floor; a ruling by a supervisor who entered nothing of the round")
CORRECTION_PROPOSER: Final = depends("the floor, while the rack is neither counted nor locked")
SECOND_SUPERVISOR: Final = depends("another pit boss than the one who proposed it")
TABLE_RETIRER: Final = depends("staff with tables.change_table, while the table is closed")
SLIP_SIGNERS: Final = depends("the roles that the step of the slip names")
TWO_ROLES: Final = depends("a pit boss or cage manager, with a second person of another role")
PAPER_READERS: Final = depends("a second person, of a role that handles chips, cash or cards")
FOLLOWS: Final = depends("the author of the input that it follows from")
PROPOSER: Final = depends("staff with a permission to propose or decide the change")
PROPOSAL_AUTHOR: Final = depends("the user who proposed it")
PROPOSAL_READER: Final = depends("staff with tables.view_proposal, or with a permission to propose the change")
DECIDER: Final = depends("staff with the permission to decide the change")
OWNER_OR_OPERATOR: Final = depends("the user that it is about, or staff with tables.change_staff")
KEY_MAKER: Final = depends("staff with tables.enrol_terminal, or the device that a link has just enrolled")
TABLE_SETTER: Final = depends("staff with tables.add_table or tables.change_table; the site, from a limit plan")
ANNOUNCER: Final = depends("the site, from a limit plan")
ACCOUNT_ENDER: Final = depends("staff with tables.change_serviceaccount; the site, once it has expired")
LEAVER: Final = depends("the user that it is about, the next user of the device, or the site after too many tries")
OWNER: Final = Writer("the user that it is about")
SITE: Final = Writer("the site, by its own tasks")
COMMAND: Final = Writer("a management command on the server")
UPGRADE: Final = Writer("an upgrade of the site")
FORMER: Final = Writer("earlier releases; no entry of this kind is written any more")
