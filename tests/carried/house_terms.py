"""The house's terms are changed: at once, from a day to come, and by two people."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from tables.approvals import proposals
from tables.models import Proposal, Staff
from tables.setup import policies


def lay_down(tries: int, *, by: Staff) -> None:
    """So many wrong secrets lock somebody out from now on; discrepancies are graded otherwise from the third day on."""
    policies.change({"lockout_failures": tries, "pin_digits_min": 6}, by=by)
    later = timezone.now() + timedelta(days=2)
    policies.change({"discrepancy_levels_cents": (2_500, 10_000, 25_000)}, later, by=by)
    policies.forget()


def two_people(operator: Staff, second: Staff, later: Callable[..., None]) -> None:
    """The house is open for an hour: one proposal of each end. Then it is set up on by one, as the days go on."""
    policies.change({"two_people": True, "proposal_hours": 1}, by=operator)
    policies.forget()
    declined = _proposed({"pin_digits_min": 8}, by=operator)
    proposals.decline(declined, "Not before the season", by=second)
    withdrawn = _proposed({"pin_digits_min": 8}, by=operator)
    proposals.withdraw(withdrawn, "Seven will do", by=operator)
    _proposed({"pin_digits_min": 7}, by=operator)
    later(hours=1, minutes=1)
    assert proposals.expire_due() == 1
    proposals.approve(_proposed({"two_people": False, "proposal_hours": 72}, by=second), by=operator)
    policies.forget()


def _proposed(values: dict[str, object], *, by: Staff) -> Proposal:
    draft = policies.draft(values)
    assert draft is not None
    return proposals.propose(draft, "As our licence asks", by=by)
