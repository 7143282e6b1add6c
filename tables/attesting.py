"""The signatures of terminals where they are written: held against the keys that the house's log says are trusted.

No row beside the log says which key is trusted: the entries about keys are few, and folded anew when one is added.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeVar
from uuid import UUID

from msgspec import structs

from ledger.models import HOUSE, LogEntry
from ledger.proof.chain import Head
from tables.log.attestation import Attestation
from tables.log.catalog import read
from tables.log.entries.terminal_keys import AboutTerminalKey
from tables.log.event import Event, Misconduct, Unreadable
from tables.log.trust import Trust
from tables.refusals import Refused
from tables.scene import Outcome

E = TypeVar("E", bound=Event)
_LATER: Final = 2**62


def trust() -> Trust:
    """Which keys of terminals are trusted now: to be read, and never followed further."""
    return _before(_LATER)


def trust_before(seq: int) -> Trust:
    """Which were so before an entry of the house's book, to be followed from there."""
    return copy.deepcopy(_before(seq))


def _before(seq: int) -> Trust:
    entries = LogEntry.objects.filter(book__name=HOUSE, subject=AboutTerminalKey.subject, seq__lt=seq)
    newest = entries.order_by("-seq").values_list("book_id", "seq", "hash").first()
    if newest is None:
        return Trust()
    book_id, last, digest = newest
    return _folded(book_id, last, bytes(digest))


@lru_cache(maxsize=8)
def _folded(book_id: int, last: int, digest: bytes) -> Trust:
    """By the hash of the newest of these entries, which names all before it. One that the house would not have written
    counts for nothing: a proof of the house's book names it."""
    folded = Trust()
    entries = LogEntry.objects.filter(book_id=book_id, subject=AboutTerminalKey.subject, seq__lte=last)
    for seq, kind, body in entries.order_by("seq").values_list("seq", "kind", "body"):
        try:
            folded.follow(read(AboutTerminalKey.subject, kind, body, house=True), seq)
        except (Misconduct, Unreadable):
            continue
    return folded


def attest(outcome: Outcome, attested: Attestation | None, head: Head, by: str, key: UUID) -> Outcome:
    """An outcome with the terminal's signature in its first entry. Raises Refused where it is not good, or missing."""
    step = outcome.steps[0]
    event = _signed(step.event, attested, head, by, key)
    return outcome if event is step.event else replace(outcome, steps=[replace(step, event=event), *outcome.steps[1:]])


def signed(event: E, attested: Attestation | None, head: Head, by: str) -> E:
    """The same of an entry that no input with a key asks for."""
    return _signed(event, attested, head, by, None)


def _signed(event: E, attested: Attestation | None, head: Head, by: str, key: UUID | None) -> E:
    """Asked under the lock of the book, after which nobody can demand signatures for this entry any more."""
    if event.signed_terms() is None:
        return event
    keys = trust()
    event = structs.replace(event, attested=attested) if attested is not None else event
    try:
        keys.refuse(event, book=head.name, seq=head.seq + 1, by=by, key=key)
    except Misconduct as wrong:
        raise _refused(keys, attested, wrong) from None
    return event


def _refused(keys: Trust, attested: Attestation | None, wrong: Misconduct) -> Refused:
    """What whoever stands at the terminal can do about it."""
    if attested is None:
        says = (
            "This terminal did not sign, and this house takes no signature without its terminal’s own. Load the page"
            " again; if it still says so, this browser has no key: an operator makes one under This terminal."
        )
        return Refused("not_attested", says, 403)
    key = keys.keys.get(attested.key)
    if key is not None and key.waits:
        says = f"No terminal vouches yet for the key of {key.terminal}: an operator does so at another terminal."
        return Refused("key_waits", says, 403)
    says = f"This terminal’s signature does not hold: {wrong}. Look at the form again, then sign once more."
    return Refused("not_attested", says, 403)
