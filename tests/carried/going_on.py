"""`python -m tests.carried.going_on`: the next day of a house that was put back, on whatever database it is given.

A process of its own, as after an upgrade: nothing that a test keeps in memory of another house is near.
"""

import random
from uuid import uuid4

import django
from django.conf import settings


def main() -> None:
    """An old table opens and deals; an old slip's series is counted on; the PINs that people had are good."""
    django.setup()
    from tables import cage_desk, dealing
    from tables.inputs import BeginSlip, SignSlip
    from tables.models import Staff, Table
    from tests.floor import PIN, Hand
    from tests.tables import bundles

    assert settings.DATABASES["default"]["NAME"].startswith("test_"), "it writes on what is no test's"
    people = {person.username: person for person in Staff.objects.all()}
    assert people["dora"].check_pin(PIN)
    assert not people["dora"].check_pin(PIN[::-1])
    for name in ("Rocket 1", "Rocket 3"):
        table = Table.objects.get(name=name)
        Hand(table, people["bella"])("open_table")
        dealing.sign_in(table, people["dora"])
        hand = Hand(table, people["dora"])
        hand.ready_shoe()
        before = hand.now.round.number if hand.now.round else 0
        bundles.play(hand, random.Random(1), 40)
        while hand.now.round_open:
            bundles.step(hand, random.Random(1))
        assert hand.now.round is not None
        assert hand.now.round.number > before
        hand("retire_shoe")
        Hand(table, people["bella"])("close_table")
    slip = cage_desk.sign(BeginSlip("deposit", ((10_000, 1),)), by=people["cosima"], key=uuid4())
    cage_desk.sign(SignSlip(slip, "approved"), by=people["bettina"], key=uuid4())


if __name__ == "__main__":
    main()
