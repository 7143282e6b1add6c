"""Discrepancies between counted and expected amounts. Each has a level, an owner and finally a finding.

The levels are the amounts from which a supervisor, surveillance and the regulator are informed (N.J.A.C. 13:69D-1.21
and WAC 230-15-495 have such amounts). They are policies of the casino, which another package passes to ``use_limits``.
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
"""The name of each level: the recipient that it reaches."""


class NotClosed(Exception):
    """A rejected finding; the message says why."""


Limits = Callable[[], Sequence[int]]
_limits: Limits = tuple


def use_limits(limits: Limits) -> None:
    """Set the function that returns the amounts, in cents, from which levels 1 to 3 apply."""
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
    """Open a discrepancy, or return the one that was opened under this key: concurrent workers open it once.

    ``amount_cents``: counted less expected. ``involved``: user names of those who may not write its finding.
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
            findings.record(findings.DISCREPANCIES, draft.pk, draft.at)
    except IntegrityError:  # another worker was first
        draft = Discrepancy.objects.get(key=key)
    return draft


def variance(
    book: Book, subject: str, amount_cents: int, *, key: str, involved: Sequence[str], **evidence: Any
) -> None:
    """Open a discrepancy for a count that differs from the transfers."""
    word = "over" if amount_cents > 0 else "short"
    message = f"{book.name}: {subject} is {word} by {money(abs(amount_cents))}"
    open_(book, "variance", amount_cents, message, key=key, involved=involved, evidence=evidence)


def all_of_them() -> QuerySet[Discrepancy]:
    """All discrepancies, the newest first, with their findings and assignments."""
    discrepancies: QuerySet[Discrepancy] = (
        Discrepancy.objects.select_related("book", "finding").prefetch_related("assignments").order_by("-pk")
    )
    return discrepancies


def open_ones() -> QuerySet[Discrepancy]:
    """The discrepancies without a finding, by descending level."""
    closed = Finding.objects.filter(discrepancy=OuterRef("pk"))
    return all_of_them().filter(~Exists(closed)).order_by("-level", "pk")


def assign(discrepancy: Discrepancy, owner: str, name: str, *, by: str) -> Assignment:
    """Assign a discrepancy to a person, in place of the earlier one."""
    with transaction.atomic():
        assigned = Assignment.objects.create(discrepancy=discrepancy, owner=owner, name=name, by=by, at=timezone.now())
        findings.record(findings.ASSIGNMENTS, assigned.pk, assigned.at, by)
    return assigned


def owner_of(discrepancy: Discrepancy) -> Assignment | None:
    """The newest assignment of a discrepancy; None if it was never assigned."""
    return max(discrepancy.assignments.all(), key=lambda assignment: assignment.pk, default=None)


def close(discrepancy: Discrepancy, text: str, *, username: str, by: str) -> Finding:
    """Write the finding of a discrepancy. Raises NotClosed if the text is empty, the author was involved, or it is
    closed."""
    if not text.strip():
        raise NotClosed("Say in a few words what was found.")
    # The person who may have caused a variance must not explain it: internal controls require an independent finding.
    if username in discrepancy.involved:
        raise NotClosed(f"{by} had part in it: somebody else has to write the finding.")
    try:
        with transaction.atomic():
            finding = Finding.objects.create(
                discrepancy=discrepancy, username=username, by=by, at=timezone.now(), text=text.strip()
            )
            findings.record(findings.FINDINGS, finding.pk, finding.at, by)
    except IntegrityError as refused:
        raise NotClosed("Somebody else closed this discrepancy before.") from refused
    return finding
