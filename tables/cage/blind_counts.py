"""Blind counts: the expected balance of a place is hidden, on all pages and at all times, from roles that count it.

Hiding goes by role and not by slips in progress: a counter could otherwise look before beginning the count. A policy
may exempt roles. While a count is in progress, its possible signers see no balance whatever the policy:
``tables/cage/cage_desk.py`` for the site's places, ``dealer_ui/pit/floor/cards.py`` for racks.
"""

from __future__ import annotations

from tables.log.slip_types import SLIPS
from tables.setup import policies

TERM = "expected_shown_to"


def unseen_by(role: str) -> frozenset[str]:
    """The places with expected balances hidden from a role."""
    return frozenset() if role in policies.words(TERM) else counted_by(role)


def counted_by(role: str) -> frozenset[str]:
    """The places that a role may count."""
    return frozenset(
        series.count.place
        for series in SLIPS.values()
        if series.count and not series.count.note
        for stage in series.stages
        if stage.is_count and role in stage.roles
    )
