"""A relief at the felt: the dealer who leaves hands their own screen over, and whoever comes signs in on it.

The screen is theirs who leave, at a terminal and by a sign-in of their own: handing it over is how they agree.
"""

from __future__ import annotations

from django.http import HttpRequest

from tables.floor import recorder
from tables.models import Staff, Table
from tables.staff import sign_in, terminals


def take_over(request: HttpRequest, table: Table, *, leaving: Staff, badge: str, pin: str) -> Staff:
    """Let the owner of this badge and PIN deal on, and sign them in here. Raises Refused with nothing changed: the
    dealer who wanted to leave deals on."""
    terminals.for_dealing(request, table)
    dealer, terminal = sign_in.prove(request, badge, pin)
    recorder.relieve(table, dealer, leaving.username, confirmed_by=leaving, terminal=terminal.name)
    sign_in.begin_at(request, dealer, terminal)
    return dealer
