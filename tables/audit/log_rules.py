"""The rules of the log: which entries a log may have, by which author, after which state, and with which transfers.

Verification replays each entry at the table's state before it, by the functions that accept or reject an input on the
floor, and compares the result with the entry. Those functions are in the packages, next to the handlers of their inputs
(see `handlers`).
"""

from __future__ import annotations

from collections.abc import Collection

from ledger.proof.chain import Entry
from tables.audit.comparison import compare
from tables.audit.floor_as_of import Floor
from tables.floor.handlers import CHECKS, ENACTMENTS, staff_of
from tables.log.entries.restored import stands_still
from tables.log.event import AuditFailure, Event, refuse_signers
from tables.log.state import TableState
from tables.refusals import Refused


def enact(floor: Floor, state: TableState, event: Event, entry: Entry, move_kinds: Collection[str]) -> None:
    """Raise AuditFailure unless the entry is one that the program would have written there.

    ``state`` is the table's state before the entry, ``move_kinds`` the kinds of its transfers.
    """
    # Kinds of transfers first: an entry must not move chips for which it has no reason.
    if wrong := set(move_kinds) - event.may_make():
        raise AuditFailure(f"it makes a {min(wrong)}, which no {event.subject} {event.kind} does")
    if event.of_the_house is not floor.is_the_house or event.kind != entry.kind:
        raise AuditFailure(f"the house writes no entry {entry.subject} {entry.kind} in this book")
    # Until a restored table is confirmed, its log may lack entries that were dealt.
    if stands_still(state, event):
        raise AuditFailure("the table waited to be confirmed after a restore, and nothing was to be entered there")
    refuse_signers(event, entry.by, state.dealer)
    floor.follow(state, event, entry)
    floor.attest(event, entry)
    floor.check_assignment(state, event, entry)
    if check := CHECKS.get(type(event)):
        check(event, entry)
    if type(event) in ENACTMENTS:
        _enact_anew(floor, state, event, entry)


def _enact_anew(floor: Floor, state: TableState, event: Event, entry: Entry) -> None:
    enactment, scene = ENACTMENTS[type(event)], floor.scene(state, entry)
    try:
        if enactment.permit is not None:
            enactment.permit(scene, staff_of(scene, entry))
        step = enactment.enact(scene, event, entry)
    except Refused as refused:
        raise AuditFailure(f"it could not be entered then: {refused.sentence}") from None
    compare(step, event, entry)
