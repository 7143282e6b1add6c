"""Relief at the table: the dealer who leaves hands the screen over, and the relief signs in on it.

The screen belongs to the leaving dealer's session at that terminal: handing it over is that dealer's consent.
"""

from __future__ import annotations

from django.http import HttpRequest

from tables.floor import recorder
from tables.models import Staff, Table
from tables.staff import sign_in, terminals


def take_over(request: HttpRequest, table: Table, *, leaving: Staff, badge: str, pin: str) -> Staff:
    """Let the owner of this badge and PIN continue the deal, and sign them in here.

    Raises Refused with nothing changed: the leaving dealer then continues.
    """
    terminals.for_dealing(request, table)
    dealer, terminal = sign_in.prove(request, badge, pin)
    recorder.relieve(table, dealer, leaving.username, confirmed_by=leaving, terminal=terminal.name)
    sign_in.begin_at(request, dealer, terminal)
    return dealer
