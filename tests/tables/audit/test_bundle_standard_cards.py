"""A day of the games on standard cards, sealed, exported and read back by the verifier that has only the bundle."""

import random

import pytest

from tables.floor import recorder
from tables.models import Table
from tables.roles import Role
from tests.floor import Hand, staff, table
from tests.tables.audit.sealed_days import SealedDays, verified
from tests.tables.bundles import ONE, TWO
from tests.tables.floor.test_standard_cards import GAMES_ON_STANDARD_CARDS, OPTIONS, play_round, ready

SOURCES = ("house", "keyed", "csm")


def open_tables() -> list[Hand]:
    """A table of each game; their cards come from house shoes, from the hand and from machines."""
    boss, hands = staff(Role.PIT_BOSS, "bella"), []
    for number, game in enumerate(GAMES_ON_STANDARD_CARDS):
        source = SOURCES[number % len(SOURCES)]
        felt: Table = table(f"Table {number}", game=game, source=source, options=OPTIONS[game], seats=3)
        hand = Hand(felt, staff(Role.DEALER, f"dealer{number}", f"10{number}"))
        Hand(felt, boss)("open_table")
        recorder.sign_in(felt, hand.by)
        hand.ready_shoe()
        hands.append(hand)
    return hands


@pytest.mark.django_db
@pytest.mark.slow("seals and exports days")
def test_two_days_of_all_five_games_hold_for_an_outsider(days: SealedDays) -> None:
    """Harm: a round of a new game is paid, and no auditor without the house can prove it."""
    hands = open_tables()
    for day in (ONE, TWO):
        for number, hand in enumerate(hands):
            chance = random.Random(f"{day} {number}")
            for _ in range(2):
                ready(hand)
                play_round(hand, chance)
        days.end(day)
        lines = verified(days.bundle(day), key=days.public)
        assert all(any(f"holds  {hand.table.name}: " in line for line in lines) for hand in hands), lines
