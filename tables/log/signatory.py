"""People who sign: how the log names them, whether two signers are one person, and whether an entry is by its signer.

Pure. The floor asks these functions before it takes a signature, and every proof asks them again when it reads the
entry. Each function returns the sentence that says what is wrong, or an empty text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec


class Signatory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person who signs, with the name, badge and role of that moment. Entries store a second signer in this form."""

    username: str
    name: str
    badge: str | None
    """None where the person has no badge, and where an entry does not store one."""
    role: str

    @property
    def signature(self) -> str:
        """How the heading of an entry names the person for good: badge number, or user name, and name."""
        return f"{self.badge or self.username} {self.name}"

    @property
    def unbadged(self) -> dict[str, Any]:
        """User name, name and role, as the fields of an entry that stores no badge number."""
        return {"username": self.username, "name": self.name, "role": self.role}

    def is_same_person(self, other: Signatory) -> bool:
        """Whether both are one person: they share the user name, or the badge number where both have one."""
        return self.username == other.username or (self.badge is not None and self.badge == other.badge)


def with_badge_from(by: str, username: str, name: str, role: str = "") -> Signatory:
    """The signer of an entry that stores no badge number (days' figures, proposals, corrections that wait): the number
    is read from the heading ``by``. This is the weaker form of an author: of two people with one name and without a
    user name in the heading, it cannot say which one wrote the entry."""
    number = by.partition(" ")[0]
    is_badge = number.isdecimal() and number != username
    return Signatory(username, name, number if is_badge else None, role)


def author_fault(signer: Signatory, by: str, *, at_the_table: str | None = None) -> str:
    """What is wrong with the author of an entry, which names ``signer``. The heading ``by`` is the signer's complete
    signature. ``at_the_table``: the signature under which the dealer with the signer's user name signed in; a dealer
    keeps it until the tap-out, also after a change of name or badge."""
    if by in (signer.signature, at_the_table):
        return ""
    return f"it is signed by {signer.signature}, and {by} wrote it"


def same_person_fault(
    signer: Signatory, earlier: Iterable[Signatory], *, did: str = "signed already", to: str = "sign"
) -> str:
    """Why a person may not sign after these signers: a further signature is by another person than each of them.
    ``did``: what the earlier signer did, ``to``: what another person has to do."""
    due = f"has to {to}".rstrip()
    for other in earlier:
        if other.username == signer.username:
            return f"{signer.name} {did}: another person {due}."
        if other.is_same_person(signer):
            return f"{other.name} {did} under badge {signer.badge}, which {signer.name} has: another person {due}."
    return ""


def pair_fault(signers: Iterable[Signatory]) -> str:
    """What is wrong with the signers of one entry, the author first; each of them is another person than the rest."""
    earlier: list[Signatory] = []
    for signer in signers:
        if fault := same_person_fault(signer, earlier):
            return f"its two signatures are not of two people: {fault}"
        earlier.append(signer)
    return ""


def document_fault(signatures: Iterable[str]) -> str:
    """What is wrong with the people who sign a document (corrected times, a restored database), of whom it stores the
    signatures only: two or more, and each another person."""
    people = [_named_by(signature) for signature in signatures]
    return pair_fault(people) if len(people) > 1 else "its document is not signed by two people"


def _named_by(signature: str) -> Signatory:
    """The person whom a signature names; a badge number takes the place of the user name, which is not stored."""
    token, _, name = signature.partition(" ")
    return Signatory(token, name, token if token.isdecimal() else None, "")
