"""Days on which things go wrong, sealed, exported and read back by the verifier that has only the bundle."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.test import override_settings

from ledger.proof import seals
from tables import dealing
from tables.audit import sealing
from tables.audit.outside import verifier
from tables.day import hours
from tables.inputs import VoidRound
from tables.models import Staff
from tables.roles import Role
from tests.carried import mishaps
from tests.clock import travelling
from tests.floor import Hand, staff, table
from tests.tables.bundles import ONE, TWO, exported


@dataclass(frozen=True)
class People:
    boss: Staff
    dora: Staff


def game_for_a_pot(people: People) -> Hand:
    """A game that has moved coins and goes on over the day's end."""
    felt = table("Hawthorn 1", game="hawthorn", options={}, min_cents=100, max_cents=100_000)
    Hand(felt, people.boss)("open_table")
    dealing.sign_in(felt, people.dora)
    dealer = Hand(felt, people.dora)
    dealer.ready_shoe()
    for seat in (1, 2, 3):
        dealer("buy_in", seat=seat, amount_cents=2_000)
    dealer("start_game")
    while not dealer.now.pot_cents:
        dealer.cards(9)
    return dealer


@pytest.mark.django_db(transaction=True)
def test_days_of_mishaps_hold_for_an_outsider(tmp_path: Path) -> None:
    """Harm: a void round or a card set aside cannot be proved without the house; or only on the day of its bets."""
    key_file = tmp_path / "audit.pem"
    seals.make_key(key_file)
    people = People(staff(Role.PIT_BOSS, "bella"), staff(Role.DEALER, "dora", "101"))
    with override_settings(AUDIT_KEY_FILE=str(key_file)), travelling() as clock:
        mishaps.go_wrong(people)
        pot = game_for_a_pot(people)
        clock.pass_until(hours.span(ONE)[1] + timedelta(hours=1))
        sealing.seal_finished()
        void = VoidRound("equipment", "the display went dark")
        dealing.record(pot.table, void, by=people.boss, key=uuid4(), expected_seq=pot.now.seq)
        assert pot.now.pot_cents == 0
        clock.pass_until(hours.span(TWO)[1] + timedelta(hours=1))
        sealing.seal_finished()
        paths = [tmp_path / "first.zip", tmp_path / "second.zip"]
        for path, day in zip(paths, (ONE, TWO), strict=True):
            path.write_bytes(exported(day, day))
    public = seals.public_of(seals.load_key(key_file))
    for path in paths:
        lines: list[str] = []
        verifier.verify(path, say=lines.append, key=public)
        for name in ("Mishap 1", "Mishap 2", "Hawthorn 1"):
            assert any(f"holds  {name}: " in line for line in lines), lines
