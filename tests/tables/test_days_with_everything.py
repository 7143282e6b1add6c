"""Random days with all of it at once: rounds and mishaps, chips and cash, counts and papers. Every piece and every coin
is somewhere, and whoever has only the bundle proves it."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from django.test import override_settings
from django.utils import timezone

from ledger.models import Account, Book, Transfer
from ledger.proof import seals
from ledger.proof.chips import CASH_PLACES, CHIP_PLACES
from tables.audit import proofs, sealing
from tables.audit.outside import verifier
from tables.audit.rows import comparing
from tables.day import cash, closing, hours, inventory
from tables.models import Staff
from tables.refusals import Refused
from tests import floor
from tests.clock import Clock
from tests.tables.bundles import exported
from tests.tables.chance import by_seed
from tests.tables.play.test_abandoned import Walk
from tests.tables.slips import test_cash
from tests.tables.slips.test_cage_desk import held
from tests.tables.slips.test_chips_conserved import DEEDS, Floor

pytestmark = pytest.mark.django_db

CASH = ("bankin", "bankout", "imprest", "imprestback", "sell", "redeem", "cagecash", "vaultcash")
GAMES = (("rocket", "keyed"), ("blackjack", "house"), ("port", "keyed"))


class House:
    """Two tables of two kinds, a cage, a vault and an account at the bank."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.walk = Walk(*GAMES[seed])
        self.paper = Floor()
        there = set(Staff.objects.values_list("username", flat=True))
        for name in test_cash.ROLES.keys() - there:
            floor.staff(test_cash.ROLES[name], name)

    def step(self) -> None:
        """One deed, or one that is refused, which moves nothing."""
        match self.chance.choice(("round",) * 6 + ("chips", "cash")):
            case "round":
                self.walk.step()
            case "chips":
                self.paper.do(self.chance.choice(DEEDS), self.chance.randrange(2**16))
            case "cash":
                hundreds, off_cents = self.chance.randint(1, 30), self.chance.choice((0, 0, -300, 200))
                with suppress(Refused):
                    test_cash.do(self.chance.choice(CASH), hundreds * 10_000, off_cents, held())

    def is_whole(self) -> None:
        """Chips and cash each come to nothing over all their places, and no place that people hold is below it."""
        places = held()
        assert sum(places.get(place, 0) for place in CHIP_PLACES) == 0
        assert sum(places.get(place, 0) for place in CASH_PLACES) == 0
        assert min(places[place] for place in ("vault", "cage", "rack", "players", "bank", "vault_cash")) >= 0

    def ends(self) -> None:
        """Everybody leaves; racks and cash are counted."""
        self.walk.leave_and_close()
        for series, place in (("cagecash", "bank"), ("vaultcash", "vault_cash")):
            test_cash.counted(series, held()[place])


@pytest.mark.parametrize("seed", range(len(GAMES)))
def test_every_piece_and_every_coin_is_somewhere_and_anybody_can_prove_it(
    seed: int, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: two things that are right by themselves, and lose a chip or a coin where they meet; or a day that the house
    proves and nobody else can."""
    by_seed(monkeypatch, seed)
    clock.stand(timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=1))
    day, key = hours.day_of(timezone.now()), tmp_path / "audit.pem"
    seals.make_key(key)
    house = House(seed)
    for _ in range(10):
        for _ in range(30):
            house.step()
        house.is_whole()
    house.ends()
    house.is_whole()
    clock.stand(timezone.now() + timedelta(minutes=1))  # what lies there at a moment came before it
    taken = inventory.on(day)
    assert taken.agrees
    assert sum(stock.total_cents for stock in taken.stocks if stock.name == "Vault") == held()["vault"]
    assert {line.place: line.closing_cents for line in cash.day(day)} == {
        line.place: held()[line.place] for line in cash.day(day)
    }
    assert len(set(Transfer.objects.values_list("kind", flat=True))) > 15, "a day in which little happened"
    with override_settings(AUDIT_KEY_FILE=str(key)):
        clock.pass_until(hours.span(day).end + timedelta(hours=1))
        proposal = closing.propose(day, by=Staff.objects.get(username="pam"))
        closing.close(day, by=Staff.objects.get(username="olga"), digest=proposal.digest)
        assert sealing.seal_finished()
        assert [proofs.verify(book).fault for book in Book.objects.filter(head_seq__gt=0)].count(None) == (
            Book.objects.filter(head_seq__gt=0).count()
        )
        assert comparing.compare().faults == []
        path = tmp_path / "day.zip"
        path.write_bytes(exported(day, day))
    lines: list[str] = []
    verifier.verify(path, key=seals.public_of(seals.load_key(key)), say=lines.append)
    assert sum(line.startswith("holds") for line in lines) >= Account.objects.values("book").distinct().count() - 1
