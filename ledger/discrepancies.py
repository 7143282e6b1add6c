"""Discrepancies: counted and expected were not the same. Each has a level, an owner, and in the end a finding.

The levels are those at which a supervisor, the surveillance and the regulator hear of it (N.J.A.C. 13:69D-1.21,
WAC 230-15-495 have such amounts). The house lays them down, and whoever knows its terms says so to ``go_by``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from ledger import findings
from ledger.models import Assignment, Book, Discrepancy, Finding
from ledger.proof.chips import money

LEVELS: Final = ("noted", "supervisor", "surveillance", "regulator")
"""How far each level goes."""


class NotClosed(Exception):
    """A finding that is not taken; says why in a sentence."""


Limits = Callable[[], Sequence[int]]
_limits: Limits = tuple


def go_by(limits: Limits) -> None:
    """From now on ask this for the amounts from which each level reaches."""
    global _limits
    _limits = limits


def level_of(amount_cents: int) -> int:
    """The level of an amount, over or short: 0 below the first limit."""
    return sum(abs(amount_cents) >= limit for limit in _limits())


def open_(
    book: Book,
    kind: str,
    amount_cents: int,
    message: str,
    *,
    key: str,
    involved: Sequence[str] = (),
    evidence: Mapping[str, Any] | None = None,
) -> Discrepancy:
    """Open one, or return what was opened under this key before: however many workers find it, it is one.

    ``amount_cents``: counted less expected. ``involved``: user names of those whose finding it cannot be.
    """
    draft = Discrepancy(
        book=book,
        at=timezone.now(),
        kind=kind,
        amount_cents=amount_cents,
        level=level_of(amount_cents),
        message=message,
        evidence=dict(evidence or {}),
        involved=sorted(set(involved)),
        key=key,
    )
    earlier: Discrepancy | None = Discrepancy.objects.filter(key=key).first()
    if earlier is not None:
        return earlier
    try:
        with transaction.atomic():
            draft.save()
            findings.enter(findings.DISCREPANCIES, draft.pk, draft.at)
    except IntegrityError:  # another worker was first
        draft = Discrepancy.objects.get(key=key)
    return draft


def variance(
    book: Book, subject: str, amount_cents: int, *, key: str, involved: Sequence[str], **evidence: Any
) -> None:
    """A count was not what the transfers say."""
    word = "over" if amount_cents > 0 else "short"
    message = f"{book.name}: {subject} is {word} by {money(abs(amount_cents))}"
    open_(book, "variance", amount_cents, message, key=key, involved=involved, evidence=evidence)


def all_of_them() -> QuerySet[Discrepancy]:
    """Every discrepancy, the newest first, with what was done about it."""
    discrepancies: QuerySet[Discrepancy] = (
        Discrepancy.objects.select_related("book", "finding").prefetch_related("assignments").order_by("-pk")
    )
    return discrepancies


def open_ones() -> QuerySet[Discrepancy]:
    """Those without a finding, the gravest first."""
    closed = Finding.objects.filter(discrepancy=OuterRef("pk"))
    return all_of_them().filter(~Exists(closed)).order_by("-level", "pk")


def assign(discrepancy: Discrepancy, owner: str, name: str, *, by: str) -> Assignment:
    """From now on this person looks into it."""
    with transaction.atomic():
        assigned = Assignment.objects.create(discrepancy=discrepancy, owner=owner, name=name, by=by, at=timezone.now())
        findings.enter(findings.ASSIGNMENTS, assigned.pk, assigned.at, by)
    return assigned


def owner_of(discrepancy: Discrepancy) -> Assignment | None:
    """The newest assignment: whom it was given to last looks into it."""
    return max(discrepancy.assignments.all(), key=lambda assignment: assignment.pk, default=None)


def close(discrepancy: Discrepancy, text: str, *, username: str, by: str) -> Finding:
    """Write what it came to. Raises NotClosed: by somebody who had part in it, without words, or closed before."""
    if not text.strip():
        raise NotClosed("Say in a few words what was found.")
    if username in discrepancy.involved:
        raise NotClosed(f"{by} had part in it: somebody else has to write the finding.")
    try:
        with transaction.atomic():
            finding = Finding.objects.create(
                discrepancy=discrepancy, username=username, by=by, at=timezone.now(), text=text.strip()
            )
            findings.enter(findings.FINDINGS, finding.pk, finding.at, by)
    except IntegrityError as refused:
        raise NotClosed("Somebody else closed this discrepancy before.") from refused
    return finding
