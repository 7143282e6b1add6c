"""Whose PIN was reset while a slip was open does not sign it: on the floor, and in a proof."""

from __future__ import annotations

from dataclasses import replace

from ledger import clock_corrections
from ledger.proof.chain import Entry
from tables.floor import permissions
from tables.log.slip_types import VOID_ASKED
from tables.log.slip_workflow import Slip
from tables.models import Staff


def refuse(book_id: int, slip: Slip, by: Staff) -> None:
    """``slip`` is as the signature would leave it. Raises Refused."""
    seq = begun_at(slip)
    if seq != slip.signed[-1].seq:
        permissions.not_barred(by, clock_corrections.time_of(book_id, seq))


def check(slip: Slip, username: str, entry: Entry) -> None:
    """The same of a signature in the log. Raises Misconduct."""
    if begun_at(slip) != entry.seq:
        permissions.check_not_barred(entry, username, begun_at(slip))


def begun_at(slip: Slip) -> int:
    """The entry with which this paper was begun; where a complete slip is made void, that is asking for it."""
    if slip.is_to_be_void:
        void_index = slip.stages.index(VOID_ASKED)
        if replace(slip, signed=slip.signed[:void_index], reason="").due is None:
            return slip.signed[void_index].seq
    return slip.signed[0].seq
