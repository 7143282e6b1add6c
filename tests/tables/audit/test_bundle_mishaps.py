"""Days on which things go wrong, sealed, exported and read back by the verifier that has only the bundle."""

from dataclasses import dataclass
from uuid import uuid4

import pytest

from tables.floor import recorder
from tables.floor.inputs import VoidRound
from tables.models import Staff
from tables.roles import Role
from tests.carried import mishaps
from tests.floor import Hand, staff, table
from tests.tables.audit.sealed_days import SealedDays, verified
from tests.tables.bundles import ONE, TWO


@dataclass(frozen=True)
class People:
    boss: Staff
    dora: Staff


def game_for_a_pot(people: People) -> Hand:
    """A game that has moved coins and goes on over the day's end."""
    felt = table("Hawthorn 1", game="hawthorn", options={}, min_cents=100, max_cents=100_000)
    Hand(felt, people.boss)("open_table")
    recorder.sign_in(felt, people.dora)
    dealer = Hand(felt, people.dora)
    dealer.ready_shoe()
    for seat in (1, 2, 3):
        dealer("buy_in", seat=seat, amount_cents=2_000)
    dealer("start_game")
    while not dealer.now.pot_cents:
        dealer.cards(9)
    return dealer


@pytest.mark.django_db
@pytest.mark.slow("seals and exports days")
def test_days_of_mishaps_hold_for_an_outsider(days: SealedDays) -> None:
    """Harm: a void round or a card set aside cannot be proved without the house; or only on the day of its bets."""
    people = People(staff(Role.PIT_BOSS, "bella"), staff(Role.DEALER, "dora", "101"))
    mishaps.go_wrong(people)
    pot = game_for_a_pot(people)
    days.end(ONE)
    void = VoidRound("equipment", "the display went dark")
    recorder.record(pot.table, void, by=people.boss, key=uuid4(), expected_seq=pot.now.seq)
    assert pot.now.pot_cents == 0
    days.end(TWO)
    for day in (ONE, TWO):
        lines = verified(days.bundle(day), key=days.public)
        for name in ("Mishap 1", "Mishap 2", "Hawthorn 1"):
            assert any(f"holds  {name}: " in line for line in lines), lines
