"""A day of the games on standard cards, sealed, exported and read back by the verifier that has only the bundle."""

import random
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import override_settings

from ledger.proof import seals
from tables import dealing
from tables.audit import sealing
from tables.audit.outside import verifier
from tables.day import hours
from tables.models import Table
from tables.roles import Role
from tests.clock import travelling
from tests.floor import Hand, staff, table
from tests.tables.bundles import ONE, TWO, exported
from tests.tables.play.test_standard_cards import GAMES_ON_STANDARD_CARDS, OPTIONS, play_round, ready

SOURCES = ("house", "keyed", "csm")


def open_tables() -> list[Hand]:
    """A table of each game; their cards come from house shoes, from the hand and from machines."""
    boss, hands = staff(Role.PIT_BOSS, "bella"), []
    for number, game in enumerate(GAMES_ON_STANDARD_CARDS):
        source = SOURCES[number % len(SOURCES)]
        felt: Table = table(f"Table {number}", game=game, source=source, options=OPTIONS[game], seats=3)
        hand = Hand(felt, staff(Role.DEALER, f"dealer{number}", f"10{number}"))
        Hand(felt, boss)("open_table")
        dealing.sign_in(felt, hand.by)
        hand.ready_shoe()
        hands.append(hand)
    return hands


@pytest.mark.django_db(transaction=True)
def test_two_days_of_all_five_games_hold_for_an_outsider(tmp_path: Path) -> None:
    """Harm: a round of a new game is paid, and no auditor without the house can prove it."""
    key_file = tmp_path / "audit.pem"
    seals.make_key(key_file)
    with override_settings(AUDIT_KEY_FILE=str(key_file)), travelling() as clock:
        hands = open_tables()
        for day in (ONE, TWO):
            for number, hand in enumerate(hands):
                chance = random.Random(f"{day} {number}")
                for _ in range(4):
                    ready(hand)
                    play_round(hand, chance)
            clock.pass_until(hours.span(day)[1] + timedelta(hours=1))
            sealing.seal_finished()
        paths = []
        for name, first_day, last_day in (("first", ONE, ONE), ("second", TWO, TWO)):
            paths.append(tmp_path / f"{name}.zip")
            paths[-1].write_bytes(exported(first_day, last_day))
    public = seals.public_of(seals.load_key(key_file))
    for path in paths:
        lines: list[str] = []
        verifier.verify(path, say=lines.append, key=public)
        assert all(any(f"holds  {hand.table.name}: " in line for line in lines) for hand in hands), lines
