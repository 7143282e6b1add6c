"""`python -m tests.carried.going_on`: the next day of a house that was put back, in the database that it is given.

A process of its own, as after an upgrade: nothing that a test keeps in memory of another house is near.
"""

from __future__ import annotations

import os
import random
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import django
from django.conf import settings

if TYPE_CHECKING:
    from tables.floor.inputs import BeginSlip, SignSlip
    from tables.models import Staff

OWNER_URL = os.environ["DATABASE_OWNER_URL"]


def main() -> None:
    """Check that the chips add up, people sign in with their old PINs, old tables deal, the numbers of a series of
    slips continue, and the old key seals the day."""
    django.setup()
    assert settings.DATABASES["default"]["NAME"].endswith("_copy"), "it writes in a copy, and in nothing else"
    from ledger.models import HOUSE, LogEntry
    from tables.audit import day_seals, watch
    from tables.reports import gaming_hours
    from tests.clock import Clock

    clock = Clock(OWNER_URL)
    # The house's last entry: those of a table may bear times that were false, and that are mended.
    opens = LogEntry.objects.filter(book__name=HOUSE).latest("seq").at + timedelta(hours=1)
    try:
        clock.stand(opens)
        findings = [look() for look in (watch.recount, watch.reconcile, watch.prove_sums, watch.prove_shoes)]
        assert not any(findings), findings
        _deal()
        today = gaming_hours.day_of(opens)
        clock.pass_until(gaming_hours.span(today).end + timedelta(hours=1))
        assert [row.day for row in day_seals.seal_finished()] == [today]
    finally:
        clock.right()


def _deal() -> None:
    from tables.floor import recorder
    from tables.floor.inputs import BeginSlip, SignSlip
    from tables.models import Staff, Table
    from tests.floor import PIN, Hand
    from tests.tables import bundles

    people = {person.username: person for person in Staff.objects.all()}
    assert people["dora"].check_pin(PIN)
    assert not people["dora"].check_pin(PIN[::-1])
    for name in ("Rocket 1", "Rocket 3"):
        table, chance = Table.objects.get(name=name), random.Random(1)
        Hand(table, people["bella"])("open_table")
        recorder.sign_in(table, people["dora"])
        hand = Hand(table, people["dora"])
        hand.ready_shoe()
        before = hand.now.round.number if hand.now.round else 0
        bundles.play(hand, chance, 40)
        while hand.now.round_open:
            bundles.step(hand, chance)
        assert hand.now.round is not None
        assert hand.now.round.number > before
        hand("retire_shoe")
        Hand(table, people["bella"])("close_table")
    slip = _signed(people["cosima"], BeginSlip("deposit", ((10_000, 1),)))
    _signed(people["bettina"], SignSlip(slip, "approved"))


def _signed(by: Staff, entered: BeginSlip | SignSlip) -> str:
    from tables.cage import cage_desk
    from tests.software_terminal import where_demanded

    key = uuid4()
    return cage_desk.sign(entered, by=by, key=key, attested=where_demanded("house", by, entered, key))


if __name__ == "__main__":
    main()
