"""The one writer of entries to the logs of tables and of the site, and the lookup of inputs that were recorded before.

The caller has the lock of the log. The first entry of an input has its key and the fingerprint of input and author, so
a repeated input gets its first answer, and another input under its key is refused.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from msgspec import structs

from ledger import cage, slips, standby_confirmation
from ledger.log import Draft
from ledger.models import LogEntry
from ledger.proof.chain import Head
from ledger.proof.spelling import canonical
from tables.floor.command_context import Decision
from tables.log.catalog import read
from tables.log.event import Event, RefusedInput
from tables.refusals import Refused


@dataclass(frozen=True, slots=True)
class Request:
    """An input with its author, as its entry identifies it: an idempotency key and a digest."""

    key: UUID
    digest: bytes
    """SHA-256 of the input and the user name of its author."""

    @property
    def fingerprint(self) -> str:
        """The digest as an entry has it, shortened: 48 bits are enough to tell two inputs under one key apart."""
        # It distinguishes inputs under one key and proves nothing; the full digest would lengthen every entry.
        return urlsafe_b64encode(self.digest[:6]).decode()

    def asked_for(self, event: Event) -> bool:
        """Whether an entry was written for this input; entries of format 1 have the whole digest, in hex."""
        return event.request in (self.fingerprint, self.digest.hex())

    @classmethod
    def of(cls, entered: msgspec.Struct, username: str, key: UUID) -> Request:
        """The request of an input."""
        # The user name is part of it: a key that another person sends again is another input.
        spelled: Any = msgspec.to_builtins(entered)
        return cls(key, sha256(canonical({"input": spelled, "by": username})).digest())


class AppendedEntry(NamedTuple):
    """An entry just written, and the head of the log after it."""

    head: Head
    event: Event
    round: int | None


def recorded(head: Head, request: Request, *, house: bool = False) -> tuple[int, Event] | None:
    """The entry that this input wrote before, with its number; None for a new input.

    Raises Refused for another input under its key, and again where the input was refused then.
    """
    rows = LogEntry.objects.filter(book_id=head.book_id, key=request.key).order_by("seq")
    row = rows.values_list("seq", "subject", "kind", "body").first()
    if row is None:
        return None
    # The first request may have died before its commit was confirmed: this answer promises as much as that one would.
    standby_confirmation.confirm_earlier()
    seq, subject, kind, body = row
    event = read(subject, kind, body, house=house)
    if not request.asked_for(event):
        raise Refused("key_reused", "This key was used for another input: send a new one.", 409, seq=head.seq)
    if refused := event.refused:
        raise Refused(refused.code, refused.sentence, refused.status, **refused.facts, seq=head.seq)
    return seq, event


def write(head: Head, decision: Decision, request: Request, by: str) -> Iterator[AppendedEntry]:
    """Write the entries of a decision, one by one, the first with the key and fingerprint of the input. The row of a
    slip's signature follows its entry. The last entry carries the commit with it, unless a row follows."""
    # Entry and commit in one message to the database: the lock of the table is held one round trip less. A signature
    # or an alert belongs to the same transaction and comes after the entry, so the commit has to wait for those.
    follows = decision.signing or decision.alert
    for position, step in enumerate(decision.steps):
        event, key = step.event, None
        if position == 0:
            # A repeated input is recognised by this entry, and refused again where it was refused.
            refused = RefusedInput(**decision.refusal.spelled()) if decision.refusal else None
            event, key = structs.replace(event, request=request.fingerprint, refused=refused), request.key
        draft, is_last = Draft.of(event, by, round=step.round, key=key), step is decision.steps[-1]
        head = cage.post(head, draft, step.moves, commit=is_last and not follows)
        if position == 0 and decision.signing:
            slips.write(decision.signing, head.book_id, head.seq)
        yield AppendedEntry(head, event, step.round)
