"""Blind counts: whoever may count a place is not told what should lie there, on any page and at any time.

A count is blind only if whoever counts could not look before: so this goes by roles, not by slips that were begun. The
house may except roles by a term. What is being counted just now is told to nobody who may sign the count, whatever the
term says: ``tables/cage/cage_desk.py`` for the house's places, ``dealer_ui/pit/floor/cards.py`` for racks.
"""

from __future__ import annotations

from tables.log.slip_types import SLIPS
from tables.setup import policies

TERM = "expected_shown_to"


def unseen_by(role: str) -> frozenset[str]:
    """The places of which people of a role are not told what should lie there."""
    return frozenset() if role in policies.words(TERM) else counted_by(role)


def counted_by(role: str) -> frozenset[str]:
    """The places that people of a role may count."""
    return frozenset(
        series.count.place
        for series in SLIPS.values()
        if series.count and not series.count.note
        for stage in series.stages
        if stage.is_count and role in stage.roles
    )
