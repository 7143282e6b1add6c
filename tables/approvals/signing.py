"""The signing engine: who may give a signature, for every signed thing, before it is taken and when it is verified.

A thing whose signatures are entries of their own kinds (a correction, a day's figures, a proposal) declares one
`SigningStage` for each signature. The stages of slips are declared in ``tables/log/slip_types.py``; their signers pass
the functions here, too. Distinct people and authors of all signed entries: ``tables/log/signatory.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection
from django.utils import timezone

from ledger import clock_corrections
from ledger.proof.chain import Entry
from tables.log.event import AuditFailure, Author, UnbadgedAuthor
from tables.log.signatory import Signatory, pair_fault, same_person_fault
from tables.models import SecretVersion, Staff
from tables.models.staff import PIN
from tables.refusals import Refused
from tables.setup import policies

SignedEntry = Author | UnbadgedAuthor
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningStage:
    """One signature of a signed thing: who may give it, and which earlier signer has to be another person."""

    may: Callable[[Staff], bool]
    refusal: str
    """The refusal of all others."""
    action: str = "sign it"
    """The signer's action, as a verb with its object."""
    did: str = "signed already"
    """The earlier signer's action."""
    to: str = "sign"
    """The action that needs another person."""
    code: str = "signed_already"
    """The code of the refusal when one person signs twice."""
    formerly: frozenset[str] = frozenset()
    """Roles that may no longer sign, with earlier signatures that remain valid."""
    handles_chips: bool = False
    """Whether a person who administered access in this shift is refused."""

    def is_open_to(self, by: Staff, earlier: Signatory) -> bool:
        """Whether a thing that ``earlier`` signed waits for the signature of this person."""
        return self.may(by) and not same_person_fault(by.signatory, [earlier])

    def refuse(self, by: Staff, earlier: Signatory | None = None, begun: datetime | None = None) -> None:
        """Raises Refused if a person may not sign. ``begun``: the time of the first signature; None without a PIN."""
        if not self.may(by):
            raise Refused("not_permitted", self.refusal, 403)
        if self.handles_chips:
            refuse_administrator(by)
        if earlier is not None and (fault := same_person_fault(by.signatory, [earlier], did=self.did, to=self.to)):
            raise Refused(self.code, fault, 403)
        if begun is not None:
            refuse_barred(by, begun)

    def check(
        self, event: SignedEntry, entry: Entry, earlier: Signatory | None = None, begun_seq: int | None = None
    ) -> None:
        """Raises AuditFailure if the author of an entry was not entitled to sign.

        ``begun_seq``: the entry of the first signature; None without a PIN.
        """
        signers = event.signers(entry.by)[:1]
        if earlier is not None and (fault := pair_fault((earlier, *signers))):
            raise AuditFailure(fault)
        author = author_of(event, entry)
        if not self.may(author) and author.role not in self.formerly:
            raise AuditFailure(f"{event.name} may not {self.action} as {event.role}")
        if begun_seq is not None:
            check_barred(entry, event.username, begun_seq)


def with_permission(permission: str) -> Callable[[Staff], bool]:
    """A check for a permission, by the policies in force now, or at the entry under verification."""
    return lambda by: bool(by.has_perm(permission))


def author_of(event: SignedEntry, entry: Entry) -> Staff:
    """The author of an entry, with role and permissions at that time."""
    author = Staff(username=event.username, name=event.name, badge=getattr(event, "badge", None), role=event.role)
    author.as_of = entry.at
    return author


# --- A PIN that was reset --------------------------------------------------------------------------------------


def refuse_barred(by: Staff, begun: datetime) -> None:
    """Raises Refused where a paper was begun before a person whose PIN was reset had made another PIN: the former one
    was perhaps known."""
    # A reset locks the same row and is dated under the lock, so no signature is written after a reset that it missed.
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM tables_staff WHERE username = %s FOR SHARE", [by.username])
    since = _signs_since(by.username)
    if since is not None and begun < since:
        sentence = (
            f"The PIN of {by.name} was reset while this paper was open: somebody else has to sign it. {by.name} signs"
            " what is begun after the new PIN was made."
        )
        raise Refused("barred", sentence, 403)


def check_barred(entry: Entry, username: str, begun_seq: int) -> None:
    """Raises AuditFailure where an entry signs a paper that was begun before its signer, whose PIN was reset, had made
    another PIN."""
    book_id = entry.book_id
    if (
        entry.at is None
        or begun_seq == entry.seq
        or clock_corrections.of(book_id, begun_seq, begun_seq)
        or clock_corrections.of(book_id, entry.seq, entry.seq)
    ):
        return  # its signer began it; or a corrected time, which gives the day and not the minute
    since = _signs_since(username, entry.at)
    if since is not None and clock_corrections.time_of(book_id, begun_seq) < since:
        raise AuditFailure(f"{username} signs a paper that was open when their PIN was reset")


def _signs_since(username: str, moment: datetime | None = None) -> datetime | None:
    """The earliest begin of a slip that a person may sign, now or as of a moment; None without a limit."""
    versions = SecretVersion.objects.filter(staff__username=username, secret=PIN).order_by("at", "pk")
    if moment is not None:
        versions = versions.filter(at__lte=moment)
    since: datetime | None = None
    for kept, made_at in versions.values_list("kept", "at"):
        if not kept:
            since = _NEVER
        elif since == _NEVER:
            since = made_at
    return since


# --- Separation of duties --------------------------------------------------------------------------------------


def refuse_administrator(by: Staff) -> None:
    """Raises Refused if a person administered access in this shift: they may not handle chips or cash in it."""
    hours = policies.number("duties_apart_hours")
    until = by.administered_until
    if until is not None and timezone.now() - until < timedelta(hours=hours):
        sentence = f"{by.name} administered the house less than {hours} hours ago: somebody else has to sign."
        raise Refused("not_permitted", sentence, 403)
