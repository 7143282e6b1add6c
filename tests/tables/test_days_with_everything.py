"""Random days with all of it at once: rounds and mishaps, a table without rounds, chips and cash, counts and papers.
Every piece and every coin is somewhere, and whoever has only the bundle proves it."""

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
from tables.audit import day_seals, proofs, row_comparison
from tables.audit.outside import verifier
from tables.cage import chips_in_play
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports import cash, day_close, figures, gaming_hours, inventory
from tests import floor
from tests.clock import Clock
from tests.tables.bundles import exported
from tests.tables.cage import test_cash
from tests.tables.cage.test_cage_desk import place_sums
from tests.tables.cage.test_chips_conserved import DEEDS, Floor
from tests.tables.chance import by_seed
from tests.tables.floor.test_abandoned import Walk
from tests.tables.wheel import Wheel

pytestmark = pytest.mark.django_db

CASH = ("bankin", "bankout", "imprest", "imprestback", "sell", "redeem", "cagecash", "vaultcash")
GAMES = (("rocket", "keyed"), ("blackjack", "house"), ("port", "keyed"))


class House:
    """Two tables that are dealt and one that is not, a cage, a vault and an account at the bank."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.walk = Walk(*GAMES[seed])
        self.paper = Floor()
        self.wheel = Wheel(Random(f"wheel {seed}"))
        usernames = set(Staff.objects.values_list("username", flat=True))
        for name in test_cash.ROLES.keys() - usernames:
            floor.staff(test_cash.ROLES[name], name)

    def step(self) -> None:
        """One deed, or one that is refused, which moves nothing."""
        if self.wheel.chance.random() < 0.25:
            self.wheel.step()
        match self.chance.choice(("round",) * 6 + ("chips", "cash")):
            case "round":
                self.walk.step()
            case "chips":
                self.paper.do(self.chance.choice(DEEDS), self.chance.randrange(2**16))
            case "cash":
                hundreds, off_cents = self.chance.randint(1, 30), self.chance.choice((0, 0, -300, 200))
                with suppress(Refused):
                    test_cash.do(self.chance.choice(CASH), hundreds * 10_000, off_cents, place_sums())

    def is_whole(self) -> None:
        """Chips and cash each come to nothing over all their places, and no place that people hold is below it."""
        places = place_sums()
        assert sum(places.get(place, 0) for place in CHIP_PLACES) == 0
        assert sum(places.get(place, 0) for place in CASH_PLACES) == 0
        assert min(places[place] for place in ("vault", "cage", "rack", "bank", "vault_cash")) >= 0
        assert chips_in_play.most_with_players_cents() >= 0
        assert self.wheel.rack_cents >= 0

    def ends(self) -> None:
        """Everybody leaves; racks and cash are counted."""
        self.walk.leave_and_close()
        self.wheel.closes()
        for series, place in (("cagecash", "bank"), ("vaultcash", "vault_cash")):
            test_cash.counted(series, place_sums()[place])


def won_at(table: Table) -> int:
    """What a table without rounds won, added up move by move: of its cash and of the chips in its rack all that neither
    a fill nor a credit, nor a shortage of an opener, brought there."""
    won = 0
    for kind, source, target, cents in Transfer.objects.filter(book_id=table.book_id).values_list(
        "kind", "source_place", "target_place", "amount_cents"
    ):
        if kind in ("drop", "table_win", "buy_in", "table_loss") or (
            kind == "reversal" and "transit" not in (source, target)
        ):
            won += cents * ((target in ("rack", "drop_box")) - (source in ("rack", "drop_box")))
    return won


@pytest.mark.trial(
    "simulates long days",
    covered_by="tests/tables/reports/test_inventory.py::test_after_a_random_day_every_chip_is_somewhere",
)
@pytest.mark.parametrize("seed", range(len(GAMES)))
def test_every_piece_and_every_coin_is_somewhere_and_anybody_can_prove_it(
    seed: int, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: two things that are right by themselves, and lose a chip or a coin where they meet; or a day that the house
    proves and nobody else can."""
    by_seed(monkeypatch, seed)
    clock.stand(timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=1))
    day, key = gaming_hours.day_of(timezone.now()), tmp_path / "audit.pem"
    seals.make_key(key)
    house = House(seed)
    for _ in range(10):
        for _ in range(30):
            house.step()
        house.is_whole()
    house.ends()
    house.is_whole()
    assert place_sums()["players"] >= 0, "every rack is counted: nobody carries less than nothing"
    moved = set(Transfer.objects.filter(book_id=house.wheel.table.book_id).values_list("kind", flat=True))
    assert {"table_win", "table_loss", "buy_in", "drop"} <= moved
    [line] = figures.day(day, [house.wheel.table]).lines
    assert line.win_cents == won_at(house.wheel.table)
    clock.stand(timezone.now() + timedelta(minutes=1))  # what lies there at a moment came before it
    stock_taking = inventory.on(day)
    assert stock_taking.agrees
    assert sum(stock.total_cents for stock in stock_taking.stocks if stock.name == "Vault") == place_sums()["vault"]
    assert {line.place: line.closing_cents for line in cash.day(day)} == {
        line.place: place_sums()[line.place] for line in cash.day(day)
    }
    assert len(set(Transfer.objects.values_list("kind", flat=True))) > 15, "a day in which little happened"
    with override_settings(AUDIT_KEY_FILE=str(key)):
        clock.pass_until(gaming_hours.span(day).end + timedelta(hours=1))
        proposal = day_close.propose(day, by=Staff.objects.get(username="pam"))
        day_close.close(day, by=Staff.objects.get(username="olga"), digest=proposal.digest)
        assert day_seals.seal_finished()
        assert [proofs.verify(book).fault for book in Book.objects.filter(head_seq__gt=0)].count(None) == (
            Book.objects.filter(head_seq__gt=0).count()
        )
        assert row_comparison.compare().faults == []
        path = tmp_path / "day.zip"
        path.write_bytes(exported(day, day))
    lines: list[str] = []
    verifier.verify(path, key=seals.public_of(seals.load_key(key)), say=lines.append)
    assert sum(line.startswith("holds") for line in lines) >= Account.objects.values("book").distinct().count() - 1
